"""The catalogue says what is published: counts, capacities, and where each comes from."""

from __future__ import annotations

import time
from collections import Counter
from typing import Final

import pytest

from sitegen.errors import ModelError, UsageError
from sitegen.memory.catalogue import KINDS, Card, CatalogueModel, card, cards, handles, model, models
from sitegen.units import GIB_BYTES, MIB_BYTES

ENTRIES: Final = (*models(), *cards())

# The hub's safetensors.total of each repository, where its files hold each parameter once.
ON_THE_HUB: Final = {
    "smollm2-135m": 134_515_008,
    "smollm2-360m": 361_821_120,
    "smollm2-1.7b": 1_711_376_384,
    "smollm3-3b": 3_075_098_624,
    "llama-3-8b": 8_030_261_248,
    "llama-3-70b": 70_553_706_496,
    "llama-3.1-8b": 8_030_261_248,
    "llama-3.1-70b": 70_553_706_496,
    "llama-3.2-1b": 1_235_814_400,
    "llama-3.2-3b": 3_212_749_824,
    "llama-3.3-70b": 70_553_706_496,
    "qwen2.5-0.5b": 494_032_768,
    "qwen2.5-1.5b": 1_543_714_304,
    "qwen2.5-3b": 3_085_938_688,
    "qwen2.5-7b": 7_615_616_512,
    "qwen2.5-32b": 32_763_876_352,
    "qwen2.5-72b": 72_706_203_648,
    "qwen3-4b": 4_022_468_096,
    "qwen3-8b": 8_190_735_360,
    "qwen3-14b": 14_768_307_200,
    "qwen3-32b": 32_762_123_264,
    "qwen3-30b-a3b": 30_532_122_624,
    "mistral-7b-v0.1": 7_241_732_096,
    "mistral-7b-v0.3": 7_248_023_552,
    "mistral-nemo-12b": 12_247_782_400,
    "mistral-small-24b": 23_572_403_200,
    "mixtral-8x7b": 46_702_792_704,
    "gemma-2-2b": 2_614_341_888,
    "gemma-2-9b": 9_241_705_984,
    "gemma-2-27b": 27_227_128_320,
    "gemma-3-1b": 999_885_952,
    "phi-3-mini-4k": 3_821_079_552,
    "phi-3.5-mini": 3_821_079_552,
    "phi-4": 14_659_507_200,
    "phi-4-mini": 3_836_021_760,
    "olmo-2-7b": 7_298_617_344,
    "olmo-2-13b": 13_716_198_400,
    "granite-3.3-2b": 2_533_539_840,
    "granite-3.3-8b": 8_170_864_640,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
}
# Other publications: GGUF metadata, presets of keras-hub, model cards.
ELSEWHERE: Final = {
    "llama-2-7b": 6_738_415_616,
    "tinyllama-1.1b": 1_100_048_384,
    "qwen2.5-14b": 14_770_033_664,
    "gemma-3-270m": 268_098_176,
    "phi-3-mini-128k": 3_821_079_552,
    "phi-3-medium-4k": 13_960_238_080,
    "olmo-2-1b": 1_484_916_736,
    "olmo-2-32b": 32_234_279_936,
    "gpt2": 124_439_808,
    "gpt2-medium": 354_823_168,
    "gpt2-large": 774_030_080,
    "gpt2-xl": 1_557_611_200,
    "gpt-neox-20b": 20_554_567_680,
    "deepseek-r1-distill-qwen-1.5b": 1_777_088_000,
}
# Biderman et al. 2023, table 1: parameters outside the two vocabulary matrices.
PYTHIA: Final = {
    "70m": 18_915_328,
    "160m": 85_056_000,
    "410m": 302_311_424,
    "1b": 805_736_448,
    "1.4b": 1_208_602_624,
    "2.8b": 2_517_652_480,
    "6.9b": 6_444_163_072,
    "12b": 11_327_027_200,
}


def test_there_is_choice_enough() -> None:
    assert len(models()) >= 36
    assert len(cards()) >= 34
    assert {entry.kind for entry in cards()} == set(KINDS)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.key)
