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


def _typed_add(_typing: Any, counters: Any, k: Any, amount: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _place(context, builder, signature.args[0], given[0], given[1])
        return builder.atomic_rmw("add", place, given[2], "seq_cst")

    return numba.types.int64(counters, numba.types.intp, numba.types.int64), generate


def _typed_read(_typing: Any, counters: Any, k: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = _place(context, builder, signature.args[0], given[0], given[1])
        return builder.load_atomic(place, "seq_cst", 8, typ=context.get_value_type(numba.types.int64))

    return numba.types.int64(counters, numba.types.intp), generate


_add = numba.extending.intrinsic(_typed_add)
_read = numba.extending.intrinsic(_typed_read)


def _compiled_add(counters: Any, k: Any, amount: Any) -> Any:
    return lambda counters, k, amount: _add(counters, k, amount)


def _compiled_read(counters: Any, k: Any) -> Any:
    return lambda counters, k: _read(counters, k)


def _compiled_give_way() -> Any:
    def give_way() -> None:
        _YIELD()

    return give_way


for _function, _compiled in ((add, _compiled_add), (read, _compiled_read), (give_way, _compiled_give_way)):
    numba.extending.overload(_function, strict=False)(_compiled)
