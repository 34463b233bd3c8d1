"""A worker that is lost while a ranker learns costs time alone, and nothing is left at the workers after a fit."""

import gc
import time

import numpy as np
import pytest

from structsvm import Ranker
from structsvm.distributed import DaskCluster, DaskRanker
from structsvm.exceptions import ClusterError
from tests.distributed.queries import CUTS, DATA, arrays, letor_files


def lose(client):
    """Remove a worker as if its machine were gone."""
    address = next(iter(client.nthreads()))

    async def remove(dask_scheduler=None):
        await dask_scheduler.remove_worker(address, stimulus_id="test", expected=False)

    client.run_on_scheduler(remove)


@pytest.mark.filterwarnings("ignore")
def test_files_of_a_lost_worker_are_read_again(tmp_path):
    from distributed import Client, LocalCluster

    paths = letor_files(DATA, CUTS, tmp_path)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        lost = []

        def callback(step):
            if step.iteration == 4 and not lost:
                lost.append(step)
                lose(client)

        ranker = DaskRanker("map", C=1000.0, tol=1e-6, client=client, timeout=60.0).fit(paths, callback=callback)
        assert lost
        assert len(client.nthreads()) == 1
        undisturbed = DaskRanker("map", C=1000.0, tol=1e-6, client=client, timeout=60.0).fit(paths)
    np.testing.assert_array_equal(ranker.coef_, undisturbed.coef_)
    alone = Ranker("map", C=1000.0, tol=1e-6, solver="one-slack").fit(DATA.X, DATA.y, DATA.qid)
    assert ranker.result_.converged
    assert ranker.result_.dual <= alone.result_.primal
    assert alone.result_.dual <= ranker.result_.primal


def test_nothing_is_left_at_the_workers_after_a_fit(client):
    gc.collect()
    before = sum(map(len, client.has_what().values()))
    ranker = DaskRanker("map", C=1.0, client=client).fit(*arrays(DATA))
    assert ranker.score(*arrays(DATA)) > 0.5
    until = time.monotonic() + 20.0
    while sum(map(len, client.has_what().values())) > before and time.monotonic() < until:
        gc.collect()
        time.sleep(0.05)
    assert sum(map(len, client.has_what().values())) <= before


def test_data_that_are_cancelled_are_an_error_of_the_cluster(client):
    cluster = DaskCluster(client, timeout=20.0)
    kept = cluster.keep(sum, [[1.0], [2.0]])
    restrictions = client.run_on_scheduler(
        lambda dask_scheduler: [dask_scheduler.tasks[each].worker_restrictions for each in [k.key for k in kept]]
    )
    assert restrictions == [None, None]
    client.cancel(kept, force=True)
    with pytest.raises(ClusterError, match="lost with its workers .* This happened 3 times"):
        cluster.ask(abs, kept)
