"""The best step along a direction, against exact rational arithmetic and dense scans."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.metrics import AP
from structsvm.rankers.weight_search_line import ONE, ExhaustiveSearch


@st.composite
def problems(draw, most=7):
    """Lines with small whole numbers, so that there are ties, parallels, and the same line twice."""
    size = draw(st.lists(st.integers(1, most), min_size=1, max_size=3))
    n = sum(size)
    whole = st.lists(st.integers(-3, 3), min_size=n, max_size=n)
    relevant = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 3), min_size=len(size), max_size=len(size)))
    return Problem(draw(whole), draw(whole), relevant, size, weights)


class Problem:
    def __init__(self, heights, slopes, relevant, size, weights=None):
        self.heights, self.slopes, self.relevant = heights, slopes, np.array(relevant, dtype=bool)
        self.ptr = np.concatenate([[0], np.cumsum(size)]).astype(np.int64)
        weights = np.ones(len(size)) if weights is None else np.array(weights, dtype=float)
        self.weights = weights / weights.sum()
        self.qid = np.repeat(np.arange(len(size)), size)

    def search(self):
        return ExhaustiveSearch.of(self.relevant, self.ptr, self.weights)

    def best(self, **settings):
        return self.search().best(np.array(self.heights, float), np.array(self.slopes, float), **settings)

    def usable(self):
        for q, (first, last) in enumerate(zip(self.ptr[:-1], self.ptr[1:], strict=True)):
            if 0 < self.relevant[first:last].sum() < last - first:
                yield q, range(first, last)

    def crossings(self):
        """List the steps at which a relevant and another document of a query have the same score, exactly."""
        result = set()
        for _, rows in self.usable():
            for i in rows:
                for j in rows:
                    if self.relevant[i] and not self.relevant[j] and self.slopes[i] != self.slopes[j]:
                        height = Fraction(self.heights[j]) - Fraction(self.heights[i])
                        result.add(height / (Fraction(self.slopes[i]) - Fraction(self.slopes[j])))
        return sorted(result)

    def mean_at(self, step):
        """Return the weighted mean over usable queries, by definition, with exact scores."""
        total = 0.0
        for q, rows in self.usable():
            scores = {i: self.heights[i] + step * self.slopes[i] for i in rows}
            places = {score: place for place, score in enumerate(sorted(set(scores.values()), reverse=True))}
            heights = [-float(places[scores[i]]) for i in rows]
            total += self.weights[q] * AP().mean(heights, self.relevant[list(rows)])
        return total

    def regions(self):
        """List the open regions: ends, a place inside, and the mean there."""
        ends = self.crossings()
        if not ends:
            return [(-np.inf, np.inf, Fraction(0), self.mean_at(Fraction(0)))]
        inside = [ends[0] - 1, *((low + high) / 2 for low, high in pairwise(ends)), ends[-1] + 1]
        lows, highs = [-np.inf, *ends], [*ends, np.inf]
        return [(low, high, place, self.mean_at(place)) for low, high, place in zip(lows, highs, inside, strict=True)]


@given(problems())
def test_the_best_region_is_that_of_exact_arithmetic(problem):
    result = problem.best()
    regions = problem.regions()
    top = max(mean for *_, mean in regions)
    best = [(low, high) for low, high, _, mean in regions if mean > top - 1e-12]
    nearest = min(best, key=lambda ends: (max(ends[0], -ends[1], 0), -ends[1]))
    assert result.value / ONE == pytest.approx(top, abs=1e-12)
    assert (result.low, result.high) == (float(nearest[0]), float(nearest[1]))
    assert result.low < result.step < result.high
    assert problem.mean_at(Fraction(result.step)) == pytest.approx(top, abs=1e-12)


@given(problems())
def test_other_crossings_do_not_matter(problem):
    """Between all crossings, including pairs of two relevant or two other documents, no point is better."""
    n = len(problem.heights)
    steps = {Fraction(0)}
    for i in range(n):
        for j in range(i):
            if problem.slopes[i] != problem.slopes[j]:
                height = problem.heights[j] - problem.heights[i]
                steps.add(Fraction(height, problem.slopes[i] - problem.slopes[j]))
    ends = sorted(steps)
    places = [ends[0] - 1, ends[-1] + 1, *((low + high) / 2 for low, high in pairwise(ends))]
    assert problem.best().value / ONE == pytest.approx(max(map(problem.mean_at, places)), abs=1e-12)


@given(problems())
def test_the_mean_at_a_point_has_the_ties_of_the_measure(problem):
    scores = np.array(problem.heights, float)
    search = problem.search()
    alone = np.array([problem.relevant[problem.qid == q].all() for q in range(len(problem.weights))])
    expected = AP().mean(scores, problem.relevant, problem.qid, weights=problem.weights)
    assert search.value(scores) / ONE + problem.weights[alone].sum() == pytest.approx(expected, abs=1e-12)


@given(problems(), st.sampled_from([-40, -3, 1, 30]))
def test_the_scale_of_scores_does_not_matter(problem, power):
    heights, slopes = np.array(problem.heights, float), np.array(problem.slopes, float)
    search = problem.search()
    assert search.best(heights * 2.0**power, slopes * 2.0**power) == search.best(heights, slopes)


def test_parallel_lines_leave_the_step_at_zero():
    result = Problem([1, 2, 3], [1, 1, 1], [True, False, True], [3]).best()
    assert (result.low, result.step, result.high, result.width) == (-np.inf, 0.0, np.inf, np.inf)
    assert result.value / ONE == pytest.approx((1 + 2 / 3) / 2)


@pytest.mark.parametrize(("height", "step"), [(3, 6.0), (0.5, 1.5), (0, 1.0), (-5, 0.0)])
def test_an_unbounded_region_is_entered_as_far_again(height, step):
    """The relevant document is ahead from ``height`` on."""
    result = Problem([0, height], [1, 0], [True, False], [2]).best()
    assert (result.low, result.high, result.step) == (height, np.inf, step)
    mirrored = Problem([0, height], [-1, 0], [True, False], [2]).best()
    assert (mirrored.low, mirrored.high, mirrored.step) == (-np.inf, -height, -step)


def test_of_equal_regions_the_nearest_is_taken_and_of_two_as_near_the_positive_one():
    """The relevant document is first beyond 2 on both sides, or beyond 1 and 2."""
    assert Problem([-2, 0, 0, -2], [1, 0, 0, -1], [True, False, False, True], [2, 2]).best().low == 2.0
    assert Problem([-1, 0, 0, -1.5], [1, 0, 0, -1], [1, 0, 0, 1], [2, 2]).best().low == 1.0
    assert Problem([-1.5, 0, 0, -1], [1, 0, 0, -1], [1, 0, 0, 1], [2, 2]).best().high == -1.0


def test_regions_that_are_too_narrow_are_passed_over():
    """The relevant document leads between 1 and 1.25 only; else it is second."""
    problem = Problem([0.0, 2.0, -2.5], [1.0, -1.0, 3.0], [True, False, False], [3])
    assert (problem.best().low, problem.best().high) == (1.0, 1.25)
    assert problem.best(narrowest=0.2).value / ONE == 1.0
    assert problem.best().width == 0.25 / 1.125
    assert problem.best(narrowest=0.25 / 1.125).value / ONE == 0.5
    assert problem.best(narrowest=np.inf) is None


def test_a_region_without_a_number_inside_is_passed_over():
    """The relevant document leads between two neighboring numbers only."""
    later = 1.0 + 2.0**-52
    problem = Problem([0.0, 1.0, -later], [1.0, 0.0, 2.0], [True, False, False], [3])
    assert problem.crossings() == [1, Fraction(later)]
    result = problem.best()
    assert result.value / ONE == 0.5
    assert result.high == 1.0 or result.low == later


def test_numbers_that_overflow_do_no_harm():
    rng = np.random.default_rng(0)
    heights = rng.choice([-1e308, -1.0, 0.0, 1e308], 40)
    slopes = rng.choice([-1e308, -1e-308, 0.0, 1e-308, 1.0], 40)
    problem = Problem(heights, slopes, rng.random(40) < 0.4, [40])
    result = problem.best()
    assert 0.0 < result.value / ONE <= 1.0
    assert result.low < result.step < result.high
