"""Explain scores as sums of contributions of features."""

from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.foundation.settings import require_integer
from structsvm.foundation.types import Matrix, Vector


@frozen(eq=False)
class Explanation:
    """Scores as sums of contributions of features: ``base + contributions.sum(axis=1)``, up to rounding.

    Parameters
    ----------
    contributions : each feature's contribution to each row's score, shape (rows, d).
    base : the part of the score without features: the intercept, or the score of an average document.
    feature_names : names of the features; None if they have numbers only.

    Examples
    --------
    >>> from structsvm.models import LinearModel
    >>> model = LinearModel(n_features=2, feature_names=("bm25", "age"), coef=[2.0, -1.0], intercept=0.5)
    >>> explained = model.explain([[1.0, 3.0], [2.0, 1.0]])
    >>> isinstance(explained, Explanation), explained.contributions.tolist(), explained.base
    (True, [[2.0, -3.0], [4.0, -1.0]], 0.5)
    >>> explained.difference(1, 0).as_list()
    [('bm25', 2.0), ('age', 2.0)]
    """

    contributions: Matrix = field(repr=False)
    base: float
    feature_names: tuple[str, ...] | None = field(default=None, repr=False)

    def difference(self, i: int, j: int | None = None) -> "Explanation":
        """Return the contributions to the difference of two rows' scores, as one row whose base is 0.

        Only differences of scores within a query decide its ranking. The contributions add up to the score of row i
        minus the score of row j; the base cancels.

        Parameters
        ----------
        i, j : rows, from 0, of the same query. j may be None: the difference from the mean of all rows.
        """
        other: Vector = self.contributions.mean(axis=0) if j is None else self._row("j", j)
        return Explanation((self._row("i", i) - other)[None], 0.0, self.feature_names)

    def as_list(self, row: int = 0, top: int | None = None) -> list[tuple[str, float]]:
        """Return the names of features with their contributions to a row, the largest in absolute value first.

        Parameters
        ----------
        row : the row, from 0.
        top : largest number of features; None: all.
        """
        require_integer("top", top, 1, optional=True)
        values = self._row("row", row)
        names = self.feature_names or [f"feature {k + 1}" for k in range(len(values))]
        order = sorted(range(len(values)), key=lambda k: -abs(values[k]))
        return [(names[k], float(values[k])) for k in order[:top]]

    def _row(self, what: str, row: int) -> Vector:
        require_integer(what, row, 0)
        if row >= len(self.contributions):
            raise InputError(f"{what} must be a row from 0 to {len(self.contributions) - 1}, got {row}")
        contributions: Vector = self.contributions[row]
        return contributions
