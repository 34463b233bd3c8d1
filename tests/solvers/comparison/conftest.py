import pytest

from structsvm.losses import AveragePrecision
from structsvm.problem import Problem
from tests.small_problems import ranking


@pytest.fixture(scope="session")
def problem() -> Problem:
    """Twelve queries, for which every solver needs some iterations; its own C is not among the compared values."""
    return ranking(AveragePrecision(), 3, C=7.0, queries=12, documents=6, d=5)
