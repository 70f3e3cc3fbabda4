"""The English words of a French text: a voice that reads the page must know which they are.

The text of pages marks its own; here are those that records bring into cells, captions and headings.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from markupsafe import Markup

_NAMES: Final = r"(?:Intel|AMD|Apple|Ampere|Arm)(?:\([A-Z]+\))?(?:[ \u00a0](?:[A-Z][\w()@.-]*|[\w-]*\d[\w.-]*))*"
_WORDS: Final = "JSON Schema|gradient checkpointing|foreach|eager|ru_maxrss"
_ENGLISH: Final = re.compile(rf"\b(?:b?float\d+|\w+_(?:proj|head|tokens)|{_WORDS}|{_NAMES})(?!\w)")


@lru_cache(maxsize=1 << 14, typed=True)  # tables repeat each other; what is markup already is another text
def marked(text: str) -> Markup:
    """The text, escaped, with each English word or name in an element that says its language."""
    pieces, end = [], 0
    for found in _ENGLISH.finditer(text):
        pieces += [Markup.escape(text[end : found.start()]), Markup('<span lang="en">{}</span>').format(found[0])]
        end = found.end()
    return Markup("").join([*pieces, Markup.escape(text[end:])])
