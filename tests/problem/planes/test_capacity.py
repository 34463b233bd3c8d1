"""Planes within a budget: as many and as exact as it allows, and never more bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.problem.planes import Capacity, DualPlanes
from structsvm.problem.planes.capacity import ENOUGH_PLACES, FEWEST_PLACES, MOST_PLACES, fewest, of_use

N, D = 7, 11

sizes = st.integers(1, 300)


@given(n=sizes, d=sizes, memory=st.integers(1, 2**20))
def test_the_budget_holds_and_one_plane_more_does_not_fit(n: int, d: int, memory: int) -> None:
    exact = Capacity.exact_within(n, d, memory)
    assert exact.dtype is np.float64
    assert exact.places == of_use(n, d) or exact.bytes_for(n, d, exact.places + 1) > memory
    for capacity in (exact, Capacity.within(n, d, memory)):
        assert 0 <= capacity.places <= of_use(n, d) <= MOST_PLACES
        assert capacity.bytes_for(n, d, capacity.places) <= memory


@given(n=sizes, d=sizes, memory=st.integers(1, 2**20))
def test_float32_is_for_where_float64_does_not_fit(n: int, d: int, memory: int) -> None:
    chosen, exact = Capacity.within(n, d, memory), Capacity.exact_within(n, d, memory)
    assert (chosen.dtype is np.float64) == (exact.places == of_use(n, d))
    assert chosen.places >= exact.places
    if chosen.places < ENOUGH_PLACES:
        assert chosen.bytes_for(n, d, chosen.places + 1) > memory


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("places", [FEWEST_PLACES, 5, of_use(N, D)])
def test_the_bytes_are_those_of_the_arrays(places: int, dtype: type) -> None:
    memory = Capacity(places, dtype).bytes_for(N, D, places)
    dual = DualPlanes(D, np.ones(N), Capacity.within(N, D, memory))
    if dtype is np.float64 and dual.rounds:
        dual.stop_rounding(Capacity.exact_within(N, D, memory))
    arrays = dual.arrays
    assert arrays.G.dtype == dtype or places == of_use(N, D)
    members = (arrays.G, arrays.L, arrays.error, arrays.a, arrays.gram, arrays.age)
    assert sum(array.nbytes for array in members) <= memory
    if dtype is np.float64:
        assert not arrays.error.size
        assert sum(array.nbytes for array in members) + arrays.L.nbytes == memory  # errors of cuts from elsewhere fit


def test_the_fewer_the_examples_the_more_planes_of_each() -> None:
    assert [of_use(n, 136) for n in (10**6, 1000, 100, 21, 20, 1)] == [6, 6, 11, 31, MOST_PLACES, MOST_PLACES]
    assert [fewest(n, 136) for n in (10**6, 1000, 400, 181, 100, 1)] == [3, 3, 4, 6, 6, 6]
    assert Capacity.within(1000, 136, 10**9) == Capacity(6, np.float64)
