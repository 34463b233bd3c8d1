"""A few kills; ``make kills`` tries more."""

import sys

import pytest

from tests.kills.trial import Campaign


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_nothing_is_lost_and_nothing_left(tmp_path):
    campaign = Campaign(tmp_path, to_die=15.0, prepared=(), words="fuse condorcet")
    for number in (5, 83):  # SIGKILL over earlier outputs, and SIGTERM to the whole group
        verdict = campaign.try_one(number)
        assert verdict.faults == {}, verdict
