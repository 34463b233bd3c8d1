"""What is exported of a ranker, and what a format is."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from attrs import field, frozen

from structsvm.estimators.linear import LinearScores
from structsvm.exceptions import InputError
from structsvm.normalisation import ByQuery, Standardised
from structsvm.serving.linear import LinearScorer
from structsvm.settings import checked_names, require_kind
from structsvm.types import Vector

_LARGEST = float(np.finfo(np.float32).max)


@frozen(eq=False)
class Form:
    """A trained ranker as formats write it: ``score = constant + Σ weights[k] · x[k]``.

    Parameters
    ----------
    names : of the features; None where they have none but their numbers.
    weights : of features as they are, shape (d,); with ``by_query``, of features normalised by it.
    constant : what is added.
    standard : means and deviations, where the ranker standardises and a format has a place for them; None: it does not.
    by_query : the normalisation by query that comes first; None: none.

    Examples
    --------
    >>> from structsvm import Ranker
    >>> from structsvm.export import Form
    >>> form = Form.of(Ranker(C=100.0).fit([[0.0, 1.0], [2.0, 1.0]], [0, 1]), ["bm25", "age"])
    >>> dict(zip(form.names, form.weights.tolist(), strict=True)), form.constant
    ({'bm25': 0.125, 'age': 0.0}, 0.0)
    """

    names: tuple[str, ...] | None = field(repr=False)
    weights: Vector = field(repr=False)
    constant: float
    standard: Standardised | None = field(default=None, repr=False)
    by_query: ByQuery | None = None

    @classmethod
    def of(cls, ranker: Any, feature_names: Any = None) -> "Form":
        """Return that of a ranker.

        Parameters
        ----------
        ranker : fitted, and a weighted sum of features: `Ranker`, `RankSVM`, `MaximumEntropy` or `WeightSearch`.
        feature_names : a name for each feature; None: those that the ranker knows, if it does.

        Raises
        ------
        InputError : when it is another ranker, or names are not right.
        """
        if isinstance(ranker, LinearScorer):
            raise InputError(
                "ranker must be a fitted ranker, and this is what structsvm.load returns, which only scores: read the "
                f"same file by {ranker.about.title}.load(path), and export that"
            )
        require_kind("ranker", ranker, LinearScores, "a fitted ranker by a weighted sum of features, such as Ranker()")
        known = ranker.known_names if feature_names is None else feature_names
        if isinstance(ranker.normaliser_, ByQuery):
            weights, constant, by_query = ranker.coef_, ranker.intercept_, ranker.normaliser_
        else:
            (weights, constant), by_query = ranker.raw_weights(), None
        names = None if known is None else checked_names("feature_names", known, len(weights))
        standard = ranker.normaliser_ if isinstance(ranker.normaliser_, Standardised) else None
        return cls(names, weights, float(constant), standard, by_query)

    @property
    def constant_of_normalised(self) -> float:
        """What is added where a normaliser of the target standardises features."""
        means = 0.0 if self.standard is None else float(self.weights @ self.standard.mean)
        return self.constant + means

    @property
    def of_normalised(self) -> Vector:
        """Weights of the features that a normaliser of the target standardises, or of those as they are."""
        return self.weights if self.standard is None else self.weights * self.standard.deviation

    def called(self, format: str) -> tuple[str, ...]:
        """Return the names of the features, for a format that cannot do without.

        Raises
        ------
        InputError : when there are none.
        """
        if self.names is None:
            raise InputError(
                f"{format} calls features by their names, and this model knows {len(self.weights)} by number alone: "
                "give their names, feature_names=[...] (--feature-names FILE, a name a line, on the command line)"
            )
        return self.names

    def require_float32(self, format: str) -> None:
        """Refuse weights that a program which reads them as float32 takes for infinite.

        Raises
        ------
        InputError : when there are any.
        """
        largest = float(np.abs(self.weights).max(initial=0.0))
        if largest > _LARGEST:
            raise InputError(
                f"{format} reads weights as float32, and the largest of this model is {largest:.3g}: scale the "
                "features up, or train with normalise='standard'"
            )


class Format(ABC):
    r"""A format that rankers are exported in. Derive from it and write `write`.

    An entry point in the group ``structsvm.exports`` gives it a name.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm import Ranker
    >>> from structsvm.export import Format, export
    >>> class Weights(Format):
    ...     def write(self, form, path, model_name):
    ...         path.write_text("\n".join(f"{weight:g}" for weight in form.weights))
    >>> ranker = Ranker(C=100.0).fit([[0.0, 1.0], [2.0, 1.0]], [0, 1])
    >>> export(ranker, "weights.txt", Weights())
    ()
    >>> Path("weights.txt").read_text().split()
    ['0.125', '0']
    """

    by_query: ClassVar[bool] = False
    """Whether it can say that features are normalised by query first."""

    constant: ClassVar[bool] = True
    """Whether it has a place for what is added to all scores."""

    @abstractmethod
    def write(self, form: Form, path: Path, model_name: str) -> None:
        """Write a file.

        Parameters
        ----------
        form : what there is to write; normalised by query only where `by_query` is true.
        path : an empty file to fill.
        model_name : what the model shall be called, where the format has names of models.

        Raises
        ------
        InputError : when something is lacking.
        NotInstalledError : when it needs a package that is not there.
        """
