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

_in_python: dict[tuple[Callable[..., Any], type], Callable[..., Any]] = {}
"""Python implementations by target function and view type, used if NUMBA_DISABLE_JIT=1."""

_functions: list[Callable[..., Any]] = []
"""Functions of all views; cached machine code becomes stale when their files change."""


def example_scores(view: Any, i: int, w: Vector, out: Vector) -> None:
    """Write ``A_i w``, the scores of example i; for functions of `register_view` whose view contains another view.

    Parameters
    ----------
    view : instance of a registered class.
    i : index of the example.
    w : weights, shape (d,).
    out : output, the scores of the example, shape (ptr[i + 1] − ptr[i],).

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


def example_add(view: Any, i: int, c: Vector, out: Vector) -> None:
    """Add ``A_i' c`` to ``out``; for functions of `register_view` whose view contains another view.

    Parameters
    ----------
    view, i : as in `example_scores`.
    c : one coefficient per score of this example, shape (ptr[i + 1] − ptr[i],).
    out : sum to add to, shape (d,).

    Examples
    --------
    >>> from structsvm.features.operators import Rows
    >>> A = Rows.of([[[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0]]])
    >>> out = np.ones(A.d)
    >>> example_add(A.view, 0, np.array([1.0, -1.0]), out)
    >>> out
    array([ 2., -1.])
    """
    _in_python[example_add, type(view)](view, i, c, out)


def example_gram(view: Any, i: int, gram: Vector) -> int:
    """Add the products between the rows of an example to a matrix, and return their number.

    Parameters
    ----------
    view, i : as in `example_scores`.
    gram : matrix to add to, row after row, at least as many numbers as the operator's ``gram_sizes[i]``.

    Examples
    --------
    >>> from structsvm.features.operators import Rows
    >>> A = Rows.of([[[1.0, 0.0], [1.0, 2.0]], [[3.0, 1.0]]])
    >>> gram = np.zeros(4)
    >>> example_gram(A.view, 0, gram), gram.tolist()
    (4, [1.0, 1.0, 1.0, 5.0])
    """
    size: int = _in_python[example_gram, type(view)](view, i, gram)
    return size


def example_product(view: Any, i: int, gram: Vector, c: Vector, out: Vector) -> int:
    """Write ``A_i A_i' c``, the change of the scores if ``A_i' c`` is added to w; return the number of products read.

    Parameters
    ----------
    view, i : as in `example_scores`.
    gram : the products that `example_gram` adds, to a matrix of zeros.
    c : one coefficient per score of this example, shape (ptr[i + 1] − ptr[i],).
    out : output, overwritten, as long as c.

    Examples
    --------
    >>> from structsvm.features.operators import Rows
    >>> A = Rows.of([[[1.0, 0.0], [1.0, 2.0]], [[3.0, 1.0]]])
    >>> out = np.empty(2)
    >>> example_product(A.view, 0, np.array([1.0, 1.0, 1.0, 5.0]), np.array([1.0, -1.0]), out), out.tolist()
    (4, [0.0, -4.0])
    """
    size: int = _in_python[example_product, type(view)](view, i, gram, c, out)
    return size


def _rows_product(view: Any, i: Any, gram: Any, c: Any, out: Any) -> int:
    rows = len(c)
    for row in range(rows):
        total = 0.0
        for other in range(rows):
            total += gram[row * rows + other] * c[other]
        out[row] = total
    return rows * rows


def register_view(
    kind: type,
    scores: Callable[[Any, int, Vector, Vector], None],
    add: Callable[[Any, int, Vector, Vector], None],
    gram: Callable[[Any, int, Vector], int] | None = None,
    product: Callable[[Any, int, Vector, Vector, Vector], int] = _rows_product,
) -> None:
    """Register a view, so that compiled loops can read it.

    Parameters
    ----------
    kind : a NamedTuple class whose first field is ``ptr``, as in `Operator.ptr`; other fields are arrays, numbers or
        views.
    scores : plain function ``scores(view, i, w, out)`` that numba can compile; it writes ``A_i w``, the scores of
        example i, to all of ``out``.
    add : ``add(view, i, c, out)``, which adds ``A_i' c`` to ``out``. Both may call `example_scores` and `example_add`
        on a view contained in theirs.
    gram : ``gram(view, i, out)``, which adds the products between the rows of example i to ``out``, row by row, and
        returns their number, the operator's ``gram_sizes[i]``; None for no products. With it, Frank-Wolfe stores
        outputs as coefficients of scores instead of weights.
    product : ``product(view, i, gram, c, out)``, which writes ``A_i A_i' c`` by these products and returns their
        number; the default is for one score per row.

    Examples
    --------
    >>> from typing import Any, NamedTuple
    >>> from structsvm.features.operators import Rows, example_add, example_scores
    >>> class Doubled(NamedTuple):  # twice the rows of another view
    ...     ptr: np.ndarray
    ...     rows: Any
    >>> def scores(view, i, w, out):
    ...     example_scores(view.rows, i, w, out)
    ...     out *= 2.0
    >>> def add(view, i, c, out):
    ...     example_add(view.rows, i, 2.0 * c, out)
    >>> register_view(Doubled, scores, add)
    >>> A = Rows.of([[[1.0, 0.0], [0.0, 2.0]]])
    >>> out = np.empty(2)
    >>> example_scores(Doubled(A.ptr, A.view), 0, np.array([1.0, 10.0]), out)
    >>> out
    array([ 2., 40.])
    """
    if not (issubclass(kind, tuple) and getattr(kind, "_fields", ())[:1] == ("ptr",)):
        raise InputError(f"{kind.__name__} must be a NamedTuple whose first field is ptr")
    pairs: list[tuple[Callable[..., Any], Callable[..., Any]]] = [(example_scores, scores), (example_add, add)]
    if gram is not None:
        pairs += [(example_gram, gram), (example_product, product)]
    for target, function in pairs:
        count = len(signature(target).parameters)
        if len(signature(function).parameters) != count:
            raise InputError(f"{function.__name__} must have {count} arguments, as {target.__name__} has")
        numba.extending.overload(target, jit_options={"fastmath": {"contract"}, "forceinline": True}, strict=False)(
            _for_kind(kind, function)
        )
        _in_python[target, kind] = function
        _functions.append(function)


def _for_kind(kind: type, function: Callable[..., Any]) -> Callable[..., Any]:
    def chosen(view: Any) -> Any:
        return function if getattr(view, "instance_class", None) is kind else None

    # numba requires as many arguments as the function has.
    choices: dict[int, Callable[..., Any]] = {
        3: lambda view, i, out: chosen(view),
        4: lambda view, i, vector, out: chosen(view),
        5: lambda view, i, gram, vector, out: chosen(view),
    }
    return choices[len(signature(function).parameters)]


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
    out[:] = 0.0
    example_add(view, i, c, out)


@_compiled_for_views
def write_product(view: Any, i: int, c: Vector, gram: Vector, out: Vector) -> None:
    """Write ``A_i A_i' c`` by the products between rows, for which ``gram`` has room."""
    gram[:] = 0.0
    example_gram(view, i, gram)
    example_product(view, i, gram, c, out)


@_compiled_for_views
def write_combinations(view: Any, examples: IntVector, c: Vector, out: Matrix) -> None:
    """Write ``A_i' c_i`` of some examples as rows of ``out``; c has one coefficient per score, for all examples."""
    for k in range(len(examples)):
        i = examples[k]
        out[k] = 0.0
        example_add(view, i, c[view.ptr[i] : view.ptr[i + 1]], out[k])
