"""A few kills; ``make kills`` tries more."""

import sys

import pytest

from tests.kills.trial import Campaign


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_nothing_is_lost_and_nothing_left(tmp_path):
    campaign = Campaign(tmp_path)
    for number in (0, 3):  # train and predict
        verdict = campaign.try_one(number)
        assert verdict.faults == {}, verdict
