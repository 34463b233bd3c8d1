"""Partitions of futures and delayed calls that return them."""

import sys
from typing import Any

from structsvm.distributed.survey import of_given
from structsvm.exceptions import InputError


def is_call(X: Any) -> bool:
    """Say whether it is a future or a delayed call; the latter says of any attribute that it has it."""
    kinds = (("dask.delayed", "Delayed"), ("distributed", "Future"))
    return any(module in sys.modules and isinstance(X, getattr(sys.modules[module], name)) for module, name in kinds)


def of_list(given: list[Any]) -> tuple[list[Any], list[str]]:
    """Return partitions that others make as delayed calls, and what messages call them.

    Parameters
    ----------
    given : futures or delayed calls, of ``(X, y, qid)``, ``(X, y, qid, sample_weight)`` or `RankingData` each.

    Raises
    ------
    InputError : when there are none, or one is something else.
    """
    from dask import delayed
    from dask.delayed import Delayed
    from distributed import Future

    if not given:
        raise InputError("the list of partitions is empty")
    for number, each in enumerate(given):
        if not isinstance(each, Delayed | Future):
            raise InputError(
                f"partition {number} is a {type(each).__name__}: a list must be of paths of files, or of futures or "
                "delayed calls that return (X, y, qid); dask.delayed(load_letor)(path) is one"
            )
    names = [f"partition {k}" for k in range(len(given))]
    make = delayed(of_given, pure=False)
    return [make(name, each) for name, each in zip(names, given, strict=True)], names
