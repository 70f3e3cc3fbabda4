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
from typing import Final

import msgspec

from sitegen.errors import ModelError, SitegenError
from sitegen.memory.composition import step_bills
from sitegen.memory.depth import Growth, IrregularDepthError, Profile, Row
from sitegen.memory.examples import Example, random_example, signature_example
from sitegen.memory.families import FAMILIES
from sitegen.memory.polynomials import Polynomial, combination, times, undominated
from sitegen.memory.signatures import Signature
from sitegen.records.table import Coefficients, Depths, Peak, Table, TableKey, TableReply
from sitegen.records.trace import LiveComponents
from sitegen.workload import models, symbolic
from sitegen.workload.guard import die_with_parent
from sitegen.workload.symbolic import SymbolicPhase, Term
from sitegen.workload.trace import private_stdout, recorded

Line = dict[str, Polynomial]
"""What lives at an operation, a polynomial a component."""

_KEPT: Final = {
    (1, "forward"): "forward",
    (1, "backward"): "backward",
    (1, "optimizer_step"): "optimizer_step",
    (2, "backward"): "backward_again",
    (2, "optimizer_step"): "optimizer_step_again",
    (1, "prefill"): "prefill",
    (1, "decode"): "decode",
}
"""The phases that a table keeps, by step and name; a later forward follows from the first one."""


def tabulated(key: TableKey) -> Table:
    """The table of a family, for one set of options.

    Raises:
        ModelError: its sizes have no formulas, or a third model is not what the table foretells.
    """
    reason: SitegenError | IrregularDepthError | None = None
    pattern = FAMILIES[key.family].pattern
    for period, smallest in ((1, 2), (1, 3), (pattern, pattern), (pattern, 2 * pattern)):
        try:
            return _proved(key, Depths(smallest=smallest + period, period=period))
        except (IrregularDepthError, ModelError) as error:
            reason = error
    raise ModelError(f"No table describes {key.family} ({key.variant}): {reason}", "Trace each model of it.")


def _proved(key: TableKey, depths: Depths) -> Table:
    """The table, once a model of random dimensions, a period deeper than those it comes from, has proved it."""
    shallow = _phases(key, depths.smallest - depths.period)
    deep = _phases(key, depths.smallest)
    table = _table(key, depths, shallow, deep)
    pattern = FAMILIES[key.family].pattern
    for layers in {depths.smallest + depths.period, depths.period * (-(-2 * pattern // depths.period))}:
        if layers >= depths.smallest:
            check(table, random_example(key, layers, layers))
    return table


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


def _phases(key: TableKey, layers: int) -> list[SymbolicPhase]:
    """The phases of a model with so many layers, in symbols."""
    first, second = (signature_example(key, which, layers) for which in (0, 1))
    signature = Signature(
        first.dimensions, second.dimensions, _following(first), [dict(one) for one in FAMILIES[key.family].sums]
    )
    models.import_for(first.case, None)
    recordings = [recorded(example.case, example.config) for example in (first, second)]
    return symbolic.phases(recordings[0], recordings[1], signature)


def _following(example: Example) -> set[str]:
    """The dimensions that follow from others: a hidden size that heads make up, groups of one head each."""
    rules = FAMILIES[example.config["model_type"]].rules
    follows = {rule.numerator for rule in rules if rule.symbol == "d" and not rule.keys}
    return follows | ({"K"} if example.dimensions.get("K") == example.dimensions["H"] else set())


def _table(key: TableKey, depths: Depths, shallow: Sequence[SymbolicPhase], deep: Sequence[SymbolicPhase]) -> Table:
    """The table from the phases at two depths."""
    kept: dict[str, tuple[Peak, ...]] = {}
    later: list[Line] = []
    for one, other in zip(shallow, deep, strict=True):
        lines = _lines(one, other, depths)
        if (one.step, one.name) in _KEPT:
            kept[_KEPT[one.step, one.name]] = _peaks(lines)
        elif one.name == "forward":
            later = lines
    totals = later[0] if later else {}
    return Table(
        key=key,
        depths=depths,
        phases=kept,
        gradients=coefficients(totals.get("gradients", {})),
        optimizer_state=coefficients(totals.get("optimizer_state", {})),
    )


def _lines(shallow: SymbolicPhase, deep: SymbolicPhase, depths: Depths) -> list[Line]:
    """What lives at each operation that can be the peak, at any depth: each once, in their order."""
    terms = sorted({term for phase in (shallow, deep) for state in phase.states for term in state})
    growth = Growth(_profile(shallow, terms), _profile(deep, terms))
    return [_line(terms, start, gain, depths) for start, gain in dict.fromkeys(growth.lines())]


def _profile(phase: SymbolicPhase, terms: Sequence[Term]) -> Profile:
    """The phase with a row of coefficients an operation."""
    rows: dict[int, Row] = {}
    for state in phase.states:
        if id(state) not in rows:
            rows[id(state)] = tuple(state.get(term, 0) for term in terms)
    return Profile(phase.step, phase.name, phase.operations, tuple(rows[id(state)] for state in phase.states))


def _line(terms: Sequence[Term], start: Row, gain: Row, depths: Depths) -> Line:
    """A row as polynomials in the layers L: ``start + gain · (L − base) / period``, with base the shallow depth."""
    base = depths.smallest - depths.period
    line: defaultdict[str, Polynomial] = defaultdict(dict)
    for (component, monomial), fixed, whole in zip(terms, start, gain, strict=True):
        each = whole if depths.period == 1 else Fraction(whole, depths.period)
        if fixed != base * each:
            line[component][monomial] = fixed - base * each
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
