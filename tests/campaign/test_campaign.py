"""A few problems of the campaign, in the ordinary tests."""

import pytest

from tests.campaign.verdict import try_case

NEW = {"boxed": 1, "declared": 0, "faulty backend": 1, "graded": 1, "mistaken": 1, "pinned": 1, "structured": 0}
"""Kinds of which five problems are tried, with the number of the first."""


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        *(("plain", 0), ("bounded", 20), *NEW.items()),
        *(pytest.param("plain", first, marks=pytest.mark.slow) for first in (10, 30)),
    ],
)
def test_no_bound_is_wrong_and_nothing_stalls(kind: str, first: int) -> None:
    result = [try_case(number, kind) for number in range(first, first + (5 if kind in NEW else 10))]
    assert [verdict for verdict in result if verdict.wrong] == []


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(3039180, id="a QP that is solved as closely as was asked, and no better than the one before"),
        pytest.param(
            3043088,
            id="an example that needs more planes than Frank-Wolfe had places for",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_cases_that_once_stalled_converge(number: int) -> None:
    assert try_case(number).fault == ""


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(10400170, id="the center moved though the model was not solved, and nothing was gained"),
        pytest.param(10007804, id="a thousand proximal steps for every cut"),
    ],
)
def test_weights_without_regularizer_do_not_crawl_in_a_large_box(number: int) -> None:
    assert try_case(number, "boxed").fault == ""
