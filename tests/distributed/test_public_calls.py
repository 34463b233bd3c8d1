"""Wrong arguments of public calls on a cluster raise errors of this package."""

import pytest

from structsvm.distributed import DaskRanker, read_partitions
from structsvm.distributed.partitions import Partitions
from structsvm.exceptions import StructSVMError
from tests.distributed.queries import arrays, letor_files, ranking
from tests.public_calls import BAD

DATA = ranking(queries=6)

QUICK = ("text", "NaN")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def calls(client, tmp_path_factory):
    X, y, qid = arrays(DATA, 18)
    rows = {"X": X, "y": y, "qid": qid}
    fitted = DaskRanker("map", client=client).fit(X, y, qid)
    path = letor_files(DATA, [], tmp_path_factory.mktemp("files"))[0]
    columns = {"label": "label", "qid": "qid", "features": None, "n_features": 5, "sparse": None, "dtype": "float32"}
    settings = {name: value for name, value in DaskRanker().get_params().items() if name != "client"}
    return [
        (lambda **values: DaskRanker(client=client, **values).fit(X, y, qid), settings),
        (DaskRanker("map", client=client).fit, {**rows, "sample_weight": y * 0 + 1, "callback": None}),
        (fitted.predict, {"X": X, "qid": qid}),
        (fitted.score, rows),
        (fitted.evaluate, {**rows, "measures": ["map"]}),
        (lambda **values: Partitions.of(client=client, **values), rows),
        (lambda **values: read_partitions(client=client, **values), {"paths": [path], **columns}),
    ]


@pytest.mark.parametrize("bad", [pytest.param(bad, marks=[pytest.mark.slow] * (bad not in QUICK)) for bad in BAD])
def test_wrong_arguments_raise_errors_of_this_package(calls, bad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    errors = []
    for number, (function, arguments) in enumerate(calls):
        for argument in arguments:
            try:
                function(**{**arguments, argument: BAD[bad]})
            except StructSVMError:
                pass
            except Exception as error:
                errors.append(f"{number}({argument}={bad}): {type(error).__name__}: {str(error)[:200]}")
    assert not errors, "\n".join(errors)


@pytest.mark.slow
def test_right_arguments_raise_no_error(calls):
    for function, arguments in calls:
        function(**arguments)
