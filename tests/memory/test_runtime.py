"""The pages beside live tensors: what a case tells by itself, and what probes add, on rows made by hand."""

from __future__ import annotations

from typing import Final

import pytest
from msgspec.structs import replace

from sitegen.memory.runtime import (
    HEAP_PASSES,
    Probe,
    Shape,
    computed_bytes,
    heap_margin_bytes,
    kept_bytes,
    margins_bytes,
    packed_bytes,
    runtime_pages,
    shape_of,
    untouched_bytes,
)
from sitegen.records.case import Case
from sitegen.units import MB_BYTES

FULL: Final = Case(batch_size=2)
LORA: Final = Case(method="lora", batch_size=2)
SHAPE: Final = Shape(hidden_size=576, vocabulary_size=49_152, layers=30, tied=True)
UNTIED: Final = SHAPE._replace(tied=False)
BARE: Final = Shape(hidden_size=0, vocabulary_size=0, layers=0, tied=True)


def test_a_float32_output_product_packs_a_panel_a_thread() -> None:
    # 576 rows lie between the least and the most that a panel holds: 2 threads x 5120 columns x 576 rows x 4 bytes.
    assert packed_bytes(FULL, SHAPE, threads=2) == 2 * 5120 * 576 * 4


def test_a_panel_holds_512_rows_at_least_768_at_most_and_no_more_than_the_weight() -> None:
    assert packed_bytes(FULL, SHAPE._replace(hidden_size=64, vocabulary_size=2000), threads=1) == 64 * 2000 * 4
    assert packed_bytes(FULL, SHAPE._replace(hidden_size=256), threads=1) == 5120 * 512 * 4
    assert packed_bytes(FULL, SHAPE._replace(hidden_size=4096), threads=1) == 5120 * 768 * 4


@pytest.mark.parametrize(
    "case",
    [
        replace(FULL, dtype="bfloat16"),
        replace(FULL, mixed_precision="bf16"),
        Case(batch_size=1, sequence_length=128),  # too few rows
        Case(mode="generation", batch_size=8),  # one row a sequence
        Case(mode="inference", batch_size=8, logits="last"),
    ],
)
def test_no_panel_is_packed_without_float32_or_with_few_rows(case: Case) -> None:
    assert packed_bytes(case, SHAPE, threads=2) == 0


def test_the_chunked_loss_computes_512_rows_at_once() -> None:
    chunked = replace(FULL, batch_size=64, loss="chunked")
    assert packed_bytes(chunked, SHAPE, threads=1) == packed_bytes(FULL, SHAPE, threads=1)


def test_the_file_of_what_is_quantised_stays_mapped_unless_the_rest_was_copied() -> None:
    packed = SHAPE._replace(quantised_parameters=1000)
    assert kept_bytes(replace(LORA, method="qlora"), packed) == 4 * 1000
    assert kept_bytes(replace(LORA, method="qlora", dtype="bfloat16"), packed) == 0
    assert kept_bytes(Case(mode="inference", method="qlora", dtype="bfloat16"), packed) == 2 * 1000


def test_frozen_embeddings_of_their_own_are_read_where_a_token_is_drawn() -> None:
    # A batch draws from 1000 token ids.
    assert untouched_bytes(LORA, UNTIED) == 4 * 576 * (49_152 - 1000)
    assert untouched_bytes(LORA, SHAPE) == 0
    assert untouched_bytes(FULL, UNTIED) == 0
    assert untouched_bytes(replace(LORA, modules_to_save=("embed_tokens",)), UNTIED) == 0
    assert untouched_bytes(LORA, UNTIED._replace(vocabulary_size=900)) == 0


def test_small_tensors_leave_half_of_what_they_may_each_pass_until_the_heap_grows_no_more() -> None:
    small = BARE._replace(passing_heap_bytes=6 * MB_BYTES)
    assert heap_margin_bytes(Case(steps=2), small) == 2 * 3 * MB_BYTES
    assert heap_margin_bytes(Case(steps=2, gradient_accumulation=2), small) == 4 * 3 * MB_BYTES
    assert heap_margin_bytes(Case(steps=2, gradient_accumulation=64), small) == HEAP_PASSES * 3 * MB_BYTES
    assert heap_margin_bytes(Case(mode="inference"), small) == 0


