from typing import Any

import pytest
from msgspec.structs import replace

from sitegen.records.case import Case
from sitegen.render.labels import cores, label, processor, pytorch
from tests.factories import ENVIRONMENT, LORA, MACHINE, TRAINING, reference_cases

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


@pytest.mark.parametrize(
    ("trade_name", "name"),
    [
        ("Intel(R) Xeon(R) Processor", "Intel Xeon"),
        ("Intel(R) Core(TM) i7-1185G7 CPU @ 3.00GHz", "Intel Core i7-1185G7"),
        ("AMD EPYC 7R13 48-Core Processor", "AMD EPYC 7R13"),
        ("Apple M5 Max", "Apple M5 Max"),
        ("Processor", "Processor"),
    ],
)
def test_a_processor_goes_without_its_trade_marks(trade_name: str, name: str) -> None:
    assert processor(replace(MACHINE, cpu_model=trade_name)) == name


def test_versions_and_cores_never_part_from_their_noun() -> None:
    assert cores(MACHINE) == "2\u00a0cœurs"
    assert cores(replace(MACHINE, cores=1)) == "1\u00a0cœur"
    assert pytorch(replace(ENVIRONMENT, packages={"torch": "2.13.0+cpu"})) == "PyTorch\u00a02.13.0"
    assert pytorch(replace(ENVIRONMENT, packages={})) == "PyTorch absent"
