"""Bring the JSON of an older record to today's schema, one version at a time.

`UPGRADES[n]` takes the JSON object of schema version n and returns that of version n + 1. A newer version is refused:
what a future field means cannot be guessed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from sitegen.errors import RecordError
from sitegen.records.model import SCHEMA_VERSION

UPGRADES: Final[dict[int, Callable[[dict[str, Any]], dict[str, Any]]]] = {}


def upgraded(data: dict[str, Any], name: str) -> dict[str, Any]:
    """The same record in today's schema.

    Args:
        data: the file's JSON object.
        name: the file, for messages.

    Raises:
        RecordError: no schema version, a newer one, or one without a way up.
    """
    version = data.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise RecordError(f"{name} has no valid schema_version.", "Delete the file and measure the case again.")
    if version > SCHEMA_VERSION:
        raise RecordError(
            f"{name} has schema version {version}; this sitegen reads up to {SCHEMA_VERSION}.", "Upgrade sitegen."
        )
    for step in range(version, SCHEMA_VERSION):
        data = UPGRADES[step](data)
    return data
