"""What the readers return."""

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import NDArray

from structsvm.types import Features, IntVector, Vector


@frozen(eq=False, repr=False)
class RankingData:
    """Documents with their features, labels and queries.

    Parameters
    ----------
    X : features, shape (n, d), float64, dense or CSR.
    y : labels, shape (n,), float64.
    qid : query id of each row, shape (n,), integers or strings.
    doc_ids : document id of each row, shape (n,); None when they were not asked for.
    """

    X: Features
    y: Vector
    qid: IntVector | NDArray[np.str_]
    doc_ids: NDArray[np.str_] | None = None

    @property
    def summary(self) -> str:
        """The numbers of queries, documents and features, and how the features are stored, in words."""
        kind = "sparse" if sp.issparse(self.X) else "dense"
        n, d = self.X.shape
        return f"{len(np.unique(self.qid))} queries, {n} documents, {d} features, {kind}"

    def __repr__(self) -> str:
        return f"RankingData({self.summary})"
