"""What sympy's own printers make of a formula: JavaScript for the pages, MathML and French words for the reader.

The order in which a formula is written is kept: sympy is told to evaluate nothing, and products and sums are only freed
of the parentheses that a body's operators leave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, Final
from xml.dom.minidom import Element

import sympy
from sympy.printing.jscode import JavascriptCodePrinter
from sympy.printing.mathml import MathMLPresentationPrinter
from sympy.printing.precedence import PRECEDENCE
from sympy.printing.str import StrPrinter
from sympy.simplify import fraction

from sitegen.memory.formulas.arithmetic import GREATEST, LEAST
from sitegen.memory.formulas.formula import FORMULAS
from sitegen.memory.formulas.symbols import SYMBOLS, Symbol

SCRIPT: Final = "SitegenFormulas"
"""The object that holds the functions on a page: ``window.SitegenFormulas.fixed_bill(parameters, number_bytes)``."""

_AS_WRITTEN: Final = "none"
_JAVASCRIPT_NAMES: Final = {GREATEST: "Math.max", LEAST: "Math.min"}
_MATHML: Final = "http://www.w3.org/1998/Math/MathML"


class _InOrder(MathMLPresentationPrinter):  # type: ignore[misc]  # sympy leaves its printers untyped
    """Presentation MathML whose products keep their order; fractions are left to sympy."""

    def _print_Mul(self, expr: Any) -> Element:  # noqa: ANN401, N802 - sympy's names and types
        """A product: factor × factor."""
        if fraction(expr)[1] != 1:
            whole: Element = super()._print_Mul(expr)
            return whole
        row: Element = self.dom.createElement("mrow")
        for index, factor in enumerate(expr.args):
            if index:
                sign = self.dom.createElement("mo")
                sign.appendChild(self.dom.createTextNode("×"))
                row.appendChild(sign)
            row.appendChild(self.parenthesize(factor, PRECEDENCE["Mul"]))
        return row


class _InWords(StrPrinter):  # type: ignore[misc]  # see above
    """A formula on one line, for who cannot see it laid out."""

    def _print_Mul(self, expr: Any) -> str:  # noqa: ANN401, N802 - sympy's names and types
        """``a × b``, ``a / b``."""
        above, below = fraction(expr)
        if below != 1:
            return f"{self.parenthesize(above, PRECEDENCE['Mul'])} / {self.parenthesize(below, PRECEDENCE['Pow'])}"
        return " × ".join(self.parenthesize(factor, PRECEDENCE["Mul"]) for factor in expr.args)

    def _print_Pow(self, expr: Any, rational: bool = False) -> str:  # noqa: ANN401, N802 - sympy's names and types
        """``a au carré``: no other power is used."""
        del rational
        return f"{self.parenthesize(expr.base, PRECEDENCE['Pow'])} au carré"

    def _print_ceiling(self, expr: Any) -> str:  # noqa: ANN401 - sympy's types
        """``arrondi supérieur de (a / b)``."""
        return f"arrondi supérieur de ({self._print(expr.args[0])})"

    def _print_Function(self, expr: Any) -> str:  # noqa: ANN401, N802 - sympy's names and types
        """``le plus grand de (a ; b)``."""
        words = {GREATEST: "le plus grand", LEAST: "le plus petit"}[expr.func.__name__]
        return f"{words} de ({' ; '.join(map(self._print, expr.args))})"


def javascript(names: Iterable[str]) -> str:
    """A classic script that defines the formulas, each a function of its inputs in order.

    Whole numbers come out exact as long as every intermediate is under 2^53.
    """
    functions = "".join(f"  {name}: {_javascript(name)},\n" for name in names)
    return f"/** Formulas, printed from their one definition. */\nwindow.{SCRIPT} = {{\n{functions}}};\n"


@cache
def mathml(name: str) -> str:
    """A ``<math>`` element: result = expression, with the French words as its text alternative."""
    formula = FORMULAS[name]
    printer = _InOrder({"mul_symbol": "times", "order": _AS_WRITTEN})
    result, body = printer.doprint(sympy.Symbol(formula.result.letter)), printer.doprint(_by_letter(name))
    alternative = in_words(name).replace("&", "&amp;").replace('"', "&quot;")
    row = f"{result}<mo>=</mo>{body}".replace("<mo>,</mo>", "<mo>;</mo>")  # the French comma is decimal
    return f'<math xmlns="{_MATHML}" alttext="{alternative}"><mrow>{row}</mrow></math>'


@cache
def in_words(name: str) -> str:
    """The formula in French words: ``paramètres de l’adaptateur = rang × (…)``."""
    formula = FORMULAS[name]
    body = _InWords({"order": _AS_WRITTEN}).doprint(_expression(name, lambda symbol, _: symbol.words))
    return f"{formula.result.words} = {body}"


@cache
def on_one_line(name: str) -> str:
    """The formula in letters, as text: ``P_a = r × (d_e + d_s)``."""
    body = _InWords({"order": _AS_WRITTEN}).doprint(_by_letter(name))
    return f"{FORMULAS[name].result.letter} = {body}"


def legend(name: str) -> tuple[tuple[str, str], ...]:
    """The letters of a formula, the result's first, each with its French words and its unit."""
    formula = FORMULAS[name]
    return tuple((each.letter, _with_unit(each)) for each in (formula.result, *formula.legend))


def _with_unit(symbol: Symbol) -> str:
    """The words, and the unit where it is not already said."""
    return symbol.words if not symbol.unit or symbol.unit in symbol.words else f"{symbol.words} ({symbol.unit})"


@cache
def _javascript(name: str) -> str:
    """The arrow function of one formula."""
    printer = JavascriptCodePrinter({"order": _AS_WRITTEN, "user_functions": _JAVASCRIPT_NAMES})
    body = printer.doprint(_expression(name, lambda _, key: key))
    return f"({', '.join(FORMULAS[name].inputs)}) => {body}"


def _by_letter(name: str) -> Any:  # noqa: ANN401 - a sympy expression
    """The formula over the letters that a reader sees."""
    return _expression(name, lambda symbol, _: symbol.letter)


def _expression(name: str, naming: Callable[[Symbol, str], str]) -> Any:  # noqa: ANN401 - a sympy expression
    """The formula's body over symbols named by `naming`, given what each is and its key."""
    formula = FORMULAS[name]
    with sympy.evaluate(False):
        return _flat(formula.body(*(sympy.Symbol(naming(SYMBOLS[key], key)) for key in formula.inputs)))


def _flat(expression: Any) -> Any:  # noqa: ANN401 - a sympy expression
    """``(a·b)·c`` as ``a·b·c``, and the same for sums, nothing being reordered or evaluated."""
    arguments = [_flat(argument) for argument in expression.args]
    if not arguments:
        return expression
    if expression.func in (sympy.Add, sympy.Mul):
        nested = ((each.args if each.func is expression.func else (each,)) for each in arguments)
        arguments = [each for group in nested for each in group]
    return expression.func(*arguments, evaluate=False)
