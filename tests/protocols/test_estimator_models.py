"""Estimators as models: grids, rounds, queries, classifiers."""

import weakref

import numpy as np
import pytest
from attrs import evolve
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, StandardScaler
from sklearn.svm import SVR

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.features import FillMissing, QueryMinMax, QueryPercentiles, Thresholds
from structsvm.fusion import CombMNZ, WeightedCombSUM
from structsvm.protocols import AsGiven, EstimatorModel, Indicators, RankingSVM, Scores
from structsvm.protocols.svm_models import ClassificationSVM
from structsvm.rankers import RankBoost
from structsvm.result import Status
from tests.protocols.experiment.conftest import scored_documents

RAW, Y, QID = scored_documents(6, 30, 3)
Y[::7] *= 2.0
X = Scores().within_queries(RAW, QID)


class InRounds(BaseEstimator):
    """Round r adds r times the column r mod d. Counts how often it goes through its rounds."""

    def __init__(self, n_estimators=6, scale=1.0):
        self.n_estimators = n_estimators
        self.scale = scale

    def fit(self, X, y, qid=None):
        assert qid is not None
        self.runs_ = 0
        return self

    def staged_predict(self, X):
        self.runs_ += 1
        scores = np.zeros(len(X))
        for number in range(1, self.n_estimators + 1):
            scores += self.scale * number * X[:, number % X.shape[1]]
            yield scores


class OfTheQuery(BaseEstimator):
    """Scores that depend on the query, like the scores of fusion; without training."""

    def fit(self, X, y=None, qid=None):
        self.fitted_ = True
        return self

    def predict(self, X, qid=None):
        return np.asarray(qid, dtype=float)


def test_a_ranker_gets_the_queries_and_one_candidate_for_each_value():
    model = EstimatorModel(name="r", features=AsGiven(), estimator=Ranker("map"), grid={"C": (0.1, 10)})
    candidates = model.candidates(X, Y, QID)
    assert [candidate.value for candidate in candidates] == [0.1, 10.0]
    for candidate in candidates:
        expected = Ranker("map", C=candidate.value).fit(X, Y, qid=QID).predict(X)
        assert candidate.scores(X, QID) == pytest.approx(expected)
        assert candidate.seconds > 0.0
    assert model.estimator.C == 1.0


@pytest.fixture(autouse=True, params=[False, True], ids=["plain", "routing"])
def metadata_routing(request):
    """Nothing here depends on how the user has set scikit-learn's metadata routing."""
    with config_context(enable_metadata_routing=request.param):
        yield


def test_the_last_step_of_a_pipeline_gets_the_queries():
    pipeline = make_pipeline(StandardScaler(), Ranker("map"))
    (candidate,) = EstimatorModel(name="p", features=AsGiven(), estimator=pipeline).candidates(X, Y, QID)
    scaled = StandardScaler().fit_transform(X)
    assert candidate.scores(X, QID) == pytest.approx(Ranker("map").fit(scaled, Y, qid=QID).predict(scaled))
    assert candidate.value == ""


def test_the_last_step_gets_the_queries_without_a_request():
    pipeline = make_pipeline(FunctionTransformer(), OfTheQuery())
    (candidate,) = EstimatorModel(name="o", features=AsGiven(), estimator=pipeline).candidates(RAW, Y, QID)
    assert candidate.scores(RAW, QID + 5).tolist() == (QID + 5.0).tolist()


def test_transformers_of_queries_get_them_inside_a_pipeline():
    pipeline = make_pipeline(QueryPercentiles(), FillMissing(), LogisticRegression())
    (candidate,) = EstimatorModel(name="q", features=AsGiven(), estimator=pipeline).candidates(RAW, Y, QID)
    percentiles = FillMissing().fit_transform(QueryPercentiles().fit_transform(RAW, qid=QID), qid=QID)
    expected = LogisticRegression().fit(percentiles, Y > 0).decision_function(percentiles)
    assert candidate.scores(RAW, QID) == pytest.approx(expected)


