"""Selection against NumPy's sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from structsvm.text.accumulation import largest_to_front

few = st.integers(-3, 3)
many = st.integers(-(1 << 63), (1 << 63) - 1)
floats = st.sampled_from([0.0, -0.0, np.inf, -np.inf, 1.5, -1.5]) | st.floats(allow_nan=False)


@pytest.mark.parametrize(("dtype", "elements"), [(np.int64, few | many), (np.int64, few), (np.float64, floats)])
@given(data=st.data())
def test_the_largest_are_in_front(dtype, elements, data):
    values = data.draw(st.integers(1, 60).flatmap(lambda n: hnp.arrays(dtype, n, elements=elements)))
    k = data.draw(st.integers(1, len(values)))
    given = np.sort(values)
    assert largest_to_front(values, k) == given[-k]
    assert np.sort(values[:k]).tolist() == given[len(given) - k :].tolist()
    assert np.sort(values).tolist() == given.tolist()


@pytest.mark.parametrize(
    "values", [np.arange(5000), np.arange(5000)[::-1], np.zeros(5000, np.int64), np.r_[:999, :999]]
)
def test_orders_that_mislead(values):
    values = values.astype(np.int64)
    given = np.sort(values)
    for k in (1, 2, len(values) // 2, len(values)):
        assert largest_to_front(values.copy(), k) == given[-k]
