"""Losses as objectives: the hinge of any loss as a function of scores, for any model that learns scores.

`hinge` and `Hinge` need NumPy alone, and so do `LightGBMHinge`, `LightGBMMeasure`, `XGBoostHinge` and `XGBoostMeasure`,
which LightGBM and XGBoost call. ``structsvm.objectives.for_torch``, ``for_jax``, ``for_pyterrier`` and
``for_ir_measures`` are imported by those who have these.
"""

from structsvm.objectives.for_lightgbm import LightGBMHinge, LightGBMMeasure
from structsvm.objectives.for_xgboost import XGBoostHinge, XGBoostMeasure
from structsvm.objectives.hinges import Hinge, HingeValues, hinge

__all__ = [
    "Hinge",
    "HingeValues",
    "LightGBMHinge",
    "LightGBMMeasure",
    "XGBoostHinge",
    "XGBoostMeasure",
    "hinge",
]
