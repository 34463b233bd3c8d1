import subprocess
import sys

import attrs
import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

import structsvm
from structsvm import Ranker
from structsvm.exceptions import InputError, ModelFileError
from structsvm.foundation.storage.archives import DIGESTS
from structsvm.foundation.storage.files import write_archive
from structsvm.models import Calibration
from structsvm.rankers import RankBoost


def judged(seed, queries=60):
    """Scores of queries of 1 to 12 documents, with probabilities 1 / (1 + exp(1 - 2 score)) of relevance."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(queries), rng.integers(1, 13, queries))
    scores = rng.normal(size=len(qid))
    return scores, (rng.random(len(qid)) < 1.0 / (1.0 + np.exp(1.0 - 2.0 * scores))) * 2.0, qid


def shares(qid):
    return 1.0 / np.bincount(qid)[qid]


def test_isotonic_is_that_of_scikit_learn_with_equal_weights_of_queries():
    scores, y, qid = judged(0)
    least = 1.0 / (len(y) + 2.0)
    expected = IsotonicRegression(y_min=least, y_max=1.0 - least, out_of_bounds="clip").fit(scores, y > 0, shares(qid))
    new = np.concatenate([scores, np.linspace(-9.0, 9.0, 100)])
    for scale in (1.0, 2.0**-60):
        result = Calibration.of(scale * scores, y, qid).probabilities(scale * new)
        np.testing.assert_allclose(result, expected.predict(new), rtol=1e-12)


def test_sigmoid_has_the_largest_likelihood_of_platts_labels():
    scores, y, qid = judged(1)
    result = Calibration.of(1e3 * scores + 5e3, y, qid, method="sigmoid")
    relevant, weights = y > 0, shares(qid)
    target = np.where(relevant, 1.0 - 1.0 / (relevant.sum() + 2.0), 1.0 / ((~relevant).sum() + 2.0))

    def loss(line):
        odds = line[0] * scores + line[1]
        return weights @ (np.logaddexp(0.0, odds) - target * odds)

    slope, intercept = minimize(loss, [1.0, 0.0], tol=1e-10).x
    expected = 1.0 / (1.0 + np.exp(-slope * scores - intercept))
    np.testing.assert_allclose(result.probabilities(1e3 * scores + 5e3), expected, atol=1e-5)


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_probabilities_are_near_the_true_ones_and_never_fall(method):
    result = Calibration.of(*judged(2, 3000), method=method)
    scores = np.sort(judged(3)[0])
    values = result.probabilities(scores)
    assert (np.diff(values) >= 0.0).all()
    assert np.abs(values - 1.0 / (1.0 + np.exp(1.0 - 2.0 * scores))).mean() < 0.02


@pytest.mark.parametrize("method", ["isotonic", "sigmoid"])
def test_a_query_of_weight_2_counts_like_two(method):
    scores, y, qid = judged(4)
    twice = qid < 30
    weighted = Calibration.of(scores, y, qid, 1.0 + twice, method=method).probabilities(scores)
    copies = [np.concatenate([values, values[twice]]) for values in (scores, y)]
    copied = Calibration.of(*copies, np.concatenate([qid, qid[twice] + 100]), method=method).probabilities(scores)
    # Their numbers of documents, and so the labels and the least probability, differ.
    np.testing.assert_allclose(weighted, copied, atol=0.01)
    without = Calibration.of(scores, y, qid, (qid >= 30) * 1.0, method=method)
    kept = Calibration.of(scores[~twice], y[~twice], qid[~twice], method=method)
    np.testing.assert_allclose(without.curve, kept.curve, rtol=1e-6)
    assert str(without) == str(kept)


@pytest.mark.parametrize(
    ("change", "settings", "said"),
    [
        ({"y": lambda y: np.zeros_like(y)}, {}, r"all \d+ documents to calibrate on are not relevant: pass queries"),
        ({"y": lambda y: np.ones_like(y)}, {}, r"all \d+ documents to calibrate on are relevant: pass queries"),
        ({"y": lambda y: y[1:]}, {}, "scores, but y has shape .*: pass one label for each"),
        ({"y": lambda y: np.where(y > 0, np.nan, y)}, {}, "y contains NaN or infinity, first in row"),
        ({"scores": lambda scores: np.log(scores)}, {}, "scores must be finite, one for each document"),
        ({"scores": np.negative}, {}, "higher scores are not more often relevant .*: check that"),
        ({"scores": np.zeros_like}, {}, "higher scores are not more often relevant .*: check that"),
        ({"scores": np.negative}, {"method": "sigmoid"}, "higher scores are not more often relevant .*: check that"),
        ({"scores": np.zeros_like}, {"method": "sigmoid"}, "higher scores are not more often relevant .*: check that"),
        (
            {"qid": lambda qid: qid % 9},
            {},
            "too few queries to calibrate on: 9 with a weight above 0, but 10 are needed. Pass",
        ),
        ({"qid": lambda qid: None}, {}, "too few queries .*: 1 with .* and their ids as qid"),
        ({}, {"method": "platt"}, "method must be 'isotonic' or 'sigmoid', got 'platt'"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*invalid value:RuntimeWarning", "ignore:.*divide by zero:RuntimeWarning")
def test_invalid_data_are_errors(change, settings, said):
    given = dict(zip(("scores", "y", "qid"), judged(5), strict=True))
    with pytest.raises(InputError, match=said):
        Calibration.of(
            **{name: change.get(name, lambda same: same)(value) for name, value in given.items()}, **settings
        )


def rows(seed):
    scores, y, qid = judged(seed)
    return np.column_stack([scores, np.random.default_rng(9).normal(size=len(y))]), y, qid


@pytest.fixture(scope="module", params=["isotonic", "sigmoid"])
def calibrated(request):
    return Ranker(C=10.0).fit(*rows(6)).model_.calibrated(*rows(7), method=request.param)


def test_a_calibrated_model_is_saved_with_its_probabilities(calibrated, tmp_path):
    X, _, qid = rows(8)
    calibrated.save(tmp_path / "m.npz")
    again = structsvm.load(tmp_path / "m.npz")
    again.save(tmp_path / "again.npz")
    assert (tmp_path / "m.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    result = again.predict_proba(X, qid)
    np.testing.assert_array_equal(result, calibrated.predict_proba(X, qid))
    np.testing.assert_array_equal(result.sum(axis=1), 1.0)
    np.testing.assert_array_equal(result[:, 1], calibrated.calibration.probabilities(calibrated.predict(X)))
    np.testing.assert_array_equal(again.predict(X), attrs.evolve(calibrated, calibration=None).predict(X))
    assert again.record["calibration"] == str(calibrated.calibration)
    assert Ranker.load(tmp_path / "m.npz").model_.calibration.text() == calibrated.calibration.text()
    assert again.without_training().calibration is not None


def test_probabilities_need_numpy_alone(calibrated, tmp_path):
    calibrated.save(tmp_path / "m.npz")
    text = (
        "import sys, structsvm; structsvm.load(sys.argv[1]).predict_proba([[1.0, 2.0]]);"
        "print([name for name in ('numba', 'sklearn', 'scipy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", text, tmp_path / "m.npz"], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("change", [np.negative, lambda curve: curve[:1]])
def test_a_damaged_curve_is_refused(calibrated, tmp_path, change):
    calibrated.save(tmp_path / "m.npz")
    arrays = {name: array for name, array in np.load(tmp_path / "m.npz").items() if name != DIGESTS}
    arrays["calibration"] = change(arrays["calibration"])
    write_archive(tmp_path / "m.npz", arrays)
    with pytest.raises(ModelFileError, match="calibration"):
        structsvm.load(tmp_path / "m.npz")


def test_other_rankers_and_a_new_fit():
    X, y, qid = rows(6)
    ranker = RankBoost(5).fit(X, y, qid=qid)
    with pytest.raises(InputError, match=r"this RankBoost is not calibrated, .* use model.calibrated\(X, y, qid\)"):
        ranker.model_.predict_proba(X)
    ranker.model_ = ranker.model_.calibrated(*rows(7))
    assert ranker.model_.predict_proba(X).shape == (len(y), 2)
    assert ranker.fit(X, y, qid=qid).model_.calibration is None
