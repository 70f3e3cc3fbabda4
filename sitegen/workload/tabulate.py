"""Make the table of a family: trace two small models of it at two depths, and prove the result on a third.

Started as ``python -m sitegen.workload.tabulate`` with `TableKey`s (a JSON list) on standard input; writes one
`TableReply` a line, so that a table can be on disk before the next one is begun.
"""

from __future__ import annotations

import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Final

import msgspec
from msgspec.structs import replace

from sitegen.errors import ModelError, SitegenError
from sitegen.memory.composition import step_bills
from sitegen.memory.depth import Growth, IrregularDepthError, Profile, Row
from sitegen.memory.examples import Example, random_example, signature_example
from sitegen.memory.families import FAMILIES
from sitegen.memory.polynomials import FLOORS, Polynomial, combination, times, undominated, value
from sitegen.memory.signatures import Signature
from sitegen.records.table import Coefficients, Depths, Peak, Table, TableKey, TableReply
from sitegen.records.trace import LiveComponents
from sitegen.workload import models, symbolic
from sitegen.workload.guard import die_with_parent
from sitegen.workload.profiles import COMPONENTS, profiles
from sitegen.workload.symbolic import Formulas, SymbolicPhase, Term
from sitegen.workload.trace import private_stdout, recorded

Line = dict[str, Polynomial]
"""What lives at an operation, a polynomial a component."""

_KEPT: Final = {
    (1, "forward"): "forward",
    (1, "backward"): "backward",
    (1, "optimizer_step"): "optimizer_step",
    (2, "forward"): "forward_again",
    (2, "backward"): "backward_again",
    (2, "optimizer_step"): "optimizer_step_again",
    (1, "prefill"): "prefill",
    (1, "decode"): "decode",
}
"""The entries of a table, by step and name of the phase."""


def tabulated(key: TableKey) -> Table:
    """The table of a family, for one set of options.

    Raises:
        ModelError: its sizes have no formulas, or a third model is not what the two others foretell.
    """
    reason: SitegenError | IrregularDepthError | None = None
    formulas = _formulas(replace(key, **_SAME_TENSORS))
    for first, period in _depths(key):
        try:
            return _proved(key, first, period, formulas)
        except (IrregularDepthError, ModelError) as error:
            reason, formulas = error, Formulas()
    raise ModelError(f"No table describes {key.family} ({key.variant}): {reason}", "Trace each model of it.")


_SAME_TENSORS: Final = {"gradient_checkpointing": False, "dtype": "float32", "targets": "", "beyond_window": False}
"""Tables that differ in no more than these are read off models whose tensors are of the same sizes."""


@cache
def _formulas(_key: TableKey) -> Formulas:
    """The formulas that the tables of this process share."""
    return Formulas()


def _depths(key: TableKey) -> Iterator[tuple[int, int]]:
    """The depths and periods to try, the cheapest first.

    The first model has a layer of each kind. Where the embeddings need no gradient (an adapter without checkpointing),
    the backward of the first layer stops early, so that a model of one layer is like no other.
    """
    family = FAMILIES[key.family]
    stops_early = key.mode == "training" and key.method != "full" and not key.gradient_checkpointing
    least = family.pattern + stops_early
    if family.pattern == 1 or (family.alike and not key.beyond_window):
        yield from ((least, 1), (least + 1, 1))
    if family.pattern > 1:
        yield from ((family.pattern, family.pattern), (2 * family.pattern, family.pattern))


