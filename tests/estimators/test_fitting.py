"""Warnings of both estimators about a fit whose weights are 0."""

import re
import warnings

import numpy as np
import pytest

from structsvm import Ranker, StructuralSVM
from structsvm.data import load_digits_queries
from structsvm.exceptions import InputError, ZeroWeightsWarning
from structsvm.losses import Loss
from structsvm.solvers import Checkpoint, OneSlack, Solver


@pytest.mark.parametrize("loss", ["ndcg@10(truncated=true)", "p@5(truncated=true)"])
def test_a_ranker_says_that_the_optimum_is_zero_and_what_helps(loss):
    train, _ = load_digits_queries()
    ways = "try full depth, without truncated=true or the loss 'map'$"
    with pytest.warns(
        ZeroWeightsWarning, match=f"w = 0: all scores are equal. .* of {re.escape(loss)} .*{ways}"
    ) as told:
        ranker = Ranker(loss).fit(train.X, train.y, qid=train.qid)
    assert ranker.result_.converged
    assert not ranker.coef_.any()
    assert [each.filename for each in told] == [__file__]
    for better in (loss.partition("(")[0], "map"):
        assert Ranker(better).fit(train.X, train.y, qid=train.qid).coef_.any()


def test_a_path_says_so_at_each_C():
    train, _ = load_digits_queries()
    with pytest.warns(ZeroWeightsWarning) as told:
        Ranker("p@5(truncated=true)").path(train.X, train.y, qid=train.qid, Cs=[1.0, 10.0])
    assert len(told) == 2


def test_no_C_changes_an_optimum_of_zero_up_to_rounding():
    """w = 0 minimizes ½‖w‖² + C H(w) for all C or for none; here the means of both kinds are the same."""
    X, y = np.array([[1.0], [-1.0], [0.0], [0.0]] * 2), np.array([1.0, 1.0, 0.0, 0.0] * 2)
    qid = np.repeat([0, 1], 4)
    for C in (1e-3, 1.0, 1e6):
        with pytest.warns(ZeroWeightsWarning, match="smaller hinge of roc_area .* for any C: try the loss 'map'$"):
            Ranker("roc_area", C=C, tol=1e-12).fit(X, y, qid=qid)


def test_losses_of_sets_say_what_they_are_for():
    X, y, qid = np.ones((6, 2)), np.tile([1.0, 0.0], 3), np.repeat(np.arange(3), 2)
    with pytest.warns(ZeroWeightsWarning, match="prbep .*meant for one sample of rows that the features separate well"):
        Ranker("prbep").fit(X, y, qid=qid)


class Constant(Loss):
    """Two outputs with equal features."""

    def joint_feature(self, x, y):
        return np.ones(2)

    def loss(self, y, y_hat):
        return float(y != y_hat)

    def loss_augmented_argmax(self, x, y, w):
        return 1 - y

    def argmax(self, x, w):
        return 0


def test_a_structural_svm_says_so():
    with pytest.warns(
        ZeroWeightsWarning,
        match="all outputs have the same score. .* smaller hinge of Constant .* check the features$",
    ):
        StructuralSVM(Constant()).fit([0, 1], [0, 1])


def test_weights_that_are_not_zero_and_a_fit_that_did_not_converge_are_not_told_of(queries):
    X, y, qid = queries
    with warnings.catch_warnings():
        warnings.simplefilter("error", ZeroWeightsWarning)
        Ranker("map").fit(X, y, qid=qid)
        with pytest.warns(UserWarning, match="within"):
            stopped = Ranker("map", solver=OneSlack(tol=1e-9)).fit(X, y, qid=qid, callback=lambda step: True)
    assert not stopped.coef_.any()


def test_near_the_optimum_a_smaller_tol_may_do(queries):
    X, y, qid = queries
    with pytest.warns(
        ZeroWeightsWarning,
        match=r"more than .* C, less than tol \* C\..*: try a smaller tol, which shows if [^C]*$",
    ):
        Ranker("map", C=1e-5, tol=2.0).fit(X, y, qid=qid)


@pytest.mark.parametrize("solver", ["auto", "one-slack", "n-slack"])
def test_a_small_C_alone_does_not_leave_the_weights_at_zero(queries, solver):
    X, y, qid = queries
    ranker = Ranker("map", C=1e-6, solver=solver).fit(X, y, qid=qid)
    nearly = Ranker("map", C=1e-6, solver=solver, tol=1e-9).fit(X, y, qid=qid)
    assert ranker.coef_ == pytest.approx(nearly.coef_, rel=1e-3)


