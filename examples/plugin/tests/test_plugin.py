"""Whether the loss, the backend, the format and the click model are right, and the names lead to them."""

import numpy as np
import pytest
from structsvm_example.dcg import DCG
from structsvm_example.piqp_backend import PIQP

from structsvm import Ranker
from structsvm.clicks import simulate, weigh
from structsvm.exceptions import InputError
from structsvm.models.export import export
from structsvm.registry import backends, losses
from structsvm.solvers.qp import DualQP
from structsvm.testing import check_backend, check_loss


@pytest.mark.parametrize("loss", [DCG(), DCG(k=3), DCG(k=2, discount=3.0)], ids=repr)
def test_the_loss_is_right(loss):
    check_loss(loss)


def test_a_loss_by_hand():
    y, ranking = np.array([1.0, 0.0, 1.0, 0.0]), np.array([3.0, 4.0, 1.0, 2.0])  # relevant at ranks 2 and 4
    assert DCG(discount=2.0).loss(y, ranking) == pytest.approx(1 - (1 + 1 / 2) / (1 + 1))
    assert DCG(k=3).loss(y, ranking) == pytest.approx(1 - 1 / 2)
    assert DCG(discount=3.0).loss(y, ranking) == pytest.approx(1 - (1 + np.log(3) / np.log(4)) / 2)


@pytest.mark.parametrize("discount", [1.0, 0.5, np.inf, np.nan])
def test_what_is_no_base_is_refused(discount):
    with pytest.raises(InputError, match="is the base of a logarithm: a finite number above 1, got"):
        DCG(discount=discount)


def test_the_backend_is_right():
    check_backend(PIQP())


def test_an_attempt_that_ends_early_is_handed_over():
    qp = DualQP(np.diag([1.0, 2.0, 3.0]), np.ones(3), np.zeros(3, np.int64), np.ones(1), tol=1e-12)
    solution = PIQP(max_iter=1).solve(qp)
    assert solution.handed_over
    assert qp.gap(solution.a) <= 1e-12


def test_the_format_has_names_and_weights(tmp_path):
    ranker = Ranker(C=100.0).fit([[0.0, 1.0], [2.0, 1.0]], [0, 1], qid=[1, 1])
    assert export(ranker, tmp_path / "m.csv", "csv", feature_names=["bm25", "age"]) == ()
    rows = [line.split(",") for line in (tmp_path / "m.csv").read_text().splitlines()]
    assert [row[0] for row in rows] == ["feature", "bm25", "age", "(intercept)"]
    assert [float(row[1]) for row in rows[1:]] == [*ranker.coef_, 0.0]


def test_relevance_is_found_behind_clicks_by_mistake():
    relevance = np.array([0.0, 1.0, 0.5, 0.0])
    log = simulate([4.0, 3.0, 2.0, 1.0], relevance, None, "trust(trust=1)", sessions=100_000)
    assert log.clicks[0] > 40_000
    weighted = weigh(log, "trust(trust=1)", [0] * 4)
    np.testing.assert_allclose(weighted.y, relevance, atol=0.03)


def test_names_lead_to_all_of_them():
    assert losses.create("dcg") == DCG()
    assert losses.create("dcg@5(discount=3)") == DCG(k=5, discount=3.0)
    assert backends.create("piqp-dense") == PIQP()
