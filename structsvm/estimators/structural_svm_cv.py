"""A structural SVM whose C is chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.ranker_cv import RankerCV
from structsvm.estimators.saving import chosen_model, save_chosen, set_features
from structsvm.estimators.search import Grid, Scoring, SearchCallback, as_scorings, held_scores, search_C
from structsvm.estimators.structural_svm import JointEstimator, StructuralSVM
from structsvm.exceptions import InputError, brief
from structsvm.foundation.settings import place, require_kind
from structsvm.solvers.checkpoint import CheckpointPath
from structsvm.training.examples import ExampleData


class StructuralSVMCV(JointEstimator):
    """A structural SVM that chooses C on held-out examples, along warm-started paths.

    Each fold of the examples is held out once. The estimator is fitted to the other examples at every C of the grid,
    each fit starting from the weights of the previous one, and scored on the fold. Last, the estimator is fitted to all
    examples at the C with the best mean score.

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

    estimator_: Any

    __init__ = RankerCV.__init__

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
        svm = self._unfitted()
        grid = Grid.of(self, svm, (4, 1.0, 1000.0), callback, checkpoint)
        scorings = self._scorings()
        check = partial(ExampleData.of, type(svm).__name__, loss=None)
        data = grid.read((X, y, sample_weight), check)
        held = None
        if validation is not None:
            if not isinstance(validation, tuple | list) or len(validation) != 2:
                raise InputError("validation must be a tuple (X, y)")
            held = grid.read((*validation, None), check)
        set_features(self, data.n_features, data.names)
        search_C(self, grid, scorings, data, held)
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted output of each input by ``estimator_``; see `StructuralSVM.predict`."""
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    def score(self, X: Any, y: Sequence[Any], sample_weight: ArrayLike | None = None) -> float:
        """Return the score of ``estimator_`` by ``scoring``; see `StructuralSVM.score`."""
        check_is_fitted(self, "estimator_")
        name, scoring = next(iter(self._scorings().items()))
        weight: Any = sample_weight
        held = ExampleData(type(self).__name__, X, y, weight, inputs=X)
        return held_scores({name: scoring}, self.estimator_, held).scores[0]

    save = save_chosen
    model_ = property(chosen_model)

    def _unfitted(self) -> JointEstimator:
        if self.estimator is None:
            return StructuralSVM()
        require_kind(
            place(self, "estimator"), self.estimator, JointEstimator, "a StructuralSVM or a LatentStructuralSVM"
        )
        svm: JointEstimator = clone(self.estimator)
        return svm

    def _scorings(self) -> dict[str, Scoring | None]:
        def resolve(scoring: Any) -> tuple[str, None]:
            if scoring is not None:
                raise InputError(
                    f"{place(self, 'scoring')} must be a scorer, such as sklearn.metrics.get_scorer('f1_macro'), a "
                    f"list of them, or None, got {brief(scoring)}"
                )
            return "score", None

        return as_scorings(self.scoring, resolve)
