"""Measure what running and training a model costs in memory, and publish it as a French site."""

from __future__ import annotations

__version__ = "0.1.0"
