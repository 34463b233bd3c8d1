"""Each check of `tests.campaign.endurance`, in a separate process."""

import subprocess
import sys

import pytest

from tests.campaign.endurance import CHECKS


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="forks, and sends itself signals")
@pytest.mark.parametrize("check", CHECKS)
def test_fits_without_end(check: str) -> None:
    subprocess.run([sys.executable, "-m", "tests.campaign.endurance", check], check=True, timeout=600)
