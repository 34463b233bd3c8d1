"""Problems on partitions have the numbers of one machine for any number of partitions."""

from itertools import permutations
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.distributed import DistributedProblem, InProcess, Partition
from structsvm.distributed.shard import PointRequest, Shard, library_versions
from structsvm.exceptions import CheckError, ClusterError, InputError
from structsvm.features.operators import BinnedMatrix
from structsvm.foundation.types import Matrix, Vector
from structsvm.problem import Problem
from structsvm.problem.fingerprint import fingerprint, same
from structsvm.result import Result
from structsvm.solvers import Checkpoint, FrankWolfe, NSlack, OneSlack
from structsvm.solvers.auto import Auto
from tests.distributed.queries import assert_same_optimum
from tests.slow import slow
from tests.small_problems import PlainROCArea, ranking_arrays


class Rough(PlainROCArea):
    """A loss whose argmax may miss the best output."""

    exact = False


def parts_of(X: Any, y: Vector, qid: Vector, K: int, weights: Vector | None = None) -> list[Partition]:
    """Split rows into K partitions of whole queries, some of them empty if there are fewer queries."""
    of_row = (qid * K) // (qid.max() + 1)
    return [
        Partition(X[of_row == k], y[of_row == k], qid[of_row == k], None if weights is None else weights[of_row == k])
        for k in range(K)
    ]


def both(K: int, loss: Any = "map", C: float = 10.0, seed: int = 0, **sizes: Any) -> tuple[Problem, DistributedProblem]:
    X, y, qid = ranking_arrays(seed, **{"queries": 12, "documents": 6, "d": 4, **sizes})
    spread = DistributedProblem.from_queries(InProcess(), parts_of(X, y, qid, K), loss=loss, C=C)
    return Problem.from_queries(X, y, qid, loss=loss, C=C), spread


def stored(kind: str, X: Matrix) -> Any:
    if kind == "binned":
        codes = np.clip(np.round(np.abs(X)), 0, 3).astype(np.int64)
        return BinnedMatrix(codes, np.arange(0, 4 * X.shape[1] + 1, 4))
    return {"float32": X.astype(np.float32), "sparse": sp.csr_array(X), "dense": X}[kind]


@settings(max_examples=25)
@given(
    seed=st.integers(0, 999),
    K=st.integers(1, 40),
    loss=st.sampled_from(["map", "roc_area", "zero_one", "ndcg", "ndcg@3", "mrr", PlainROCArea()]),
    kind=st.sampled_from(["dense", "float32", "sparse", "binned"]),
    weighted=st.booleans(),
    intercept=st.sampled_from([0.0, 0.5]),
    pulled=st.booleans(),
)
def test_bounds_are_equal_to_the_last_bit(
    seed: int, K: int, loss: Any, kind: str, weighted: bool, intercept: float, pulled: bool
) -> None:
    rng = np.random.default_rng(seed)
    X, y, qid = ranking_arrays(seed, queries=int(rng.integers(1, 30)), documents=6, d=3)
    kappa = rng.uniform(0.0, 2.0, int(qid.max()) + 1)[qid] if weighted else None
    A, C = stored(kind, X), float(rng.uniform(0.1, 1000.0))
    one = Problem.from_queries(A, y, qid, loss=loss, C=C, sample_weight=kappa, intercept=intercept)
    spread = DistributedProblem.from_queries(
        InProcess(), parts_of(A, y, qid, K, kappa), loss=loss, C=C, intercept=intercept
    )
    assert (spread.n, spread.d, spread.used, spread.left_out) == (one.n, one.d, one.used, one.left_out)
    assert spread.total_cap == one.total_cap
    if pulled:
        terms = {name: rng.uniform(0.1, 10.0, one.d) for name in ("center", "penalty", "linear")}
        one, spread = one.regularized(**terms), spread.regularized(**terms)
    for problem, other in ((one, spread), (one.with_C(0.3 * C), spread.with_C(0.3 * C))):
        w = rng.standard_normal(one.d)
        here, there = problem.at(w), other.at(w)
        planes, spread_planes = problem.planes(here), other.planes(there)
        assert problem.primal(planes, here) == other.primal(spread_planes, there)
        cut, spread_cut = problem.cut(planes), other.cut(spread_planes)
        assert (pytest.approx(cut.L, rel=1e-9, abs=1e-9) if pulled else cut.L) == spread_cut.L
        np.testing.assert_allclose(cut.g, spread_cut.g, rtol=1e-12, atol=1e-12 * np.abs(cut.g).max(initial=1.0))


