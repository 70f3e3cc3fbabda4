"""The public reports, each a test: what others met and published, made into a small case of ours."""

from __future__ import annotations

from typing import Any, Final, Protocol

import pytest
from msgspec.structs import replace

from sitegen.records.case import Case
from sitegen.records.trace import Trace
from sitegen.render.series import Series
from sitegen.workload.trace import traced
from tests.browser.conftest import browser_type_launch_args as browser_type_launch_args  # noqa: PLC0414 - a fixture
from tests.factories import reference_suite

TINY: Final = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
}


class Tracing(Protocol):
    """Trace a case of two sequences of 32 tokens on a llama of two layers."""

    def __call__(self, config: dict[str, Any] | None = None, **options: Any) -> Trace:
        """With other keys of config.json, and other options."""
        ...


@pytest.fixture
def trace() -> Tracing:
    """The function that traces."""

    def run(config: dict[str, Any] | None = None, **options: Any) -> Trace:
        return traced(replace(Case(batch_size=2, sequence_length=32), **options), TINY | (config or {}))

    return run


@pytest.fixture
def tiny() -> dict[str, Any]:
    """The configuration of that llama."""
    return dict(TINY)


@pytest.fixture
def series() -> Series:
    """A whole reference suite."""
    return Series(reference_suite())
