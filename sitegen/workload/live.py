"""Count the bytes of live storages while operations are dispatched, on real tensors as on fake ones.

A storage counts from the operation that first returns it until PyTorch frees it; views of it add nothing. What a kernel
allocates inside itself is not seen, except in the kernels that are Python (`_PYTHON_KERNELS`).
"""

from __future__ import annotations

import importlib
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Final

import torch
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_PYTHON_KERNELS: Final = {
    "bitsandbytes.gemm_4bit.default": ("bitsandbytes.backends.default.ops", "_gemm_4bit_default_impl"),
    "bitsandbytes.optimizer_update_32bit.default": ("bitsandbytes.backends.cpu.ops", "_optimizer_update_32bit_cpu"),
    "bitsandbytes.optimizer_update_8bit_blockwise.default": (
        "bitsandbytes.backends.cpu.ops",
        "_optimizer_update_8bit_blockwise_cpu",
    ),
}
"""Custom operations whose CPU kernel is Python code: it is run operation by operation, for what it allocates counts."""


class Storage:
    """One storage: alive when the operations ``born`` to ``died - 1`` have just returned.

    `role` is set by who knows what it is for; `shape` and `item_bytes` are those of the tensor under which it was first
    seen.
    """

    __slots__ = ("born", "died", "item_bytes", "role", "shape", "size_bytes")

    def __init__(self, size_bytes: int, born: int, shape: tuple[int, ...], item_bytes: int) -> None:
        self.size_bytes = size_bytes
        self.born = born
        self.died: int | None = None
        self.shape = shape
        self.item_bytes = item_bytes
        self.role: str | None = None

    @property
    def last_dimension(self) -> int:
        """The last of the shape; 0 for a number."""
        return self.shape[-1] if self.shape else 0


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves its modes untyped
    """Record each operation's name, whether gradients were being recorded, and the live bytes when it returns."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations: list[str] = []
        self.live_bytes: list[int] = []
        self.recording: list[bool] = []
        self.storages: list[Storage] = []
        self._now_bytes = 0
        self._alive: dict[int, tuple[Storage, weakref.ref[torch.UntypedStorage]]] = {}

    def mark(self, tensors: Iterable[torch.Tensor], role: str) -> None:
        """Say what the storages behind the tensors are for; those not yet seen count from now on."""
        for tensor in tensors:
            self._seen(tensor).role = role

    def __torch_dispatch__(
        self,
        func: OpOverload,
        types: Sequence[type],
        args: tuple[object, ...] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> object:
        """Run the operation, or the operations that its Python kernel is made of, and count what it returns."""
        del types
        kernel = _python_kernel(func)
        if kernel is not None:
            with self:
                return kernel(*args, **(kwargs or {}))
        result = func(*args, **(kwargs or {}))
        if func.namespace == "prim":  # fake tensors are asked for their device by dispatch, real ones are not
            return result
        for leaf in tree_leaves(result):
            if isinstance(leaf, torch.Tensor):
                self._seen(leaf)
        self.operations.append(str(func))
        self.recording.append(torch.is_grad_enabled())
        self.live_bytes.append(self._now_bytes)
        return result

    def _seen(self, tensor: torch.Tensor) -> Storage:
        """The entry of the tensor's storage, made when it is new or has changed its size."""
        storage = tensor.untyped_storage()
        key, size_bytes = storage._cdata, storage.nbytes()  # noqa: SLF001 - the identity of the C++ object
        known = self._alive.get(key)
        if known is not None and known[0].size_bytes == size_bytes:
            return known[0]
        if known is not None:
            self._gone(key)
        entry = Storage(size_bytes, len(self.operations), tuple(tensor.shape), tensor.element_size())
        self._alive[key] = entry, weakref.ref(storage, lambda _: self._gone(key))
        self._now_bytes += size_bytes
        self.storages.append(entry)
        return entry

    def _gone(self, key: int) -> None:
        """The storage was freed."""
        entry, _ = self._alive.pop(key)
        entry.died = len(self.operations)
        self._now_bytes -= entry.size_bytes


@cache
def _python_kernel(operation: object) -> Callable[..., object] | None:
    """The Python kernel of an operation that has one."""
    if str(operation) not in _PYTHON_KERNELS:
        return None
    module, function = _PYTHON_KERNELS[str(operation)]
    kernel: Callable[..., object] = getattr(importlib.import_module(module), function)
    return kernel
