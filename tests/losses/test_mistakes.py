"""A sample of the mistakes of `tests.losses.mistakes`, in the order in which they are cheap to find."""

import pytest

from structsvm.exceptions import CheckError, InputError
from structsvm.losses import InterleavingLoss
from structsvm.problem import Problem
from structsvm.testing import check_loss
from tests.losses.mistakes import (
    EXAMPLES,
    MISTAKES,
    RIGHT,
    ByGain,
    FirstRelevant,
    LostGrades,
    Mistake,
    UsersPrecision,
    by_check_loss,
    by_fit,
    by_short_check,
    error_of,
    problem,
)
from tests.slow import slow

SILENT = [
    "cost: random",
    "encode: times 0.95 for outputs",
    "loss: half of the cost",
    "labels: all relevant",
    "weight: random",
    "labels: shares not divided",
    "argmax: the sign",
    "argmax: the truth",
    "argmax: changes y",
    "argmax: price of one document",
    "argmax: cost of another class",
    "kernel: no gain for grades 3 and 4",
]
"""Most of them end in a false certificate of a fit without the check before it."""

LONG = (ByGain, LostGrades, UsersPrecision)
"""Losses whose checks take a second or more."""

BEYOND = ["argmax: wrong beyond 10 documents"]


def named(names: list[str]) -> list[object]:
    return [pytest.param(each, id=f"{each.base.__name__}, {each.name}") for each in MISTAKES if each.name in names]


@pytest.mark.parametrize("mistake", named(SILENT))
def test_the_check_before_a_fit_finds_what_a_fit_does_not(mistake: Mistake) -> None:
    assert by_short_check(mistake) == CheckError.__name__


@pytest.mark.parametrize("mistake", named([*SILENT[-1:], *BEYOND]))
def test_check_loss_finds_mistakes_in_high_grades_and_long_queries(mistake: Mistake) -> None:
    assert by_check_loss(mistake) == CheckError.__name__


@pytest.mark.slow
@pytest.mark.parametrize("mistake", named([mistake.name for mistake in MISTAKES]))
def test_all_mistakes_are_found(mistake: Mistake) -> None:
    assert by_check_loss(mistake)
    assert by_fit(mistake)


@pytest.mark.parametrize("seed", [0, *slow(1)])
@pytest.mark.parametrize("base", [base for base in RIGHT if base not in LONG] + slow(*LONG))
def test_right_losses_pass(base: type, seed: int) -> None:
    right = type("Right", (base,), {})
    assert not error_of(lambda: problem(right(), seed))
    assert not error_of(lambda: check_loss(right(), EXAMPLES.get(base), trials=12 if seed else 4, random_state=seed))


def test_a_prediction_with_ties_is_no_better_ranking() -> None:
    """The encoding by position averages over ties, which only the truth may have."""
    check_loss("ndcg(encoding=position)", trials=4)


def test_a_cost_may_not_change_its_arguments() -> None:
    class Changes(InterleavingLoss):
        def cost(self, k, j, R, N):  # type: ignore[no-untyped-def]
            k -= 1
            return FirstRelevant().cost(k + 1, j, R, N)

    words = r"Changes.cost raised ValueError: .* read-only. It may not change k and j: write k - 1, not k -= 1. Run"
    with pytest.raises(InputError, match=words):
        Problem.from_queries([[1.0], [2.0]], [0, 1], loss=Changes())
    with pytest.raises(InputError, match=words):
        check_loss(Changes())