def test_every_fact_has_a_source(entry: CatalogueModel | Card) -> None:
    assert entry.source.startswith("https://")
    assert entry.read_on == "2026-12-01"
    assert entry.name
    if isinstance(entry, CatalogueModel):
        assert entry.source == f"https://huggingface.co/{entry.hub_id}/blob/main/config.json"
        assert all((entry.evidence, entry.count_source, entry.licence))


@pytest.mark.parametrize("entries", [models(), cards()], ids=["models", "cards"])
def test_a_name_means_one_entry(entries: tuple[CatalogueModel | Card, ...]) -> None:
    counted = Counter(handle for entry in entries for handle in handles(entry))
    assert [handle for handle, times in counted.items() if times > 1] == []


def test_models_come_from_small_to_large_and_cards_by_kind() -> None:
    sizes = [entry.parameters for entry in models()]
    assert sizes == sorted(sizes)
    ranks = [(KINDS.index(entry.kind), entry.total_bytes) for entry in cards()]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize(("key", "published"), [*ON_THE_HUB.items(), *ELSEWHERE.items()])
def test_a_count_is_the_published_one(key: str, published: int) -> None:
    assert model(key).parameters == published


@pytest.mark.parametrize(
    ("size", "published"), [("7b", 6_738_417_664), ("13b", 13_015_866_880), ("70b", 68_976_653_312)]
)
def test_the_files_of_llama_2_also_hold_the_rotary_frequencies(size: str, published: int) -> None:
    entry = model(f"llama-2-{size}")
    frequencies = 64 * entry.config["num_hidden_layers"]  # half of a head of 128, in each layer
    assert entry.parameters + frequencies == published


@pytest.mark.parametrize(("size", "published"), [("0.6b", 751_632_384), ("1.7b", 2_031_739_904)])
def test_the_files_of_small_qwen3_hold_the_tied_matrix_twice(size: str, published: int) -> None:
    entry = model(f"qwen3-{size}")
    assert entry.config["tie_word_embeddings"]
    assert entry.parameters + entry.config["vocab_size"] * entry.config["hidden_size"] == published


@pytest.mark.parametrize(("size", "published"), PYTHIA.items())
def test_pythia_counts_like_its_paper(size: str, published: int) -> None:
    entry = model(f"pythia-{size}")
    assert entry.parameters - 2 * entry.config["vocab_size"] * entry.config["hidden_size"] == published


def test_each_model_has_a_published_count() -> None:
    # A distilled model keeps the shapes of its base, and the larger Gemma 3 are read less their image encoder.
    derived = {f"llama-2-{size}" for size in ("13b", "70b")} | {"qwen3-0.6b", "qwen3-1.7b"}
    derived |= {f"pythia-{size}" for size in PYTHIA} | {f"gemma-3-{size}" for size in ("4b", "12b", "27b")}
    known = derived | ON_THE_HUB.keys() | ELSEWHERE.keys()
    assert {entry.key for entry in models()} - known == {
        "deepseek-r1-distill-qwen-7b",
        "deepseek-r1-distill-qwen-14b",
        "deepseek-r1-distill-qwen-32b",
        "deepseek-r1-distill-llama-8b",
        "deepseek-r1-distill-llama-70b",
    }


@pytest.mark.parametrize(
    ("distilled", "base"),
    [
        ("deepseek-r1-distill-qwen-7b", "qwen2.5-7b"),
        ("deepseek-r1-distill-qwen-14b", "qwen2.5-14b"),
        ("deepseek-r1-distill-qwen-32b", "qwen2.5-32b"),
        ("deepseek-r1-distill-llama-8b", "llama-3.1-8b"),
        ("deepseek-r1-distill-llama-70b", "llama-3.1-70b"),
    ],
)
def test_a_distilled_model_has_the_shapes_of_its_base(distilled: str, base: str) -> None:
    assert model(distilled).config == model(base).config
    assert model(distilled).parameters == model(base).parameters