def test_a_search_gets_the_queries():
    folds = [(np.flatnonzero(QID < 3), np.flatnonzero(QID >= 3))]
    search = GridSearchCV(Ranker("map"), {"C": [0.1, 10.0]}, cv=folds)
    (candidate,) = EstimatorModel(name="s", features=AsGiven(), estimator=search).candidates(X, Y, QID)
    with config_context(enable_metadata_routing=True):
        expected = search.fit(X, Y, qid=QID).predict(X)
    assert candidate.scores(X, QID) == pytest.approx(expected)
    assert not np.array_equal(expected, GridSearchCV(Ranker("map"), {"C": [0.1, 10.0]}, cv=folds).fit(X, Y).predict(X))


def test_a_regressor_learns_the_grades_and_a_classifier_who_is_relevant():
    (ridge,) = EstimatorModel(name="l", features=AsGiven(), estimator=Ridge()).candidates(X, Y, QID)
    assert ridge.scores(X, QID) == pytest.approx(Ridge().fit(X, Y).predict(X))
    (logistic,) = EstimatorModel(name="l", features=AsGiven(), estimator=LogisticRegression()).candidates(X, Y, QID)
    assert logistic.scores(X, QID) == pytest.approx(LogisticRegression().fit(X, Y > 0).decision_function(X))
    forest = RandomForestClassifier(5, random_state=0)
    (trees,) = EstimatorModel(name="t", features=AsGiven(), estimator=forest).candidates(X, Y, QID)
    assert trees.scores(X, QID) == pytest.approx(forest.fit(X, Y > 0).predict_proba(X)[:, 1])


def test_values_of_a_grid_of_several_parameters_are_text():
    grid = {"alpha": (1.0, 10.0), "fit_intercept": (True, False)}
    model = EstimatorModel(name="g", features=AsGiven(), estimator=Ridge(), grid=grid)
    candidates = model.candidates(X, Y, QID)
    assert [candidate.value for candidate in candidates] == [
        "alpha=1.0, fit_intercept=True",
        "alpha=1.0, fit_intercept=False",
        "alpha=10.0, fit_intercept=True",
        "alpha=10.0, fit_intercept=False",
    ]
    assert candidates[3].scores(X, QID) == pytest.approx(Ridge(alpha=10.0, fit_intercept=False).fit(X, Y).predict(X))
    switch = EstimatorModel(name="s", features=AsGiven(), estimator=Ridge(), grid={"fit_intercept": (False,)})
    assert [candidate.value for candidate in switch.candidates(X, Y, QID)] == ["fit_intercept=False"]


def test_indicators_for_estimators_that_know_only_arrays():
    binned = Thresholds(5).fit_transform(RAW)
    model = EstimatorModel(name="i", features=Indicators(5), estimator=LogisticRegression())
    (candidate,) = model.candidates(binned, Y, QID)
    expected = LogisticRegression().fit(binned.tocsr(), Y > 0).decision_function(binned.tocsr())
    assert candidate.scores(binned, QID) == pytest.approx(expected)


def test_weights_may_be_sparse():
    binned = Thresholds(5).fit_transform(RAW)
    model = EstimatorModel(name="i", features=Indicators(1), estimator=SVR(kernel="linear"))
    (candidate,) = model.candidates(binned, Y, QID)
    assert np.ptp(candidate.scores(binned, QID) - binned.tocsr() @ candidate.weights) < 1e-9


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"grid": {"alpa": (1.0,)}}, "e: Ridge has no parameter 'alpa'; it has alpha, "),
        ({"grid": {"alpha": ()}}, "no values for 'alpha'"),
        ({"grid": {"alpha": 1}}, r"a list of values for 'alpha', as \[1\]; it has 1"),
        ({"grid": {"solver": "svd"}}, r"a list of values for 'solver', as \['svd'\]; it has 'svd'"),
        ({"grid": ["alpha"]}, "grid must be a dict"),
        ({"estimator": Ridge}, r"e: .* object, Ridge\(\.\.\.\)"),
        ({"estimator": "ridge"}, "e: the estimator must have fit"),
        ({"features": None}, "e: features must be a map of features"),
        ({"features": AsGiven}, "e: features must be a map of"),
        ({"rounds": (1,)}, "no staged_predict"),
        *(({"rounds": rounds}, "must be whole numbers") for rounds in (5, "5", (1.5, 2))),
        *(
            ({"estimator": InRounds(), "rounds": rounds}, "must ascend from 1 or more")
            for rounds in ((), (0, 1), (2, 1), (1, 1))
        ),
    ],
)
def test_invalid_settings_are_errors(settings, message):
    with pytest.raises(InputError, match=message):
        EstimatorModel(**{"name": "e", "features": AsGiven(), "estimator": Ridge(), **settings})


