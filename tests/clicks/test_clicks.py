"""Click logs, propensities and weights, against their definitions and on simulated users."""

from pathlib import Path

import numpy as np
import pytest
import scipy.optimize
from sklearn.exceptions import ConvergenceWarning

from structsvm import Ranker
from structsvm.clicks import (
    ClickLog,
    PositionBias,
    PowerBias,
    simulate,
    weigh,
)
from structsvm.exceptions import DataFormatError, InputError
from structsvm.foundation.types import IntVector, Vector

BIAS = PowerBias(1.0, 6)


def users(queries: int = 150, seed: int = 0) -> tuple[Vector, Vector, IntVector]:
    """Scores of a ranker, chances of clicks, and queries of six documents."""
    rng = np.random.default_rng(seed)
    relevance = np.where(rng.random(6 * queries) < 0.3, 0.9, 0.1)
    return rng.standard_normal(6 * queries) + relevance, relevance, np.repeat(np.arange(queries), 6)


@pytest.mark.parametrize("shown", ["ranked", "swapped", "shuffled"])
def test_simulated_clicks_are_those_of_the_model(shown: str) -> None:
    scores, relevance, qid = users()
    log = simulate(scores, relevance, qid, BIAS, sessions=40, shown=shown)
    assert log.impressions.sum() == 40 * len(qid)
    for place in range(1, 7):
        rows = log.position == place
        expected = BIAS.at(log.position[rows]) * relevance[log.document[rows]] * log.impressions[rows]
        assert log.clicks[rows].sum() == pytest.approx(expected.sum(), abs=5 * np.sqrt(expected.sum()))


def test_documents_behind_the_last_position_are_not_shown() -> None:
    scores, relevance, qid = users(3)
    log = simulate(scores, relevance, qid, PowerBias(1.0, 2), sessions=5)
    assert log.positions == 2
    assert len(log) == 6


@pytest.mark.parametrize("shown", ["ranked", "swapped", "shuffled"])
def test_equal_scores_are_shown_in_an_order_that_does_not_depend_on_the_rows(shown: str) -> None:
    scores, relevance, qid = users()
    scores = scores.round()
    logs = []
    for order in (np.lexsort((-relevance, qid)), np.random.default_rng(2).permutation(len(qid))):
        log = simulate(scores[order], relevance[order], qid[order], BIAS, sessions=3, shown=shown)
        logs.append(np.array([log.qid, log.position, relevance[order][log.document], log.clicks]))
    np.testing.assert_array_equal(*logs)


def test_propensities_come_back_from_clicks() -> None:
    scores, relevance, qid = users()
    shuffled, swapped = (
        simulate(scores, relevance, qid, BIAS, sessions=60, shown=shown) for shown in ("shuffled", "swapped")
    )
    other = np.random.default_rng(1).standard_normal(len(qid))
    rankers = ClickLog.joined(
        [simulate(each, relevance, qid, BIAS, sessions=60, random_state=k) for k, each in enumerate((scores, other))]
    )
    for result in (
        PositionBias.from_randomized(shuffled),
        PositionBias.from_interventions(shuffled),
        PositionBias.from_interventions(swapped),
        PositionBias.from_interventions(rankers),
        PositionBias.from_log(rankers),
    ):
        np.testing.assert_allclose(result.propensity, BIAS.propensity, atol=0.06)
        assert result.propensity[0] == 1.0
    first = PositionBias.from_interventions(swapped, 3)
    np.testing.assert_allclose(first.propensity, BIAS.propensity[:3], atol=0.06)


def test_a_search_that_ends_early_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = scipy.optimize.minimize
    monkeypatch.setattr(
        scipy.optimize, "minimize", lambda *given, options, **named: usual(*given, options={"maxiter": 1}, **named)
    )
    scores, relevance, qid = users()
    with pytest.warns(ConvergenceWarning, match="estimate of propensities did not converge in 1 iterations"):
        PositionBias.from_interventions(simulate(scores, relevance, qid, BIAS, sessions=60, shown="swapped"))


def test_regression_tells_propensities_where_documents_are_at_one_position_alone() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((900, 3))
    relevance = 1.0 / (1.0 + np.exp(1.0 - 2.0 * X[:, 0]))
    log = simulate(rng.standard_normal(900), relevance, np.repeat(np.arange(150), 6), BIAS, sessions=30)
    result = PositionBias.from_log(log, X[log.document])
    np.testing.assert_allclose(result.propensity, BIAS.propensity, atol=0.06)


def test_weights_are_unbiased() -> None:
    scores, relevance, qid = users()
    weights = np.mean(
        [weigh(simulate(scores, relevance, qid, BIAS, random_state=k), BIAS, qid).y for k in range(300)], axis=0
    )
    np.testing.assert_allclose(weights, relevance, atol=5 * np.sqrt(6.0 / 300))
    assert weights.mean() == pytest.approx(relevance.mean(), abs=0.02)


