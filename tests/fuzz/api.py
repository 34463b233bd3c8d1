"""Public calls of the examples of docstrings, with odd arrays, numbers and objects among their arguments."""

import contextlib
import re
from collections.abc import Callable
from functools import cache
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from tests.docs.reference import PACKAGES
from tests.fuzz.case import Case, Files
from tests.fuzz.mutations import NUMBERS, odd_word
from tests.public_calls import UNCHECKED, calls

ODD = tuple(
    re.split(
        r"\s{2,}",
        r"""
  None  True  0  -1  1  2**70  -2**70  1.5  float('nan')  float('inf')  1e308  1e-320  1j  ''  'map'  '\x1b[31m'
  b'1'  []  ()  {}  set()  {1: 2}  object()  int  len  iter([1])  range(8)  [[1], [1, 2]]  [None] * 8  ['a'] * 8
  [1, 'a', None, 2.0, 1, 0, 1, 0]  [float('nan')] * 8  [2**70] * 8  np.array(3.0)  np.zeros(0)  np.zeros((0, 3))
  np.zeros((8, 0))  np.zeros((8, 3, 2))  np.zeros((3, 8))  np.zeros(8)  np.ones(8)  np.ones(7)  np.ones((8, 1))
  np.ones((1, 8))  np.arange(8)  np.arange(8) * 1j  np.full(8, np.inf)  np.full((8, 3), np.nan)
  np.full((8, 3), 1e308)  np.full((8, 3), 1e155)  np.ones((8, 3)) * 1j  np.ones((8, 3), dtype=object)
  np.array(['x'] * 8)  np.array(['1'] * 8)  np.ones(8, dtype='M8[s]')  np.ones(8, 'f2')
  np.ones((8, 3), dtype='f4')  np.ones((8, 3), dtype='>f8')  np.ones((8, 3), dtype='g')
  np.ones((8, 3), dtype=bool)  np.ma.masked_equal(np.arange(8), 3)  np.ma.masked_less(np.ones((8, 3)), 2)
  np.matrix(np.ones((8, 3)))  np.zeros(8, dtype=[('a', 'f8'), ('b', 'i4')])  np.broadcast_to(1.0, (8, 3))
  np.ones((3, 8)).T  np.ones((16, 6))[::2, ::2]  np.frombuffer(b'\0' * 65, dtype='f8', count=8, offset=1)
  np.full(8, 5e-324)  np.full(8, -0.0)  np.full(8, 2**53 + 1)  sp.csr_array(np.eye(8, 3))
  sp.csc_matrix(np.eye(8, 3))  sp.coo_array(np.ones((8, 3)))  sp.csr_array((8, 10**9))  sp.bsr_array(np.eye(8, 4))
  sp.dia_array(np.eye(8, 3))  sp.lil_array(np.eye(8, 3))  sp.csr_array(np.ones((8, 3)) * 1j)
  _csr([1.0], [5], [0, 1, 1, 1, 1, 1, 1, 1, 1])  _csr([1.0], [-1], [0, 1, 1, 1, 1, 1, 1, 1, 1])
  _csr([1.0], [0], [0] * 8 + [10**6])  _csr([1.0, 2.0], [1, 1], [0, 2, 2, 2, 2, 2, 2, 2, 2])
  _csr([1.0, 2.0], [2, 0], [0, 2, 2, 2, 2, 2, 2, 2, 2])  _csr([1.0], [0], [0, 1, 0, 1, 1, 1, 1, 1, 1])
  _csr([], [], [])  _csr([np.nan], [0], [0, 1, 1, 1, 1, 1, 1, 1, 1])  pd.DataFrame(np.ones((8, 3)))
  _csr(np.ma.masked_equal([1.0, 2.0], 2), [0, 1], [0, 2, 2, 2, 2, 2, 2, 2, 2])
  _as(sp.csr_array(np.eye(8, 3)), data=np.ma.masked_equal([1.0, 2.0, 1.0], 2))
  _as(sp.csr_array(np.eye(8, 3)), indices=np.arange(3, dtype=np.uint64))
  _as(sp.csr_array(np.eye(8, 3)), indices=np.arange(3, dtype=np.int16))
  _as(sp.csr_array(np.eye(8, 3)), indices=None)  _as(sp.csr_array(np.eye(8, 3)), indices=[0, 1, 2])
  _as(sp.csr_array(np.eye(8, 3)), indptr=None)  _as(sp.csr_array(np.eye(8, 3)), indptr=[0, 1, 2, 3, 3, 3, 3, 3, 3])
  _as(sp.csr_array(np.eye(8, 3)), indptr=np.minimum(np.arange(9), 3).astype(np.uint64))
  _as(sp.csr_array(np.eye(8, 3)), data=None)  _as(sp.csr_array(np.eye(8, 3)), data=np.array(['1', 'x', '2']))
  _as(sp.csc_array(np.eye(8, 3)), indices=np.arange(3, dtype=np.int16))
  _as(sp.lil_array(np.eye(8, 3)), data=np.array([['x']] * 8 + [0], dtype=object)[:8])
  _as(sp.lil_array(np.eye(8, 3)), rows=None)  sp.coo_array(np.ones(8))  sp.coo_array(np.ones(3))
  np.broadcast_to(1.0, (10**12, 3))  np.broadcast_to(1.0, 10**12)  np.broadcast_to(1, (8, 10**12))
  pd.DataFrame(np.ones((8, 3)), columns=list('cab'))  pd.DataFrame(np.ones((8, 3)), columns=list('abx'))
  pd.DataFrame(np.ones((8, 4)), columns=list('abca'))  pd.DataFrame(np.ones((8, 2)), columns=list('ab'))
  pd.DataFrame(np.ones((8, 3)), columns=[0, 'a', None])
  pd.DataFrame(np.ones((8, 3)), columns=list('abc'), dtype=object)
  pd.DataFrame({'a': ['x'] * 8})  pd.Series([1, None] * 4, dtype='Int64')
  pd.Series(['a', 'b'] * 4, dtype='category')  pd.DataFrame({'a': pd.array([1, None] * 4, dtype='Float64')})
  10**400  2**63  2**62  10**30  _Unshown()  _Text()  np.ones(8, dtype='g')  np.arange(8, dtype='g')  Ranker
  Ranker.fit  [np.ones(1)] * 8  np.ones(1)  sp.coo_array(np.arange(8.0))  [sp.coo_array(np.ones(8))] * 2
  sp.csr_array((8, 2**62))  '1_0'  '\u0663'  'x' * 5000  list(range(5000))
  pd.date_range('2000', periods=8)  pd.Index([1, 1, 1, 1, 2, 2, 2, 2])
  """.strip(),
    )
)
"""Odd values, most of them useless as an argument."""

