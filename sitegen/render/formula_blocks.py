"""A formula that stands alone: laid out, with what each of its letters is."""

from __future__ import annotations

from typing import Final

from markupsafe import Markup

from sitegen.memory.formulas import printing
from sitegen.render.calculator import equation, letter

_BLOCK: Final = Markup('<div class="formula">{}<p class="formula-legend">{}.</p></div>')


def formula_block(name: str) -> Markup:
    """A formula by its name, which exists, and its legend, ``W : poids (octets) ; P : paramètres``."""
    explained = (Markup("{} : {}").format(letter(symbol), words) for symbol, words in printing.legend(name))
    return _BLOCK.format(equation(name), Markup(" ; ").join(explained))
