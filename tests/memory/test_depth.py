"""A deep phase foretold from shallow ones: phases made by hand, whose every byte is known."""

from __future__ import annotations

import pytest

from sitegen.memory.depth import Growth, IrregularDepthError, Profile, depths, growths, period_of

WEIGHTS, SAVED, GRADIENT = 1000, 70, 400


def _forward(layers: int) -> Profile:
    """Weights are there; each layer has a temporary of 50, then leaves its activations; the head's logits last."""
    operations, rows = ["embed"], [(layers * WEIGHTS, 10)]
    for layer in range(layers):
        operations += ["multiply", "add"]
        rows += [(layers * WEIGHTS, 10 + layer * SAVED + 50), (layers * WEIGHTS, 10 + (layer + 1) * SAVED)]
    return Profile(1, "forward", (*operations, "head"), (*rows, (layers * WEIGHTS, 10 + layers * SAVED + 33)))


def _backward(layers: int) -> Profile:
    """Layer by layer activations go and gradients come; halfway through a layer both are there."""
    operations, rows = ["loss"], [(layers * WEIGHTS, layers * SAVED + 90)]
    for done in range(layers):
        left, got = (layers - done) * SAVED, done * GRADIENT
        operations += ["multiply", "free"]
        rows += [(layers * WEIGHTS, left + got + GRADIENT), (layers * WEIGHTS, left - SAVED + got + GRADIENT)]
    return Profile(1, "backward", tuple(operations), tuple(rows))


def _step(layers: int) -> Profile:
    """Two loops: each parameter gets its state, then is moved, with a temporary; one parameter is the head's."""
    sizes = [GRADIENT] * layers + [7 * GRADIENT]
    operations, rows, state = [], [], 0
    for size in sizes:
        state += 2 * size
        operations += ["zeros", "zeros"]
        rows += [(layers * WEIGHTS, state - size), (layers * WEIGHTS, state)]
    for size in sizes:
        operations += ["sqrt", "addcdiv", "drop"]
        rows += [(layers * WEIGHTS, state + size)] * 2 + [(layers * WEIGHTS, state)]
    return Profile(1, "optimizer_step", tuple(operations), tuple(rows))


PHASES = {"forward": _forward, "backward": _backward, "optimizer_step": _step}


@pytest.mark.parametrize("name", PHASES)
@pytest.mark.parametrize("layers", [5, 12, 80])
def test_every_operation_of_a_deep_phase_is_foretold(name: str, layers: int) -> None:
    phase = PHASES[name]
    (growth,) = growths([phase(2)], [phase(3)], [phase(4)])
    assert growth.profile(layers - 2) == phase(layers)
    assert growth.peak(layers - 2) == phase(layers).peak()


def test_the_peak_may_move_to_another_operation() -> None:
    """Shallow, the forward peaks at its last temporary (70 + 50); deep, the backward's gradients outweigh all else."""
    growth = Growth(_backward(2), _backward(3))
    assert _backward(2).peak() == (2 * WEIGHTS, 2 * GRADIENT + SAVED)
    assert sum(growth.peak(78)) == 80 * WEIGHTS + 80 * GRADIENT + SAVED


def test_periods_of_several_layers_are_foretold() -> None:
    (growth,) = growths([_forward(3)], [_forward(6)], [_forward(9)])
    assert growth.profile(5) == _forward(18)


def test_a_phase_that_grows_otherwise_than_by_layers_is_not_foretold() -> None:
    square = [Profile(1, "forward", ("embed",), ((layers * layers,),)) for layers in (2, 3, 4)]
    with pytest.raises(IrregularDepthError):
        growths(*([phase] for phase in square))


def test_other_operations_at_another_depth_are_not_foretold() -> None:
    shallow = Profile(1, "forward", ("embed", "multiply", "head"), ((1,), (2,), (3,)))
    deep = Profile(1, "forward", ("embed", "other", "multiply", "tail"), ((1,), (2,), (2,), (3,)))
    with pytest.raises(IrregularDepthError):
        Growth(shallow, deep)


def test_a_deep_phase_with_fewer_operations_is_not_foretold() -> None:
    with pytest.raises(IrregularDepthError):
        Growth(_forward(3), _forward(2))


def test_another_number_of_phases_is_not_foretold() -> None:
    with pytest.raises(IrregularDepthError):
        growths([_forward(2)], [_forward(3)], [_forward(4), _backward(4)])


@pytest.mark.parametrize(
    ("kinds", "period"), [("aaaa", 1), ("abab", 2), ("aaaaabaaaaabaa", 6), ("abc", 3), ("aab", 3), ("a", 1)]
)
def test_the_period_is_the_shortest_that_repeats(kinds: str, period: int) -> None:
    assert period_of(kinds) == period


def test_layers_of_several_kinds_may_yet_be_alike_which_a_model_with_each_kind_once_more_proves() -> None:
    (growth,) = growths([_forward(6)], [_forward(7)], [_forward(12)], periods=6)
    assert growth.profile(56) == _forward(62)
    assert next(depths("aaaaab" * 10 + "aa", distinct=False)) == (6, 7, 12)
    assert list(depths("a" * 80, distinct=False)) == list(depths("a" * 80))


def test_three_depths_end_as_the_whole_does_and_have_each_kind() -> None:
    assert list(depths("a" * 80)) == [(2, 3, 4), (3, 4, 5)]
    assert list(depths("ab" * 12)) == [(2, 4, 6), (4, 6, 8)]
    # 62 layers, one in six of another kind: 62 = 2 + 60, and the first six layers have both kinds, so 8 is the least.
    assert list(depths("aaaaab" * 10 + "aa")) == [(8, 14, 20), (14, 20, 26)]


def test_a_shallow_model_is_traced_whole() -> None:
    assert not list(depths("a" * 9))  # 2 + 3 + 4 layers would be traced for 9
    assert not list(depths("abc" * 3))
