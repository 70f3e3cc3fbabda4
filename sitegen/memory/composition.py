"""From a table to a case's phases: what later steps, freed gradients, accumulation, another optimizer change.

A table holds the phases of the first step, and what differs in a later one, under AdamW one tensor at a time. What it
does not hold of a later one is as it was the first time.
All else follows from which gradients and which state exist when a phase begins. Both are data (`runs`, `OPTIMIZERS`),
which the page's JavaScript gets as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from typing import Final, Literal, NamedTuple

import msgspec

from sitegen.memory.polynomials import Coefficient, Dimensions, Polynomial, value
from sitegen.records.bill import PhaseBill
from sitegen.records.case import Case
from sitegen.records.table import Coefficients, Table
from sitegen.records.trace import LiveComponents

COMPONENTS: Final = LiveComponents.__struct_fields__

State = Literal["none", "gradients", "table"]


class OptimizerRule(NamedTuple):
    """What an optimizer keeps and makes, beside the table's AdamW.

    `state`: nothing, as much as the gradients, or what the table says. `temporaries`: how many times the gradients its
    step makes on top of what is there; ``None`` for what the table says.
    """

    state: State
    temporaries: int | None


OPTIMIZERS: Final[dict[str, OptimizerRule]] = {
    "adamw": OptimizerRule("table", None),
    "adamw-foreach": OptimizerRule("table", 1),
    "sgd": OptimizerRule("none", 0),
    "sgd-foreach": OptimizerRule("none", 0),
    "sgd-momentum": OptimizerRule("gradients", 0),
    "sgd-momentum-foreach": OptimizerRule("gradients", 0),
}
"""By the optimizer's name, with ``-foreach`` for its multi-tensor step.

SGD updates in place; momentum is one buffer a parameter, made by cloning its gradient (torch.optim.SGD); the
multi-tensor AdamW takes the square root of all second moments at once (torch.optim.AdamW, ``_foreach_sqrt``).
"""

BATCH: Final[Polynomial] = {"bs": 8}
"""The batch's ids, 64-bit, which are there at every optimizer step."""


_AGAIN: Final = "_again"


class Run(NamedTuple):
    """One run of one phase: whose entry of the table it takes, and whether gradients and state are added to it.

    An entry that ends in ``_again`` is the first one's where the table has none of its own.
    """

    step: int
    name: str
    entry: str
    gradients: bool
    state: bool


def optimizer_name(case: Case) -> str:
    """The name of a case's optimizer in `OPTIMIZERS`, or one that is not there."""
    return f"{case.optimizer}-foreach" if case.foreach else case.optimizer


@cache
def runs(zero_grad: str, accumulates: bool) -> tuple[Run, ...]:
    """The phases of two training steps, in their order; further steps and micro-batches repeat the last ones.

    A forward begins with the gradients that exist; a backward over existing ones has its own entry.
    """
    found: list[Run] = []
    for step in (1, 2):
        begun = step > 1 and zero_grad == "keep"
        for _ in range(2 if accumulates else 1):
            found.append(Run(step, "forward", "forward_again" if found else "forward", begun, step > 1))
            found.append(Run(step, "backward", "backward_again" if begun else "backward", False, step > 1))
            begun = True
        found.append(Run(step, "optimizer_step", "optimizer_step_again" if step > 1 else "optimizer_step", True, True))
    return tuple(found)


def step_bills(table: Table, dimensions: Dimensions, case: Case) -> tuple[PhaseBill, ...]:
    """Each phase of each step at its peak, the highest of its micro-batches.

    Args:
        table: of the case's family and options.
        dimensions: of the model, with b, s, and r where there is an adapter.
        case: says what follows what; its optimizer is one of `OPTIMIZERS`.
    """
    if case.mode != "training":
        return tuple(_running_bill(table, name, dimensions, case) for name in table.phases)
    totals = _totals(table, dimensions)
    bills: dict[tuple[int, str], PhaseBill] = {}
    for run in runs(case.zero_grad, case.gradient_accumulation > 1):
        if run.step <= case.steps:
            bill = _training_bill(table, run, dimensions, totals, OPTIMIZERS[optimizer_name(case)])
            known = bills.get((run.step, run.name))
            if known is None or known.peak_bytes < bill.peak_bytes:
                bills[run.step, run.name] = bill
    return tuple(bills.values())


