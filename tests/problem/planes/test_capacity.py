"""Planes within a budget: as many as it allows, and never more bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.problem.planes import DualPlanes
from structsvm.problem.planes.capacity import (
    FEWEST_PLACES,
    MOST_PLACES,
    bytes_of_planes,
    fewest,
    of_use,
    places_within,
)

N, D = 7, 11

sizes = st.integers(1, 300)


@given(n=sizes, d=sizes, memory=st.integers(1, 2**20))
def test_the_budget_holds_and_one_plane_more_does_not_fit(n: int, d: int, memory: int) -> None:
    places = places_within(n, d, memory)
    assert 0 <= places <= of_use(n, d) <= MOST_PLACES
    assert bytes_of_planes(n, d, places) <= memory
    assert places == of_use(n, d) or bytes_of_planes(n, d, places + 1) > memory


@pytest.mark.parametrize("places", [FEWEST_PLACES, 5, of_use(N, D)])
def test_the_bytes_are_those_of_the_arrays(places: int) -> None:
    arrays = DualPlanes(D, np.ones(N), places).arrays
    members = (arrays.G, arrays.L, arrays.a, arrays.gram, arrays.age)
    assert sum(array.nbytes for array in members) == bytes_of_planes(N, D, places)


def test_the_fewer_the_examples_the_more_planes_of_each() -> None:
    assert [of_use(n, 136) for n in (10**6, 1000, 100, 21, 20, 1)] == [6, 6, 11, 31, MOST_PLACES, MOST_PLACES]
    assert [fewest(n, 136) for n in (10**6, 1000, 400, 181, 100, 1)] == [3, 3, 4, 6, 6, 6]
    assert places_within(1000, 136, 10**9) == 6
