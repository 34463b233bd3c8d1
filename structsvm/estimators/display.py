"""Show the certificate of an estimator, in words and in notebooks."""

from html import escape
from typing import Any

from sklearn import get_config
from sklearn.utils import estimator_html_repr

from structsvm.registry.capabilities import capabilities_of


def optimum_of(estimator: Any) -> str:
    """Return the bounds of the optimum of a fit, with the gap and its target, in words."""
    result = estimator.result_
    unit = result.C * estimator.gap_unit_
    bounds = (
        f"between {result.dual:.8g} (dual) and {result.primal:.8g} (primal, this model)"
        if result.certified
        else f"at least {result.dual:.8g} (dual); this model is estimated at {result.primal:.8g} (primal), "
        "which may be too low, as the argmax of the loss is inexact"
    )
    return f"{bounds}: gap {result.gap / unit:.2g} * C, target {result.tol * result.C / unit:g} * C"


def notebook_display(estimator: Any, **selection: Any) -> dict[str, str]:
    """Return the texts for IPython: scikit-learn's HTML, with the bounds of a certified fit."""
    shown = {"text/plain": repr(estimator)}
    if get_config()["display"] == "diagram":
        certified = capabilities_of(estimator).has_certificate and hasattr(estimator, "result_")
        certificate = f"<p>optimum {escape(optimum_of(estimator))}</p>" if certified else ""
        shown["text/html"] = estimator_html_repr(estimator) + certificate
    return shown
