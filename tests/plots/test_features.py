"""Displays of importances and of elimination draw their values."""

import numpy as np
import pytest

from structsvm.estimators import FeatureEliminationCV
from structsvm.exceptions import InputError
from structsvm.inspection import query_permutation_importance
from structsvm.models import LinearModel
from structsvm.plots import FeatureEliminationDisplay, FeatureImportanceDisplay


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(80, 4)), np.repeat(np.arange(10), 8)
    return X, (X[:, 1] + rng.normal(size=80) > 1.0).astype(int), qid


def test_importances_are_dots_with_intervals(rows):
    model = LinearModel(n_features=4, coef=[0.1, 1.0, 0.0, 0.3], feature_names=("a", "b", "$c", "d"))
    result = query_permutation_importance(model, *rows)
    display = FeatureImportanceDisplay(result, top=3).plot(color="red")
    assert display.names == tuple(model.feature_names[k] for k in result.order[:3])
    assert display.dots_.get_xdata().tolist() == result.importances[result.order[:3]].tolist()
    assert display.dots_.get_color() == "red"
    # A feature of weight 0 has no interval.
    ends = [segment[:, 0].tolist() for segment in display.intervals_.get_segments()]
    expected = [k for k in result.order[:3].tolist() if k != 2]
    assert ends == [result.intervals[k].tolist() for k in expected]
    assert display.left_out == 1
    assert display.ax_.get_xlabel() == "loss of MAP"
    with pytest.raises(InputError, match="importance must be"):
        FeatureImportanceDisplay([1.0, 2.0])


def test_elimination_is_a_line_with_a_band(rows):
    X, y, qid = rows
    search = FeatureEliminationCV(cv=2, scoring="ndcg@10").fit(X, y, qid=qid)
    display = FeatureEliminationDisplay(search).plot()
    assert display.line_.get_xydata().tolist() == np.column_stack([search.sizes_, search.mean_scores_]).tolist()
    low, high = search.intervals_.T
    drawn = display.band_.get_paths()[0].vertices[:, 1]
    assert {*low, *high} <= {*drawn}
    assert display.chosen_.get_xydata().tolist() == [[search.n_features_, search.best_score_]]
    assert display.ax_.get_ylabel() == "NDCG@10"
    with pytest.raises(InputError, match="search must be"):
        FeatureEliminationDisplay(3)
