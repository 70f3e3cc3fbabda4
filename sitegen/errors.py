"""Every error a user can meet, one tree, one exit code a kind.

SitegenError (1)
├── UsageError (2)          an option or an input that cannot be right
├── ProjectError (3)        no project here, or one that lacks something
├── ModelError (4)          a model that cannot be found, read or trusted
│   ├── ConfigurationError (10)   its config.json does not describe a model
│   ├── WeightsError (11)         its weights' files are damaged or incomplete
│   └── PointerError (12)         a Git LFS pointer lies where the weights should be
├── MeasurementError (5)    the suite ran, and at least one case did not end well
├── RecordError (6)         a record that is corrupted, tampered with or too new
├── ContentError (7)        a page that cannot be rendered, or says what is not so
├── StorageError (8)        the disk is full or refuses to be written
└── BusyError (9)           another measurement holds the lock

The command line turns any of them into one message and `exit_code`; nothing else in the package calls `sys.exit`.
"""

from __future__ import annotations

import errno
from typing import ClassVar


class SitegenError(Exception):
    """Something the user can act on: what is wrong, where, and what to do.

    Args:
        what: one sentence that names the thing and what is wrong with it.
        remedy: what to do about it, an imperative sentence.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        """The message shown to the user, on one or two lines."""
        return f"{self.what}\n{self.remedy}" if self.remedy else self.what


class UsageError(SitegenError):
    """An option or an input that cannot be right."""

    exit_code = 2


class ProjectError(SitegenError):
    """No project here, or one that lacks something."""

    exit_code = 3


class ModelError(SitegenError):
    """A model that cannot be found, read or trusted."""

    exit_code = 4


class ConfigurationError(ModelError):
    """A config.json that does not describe a model."""

    exit_code = 10


class WeightsError(ModelError):
    """Weights' files that are damaged or incomplete."""

    exit_code = 11


class PointerError(ModelError):
    """A Git LFS pointer in the place of the weights."""

    exit_code = 12


class MeasurementError(SitegenError):
    """At least one case did not end well; its record says why."""

    exit_code = 5


class RecordError(SitegenError):
    """A record that is corrupted, tampered with or written by a newer version."""

    exit_code = 6


class ContentError(SitegenError):
    """A page that cannot be rendered, or a sentence that the records contradict."""

    exit_code = 7


class StorageError(SitegenError):
    """The disk is full or refuses to be written."""

    exit_code = 8


class BusyError(SitegenError):
    """Another measurement is running: two at once would spoil both."""

    exit_code = 9


ALL_KINDS: tuple[type[SitegenError], ...] = (
    UsageError,
    ProjectError,
    ModelError,
    ConfigurationError,
    WeightsError,
    PointerError,
    MeasurementError,
    RecordError,
    ContentError,
    StorageError,
    BusyError,
)


def from_os_error(error: OSError, doing: str) -> StorageError:
    """Say in the user's words what the operating system refused.

    Args:
        error: what the system raised.
        doing: what the program was about, e.g. ``"writing measurements/…"``.
    """
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageError(f"The disk is full: {doing} failed.", "Free some space, then run the same command again.")
    return StorageError(f"{doing} failed: {error.strerror or error}.", "Check the path and its permissions.")
