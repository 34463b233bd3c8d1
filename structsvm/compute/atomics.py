"""Counters that threads of compiled code share, and what they do while they wait for one."""

import os
from typing import Any

from numba.core import cgutils  # structsvm.compute.environment has imported numba

from structsvm.compute.environment import numba
from structsvm.types import IntVector

_YIELD = numba.types.ExternalFunction("SwitchToThread" if os.name == "nt" else "sched_yield", numba.types.int32())


def add(counters: IntVector, k: int, amount: int) -> int:
    """Add to a counter, and return what it was before: all that was written to memory is seen by who reads it then."""
    before = int(counters[k])
    counters[k] += amount
    return before


def read(counters: IntVector, k: int) -> int:
    """Return a counter, and see all that was written to memory by who added to it."""
    return int(counters[k])


def give_way() -> None:
    """Let another thread have the processor, where one waits for it."""


def _place(context: Any, builder: Any, kind: Any, array: Any, k: Any) -> Any:
    return cgutils.get_item_pointer(context, builder, kind, context.make_array(kind)(context, builder, array), [k])


@numba.extending.intrinsic
def _add(_typing: Any, counters: Any, k: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _place(context, builder, signature.args[0], given[0], given[1])
        return builder.atomic_rmw("add", place, given[2], "seq_cst")

    return numba.types.int64(counters, numba.types.intp, numba.types.int64), generate


@numba.extending.intrinsic
def _read(_typing: Any, counters: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _place(context, builder, signature.args[0], given[0], given[1])
        return builder.load_atomic(place, "seq_cst", 8, typ=context.get_value_type(numba.types.int64))

    return numba.types.int64(counters, numba.types.intp), generate


@numba.extending.overload(add, strict=False)
def _compiled_add(counters: Any, k: Any, amount: Any) -> Any:
    return lambda counters, k, amount: _add(counters, k, amount)


@numba.extending.overload(read, strict=False)
def _compiled_read(counters: Any, k: Any) -> Any:
    return lambda counters, k: _read(counters, k)


@numba.extending.overload(give_way, strict=False)
def _compiled_give_way() -> Any:
    def give_way() -> None:
        _YIELD()

    return give_way
