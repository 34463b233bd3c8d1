"""What cannot be used is refused in our words, whatever it is."""

import pytest

from structsvm.distributed import DaskRanker, read_partitions
from structsvm.distributed.partitions import Partitions
from structsvm.exceptions import StructSVMError
from tests.distributed.queries import arrays, letor_files, ranking
from tests.public_calls import BAD

DATA = ranking(queries=6)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def calls(client, tmp_path_factory):
    X, y, qid = arrays(DATA, 18)
    rows = {"X": X, "y": y, "qid": qid}
    fitted = DaskRanker("map", client=client).fit(X, y, qid)
    path = letor_files(DATA, [], tmp_path_factory.mktemp("files"))[0]
    how = {"label": "label", "qid": "qid", "features": None, "n_features": 5, "sparse": None, "dtype": "float32"}
    settings = {name: value for name, value in DaskRanker().get_params().items() if name != "client"}
    return [
        (lambda **given: DaskRanker(client=client, **given).fit(X, y, qid), settings),
        (DaskRanker("map", client=client).fit, {**rows, "sample_weight": y * 0 + 1, "callback": None}),
        (fitted.predict, {"X": X, "qid": qid}),
        (fitted.score, rows),
        (fitted.evaluate, {**rows, "measures": ["map"]}),
        (lambda **given: Partitions.of(client=client, **given), rows),
        (lambda **given: read_partitions(client=client, **given), {"paths": [path], **how}),
    ]


@pytest.mark.parametrize("bad", BAD)
def test_what_cannot_be_used_is_refused_in_our_words(calls, bad, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = []
    for number, (function, arguments) in enumerate(calls):
        for argument in arguments:
            try:
                function(**{**arguments, argument: BAD[bad]})
            except StructSVMError:
                pass
            except Exception as error:
                said.append(f"{number}({argument}={bad}): {type(error).__name__}: {str(error)[:200]}")
    assert not said, "\n".join(said)


def test_what_can_be_used_is(calls):
    for function, arguments in calls:
        function(**arguments)
