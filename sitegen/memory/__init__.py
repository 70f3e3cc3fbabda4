"""The memory model: pure arithmetic, no torch."""
