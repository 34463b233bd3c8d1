"""A model that scores documents, and what its file says of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.serving.rows import checked_rows, require_finite
from structsvm.types import Vector

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


@frozen
class Description:
    """What a model file says about its model.

    Parameters
    ----------
    kind : the name of its ranker, as in ``structsvm train --ranker NAME``; "ranker" is a `structsvm.Ranker`,
        and "ramp_ranker", which no command trains, a `RampRanker`.
    title : the class of the estimator, whose ``load`` reads the same file.
    n_features : number of features.
    feature_names : their names, where they have any.
    record : the training record: the ``settings`` of the estimator, what was ``fitted`` beside arrays, and under
        ``result`` the bounds of a model that has a certificate.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm import Ranker, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ranker("map", C=5.0).fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).save(Path(folder) / "model.npz")
    ...     about = load(Path(folder) / "model.npz").about
    >>> about.kind, about.n_features, about.record["settings"]["C"]
    ('ranker', 1, 5.0)
    """

    kind: str
    title: str
    n_features: int
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)
    record: Mapping[str, Any] = field(factory=dict, repr=False)


@frozen(eq=False)
class Scorer(ABC):
    """A trained model that scores documents and does nothing else; `structsvm.load` returns one.

    Derive from it and write `_scores`.

    Parameters
    ----------
    about : what its file says about it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm import Ranker, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Ranker().fit([[1.0], [2.0]], [0, 1], qid=[1, 1]).save(Path(folder) / "model.npz")
    ...     load(Path(folder) / "model.npz").predict([[1.0], [2.0]]).argmax()
    np.int64(1)
    """

    takes_sparse: ClassVar[bool] = False
    """Whether features may be sparse."""

    takes_missing: ClassVar[bool] = False
    """Whether features may be NaN."""

    about: Description

    @property
    def spreads(self) -> bool:
        """Whether a feature that is not finite always leads to a score that is not, so that X need not be checked."""
        return False

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.about.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the features; None where they have none but their numbers."""
        return self.about.feature_names

    @property
    def record(self) -> Mapping[str, Any]:
        """The training record; see `Description`."""
        return self.about.record

    def predict(self, X: Any, qid: Any = None) -> Vector:
        """Return the score of each row; within a query, larger is ahead. Shape (rows,).

        Rows that are equal have equal scores, to the last bit.

        Parameters
        ----------
        X : features, shape (rows, n_features), dense, sparse where `takes_sparse`; there may be no rows. An array of
            float64 or float32 whose rows are contiguous is read as it is. If the model has names of features, columns
            of a data frame are found by them, in any order, and further columns are left out; else by position.
        qid : query id of each row, which only a normalisation by query looks at. None: all rows are one query, as those
            of a request are.

        Raises
        ------
        InputError : when X is no such matrix; the words are those of the estimator.
        """
        if not (
            type(X) is np.ndarray
            and X.ndim == 2
            and X.dtype in _FLOATS
            and X.shape[1] == self.about.n_features
            and X.flags.c_contiguous
        ):
            about = self.about
            X = checked_rows(X, about.title, about.n_features, about.feature_names, self.takes_sparse)
        if not self.spreads:
            require_finite(X, missing=self.takes_missing)
            return self._scores(X, qid)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self._scores(X, qid)
            finite = isfinite(np.add.reduce(scores))
        if not finite:
            require_finite(X, missing=False)  # or finite features overflowed on their way to the sum, as they may
        return scores

    @abstractmethod
    def _scores(self, X: NDArray[Any], qid: Any) -> Vector:
        """Return the scores of rows whose shape and type were checked, and of their queries, shape (rows,)."""
