"""Errors about arguments: they name the class, and equivalents of arguments of other libraries, such as ``group``."""

from collections.abc import Callable, Collection
from functools import wraps
from inspect import Parameter, signature
from types import FunctionType
from typing import Any, TypeVar

from structsvm.exceptions import InputTypeError

T = TypeVar("T")

_SIZES = ("group", "group_sizes")
"""Names of the sizes of queries in LightGBM and XGBoost, and common variants."""

_IDS = ("groups", "group_id", "query_id", "query_ids", "qids")
"""Names of query ids in scikit-learn's splitters and CatBoost, and common variants."""

_HELD_OUT = ("eval_set", "eval_group", "eval_qid", "eval_metric", "early_stopping_rounds")
"""Arguments for held-out data and early stopping in LightGBM, XGBoost and CatBoost."""


_START = ("init_score", "base_margin", "baseline")
"""Arguments for scores to begin with in LightGBM, XGBoost and CatBoost."""


def own_init(kind: type) -> None:
    """Give a class with another's ``__init__`` a copy with its name, which Python's messages about arguments show."""
    inherited: Any = kind.__init__  # type: ignore[misc]
    name = f"{kind.__qualname__}.__init__"
    if not isinstance(inherited, FunctionType) or inherited.__qualname__ == name:
        return
    init: Any = FunctionType(
        inherited.__code__, inherited.__globals__, "__init__", inherited.__defaults__, inherited.__closure__
    )
    init.__kwdefaults__, init.__annotations__ = inherited.__kwdefaults__, inherited.__annotations__
    init.__module__, init.__doc__ = kind.__module__, inherited.__doc__
    init.__qualname__ = name
    kind.__init__ = init  # type: ignore[misc]


def explain_foreign_arguments(kind: type) -> None:
    """Let the methods of a class name their equivalents of arguments of other libraries."""
    for name in ("fit", "path", "score", "predict"):
        if name in vars(kind):
            setattr(kind, name, explains_foreign_arguments(vars(kind)[name]))


def explains_foreign_arguments(method: Callable[..., T]) -> Callable[..., T]:
    """Make a method name its own equivalent if it receives an argument of another library; it keeps its signature."""
    parameters = signature(method).parameters
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())

    @wraps(method)
    def checked(self: Any, *args: Any, **named: Any) -> T:
        unknown = [word for word in named if word not in parameters]
        if unknown:
            label = f"{type(self).__name__}.{method.__name__}"
            for word in unknown:
                if word in (*_SIZES, *_IDS, *_HELD_OUT, *_START):
                    raise InputTypeError(f"{label} has no {word}: {_way_out(word, parameters)}")
            if not takes_any:
                raise TypeError(f"{label}() got an unexpected keyword argument {unknown[0]!r}")
        return method(self, *args, **named)

    return checked


def _way_out(word: str, parameters: Collection[str]) -> str:
    if word in _HELD_OUT:
        if "validation" in parameters:
            return "held-out queries are validation=(X, y, qid) here, and the parameter measure judges them"
        return "fit uses no held-out data: fit a path over C, and choose by score(X, y, qid) of other queries"
    if word in _START:
        return "scores of another model cannot be a start here; pass them as one more column of X, which gets a weight"
    if "qid" not in parameters:
        return "the score of a row does not depend on its query"
    if word in _IDS:
        return f"the query id of each row is qid here: pass qid={word}"
    return (
        "it takes qid, the query id of each row, and not the sizes of queries, as LightGBM does: "
        f"qid=np.repeat(np.arange(len({word})), {word})"
    )
