"""Nothing personal in a record: paths, user and host are taken out of every message before it is stored."""

from __future__ import annotations

import contextlib
import getpass
import re
import socket
from pathlib import Path
from typing import Final

_PATH: Final = re.compile(r"(?<![\w.:/])(?:file://)?(?:~|[A-Za-z]:)?(?:[/\\][^\s/\\:'\"<>|,;()\[\]]+){2,}[/\\]?")


def scrubbed(text: str) -> str:
    """The text with each absolute path cut to its last name, and the user's and the host's names replaced."""
    text = _PATH.sub(lambda found: "…/" + re.split(r"[/\\]", found.group().rstrip("/\\"))[-1], text)
    for name, replacement in _personal_names().items():
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", replacement, text)
    return text


def _personal_names() -> dict[str, str]:
    """The names that identify who measured and where."""
    host = socket.gethostname()
    names = {host: "<host>", host.split(".")[0]: "<host>", Path.home().name: "<user>"}
    with contextlib.suppress(KeyError, OSError):  # a user id without a name has nothing to give away
        names[getpass.getuser()] = "<user>"
    return {name: replacement for name, replacement in names.items() if len(name) > 1}
