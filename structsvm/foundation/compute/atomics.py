"""Atomic counters that threads of compiled code share; plain numbers if numba or llvmlite lacks the hooks."""

import os
import platform
from inspect import signature
from typing import Any

from llvmlite import ir

from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.types import IntVector

_LOOKS = 200
"""Polls of a counter before a waiting thread yields its processor: some microseconds."""

_REST = {
    "x86_64": ("llvm.x86.sse2.pause", ()),
    "AMD64": ("llvm.x86.sse2.pause", ()),
    "aarch64": ("llvm.aarch64.hint", (1,)),
    "arm64": ("llvm.aarch64.hint", (1,)),
}.get(platform.machine())
"""Pause instruction of this processor, which frees the core's units for its other hardware thread."""

_IN_BUILDER = ("atomic_rmw", "load_atomic")

ATOMIC = (
    hasattr(numba.types, "ExternalFunction")
    and all(hasattr(numba.core.cgutils, name) for name in ("get_item_pointer", "get_or_insert_function"))
    and all(hasattr(ir.IRBuilder, name) for name in _IN_BUILDER)
    and "typ" in signature(ir.IRBuilder.load_atomic).parameters
)
"""True if numba and llvmlite have the hooks for atomic counters, so that threads can share them."""

_YIELD: Any = (
    numba.types.ExternalFunction("SwitchToThread" if os.name == "nt" else "sched_yield", numba.types.int32())
    if ATOMIC
    else None
)


def add(counters: IntVector, k: int, amount: int) -> int:
    """Add to a counter and return its previous value; the memory order is sequentially consistent."""
    before = int(counters[k])
    counters[k] += amount
    return before


def read(counters: IntVector, k: int) -> int:
    """Return a counter; writes made before it was set or increased are visible afterwards."""
    return int(counters[k])


def rest() -> None:
    """Pause for some cycles in favor of another thread on the same core."""


def give_way() -> None:
    """Yield the processor to a waiting thread."""


def _place(context: Any, builder: Any, kind: Any, array: Any, k: Any) -> Any:
    return numba.core.cgutils.get_item_pointer(
        context, builder, kind, context.make_array(kind)(context, builder, array), [k]
    )


def _typed_add(_typing: Any, counters: Any, k: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, signature.args[0], values[0], values[1])
        return builder.atomic_rmw("add", place, values[2], "seq_cst")

    return numba.types.int64(counters, numba.types.intp, numba.types.int64), generate


def _typed_read(_typing: Any, counters: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        place = _place(context, builder, signature.args[0], values[0], values[1])
        return builder.load_atomic(place, "seq_cst", 8, typ=context.get_value_type(numba.types.int64))

    return numba.types.int64(counters, numba.types.intp), generate


def _typed_rest(_typing: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        if _REST is not None:
            name, numbers = _REST
            arguments = [ir.Constant(ir.IntType(32), value) for value in numbers]
            kind = ir.FunctionType(ir.VoidType(), [argument.type for argument in arguments])
            builder.call(numba.core.cgutils.get_or_insert_function(builder.module, kind, name), arguments)
        return context.get_dummy_value()

    return numba.types.void(), generate


_add = numba.extending.intrinsic(_typed_add)
_read = numba.extending.intrinsic(_typed_read)
_rest = numba.extending.intrinsic(_typed_rest)


def _compiled_add(counters: Any, k: Any, amount: Any) -> Any:
    return (lambda counters, k, amount: _add(counters, k, amount)) if ATOMIC else add


def _compiled_read(counters: Any, k: Any) -> Any:
    return (lambda counters, k: _read(counters, k)) if ATOMIC else read


def _compiled_rest() -> Any:
    return (lambda: _rest()) if ATOMIC else rest


def _compiled_give_way() -> Any:
    def yielding() -> None:
        _YIELD()

    return yielding if ATOMIC else give_way


for _function, _compiled in (
    (add, _compiled_add),
    (read, _compiled_read),
    (rest, _compiled_rest),
    (give_way, _compiled_give_way),
):
    numba.extending.overload(_function, strict=False)(_compiled)


@compiled_part
def reached(counters: IntVector, k: int, amount: int, stop: int) -> bool:
    """Wait until a counter reaches an amount (return True) or the counter ``stop`` is positive (return False)."""
    looks = 0
    while read(counters, k) < amount:
        if read(counters, stop) > 0:
            return False
        looks += 1
        rest()
        if looks > _LOOKS:
            give_way()
    return True
