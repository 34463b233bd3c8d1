"""A Dask cluster of two workers in this process."""

import pytest

pytest.importorskip("distributed", reason="needs the extra dask")


@pytest.fixture(scope="session")
def client():
    from dask import config
    from distributed import Client, LocalCluster

    waits = {"distributed.comm.timeouts.connect": "20s", "distributed.comm.timeouts.tcp": "20s"}
    with (
        config.set(waits),
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        yield client
