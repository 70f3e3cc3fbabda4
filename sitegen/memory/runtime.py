"""The pages that a process touches beside its live tensors, or does not touch although a tensor stands for them.

A peak measured under glibc's fixed mmap threshold is the traced peak of the live tensors plus these:

- what the case itself tells: the panel of the output layer's weight that a float32 product packs (`packed_bytes`), the
  pages of the weights' file that a loading which converts leaves mapped (`kept_bytes`), what freed small tensors leave
  in the heap (`heap_margin_bytes`), less those that nothing ever reads (`untouched_bytes`);
- what only a measurement tells: code pages of the libraries, their buffers and the Python objects of a step. These
  come from the rows of the suite ``runtime``, on models that nothing else runs (`runtime_pages`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean, linear_regression
from typing import Any, Final, Literal, NamedTuple

from sitegen.records.case import Case
from sitegen.records.model import Record

Arithmetic = Literal["float32", "bfloat16", "float16", "mixed"]
Way = tuple[str, str, Arithmetic]
"""Mode, method and the arithmetic of the products: what decides which kernels run."""

ITEM_BYTES: Final = {"float32": 4, "bfloat16": 2, "float16": 2}

DRAWN_IDS: Final = 1000
"""Token ids that a measured batch draws from (`sitegen.workload.training.DISTINCT_IDS`): the rows that it reads."""

CHUNK_TOKENS: Final = 512
"""Rows of logits that the chunked loss computes at once (`sitegen.workload.training.CHUNK_TOKENS`)."""

# What MKL packs of the right-hand matrix of a large float32 product, seen in lone products of 4 to 4096 rows, 64 to
# 4096 deep (torch 2.13.0 for CPU, 1 and 2 threads): panels of 5120 columns and of at most 768 rows a thread, in a
# buffer that holds 512 rows at least; none below some 160 rows of the left-hand one.
PANEL_COLUMNS: Final = 5120
PANEL_DEPTHS: Final = (512, 768)
PACKING_ROWS: Final = 192

HEAP_PASSES: Final = 8
"""Passes after which the heap grows little more: seen on 1 x 128 tokens of SmolLM2, 2 to 16 of them (glibc 2.36)."""

TIED_BY_DEFAULT: Final = frozenset({"gemma", "gemma2", "gemma3", "gemma3_text", "gpt2", "smollm3"})
"""Architectures whose configuration class ties the embeddings when it does not say (transformers 5.24)."""

MERGED_EXPERTS: Final = frozenset({"mixtral", "qwen2_moe", "qwen3_moe"})
"""Architectures whose experts lie apart in the file and are merged as they are loaded (transformers 5.24)."""


class Shape(NamedTuple):
    """What of a model decides these pages.

    `merged_parameters` are those of experts that loading merges; `passing_heap_bytes` is that of the case's bill.
    """

    hidden_size: int
    vocabulary_size: int
    layers: int
    tied: bool
    quantised_parameters: int = 0
    merged_parameters: int = 0
    passing_heap_bytes: int = 0


def shape_of(config: Mapping[str, Any], quantised_parameters: int = 0, passing_heap_bytes: int = 0) -> Shape:
    """The shape of the model that a config.json describes.

    Args:
        config: the configuration of a causal language model, already judged sound.
        quantised_parameters: parameters that the case holds in 4 bits.
        passing_heap_bytes: what the small tensors of one pass of the case hold at once.
    """
    hidden_size = config.get("hidden_size") or config["n_embd"]
    layers = config.get("num_hidden_layers") or config["n_layer"]
    tied = config.get("tie_word_embeddings")
    return Shape(
        hidden_size=hidden_size,
        vocabulary_size=config["vocab_size"],
        layers=layers,
        tied=config["model_type"] in TIED_BY_DEFAULT if tied is None else tied,
        quantised_parameters=quantised_parameters,
        merged_parameters=_merged_parameters(config, hidden_size, layers),
        passing_heap_bytes=passing_heap_bytes,
    )


def _merged_parameters(config: Mapping[str, Any], hidden_size: int, layers: int) -> int:
    """Three matrices an expert, in every layer."""
    if config["model_type"] not in MERGED_EXPERTS:
        return 0
    experts: int = config.get("num_local_experts") or config["num_experts"]
    width: int = config.get("moe_intermediate_size") or config["intermediate_size"]
    return 3 * layers * experts * hidden_size * width


def packed_bytes(case: Case, shape: Shape, threads: int) -> int:
    """The buffer that the output layer's product leaves behind: MKL packs its weight, in float32 only."""
    if not _float32_head(case) or _head_rows(case) < PACKING_ROWS:
        return 0
    least, most = PANEL_DEPTHS
    panels = threads * PANEL_COLUMNS * min(max(shape.hidden_size, least), most)
    return ITEM_BYTES["float32"] * min(shape.hidden_size * shape.vocabulary_size, panels)


