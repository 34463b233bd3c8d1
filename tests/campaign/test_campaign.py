"""A few problems of the campaign, in the ordinary tests."""

import pytest

from tests.campaign.verdict import FAULTS, MAY_NOT_BE, try_case


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_no_bound_is_wrong_and_nothing_stalls(first: int) -> None:
    found = [try_case(number) for number in range(first, first + 10)]
    assert [verdict for verdict in found if verdict.fault in (FAULTS if verdict.ordinary else MAY_NOT_BE)] == []
