"""Runs of a kernel in Python, before compiled code goes wherever it leads."""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import CellType, FunctionType
from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.losses import ScoreLoss
from structsvm.problem.checks import run_check
from structsvm.problem.program import named_globals, plain_function
from structsvm.types import BoolVector, IntVector, Vector

_LIMIT = 10.0
"""Seconds of computing after which a kernel that is interpreted is held to be in an endless loop."""

_FEW_SCORES = 100
"""Scores up to which that is sure; with more, a kernel that takes longer than `_ENOUGH` is tried no further."""

_ENOUGH = 0.25
"""Seconds that examples are tried for, one after the other."""

_SMALL = 12
"""Documents of the queries that are cut out of longer ones."""

_tried: set[tuple[Any, type]] = set()


def require_safe_kernel(loss: ScoreLoss[Any], ys: Sequence[Any], usable: BoolVector | None, ptr: IntVector) -> None:
    """Run a kernel on some examples, interpreted, once a process, before compiled code goes wherever it leads.

    Compiled, an index that is out of range reads or writes what is there, and an endless loop cannot be interrupted.

    Parameters
    ----------
    loss, ys : the loss and the true outputs.
    usable : which examples the loss can learn from; None: all.
    ptr : where the scores of each example begin.

    Raises
    ------
    InputError : when it reads or writes beyond its vectors, changes what it reads, or does not end; it names the
        example.
    """
    key = plain_function(loss.kernel), type(loss)
    if key in _tried:
        return
    began = time.thread_time()
    for place, y, scores, shared in _examples(loss, ys, usable, ptr):
        labels = np.array(loss.labels(y), dtype=np.float64)
        verdict = trial(loss.kernel, scores, labels, shared)
        if verdict:
            raise InputError(f"{loss.title}.kernel {verdict}, tried on {place}. {run_check(loss)}")
        if time.thread_time() - began > _ENOUGH:
            break
    _tried.add(key)


def trial(kernel: Any, scores: Vector, labels: Vector, params: Vector) -> str:
    """Run a kernel in Python, and say what it did wrong; "" where nothing was seen.

    What else fails in Python may be right when compiled. Of functions that the kernel calls by name, those that numba
    has compiled are run in Python, too.
    """
    if not callable(plain_function(kernel)):
        return ""
    given, read, shared = scores.copy(), labels.copy(), params.copy()
    few = len(scores) <= _FEW_SCORES
    try:
        _run(*_interpreted(kernel), (given, read, shared, np.zeros(len(scores))), _LIMIT if few else _ENOUGH)
    except IndexError as error:
        return f"reads or writes beyond its vectors: {error}"
    except _TooLong:
        return f"did not end within {_LIMIT:.0f} seconds of computing: it is in an endless loop" if few else ""
    except Exception:
        return ""
    same = all(np.array_equal(one, other) for one, other in ((given, scores), (read, labels), (shared, params)))
    return "" if same else "changed the scores, labels or params it was given: it may write to out only"


def _examples(
    loss: ScoreLoss[Any], ys: Sequence[Any], usable: BoolVector | None, ptr: IntVector
) -> Iterator[tuple[str, Any, Vector, Vector]]:
    """Yield examples to try a kernel on, each with what to call it, scores, and params: small ones first."""
    rng = np.random.default_rng(0)
    which = np.arange(len(ys)) if usable is None else np.flatnonzero(usable)
    sizes = np.diff(ptr)[which]
    for i in which[np.argsort(sizes, kind="stable")][:5].tolist():
        y, size = ys[i], int(ptr[i + 1] - ptr[i])
        if size > _SMALL and isinstance(y, np.ndarray) and y.shape == (size,):
            for _ in range(5):
                part = y[rng.permutation(size)[:_SMALL]]
                if _usable(loss, part):
                    yield f"some documents of example {i}", part, rng.standard_normal(_SMALL), loss.params([part])
    params = np.array(loss.params(ys), dtype=np.float64)
    order = which[np.argsort(sizes, kind="stable")]
    spread = order[np.unique(np.linspace(0, len(order) - 1, 20).astype(np.int64))]
    for i in spread.tolist():
        for scores in (np.zeros(ptr[i + 1] - ptr[i]), rng.standard_normal(ptr[i + 1] - ptr[i])):
            yield f"example {i}", ys[i], scores, params


def _usable(loss: ScoreLoss[Any], y: Any) -> bool:
    try:
        return bool(loss.usable(y))
    except Exception:  # it is not made for parts
        return False


class _TooLong(Exception):
    """The time is up."""


def _run(function: Callable[..., Any], spaces: set[int], arguments: tuple[Any, ...], seconds: float) -> None:
    """Call a function in a thread of its own, whose tracing is no other's, until it ends or the time is up.

    It is ended in code whose globals have their id among ``spaces`` alone: numba, which may be compiling what it calls,
    would be of no use any more in this process.
    """
    raised: list[BaseException] = []

    def work() -> None:
        end = time.thread_time() + seconds

        def look(frame: Any, event: str, argument: Any) -> Any:
            if id(frame.f_globals) not in spaces:
                return None
            if time.thread_time() > end:
                raise _TooLong
            return look

        sys.settrace(look)
        try:
            with np.errstate(all="ignore"):
                function(*arguments)
        except BaseException as error:
            raised.append(error)
        finally:
            sys.settrace(None)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]


def _interpreted(function: Any) -> tuple[Any, set[int]]:
    """Return a function as Python, with all that it calls by name and numba has compiled; and ids of their globals."""
    made: dict[int, Any] = {}
    spaces: set[int] = set()

    def plain(value: Any) -> Any:
        inner = plain_function(value)
        if not isinstance(inner, FunctionType) or id(inner) in made:
            return made.get(id(inner), value)
        cells = tuple(map(_empty, inner.__closure__ or ()))
        known = dict(inner.__globals__)
        spaces.add(id(known))
        made[id(inner)] = copy = FunctionType(inner.__code__, known, inner.__name__, inner.__defaults__, cells)
        copy.__kwdefaults__ = inner.__kwdefaults__
        for name, each in named_globals(inner):
            if hasattr(each, "py_func"):
                known[name] = plain(each)
        for cell, old in zip(cells, inner.__closure__ or (), strict=True):
            value = old.cell_contents
            cell.cell_contents = plain(value) if hasattr(value, "py_func") else value
        return copy

    return plain(function), spaces


def _empty(cell: CellType) -> CellType:
    return CellType()