def test_weights_by_hand() -> None:
    log = ClickLog.of([7, 7, 7, 7], [0, 0, 1, 2], [1, 3, 2, 3], [3, 1, 0, 1], [4, 4, 8, 4])
    result = weigh(log, PositionBias([1.0, 0.5, 0.25]), [7, 7, 7, 7], smallest=0.5)
    # document 0: mean propensity (4 + 1) / 8; document 2: 0.25, clipped to 0.5; row 3 was never shown
    np.testing.assert_allclose(result.y, [4 / 8 / 0.625, 0.0, 1 / 4 / 0.5, 0.0])
    assert result.impressions.tolist() == [8, 8, 4, 0]
    assert result.clicks == 5
    u = np.array([1.6] * 4 + [2.0])
    assert result.effective_clicks == pytest.approx(u.sum() ** 2 / (u**2).sum())
    assert result.largest_weight == 2.0
    assert result.clipped == pytest.approx(0.2)
    assert result.unmatched == 0.0
    naive = weigh(log, None, [7, 7], [0, 9])
    np.testing.assert_allclose(naive.y, [0.5, 0.0])
    assert naive.unmatched == pytest.approx(0.2)


def test_weights_lead_to_the_ranker_that_judgments_lead_to() -> None:
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((1200, 2)), np.repeat(np.arange(150), 8)
    y = (X[:, 0] + 0.3 * rng.standard_normal(1200) > 1.0).astype(float)
    bias = PowerBias(1.0, 8)
    log = simulate(X[:, 1], np.where(y > 0, 0.9, 0.1), qid, bias, sessions=30)
    labels = (weigh(log, None, qid).y, weigh(log, bias, qid).y, y)
    naive, weighted, judged = (
        Ranker("weighted_ranks", C=10.0).fit(X, each, qid=qid).score(X, y, qid=qid) for each in labels
    )
    assert judged - naive > 0.05
    assert weighted - naive > 0.9 * (judged - naive)


def test_logs_are_read_from_tables(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("query,doc,position,clicked\nq1,a,1,1\nq1,b,2,0\nq2,a,1,0\n")
    log = ClickLog.read(path, qid="query", document="doc")
    assert log.qid.tolist() == ["q1", "q1", "q2"]
    assert log.document.tolist() == ["a", "b", "a"]
    assert (log.position.tolist(), log.clicks.tolist(), log.impressions.tolist()) == ([1, 2, 1], [1, 0, 0], [1, 1, 1])
    with pytest.raises(InputError, match="no column 'docid'; its columns: 'query', 'doc', 'position', 'clicked'"):
        ClickLog.read(path, qid="query")
    path.write_text("qid\tdocid\tposition\tclicked\tshown\n3\t5\t1\t9\t8\n")
    with pytest.raises(InputError, match=r"log.csv: row 0 of the log has 9 clicks and 8 impressions"):
        ClickLog.read(path, impressions="shown")
    path.write_text("qid\tdocid\tposition\tclicked\n3\t5\tfirst\t1\n")
    with pytest.raises(DataFormatError, match="log.csv"):
        ClickLog.read(path)


def test_invalid_arguments_are_errors() -> None:
    with pytest.raises(InputError, match="position must be a vector of whole numbers from 1, got 0 in row 1"):
        ClickLog.of([1, 1], [1, 2], [1, 0], [0, 0])
    with pytest.raises(InputError, match="vectors of one length"):
        ClickLog.of([1, 1], [1, 2], [1, 2], [0])
    log = ClickLog.of([1, 1, 1], [0, 1, 2], [1, 2, 3], [1, 0, 1])
    with pytest.raises(InputError, match="no document was clicked at position 2"):
        PositionBias.from_randomized(log)
    with pytest.raises(InputError, match="no document was shown at two of the first 3 positions"):
        PositionBias.from_interventions(log)
    shared = ClickLog.of([1, 1, 1], [0, 0, 1], [1, 2, 1], [0, 1, 1])
    with pytest.raises(InputError, match="no document that was also shown at another position was clicked at pos.* 1"):
        PositionBias.from_interventions(shared)
    with pytest.raises(InputError, match="model has 2 positions, but the log has position 3"):
        weigh(log, PositionBias([1.0, 0.5]), [1, 1, 1])
    with pytest.raises(InputError, match="document 0 of query 1 has two rows"):
        weigh(log, None, [1, 1], [0, 0])
    with pytest.raises(InputError, match="no document of the log is among the rows"):
        weigh(log, None, [2, 2])
    unlinked = ClickLog.of([1] * 8, [0, 0, 1, 1, 2, 2, 3, 3], [1, 2, 1, 2, 3, 4, 3, 4], [1] * 8, [2] * 8)
    with pytest.raises(InputError, match="no document links position 3 to position 1"):
        PositionBias.from_interventions(unlinked)
    with pytest.raises(InputError, match="relevance must be a probability"):
        simulate([1.0, 2.0], [0.5, 2.0], [1, 1], BIAS)
    with pytest.raises(InputError, match="propensity must be a vector of positive finite numbers"):
        PositionBias([1.0, 0.0])
    with pytest.raises(InputError, match="the log is empty"):
        PositionBias.from_log(ClickLog.of([], [], [], []))
