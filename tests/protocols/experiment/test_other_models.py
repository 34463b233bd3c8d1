"""The experiment with models of all kinds: estimators, rounds, scores that depend on the query, values in words."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.features import FillMissing, QueryMinMax
from structsvm.foundation.tables.table import as_text
from structsvm.metrics import AP
from structsvm.protocols import AsGiven, EstimatorModel, Indicators, Results, Scores
from structsvm.protocols.experiment import Settings, run
from structsvm.protocols.experiment.report import write_report
from structsvm.protocols.experiment.report.tables import fits_table, path_table


class MeanRank(BaseEstimator):
    """Fusion that sees only whether scores are missing: the mean of ranks within the query."""

    def fit(self, X, y=None, qid=None):
        return self

    def predict(self, X, qid=None):
        assert np.isnan(X).any()
        scores = np.zeros(len(X))
        for query in np.unique(qid):
            rows = np.flatnonzero(qid == query)
            ranks = np.argsort(np.argsort(np.nan_to_num(X[rows], nan=-np.inf), axis=0, kind="stable"), axis=0)
            scores[rows] = ranks.mean(axis=1)
        return scores


MODELS = (
    EstimatorModel(name="ranker", features=Scores(), estimator=Ranker("map"), grid={"C": (0.1, 10.0)}),
    EstimatorModel(name="fusion", features=AsGiven(), estimator=MeanRank()),
    EstimatorModel(
        name="logistic",
        features=Indicators(5),
        estimator=LogisticRegression(),
        grid={"C": (0.1, 1.0), "fit_intercept": (True, False)},
    ),
    EstimatorModel(
        name="boosting",
        features=Scores(None),
        estimator=GradientBoostingRegressor(n_estimators=6, max_depth=1, random_state=0),
        rounds=(2, 4, 6),
    ),
)
SETTINGS = Settings(trials=2, train=4, validation=3, models=MODELS, variants=["with-best"])


@pytest.mark.slow
def test_they_take_part_and_are_reported(pool, tmp_path):
    results = run(pool, SETTINGS, tmp_path, n_jobs=1)
    values = {model.name: results.fits("with-best", model.name)[0].values for model in MODELS}
    assert values == {
        "ranker": (0.1, 10.0),
        "fusion": ("",),
        "logistic": (
            "C=0.1, fit_intercept=True",
            "C=0.1, fit_intercept=False",
            "C=1.0, fit_intercept=True",
            "C=1.0, fit_intercept=False",
        ),
        "boosting": (2.0, 4.0, 6.0),
    }
    assert Results.load(tmp_path / "results.json") == results
    assert run(pool, SETTINGS, tmp_path, n_jobs=1) == results
    report = write_report(results, tmp_path)
    assert report.page.exists()
    trained = as_text(fits_table(results, "with-best"))
    assert "C=0.1, fit_intercept=True to C=1.0, fit_intercept=False" in trained
    assert "2 to 6" in trained
    rows = [line for line in as_text(path_table(results, "with-best")).splitlines() if line.startswith("fusion ")]
    assert len(rows) == 1
    assert fits_table(results, "with-best").records[1]["at_an_end"] == 0


def test_a_fit_equals_one_by_the_estimator(pool, tmp_path):
    results = run(pool, SETTINGS, tmp_path, n_jobs=1)
    qid = pool.qid
    X = FillMissing(0.0).fit_transform(QueryMinMax().fit_transform(pool.X, qid=qid), qid=qid)
    for trial in results.trials:
        train, validation, test = (np.isin(qid, part) for part in (trial.train, trial.validation, trial.test))
        fits = trial.fits["with-best"]
        for place, C in enumerate((0.1, 10.0)):
            ranker = Ranker("map", C=C).fit(X[train], (pool.y > 0)[train], qid=qid[train])
            mean = AP().mean(ranker.predict(X)[validation], (pool.y > 0)[validation], qid[validation])
            assert abs(fits["ranker"].validation[place] - mean) < 1e-12
        fused = MeanRank().predict(pool.X, qid=qid)
        expected = AP().per_query(fused[test], (pool.y > 0)[test], qid[test]).values
        assert np.allclose(fits["fusion"].queries["map"], expected)


def test_an_error_of_scikit_learn_names_model_and_trial(pool, tmp_path):
    model = EstimatorModel(name="ridge", features=Scores(), estimator=Ridge(alpha=-1.0))
    with pytest.raises(InputError, match="ridge in trial 0, with-best: The 'alpha' parameter of Ridge must be"):
        run(pool, Settings(trials=2, train=4, validation=3, models=model), tmp_path, n_jobs=1)