def kept_bytes(case: Case, shape: Shape) -> int:
    """Pages of the weights' file that stay although no tensor lies there any more.

    Loading reads the matrices that it quantises or merges through the mapped file. The mapping, and with it the pages
    read, stays as long as one tensor (embeddings, norms) is a view of it.
    """
    if not _is_mapped(case):
        return 0
    return ITEM_BYTES[case.dtype] * (shape.quantised_parameters + shape.merged_parameters)


def untouched_bytes(case: Case, shape: Shape) -> int:
    """Pages of the mapped embeddings that nothing reads: a frozen table of its own is read where a token is drawn.

    Tied embeddings are the output layer's weight, which is read whole; trained ones are written whole.
    """
    trained = case.mode == "training" and (case.method == "full" or "embed_tokens" in case.modules_to_save)
    if shape.tied or trained or not _is_mapped(case):
        return 0
    return ITEM_BYTES[case.dtype] * shape.hidden_size * max(0, shape.vocabulary_size - DRAWN_IDS)


def heap_margin_bytes(case: Case, shape: Shape) -> int:
    """Half of what freed small tensors may leave in glibc's heap: it may use all of it again, or nothing.

    Each forward and backward leaves at most what its small tensors held at once; the estimate stands in the middle, and
    its interval reaches both ends. Once the tensors of every layer pass 128 KiB there is next to none of it.
    """
    if case.mode != "training":
        return 0
    return min(case.steps * case.gradient_accumulation, HEAP_PASSES) * shape.passing_heap_bytes // 2


def margins_bytes(case: Case, shape: Shape) -> tuple[int, int]:
    """How far below and above its estimate chance may take a peak, beyond the error of an estimate.

    A generated token may be any of the vocabulary, and the system maps up to a megabyte of the weights' file around the
    row that it reads: of embeddings that count as unread, all may have been read in the end.
    """
    heap_bytes = heap_margin_bytes(case, shape)
    unread_bytes = untouched_bytes(case, shape) if case.mode == "generation" else 0
    return heap_bytes, heap_bytes + unread_bytes


def _is_mapped(case: Case) -> bool:
    """Whether weights are still views of their file: peft's k-bit preparation copies all that is not in float32."""
    return not (case.mode == "training" and case.method == "qlora" and case.dtype != "float32")


def _float32_head(case: Case) -> bool:
    """Whether the output layer computes in float32; peft's k-bit preparation makes it."""
    prepared = case.mode == "training" and case.method == "qlora"
    return (case.dtype == "float32" or prepared) and case.mixed_precision == "none"


def _head_rows(case: Case) -> int:
    """Positions whose logits are computed at once."""
    if case.mode == "generation" or case.logits == "last":
        return case.batch_size
    tokens = case.batch_size * case.sequence_length
    return min(tokens, CHUNK_TOKENS) if case.loss == "chunked" else tokens


def way_of(case: Case) -> Way:
    """The way of running that a case takes."""
    return case.mode, case.method, "mixed" if case.mixed_precision == "bf16" else case.dtype


class Probe(NamedTuple):
    """A row of the suite ``runtime``: what each phase of its last step took beyond its live tensors, in bytes."""

    case: Case
    shape: Shape
    threads: int
    beyond_bytes: Mapping[str, int]


def probe_of(record: Record, shape: Shape, traced_bytes: Mapping[str, int]) -> Probe:
    """A record as a probe.

    Args:
        record: a case that ended well, measured under the fixed threshold.
        shape: that of its model.
        traced_bytes: traced peak of each phase of its last step.
    """
    measured = record.summary.phase_peak_bytes
    beyond = {name: peak - traced_bytes[name] for name, peak in measured.items() if peak is not None}
    return Probe(record.case, shape, record.environment.threads, beyond)


