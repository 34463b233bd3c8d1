"""Tables 1 to 4 of Yue, Finley, Radlinski and Joachims (SIGIR 2007), by the definitions of section 2."""

import numpy as np
import pytest

from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, ROCArea
from structsvm.metrics import AP

TABLE_1 = np.array([1.0, 0, 0, 0, 0, 1, 1, 0])
TABLE_3 = np.array([1.0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0])


def h1(p: Vector) -> Vector:
    """Ranks of the first hypothesis: document 1 is ahead."""
    return np.arange(len(p), 0.0, -1.0)


def h2(p: Vector) -> Vector:
    """Ranks of the second hypothesis: the last document is ahead."""
    return np.arange(1.0, len(p) + 1.0)


def best_accuracy(p: Vector, rank: Vector) -> float:
    """Highest accuracy over thresholds: the top k documents are called relevant."""
    ranked = p[np.argsort(-rank)]
    n = len(p)
    return max(((ranked[:k] == 1).sum() + (ranked[k:] == 0).sum()) / n for k in range(n + 1))


@pytest.mark.parametrize(("h", "printed_map", "printed_roc"), [(h1, "0.59", "0.47"), (h2, "0.51", "0.53")])
def test_table_2(h, printed_map, printed_roc):  # type: ignore[no-untyped-def]
    rank = h(TABLE_1)
    assert f"{1 - AveragePrecision().loss(TABLE_1, rank):.2f}" == printed_map
    assert f"{1 - ROCArea().loss(TABLE_1, rank):.2f}" == printed_roc
    assert f"{AP().mean(rank, TABLE_1):.2f}" == printed_map


@pytest.mark.parametrize(("h", "by_definition", "printed"), [(h1, 0.5635, "0.70"), (h2, 0.5109, "0.64")])
def test_table_4_divides_by_4_where_5_documents_are_relevant(h, by_definition, printed):  # type: ignore[no-untyped-def]
    precision = 1 - AveragePrecision().loss(TABLE_3, h(TABLE_3))
    assert precision == pytest.approx(by_definition, abs=5e-5)
    assert f"{precision * 5 / 4:.2f}" == printed


@pytest.mark.parametrize(("h", "printed"), [(h1, "0.64"), (h2, "0.73")])
def test_table_4_accuracies_are_right(h, printed):  # type: ignore[no-untyped-def]
    assert f"{best_accuracy(TABLE_3, h(TABLE_3)):.2f}" == printed


def test_tables_show_their_claims():
    """The hypothesis with the better ROC area, or accuracy, has the worse average precision."""
    average_precision, roc_area = AveragePrecision(), ROCArea()
    assert average_precision.loss(TABLE_1, h1(TABLE_1)) < average_precision.loss(TABLE_1, h2(TABLE_1))
    assert roc_area.loss(TABLE_1, h1(TABLE_1)) > roc_area.loss(TABLE_1, h2(TABLE_1))
    assert average_precision.loss(TABLE_3, h1(TABLE_3)) < average_precision.loss(TABLE_3, h2(TABLE_3))
    assert best_accuracy(TABLE_3, h1(TABLE_3)) < best_accuracy(TABLE_3, h2(TABLE_3))
