"""Problems made of rows, labels and query ids: grouping, weights, and errors."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.features.operators import Rows
from structsvm.features.operators.composed import WithIntercept
from structsvm.losses import AveragePrecision, Multiclass
from structsvm.losses.base import Examples
from structsvm.problem import Problem
from tests.small_problems import Kronecker, PlainROCArea, ranking_arrays

X, Y, QID = ranking_arrays(0)


def make(X: Any = X, y: Any = Y, qid: Any = QID, **settings: Any) -> Problem:
    return Problem.from_queries(X, y, qid, **settings)


def primal_at(problem: Problem, w: Any) -> float:
    point = problem.at(w)
    return problem.primal(problem.planes(point), point)


@given(seed=st.integers(0, 999), weighted=st.booleans())
def test_the_order_of_the_rows_does_not_matter(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, 5)[QID].astype(np.float64) if weighted else None
    shuffled = rng.permutation(len(Y))
    again = make(X[shuffled], Y[shuffled], QID[shuffled], sample_weight=None if weights is None else weights[shuffled])
    w = rng.standard_normal(3)
    assert primal_at(again, w) == pytest.approx(primal_at(make(sample_weight=weights), w))


@pytest.mark.parametrize(
    "qid",
    [
        np.array(list("zbqay"))[QID],
        np.array(list("zbqay"), dtype=object)[QID],
        QID.astype(np.float64) - 7.5,
        QID.astype(np.uint8),
        QID.tolist(),
    ],
    ids=["strings", "objects", "floats", "uint8", "list"],
)
def test_ids_may_be_anything_that_compares(qid: Any) -> None:
    w = np.array([1.0, -2.0, 0.5])
    assert primal_at(make(qid=qid), w) == pytest.approx(primal_at(make(), w))


@pytest.mark.parametrize("form", [np.asfortranarray, sp.csr_array, sp.csc_array, sp.coo_matrix, np.ndarray.tolist])
def test_features_may_be_any_matrix(form: Any) -> None:
    w = np.array([1.0, -2.0, 0.5])
    assert primal_at(make(form(X), Y.tolist()), w) == pytest.approx(primal_at(make(), w))


def test_without_qid_all_rows_are_one_query() -> None:
    assert make(qid=None).n == 1


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_grouped_rows_are_not_copied(form: Any) -> None:
    matrix = form(X)
    rows = make(matrix).operator.X  # type: ignore[attr-defined]
    assert rows is matrix if sp.issparse(rows) is False else np.shares_memory(rows.data, matrix.data)
    assert make(matrix, qid=QID[::-1]).n == 5  # other ids, as well grouped


def test_queries_of_one_kind_are_left_out_and_counted() -> None:
    y = Y.copy()
    y[QID == 1] = 0.0
    y[QID == 3] = 1.0
    problem, usable = make(y=y), (QID != 1) & (QID != 3)
    assert (problem.used, problem.left_out) == (3, 2)
    alone = make(X[usable], y[usable], QID[usable])
    w = np.array([1.0, -2.0, 0.5])
    assert alone.left_out == 0
    assert primal_at(problem, w) == pytest.approx(primal_at(alone, w))


def test_weights_of_queries_that_are_left_out_do_not_count() -> None:
    y, weights = Y.copy(), np.ones(len(Y))
    y[QID == 1] = 0.0
    weights[QID == 1] = np.arange(4)
    np.testing.assert_allclose(make(y=y, C=8.0, sample_weight=weights).cap, [2.0, 0.0, 2.0, 2.0, 2.0])


def test_caps_are_weights_times_C_over_n() -> None:
    weights = np.array([1.0, 0.0, 2.0, 0.5, 4.0])
    np.testing.assert_allclose(make(C=10.0, sample_weight=weights[QID]).cap, 2.0 * weights)
    np.testing.assert_allclose(make(C=10.0).with_C(5.0).cap, 1.0)


def test_a_loss_of_rows_takes_every_row() -> None:
    problem = make(loss="zero_one", sample_weight=np.arange(len(Y)))
    assert (problem.used, problem.left_out) == (len(Y), 0)
    assert problem.cap[3] == pytest.approx(3 / len(Y))


def test_an_intercept_is_one_more_weight() -> None:
    problem = make(loss="zero_one", intercept=2.0)
    assert isinstance(problem.operator, WithIntercept)
    assert problem.d == 4
    np.testing.assert_allclose(problem.at(np.array([0.0, 0.0, 0.0, 0.5])).scores, 1.0)


class Choosy(PlainROCArea):
    def usable(self, y: Any) -> bool:
        return len(y) > 4


ROWS = len(Y)
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "labels": ({"y": Y[:-1]}, f"X has {ROWS} rows, but y has {ROWS - 1} labels: pass one label per row"),
    "X a vector": ({"X": X[:, 0]}, rf"X must be a matrix with one document per row, got shape \({ROWS},\)"),
    "y a matrix": ({"y": Y[:, None]}, rf"y must be a vector with one label per row, got shape \({ROWS}, 1\)"),
    "y a number": ({"y": 1.0, "loss": "multiclass"}, r"y must be a vector with one label per row, got shape \(\)"),
    "labels of text": ({"y": ["a"] * ROWS}, "the labels y must be numbers for AveragePrecision: could not"),
    "signs of text": ({"y": ["a"] * ROWS, "loss": "zero_one"}, "the labels y must be numbers for ZeroOne: could not"),
    "dates": ({"y": np.zeros(ROWS, "M8[D]")}, r"must be numbers for AveragePrecision: they are datetime64\[D\]"),
    "label None": ({"y": [None, *Y[1:]]}, "y contains NaN or infinity, first in row 0"),
    "NaN label": ({"y": np.where(np.arange(ROWS) == 3, np.nan, Y)}, "y contains NaN or infinity, first in row 3"),
    "qid": (
        {"qid": QID[:-1]},
        rf"qid must be one query id per row, shape \({ROWS},\), got shape \({ROWS - 1},\)$",
    ),
    "qid matrix": ({"qid": QID[:, None]}, rf"shape \({ROWS},\), got shape \({ROWS}, 1\)$"),
    "group sizes": ({"qid": [4] * 5}, r"these look like group sizes: np.repeat\(np.arange\(len\(group\)\), group\)"),
    "weights": ({"sample_weight": np.ones(5)}, rf"sample_weight must be one weight per row, shape \({ROWS},\)"),
    "weights differ": (
        {"sample_weight": np.arange(ROWS)},
        "sample_weight differs within a query.*same weight, or use a loss that takes weights of documents",
    ),
    "negative weight": ({"sample_weight": -np.ones(ROWS)}, "not negative: 20 of 20 are not, the first is -1 at row 0$"),
    "infinite weight": ({"sample_weight": np.full(ROWS, np.inf)}, "must be finite and .* the first is inf at row 0$"),
    "NaN weight": ({"sample_weight": np.full(ROWS, np.nan)}, "must be finite and .* the first is nan at row 0$"),
    "weights of text": ({"sample_weight": ["a"] * ROWS}, "sample_weight must be numbers: "),
    "no weight": ({"sample_weight": np.zeros(ROWS)}, "sample_weight is zero at every row"),
    "NaN id": (
        {"qid": np.where(QID == 2, np.nan, QID)},
        "qid must not be NaN or None: 4 of 20 are, first in row 8. Give",
    ),
    "id None": ({"qid": [*QID[:-1].tolist(), None]}, "qid must not be NaN or None: 1 of 20 are, first in row 19"),
    "id pandas.NA": ({"qid": pd.array([None, *QID[1:]], "Int64")}, "not be NaN or None: 1 of 20 are, first in row 0"),
    "never usable": ({"loss": Choosy()}, r"from any of the 5 queries: Choosy.usable\(y\) is false for the labels"),
    "no rows": (
        {"X": np.zeros((0, 3)), "y": np.zeros(0), "qid": None, "loss": "f1"},
        "FBeta cannot learn from any of the 0 queries",
    ),
    "no relevant": ({"y": np.zeros(ROWS)}, "AveragePrecision cannot learn from any of the 5 queries"),
    "all relevant": ({"y": np.ones(ROWS)}, "A query needs relevant documents .* and others"),
    "C of 0": ({"C": 0.0}, "C must be a positive finite number, got 0.0"),
    "negative C": ({"C": -1}, "C must be a positive finite number, got -1"),
    "C not finite": ({"C": np.inf}, "C must be a positive finite number, got inf"),
    "C a string": ({"C": "1"}, "C must be a positive finite number, got '1'"),
    "C a truth value": ({"C": True}, "C must be a positive finite number, got True"),
    "a class": ({"loss": AveragePrecision}, r"AveragePrecision is a class: pass an object, AveragePrecision\(\)"),
    "unknown name": ({"loss": "mpa"}, "unknown loss 'mpa'. Did you mean 'map'?"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_used_is_refused(case: str) -> None:
    settings, message = REFUSED[case]
    with pytest.raises(InputError, match=message):
        make(**settings)


class Named(AveragePrecision):
    def relevant(self, y: Any) -> Any:
        return np.asarray(y) == "good"


def test_a_loss_that_reads_text_gets_it() -> None:
    assert make(y=np.where(Y > 0, "good", "bad"), loss=Named()).used == 5
    assert make(y=Y.astype(object)).used == 5


class Graded(PlainROCArea):
    numeric_labels = True


def test_a_loss_that_compares_labels_gets_numbers() -> None:
    X, y, qid = ranking_arrays(0)
    read = Problem.from_queries(X, y.astype(str), qid, loss=Graded())
    expected = Problem.from_queries(X, y, qid, loss=PlainROCArea())
    np.testing.assert_array_equal(read.cap, expected.cap)
    with pytest.raises(InputError, match="must be numbers for Graded"):
        Problem.from_queries(X, np.full(len(y), "good"), qid, loss=Graded())


class Strict(PlainROCArea):
    why_unusable = "all are too short"

    def usable(self, y: Any) -> bool:
        return False


def test_a_loss_says_why_it_can_use_no_query() -> None:
    X, y, qid = ranking_arrays(0)
    with pytest.raises(InputError, match="Strict cannot learn from any of the .* queries: all are too short"):
        Problem.from_queries(X, y, qid, loss=Strict())


class StrictPrecision(AveragePrecision):
    why_unusable = "all are too short"


def test_what_a_loss_says_itself_goes_before_what_the_data_show() -> None:
    X, y, qid = ranking_arrays(0)
    with pytest.raises(InputError, match="queries: all are too short"):
        Problem.from_queries(X, np.zeros(len(y)), qid, loss=StrictPrecision())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_features_that_are_not_finite_are_named_at_the_first_pass(bad: float, form: Any) -> None:
    broken = X.copy()
    broken[9, 1] = bad
    problem = make(form(broken))
    with pytest.raises(InputError, match="example 2 has features that are NaN, infinite or too large"):
        problem.at(np.zeros(3))


@pytest.mark.parametrize("loss", [Multiclass(), Kronecker()], ids=lambda loss: type(loss).__name__)
def test_from_examples_needs_an_output_for_each_input(loss: Any) -> None:
    with pytest.raises(InputError, match="3 inputs and 2 outputs were given: give one output per input"):
        Problem.from_examples([np.ones(2)] * 3, [0, 1], loss=loss)
    with pytest.raises(InputError, match="0 inputs and 0 outputs were given"):
        Problem.from_examples([], [], loss=loss)


def test_make_needs_an_output_for_each_example_of_the_operator() -> None:
    with pytest.raises(InputError, match="3 inputs and 1 outputs were given"):
        Problem.make(Examples(Multiclass(classes=[0, 1]), Rows.one_row_per_example(np.ones((3, 2))), [0]), C=1.0)
