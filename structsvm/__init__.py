"""Structural SVMs with certificates.

A `Ranker` optimises the measure you report; a `StructuralSVM` learns outputs of any kind with
a loss of your own; both tell how far from optimal the result can still be. A `Problem` is what
solvers see, a `Result` what they return.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from structsvm.estimators import Ranker, StructuralSVM
    from structsvm.problem import Problem, most_violated
    from structsvm.result import Result, Status
    from structsvm.serving import load

    __version__: str

__all__ = ["Problem", "Ranker", "Result", "Status", "StructuralSVM", "load", "most_violated"]

_HOME = {
    "Problem": "structsvm.problem",
    "Ranker": "structsvm.estimators",
    "Result": "structsvm.result",
    "Status": "structsvm.result",
    "StructuralSVM": "structsvm.estimators",
    "load": "structsvm.serving",
    "most_violated": "structsvm.problem",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: scikit-learn and numba take a second to load."""
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name == "__version__":  # said once, in pyproject.toml
        return import_module("importlib.metadata").version("structural-svm")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