@pytest.mark.parametrize("model", [RankingSVM, ClassificationSVM])
def test_svms_need_a_feature_map(model):
    with pytest.raises(InputError, match="r: features must be"):
        model(name="r", features=None, Cs=(1.0,), **({"loss": "map"} if model is RankingSVM else {}))


@pytest.mark.parametrize("relevant", [0.0, 1.0])
@pytest.mark.parametrize(
    "model",
    [
        EstimatorModel(name="t", features=AsGiven(), estimator=RandomForestClassifier(2)),
        EstimatorModel(name="p", features=AsGiven(), estimator=make_pipeline(StandardScaler(), LogisticRegression())),
        ClassificationSVM(name="c", features=AsGiven(), Cs=(1.0,), balanced=True),
    ],
    ids=lambda model: model.name,
)
def test_one_kind_of_documents_teaches_a_classifier_nothing(model, relevant):
    with pytest.raises(InputError, match="training document is relevant"):
        model.candidates(X, np.full(len(X), relevant), QID)


def test_a_solver_that_was_interrupted_ends_the_fit(monkeypatch):
    model = Ranker("map").fit(X, Y, qid=QID).model_
    training = evolve(model.training, result=evolve(model.training.result, status=Status.INTERRUPTED))

    def fit(self, X, y, qid=None):
        self.model_ = evolve(model, training=training)
        return self

    monkeypatch.setattr(Ranker, "fit", fit)
    for estimator in (Ranker("map"), make_pipeline(StandardScaler(), Ranker("map"))):
        with pytest.raises(KeyboardInterrupt):
            EstimatorModel(name="r", features=AsGiven(), estimator=estimator).candidates(X, Y, QID)


def test_each_number_of_rounds_is_a_candidate_and_the_rounds_are_gone_through_once():
    model = EstimatorModel(name="s", features=AsGiven(), estimator=InRounds(), rounds=range(2, 7, 2))
    candidates = model.candidates(X, Y, QID)
    fitted = InRounds().fit(X, Y, QID)
    stages = [scores.copy() for scores in fitted.staged_predict(X)]
    assert [candidate.value for candidate in candidates] == [2.0, 4.0, 6.0]
    for candidate in candidates:
        assert candidate.scores(X, QID) == pytest.approx(stages[int(candidate.value) - 1])
    boosted = candidates[0].scores.args[0]
    assert boosted.runs_ == 1
    other = X[:10].copy()
    assert candidates[2].scores(other, QID[:10]) == pytest.approx(stages[5][:10])
    assert candidates[0].scores(X, QID) == pytest.approx(stages[1])
    assert boosted.runs_ == 3


def test_early_stopping_repeats_the_last_round():
    model = EstimatorModel(name="s", features=AsGiven(), estimator=InRounds(3), rounds=(1, 3, 9))
    first, third, ninth = model.candidates(X, Y, QID)
    assert ninth.scores(X, QID).tolist() == third.scores(X, QID).tolist() != first.scores(X, QID).tolist()
    empty = EstimatorModel(name="s", features=AsGiven(), estimator=InRounds(0), rounds=(1,))
    with pytest.raises(InputError, match="staged_predict yields no scores"):
        empty.candidates(X, Y, QID)[0].scores(X, QID)


