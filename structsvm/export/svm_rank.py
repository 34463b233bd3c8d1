"""Model files of svm_rank (version 1.00), which are those of SVM-light: ``svm_rank_classify DATA MODEL SCORES``.

https://www.cs.cornell.edu/people/tj/svm_light/svm_rank.html. It reads weights and features as float32, and adds up in
float64.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from structsvm.export.base import Form, Format

_HEAD = (
    "SVM-light Version V6.20",
    "0 # kernel type",
    "3 # kernel parameter -d ",
    "1 # kernel parameter -g ",
    "1 # kernel parameter -s ",
    "1 # kernel parameter -r ",
    "empty# kernel parameter -u ",
)
"""Of a linear kernel; another version is refused by svm_rank_classify."""


class SVMRank(Format):
    """A file with one support vector, which is the vector of weights; features are numbered from 1."""

    def write(self, form: Form, path: Path, model_name: str) -> None:
        """See `Format.write`; the threshold b is what is subtracted from scores."""
        form.require_float32("svm_rank")
        path.write_text("\n".join([*self._lines(form), ""]), encoding="ascii")

    def _lines(self, form: Form) -> Iterator[str]:
        yield from _HEAD
        yield f"{len(form.weights)} # highest feature index "
        yield "0 # number of training documents "
        yield "2 # number of support vectors plus 1 "
        yield f"{-form.constant + 0.0!r} # threshold b, each following line is a SV (starting with alpha*y)"
        there = np.flatnonzero(form.weights)
        yield f"1 {''.join(f'{k + 1}:{form.weights[k]:.9g} ' for k in there.tolist())}#"
