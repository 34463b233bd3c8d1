"""Weights, values of C and class weights that a ranker cannot use, and those next to them that it can."""

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm import Ranker, StructuralSVM
from structsvm.exceptions import InputError
from structsvm.losses import AveragePrecision
from structsvm.solvers import OneSlack, Solver


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(5), r"one weight per row, shape \(360,\), got shape \(5,\)"),
        (["a"] * 360, "sample_weight must be numbers"),
        (np.arange(360), "sample_weight differs within a query"),
    ],
)
def test_score_refuses_the_weights_that_fit_refuses(queries, weights, message):
    X, y, qid = queries
    ranker = Ranker().fit(X, y, qid=qid)
    with pytest.raises(InputError, match=message):
        ranker.score(X, y, qid, sample_weight=weights)


def test_score_without_queries_takes_the_weights_of_rows_that_fit_took(queries):
    X, y, _ = queries
    ranker = Ranker("zero_one").fit(X, y, sample_weight=np.arange(360))
    assert ranker.score(X, y, sample_weight=np.arange(360)) == ranker.score(X, y)


def test_a_solver_without_tol_cannot_be_given_one(queries):
    class Untold(Solver):
        name = "untold"

        def solve(self, problem, start=None, callback=None):
            return OneSlack(tol=1e-2).solve(problem, start, callback)

    X, y, qid = queries
    assert Ranker(solver=Untold()).fit(X, y, qid=qid).result_.tol == 1e-2
    with pytest.raises(InputError, match="the solver Untold has no setting tol: leave tol=None"):
        Ranker(solver=Untold(), tol=1e-3).fit(X, y, qid=qid)


@pytest.mark.parametrize("Cs", [1.0, None, [[1, 2]], ["a"], [], [1.0, -1.0], [np.nan], [np.inf]])
def test_a_path_needs_a_vector_of_positive_numbers(Cs):
    for path in (StructuralSVM().path, Ranker().path):
        with pytest.raises(InputError, match="Cs must be a vector of positive numbers, got "):
            path(np.eye(2), [0, 1], Cs=Cs)


@pytest.mark.parametrize(
    ("class_weight", "sample_weight", "message"),
    [
        ("balancd", None, r"Ranker\(class_weight=...\) must be {label: weight}, 'balanced' or None, got 'balancd'"),
        (2.0, None, "must be {label: weight}, 'balanced' or None, got 2.0"),
        ({-1: 1.0, 1: 2.0}, None, r"has weights for \[-1\], which do not occur in y, but not for \[0.0\], which do"),
        ({0: 1.0, 1: "a"}, None, "weights that are finite and not negative, got 'a' for 1"),
        ("balanced", np.ones(5), r"one weight per row, shape \(360,\), got shape \(5,\)"),
    ],
)
def test_bad_class_weights(queries, class_weight, sample_weight, message):
    X, y, _ = queries
    with pytest.raises(InputError, match=message):
        Ranker("zero_one", class_weight=class_weight).fit(X, y, sample_weight=sample_weight)


def test_class_weights_of_absent_labels_are_ignored(queries):
    X, y, _ = queries
    more = Ranker("zero_one", class_weight={0: 1.0, 1: 2.0, 2: 3.0}).fit(X, y)
    np.testing.assert_array_equal(more.coef_, Ranker("zero_one", class_weight={0: 1.0, 1: 2.0}).fit(X, y).coef_)


def test_settings_that_are_numpy_scalars_are_saved(queries, tmp_path):
    X, y, qid = queries
    ranker = Ranker(AveragePrecision(relevant_from=np.int64(1)), tol=np.float32(1e-3)).fit(X, y, qid=qid)
    ranker.save(tmp_path / "model.npz")
    assert Ranker.load(tmp_path / "model.npz").get_params() == ranker.get_params()


