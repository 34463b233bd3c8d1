"""Describe the abilities of rankers and structural SVMs beyond `fit` and `predict`."""

from inspect import signature
from typing import Any

from attrs import frozen


@frozen(kw_only=True)
class Capabilities:
    """The abilities of an estimator class, stored in its attribute ``capabilities``.

    - ``has_path``: ``path`` trains at several values of C; ``fit`` accepts a callback and a checkpoint.
    - ``has_certificate``: ``result_`` bounds the optimum of the objective from both sides.
    - ``is_staged``: ``fit`` accepts ``validation``, and ``staged_predict`` yields the scores after each training step.
    - ``takes_qid_at_predict``: ``predict`` accepts query ids.
    - ``takes_sparse``, ``takes_missing``: features may be sparse, or NaN.
    - ``takes_preferences``: `Preferences` may replace labels.
    """

    has_path: bool = False
    has_certificate: bool = False
    is_staged: bool = False
    takes_qid_at_predict: bool = False
    takes_sparse: bool = False
    takes_missing: bool = False
    takes_preferences: bool = False


def capabilities_of(ranker: Any) -> Capabilities:
    """Return the record of an estimator or of a class of them; for other libraries, derive it from the methods."""
    declared = getattr(ranker, "capabilities", None)
    if isinstance(declared, Capabilities):
        return declared
    return Capabilities(
        is_staged=hasattr(ranker, "staged_predict"),
        takes_qid_at_predict=takes_argument(ranker, "predict", "qid") or _routes_qid(ranker),
    )


def takes_missing(ranker: Any) -> bool:
    """Return whether features may be NaN, for an estimator that takes them or replaces them by ``missing``."""
    return capabilities_of(ranker).takes_missing or getattr(ranker, "missing", None) is not None


def _routes_qid(ranker: Any) -> bool:
    """Return whether ``predict`` of a pipeline passes query ids on to a step that requests them."""
    if not (hasattr(ranker, "get_metadata_routing") and takes_argument(ranker, "predict", "params")):
        return False
    from sklearn import get_config
    from sklearn.utils.metadata_routing import get_routing_for_object

    if not get_config()["enable_metadata_routing"]:
        return False
    return bool(get_routing_for_object(ranker).consumes("predict", ["qid"]))


def takes_argument(estimator: Any, method: str, name: str) -> bool:
    """Return whether a method of an estimator exists and has a parameter of this name."""
    function = getattr(estimator, method, None)
    return function is not None and name in signature(function).parameters
