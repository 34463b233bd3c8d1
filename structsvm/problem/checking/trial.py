"""Trial runs of a kernel in Python, because compiled code has no bounds checks."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import CellType, FunctionType
from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import ScoreLoss
from structsvm.losses.base import Examples
from structsvm.problem.checks import run_check
from structsvm.problem.program import named_globals, plain_function

_LIMIT = 10.0
"""Seconds of computing after which an interpreted kernel is considered to be in an endless loop."""

_FEW_SCORES = 100
"""Scores up to which an endless loop is certain; with more, the trial just ends after `_ENOUGH`."""

_ENOUGH = 0.25
"""Seconds for the trials of all examples."""

_SMALL = 12
"""Documents in queries that are cut from longer ones."""

_UNWRITTEN = 1e300
"""Content of ``out`` before a trial, which sums do not change."""

_tried: set[tuple[Any, type]] = set()


def require_safe_kernel(examples: Examples) -> None:
    """Run a kernel on some examples in Python, once per process; raise `InputError` if it is unsafe."""
    loss = examples.loss
    key = plain_function(loss.kernel), type(loss)
    if key in _tried:
        return
    began = time.thread_time()
    for place, y, scores, shared in _examples(examples):
        labels = np.array(loss.labels(y), dtype=np.float64)
        verdict = trial(loss, scores, labels, shared)
        if verdict:
            raise InputError(f"{loss.title}.kernel {verdict}, tried on {place}. {run_check(loss)}")
        if time.thread_time() - began > _ENOUGH:
            break
    _tried.add(key)


def trial(loss: ScoreLoss[Any], scores: Vector, labels: Vector, params: Vector) -> str:
    """Run a loss's kernel, and the compiled functions that it names, in Python; describe an unsafe step, or ""."""
    kernel = loss.kernel
    if not callable(plain_function(kernel)):
        return ""
    argument, read, shared = scores.copy(), labels.copy(), params.copy()
    out = np.full(len(scores) + loss.bounded, _UNWRITTEN)
    few = len(scores) <= _FEW_SCORES
    try:
        _run(
            *_interpreted(kernel),
            (argument, read, shared, out),
            _LIMIT if few else _ENOUGH,
        )
    except IndexError as error:
        return f"reads or writes beyond its vectors: {error}"
    except _TooLong:
        return f"did not end within {_LIMIT:.0f} seconds of computing: it is in an endless loop" if few else ""
    except Exception:
        return ""
    same = all(np.array_equal(one, other) for one, other in ((argument, scores), (read, labels), (shared, params)))
    if not same:
        return "changed the scores, labels or params: it may write only to out"
    left = np.flatnonzero(out == _UNWRITTEN)
    return (
        f"did not set out[{left[0]}]: it must write every element of out, whose content is arbitrary"
        if len(left)
        else ""
    )


def _examples(examples: Examples) -> Iterator[tuple[str, Any, Vector, Vector]]:
    """Yield examples for trials, smallest first, each with its name, scores and params."""
    rng = np.random.default_rng(0)
    loss, ys, sizes, which = examples.loss, examples.ys, examples.sizes, examples.usable_indices()
    # Only documents of queries can be left out; paths and assignments have no parts.
    queries = examples.of_queries and loss.scores_rows and not loss.per_row
    for i in which[np.argsort(sizes[which], kind="stable")][: 5 * queries].tolist():
        y, size = ys[i], int(sizes[i])
        if size > _SMALL and isinstance(y, np.ndarray) and y.shape == (size,):
            for _ in range(5):
                part = y[rng.permutation(size)[:_SMALL]]
                params = _params_of_part(loss, part)
                if params is not None:
                    yield f"some documents of example {i}", part, rng.standard_normal(_SMALL), params
    params = np.array(loss.params(ys), dtype=np.float64)
    order = which[np.argsort(sizes[which], kind="stable")]
    for i in evenly(order, 20).tolist():
        for scores in (np.zeros(sizes[i]), rng.standard_normal(sizes[i])):
            yield f"example {i}", ys[i], scores, params


def _params_of_part(loss: ScoreLoss[Any], part: Any) -> Vector | None:
    """Return the kernel's parameters for a part of an example; None if the loss does not support it."""
    try:
        loss.labels(part)
        return np.array(loss.params([part]), dtype=np.float64) if loss.usable(part) else None
    except Exception:
        return None


def evenly(several: IntVector, most: int) -> IntVector:
    """Return at most this many elements of a vector, the first and the last among them, at equal distances."""
    return several[np.unique(np.linspace(0, len(several) - 1, most).astype(np.int64))]


def learns_from(loss: ScoreLoss[Any], y: Any) -> bool:
    """Return True if the loss is usable on a part of an example; False if it does not support parts."""
    try:
        return bool(loss.usable(y))
    except Exception:
        return False


class _TooLong(Exception):
    """Raised when the time limit is reached."""


def _run(function: Callable[..., Any], spaces: set[int], arguments: tuple[Any, ...], seconds: float) -> None:
    """Call a function in a traced thread until it ends or time is up; stop only code with globals in ``spaces``."""
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
    """Return a function in plain Python, with the compiled functions that it names, and the ids of their globals."""
    copies: dict[int, Any] = {}
    spaces: set[int] = set()

    def plain(value: Any) -> Any:
        inner = plain_function(value)
        if not isinstance(inner, FunctionType) or id(inner) in copies:
            return copies.get(id(inner), value)
        cells = tuple(CellType() for _ in inner.__closure__ or ())
        namespace = dict(inner.__globals__)
        spaces.add(id(namespace))
        copies[id(inner)] = copy = FunctionType(inner.__code__, namespace, inner.__name__, inner.__defaults__, cells)
        copy.__kwdefaults__ = inner.__kwdefaults__
        for name, value_of_name in named_globals(inner):
            namespace[name] = plain(value_of_name)
        for cell, old in zip(cells, inner.__closure__ or (), strict=True):
            cell.cell_contents = plain(old.cell_contents)
        return copy

    return plain(function), spaces
