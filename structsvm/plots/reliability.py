"""Plot probabilities of relevance against observed shares."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import require_integer
from structsvm.models.base import model_of
from structsvm.models.calibration import relevance, row_shares
from structsvm.plots.base import Display, require_fitted, vector
from structsvm.plots.style import BLUE, INK, artist_settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import ErrorbarContainer


class ReliabilityDisplay(Display):
    """Reliability diagram: share of relevant documents against mean predicted probability, in bins of probabilities.

    Calibrated probabilities are near the diagonal. All queries have equal weight, as in a calibration. Use queries that
    neither trained nor calibrated the model. The number beside a point counts its documents.

    Bars are Wilson's 95% confidence intervals. Queries are the sample, because documents of a query are dependent: the
    intervals use the effective sample size of Korn and Graubard ("Confidence intervals for proportions with small
    expected number of positive counts estimated from survey data", 1998).

    Parameters
    ----------
    probabilities : probability of relevance of each document, shape (rows,).
    y : labels, shape (rows,); documents with labels above 0 are relevant.
    qid : query id of each row; None: each document is a separate query.
    n_bins : number of bins of equal width; bins without documents are left out.

    Attributes
    ----------
    points_ : the points with their bars.
    predicted, observed : mean probability and share of relevant documents in each bin, shape (bins,).
    low, high : ends of the intervals of the shares, shape (bins,).
    counts : number of documents in each bin, shape (bins,).

    Examples
    --------
    >>> display = ReliabilityDisplay([0.1] * 10 + [0.8] * 10, [0] * 9 + [1] * 9 + [0] * 2).plot()
    >>> display.predicted.round(2).tolist(), display.observed.tolist(), display.counts.tolist()
    ([0.1, 0.8], [0.1, 0.8], [10, 10])
    """

    _size = (4.4, 4.0)

    def __init__(
        self,
        probabilities: ArrayLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        n_bins: int = 10,
    ) -> None:
        shares = vector(probabilities, "probabilities")
        if shares.min() < 0.0 or shares.max() > 1.0:
            raise InputError(
                f"probabilities must be from 0 to 1, got {shares.min():g} to {shares.max():g}: pass "
                "predict_proba(X)[:, 1], not scores"
            )
        require_integer("n_bins", n_bins, 1)
        relevant = relevance(y, len(shares))
        queries = Queries.of(np.arange(len(shares)) if qid is None else qid, len(shares))
        weights = row_shares(queries, np.ones(len(queries)))
        places = np.searchsorted(np.linspace(0.0, 1.0, n_bins + 1)[1:-1], shares, side="right")
        bins = [np.flatnonzero(places == place) for place in np.unique(places)]
        self.queries = len(queries)
        self.counts = np.array([len(rows) for rows in bins])
        self.predicted = np.array([np.average(shares[rows], weights=weights[rows]) for rows in bins])
        self.observed = np.array([np.average(relevant[rows], weights=weights[rows]) for rows in bins])
        ends = [_interval(relevant[rows], weights[rows], queries.number[rows]) for rows in bins]
        self.low, self.high = np.array(ends).T

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        *,
        n_bins: int = 10,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the reliability of a calibrated model on queries that it has not seen.

        Parameters
        ----------
        estimator : the model that `TrainedModel.calibrated` returns, or a ranker with such a ``model_``.
        X, y, qid : features, labels and query ids.
        n_bins : see the class.
        """
        probabilities = model_of(require_fitted(estimator)).predict_proba(X, qid)[:, 1]
        return cls(probabilities, y, qid, n_bins=n_bins).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, **kwargs: Any) -> Self:
        """Draw the plot; ``**kwargs`` are settings of `matplotlib.axes.Axes.errorbar`."""
        with self._drawing(ax) as axes:
            axes.plot([0.0, 1.0], [0.0, 1.0], color=INK, linewidth=0.9, linestyle="--")
            settings = artist_settings("lines.Line2D", {"color": BLUE, "marker": "o"}, kwargs)
            bars = np.abs(np.array([self.low, self.high]) - self.observed)
            self.points_: ErrorbarContainer = axes.errorbar(self.predicted, self.observed, yerr=bars, **settings)
            for x, y, count in zip(self.predicted, self.observed, self.counts.tolist(), strict=True):
                axes.annotate(f"{count:,}", (x, y), (4.0, -9.0), textcoords="offset points", fontsize="small")
            axes.set_title(f"{self.counts.sum():,} documents of {self.queries:,} queries", loc="left")
            axes.set(xlabel="predicted probability of relevance", ylabel="observed share of relevant documents")
        return self


def _interval(relevant: Any, weights: Any, query: Any) -> tuple[float, float]:
    """Return the 95% interval of a share from documents of some queries."""
    from scipy.special import stdtrit

    _, number = np.unique(query, return_inverse=True)
    n = int(number.max()) + 1
    if n == 1:
        return 0.0, 1.0
    share = float(np.average(relevant, weights=weights))
    residuals = np.bincount(number, weights * (relevant - share))
    variance = n / (n - 1) * float(residuals @ residuals) / float(weights.sum()) ** 2
    # The residuals of a share of 0 or 1 are 0, so each query counts once.
    size = max(share * (1.0 - share) / variance, 1.0) if 0.0 < share < 1.0 and variance > 0.0 else float(n)
    z2 = float(stdtrit(n - 1, 0.975)) ** 2 / size
    middle = share + 0.5 * z2
    half = (z2 * (share * (1.0 - share) + 0.25 * z2)) ** 0.5
    return max((middle - half) / (1.0 + z2), 0.0), min((middle + half) / (1.0 + z2), 1.0)
