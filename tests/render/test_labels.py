from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.records.case import Case
from sitegen.render.labels import label
from tests.factories import LORA, TRAINING, reference_cases

CHANGES: dict[str, Any] = {
    "model": "folder-0123456789ab",
    "revision": "main",
    "mode": "generation",
    "method": "lora",
    "dtype": "bfloat16",
    "mixed_precision": "bf16",
    "optimizer": "sgd",
    "foreach": True,
    "batch_size": 3,
    "sequence_length": 64,
    "new_tokens": 7,
    "gradient_checkpointing": True,
    "reentrant": True,
    "gradient_accumulation": 8,
    "attention": "eager",
    "loss": "chunked",
    "logits": "last",
    "zero_grad": "free",
    "padding": True,
    "lora_rank": 16,
    "lora_targets": ("k_proj",),
    "modules_to_save": ("lm_head",),
    "double_quant": True,
    "steps": 3,
    "seed": 5,
    "threads": 4,
    "allocator": "jemalloc",
}
BASES = {
    "new_tokens": Case(mode="generation"),
    "reentrant": Case(gradient_checkpointing=True),
    "lora_rank": LORA,
    "lora_targets": LORA,
    "modules_to_save": LORA,
    "double_quant": Case(method="qlora"),
}


@pytest.mark.parametrize("option", sorted(set(Case().options()) - {"timeout", "device"}))
def test_every_option_is_in_the_label(option: str) -> None:
    base = BASES.get(option, Case())
    assert label(replace(base, **{option: CHANGES[option]})) != label(base)


def test_the_cases_of_the_suite_have_labels_of_their_own() -> None:
    labels = [label(case) for case in reference_cases()]
    assert len(set(labels)) == len(labels)


def test_a_label_reads_as_french() -> None:
    case = replace(TRAINING[8], gradient_checkpointing=True)
    assert label(case) == "Entraînement, lot de 8, 256 jetons, points de contrôle de gradient, allocateur par défaut"