class RuntimePages(NamedTuple):
    """The measured part, of one environment, and the estimate of all these pages for any case.

    `ways` holds, by way and phase, what a model without layers would take; `layer_bytes`, by mode and method, what each
    layer adds; `option_bytes` what an option adds to its way. All of them are bytes.
    """

    threads: int
    ways: Mapping[Way, Mapping[str, int]]
    layer_bytes: Mapping[tuple[str, str], int]
    option_bytes: Mapping[str, int]

    def bytes_for(self, case: Case, shape: Shape, phase: str) -> int:
        """What a phase of the case takes beyond its live tensors; negative when much of them is never touched."""
        told = computed_bytes(case, shape, case.threads or self.threads)
        options = sum(self.option_bytes.get(option, 0) for option in _options(case))
        return told + self._of_way(way_of(case), phase) + options + shape.layers * self._of_layer(case)

    def _of_way(self, way: Way, phase: str) -> int:
        """That of the way, else the largest of the ways most like it: saying too little is the graver fault."""
        for length in (3, 2, 1, 0):
            alike = [phases for other, phases in self.ways.items() if other[:length] == way[:length]]
            if alike:
                return max(phases.get(phase, max(phases.values())) for phases in alike)
        return 0

    def _of_layer(self, case: Case) -> int:
        """That of the mode and the method, else the largest of the mode's."""
        same_mode = [added for (mode, _), added in self.layer_bytes.items() if mode == case.mode]
        return self.layer_bytes.get((case.mode, case.method), max(same_mode, default=0))


def computed_bytes(case: Case, shape: Shape, threads: int) -> int:
    """The part that the case itself tells."""
    held = packed_bytes(case, shape, threads) + kept_bytes(case, shape) + heap_margin_bytes(case, shape)
    return held - untouched_bytes(case, shape)


def runtime_pages(probes: Iterable[Probe]) -> RuntimePages:
    """What the probes of one environment show, once what each case tells by itself is taken away.

    A way is measured with the default optimizer and without checkpointing; an option adds what its row has beyond the
    plain one; a layer adds what the plain rows of several depths show (a straight line through them).
    """
    rows = tuple(probes)
    plain = [row for row in rows if not _options(row.case)]
    threads = max((row.threads for row in rows), default=1)
    known = RuntimePages(threads, {}, {}, {})
    known = known._replace(layer_bytes=_layer_bytes(plain, known))
    known = known._replace(ways=_ways(plain, known))
    return known._replace(option_bytes=_option_bytes(rows, known))


def _layer_bytes(plain: Iterable[Probe], known: RuntimePages) -> dict[tuple[str, str], int]:
    """What a layer adds, where a way was measured at several depths."""
    points: dict[Way, list[tuple[int, float]]] = defaultdict(list)
    for row in plain:
        points[way_of(row.case)].append((row.shape.layers, fmean(_rest(row, known).values())))
    lines = {way[:2]: found for way, found in points.items() if len({layers for layers, _ in found}) > 1}
    return {key: max(0, round(linear_regression(*zip(*found, strict=True)).slope)) for key, found in lines.items()}


def _ways(plain: Iterable[Probe], known: RuntimePages) -> dict[Way, dict[str, int]]:
    """What each way takes without any layer, phase by phase: the mean of its rows."""
    rests: dict[Way, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in plain:
        for phase, rest in _rest(row, known).items():
            rests[way_of(row.case)][phase].append(rest)
    return {way: {phase: round(fmean(seen)) for phase, seen in phases.items()} for way, phases in rests.items()}


def _option_bytes(rows: Iterable[Probe], known: RuntimePages) -> dict[str, int]:
    """What an option adds to its way: the mean over the rows that have it alone."""
    rests: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        match _options(row.case):
            case (option,):
                rests[option].append(fmean(_rest(row, known).values()))
    return {option: round(fmean(seen)) for option, seen in rests.items()}


def _rest(row: Probe, known: RuntimePages) -> dict[str, int]:
    """What a probe has, phase by phase, beyond what is already known of it."""
    return {name: beyond - known.bytes_for(row.case, row.shape, name) for name, beyond in row.beyond_bytes.items()}


def _options(case: Case) -> tuple[str, ...]:
    """The options that bring code, and pages, of their own."""
    optimizer = () if case.optimizer == Case().optimizer else (case.optimizer,)
    last = case.mode == "inference" and case.logits == "last"
    return (
        *optimizer,
        *(("gradient_checkpointing",) if case.gradient_checkpointing else ()),
        *(("last_logits",) if last else ()),
    )
