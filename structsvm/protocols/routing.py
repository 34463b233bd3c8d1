"""Query ids handed to whatever takes them: an estimator, or steps of a pipeline."""

from inspect import signature
from typing import Any

from sklearn import config_context
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object

from structsvm.types import IntVector


def call(estimator: Any, method: str, *arguments: Any, qid: IntVector) -> Any:
    """Call a method of an estimator with the queries if it takes them, or hands them on.

    Metadata routing is switched on for the call, so that what a pipeline or a search does with ``qid`` is
    the same whatever the user's setting: every step that requests it gets it, and the last step of a
    pipeline also where its method has such a parameter and no request was made.
    """
    with config_context(enable_metadata_routing=True):
        if isinstance(estimator, Pipeline):
            _request_for(estimator.steps[-1][1], method)
        handed = {"qid": qid} if _takes_qid(estimator, method) else {}
        return getattr(estimator, method)(*arguments, **handed)


def _request_for(step: Any, method: str) -> None:
    request = getattr(step, f"set_{method}_request", None)
    if request is not None and _has_parameter(step, method):
        request(qid=True)


def _takes_qid(estimator: Any, method: str) -> bool:
    routing = get_routing_for_object(estimator)
    return _has_parameter(estimator, method) or "qid" in routing.consumes(method, ["qid"])


def _has_parameter(estimator: Any, method: str) -> bool:
    function = getattr(estimator, method, None)
    return function is not None and "qid" in signature(function).parameters
