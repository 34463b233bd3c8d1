"""Train any model that outputs scores: hinges of losses as functions of scores, for several frameworks.

These names need NumPy only. Import ``structsvm.objectives.for_torch``, ``for_jax``, ``for_pyterrier`` and
``for_ir_measures`` if these frameworks are installed.
"""

from structsvm.objectives.boosting import LightGBMHinge, LightGBMMeasure, XGBoostHinge, XGBoostMeasure
from structsvm.objectives.hinges import Hinge

__all__ = ["Hinge", "LightGBMHinge", "LightGBMMeasure", "XGBoostHinge", "XGBoostMeasure"]
