"""Categories of data frames: which columns are categories, and their features of 0 and 1."""

import numpy as np
import pandas as pd
import pytest

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.foundation.categories import categories_in, one_hot, read_encoded

FRAME = pd.DataFrame({"kind": ["a", " b ", None, "a"], "x": [1.0, np.nan, 3.0, 4.0]})


def test_each_value_is_a_feature_and_other_texts_are_zero_in_all():
    values, names = read_encoded(FRAME, ["kind"])
    assert names == ["kind=a", "kind=b", "x"]
    np.testing.assert_array_equal(values[:, :2], [[1, 0], [0, 1], [0, 0], [1, 0]])
    np.testing.assert_array_equal(values[:, 2], FRAME["x"])
    again, _ = read_encoded(FRAME.assign(kind="c"), ["kind"], ["x", "kind=b", "kind=a"])
    np.testing.assert_array_equal(again[:, 1:], np.zeros((4, 2)))
    assert one_hot([], ["a"]).shape == (0, 1)


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["a", "b"] * 4, True),
        (pd.Categorical(list("abcdefgh")), True),
        (pd.Categorical([3, 1, 2, 1] * 2), False),
        (list("abcdefgh"), False),
        (["a"] * 8, False),
        (["True", "false"] * 4, False),
        (["1", "2", "3", "x"] * 2, False),
        (["2026-01-01", "2026-01-02"] * 4, False),
        ([None] * 8, False),
        ([1.0] * 8, False),
    ],
)
def test_columns_of_few_texts_or_declared_texts_are_categories(cells, expected):
    assert categories_in(pd.DataFrame({"kind": cells})) == ("kind",) * expected


def test_columns_that_cannot_be_matched_are_an_error():
    with pytest.raises(InputError, match="the column 'kind=c' is named like a value of another column: rename it"):
        read_encoded(FRAME.assign(**{"kind=c": 1.0}), ["kind"])
    ranker = Ranker(missing=0).fit(pd.concat([FRAME] * 2), [1, 0] * 4, qid=[1] * 8)
    with pytest.raises(InputError, match="X lacks the column of categories 'kind' that Ranker was fitted with"):
        ranker.predict(FRAME[["x"]])
    encoded = pd.DataFrame(*read_encoded(FRAME, ["kind"])[:1], columns=ranker.feature_names_in_)
    np.testing.assert_array_equal(ranker.predict(encoded), ranker.predict(FRAME))
