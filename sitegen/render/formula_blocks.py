"""A formula that stands alone: laid out, with what each of its letters is."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from sitegen.memory.formulas import printing

_BLOCK: Final = Markup('<div class="formula">{}<p class="formula-legend">{}.</p></div>')
_LETTER: Final = Markup("<var>{}</var>")
_INDEXED: Final = Markup("<var>{}<sub>{}</sub></var>")


def formula_block(name: str) -> Markup:
    """A formula by its name, which exists, and its legend, ``W : poids (octets) ; P : paramètres``."""
    legend = Markup(" ; ").join(
        Markup("{} : {}").format(_letter(letter), words) for letter, words in printing.legend(name)
    )
    return _BLOCK.format(Markup(printing.mathml(name)), legend)  # noqa: S704  # written by sympy from our own symbols


def _letter(letter: str) -> Markup:
    """A letter with its index."""
    base, _, index = letter.partition("_")
    return _INDEXED.format(base, index) if index else _LETTER.format(base)
