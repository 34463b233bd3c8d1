import signal
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold, cross_val_score

from structsvm import Ranker, RankerCV, Status
from structsvm.exceptions import InputError, OneQueryWarning
from structsvm.losses import AveragePrecision
from structsvm.metrics import AP, NDCG
from structsvm.problem import Problem
from structsvm.rankers import RankSVM
from structsvm.solvers import NSlack, OneSlack
from structsvm.solvers.qp import OSQP, ActiveSet


def test_learns_and_reports(queries):
    X, y, qid = queries
    ranker = Ranker(C=10.0).fit(X, y, qid=qid)
    assert ranker.coef_.shape == (6,)
    assert ranker.intercept_ == 0.0
    assert ranker.n_examples_ == 29
    assert ranker.n_left_out_ == 1
    assert ranker.result_.converged
    assert ranker.score(X, y, qid) > AP().mean(X[:, 0], y, qid)
    np.testing.assert_allclose(ranker.predict(X), X @ ranker.coef_)


def test_max_iter_limits_the_solver(queries):
    for ranker in (Ranker(max_iter=2, tol=1e-9, solver="one-slack"), RankSVM(max_iter=2, tol=1e-9, solver="one-slack")):
        with pytest.warns(ConvergenceWarning):
            assert ranker.fit(*queries).result_.history[-1].iteration == 2


def test_score_is_map_whatever_the_loss_unless_measure_says_otherwise(queries):
    X, y, qid = queries
    ranker = Ranker("roc_area", C=10.0).fit(X, y, qid=qid)
    scores = ranker.predict(X)
    by_query = [average_precision_score(y[qid == q], scores[qid == q]) for q in range(29)]
    assert ranker.score(X, y, qid) == pytest.approx(np.sum(by_query) / 30)
    ranker.set_params(measure="ndcg@5")
    assert ranker.score(X, y, qid) == NDCG(k=5).mean(scores, y, qid)
    ranker.set_params(measure=NDCG(k=5))
    assert ranker.score(X, y, qid) == NDCG(k=5).mean(scores, y, qid)


def test_weights_equal_copies_of_queries(queries):
    X, y, qid = queries
    once = qid < 15
    twice = Ranker(C=20.0, tol=1e-8).fit(X, y, qid=qid, sample_weight=np.where(once, 2.0, 0.0))
    X2, y2 = np.concatenate([X[once]] * 2), np.concatenate([y[once]] * 2)
    qid2 = np.concatenate([qid[once], qid[once] + 100])
    copied = Ranker(C=20.0 * 30 / 29, tol=1e-8).fit(X2, y2, qid=qid2)
    np.testing.assert_allclose(twice.coef_, copied.coef_, atol=1e-4)


def test_score_takes_weights_of_queries(queries):
    X, y, qid = queries
    ranker = Ranker().fit(X, y, qid=qid)
    only = ranker.score(X, y, qid, sample_weight=(qid == 3).astype(float))
    assert only == pytest.approx(ranker.score(X[qid == 3], y[qid == 3], qid[qid == 3]))


def test_warm_start_goes_on_from_the_last_fit(queries):
    X, y, qid = queries
    ranker = Ranker(C=10.0, tol=1e-5, warm_start=True).fit(X, y, qid=qid)
    cold = len(ranker.result_.history)
    assert len(ranker.fit(X, y, qid=qid).result_.history) == 1 < cold
    ranker.set_params(C=20.0).fit(X, y, qid=qid)
    assert len(ranker.result_.history) < len(Ranker(C=20.0, tol=1e-5).fit(X, y, qid=qid).result_.history)


def test_intercept_of_zero_one(queries):
    X, y, _ = queries
    plain = Ranker("zero_one", C=100.0).fit(X, y)
    shifted = Ranker("zero_one", C=100.0, fit_intercept=True, intercept_scaling=5.0).fit(X, y)
    assert plain.intercept_ == 0.0
    assert shifted.intercept_ < 0.0
    assert shifted.result_.primal < plain.result_.primal
    np.testing.assert_allclose(shifted.predict(X), X @ shifted.coef_ + shifted.intercept_)