_LEFT_OUT = ("distributed", "protocols.experiment.report", "testing")
"""Packages that need a cluster, format values that the package makes, or take long."""

_MATRICES = ("X", "x", "xs", "scores", "codes")
"""Arguments that may be damaged sparse matrices; of others, whose messages show them, scipy cannot make a text."""

_ODD_MATRIX = re.compile(r"_csr|_as\(")

_CALLABLE = ("int", "len", "Ranker", "Ranker.fit")
"""Values that raise their own errors if they are called as a callback."""


@cache
def parameters(package: str) -> dict[str, list[str]]:
    """Return the parameters of the calls of a package."""
    with TemporaryDirectory() as folder, contextlib.chdir(folder):
        return {
            call.name: [name for name in call.parameters if f"{call.name}.{name}" not in UNCHECKED]
            for call in calls(package)
            if call.name not in UNCHECKED
        }


def call(package: str, name: str) -> Callable[..., Any]:
    """Return the call of a name, which takes some of its arguments anew."""
    return next(call.function for call in calls(package) if call.name == name)


def make(rng: Random, files: Files) -> Case:
    """Return a call with one or two odd arguments."""
    names = []
    while not names:
        package = rng.choice([name for name in PACKAGES if name not in _LEFT_OUT])
        name = rng.choice(list(parameters(package)) or [""])
        names = parameters(package).get(name, [])
    arguments = {parameter: _odd(rng) for parameter in rng.sample(names, min(len(names), rng.choice([1, 1, 1, 2])))}
    sources = (
        f"{parameter}={source if _is_judged(parameter, source) else None}" for parameter, source in arguments.items()
    )
    return Case("api", {}, f"call({package!r}, {name!r})", tuple(sources))


def _is_judged(parameter: str, source: str) -> bool:
    """Return False if an error would be that of SciPy's text of a matrix, or of a callback."""
    return not (parameter not in _MATRICES and _ODD_MATRIX.search(source)) and not (
        parameter == "callback" and source in _CALLABLE
    )


def _odd(rng: Random) -> str:
    if rng.random() < 0.8:
        return rng.choice(ODD)
    return repr(odd_word(rng)[:5000]) if rng.random() < 0.4 else repr(rng.choice(NUMBERS))
