"""Compiled parser for plain lines in LETOR's format; it stops at lines in another form."""

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


_MOST_DIGITS = 18


@compiled
def read_plain(
    text: NDArray[np.uint8],
    at: int,
    most: int,
    with_labels: bool,
    with_queries: bool,
    first_index: int,
    exact: Vector,
    leading: NDArray[np.uint64],
    space: tuple[Any, ...],
) -> int:
    """Append plain lines from ``at`` on to a `Space`; return the start of the first other line, or the end."""
    labels, queries, ends, places, indices, values, counts = space
    end = len(text)
    row, stored, lines, width = counts[0], counts[1], counts[2], counts[3]
    start = at
    while start < end:
        at = _after_blanks(text, start, end)
        entries, largest = stored, 0
        if not _ends_line(text, at, end):
            first = at
            labels[row], at = decimal(text, at, end, exact, leading)
            if not with_labels and (text[first] == 113 or (at != UNDECIDED and at < end and text[at] == 58)):
                labels[row], at = np.nan, first
            elif at == UNDECIDED or (
                at == _after_blanks(text, at, end) and (with_queries or not _ends_line(text, at, end))
            ):
                break
            at = _after_blanks(text, at, end)
            queries[row] = 0
            if with_queries:
                if at + 4 >= end or text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
                    break
                queries[row], at = _whole(text, at + 4, end)
                if at == UNDECIDED:
                    break
                # A merge with missing rows has made floats of the ids.
                if at + 1 < end and text[at] == 46 and text[at + 1] == 48:
                    at += 2
                    while at < end and text[at] == 48:
                        at += 1
            begin = -1 if with_queries else at
            while True:
                after = _after_blanks(text, at, end)
                if _ends_line(text, after, end):
                    at = after
                    break
                if after == at and at != begin:
                    at = UNDECIDED
                    break
                index, at = _whole(text, after, end)
                index += 1 - first_index
                if at == UNDECIDED or at >= end or text[at] != 58 or not largest < index <= most:
                    at = UNDECIDED
                    break
                value, at = decimal(text, at + 1, end, exact, leading)
                if at == UNDECIDED:
                    break
                largest = index
                if value != 0.0:
                    indices[entries], values[entries] = index - 1, value
                    entries += 1
            if at == UNDECIDED:
                break
            places[row, 0], places[row, 1] = lines, -1
            if at < end and text[at] == 35:
                places[row, 1] = at
            ends[row] = entries
            row += 1
        while at < end and text[at] != 10:
            at += 1
        start = min(at + 1, end)
        lines += 1
        stored = entries
        width = max(width, largest)
    counts[0], counts[1], counts[2], counts[3] = row, stored, lines, width
    return start


@compiled
def _after_blanks(text: NDArray[np.uint8], at: int, end: int) -> int:
    while at < end and (text[at] == 32 or text[at] == 9):
        at += 1
    return at


@compiled
def _ends_line(text: NDArray[np.uint8], at: int, end: int) -> bool:
    """Return whether the line ends or its comment begins; blocks have carriage returns only at line ends."""
    return at >= end or text[at] == 10 or text[at] == 35 or text[at] == 13


@compiled
def _whole(text: NDArray[np.uint8], at: int, end: int) -> tuple[Any, int]:
    """Read a whole number of about 18 digits, see `decimal`."""
    negative = at < end and text[at] == 45
    if negative:
        at += 1
    first, number = at, np.int64(0)
    while at < end and np.uint8(text[at] - np.uint8(48)) <= 9:
        number = number * 10 + np.int64(text[at]) - 48
        at += 1
    if not 0 < at - first <= _MOST_DIGITS:
        return np.int64(0), UNDECIDED
    return -number if negative else number, at