def test_class_weight(queries):
    X, y, qid = queries
    balanced = Ranker("zero_one", C=10.0, tol=1e-7, class_weight="balanced").fit(X, y)
    weight = {0.0: len(y) / (2 * (y == 0).sum()), 1.0: len(y) / (2 * (y == 1).sum())}
    by_hand = Ranker("zero_one", C=10.0, tol=1e-7, class_weight=weight).fit(X, y)
    np.testing.assert_allclose(balanced.coef_, by_hand.coef_, atol=1e-6)
    with pytest.raises(InputError, match="class_weight is for losses whose examples are rows"):
        Ranker("map", class_weight="balanced").fit(X, y, qid=qid)


@pytest.mark.filterwarnings("ignore:.*is not being used in fit")
def test_score_without_the_qid_that_fit_had_says_how_to_route_it(queries):
    X, y, qid = queries
    ranker = Ranker().fit(X, y, qid=qid)
    with pytest.raises(InputError, match="enable_metadata_routing=True"):
        ranker.score(X, y)


def test_fit_leaves_the_parameters_alone(queries):
    X, y, qid = queries
    solver = OneSlack(tol=1e-2)
    ranker = Ranker("map", C=3, solver=solver, tol=1e-4, measure="NDCG@3")
    before = ranker.get_params()
    ranker.fit(X, y, qid=qid)
    assert ranker.get_params() == before
    assert ranker.result_.tol == 1e-4
    assert solver == OneSlack(tol=1e-2)
    assert Ranker(solver=solver).fit(X, y, qid=qid).result_.tol == 1e-2
    assert clone(ranker).get_params() == before


def test_ctrl_c_returns_the_best_so_far(queries):
    X, y, qid = queries

    def press(step):
        if step.iteration == 3:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(ConvergenceWarning, match="interrupted: this is the best result"):
        ranker = Ranker(C=1e4, tol=1e-9).fit(X, y, qid=qid, callback=press)
    assert ranker.result_.status is Status.INTERRUPTED
    assert np.isfinite(ranker.predict(X)).all()


def test_ctrl_c_between_two_values_of_a_path_returns_those_that_are_done(queries, monkeypatch):
    X, y, qid = queries
    with_C = Problem.with_C

    def press(problem, C):
        if C == 10.0:
            raise KeyboardInterrupt
        return with_C(problem, C)

    monkeypatch.setattr(Problem, "with_C", press)
    assert [ranker.C for ranker in Ranker().path(X, y, qid, Cs=[0.1, 1.0, 10.0])] == [0.1, 1.0]


def test_not_converged_is_a_warning_with_the_gap(queries):
    X, y, qid = queries
    with pytest.warns(ConvergenceWarning, match=r"limit of iterations .* of the optimum, but tol requires 1e-09"):
        Ranker(C=1e4, solver=OneSlack(tol=1e-9, max_iter=2)).fit(X, y, qid=qid)


def test_bad_data(queries):
    X, y, qid = queries
    with pytest.raises(InputError, match=r"qid must be one query id per row.*np.repeat"):
        Ranker().fit(X, y, qid=[12] * 30)
    with pytest.raises(InputError, match=r"these look like group sizes: np.repeat"):
        Ranker().fit(X, y, qid=qid).score(X, y, qid=[12] * 30)
    hole = X.copy()
    hole[7, 3] = np.nan
    for missing in (hole, sp.csr_matrix(hole), pd.DataFrame(hole)):
        with pytest.raises(
            InputError, match=r"NaN. The first is at row 7, column 3\. .*missing=.median.*TreeRanker.*FillMissing"
        ) as caught:
            Ranker().fit(missing, y, qid=qid)
        assert "sklearn" not in str(caught.value)
    with pytest.raises(InputError, match="X has 5 features, but Ranker is expecting 6"):
        Ranker().fit(X, y, qid=qid).predict(X[:, :5])


