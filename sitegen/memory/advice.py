"""What to change first: each change of a case that may lower its peak, and what it costs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

import msgspec
from msgspec.structs import replace

from sitegen.errors import UsageError
from sitegen.memory.estimate import Estimate
from sitegen.memory.intervals import Interval
from sitegen.records.case import Case, irrelevant_options, option_name


class Change(NamedTuple):
    """A change, named by the options to give, and its price in one phrase."""

    options: str
    price: str
    case: Case


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """A change with what it brings: `gain_bytes` compares peaks, or interval tops where only the allocator changes."""

    change: str
    price: str
    gain_bytes: int
    peak_bytes: int
    interval_bytes: Interval


LEAST_SHARE: Final = 0.01
"""A gain below this share of the peak changes nothing for anyone."""

_SHORTEST: Final = 16
_TRAINING: Final[tuple[tuple[dict[str, Any], str], ...]] = (
    ({"gradient_checkpointing": True}, "recomputes the layers in the backward: about a third more arithmetic"),
    ({"method": "lora"}, "trains an adapter beside frozen weights, not the weights"),
    ({"method": "qlora"}, "trains an adapter over weights rounded to 4 bits; slower steps"),
    ({"loss": "chunked"}, "recomputes the logits in the backward; needs a loss written for it"),
    ({"zero_grad": "free"}, "none: gradients are allocated again at each step"),
    ({"optimizer": "adamw-8bit"}, "moments rounded to 8 bits"),
    ({"optimizer": "adafactor"}, "another optimizer, with factored second moments: check that it converges"),
    ({"optimizer": "sgd"}, "another optimizer, without state: check that it converges"),
    ({"foreach": False}, "steps over one tensor at a time: a slower optimizer step"),
)
_ANY: Final[tuple[tuple[dict[str, Any], str], ...]] = (
    ({"dtype": "bfloat16"}, "8 bits of mantissa instead of 24"),
    ({"attention": "sdpa"}, "none"),
    ({"padding": False}, "sequences of one length: pack or sort them"),
    ({"double_quant": True}, "the scales of the 4-bit weights are rounded too"),
    ({"logits": "last"}, "only the last position's logits are had"),
    ({"allocator": "fixed"}, "page faults: slower steps"),
)


def changes(case: Case, absent: Iterable[str] = ()) -> list[Change]:
    """The changes that make sense for a case; `absent` names methods and optimizers that are not installed here."""
    found = {change.case: change for change in (*_halved(case), *_fixed(case)) if _is_sound(change.case)}
    without = set(absent)
    return [change for each, change in found.items() if each != case and not {each.method, each.optimizer} & without]


def ranked(now: Estimate, changed: Mapping[Change, Estimate]) -> tuple[Advice, ...]:
    """The changes that gain something worth saying, the largest gain first."""
    advice = [_advice(now, change, after) for change, after in changed.items()]
    worth = [one for one in advice if one.gain_bytes >= LEAST_SHARE * now.peak_bytes]
    return tuple(sorted(worth, key=lambda one: -one.gain_bytes))


def _advice(now: Estimate, change: Change, after: Estimate) -> Advice:
    """What one change brings."""
    gain_bytes = now.peak_bytes - after.peak_bytes
    if change.case.allocator != now.case.allocator:
        gain_bytes = now.interval_bytes[1] - after.interval_bytes[1]
    return Advice(
        change=change.options,
        price=change.price,
        gain_bytes=gain_bytes,
        peak_bytes=after.peak_bytes,
        interval_bytes=after.interval_bytes,
    )


def _fixed(case: Case) -> Iterator[Change]:
    """The changes that are one value of an option."""
    for values, price in (*(_TRAINING if case.mode == "training" else ()), *_ANY):
        if "method" not in values or case.method in ("full", "lora"):
            yield Change(_spelt(values), price, _relevant(replace(case, **values)))


def _halved(case: Case) -> Iterator[Change]:
    """Fewer sequences at once, shorter ones, fewer new tokens, a smaller rank."""
    half = case.batch_size // 2
    if half and case.mode == "training" and case.batch_size % 2 == 0:
        values = {"batch_size": half, "gradient_accumulation": 2 * case.gradient_accumulation}
        yield Change(_spelt(values), "the same step in twice as many passes", replace(case, **values))
    elif half and case.mode != "training":
        yield Change(_spelt({"batch_size": half}), "fewer sequences at once", replace(case, batch_size=half))
    if case.sequence_length >= 2 * _SHORTEST:
        shorter = {"sequence_length": case.sequence_length // 2}
        yield Change(_spelt(shorter), "half the context: truncate, or split", replace(case, **shorter))
    if case.method != "full" and case.lora_rank > 1:
        lower = {"lora_rank": case.lora_rank // 2}
        yield Change(_spelt(lower), "a less expressive adapter", replace(case, **lower))


def _relevant(case: Case) -> Case:
    """The case without the options that its mode and method do not read."""
    defaults = Case()
    case = replace(case, **{name: getattr(defaults, name) for name in irrelevant_options(case)})
    return replace(case, foreach=case.foreach and case.optimizer not in ("adamw-8bit", "adafactor"))


def _is_sound(case: Case) -> bool:
    """Whether such a case can run at all."""
    try:
        case.checked()
    except UsageError:
        return False
    return True


def _spelt(values: Mapping[str, object]) -> str:
    """The options as they are typed."""
    return " ".join(_flag(name, value) for name, value in values.items())


def _flag(name: str, value: object) -> str:
    """One option as it is typed."""
    option = option_name(name)
    if value is True:
        return option
    if value is False:
        return "--no-foreach" if name == "foreach" else f"without {option}"
    return f"{option} {value}"
