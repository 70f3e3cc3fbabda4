"""Polynomials solved from values are exact or refused, and an envelope loses no peak."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sitegen.errors import ModelError
from sitegen.memory.polynomials import (
    ONE_SEQUENCE,
    SEQUENCES,
    Box,
    Polynomial,
    envelope,
    fit,
    points_to_trace,
    regime,
    solve,
)
from sitegen.records.case import Case
from sitegen.records.trace import LiveComponents, PhaseTrace, StepTrace, Trace

SMALL_BOX: Final = Box(smallest_batch=1, largest_batch=9, shortest=3, longest=40)
# With s tokens in each of b sequences: 5 + 7 b + 11 s + 13 s² + 17 b s + 19 b s².
KNOWN: Final = Polynomial(fixed=5, batch=7, length=11, length_squared=13, token=17, pair=19)

coefficients = st.integers(-(10**9), 10**9)
polynomials = st.builds(
    Polynomial,
    fixed=coefficients,
    batch=coefficients,
    length=coefficients,
    length_squared=st.integers(-(10**6), 10**6),
    token=st.integers(-(10**7), 10**7),
    pair=st.integers(-(10**5), 10**5),
)


def _values(function: Callable[[int, int], int], box: Box = SEQUENCES) -> dict[tuple[int, int], int]:
    return {point: function(*point) for point in points_to_trace(box)}


def test_a_polynomial_is_evaluated_as_it_is_written() -> None:
    assert KNOWN.at(2, 10) == 5 + 7 * 2 + 11 * 10 + 13 * 100 + 17 * 20 + 19 * 200


@given(polynomials)
def test_seven_values_give_the_polynomial_back(polynomial: Polynomial) -> None:
    assert solve(_values(polynomial.at)) == polynomial


def test_with_one_sequence_the_batch_size_stays_out_of_it() -> None:
    found = solve(_values(KNOWN.at, ONE_SEQUENCE))
    assert found == Polynomial(fixed=12, batch=0, length=28, length_squared=32, token=0, pair=0)


@pytest.mark.parametrize(
    "function",
    [
        lambda _batch, length: length**3,
        lambda batch, length: batch**2 * length,
        lambda _batch, length: min(length, 64),  # a window
        lambda _batch, length: length // 3,
        lambda batch, length: KNOWN.at(batch, length) + (batch == 5),  # one byte, at the unseen point
    ],
)
def test_what_is_no_such_polynomial_is_refused(function: Callable[[int, int], int]) -> None:
    with pytest.raises(ModelError, match="no polynomial of batch size and sequence length"):
        solve(_values(function))


def test_two_lengths_do_not_make_a_parabola() -> None:
    with pytest.raises(ModelError, match="Too few traces"):
        solve({(2, 16): 1, (2, 32): 2, (3, 16): 3})


@settings(max_examples=60, deadline=None)
@given(st.lists(polynomials, min_size=1, max_size=12))
def test_an_envelope_is_the_greatest_at_every_point_of_its_box(pool: list[Polynomial]) -> None:
    kept = envelope(pool, SMALL_BOX)
    assert set(kept) <= set(pool)
    for point in product(range(1, 10), range(3, 41)):
        assert max(one.at(*point) for one in kept) == max(one.at(*point) for one in pool)


def test_an_envelope_finds_what_is_the_greatest_on_a_narrow_strip_only() -> None:
    """Between two slopes that cross at s = 1000, a third that leads from 991 to 1009, and by 9 bytes at the most."""
    falling = Polynomial(fixed=1000, batch=0, length=-1, length_squared=0, token=0, pair=0)
    rising = Polynomial(fixed=-1000, batch=0, length=1, length_squared=0, token=0, pair=0)
    bridge = Polynomial(fixed=9, batch=0, length=0, length_squared=0, token=0, pair=0)
    beaten = Polynomial(fixed=-1, batch=0, length=0, length_squared=0, token=0, pair=0)
    assert set(envelope([falling, rising, bridge, beaten], SEQUENCES)) == {falling, rising, bridge}


def _trace(batch: int, length: int, *functions: Callable[[int, int], int], last: str = "aten.mm.default") -> Trace:
    live_bytes = tuple(function(batch, length) for function in functions)
    phase = PhaseTrace(
        name="forward",
        operations=(*("aten.add.Tensor",) * (len(live_bytes) - 1), last),
        live_bytes=live_bytes,
        peak_bytes=max(live_bytes),
        peak_operation=live_bytes.index(max(live_bytes)),
        components=LiveComponents(temporaries=max(live_bytes)),
    )
    case = Case(mode="inference", batch_size=batch, sequence_length=length)
    return Trace(
        case=case, model_type="llama", parameters=1, trainable_parameters=0, steps=(StepTrace(phases=(phase,)),)
    )


def test_traces_become_the_envelopes_of_their_phases() -> None:
    def weights(_batch: int, _length: int) -> int:
        return 10**7

    def logits(batch: int, length: int) -> int:
        return 10**6 + 4096 * batch * length

    def hidden(batch: int, length: int) -> int:
        return 10**6 + 64 * batch * length  # nowhere the greatest

    traces = [_trace(*point, weights, hidden, logits) for point in points_to_trace(SEQUENCES)]
    fitted = fit(traces, SEQUENCES)
    assert fitted.operations_sha256 == regime(traces[0])
    assert [[len(phase.polynomials) for phase in step] for step in fitted.steps] == [[2]]
    assert fitted.peak_bytes(2, 16) == 10**7
    assert fitted.peak_bytes(256, 16384) == 10**6 + 4096 * 256 * 16384


def test_traces_of_several_regimes_are_refused() -> None:
    traces = [_trace(*point, KNOWN.at) for point in points_to_trace(SEQUENCES)]
    odd = _trace(4, 200, KNOWN.at, last="aten.bmm.default")
    assert regime(odd) != regime(traces[0])
    with pytest.raises(ModelError, match="change with its batch size or sequence length"):
        fit([*traces, odd], SEQUENCES)