class Killed(Exception):
    pass


def kill(C, iteration):
    def callback(step):
        if (step.C, step.iteration) == (C, iteration):
            raise Killed

    return callback


def test_a_fit_goes_on_from_its_checkpoint(queries, tmp_path):
    X, y, qid = queries
    checkpoint = Checkpoint(tmp_path / "fit.npz", every=0)
    with pytest.raises(Killed):
        Ranker(C=10.0, tol=1e-6).fit(X, y, qid=qid, callback=kill(10.0, 3), checkpoint=checkpoint)
    seen = []
    ranker = Ranker(C=10.0, tol=1e-6).fit(X, y, qid=qid, callback=seen.append, checkpoint=checkpoint)
    assert ranker.result_.converged
    assert [step.iteration for step in seen] == list(range(3, len(ranker.result_.history)))
    undisturbed = Ranker(C=10.0, tol=1e-6).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.coef_, undisturbed.coef_, atol=0.01)


def test_a_path_trains_no_value_of_C_again(queries, tmp_path):
    X, y, qid = queries
    checkpoint = Checkpoint(tmp_path / "path.npz", every=0)
    with pytest.raises(Killed):
        Ranker(tol=1e-6).path(X, y, qid, Cs=[100.0, 1.0, 10.0], callback=kill(10.0, 2), checkpoint=checkpoint)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["path.C=1.0.npz", "path.C=10.0.npz"]
    seen = []
    rankers = Ranker(tol=1e-6).path(X, y, qid, Cs=[100.0, 1.0, 10.0], callback=seen.append, checkpoint=checkpoint)
    first = [next(step.iteration for step in seen if step.C == C) for C in (1.0, 10.0, 100.0)]
    assert [sum(step.C == 1.0 for step in seen), *first[1:]] == [1, 2, 0]
    assert all(ranker.result_.converged for ranker in rankers)
    for ranker, other in zip(rankers, Ranker(tol=1e-6).path(X, y, qid, Cs=[100.0, 1.0, 10.0]), strict=True):
        assert abs(ranker.result_.primal - other.result_.primal) <= 1e-6 * ranker.C


def test_a_structural_svm_goes_on_too(tmp_path):
    X, y = np.random.default_rng(0).standard_normal((60, 5)), np.arange(60) % 3
    X[:, 0] += y
    checkpoint = Checkpoint(tmp_path / "fit.npz", every=0)
    with pytest.raises(Killed):
        StructuralSVM(C=300.0).fit(X, y, callback=kill(300.0, 3), checkpoint=checkpoint)
    svm = StructuralSVM(C=300.0).fit(X, y, checkpoint=checkpoint)
    assert svm.result_.converged
    assert svm.result_.history[:4] == checkpoint.read().history[:4]


def test_a_solver_that_keeps_no_checkpoints_says_so(queries, tmp_path):
    class Plain(Solver):
        name, tol = "plain", 1e-3

        def solve(self, problem, start=None, callback=None):
            return OneSlack().solve(problem, start, callback)

    X, y, qid = queries
    assert Ranker(solver=Plain()).fit(X, y, qid=qid).result_.converged
    with pytest.raises(InputError, match="the solver Plain supports no checkpoints: its solve has no argument"):
        Ranker(solver=Plain()).fit(X, y, qid=qid, checkpoint=tmp_path / "fit.npz")


def test_no_weights_is_said_only_if_it_is_proved() -> None:
    X, y = np.array([[1e-8], [-1e-8], [3e-8], [-2e-8]]), np.array([1.0, 0.0, 1.0, 0.0])
    with pytest.warns(ZeroWeightsWarning) as small:
        Ranker("map", C=1e-4).fit(X, y, qid=np.zeros(4))
    assert "No weights lower the objective of map on these data at C = 0.0001" in str(small[0].message)
    with pytest.warns(ZeroWeightsWarning, match="No weights have a smaller hinge of map on these data, for any C"):
        Ranker("map", C=1e-4).fit(np.array([[1.0], [1.0], [2.0], [2.0]]), y, qid=np.zeros(4))