def test_small_tensors_are_chance_either_way_and_rows_of_generated_tokens_above_alone() -> None:
    small = BARE._replace(passing_heap_bytes=6 * MB_BYTES)
    assert margins_bytes(Case(steps=2), small) == (6 * MB_BYTES, 6 * MB_BYTES)
    unread = untouched_bytes(Case(mode="generation"), UNTIED)
    assert unread > 0
    assert margins_bytes(Case(mode="generation"), UNTIED) == (0, unread)
    assert margins_bytes(Case(mode="inference"), UNTIED) == (0, 0)
    assert margins_bytes(Case(mode="generation"), SHAPE) == (0, 0)


def test_a_configuration_gives_the_shape_under_either_of_its_names() -> None:
    llama = {"model_type": "llama", "hidden_size": 64, "vocab_size": 100, "num_hidden_layers": 3}
    assert shape_of({**llama, "tie_word_embeddings": True}) == Shape(64, 100, 3, tied=True)
    assert not shape_of(llama).tied
    assert shape_of({"model_type": "gpt2", "n_embd": 64, "vocab_size": 100, "n_layer": 3}) == Shape(64, 100, 3, True)


def test_experts_that_lie_apart_in_the_file_count_three_matrices_each() -> None:
    config = {
        "model_type": "mixtral",
        "hidden_size": 10,
        "intermediate_size": 7,
        "vocab_size": 100,
        "num_hidden_layers": 2,
        "num_local_experts": 8,
    }
    assert shape_of(config).merged_parameters == 3 * 2 * 8 * 10 * 7


def _probe(case: Case, beyond_mb: int, layers: int = 0) -> Probe:
    """A row whose every phase took as much beyond its tensors, on a model that computes nothing by itself."""
    phases = dict.fromkeys(("forward", "backward"), beyond_mb * MB_BYTES)
    return Probe(case, BARE._replace(layers=layers), 1, phases)


def test_a_layer_adds_the_slope_of_the_plain_rows_and_a_way_what_is_left() -> None:
    pages = runtime_pages([_probe(FULL, 40, layers=10), _probe(FULL, 50, layers=20)])
    assert pages.layer_bytes == {("training", "full"): MB_BYTES}
    assert pages.bytes_for(FULL, BARE, "forward") == 30 * MB_BYTES
    assert pages.bytes_for(FULL, BARE._replace(layers=7), "backward") == 37 * MB_BYTES


def test_an_option_adds_what_its_row_has_beyond_the_plain_one() -> None:
    pages = runtime_pages([_probe(FULL, 40), _probe(replace(FULL, optimizer="adafactor"), 43)])
    assert pages.option_bytes == {"adafactor": 3 * MB_BYTES}
    assert pages.bytes_for(replace(FULL, optimizer="adafactor"), BARE, "forward") == 43 * MB_BYTES


def test_a_way_that_was_not_probed_takes_the_most_of_those_most_like_it() -> None:
    pages = runtime_pages([_probe(FULL, 40), _probe(LORA, 50), _probe(Case(mode="inference"), 30)])
    assert pages.bytes_for(replace(LORA, dtype="bfloat16"), BARE, "forward") == 50 * MB_BYTES
    assert pages.bytes_for(replace(FULL, method="qlora"), BARE, "forward") == 50 * MB_BYTES
    assert pages.bytes_for(Case(mode="inference", dtype="bfloat16"), BARE, "forward") == 30 * MB_BYTES


def test_what_a_probe_computes_by_itself_is_taken_from_it_before_it_speaks_of_others() -> None:
    row = Probe(FULL, SHAPE._replace(layers=0), 2, {"forward": 40 * MB_BYTES + computed_bytes(FULL, SHAPE, 2)})
    assert runtime_pages([row]).bytes_for(FULL, BARE, "forward") == 40 * MB_BYTES


def test_without_probes_nothing_measured_is_added() -> None:
    assert runtime_pages([]).bytes_for(FULL, BARE, "forward") == 0