def test_saved_and_loaded(queries, tmp_path):
    X, y, qid = queries
    ranker = Ranker("zero_one", C=7.0, solver=OneSlack(), fit_intercept=True, measure=NDCG(k=3)).fit(X, y, qid=qid)
    ranker.save(tmp_path / "model.npz")
    loaded = Ranker.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    assert loaded.score(X, y, qid) == ranker.score(X, y, qid)
    assert loaded.result_.history == ranker.result_.history
    assert loaded.result_.status is ranker.result_.status
    assert loaded.get_params()["C"] == 7.0
    loaded.fit(X, y, qid=qid)
    np.testing.assert_array_equal(loaded.coef_, ranker.coef_)
    with pytest.raises(InputError, match="enable_metadata_routing"):
        loaded.score(X, y)


def test_objects_with_settings_come_back_as_they_were(queries, tmp_path):
    X, y, qid = queries
    solver = NSlack(batch=5, backend=OSQP(eps=1e-7))
    ranker = Ranker(AveragePrecision(relevant_from=0.5), solver=solver, warm_start=True).fit(X, y, qid=qid)
    ranker.save(tmp_path / "model.npz")
    loaded = Ranker.load(tmp_path / "model.npz")
    assert loaded.get_params() == ranker.get_params()
    assert loaded.fit(X, y, qid=qid).result_.converged
    weighted = Ranker("zero_one", class_weight={0: 1.0, 1: 2.0}).fit(X, y)
    weighted.save(tmp_path / "model.npz")
    assert Ranker.load(tmp_path / "model.npz").class_weight == {0: 1.0, 1: 2.0}


def test_fits_of_query_losses_without_qid_warn(queries):
    X, y, qid = queries
    said = r"all \d+ rows .* fit\(X, y, qid=qid\).*enable_metadata_routing=True.*'qid': qid.* qid=np.zeros\(len\(y\)\)"
    search = RankerCV(Cs=[1.0, 10.0], cv=[(np.arange(len(y)), np.arange(len(y)))])
    for train in (Ranker("map").fit, Ranker("roc_area").path, search.fit):
        with pytest.warns(OneQueryWarning, match=said) as issued:
            train(X, y)
        assert [warning.filename for warning in issued if warning.category is OneQueryWarning] == [__file__]
    with pytest.warns(OneQueryWarning, match="enable_metadata_routing"):
        cross_val_score(Ranker("map"), X, y, groups=qid, cv=GroupKFold(2))


def test_fits_with_qid_or_of_losses_of_rows_do_not_warn(queries):
    X, y, qid = queries
    with warnings.catch_warnings(), sklearn.config_context(enable_metadata_routing=True):
        warnings.simplefilter("error", OneQueryWarning)
        Ranker("map").fit(X, y, qid=np.zeros(len(y)))
        cross_val_score(Ranker("map"), X, y, cv=GroupKFold(2), params={"qid": qid, "groups": qid})
        for loss in ("zero_one", "f1"):
            Ranker(loss, fit_intercept=True).fit(X, y)


class Nameless(AveragePrecision):
    pass


