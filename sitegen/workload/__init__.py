"""The workload itself: the only room that imports torch, transformers and peft. It runs in child processes only."""