def test_boosting_that_finds_nothing_to_learn_scores_what_it_predicts():
    model = EstimatorModel(name="s", features=AsGiven(), estimator=RankBoost(3), rounds=(1, 3))
    same = np.ones_like(X)
    with pytest.warns(UserWarning, match="no threshold of a feature"):
        candidates = model.candidates(same, Y, QID)
    for candidate in candidates:
        assert candidate.scores(same, QID).tolist() == [0.0] * len(X)


def test_the_gap_of_the_last_step_of_a_pipeline_is_that_of_its_candidate():
    pipeline = make_pipeline(MinMaxScaler(), Ranker(tol=1e-2))
    (candidate,) = EstimatorModel(name="p", features=AsGiven(), estimator=pipeline).candidates(X, Y, QID)
    result = candidate.scores.args[0][-1].result_
    assert candidate.gap == max(result.gap, 0.0) / result.C
    (plain,) = EstimatorModel(name="r", features=AsGiven(), estimator=Ridge()).candidates(X, Y, QID)
    assert plain.gap is None


def test_rounds_and_a_grid():
    model = EstimatorModel(
        name="s", features=AsGiven(), estimator=InRounds(), rounds=(1, 4), grid={"scale": (1.0, -1.0)}
    )
    candidates = model.candidates(X, Y, QID)
    assert [candidate.value for candidate in candidates] == [
        "scale=1.0, rounds=1",
        "scale=1.0, rounds=4",
        "scale=-1.0, rounds=1",
        "scale=-1.0, rounds=4",
    ]
    assert candidates[3].scores(X, QID) == pytest.approx(-candidates[1].scores(X, QID))
    assert candidates[1].seconds == pytest.approx(3.0 * candidates[0].seconds)


def test_one_matrix_of_scores_is_kept_for_a_whole_grid():
    model = EstimatorModel(
        name="s", features=AsGiven(), estimator=InRounds(), rounds=(1, 4), grid={"scale": range(1, 9)}
    )
    candidates = model.candidates(X, Y, QID)
    first = weakref.ref(candidates[0].scores(X, QID).base)
    for candidate in candidates:
        candidate.scores(X, QID)
    assert {candidate.scores.args[0].runs_ for candidate in candidates} == {1}
    assert first() is None


def test_maps_of_scores():
    assert Scores().within_queries(RAW, QID) == pytest.approx(
        FillMissing(0.0).fit_transform(QueryMinMax().fit_transform(RAW, qid=QID))
    )
    filled = Scores(None).within_queries(RAW, QID)
    assert filled == pytest.approx(FillMissing("min").fit_transform(RAW, qid=QID))
    assert Scores(None).transformer().fit(filled).transform(filled) is filled
    unchanged = AsGiven().within_queries(RAW, QID)
    assert AsGiven().transformer().fit(unchanged).transform(unchanged) is RAW
    with pytest.raises(InputError, match="Scores"):
        Scores("ranks")


@pytest.mark.parametrize(
    "model",
    [
        EstimatorModel(name="ridge", features=Scores(), estimator=Ridge()),
        EstimatorModel(name="classifier", features=Scores(), estimator=LogisticRegression()),
        EstimatorModel(name="fusion", features=AsGiven(), estimator=WeightedCombSUM("none")),
        RankingSVM(name="SVM-map", features=Scores(), loss="map", Cs=(0.1, 1.0)),
        ClassificationSVM(name="SVM", features=Scores(), Cs=(1.0,), fit_intercept=True),
    ],
    ids=lambda model: model.name,
)
def test_scores_are_the_sum_of_weighted_features_and_a_constant(model):
    for candidate in model.candidates(X, Y, QID):
        rest = candidate.scores(X, QID) - X @ candidate.weights
        # Classifiers score in float32.
        assert np.ptp(rest) < 1e-6


@pytest.mark.parametrize(
    "estimator",
    [RankBoost(3), RandomForestClassifier(3), make_pipeline(MinMaxScaler(), Ridge()), CombMNZ()],
    ids=lambda estimator: type(estimator).__name__,
)
def test_others_tell_no_weights(estimator):
    (candidate,) = EstimatorModel(name="other", features=Scores(), estimator=estimator).candidates(X, Y > 0, QID)
    assert candidate.weights is None
