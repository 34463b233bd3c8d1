"""Whether a loss ranks rows."""

from typing import Any

import numpy as np

from structsvm.losses import ScoreLoss
from structsvm.operators import Rows


def scores_rows(loss: ScoreLoss[Any], y: Any) -> bool:
    """Say whether a loss gives each row one score, which is what a ranker ranks by.

    Parameters
    ----------
    loss : the loss.
    y : labels that it is to learn.
    """
    features = 2
    return loss.bind(y).operator(Rows.one_each(np.ones((1, features)))).d == features
