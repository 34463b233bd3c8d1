"""Structural SVMs with certificates.

A `Ranker` is trained for the measure that you report. A `StructuralSVM` learns outputs of any kind with any loss. Both
bound the distance of the training objective to its optimum. Solvers minimize a `Problem` and return a `Result`.
"""

from typing import TYPE_CHECKING, Any

from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.estimators import Ranker, RankerCV, StructuralSVM, StructuralSVMCV
    from structsvm.loading import load
    from structsvm.problem import Problem, most_violated
    from structsvm.result import Result, Status

    __version__: str

__all__ = [
    "Problem",
    "Ranker",
    "RankerCV",
    "Result",
    "Status",
    "StructuralSVM",
    "StructuralSVMCV",
    "load",
    "most_violated",
]

_get, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.estimators": ["Ranker", "RankerCV", "StructuralSVM", "StructuralSVMCV"],
        "structsvm.problem": ["Problem", "most_violated"],
        "structsvm.result": ["Result", "Status"],
        "structsvm.loading": ["load"],
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":  # said once, in pyproject.toml
        from importlib.metadata import version

        return version("structural-svm")
    return _get(name)