@pytest.mark.parametrize("bounds", [None, ([-0.2, -1.0, 0.0, -9.0], [0.1, 1.0, 5.0, 9.0])])
@pytest.mark.parametrize("K", [1, 5])
def test_regularizers_and_bounds_need_no_calls(K: int, bounds: Any) -> None:
    center, penalty = np.array([1.0, -2.0, 0.0, 3.0]), np.array([0.1, 1.0, 10.0, 0.5])
    whole, plain = both(K, C=100.0)
    one, spread = (problem.regularized(center=center, penalty=penalty, bounds=bounds) for problem in (whole, plain))
    assert not same(fingerprint(spread), fingerprint(plain))
    calls = spread.traffic.calls
    origin = spread.origin()
    assert spread.traffic.calls == calls
    assert spread.primal(spread.planes(origin), origin) == one.primal(one.planes(one.origin()), one.origin())
    result = OneSlack(tol=1e-6).solve(spread)
    assert_same_optimum(result, OneSlack(tol=1e-6).solve(one))
    by_hand = 0.5 * penalty @ (result.w - center) ** 2
    point = one.at(one.from_weights(result.w))
    assert result.primal == pytest.approx(by_hand + one.hinge(one.planes(point), point), rel=1e-12)
    if bounds is not None:
        assert (result.w >= bounds[0]).all()
        assert (result.w <= bounds[1]).all()
    again = OneSlack(tol=1e-6).solve(spread, start=result)
    assert len(again.history) < 4


def test_a_round_takes_at_most_four_calls() -> None:
    _, spread = both(4, C=1000.0, queries=60, documents=20, d=10)
    calls = [spread.traffic.calls]
    result = OneSlack(tol=1e-4).solve(spread, callback=lambda step: calls.append(spread.traffic.calls))
    rounds = len(result.history) - 1
    assert rounds > 5
    assert max(np.diff(calls[2:-1])) <= 4 + 1  # one more after twenty rounds, when scores are made afresh
    assert calls[-1] - calls[1] <= 4 * rounds + 1 + rounds // 20


@pytest.mark.slow
def test_bytes_of_a_round_depend_on_features_only() -> None:
    per_shard = []
    for documents in (10, 40):
        _, spread = both(4, C=100.0, queries=40, documents=documents, d=50)
        OneSlack(tol=1e-3).solve(spread)
        rounds = [call for call in spread.cluster.log if call.name in ("line_values", "hinge_and_cut")]
        per_shard.append((max(call.down for call in rounds), max(call.up for call in rounds)))
        assert max(call.down for call in rounds) <= 8 * (50 + 40)
        assert max(call.up for call in rounds) <= 8 * (50 + 60)
    assert abs(per_shard[0][0] - per_shard[1][0]) < 8 * 5


@pytest.mark.parametrize("pulled", [False, True])
@pytest.mark.parametrize("every", [2, *slow(1, 3)])
def test_lost_scores_change_no_bit(every: int, pulled: bool) -> None:
    class Forgetful(InProcess):
        asked = 0

        def ask(self, function: Any, shards: Any, *arguments: Any) -> Any:
            self.asked += 1
            if self.asked % every == 0 and function in (Shard.line_values, Shard.hinge_and_cut):
                shards[self.asked % len(shards)]._scores.clear()
            return super().ask(function, shards, *arguments)

    X, y, qid = ranking_arrays(1, queries=20, documents=8, d=4)
    one = Problem.from_queries(X, y, qid, C=50.0)
    spread, calm = (
        DistributedProblem.from_queries(cluster, parts_of(X, y, qid, 4), C=50.0)
        for cluster in (Forgetful(), InProcess())
    )
    if pulled:
        terms = {"center": np.full(4, 0.5), "penalty": np.array([0.5, 1.0, 2.0, 4.0])}
        one, spread, calm = (problem.regularized(**terms) for problem in (one, spread, calm))
    result, expected, undisturbed = (OneSlack(tol=1e-6).solve(problem) for problem in (spread, one, calm))
    assert_same_optimum(result, expected)
    assert [(step.primal, step.dual) for step in result.history] == [
        (step.primal, step.dual) for step in undisturbed.history
    ]
    np.testing.assert_array_equal(result.w, undisturbed.w)
    point = one.at(one.from_weights(result.w))
    assert result.primal == pytest.approx(one.primal(one.planes(point), point) + one.constant, rel=1e-12)


