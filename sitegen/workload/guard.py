"""A measured process never outlives the one that started it.

An orphan of several gigabytes beside the rerun ruins both.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from typing import Final

_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h
_POLL_S: Final = 1.0


def die_with_parent(parent_pid: int) -> None:
    """End this process as soon as its parent ends, however that one ends.

    Linux delivers the signal itself (prctl(2), PR_SET_PDEATHSIG); elsewhere a thread looks once a second.

    Args:
        parent_pid: the process that must stay alive; compared once more afterwards, in case it has just died.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    else:
        threading.Thread(target=_watch, args=(parent_pid,), daemon=True).start()
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)


def _watch(parent_pid: int) -> None:
    """Poll the parent where the kernel offers no signal."""
    while os.getppid() == parent_pid:
        time.sleep(_POLL_S)
    os.kill(os.getpid(), signal.SIGKILL)
