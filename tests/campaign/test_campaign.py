"""A few problems of the campaign, in the ordinary tests."""

import pytest

from tests.campaign.verdict import try_case


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_no_bound_is_wrong(first: int) -> None:
    found = [try_case(number) for number in range(first, first + 10)]
    assert [verdict for verdict in found if verdict.fault in ("wrong bound", "error")] == []