def highest(table: Table, entry: str, dimensions: Dimensions) -> dict[str, int]:
    """The components, in bytes, where an entry of the table peaks."""
    peaks = (
        {name: value(polynomial(part), dimensions) for name, part in peak.components.items()}
        for peak in table.phases.get(entry) or table.phases[entry.removesuffix(_AGAIN)]
    )
    return max(peaks, key=lambda components: sum(components.values()))


def polynomial(stored: Coefficients) -> Polynomial:
    """A polynomial as it computes."""
    return {monomial: _exact(coefficient) for monomial, coefficient in stored.items()}


def _exact(coefficient: int | str) -> Coefficient:
    """A stored coefficient as a number: whole where it is, for fractions take longer to compute with."""
    return coefficient if isinstance(coefficient, int) else Fraction(coefficient)


def _totals(table: Table, dimensions: Dimensions) -> dict[str, int]:
    """What all gradients and the whole state weigh, and what is there of the batch."""
    return {
        "gradients": value(polynomial(table.gradients), dimensions),
        "table": value(polynomial(table.optimizer_state), dimensions),
        "batch": value(BATCH, dimensions),
        "none": 0,
    }


def _training_bill(
    table: Table, run: Run, dimensions: Dimensions, totals: Mapping[str, int], rule: OptimizerRule
) -> PhaseBill:
    """One run of one phase of a training step."""
    components = highest(table, run.entry, dimensions)
    if run.name != "optimizer_step":
        added = {"optimizer_state": totals[rule.state] if run.state else 0}
        if run.gradients:
            added["gradients"] = totals["gradients"]
        return _bill(run.step, run.name, {**components, "optimizer_state": 0}, added)
    if rule.temporaries is None:
        return _bill(run.step, run.name, components, {})
    own = {
        "gradients": totals["gradients"],
        "optimizer_state": totals[rule.state],
        "temporaries": totals["batch"] + rule.temporaries * totals["gradients"],
    }
    return _bill(run.step, run.name, {"weights": components["weights"]}, own)


def _running_bill(table: Table, name: str, dimensions: Dimensions, case: Case) -> PhaseBill:
    """A phase of an inference or of a generation.

    A table decodes one token after the prompt. Each further one finds one more key and value; the prompt's ids, which
    stay, are no more than they were.
    """
    further = case.new_tokens - 2 if name == "decode" else 0
    seen = {**dimensions, "s": dimensions["s"] + further}
    ids = value(BATCH, dimensions) - value(BATCH, seen)
    return _bill(1, name, highest(table, name, seen), {"temporaries": ids})


def _bill(step: int, name: str, components: Mapping[str, int], added: Mapping[str, int]) -> PhaseBill:
    """A phase with what is added to its components."""
    summed = {part: components.get(part, 0) + added.get(part, 0) for part in COMPONENTS}
    return PhaseBill(step=step, name=name, peak_bytes=sum(summed.values()), components=summed)


def as_data() -> dict[str, object]:
    """The runs and the optimizers' rules, for the page."""
    return {
        "runs": {
            f"{zero_grad}-{'many' if many else 'one'}": [run._asdict() for run in runs(zero_grad, many)]
            for zero_grad in ("keep", "free")
            for many in (False, True)
        },
        "optimizers": {name: rule._asdict() for name, rule in OPTIMIZERS.items()},
        "batch": BATCH,
        "components": list(COMPONENTS),
    }


def as_json() -> bytes:
    """`as_data`, encoded."""
    return msgspec.json.encode(as_data())
