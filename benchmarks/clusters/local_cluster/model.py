"""The trained model of a fit."""

from typing import Any

from attrs import frozen


@frozen
class Model:
    """A trained model.

    Parameters
    ----------
    predict : function from rows of features to scores.
    gap : certified gap in units of the loss; None without a certificate.
    """

    predict: Any
    gap: float | None = None
