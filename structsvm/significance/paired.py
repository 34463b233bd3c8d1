"""The difference of two systems by all tests that there are."""

from attrs import frozen
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.settings import is_number, require_integer
from structsvm.significance.bootstrap import bootstrap_interval
from structsvm.significance.differences import differences
from structsvm.significance.randomisation import randomisation_p
from structsvm.significance.student import student_p
from structsvm.significance.wilcoxon import wilcoxon_p


@frozen
class PairedTests:
    """The difference of two systems on the same queries, how sure it is, and whether it can be chance.

    Parameters
    ----------
    queries : their number.
    difference : mean of the first's values less those of the second.
    interval : confidence interval of the difference by the bootstrap; None of one query.
    wins, losses, ties : queries on which the first has the larger value, the smaller one, the same.
    t : p-value of the two-tailed paired t-test; None where it has none: of one query, or where all differences are the
        same.
    wilcoxon : p-value of Wilcoxon's signed rank test (see `signed_rank_test`).
    randomisation : p-value of Fisher's randomisation test, over random signs of the differences.

    Examples
    --------
    >>> from structsvm.significance import paired_tests
    >>> tests = paired_tests([0.5, 0.6, 0.7], [0.4, 0.6, 0.5])
    >>> tests.wins, tests.losses, tests.ties
    (2, 0, 1)
    """

    queries: int
    difference: float
    interval: tuple[float, float] | None
    wins: int
    losses: int
    ties: int
    t: float | None
    wilcoxon: float
    randomisation: float


def paired_tests(
    first: ArrayLike, second: ArrayLike, *, confidence: float = 0.95, resamples: int = 10_000, seed: int = 0
) -> PairedTests:
    """Compare the values of two systems for the same queries by all tests that there are.

    Parameters
    ----------
    first, second : values, shape (Q,) each, finite.
    confidence : level of the interval, between 0 and 1.
    resamples : number of resamples of the bootstrap and of the randomisation test, at least 100.
    seed : seed of both, at least 0.

    Raises
    ------
    InputError : shapes differ, there is no query, a value is not finite, or a setting is not what it may be.

    Examples
    --------
    >>> found = paired_tests([0.5, 0.4, 0.9, 0.3, 0.8, 0.7], [0.4, 0.3, 0.8, 0.3, 0.6, 0.4])
    >>> found.wins, found.ties, round(found.difference, 3), found.wilcoxon, found.randomisation
    (5, 1, 0.133, 0.0625, 0.0625)
    """
    require_integer("resamples", resamples, 100)
    require_integer("seed", seed, 0)
    if not is_number(confidence, above=0.0) or confidence >= 1:
        raise InputError(f"confidence must be between 0 and 1, such as 0.95, got {confidence!r}")
    difference = differences(first, second)
    wins, losses = int((difference > 0.0).sum()), int((difference < 0.0).sum())
    return PairedTests(
        queries=len(difference),
        difference=float(difference.mean()),
        interval=bootstrap_interval(difference, confidence=confidence, resamples=resamples, seed=seed),
        wins=wins,
        losses=losses,
        ties=len(difference) - wins - losses,
        t=student_p(difference),
        wilcoxon=wilcoxon_p(difference),
        randomisation=randomisation_p(difference, resamples=resamples, seed=seed),
    )