def test_a_loss_without_a_name_is_saved_well_enough_to_predict(queries, tmp_path):
    X, y, qid = queries
    ranker = Ranker(Nameless()).fit(X, y, qid=qid)
    ranker.save(tmp_path / "model.npz")
    loaded = Ranker.load(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
    assert loaded.score(X, y, qid) == ranker.score(X, y, qid)
    with pytest.raises(InputError, match=r"with the loss 'Nameless\(rel.* set_params\(loss=Nameless\(\.\.\.\)\) first"):
        loaded.fit(X, y, qid=qid)
    with pytest.raises(InputError, match="set_params"):
        loaded.most_violated(X[qid == 0], y[qid == 0])
    loaded.save(tmp_path / "again.npz")
    again = Ranker.load(tmp_path / "again.npz")
    assert repr(again.loss) == repr(Nameless())
    again.set_params(loss=Nameless()).fit(X, y, qid=qid)
    np.testing.assert_array_equal(again.coef_, ranker.coef_)


def test_a_class_called_as_a_registered_name_is_not_taken_for_it(queries, tmp_path):
    X, y, qid = queries
    loss = type("MRR", (Nameless,), {"__repr__": lambda self: "MRR(relevant_from=1)"})()
    Ranker(loss).fit(X, y, qid=qid).save(tmp_path / "model.npz")
    loaded = Ranker.load(tmp_path / "model.npz")
    with pytest.raises(InputError, match=r"trained with the loss 'MRR\(relevant_from=1\)'.* set_params\(loss=MRR\("):
        loaded.fit(X, y, qid=qid)


def test_a_solver_or_backend_without_a_name_is_saved_well_enough_to_predict(queries, tmp_path):
    X, y, qid = queries
    backend = type("Highs", (ActiveSet,), {"__repr__": lambda self: "<Highs>"})()
    for solver in (type("Auto", (OneSlack,), {})(), NSlack(backend=backend)):
        ranker = Ranker(solver=solver).fit(X, y, qid=qid)
        ranker.save(tmp_path / "model.npz")
        loaded = Ranker.load(tmp_path / "model.npz")
        np.testing.assert_array_equal(loaded.predict(X), ranker.predict(X))
        with pytest.raises(
            InputError, match=rf"trained with the solver .* set_params\(solver={type(solver).__name__}\(\.\.\.\)\)"
        ):
            loaded.fit(X, y, qid=qid)
        assert loaded.set_params(solver="one-slack").fit(X, y, qid=qid).result_.converged


def test_a_path_is_the_fits_one_by_one(queries):
    X, y, qid = queries
    template = Ranker("map", tol=1e-6, measure="p@3")
    path = template.path(X, y, qid, Cs=[10.0, 0.1, 1.0])
    assert [ranker.C for ranker in path] == [10.0, 0.1, 1.0]
    assert not hasattr(template, "coef_")
    for ranker in path:
        alone = clone(template).set_params(C=ranker.C).fit(X, y, qid=qid)
        np.testing.assert_allclose(ranker.coef_, alone.coef_, atol=1e-3)
        assert ranker.result_.primal <= alone.result_.primal + 1e-6 * ranker.C
        assert ranker.score(X, y, qid) > 0.0


def test_a_path_ends_where_it_is_stopped(queries):
    X, y, qid = queries
    with pytest.warns(ConvergenceWarning, match="stopped by the callback"):
        path = Ranker().path(X, y, qid, Cs=[1.0, 10.0], callback=lambda step: True)
    assert [ranker.C for ranker in path] == [1.0]


def test_most_violated_of_a_query(queries):
    X, y, qid = queries
    ranker = Ranker(C=10.0, solver="n-slack").fit(X, y, qid=qid)
    seen = ranker.most_violated(X[qid == 4], y[qid == 4], example=4)
    assert seen.output.shape == (12,)
    assert 0.0 <= seen.loss <= 1.0
    assert seen.hinge == pytest.approx(seen.loss - seen.margin)
    assert (ranker.result_.cuts.group[seen.binding] == 4).all()
    assert len(ranker.most_violated(X[qid == 4], y[qid == 4]).binding) > len(seen.binding)


def test_addresses_in_a_repr_are_removed(queries, tmp_path):
    X, y, qid = queries
    loss = type("Mine", (Nameless,), {"__repr__": object.__repr__})()
    Ranker(loss).fit(X, y, qid=qid).save(tmp_path / "model.npz")
    assert repr(Ranker.load(tmp_path / "model.npz").loss) == "Mine(...)"
