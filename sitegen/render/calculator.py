"""What a calculator is made of: fields, choices that fill them, a worked example; the template and the script read it.

Each calculator has its module, which says all of this in French; its arithmetic is that of the formulas, run by
``static/js/calculator-<key>.js`` on the functions that the build prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from markupsafe import Markup

from sitegen.french import typography
from sitegen.memory.formulas import printing

FREE: Final = "free"
"""The choice that fills nothing: the reader's own values."""
_LARGEST: Final = 1e6


@dataclass(frozen=True, slots=True)
class Field:
    """A number that the reader types.

    `blank` is what is said of it when it is empty; `zero` allows 0 and `whole` refuses decimals. `default` is written
    as an address would write it.
    """

    name: str
    label: str
    symbol: str
    unit: str
    hint: str
    blank: str
    default: float
    zero: bool = False
    whole: bool = False
    largest: float = _LARGEST
    kind: str = "field"

    @property
    def letter(self) -> Markup:
        """Its letter in the formulas."""
        return letter(self.symbol)

    @property
    def rule(self) -> dict[str, Any]:
        """What the script refuses."""
        return {"blank": typography(self.blank), "zero": self.zero, "whole": self.whole, "largest": self.largest}


@dataclass(frozen=True, slots=True)
class Choice:
    """One line of a chooser: `values` are what it writes into fields, `note` stands beside its label."""

    key: str
    label: str
    values: Mapping[str, float]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Chooser:
    """A choice that fills fields: buttons where there are few (``radios``), a list where they are many (``select``)."""

    name: str
    title: str
    choices: tuple[Choice, ...]
    default: str
    free: str
    kind: str = "radios"


@dataclass(frozen=True, slots=True)
class Checks:
    """Several things of a list; at least one. `lang` is the language of their names."""

    name: str
    title: str
    hint: str
    labels: Mapping[str, str]
    default: tuple[str, ...]
    blank: str
    lang: str = "en"
    kind: str = "checks"


Part = Field | Chooser | Checks


@dataclass(frozen=True, slots=True)
class Group:
    """Parts under one heading; those of a `compact` group stand side by side."""

    title: str
    parts: tuple[Part, ...]
    compact: bool = False


@dataclass(frozen=True)
class Calculator:
    """One calculator.

    Args:
        key: that of its script.
        groups: what is asked.
        equations: the formulas that it applies, laid out.
        example: a worked example in a sentence, for where the script does not run.
        result: what it computes, and its letter.
        columns: of the table of details: each a title and its unit.
        invitation: what stands in the place of the result while its first field is empty.
        extra: what else the script reads.
    """

    key: str
    groups: tuple[Group, ...]
    equations: tuple[Markup, ...]
    example: str
    result: tuple[str, str]
    columns: tuple[tuple[str, str], ...]
    invitation: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def letter(self) -> Markup:
        """The letter of its result."""
        return letter(self.result[1])

    @property
    def _parts(self) -> list[Part]:
        """Every part, in order."""
        return [part for group in self.groups for part in group.parts]

    @property
    def data(self) -> dict[str, Any]:
        """What the script reads: rules and first values of the fields, what choices fill, and its own."""
        fields = [part for part in self._parts if isinstance(part, Field)]
        choosers = [part for part in self._parts if isinstance(part, Chooser)]
        checks = [part for part in self._parts if isinstance(part, Checks)]
        return {
            "fields": {each.name: each.rule for each in fields},
            "defaults": {
                **{each.name: f"{each.default:.12g}" for each in fields},
                **{each.name: each.default for each in choosers},
                **{each.name: ",".join(each.default) for each in checks},
            },
            "choosers": {each.name: {choice.key: dict(choice.values) for choice in each.choices} for each in choosers},
            "checks": {each.name: typography(each.blank) for each in checks},
            "result": self.result[0],
            "invitation": typography(self.invitation),
            **self.extra,
        }


def letter(symbol: str) -> Markup:
    """A letter of a formula in a sentence, what follows an underscore as an index: ``L_c``."""
    base, _, index = symbol.partition("_")
    return Markup("<var>{}{}</var>").format(base, Markup("<sub>{}</sub>").format(index) if index else "")


def equation(name: str) -> Markup:
    """A formula as a reader sees it: a ``<math>`` element with its text alternative."""
    return Markup(printing.mathml(name))  # noqa: S704  # written by sympy from our own symbols