def test_labels_that_are_words_are_placed():
    X, y = np.eye(4), np.array(["0", "1", "relevant", "no"])
    with pytest.raises(InputError, match=r"(?s)one number per row: .*The first is label 2, 'relevant': make numbers"):
        Ranker().fit(X, y)
    for words in (["not", "rel", "not", "not"], ["rel", "not", "not", "not"]):
        with pytest.raises(InputError, match=r"\[int\(label == RELEVANT\) .* one of '(not', 'rel|rel', 'not)'\.$"):
            Ranker().fit(X, words)
    with pytest.raises(InputError, match=r"Got the text 'label': pass the labels, such as the column X\['label'\]"):
        Ranker().fit(X, "label")
    ranker = Ranker().fit(X, [0, 1, 1, 0])
    with pytest.raises(InputError, match="The first is label 0, 'relevant'"):
        ranker.score(X, ["relevant", 1, 0, 0])


@pytest.mark.parametrize("estimator", [Ranker, StructuralSVM])
def test_features_that_are_words_are_placed(estimator):
    rows = [[1.0, 2.0], [3.0, "high"], ["low", 1.0]]
    with pytest.raises(
        InputError, match=r"The first is 'high' at row 1, column 1: .* with sklearn.preprocessing.OneHotEncoder\.$"
    ):
        estimator("zero_one").fit(rows, [0, 1, 0])
    with pytest.raises(InputError, match="The first is 'high' at row 1, column 1:"):
        estimator("zero_one").fit(np.array(rows, dtype=object), [0, 1, 0])
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"bm25": [1.0, 2.0, 3.0], "site": ["1", "2", "b.org"]})
    with pytest.raises(InputError, match=r"The first is 'b.org' at row 2, column 1 \('site'\)"):
        estimator("zero_one").fit(table, [0, 1, 0])
    with pytest.raises(
        InputError, match=r"'site'\): .* convert it to truth values, as in column.str.lower\(\) == 'true'\.$"
    ):
        estimator("zero_one").fit(table.assign(site=["True", "False", "True"]), [0, 1, 0])


def test_the_first_feature_that_is_not_finite_is_found_where_no_dense_table_would_fit():
    shape, y = (200_000, 100_000), np.arange(200_000) % 2
    entries = [1.0, np.nan, np.inf, np.nan], [77, 77, 5000, 77], [99_999, 500, 3, 100]
    for form in (sp.coo_array, sp.csr_array, sp.csc_matrix, sp.dok_array):
        X = form(sp.coo_array((entries[0], entries[1:]), shape=shape))
        with pytest.raises(InputError, match="contains NaN. The first is at row 77, column 100. Train"):
            Ranker("zero_one").fit(X, y)
    unordered = sp.csr_array((entries[0], [9, 7, 3, 5], [0, 0, 4, 4]), shape=(3, 10))
    with pytest.raises(InputError, match="The first is at row 1, column 3. Train"):
        Ranker("zero_one").fit(unordered, [0, 1, 1])
    with pytest.raises(InputError, match=r"contains infinity.*\nThe first is at row 1, column 0: remove or replace"):
        Ranker("zero_one").fit(sp.csr_array([[1.0], [np.inf]]), [0, 1])


@pytest.mark.parametrize("X", [{"bm25": [1.0, 2.0]}, None, "a.txt", {1.0, 2.0}, 3.0, [1.0, np.nan]])
def test_features_must_be_a_table(X):
    kind = "2D array" if isinstance(X, float | list) else f"X must be a table of numbers .* got {type(X).__name__}"
    for estimator in (Ranker("zero_one"), StructuralSVM()):
        with pytest.raises(InputError, match=kind):
            estimator.fit(X, [0, 1])
    with pytest.raises(InputError, match=r"pandas.DataFrame\(X\) converts columns by name"):
        Ranker("zero_one").fit({"bm25": [1.0, 2.0]}, [0, 1])


def test_labels_that_are_not_there(queries):
    X, y, qid = queries
    ranker = Ranker().fit(X, y, qid)
    for call in (ranker.score, Ranker().fit):
        with pytest.raises(
            InputError, match="requires y to be passed, but the target y is None: pass one label per row"
        ):
            call(X, None, qid)
