"""What a fit gives."""

from typing import Any

from attrs import frozen


@frozen
class Model:
    """A trained model.

    Parameters
    ----------
    predict : gives scores of rows of features.
    gap : certified gap in units of the loss; None where there is no certificate.
    """

    predict: Any
    gap: float | None = None
