"""Interface to shards of data on a cluster, and an implementation in this process."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import fields, frozen, has

from structsvm.problem.base import CallCounts

ARITY = 32
"""Largest number of answers merged at once; more answers are merged as a tree at workers."""


@frozen
class Call:
    """A call to ``asked`` shards or groups: bytes ``down`` to each, at most ``up`` back; seconds of each and in all."""

    name: str
    asked: int
    down: int
    up: int
    seconds: tuple[float, ...]
    wall: float


class Cluster(ABC):
    """Base class of clusters, which apply functions to partitions at their workers and keep the results there.

    Functions must be importable or picklable by cloudpickle, and must have no side effects, because they may run twice.

    Attributes
    ----------
    traffic : `CallCounts`, the number of calls and the bytes of numbers sent and received.
    log : the last 10,000 calls, each a `Call`.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from structsvm.distributed import DistributedProblem, Partition
    >>> from structsvm.solvers import OneSlack
    >>> class InThreads(Cluster):
    ...     def keep(self, function, parts, *columns):
    ...         return list(map(function, parts, *columns))
    ...     def ask(self, function, shards, *arguments):
    ...         with ThreadPoolExecutor(2) as pool:
    ...             return list(pool.map(lambda shard: function(shard, *arguments), shards))
    >>> X = np.array([[1.0], [2.0]])
    >>> parts = [Partition(X, [0, 1], [1, 1]), Partition(2.0 * X, [0, 1], [2, 2])]
    >>> OneSlack().solve(DistributedProblem.from_queries(InThreads(), parts, loss="map")).converged
    True
    """

    def __init__(self) -> None:
        self.log: list[Call] = []
        self.traffic = CallCounts()

    @abstractmethod
    def keep(self, function: Callable[..., Any], parts: Sequence[Any], *columns: Sequence[Any]) -> list[Any]:
        """Apply a function to each part, and keep each result at the worker that computed it; return references.

        A cluster may return before the results exist; `ask` and `total` then raise the errors.

        Parameters
        ----------
        function : called with a part and its element of each of the ``columns``.
        parts : values, kept results, or references that the cluster resolves (futures).
        *columns : further arguments, one for each part.
        """

    @abstractmethod
    def ask(self, function: Callable[..., Any], shards: Sequence[Any], *arguments: Any) -> list[Any]:
        """Apply a function to each kept result, and return the answers in order.

        Raises
        ------
        ClusterError : no answer arrived in time, or no worker is left.
        """

    def total(self, function: Callable[..., Any], shards: Sequence[Any], *arguments: Any) -> Any:
        """Apply a function to each kept result, and merge the answers by their method ``merged``, in a fixed order."""
        return merged(self.ask(function, shards, *arguments))

    def count(self, call: Call) -> None:
        """Add a call to the log."""
        calls, down, up = self.traffic
        self.traffic = CallCounts(calls + 1, down + call.asked * call.down, up + call.asked * call.up)
        self.log.append(call)
        del self.log[:-10_000]


class InProcess(Cluster):
    """A cluster in this process, which handles partitions one after another: for tests and simulations.

    Bytes are counted as if every shard were on another machine.

    Examples
    --------
    >>> from structsvm.distributed import DistributedProblem, Partition
    >>> from structsvm.solvers import OneSlack
    >>> cluster, X = InProcess(), np.array([[1.0], [2.0]])
    >>> parts = [Partition(X, [0, 1], [1, 1]), Partition(2.0 * X, [0, 1], [2, 2])]
    >>> problem = DistributedProblem.from_queries(cluster, parts, loss="map")
    >>> OneSlack().solve(problem).converged, cluster.log[-1].asked
    (True, 2)
    """

    def keep(self, function: Callable[..., Any], parts: Sequence[Any], *columns: Sequence[Any]) -> list[Any]:
        """Apply a function to each part, and keep the results."""
        return [function(*arguments) for arguments in zip(parts, *columns, strict=True)]

    def ask(self, function: Callable[..., Any], shards: Sequence[Any], *arguments: Any) -> list[Any]:
        """Apply a function to each kept result, and return the answers in order."""
        answers, seconds = timed(function, shards, arguments)
        up = max(map(size_of, answers), default=0)
        self.count(Call(function.__name__, len(shards), size_of(arguments), up, seconds, sum(seconds)))
        return answers


def timed(
    function: Callable[..., Any], shards: Sequence[Any], arguments: tuple[Any, ...]
) -> tuple[list[Any], tuple[float, ...]]:
    """Return the answers of shards, and the seconds of each."""
    answers, times = [], [time.perf_counter()]
    for shard in shards:
        answers.append(function(shard, *arguments))
        times.append(time.perf_counter())
    return answers, tuple(end - begin for begin, end in pairwise(times))


def merged(answers: Sequence[Any]) -> Any:
    """Merge answers as a tree, `ARITY` at a time."""
    while len(answers) > 1:
        answers = [merge(answers[i : i + ARITY]) for i in range(0, len(answers), ARITY)]
    return answers[0]


def merge(answers: Sequence[Any]) -> Any:
    """Merge answers in order."""
    return answers[0].merged(answers[1:])


def size_of(value: Any) -> int:
    """Return the bytes of the numbers in a value; a number outside arrays, or None, counts as 8."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, (str, bytes)):
        return len(value)
    if isinstance(value, (tuple, list)):
        return sum(map(size_of, value))
    names = _fields(value.__class__)
    return 8 if names is None else sum([size_of(getattr(value, name)) for name in names])


@cache
def _fields(kind: type) -> tuple[str, ...] | None:
    """Return the field names of an attrs class, None for other classes."""
    return tuple(field.name for field in fields(kind)) if has(kind) else None
