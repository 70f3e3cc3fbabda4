"""Kind 3: checkpointing, caches and attention that are asked for and do not act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
import torch
from msgspec.structs import replace
from transformers import LlamaForCausalLM, PreTrainedModel

from sitegen.measure import machine
from sitegen.memory import formulas
from sitegen.records.case import Case
from sitegen.units import MIB_BYTES
from tests import factories

if TYPE_CHECKING:
    from tests.reports.conftest import Tracing

FOUR_LAYERS: Final = {"num_hidden_layers": 4}


def test_k3_01_checkpointing_in_evaluation_mode_saves_nothing(trace: Tracing, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run that records `engaged` is in tests/workload: such a case is `invalid`, for no layer ran again."""
    off, on = (trace(gradient_checkpointing=asked).peak_bytes for asked in (False, True))
    monkeypatch.setattr(LlamaForCausalLM, "train", lambda model, _=True: torch.nn.Module.train(model, mode=False))
    assert trace(gradient_checkpointing=True).peak_bytes == off
    assert on < 0.9 * off


def test_k3_01_whether_it_acted_is_recorded() -> None:
    sample = factories.record(factories.CHECKPOINTING).samples[0]
    assert sample.engaged is not None
    assert sample.engaged.checkpointing is True


def test_k3_02_reentrant_checkpointing_of_a_frozen_base_needs_inputs_with_gradients(
    trace: Tracing, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"method": "lora", "gradient_checkpointing": True, "batch_size": 4, "sequence_length": 128}
    plain, reentrant = (trace(FOUR_LAYERS, **options, reentrant=variant) for variant in (False, True))
    for valid in (plain, reentrant):
        assert valid.steps[-1].phases[-1].components.gradients == 4 * valid.trainable_parameters
    assert reentrant.peak_bytes == pytest.approx(plain.peak_bytes, rel=0.05)
    monkeypatch.setattr(PreTrainedModel, "enable_input_require_grads", lambda _: None)
    assert trace(FOUR_LAYERS, **options).peak_bytes == pytest.approx(plain.peak_bytes, rel=0.05)
    with pytest.raises(RuntimeError, match="does not require grad"):
        trace(FOUR_LAYERS, **options, reentrant=True)


def test_k3_02_a_case_that_ends_so_has_no_peak() -> None:
    ended = factories.record(
        Case(method="lora", gradient_checkpointing=True, reentrant=True),
        status="invalid",
        reason="the adapter was asked to train, but its parameters received no gradient",
    )
    assert ended.summary.peak_bytes is None


def test_k3_03_two_versions_of_a_library_make_two_series(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard of checkpointing moved between versions; the version of transformers is in every record's key."""
    versions = dict(machine.environment_of(Case()).packages)
    ids = set()
    for version in ("4.48.1", "5.24.0"):
        installed = versions | {"transformers": version}
        monkeypatch.setattr(machine, "installed_version", installed.get)
        environment = machine.environment_of(Case())
        ids.add(factories.record(factories.CHECKPOINTING, environment=environment).key)
    assert len(ids) == 2


def test_k3_04_training_keeps_no_cache(trace: Tracing) -> None:
    """30 layers, 3 heads of 64, 16 bits: 23 040 bytes a token, 45 MiB for 4 × 512; in training, activations."""
    assert formulas.kv_token_bytes(30, 3, 64, 2) == 23_040
    assert formulas.kv_cache_bytes(4, 512, 30, 3, 64, 2) == 45 * MIB_BYTES
    for checkpointing in (False, True):
        phases = trace(gradient_checkpointing=checkpointing).steps[-1].phases
        assert [phase.components.kv_cache for phase in phases] == [0, 0, 0]
    assert trace(mode="generation", new_tokens=2).steps[0].phases[-1].components.kv_cache > 0


def test_k3_05_eager_attention_holds_a_matrix_of_scores_that_grows_with_the_square(trace: Tracing) -> None:
    assert formulas.attention_scores_bytes(1, 32, 1024, 4) == 128 * MIB_BYTES
    assert formulas.attention_scores_bytes(1, 32, 2048, 4) == 4 * 128 * MIB_BYTES
    one_layer = {"num_hidden_layers": 1, "num_attention_heads": 32, "num_key_value_heads": 32, "head_dim": 2}
    added = {}
    for length in (64, 128):
        eager, sdpa = (
            trace(one_layer, batch_size=1, sequence_length=length, attention=attention).steps[-1].phases[0].peak_bytes
            for attention in ("eager", "sdpa")
        )
        added[length] = eager - sdpa
        assert added[length] >= formulas.attention_scores_bytes(1, 32, length, 4)
    assert added[128] > 4 * added[64]


def test_k3_05_the_attention_that_was_used_is_recorded() -> None:
    engaged = factories.record(replace(factories.TRAINING[8])).samples[0].engaged
    assert engaged is not None
    assert engaged.attention == "sdpa"
