"""A worker and a driver that die in the middle of a fit; ``python -m tests.kills --of workers`` tries more."""

import sys

import pytest

from tests.kills.cluster import Deaths

pytest.importorskip("distributed", reason="dask is not installed")


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("kind", ["workers", "drivers"])
def test_a_death_changes_no_certificate(kind, tmp_path):
    with Deaths(tmp_path, kind) as deaths:
        verdict = deaths.try_one(1)
    assert verdict.faults == {}, verdict
