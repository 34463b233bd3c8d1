"""Wide sparse features: fits use the columns that have an entry, and weights are 0 in all others."""

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm import Ranker, Result, Status, StructuralSVM
from structsvm.exceptions import InputError, TooLargeError
from structsvm.features import BinnedMatrix
from structsvm.features.operators.occupied import narrowed, occupied
from structsvm.rankers import RankSVM

WIDTH = 10**8
RNG = np.random.default_rng(0)
COLUMNS = np.sort(RNG.choice(WIDTH, 12, replace=False))
NARROW = RNG.standard_normal((60, 12))
Y, QID = (NARROW[:, 0] + RNG.standard_normal(60) > 0).astype(float), np.repeat(np.arange(6), 10)
CSR = sp.csr_array(NARROW)
TAGS = np.array(["a", "b", "c"])[NARROW[:, :3].argmax(axis=1)]


def wide(X=NARROW, columns=COLUMNS, width=WIDTH):
    rows, places = np.nonzero(X)
    return sp.csr_array((X[rows, places], (rows, columns[places])), shape=(len(X), width))


@pytest.mark.parametrize(
    "ranker", [Ranker(tol=1e-5), Ranker("zero_one", tol=1e-5, fit_intercept=True), RankSVM(tol=1e-5)], ids=repr
)
def test_a_ranker_of_wide_features_is_that_of_the_occupied_columns(ranker, tmp_path):
    expected = ranker.fit(CSR, Y, QID)
    coef, intercept, scores = expected.coef_, getattr(expected, "intercept_", 0.0), expected.predict(CSR)
    primal = expected.result_.primal
    ranker.fit(wide(), Y, QID)
    assert ranker.coef_.shape == (WIDTH,)
    np.testing.assert_allclose(ranker.coef_[COLUMNS], coef, rtol=1e-9)
    assert np.array_equal(ranker.result_.columns, COLUMNS)
    assert ranker.result_.primal == pytest.approx(primal, rel=1e-12)
    np.testing.assert_allclose(ranker.predict(wide()), scores, rtol=1e-9)
    other = wide(columns=COLUMNS - 1)  # columns that no row had in fit count for nothing
    np.testing.assert_allclose(ranker.predict(other), intercept, rtol=1e-9, atol=1e-12)
    if isinstance(ranker, Ranker):
        ranker.save(tmp_path / "m.npz")
        assert (tmp_path / "m.npz").stat().st_size < 100_000
        loaded = Ranker.load(tmp_path / "m.npz")
        assert loaded.n_features_in_ == WIDTH
        assert np.array_equal(loaded.predict(wide()), ranker.predict(wide()))
        rows = slice(0, 1 if ranker.loss != "map" else 10)
        assert ranker.most_violated(wide()[rows], Y[rows]).loss >= 0.0


def test_classes_and_sequences(tmp_path):
    expected = StructuralSVM(tol=1e-5).fit(CSR, TAGS)
    svm = StructuralSVM(tol=1e-5).fit(wide(), TAGS)
    assert svm.n_features_in_ == WIDTH
    assert len(svm.coef_) == 3 * len(COLUMNS)
    assert svm.result_.primal == pytest.approx(expected.result_.primal, rel=1e-4)
    assert np.array_equal(svm.predict(wide()), expected.predict(CSR))
    svm.save(tmp_path / "m.npz")
    assert np.array_equal(StructuralSVM.load(tmp_path / "m.npz").predict(wide()), svm.predict(wide()))

    each = [slice(i, i + 6) for i in range(0, 60, 6)]
    xs, ys = [wide()[rows] for rows in each], [TAGS[rows].tolist() for rows in each]
    expected = StructuralSVM("chain_hamming", tol=1e-4).fit([CSR[rows] for rows in each], ys)
    tagger = StructuralSVM("chain_hamming", tol=1e-4).fit(xs, ys)
    assert tagger.result_.primal == pytest.approx(expected.result_.primal, rel=1e-3)
    assert len(tagger.coef_) == 3 * len(COLUMNS) + 9
    assert tagger.score(xs, ys) == expected.score([CSR[rows] for rows in each], ys)
    assert tagger.most_violated(xs[0], ys[0]).loss >= 0.0
    listed = np.empty(10, dtype=object)
    listed[:] = xs
    assert all(map(np.array_equal, tagger.predict(listed), tagger.predict(xs)))


