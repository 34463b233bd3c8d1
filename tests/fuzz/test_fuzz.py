"""A few cases of each kind; and the harness finds faults."""

import pytest

from structsvm.cli import _HOMES
from tests.fuzz import commands
from tests.fuzz.case import Case
from tests.fuzz.corpus import make_corpus
from tests.fuzz.pool import Pool
from tests.fuzz.verdict import TRY

pytestmark = pytest.mark.slow

_CASES = {"readers": 250, "collections": 250, "models": 150, "commands": 12, "processes": 1}
"""Cases of each kind; `tests.test_public_names` tries public calls."""


@pytest.fixture(scope="module")
def files():
    return make_corpus()


@pytest.fixture(scope="module")
def pool(files):
    with Pool(files) as pool:
        yield pool


@pytest.mark.parametrize("kind", _CASES)
def test_nothing_is_answered_by_a_raw_error(kind, pool):
    tasks = [(1, kind, number) for number in range(_CASES[kind])]
    result = [f"{verdict.signature}: {TRY.format(*task)}" for task, verdict in pool.run(tasks) if verdict.fault]
    assert result == []


def test_every_command_is_tried():
    assert set(_HOMES) == {line.split()[0] for line in commands.WORKING}


def test_a_process_that_dies_is_reported_and_replaced(pool):
    dies = Case("api", {}, "__import__('os').kill", ("__import__('os').getpid()", "9"))
    fine = Case("api", {}, "metrics.AP", ())
    assert [verdict.fault for _, verdict in pool.run([dies, fine])] == ["process died", ""]


@pytest.mark.parametrize(
    ("what", "arguments", "fault"),
    [
        ("structsvm.foundation.queries.require_labels", ("None", "1"), "raw error"),
        ("estimators.Ranker", ("'map'", "0"), ""),
        ("__import__('pathlib').Path('a.txt').write_text", ("''",), "files"),
        ("np.log", ("0.0",), "warning"),
    ],
)
def test_faults_are_seen(pool, what, arguments, fault):
    case = Case("api", {"a.txt": b"1 qid:1 1:1\n"}, what, arguments)
    assert [verdict.fault for _, verdict in pool.run([case])] == [fault]


@pytest.mark.parametrize("output", ["grouped.txt.query", "grouped.txt.group", "private.json", "x" * 230])
def test_outputs_spare_what_is_read_and_stay_private(pool, files, output):
    words = "list measures --json" if output.endswith("json") else "train grouped.txt --quiet --model"
    result = {name: content for name, content in files.items() if name.startswith("grouped")} | {"private.json": b"1"}
    case = Case("commands", result, "", (*words.split(), output))
    ((_, verdict),) = pool.run([case])
    assert (verdict.fault, verdict.refused) == ("", output.startswith("grouped"))


def test_an_answer_unlike_that_of_the_slow_reader_is_seen(pool):
    wrong = Case("readers", {"a.txt": b"1 Q0 a 1 2.5 run\n"}, "structsvm.data.load_run", ("'a.txt'", "name='other'"))
    assert [verdict.fault for _, verdict in pool.run([wrong])] == ["answer"]
