"""Format of svm_rank (version 1.00) and SVM-light: ``svm_rank_classify DATA MODEL SCORES``.

https://www.cs.cornell.edu/people/tj/svm_light/svm_rank.html. svm_rank reads weights and features as float32, and sums
in float64.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from structsvm.models import LinearModel
from structsvm.models.export.base import Format, require_float32

_HEAD = (
    "SVM-light Version V6.20",
    "0 # kernel type",
    "3 # kernel parameter -d ",
    "1 # kernel parameter -g ",
    "1 # kernel parameter -s ",
    "1 # kernel parameter -r ",
    "empty# kernel parameter -u ",
)
"""Lines of a linear kernel; svm_rank_classify refuses other versions."""


class SVMRank(Format):
    """A file whose only support vector is the vector of weights; features are numbered from 1."""

    named = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        """Write the weights; svm_rank subtracts the threshold b from scores."""
        require_float32("svm_rank", model.coef)
        path.write_text("\n".join([*self._lines(model), ""]), encoding="ascii")

    def _lines(self, model: LinearModel) -> Iterator[str]:
        yield from _HEAD
        yield f"{len(model.coef)} # highest feature index "
        yield "0 # number of training documents "
        yield "2 # number of support vectors plus 1 "
        yield f"{-model.intercept + 0.0!r} # threshold b, each following line is a SV (starting with alpha*y)"
        there = np.flatnonzero(model.coef)
        yield f"1 {''.join(f'{k + 1}:{model.coef[k]:.9g} ' for k in there.tolist())}#"