def test_a_warm_start_goes_on_where_the_columns_are_the_same():
    ranker = Ranker(tol=1e-5, warm_start=True).fit(wide(), Y, QID)
    ranker.fit(wide(), Y, QID)
    assert ranker.result_.history[-1].iteration == 0
    for X in (wide(columns=COLUMNS - 1), wide(width=2000, columns=np.arange(12)), NARROW):
        ranker = Ranker(tol=1e-5, warm_start=True).fit(wide(), Y, QID)
        if X.shape[1] == WIDTH:
            expected = Ranker(tol=1e-5).fit(X, Y, QID)
            ranker.fit(X, Y, QID)
            assert ranker.result_.status is Status.CONVERGED
            assert ranker.result_.primal == pytest.approx(expected.result_.primal, rel=1e-4)
        else:
            with pytest.raises(InputError, match="start has"):
                ranker.fit(X, Y, QID)


def test_a_path_and_a_restart_from_all_columns():
    X = wide(columns=np.arange(12) * 100, width=2000)
    both = [Ranker().path(features, Y, QID, [0.1, 1.0]) for features in (X, X.toarray())]
    for sparse, dense in zip(*both, strict=True):
        assert sparse.result_.primal == pytest.approx(dense.result_.primal, rel=1e-2)
    ranker = Ranker(tol=1e-5, warm_start=True).fit(X.toarray(), Y, QID)
    assert ranker.result_.columns is None
    assert ranker.fit(X, Y, QID).result_.converged
    assert ranker.fit(X.toarray(), Y, QID).result_.converged


def test_an_array_of_matrices_is_narrowed_as_a_list_of_them():
    cube = np.arange(24.0).reshape(2, 3, 4)
    assert [x.toarray().tolist() for x in narrowed(cube, np.array([1, 3]))] == cube[:, :, [1, 3]].tolist()


def test_empty_columns_are_removed():
    X = wide()
    assert np.array_equal(occupied(X), COLUMNS)
    assert np.array_equal(narrowed(X, COLUMNS).toarray(), NARROW)
    assert np.shares_memory(narrowed(X, COLUMNS).data, X.data)
    assert np.array_equal(narrowed(X, COLUMNS[3:7]).toarray(), NARROW[:, 3:7])
    assert narrowed(X, None) is X
    assert np.array_equal(narrowed([np.eye(3)[0], np.eye(3)], np.array([2]))[1].toarray(), np.eye(3)[:, 2:])
    binned = BinnedMatrix([[1, 2], [0, 1]], [0, 1, 3])
    assert np.array_equal(narrowed(binned, np.array([0, 2])).toarray(), binned.toarray()[:, [0, 2]])


@pytest.mark.parametrize(
    "X",
    [
        NARROW,
        sp.csr_array(NARROW),
        wide(width=1000, columns=np.arange(12)),  # too few to be worth it
        sp.csr_array(np.pad(np.ones((2, 600)), ((0, 0), (0, 599)))),  # more than half have an entry
        sp.csr_array((3, 5000)),  # none has
        [wide(), NARROW],
        [sp.csr_array((1, 5000)), sp.csr_array((1, 6000))],
        BinnedMatrix([[1]], [0, 2]),
    ],
)
def test_matrices_with_few_empty_columns_stay_as_they_are(X):
    assert occupied(X) is None


def test_columns_with_many_entries_are_found_likewise():
    columns = np.array([3, 500, 1999])
    X = wide(RNG.standard_normal((3000, 3)), columns, 2000)
    assert np.array_equal(occupied(X), columns)


def test_more_weights_than_there_is_memory_for():
    result = Ranker().fit(wide(), Y, QID).result_
    for many in (10**15, 2**62):
        with pytest.raises(TooLargeError, match=r"weights take .* more memory than is available: renumber"):
            result.full_coef(many)


def test_a_result_of_some_columns_is_saved(tmp_path):
    result = Ranker().fit(wide(), Y, QID).result_
    result.save(tmp_path / "r.npz")
    assert np.array_equal(Result.load(tmp_path / "r.npz").columns, COLUMNS)
