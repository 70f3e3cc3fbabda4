"""Options that no table speaks of, and between which multiples of the nearest table's peak their own lies.

The page marks such an estimate « non vérifié » and shows the bound; the command line traces the case instead. A test
traces cases with these options and holds each to its bound.
"""

from __future__ import annotations

from typing import Final

from sitegen.memory.intervals import Interval

BOUNDS: Final[dict[str, tuple[float, float]]] = {
    "padding": (1.0, 1.2),  # a mask, and keys and values repeated for each head
    "chunked-loss": (0.1, 1.1),  # logits are never there at once, and may be nearly all; the rows are copied
    "mixed-precision": (0.5, 1.15),  # half the activations, and a 16-bit copy of each weight in use
    "reentrant": (0.9, 1.1),
    "optimizer": (0.4, 1.15),  # from AdamW's state down to next to none; temporaries in float32
    "attention": (1.0, 3.0),  # the scores of every pair of tokens
    "modules-to-save": (1.0, 2.5),  # whole matrices that train beside the adapter
    "adapter": (1.0, 1.1),
    "float16": (0.95, 1.05),
    "small-tensors": (1.0, 1.15),  # freed ones stay in glibc's heap: at most 8 MB a pass were seen, of 1.6 GB
    "unsupported-configuration": (0.7, 1.4),
    "other-variant": (0.7, 1.4),
    "no-table-targets": (0.5, 1.1),
    "no-table-logits": (0.2, 5.0),
    "no-table-beyond-window": (0.9, 1.3),
    "no-table-double-quant": (0.9, 1.1),
    "no-table-depth": (0.9, 1.1),  # the last layers are of other kinds than the table's
    "no-table-dimension": (0.8, 1.2),
    "no-table-one-sequence": (0.9, 1.1),
    "no-table-dtype": (0.4, 2.1),
}
"""By reason: the lowest and the highest multiple."""

UNKNOWN: Final = (0.5, 2.0)
"""Of a reason without a line of its own."""


def bounded(peak_bytes: int, reasons: tuple[str, ...]) -> Interval:
    """Between which sizes a peak lies whose case differs from the table's for these reasons."""
    low = high = float(peak_bytes)
    for reason in reasons:
        least, most = BOUNDS.get(reason, UNKNOWN)
        low, high = low * least, high * most
    return round(low), round(high)
