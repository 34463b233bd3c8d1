"""Where shards are, and how all of them are asked something."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from attrs import fields, frozen, has

from structsvm.problem import Traffic

ARITY = 32
"""Most answers that are merged in one place: above it, 32 after 32 at workers, as a tree."""

Kept: TypeAlias = Any
"""What a worker keeps of one partition: opaque to all but its cluster."""


class Answer(Protocol):
    """What a shard answers: a few numbers, or a vector of d of them."""

    def merged(self, others: "Sequence[Self]") -> Self:
        """Return the answer of this part of the data and, in this order, of others."""


@frozen
class Call:
    """One call to all shards, or some: what a model of a network needs to know of it.

    Parameters
    ----------
    name : the function.
    asked : number of shards, or of groups of them at one place, that were asked.
    down : bytes that each of these was sent.
    up : bytes that each of them answered, at most.
    seconds : time that each shard took, one after the other; empty where it is not known.
    wall : time until the driver had the answer.

    Examples
    --------
    >>> from structsvm.distributed import InProcess
    >>> cluster = InProcess()
    >>> cluster.ask(max, cluster.keep(sorted, [[3.0, 1.0], [2.0]]))
    [3.0, 2.0]
    >>> call = cluster.log[-1]
    >>> call.name, call.asked, call.down, call.up  # two answers of 8 bytes
    ('max', 2, 0, 8)
    """

    name: str
    asked: int
    down: int
    up: int
    seconds: tuple[float, ...]
    wall: float


class Cluster(ABC):
    """Applies functions to partitions where these are, and keeps the results there for further functions.

    All functions are of modules or can be pickled by cloudpickle, and have no other effect than what they return:
    any of them may run twice, or elsewhere again. Every wait has a limit.

    Attributes
    ----------
    log : the calls so far, the last 10,000 of them.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> import numpy as np
    >>> from structsvm.distributed import Cluster, DistributedProblem, Partition
    >>> from structsvm.solvers import OneSlack
    >>> class InThreads(Cluster):
    ...     def keep(self, function, parts, *each):
    ...         return list(map(function, parts, *each))
    ...     def ask(self, function, kept, *arguments):
    ...         with ThreadPoolExecutor(2) as pool:
    ...             return list(pool.map(lambda shard: function(shard, *arguments), kept))
    ...     def total(self, function, kept, *arguments):
    ...         first, *others = self.ask(function, kept, *arguments)
    ...         return first.merged(others)
    >>> X = np.array([[1.0], [2.0]])
    >>> parts = [Partition(X, [0, 1], [1, 1]), Partition(2.0 * X, [0, 1], [2, 2])]
    >>> OneSlack().solve(DistributedProblem.from_queries(InThreads(), parts, loss="map")).converged
    True
    """

    def __init__(self) -> None:
        self.log: list[Call] = []
        self._traffic = Traffic()

    @property
    def traffic(self) -> Traffic:
        """How often all shards, or some, were asked and waited for, and the bytes of numbers sent and answered."""
        return self._traffic

    @abstractmethod
    def keep(self, function: Callable[..., Any], parts: Sequence[Any], *each: Sequence[Any]) -> list[Kept]:
        """Apply a function to each part, and keep each result where it was computed.

        Parameters
        ----------
        function : called with a part, and with an element of every further sequence.
        parts : values, things that are kept, or whatever the cluster takes for a value elsewhere (futures).
        *each : further arguments, one for each part.
        """

    @abstractmethod
    def ask(self, function: Callable[..., Any], kept: Sequence[Kept], *arguments: Any) -> list[Any]:
        """Apply a function to each kept result, and return the answers in order.

        Raises
        ------
        ClusterError : when no answer came in time, or there is nobody to ask.
        """

    @abstractmethod
    def total(self, function: Callable[..., Answer], kept: Sequence[Kept], *arguments: Any) -> Any:
        """Apply a function to each kept result, and return the merged answers.

        They are merged in the order of the partitions, 32 after 32, then 32 after 32 of these, and so on. Where several
        partitions are in one place, they are merged there first.

        Raises
        ------
        ClusterError : as `ask`.
        """

    def count(self, call: Call) -> None:
        """Count a call."""
        calls, down, up = self._traffic
        self._traffic = Traffic(calls + 1, down + call.asked * call.down, up + call.asked * call.up)
        self.log.append(call)
        del self.log[:-10_000]


class InProcess(Cluster):
    """All partitions in this process, one after the other: for tests, simulation, and data that fit.

    Bytes are counted as if every shard were another machine: 8 a number, plus those of arrays.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.distributed import DistributedProblem, InProcess, Partition
    >>> from structsvm.solvers import OneSlack
    >>> cluster, X = InProcess(), np.array([[1.0], [2.0]])
    >>> parts = [Partition(X, [0, 1], [1, 1]), Partition(2.0 * X, [0, 1], [2, 2])]
    >>> problem = DistributedProblem.from_queries(cluster, parts, loss="map")
    >>> OneSlack().solve(problem).converged, cluster.log[-1].asked
    (True, 2)
    """

    def keep(self, function: Callable[..., Any], parts: Sequence[Any], *each: Sequence[Any]) -> list[Kept]:
        """Apply a function to each part, and keep the results."""
        return [function(*arguments) for arguments in zip(parts, *each, strict=True)]

    def ask(self, function: Callable[..., Any], kept: Sequence[Kept], *arguments: Any) -> list[Any]:
        """Apply a function to each kept result, and return the answers in order."""
        answers, seconds, up, began = [], [], 0, time.perf_counter()
        for shard in kept:
            started = time.perf_counter()
            answers.append(function(shard, *arguments))
            up = max(up, size_of(answers[-1]))
            seconds.append(time.perf_counter() - started)
        wall = time.perf_counter() - began
        self.count(Call(function.__name__, len(kept), size_of(arguments), up, tuple(seconds), wall))
        return answers

    def total(self, function: Callable[..., Answer], kept: Sequence[Kept], *arguments: Any) -> Any:
        """Apply a function to each kept result, and return the merged answers."""
        return merged(self.ask(function, kept, *arguments))


def merged(answers: Sequence[Any]) -> Any:
    """Merge answers, 32 after 32, until one is left."""
    while len(answers) > 1:
        answers = [merge(answers[i : i + ARITY]) for i in range(0, len(answers), ARITY)]
    return answers[0]


def merge(answers: Sequence[Any]) -> Any:
    """Merge answers in their order."""
    return answers[0].merged(answers[1:])


def size_of(value: Any) -> int:
    """Return the bytes of the numbers in a value: those of arrays, and 8 of every other number or None."""
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
    """Return the names of the fields of an attrs class; None of another."""
    return tuple(each.name for each in fields(kind)) if has(kind) else None