@pytest.mark.parametrize("solver", [FrankWolfe(), NSlack()])
def test_only_one_slack_solves_distributed_problems(solver: Any) -> None:
    spread = both(2)[1]
    with pytest.raises(InputError, match="use OneSlack"):
        solver.solve(spread)
    assert isinstance(Auto().choose(spread), OneSlack)


def test_a_start_from_another_C_saves_rounds() -> None:
    one, spread = both(3, C=1.0, queries=40)
    first = OneSlack(tol=1e-5).solve(spread)
    warm = OneSlack(tol=1e-5).solve(spread.with_C(2.0), start=first)
    cold = OneSlack(tol=1e-5).solve(one.with_C(2.0))
    assert warm.converged
    assert abs(warm.primal - cold.primal) <= 4e-5
    assert len(warm.history) < len(cold.history)


def test_the_fingerprint_depends_on_data_and_partitions() -> None:
    first, *others = [fingerprint(both(K, seed=seed)[1]) for K, seed in ((3, 0), (3, 0), (4, 0), (3, 1))]
    assert [same(first, other) for other in others] == [True, False, False]


@pytest.mark.parametrize("ended", ["max_iter", "callback", "interrupt"])
def test_lost_workers_at_the_end_leave_a_checkpoint(ended: str, tmp_path: Any) -> None:
    class Mortal(InProcess):
        dead = False

        def total(self, *asked: Any) -> Any:
            if self.dead:
                raise ClusterError("all workers are gone")
            return super().total(*asked)

    cluster, file = Mortal(), tmp_path / "fit.npz"
    X, y, qid = ranking_arrays(0, queries=40, documents=6, d=4)
    problem = DistributedProblem.from_queries(cluster, parts_of(X, y, qid, 2), C=1000.0)

    def callback(step: Any) -> bool:
        cluster.dead = step.iteration == 4
        if cluster.dead and ended == "interrupt":
            raise KeyboardInterrupt
        return cluster.dead and ended == "callback"

    solver = OneSlack(tol=1e-9, max_iter=4 if ended == "max_iter" else 100)
    with pytest.raises(ClusterError, match=r"all workers are gone. The same fit resumes from .*fit\.npz"):
        solver.solve(problem, callback=callback, checkpoint=Checkpoint(file, every=60.0))
    assert len(Result.load(file).history) == 5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda parts: [], "no partitions"),
        (lambda parts: [Partition(part.X[:0], part.y[:0], part.qid[:0]) for part in parts], "partitions are empty"),
        (lambda parts: 3, "parts must be a list of partitions"),
        (lambda parts: [None], "partition 0 must be a Partition with X of shape .* got NoneType"),
        (lambda parts: [parts[0], (parts[1].X,)], "partition 1 must be a Partition with X of shape .* got tuple"),
        (lambda parts: parts[0], "partition 0 must be a Partition with X of shape .* got ndarray"),
        (lambda parts: [Partition([[1.0]], [1], [1])], "partition 0 must .* got one with a list for X"),
        (lambda parts: [*parts, parts[0]], "query 0 is in partition 0 and in partition 2"),
        (lambda parts: [parts[0], parts[1]._replace(qid=parts[1].qid - 1)], "query 3 is in partition 0 and in p"),
        (lambda parts: [part._replace(qid=(part.qid // 8).astype(str)) for part in parts], "query 0 is in partition 0"),
        (lambda parts: [parts[0], parts[1]._replace(X=parts[1].X[:, 1:])], "4 features, but partition 1 has 3"),
        (lambda parts: [part._replace(y=None) for part in parts], "no labels"),
        (lambda parts: [parts[0], parts[1]._replace(y=parts[1].y[1:])], "partition 1: "),
        (lambda parts: [part._replace(y=0.0 * part.y) for part in parts], "cannot learn from any"),
        (lambda parts: [part._replace(sample_weight=0.0 * part.y) for part in parts], "sample_weight is zero"),
        (lambda parts: [parts[0], parts[1]._replace(X=np.full_like(parts[1].X, np.nan))], "partition 1: example 0"),
    ],
)
def test_unusable_partitions_are_errors_with_their_titles(change: Any, said: str) -> None:
    X, y, qid = ranking_arrays(0, queries=8, documents=5, d=4)
    with pytest.raises(InputError, match=said):
        OneSlack().solve(DistributedProblem.from_queries(InProcess(), change(parts_of(X, y, qid, 2))))


class NotAugmented(PlainROCArea):
    """The argmax leaves out the loss."""

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Any:
        return self.argmax(scores)


def test_a_failing_check_names_the_partition() -> None:
    X, y, qid = ranking_arrays(0, queries=8, documents=5, d=4)
    with pytest.raises(CheckError, match=r"(?s)^partition 0: NotAugmented\..* found before the fit"):
        DistributedProblem.from_queries(InProcess(), parts_of(X, y, qid, 2), loss=NotAugmented())


def test_a_partition_without_weight_and_points_outside_of_bounds_have_the_same_objective() -> None:
    X, y, qid = ranking_arrays(0, queries=10, documents=5, d=4)
    kappa = (qid >= 5).astype(float)
    one = Problem.from_queries(X, y, qid, sample_weight=kappa)
    spread = DistributedProblem.from_queries(InProcess(), iter(parts_of(X, y, qid, 2, kappa)))
    assert spread.n == 10
    for whole, parts, w in (
        (one, spread, np.ones(4)),
        (one.regularized(bounds=(1.0, 2.0)), spread.regularized(bounds=(1.0, 2.0)), np.zeros(4)),
    ):
        here, there = whole.at(w), parts.at(w)
        assert whole.primal(whole.planes(here), here) == parts.primal(parts.planes(there), there)


def test_rebuilt_partitions_with_other_data_are_errors() -> None:
    X, y, qid = ranking_arrays(0, queries=4, documents=5, d=4)
    full, empty, other = Partition(X, y, qid), Partition(X[:0], y[:0], qid[:0]), Partition(X + 1.0, y, qid)
    shards = [
        DistributedProblem.from_queries(InProcess(), [full._replace(qid=qid + 4), part]).shards[1]
        for part in (full, empty, other)
    ]
    for before, after in permutations(shards, 2):
        assert before.require_digest(before.summary().digest) is before
        # Without a digest, a change is not detected.
        assert after.require_digest(None) is after
        with pytest.raises(InputError, match="partition 1 was read again"):
            after.require_digest(before.summary().digest)


def test_tasks_with_another_C_do_not_interfere() -> None:
    class Asked(Shard):
        """A shard that another task asks for another C as soon as its problem has the first C."""

        @property
        def problem(self) -> Problem | None:
            return self.part

        @problem.setter
        def problem(self, part: Problem | None) -> None:
            self.part = part
            if part is not None and part.C == 3.0:
                self.of(7.0, 12)

    whole = both(1)[1].shards[0].problem
    problem = Asked(whole, "").of(3.0, 12)
    assert problem is not None
    assert problem.C == 3.0


def test_tasks_that_drop_the_same_scores_do_not_interfere() -> None:
    class Emptied(dict[int, Any]):
        def __iter__(self) -> Any:
            tokens = list(self.keys())
            if len(tokens) > 4:
                self.pop(tokens[0])
            return iter(tokens)

    shard = both(1)[1].shards[0]
    shard._scores = Emptied()
    for token in range(8):
        assert shard.point(shard.problem, PointRequest(token, np.ones(4))) is not None
    assert len(shard._scores) <= 4


def test_other_versions_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    present = library_versions()
    monkeypatch.setattr("structsvm.distributed.problem.library_versions", lambda: present | {"numba": "0.1"})
    with pytest.raises(InputError, match=r"the worker of partition 0 has other versions.*numba .* \(here 0.1\)"):
        both(2)


def test_an_inexact_argmax_is_estimated() -> None:
    one, spread = both(3, Rough(), C=10.0)
    result, expected = (OneSlack(tol=1e-3).solve(problem) for problem in (spread, one))
    assert not result.certified
    assert result.dual <= expected.primal + 1e-2
    assert result.primal == pytest.approx(expected.primal, rel=1e-2)


def test_saved_results_have_calls_and_bytes(tmp_path: Any) -> None:
    one, spread = both(3, C=100.0)
    for problem in (one, spread):
        result = OneSlack().solve(problem)
        result.save(tmp_path / "result.npz")
        again = Result.load(tmp_path / "result.npz")
        assert again.history == result.history
    assert 0 < result.history[1].calls < result.history[-1].calls
    assert 0 < result.history[1].sent < result.history[-1].sent
    assert {(step.calls, step.sent) for step in OneSlack().solve(one).history} == {(0, 0)}
