"""What real traces give when they are solved: the same bytes as traces of points that no one has seen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from msgspec.structs import replace

from sitegen.memory.polynomials import ONE_SEQUENCE, SEQUENCES, Box, Fitted, Polynomial, fit, points_to_trace, regime
from sitegen.records.case import Case
from sitegen.workload.trace import traced

_CONFIG: Final = Path(__file__).parents[2] / "sitegen" / "workload" / "configurations" / "smollm2-135m-instruct.json"

# SmolLM2 cut to three layers, by hand: embeddings 49152 x 576 (tied); a layer's q and o 576 x 576, k and v 576 x 192,
# three projections of 576 x 1536, two norms; a last norm.
LAYER: Final = 2 * 576 * 576 + 2 * 576 * 192 + 3 * 576 * 1536 + 2 * 576
PARAMETERS: Final = 49152 * 576 + 3 * LAYER + 576
BUFFERS_BYTES: Final = 2 * 32 * 4  # rotary frequencies, half a head of 64, kept twice
STEPS_BYTES: Final = 4 * (3 * 9 + 2)  # AdamW counts steps in a float32 a tensor

CASES: Final = {
    "full": Case(),
    "checkpointing": Case(gradient_checkpointing=True),
    "eager": Case(attention="eager"),
    "lora": Case(method="lora", zero_grad="free"),
    "inference": Case(mode="inference"),
    "generation": Case(mode="generation", new_tokens=3),
}


@pytest.fixture(scope="module")
def config() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(_CONFIG.read_text(encoding="utf-8"))
    return known | {"num_hidden_layers": 3}


def _fitted(case: Case, config: dict[str, Any], box: Box) -> Fitted:
    points = points_to_trace(box)
    return fit([traced(replace(case, batch_size=b, sequence_length=s), config) for b, s in points], box)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("box", "unseen"), [(SEQUENCES, (64, 1000)), (ONE_SEQUENCE, (1, 777))], ids=["batch", "one"])
def test_polynomials_give_every_phases_peak_to_the_byte(
    name: str, box: Box, unseen: tuple[int, int], config: dict[str, Any]
) -> None:
    fitted = _fitted(CASES[name], config, box)
    trace = traced(replace(CASES[name], batch_size=unseen[0], sequence_length=unseen[1]), config)
    assert regime(trace) == fitted.operations_sha256
    assert fitted.peak_bytes(*unseen) == trace.peak_bytes
    for envelopes, step in zip(fitted.steps, trace.steps, strict=True):
        for envelope, phase in zip(envelopes, step.phases, strict=True):
            assert envelope.peak_bytes(*unseen) == phase.peak_bytes
            assert len(envelope.polynomials) <= 3  # a page evaluates them at each keystroke


def test_one_sequence_is_a_regime_of_its_own(config: dict[str, Any]) -> None:
    one, two = (traced(Case(batch_size=batch, sequence_length=32), config) for batch in (1, 2))
    assert regime(one) != regime(two)


def test_the_optimizer_step_is_weights_gradients_states_and_two_temporaries_of_the_embeddings(
    config: dict[str, Any],
) -> None:
    """AdamW of one tensor makes its square root, then its quotient: the largest tensor is that of the embeddings.

    Eight bytes a token stay: the batch's ids and labels are one tensor of int64.
    """
    step = _fitted(Case(), config, SEQUENCES).steps[-1][-1]
    states_bytes = 16 * PARAMETERS + BUFFERS_BYTES + STEPS_BYTES
    fixed = states_bytes + 2 * 4 * 49152 * 576
    assert step.polynomials == (Polynomial(fixed=fixed, batch=0, length=0, length_squared=0, token=8, pair=0),)


def test_eager_attention_keeps_one_softmax_a_head_and_a_layer(config: dict[str, Any]) -> None:
    """Kept for the backward by each of 3 layers and 9 heads: the softmax, 4 b s² bytes. Nothing else is quadratic."""
    forward = _fitted(Case(attention="eager"), config, SEQUENCES).steps[-1][0]
    assert max(forward.polynomials, key=lambda one: one.token).pair == 3 * 9 * 4
