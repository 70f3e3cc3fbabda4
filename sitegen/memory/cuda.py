"""From live tensors to what a CUDA card shows: three figures that are never one.

`max_memory_allocated` counts the tensors and what the libraries ask PyTorch for; `max_memory_reserved` the blocks that
its caching allocator keeps; the driver counts the context of the process too.
"""

from __future__ import annotations

from typing import Final

import msgspec

from sitegen.memory.intervals import Interval
from sitegen.records.bill import Bill
from sitegen.records.case import Case

ROUNDING_BYTES: Final = 512
"""PyTorch's caching allocator rounds every request up to this (c10/cuda/CUDACachingAllocator, kMinBlockSize)."""

CUBLAS_BYTES: Final = 8_519_680
"""One cuBLAS workspace before Hopper: PyTorch's default ``:4096:2:16:8``, 2 × 4096 KiB and 8 × 16 KiB."""

CUBLAS_HOPPER_BYTES: Final = 32 * 2**20
"""The same on Hopper (PyTorch, aten/src/ATen/cuda/CublasHandlePool.cpp)."""

ALLOCATED_ERROR: Final = (1 / 1.05, 1 / 0.97)
"""The bounds that the published runs are held to: an estimate at most 5 % over what was measured, or 3 % under."""

DEVICE_RATIOS: Final = (1.01, 1.17, 1.64)
"""Device-level use over allocated on 101 published runs of one A100: least, median, most.

Source: foundation-model-stack/fms-acceleration, scripts/benchmarks/refs/a100_80gb.csv.
"""

CONTEXT_BYTES: Final = 985_339_904
"""The least difference between the two on those runs: the context, and blocks that are not full. A small model pays it
whole, where a ratio would hide it."""


class CudaLines(msgspec.Struct, frozen=True, kw_only=True):
    """The three figures, in bytes; `workspaces_bytes` is part of the first, the context only of the third."""

    allocated_bytes: int
    allocated_interval_bytes: Interval
    reserved_interval_bytes: Interval
    device_interval_bytes: Interval
    device_median_bytes: int
    workspaces_bytes: int
    rounding_bytes: int = ROUNDING_BYTES


def as_run_on_cuda(case: Case) -> Case:
    """The case as PyTorch runs it on a card: AdamW and SGD step over all tensors at once there."""
    several = case.mode == "training" and case.optimizer in ("adamw", "sgd", "sgd-momentum")
    return msgspec.structs.replace(case, foreach=case.foreach or several)


def cuda_lines(bill: Bill, case: Case) -> CudaLines:
    """The three figures of a bill whose sizes were rounded to `ROUNDING_BYTES`."""
    handles = 2 if case.mode == "training" else 1  # the backward runs in a thread of its own, with a handle of its own
    live_bytes, workspaces_bytes = bill.peak.peak_bytes, handles * CUBLAS_BYTES
    allocated_bytes = live_bytes + workspaces_bytes
    highest_bytes = live_bytes + handles * CUBLAS_HOPPER_BYTES
    least, median, most = DEVICE_RATIOS
    device = round(allocated_bytes * least), max(round(highest_bytes * most), highest_bytes + CONTEXT_BYTES)
    return CudaLines(
        allocated_bytes=allocated_bytes,
        allocated_interval_bytes=(
            round(allocated_bytes * ALLOCATED_ERROR[0]),
            round(highest_bytes * ALLOCATED_ERROR[1]),
        ),
        reserved_interval_bytes=(allocated_bytes, device[1]),
        device_interval_bytes=device,
        device_median_bytes=round(allocated_bytes * median),
        workspaces_bytes=workspaces_bytes,
    )
