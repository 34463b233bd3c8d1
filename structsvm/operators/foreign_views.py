"""Views of other packages."""

from collections.abc import Callable
from inspect import signature
from typing import Any

import numba
from numba.extending import overload

from structsvm.compute.compilation import compiled
from structsvm.exceptions import InputError
from structsvm.operators.views import example_combine, example_scores, write_combined
from structsvm.types import IntVector, Matrix, Vector


def register_view(
    kind: type,
    scores: Callable[[Any, int, Vector, Vector], None],
    combine: Callable[[Any, int, Vector, Vector], None],
) -> None:
    """Let compiled loops read a view of another package.

    Parameters
    ----------
    kind : a NamedTuple class whose first field is ``ptr``, as in `Operator.ptr`; the others are
        arrays, numbers, or views.
    scores : plain function ``scores(view, i, w, out)`` that numba can compile and that writes
        ``A_i w``, the scores of example i, to all of ``out``.
    combine : ``combine(view, i, c, out)``, which writes ``A_i' c`` to all of ``out``. Both may call
        `example_scores` and `example_combine` on a view inside theirs.

    Raises
    ------
    InputError : when the class is of another kind, or a function has other than four arguments.
    """
    if not (issubclass(kind, tuple) and getattr(kind, "_fields", ())[:1] == ("ptr",)):
        raise InputError(f"{kind.__name__} must be a NamedTuple whose first field is ptr")
    for target, function in ((example_scores, scores), (example_combine, combine)):
        if len(signature(function).parameters) != 4:
            raise InputError(f"{function.__name__} must have four arguments, as {target.__name__} has")
        overload(target)(_for_kind(kind, function))


def is_built_in(view: Any) -> bool:
    """Say whether machine code for a numba type of view may be kept on disk.

    Not where a class of another package is in it: numba would not notice when its functions change.
    """
    kind = getattr(view, "instance_class", None)
    return kind is None or (kind.__module__.partition(".")[0] == "structsvm" and all(map(is_built_in, view.types)))


def write_each_combined(view: Any, examples: IntVector, c: Vector, out: Matrix) -> None:
    """Write ``A_i' c_i`` of some examples, one a row of ``out``."""
    loop = write_combined if is_built_in(numba.typeof(view)) else _write_combined_anew
    loop(view, examples, c, out)


def _for_kind(kind: type, function: Callable[..., None]) -> Callable[..., Any]:
    def choose(*arguments: Any) -> Any:
        return function if getattr(arguments[0], "instance_class", None) is kind else None

    choose.__signature__ = signature(function)  # type: ignore[attr-defined]  # numba wants both to be the same
    return choose


_write_combined_anew = compiled(write_combined.py_func, keep=False)  # type: ignore[attr-defined]