def _proved(key: TableKey, first: int, period: int, formulas: Formulas) -> Table:
    """The table from models of `first` layers and of a period more, once a deeper one of other dimensions agrees."""
    shallow, deep = (_phases(key, layers, formulas) for layers in (first, first + period))
    terms = sorted({term for phase in (*shallow, *deep) for state in phase.states for term in state})
    growths = [Growth(_profile(one, terms), _profile(two, terms)) for one, two in zip(shallow, deep, strict=True)]
    periods = -(-max(2 * period, FAMILIES[key.family].pattern) // period)
    _prove(growths, terms, periods, random_example(key, first + periods * period, seed=0))
    lines = [[_line(terms, *line, first, period) for line in dict.fromkeys(growth.lines())] for growth in growths]
    smallest = first + period * -(-max(period, FLOORS["L"] - first) // period)
    return _table(key, Depths(smallest=smallest, period=period), deep, lines)


def _prove(growths: Sequence[Growth], terms: Sequence[Term], periods: int, example: Example) -> None:
    """Hold what is foretold to a trace, at each operation and for each component, to the byte.

    Raises:
        ModelError: other operations, or another number of bytes.
    """
    models.import_for(example.case, None)
    traced = profiles(recorded(example.case, example.config))
    sizes = [value({monomial: 1}, example.dimensions) for _, monomial in terms]
    places = [COMPONENTS.index(component) for component, _ in terms]

    @cache
    def bytes_of(row: Row) -> Row:
        found = [0] * len(COMPONENTS)
        for place, size, count in zip(places, sizes, row, strict=True):
            found[place] += size * count
        return tuple(found)

    for growth, actual in zip(growths, traced, strict=True):
        foretold = growth.profile(periods)
        if foretold._replace(rows=tuple(map(bytes_of, foretold.rows))) != actual:
            raise ModelError(f"{actual.name} of step {actual.step} is not as foretold.", "Trace each model of it.")


def check(table: Table, example: Example) -> None:
    """Hold a table to a trace, to the byte, phase by phase.

    Raises:
        ModelError: another number of bytes.
    """
    models.import_for(example.case, None)
    steps = recorded(example.case, example.config).steps()
    foretold = {(bill.step, bill.name): bill.peak_bytes for bill in step_bills(table, example.dimensions, example.case)}
    for number, step in enumerate(steps, start=1):
        for name, peak_bytes in step.peak_bytes().items():
            if foretold[number, name] != peak_bytes:
                raise ModelError(
                    f"{name} of step {number} takes {peak_bytes} bytes, not {foretold[number, name]}.",
                    "Trace each model of the family.",
                )


def _phases(key: TableKey, layers: int, formulas: Formulas) -> list[SymbolicPhase]:
    """The phases of a model with so many layers, in symbols."""
    first, second = (signature_example(key, which, layers) for which in (0, 1))
    models.import_for(first.case, None)
    recording = recorded(first.case, first.config)
    read = formulas.of(recording, partial(recorded, second.case, second.config), partial(_signature, first, second))
    return symbolic.phases(recording, read)


def _signature(first: Example, second: Example) -> Signature:
    """What tells the dimensions of the two models apart."""
    sums: list[Polynomial] = [dict(one) for one in FAMILIES[first.config["model_type"]].sums]
    return Signature(first.dimensions, second.dimensions, _following(first), sums)


def _following(example: Example) -> set[str]:
    """The dimensions that follow from others: a hidden size that heads make up, groups of one head each."""
    rules = FAMILIES[example.config["model_type"]].rules
    follows = {rule.numerator for rule in rules if rule.symbol == "d" and not rule.keys}
    return follows | ({"K"} if example.dimensions.get("K") == example.dimensions["H"] else set())


def _table(key: TableKey, depths: Depths, phases: Sequence[SymbolicPhase], lines: Sequence[list[Line]]) -> Table:
    """The table of these phases, what lives at each operation of theirs given at any depth.

    Raises:
        ModelError: gradients or state come or go in the middle of a later forward.
    """
    kept: dict[str, tuple[Peak, ...]] = {}
    gradients: Polynomial = {}
    state: Polynomial = {}
    for phase, found in zip(phases, lines, strict=True):
        entry = _KEPT[phase.step, phase.name]
        if entry == "forward_again":
            gradients, state = (_throughout(name, found) for name in ("gradients", "optimizer_state"))
        kept[entry] = _peaks(found)
    if kept.get("forward_again") == kept.get("forward"):
        kept.pop("forward_again", None)
    return Table(
        key=key,
        depths=depths,
        phases=kept,
        gradients=coefficients(gradients),
        optimizer_state=coefficients(state),
    )


def _throughout(component: str, lines: list[Line]) -> Polynomial:
    """What all lines have of a component; it is taken out of them."""
    found = [line.pop(component, {}) for line in lines]
    if any(one != found[0] for one in found):
        raise ModelError(f"{component} does not stay the same during a forward.", "Trace each model of it.")
    return found[0]


def _profile(phase: SymbolicPhase, terms: Sequence[Term]) -> Profile:
    """The phase with a row of coefficients an operation."""
    rows: dict[int, Row] = {}
    for state in phase.states:
        if id(state) not in rows:
            rows[id(state)] = tuple(state.get(term, 0) for term in terms)
    return Profile(phase.step, phase.name, phase.operations, tuple(rows[id(state)] for state in phase.states))


def _line(terms: Sequence[Term], start: Row, gain: Row, first: int, period: int) -> Line:
    """A row as polynomials in the layers L: ``start + gain · (L − first) / period``."""
    line: defaultdict[str, Polynomial] = defaultdict(dict)
    for (component, monomial), fixed, whole in zip(terms, start, gain, strict=True):
        each = whole if period == 1 else Fraction(whole, period)
        if fixed != first * each:
            line[component][monomial] = fixed - first * each
        if each:
            line[component][times(monomial, "L")] = each
    return line


def _peaks(lines: Iterable[Line]) -> tuple[Peak, ...]:
    """Those that can be the peak."""
    known = list(lines)
    totals = [combination((1, polynomial) for polynomial in line.values()) for line in known]
    return tuple(
        Peak(components={name: coefficients(known[i][name]) for name in _ORDER if known[i].get(name)})
        for i in undominated(totals)
    )


_ORDER: Final = LiveComponents.__struct_fields__


def coefficients(polynomial: Polynomial) -> Coefficients:
    """A polynomial as it is stored."""
    return {
        monomial: int(coefficient) if coefficient == int(coefficient) else str(coefficient)
        for monomial, coefficient in sorted(polynomial.items())
    }


def _replies(keys: Iterable[TableKey]) -> Iterator[TableReply]:
    """A reply for each key."""
    for key in keys:
        try:
            yield TableReply(table=tabulated(key))
        except SitegenError as error:
            yield TableReply(error=error.what, remedy=error.remedy, kind=type(error).__name__)


def main() -> None:
    """Serve the keys, and end with the parent."""
    with private_stdout() as stream:
        keys = msgspec.json.decode(sys.stdin.buffer.read(), type=list[TableKey])
        die_with_parent(os.getppid())
        for reply in _replies(keys):
            stream.write(msgspec.json.encode(reply) + b"\n")
            stream.flush()


if __name__ == "__main__":
    main()
