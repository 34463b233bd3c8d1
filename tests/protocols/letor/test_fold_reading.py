"""The data of a fold, of tables."""

import pytest

from structsvm.exceptions import InputError
from structsvm.protocols.letor import Fold
from structsvm.protocols.letor.folds import read_fold


def test_a_query_in_two_sets_is_an_error_with_their_files(tmp_path):
    paths = [tmp_path / f"S{k}.csv" for k in range(1, 5)]
    for path, query in zip(paths, (1, 2, 3, 2), strict=True):
        path.write_text(f"label,qid,one\n1,{query},0.5\n0,{query},0.1\n")
    first, second, third, last = paths
    with pytest.raises(InputError, match="a query must be in one set of a fold only") as caught:
        read_fold(Fold("one", train=(first, second), validation=(third,), test=(last,)))
    assert f"query 2 is in {first} or {second}, and in {last}: " in str(caught.value)
