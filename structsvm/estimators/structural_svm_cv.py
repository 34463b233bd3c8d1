"""A structural SVM whose C is chosen by cross-validation."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.choosing import HeldScores, Scoring, SearchCallback, called, part_of
from structsvm.estimators.path_cv import PathCV
from structsvm.estimators.structural_svm import JointEstimator, StructuralSVM
from structsvm.exceptions import InputError, brief
from structsvm.foundation.queries import row_weights
from structsvm.foundation.settings import as_list, place, require_kind
from structsvm.foundation.types import IntVector
from structsvm.problem.checks import number_of, require_pairs
from structsvm.solvers.checkpoint import CheckpointPath


class LabelledExamples(NamedTuple):
    """Training or validation data; ``weight`` None means all 1."""

    X: Any
    y: Any
    weight: Any

    @classmethod
    def checked(cls, estimator: JointEstimator, X: Any, y: Any, weight: Any) -> Self:
        """Check data for `fit` of an estimator, which stores the number of features and their names."""
        xs, ys = estimator._checked(X, y)
        require_pairs(number_of("X", xs), len(ys))
        weights = None if weight is None else row_weights(weight, len(ys), "example")
        inputs = X if hasattr(estimator, "feature_names_in_") else xs
        return cls(inputs if hasattr(inputs, "shape") else as_list("X", inputs, "a list of inputs"), ys, weights)

    def part(self, chosen: IntVector) -> Self:
        """Return some of the examples."""
        return type(self)(*(None if each is None else part_of(each, chosen) for each in self))

    @property
    def groups(self) -> None:
        """None: examples are split one by one."""

    @property
    def units(self) -> str:
        """Plural of the word for the parts of folds."""
        return "examples"

    @property
    def extent(self) -> str:
        """Number of validation examples, in words."""
        return f"{len(self.y)} validation example{'' if len(self.y) == 1 else 's'}"

    @property
    def given(self) -> dict[str, Any]:
        """The arguments of `fit` beside X and y."""
        return {} if self.weight is None else {"sample_weight": self.weight}

    def scores_of(self, estimator: Any, scorings: Mapping[str, Scoring | None]) -> HeldScores:
        """Score a fitted estimator on these examples by each scoring; None is the estimator's own ``score``."""
        return HeldScores(
            [
                float(estimator.score(self.X, self.y, **self.given))
                if scoring is None
                else called(name, scoring, estimator, self)
                for name, scoring in scorings.items()
            ]
        )


class StructuralSVMCV(PathCV):
    """A structural SVM that chooses C on held-out examples, along warm-started paths.

    Each fold of the examples is held out once. The estimator is fitted to the other examples at every C of the grid,
    each fit starting from the weights of the previous one, and scored on the fold. The C with the best mean score is
    then fitted to all examples.

    Parameters
    ----------
    estimator : a `StructuralSVM`; its own C is ignored. None: ``StructuralSVM()``. A `LatentStructuralSVM` is fitted
        anew at each C.
    Cs : the grid; a number n means n values from 1 to 1000, evenly spaced on a logarithmic scale. None: 1, 10, 100 and
        1000.
    cv : number of folds, a splitter of scikit-learn, or a list of (training examples, held-out examples).
    scoring : the criterion: a scorer of scikit-learn, ``scorer(estimator, X, y)``. In a list, the first item chooses C,
        and all are reported. None: the ``score`` of the estimator, one minus the mean loss, in which labels that
        training did not see count as wrong.
    refit : fit the estimator to all examples at the chosen C. False: only choose.
    random_state, n_jobs : as in `RankerCV`.

    Attributes
    ----------
    C_, Cs_, scores_, mean_scores_, best_score_, scores_by_name_, gaps_, interrupted_ : as in `RankerCV`.
    estimator_ : the estimator fitted to all examples at ``C_``; absent with ``refit=False``.
    model_ : the trained model of ``estimator_``.
    n_features_in_, feature_names_in_ : as in `StructuralSVM`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = StructuralSVMCV(Cs=[1.0, 30.0, 1000.0], cv=3).fit(X, y)
    >>> search.scores_.shape, search.C_ in search.Cs_, search.C_ == search.estimator_.C
    ((3, 3), True, True)
    >>> search.predict(X[:2])
    array([0, 0])
    """

    _grid: ClassVar[tuple[int, float, float]] = (4, 1.0, 1000.0)

    def fit(
        self,
        X: Any,
        y: Sequence[Any],
        sample_weight: ArrayLike | None = None,
        validation: Sequence[Any] | None = None,
        callback: SearchCallback | None = None,
        checkpoint: CheckpointPath | None = None,
    ) -> Self:
        """Choose C, and fit the estimator to all examples at this C.

        Ctrl-C during the fits on folds raises KeyboardInterrupt; ``scores_by_name_`` then has the finished folds.

        Parameters
        ----------
        X, y, sample_weight : as in `StructuralSVM.fit`; the mean over held-out examples is also weighted.
        validation : held-out examples (X, y), to choose C by instead of folds. Estimators are then fitted to all
            examples of X, and ``scores_`` has one row. None: folds.
        callback, checkpoint : as in `RankerCV.fit`.

        Warns
        -----
        ConvergenceWarning, GridEndWarning : as `RankerCV.fit`.
        """
        paths = self._paths(callback, checkpoint)
        reader = clone(paths.estimator)
        given = LabelledExamples.checked(reader, X, y, sample_weight)
        held = None
        if validation is not None:
            if not isinstance(validation, tuple | list) or len(validation) != 2:
                raise InputError("validation must be a tuple (X, y)")
            inputs, outputs = validation
            held = LabelledExamples.checked(clone(reader), inputs, outputs, None)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(reader, name):
                setattr(self, name, getattr(reader, name))
        return self._search(paths, given, held)

    def predict(self, X: Any) -> Any:
        """Return the predicted output of each input by ``estimator_``; see `StructuralSVM.predict`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    def score(self, X: Any, y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """Return the score of ``estimator_`` by ``scoring``; see `StructuralSVM.score`."""
        return self._score(LabelledExamples(X, y, sample_weight))

    def _create(self) -> JointEstimator:
        if self.estimator is None:
            return StructuralSVM()
        require_kind(
            place(self, "estimator"), self.estimator, JointEstimator, "a StructuralSVM or a LatentStructuralSVM"
        )
        estimator: JointEstimator = clone(self.estimator)
        return estimator

    def _scoring(self, given: Any, estimator: Any) -> tuple[str, Scoring | None]:
        if given is not None:
            raise InputError(
                f"{place(self, 'scoring')} must be a scorer, such as sklearn.metrics.get_scorer('f1_macro'), a list of "
                f"them, or None, got {brief(given)}"
            )
        return "score", None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
