"""Views: named tuples through which compiled loops read any operator; numba selects code by their type."""

from collections.abc import Callable
from functools import cache
from inspect import signature
from threading import Lock
from typing import Any

from structsvm.exceptions import InputError
from structsvm.foundation.compute.atomics import add
from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.types import IntVector, Matrix, Vector

_in_python: dict[tuple[Callable[..., None], type], Callable[..., None]] = {}
"""Python implementations by target function and view type, used if NUMBA_DISABLE_JIT=1."""

_functions: list[Callable[..., None]] = []
"""Functions of all views; cached machine code becomes stale when their files change."""


def example_scores(view: Any, i: int, w: Vector, out: Vector) -> None:
    """Write ``A_i w``; for functions of `register_view` whose view contains another view.

    Parameters
    ----------
    view : instance of a registered class.
    i : index of the example.
    w : weights, shape (d,).
    out : output, one score each, shape (ptr[i + 1] − ptr[i],).

    Examples
    --------
    >>> from structsvm.features.operators import Rows
    >>> A = Rows.of([[[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0]]])
    >>> out = np.empty(2)
    >>> example_scores(A.view, 0, np.array([1.0, 10.0]), out)
    >>> out
    array([ 1., 20.])
    """
    _in_python[example_scores, type(view)](view, i, w, out)


def example_combine(view: Any, i: int, c: Vector, out: Vector) -> None:
    """Write ``A_i' c``; for functions of `register_view` whose view contains another view.

    Parameters
    ----------
    view, i : as in `example_scores`.
    c : one coefficient per score of this example, shape (ptr[i + 1] − ptr[i],).
    out : output, overwritten, shape (d,).

    Examples
    --------
    >>> from structsvm.features.operators import Rows
    >>> A = Rows.of([[[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0]]])
    >>> out = np.empty(A.d)
    >>> example_combine(A.view, 0, np.array([1.0, -1.0]), out)
    >>> out
    array([ 1., -2.])
    """
    _in_python[example_combine, type(view)](view, i, c, out)


def register_view(
    kind: type,
    scores: Callable[[Any, int, Vector, Vector], None],
    combine: Callable[[Any, int, Vector, Vector], None],
) -> None:
    """Register a view, so that compiled loops can read it.

    Parameters
    ----------
    kind : a NamedTuple class whose first field is ``ptr``, as in `Operator.ptr`; the other fields are arrays, numbers,
        or views.
    scores : plain function ``scores(view, i, w, out)`` that numba can compile; it writes ``A_i w``, the scores of
        example i, to all of ``out``.
    combine : ``combine(view, i, c, out)``, which writes ``A_i' c`` to all of ``out``. Both may call `example_scores`
        and `example_combine` on a view contained in theirs.

    Examples
    --------
    >>> from typing import Any, NamedTuple
    >>> from structsvm.features.operators import Rows, example_combine, example_scores
    >>> class Doubled(NamedTuple):  # twice the rows of another view
    ...     ptr: np.ndarray
    ...     rows: Any
    >>> def scores(view, i, w, out):
    ...     example_scores(view.rows, i, w, out)
    ...     out *= 2.0
    >>> def combine(view, i, c, out):
    ...     example_combine(view.rows, i, c, out)
    ...     out *= 2.0
    >>> register_view(Doubled, scores, combine)
    >>> A = Rows.of([[[1.0, 0.0], [0.0, 2.0]]])
    >>> out = np.empty(2)
    >>> example_scores(Doubled(A.ptr, A.view), 0, np.array([1.0, 10.0]), out)
    >>> out
    array([ 2., 40.])
    """
    if not (issubclass(kind, tuple) and getattr(kind, "_fields", ())[:1] == ("ptr",)):
        raise InputError(f"{kind.__name__} must be a NamedTuple whose first field is ptr")
    for target, function in ((example_scores, scores), (example_combine, combine)):
        if len(signature(function).parameters) != 4:
            raise InputError(f"{function.__name__} must have four arguments, as {target.__name__} has")
        numba.extending.overload(target, jit_options={"fastmath": {"contract"}}, strict=False)(
            _for_kind(kind, function)
        )
        _in_python[target, kind] = function
        _functions.append(function)


def _for_kind(kind: type, function: Callable[..., None]) -> Callable[..., Any]:
    def choose(view: Any, i: Any, vector: Any, out: Any) -> Any:
        return function if getattr(view, "instance_class", None) is kind else None

    return choose


def is_built_in(view: tuple[Any, ...]) -> bool:
    """Return True if a view's machine code may be cached: numba would not notice changes in other packages."""
    ours = type(view).__module__.partition(".")[0] == "structsvm"
    return ours and all(is_built_in(part) for part in view if isinstance(part, tuple))


def _compiled_for_views(function: Callable[..., None]) -> Callable[..., None]:
    """Compile a loop at its first call, when all views of the package are registered; cache it on disk if allowed."""
    lock = Lock()

    @cache
    def loop(keep: bool) -> Any:
        return compiled(function, keep=keep)

    def run(view: Any, *arguments: Any) -> None:
        with lock:
            compiled_loop = loop(is_built_in(view))
        compiled_loop(view, *arguments)

    return run


@_compiled_for_views
def write_scores(view: Any, i: int, w: Vector, out: Vector) -> None:
    """Write ``A_i w`` when called from Python."""
    example_scores(view, i, w, out)


@_compiled_for_views
def write_all_scores(view: Any, counters: IntVector, w: Vector, out: Vector) -> None:
    """Write ``A w``, example by example; see `structsvm.foundation.compute.threads.over_blocks`."""
    while True:
        i = add(counters, 0, 1)
        if i >= len(view.ptr) - 1:
            return
        example_scores(view, i, w, out[view.ptr[i] : view.ptr[i + 1]])


@_compiled_for_views
def write_combination(view: Any, i: int, c: Vector, out: Vector) -> None:
    """Write ``A_i' c`` when called from Python."""
    example_combine(view, i, c, out)


@_compiled_for_views
def write_combinations(view: Any, examples: IntVector, c: Vector, out: Matrix) -> None:
    """Write ``A_i' c_i`` of some examples as rows of ``out``; c has one coefficient per score, for all examples."""
    for k in range(len(examples)):
        i = examples[k]
        example_combine(view, i, c[view.ptr[i] : view.ptr[i + 1]], out[k])
