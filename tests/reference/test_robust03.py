"""The submissions to the TREC 2003 Robust track: facts of the files, and trec_eval's measures of every run."""

import numpy as np
import pytest

from structsvm.data import Pool, load_qrels, load_run, load_runs, pool_runs
from structsvm.metrics import AP
from tests.data.trec_reference import average_precisions, lines_of, read_qrels, read_run
from tests.real_data import ROBUST03, needs

pytestmark = [
    pytest.mark.slow,
    needs(ROBUST03),
]
RUNS = sorted(path.name for path in (ROBUST03 / "runs").glob("*"))


@pytest.fixture(scope="module")
def pool() -> Pool:
    return pool_runs(load_runs(ROBUST03 / "runs"), load_qrels(ROBUST03 / "qrels.txt"))


@pytest.fixture(scope="module")
def judged() -> dict[str, dict[str, int]]:
    return read_qrels(lines_of(ROBUST03 / "qrels.txt"))


def test_the_facts(pool):
    assert repr(pool) == "Pool(100 topics, 440632 documents, 17 runs)"
    assert repr(load_qrels(ROBUST03 / "qrels.txt")) == (
        "Qrels(100 topics, 122722 of grade 0, 5667 of grade 1, 407 of grade 2)"
    )
    assert sum(pool.relevant_judged.values()) == 5667 + 407
    assert sum(topic < "600" for topic in pool.topics) == 50
    assert dict(pool.left_out) == {}
    deepest = dict(zip(pool.run_names, np.isfinite(pool.X[pool.qid == "303"]).sum(axis=0).tolist(), strict=True))
    assert (deepest.pop("NLPR03vb10"), deepest.pop("humR03dc")) == (10, 100)
    assert set(deepest.values()) == {1000}


@pytest.mark.parametrize("name", RUNS)
def test_average_precision_of_a_submission_is_trec_evals(pool, judged, name):
    expected = average_precisions(read_run(lines_of(ROBUST03 / "runs" / name)), judged)
    run = load_run(ROBUST03 / "runs" / name).name
    rows = pool.retrieved(run)
    ids, values = AP().per_query(
        pool.submission_scores(run)[rows], pool.y[rows], pool.qid[rows], judged=pool.qrels.judged, ties="input"
    )
    assert len(expected) == 100
    assert dict(zip(ids.tolist(), values.tolist(), strict=True)) == pytest.approx(expected, abs=1e-14)
