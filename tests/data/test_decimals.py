"""Numbers of text are Python's, to the last bit."""

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm.data.letor.plain import UNDECIDED, decimal, powers_of_ten


def read(text: str) -> tuple[float, int]:
    return decimal(np.frombuffer(text.encode(), dtype=np.uint8), 0, len(text), *powers_of_ten())


def bits(number: float) -> bytes:
    return struct.pack("d", number)


def check(text: str) -> bool:
    """Return whether the number was read; its value must be Python's."""
    number, end = read(text)
    if end == UNDECIDED:
        return False
    assert end == len(text)
    assert bits(number) == bits(float(text)), text
    return True


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_shortest_text_of_a_float(number):
    check(repr(number))


@given(st.integers(0, 2**64), st.integers(-345, 312))
def test_any_digits_and_exponent(mantissa, exponent):
    check(f"{mantissa}e{exponent}")


def test_random_numbers():
    rng = random.Random(0)
    texts = [f"{rng.uniform(-10, 10):.{rng.randrange(18)}f}" for _ in range(3000)]
    texts += [repr(struct.unpack("d", struct.pack("Q", rng.getrandbits(62)))[0]) for _ in range(3000)]
    texts += [str(2 * (rng.getrandbits(53) | 2**52) + 1) for _ in range(500)]  # half-way between two
    assert sum(map(check, texts)) > 6000


READ = "0 -0.0 +5 007 .5 5. -.5e1 8.5E+22 0e999 1e-7 900719925474100.0 1.7976931348623157e308"
LEFT = "18446744073709551616 36893488147419103232e-19 5e-324 1e999 1e0000001 1e23 9007199254740993"


@pytest.mark.parametrize("text", READ.split(" "))
def test_numbers_that_are_read(text):
    assert check(text)


@pytest.mark.parametrize("text", LEFT.split(" "))
def test_numbers_that_take_more(text):
    assert read(text) == (0.0, UNDECIDED)


@pytest.mark.parametrize("text", ["", "-", ".", "e5", "1e", "1e+", "--1", "x", "nan", "inf", "-.e1"])
def test_what_is_no_number(text):
    assert read(text) == (0.0, UNDECIDED)


@pytest.mark.parametrize(("text", "end"), [("1_0", 1), ("1 2", 1), ("0x10", 1), ("1.5.2", 3), ("2:1", 1)])
def test_it_ends_where_the_number_does(text, end):
    assert read(text)[1] == end
