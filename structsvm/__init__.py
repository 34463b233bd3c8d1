"""Structural SVMs with certificates.

A `Ranker` optimises the measure you report; a `StructuralSVM` learns outputs of any kind with
a loss of your own; both tell how far from optimal the result can still be. A `Problem` is what
solvers see, a `Result` what they return.
"""

from typing import TYPE_CHECKING, Any

from structsvm import lazy

if TYPE_CHECKING:
    from structsvm.estimators import Ranker, StructuralSVM
    from structsvm.problem import Problem, most_violated
    from structsvm.result import Result, Status
    from structsvm.serving import load

    __version__: str

__all__ = ["Problem", "Ranker", "Result", "Status", "StructuralSVM", "load", "most_violated"]

_get, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.estimators": ["Ranker", "StructuralSVM"],
        "structsvm.problem": ["Problem", "most_violated"],
        "structsvm.result": ["Result", "Status"],
        "structsvm.serving": ["load"],
    },
)


def __getattr__(name: str) -> Any:
    if name == "__version__":  # said once, in pyproject.toml
        from importlib.metadata import version

        return version("structural-svm")
    return _get(name)