def test_the_key_value_cache_of_qwen3_32b() -> None:
    # 64 layers × 8 heads × 128 × 2 (keys and values) × 2 bytes: 262 144 bytes a token, as its users report.
    shape = model("Qwen/Qwen3-32B").config
    per_layer = 2 * 2 * shape["num_key_value_heads"] * shape["head_dim"]
    assert per_layer * shape["num_hidden_layers"] == 262_144


@pytest.mark.parametrize(
    ("name", "total_mib"),
    [  # what nvidia-smi shows of each
        ("L4", 23_034),
        ("RTX 4090", 24_564),
        ("rtx-3090", 24_576),
        ("RTX 5090", 32_607),
        ("T4", 15_360),
        ("A10G", 23_028),
        ("A100-40", 40_960),
        ("A100-80", 81_920),
        ("V100-16", 16_160),
        ("H100", 81_559),
        ("H200", 143_771),
        ("B200", 183_359),
        ("L40S", 46_068),
        ("A6000", 49_140),
    ],
)
def test_a_card_has_the_memory_that_its_driver_reports(name: str, total_mib: int) -> None:
    assert card(name).total_bytes == total_mib * MIB_BYTES
    assert card(name).basis == "reported"


@pytest.mark.parametrize("entry", cards(), ids=lambda entry: entry.key)
def test_a_total_is_what_was_read_or_three_percent_under_the_trade_size(entry: Card) -> None:
    if entry.basis == "reported":
        units = {"MiB": MIB_BYTES, "GiB": GIB_BYTES, "bytes": 1}
        figure, unit = entry.reading.split()
        assert entry.total_bytes == int(float(figure) * units[unit])
    elif entry.kind == "apple":  # Metal recommends two thirds of a small memory, three quarters of a large one
        share = 2 / 3 if entry.nominal_gib <= 32 else 3 / 4
        assert entry.total_bytes == int(entry.nominal_gib * GIB_BYTES * share)
    else:
        assert entry.total_bytes == entry.nominal_gib * GIB_BYTES * 97 // 100
    assert entry.total_bytes <= entry.nominal_gib * GIB_BYTES


def test_the_readings_of_apple_follow_the_shares_that_the_others_are_given() -> None:
    for key, share in (("apple-16", 2 / 3), ("apple-32", 2 / 3), ("apple-96", 3 / 4)):
        assert card(key).total_bytes / (card(key).nominal_gib * GIB_BYTES) == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("meta-llama/Llama-2-7b-hf", "llama-2-7b"),
        ("META-LLAMA/LLAMA-2-7B-HF", "llama-2-7b"),
        ("Llama-2-7b-chat-hf", "llama-2-7b"),
        ("Llama 3.2 1B", "llama-3.2-1b"),
        ("HuggingFaceTB/SmolLM2-135M-Instruct", "smollm2-135m"),
        ("qwen3_8b", "qwen3-8b"),
        (" gpt2 ", "gpt2"),
    ],
)
def test_a_model_answers_to_its_names(name: str, key: str) -> None:
    assert model(name).key == key


@pytest.mark.parametrize("name", ["lama-2-7b", "llama2-7b", "Llama-2-7"])
def test_a_misspelt_model_is_refused_with_the_closest_names(name: str) -> None:
    with pytest.raises(ModelError) as refused:
        model(name)
    assert name in refused.value.what
    assert "llama-2-7b" in refused.value.remedy


def test_a_name_that_resembles_nothing_is_refused_without_a_guess() -> None:
    with pytest.raises(ModelError) as refused:
        model("¿?")
    assert "Close names" not in refused.value.remedy
    assert "config.json" in refused.value.remedy


def test_a_misspelt_card_is_refused_with_the_closest_names() -> None:
    with pytest.raises(UsageError) as refused:
        card("rtx 4900")
    assert "rtx-4090" in refused.value.remedy


def test_reading_the_catalogue_takes_no_time() -> None:
    durations = []
    for _ in range(3):
        models.cache_clear()
        cards.cache_clear()
        start = time.perf_counter()
        models()
        cards()
        durations.append(time.perf_counter() - start)
    assert min(durations) < 0.03
