"""Parse decimals in compiled loops as ``float`` does, by Clinger's and Eisel's algorithms, or report failure."""

import math
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.foundation.compute.compilation import compiled
from structsvm.foundation.types import Vector

UNDECIDED = -1
"""Position returned by `decimal` if it could not parse a number."""

_LEAST, _MOST = -342, 308
_BITS = 64

# NumPy and numba turn uint64 combined with int into float, so all constants are uint64.
_ZERO, _ONE, _THREE, _NINE, _TEN = (np.uint64(k) for k in (0, 1, 3, 9, 10))
_HALF_BITS, _ALL_BITS, _LOW = np.uint64(32), np.uint64(63), np.uint64(0xFFFFFFFF)
_TAIL = np.uint64(0x1FF)
_EXACT = np.uint64(2**53)
_TOP = np.uint64(2**63)
_MANTISSA = np.uint64(53)


@cache
def powers_of_ten() -> tuple[Vector, NDArray[np.uint64]]:
    """Return 10**0 to 10**22, shape (23,), and 128 bits of 10**-342 to 10**308 in two halves, shape (651, 2)."""
    exact = np.array([10.0**k for k in range(23)])
    leading = np.empty((_MOST - _LEAST + 1, 2), dtype=np.uint64)
    for k in range(_LEAST, _MOST + 1):
        power = 10 ** abs(k)
        if k < 0:
            power = (1 << (power.bit_length() + 2 * _BITS)) // power
        spare = power.bit_length() - 2 * _BITS
        bits = power >> spare if spare >= 0 else power << -spare
        leading[k - _LEAST] = bits >> _BITS, bits & (2**_BITS - 1)
    return exact, leading


@compiled
def decimal(
    text: NDArray[np.uint8], at: int, end: int, exact: Vector, leading: NDArray[np.uint64]
) -> tuple[float, int]:
    """Parse a number such as ``-1.5e-3`` at ``text[at]``; return it and the next position, or `UNDECIDED`."""
    negative = False
    if at < end and (text[at] == 43 or text[at] == 45):
        negative = text[at] == 45
        at += 1
    mantissa, digits, exponent = _ZERO, 0, np.int64(0)
    first = at
    while at < end and np.uint8(text[at] - np.uint8(48)) <= 9:
        mantissa = mantissa * _TEN + np.uint64(text[at] - np.uint8(48))
        digits += digits > 0 or text[at] != 48
        at += 1
    count = at - first
    if at < end and text[at] == 46:
        at += 1
        first = at
        while at < end and np.uint8(text[at] - np.uint8(48)) <= 9:
            mantissa = mantissa * _TEN + np.uint64(text[at] - np.uint8(48))
            digits += digits > 0 or text[at] != 48
            at += 1
        count += at - first
        exponent = np.int64(first - at)
    if count == 0 or digits > 19:
        return 0.0, UNDECIDED
    if at < end and (text[at] == 101 or text[at] == 69):
        at += 1
        lower = False
        if at < end and (text[at] == 43 or text[at] == 45):
            lower = text[at] == 45
            at += 1
        first, power = at, np.int64(0)
        while at < end and np.uint8(text[at] - np.uint8(48)) <= 9:
            if at - first >= 6:
                return 0.0, UNDECIDED
            power = power * 10 + np.int64(text[at]) - 48
            at += 1
        if at == first:
            return 0.0, UNDECIDED
        exponent += -power if lower else power
    number = 0.0
    if mantissa != _ZERO:
        while exponent < 0 and mantissa > _EXACT and mantissa % _TEN == _ZERO:
            mantissa //= _TEN
            exponent += 1
        if mantissa <= _EXACT and -22 <= exponent <= 22:
            number = np.float64(mantissa)
            number = number / exact[-exponent] if exponent < 0 else number * exact[exponent]
        else:
            number = _nearest(mantissa, exponent, leading)
            if number == 0.0:
                return 0.0, UNDECIDED
    return -number if negative else number, at


@compiled
def _nearest(mantissa: Any, exponent: Any, leading: NDArray[np.uint64]) -> float:
    """Return the float64 nearest to ``mantissa * 10**exponent``; 0 if 128 bits cannot decide."""
    if exponent < _LEAST or exponent > _MOST:
        return 0.0
    shift = 0
    while mantissa < _TOP:
        mantissa <<= _ONE
        shift += 1
    two = ((217706 * exponent) >> 16) + 64 - shift
    high, low = _product(mantissa, leading[exponent - _LEAST, 0])
    # The lower half of the power may carry into the tail.
    if high & _TAIL == _TAIL and low + mantissa < mantissa:
        carry, least = _product(mantissa, leading[exponent - _LEAST, 1])
        total = low + carry
        if total < low:
            high += _ONE
        low = total
        if high & _TAIL == _TAIL and low + _ONE == _ZERO and least + mantissa < mantissa:
            return 0.0
    upper = high >> _ALL_BITS
    bits = high >> (upper + _NINE)
    if upper == _ZERO:
        two -= 1
    # The number may be half-way between two floats.
    if low == _ZERO and high & _TAIL == _ZERO and bits & _THREE == _ONE:
        return 0.0
    bits = (bits + (bits & _ONE)) >> _ONE
    if bits >> _MANTISSA != _ZERO:
        bits >>= _ONE
        two += 1
    if not -1022 <= two <= 1023:
        return 0.0
    return math.ldexp(np.float64(bits), two - 52)


@compiled
def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """Return the upper and lower 64 bits of a product."""
    a_high, a_low, b_high, b_low = a >> _HALF_BITS, a & _LOW, b >> _HALF_BITS, b & _LOW
    middle = a_high * b_low + ((a_low * b_low) >> _HALF_BITS)
    other = a_low * b_high + (middle & _LOW)
    return a_high * b_high + (middle >> _HALF_BITS) + (other >> _HALF_BITS), a * b
