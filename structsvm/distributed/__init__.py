"""Training on a cluster: data in partitions of whole queries, which stay with the workers that hold them."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from structsvm.distributed.dask_ranker import DaskRanker
    from structsvm.distributed.partitions import Partitions, read_partitions

__all__ = ["DaskRanker", "Partitions", "read_partitions"]

_HOME = {"DaskRanker": "dask_ranker", "Partitions": "partitions", "read_partitions": "partitions"}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name in _HOME:
        return getattr(import_module(f"structsvm.distributed.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
