"""Calls of the Python functions that users call, with odd arrays, numbers and objects among their arguments."""

import importlib
import inspect
import re
from collections.abc import Mapping
from functools import cache
from random import Random

from tests.fuzz.case import Case, Files
from tests.fuzz.mutations import NUMBERS, odd_word

_X = "np.arange(24.0).reshape(8, 3) % 5"
_Y, _QID = "[1, 0, 0, 1, 0, 2, 0, 1]", "[1, 1, 1, 1, 2, 2, 2, 2]"
_ROWS = {"X": _X, "y": _Y, "qid": _QID}
_MEASURED = {"scores": "[3.0, 1, 2, 2, 0, 5, 4, 1]", "labels": _Y, "qid": _QID}
_TREC = {"qid": "['1', '1', '2', '2']", "doc_ids": "['a', 'b', 'a', 'c']"}
_FRAME = f"pd.DataFrame({_X}, columns=list('abc'))"
_RUNS = "[data.Run.from_scores(n, ['1', '1', '2'], ['a', 'b', 'c'], [3, 2, 1]) for n in 'xy']"
_QRELS = "data.Qrels.from_grades(['1', '1', '2'], ['a', 'b', 'c'], [1, 0, 1])"

CALLS: tuple[tuple[str, Mapping[str, str]], ...] = (
    ("Ranker('map').fit", {**_ROWS, "sample_weight": "[1.0, 2.0]"}),
    ("Ranker('zero_one', fit_intercept=True).fit", {**_ROWS, "sample_weight": "np.ones(8)"}),
    ("Ranker('ndcg@2', solver='n-slack', max_iter=5).path", {**_ROWS, "Cs": "[0.1, 1]"}),
    (f"Ranker('roc_area').fit({_X}, {_Y}, {_QID}).predict", {"X": _X}),
    (f"Ranker('map').fit({_X}, {_Y}, {_QID}).score", {**_ROWS, "sample_weight": "np.ones(8)"}),
    (f"Ranker('map').fit({_X}, {_Y}, {_QID}).most_violated", {"X": f"({_X})[:4]", "y": f"{_Y}[:4]"}),
    ("StructuralSVM('multiclass').fit", {"X": _X, "y": _Y, "sample_weight": "np.ones(8)"}),
    (f"StructuralSVM('multiclass').fit({_X}, {_Y}).predict", {"X": _X}),
    (f"StructuralSVM('multiclass').fit({_X}, {_Y}).score", {"X": _X, "y": _Y}),
    ("StructuralSVM('chain_hamming').fit", {"X": f"[{_X}, ({_X})[:3]]", "y": f"[{_Y}, [0, 1, 2]]"}),
    *(
        (f"{name}.fit({_FRAME}, {_Y}, {_QID}).predict", {"X": _FRAME})
        for name in ("Ranker('map')", "rankers.RankSVM()")
    ),
    ("Problem.from_queries", {**_ROWS, "loss": "'map'", "C": "1.0", "sample_weight": "None"}),
    ("Problem.from_examples", {"xs": _X, "ys": _Y, "loss": "'multiclass'"}),
    ("most_violated", {"x": f"({_X})[:4]", "y": f"{_Y}[:4]", "w": "np.ones(3)", "loss": "'map'"}),
    *((f"metrics.{name}().mean", _MEASURED) for name in ("RR", "NDCG", "Rprec")),
    ("metrics.P(3).mean", _MEASURED),
    ("metrics.NDCG", {"k": "2", "gain": "'linear'", "discount": "'letor'"}),
    (
        "metrics.AP().mean",
        {**_MEASURED, "weights": "[1, 2]", "doc_ids": "list('abcdefgh')", "judged": f"({_Y}, {_QID})"},
    ),
    ("metrics.AUC().per_query", _MEASURED),
    ("metrics.rank_lists", {**_MEASURED, "doc_ids": "list('abcdefgh')"}),
    ("metrics.parse_measure", {"text": "'ndcg@10'"}),
    *((f"registry.{name}.create", {"spec": "'map'"}) for name in ("losses", "measures", "solvers", "backends")),
    ("features.Thresholds(bins=3).fit_transform", {"X": _X}),
    ("features.FillMissing().fit_transform", {"X": _X}),
    *(
        (f"features.{n}().fit_transform", {"X": _X, "qid": _QID})
        for n in ("QueryMinMax", "QueryPercentiles", "ReciprocalRanks")
    ),
    *(
        (f"fusion.{n}().fit({_X}, qid={_QID}).predict", {"X": _X, "qid": _QID})
        for n in ("CombMNZ", "BordaCount", "Condorcet")
    ),
    ("data.Qrels.from_grades", {**_TREC, "grades": "[0, 1, 2, 0]"}),
    ("data.Run.from_scores", {"name": "'run'", **_TREC, "scores": "[1.0, 2, 3, 4]"}),
    ("data.write_run", {"path": "'new.run'", **_TREC, "scores": "[1.0, 2, 3, 4]", "tag": "'run'"}),
    (f"{_QRELS}.labels", _TREC),
    ("data.join_runs", {"runs": _RUNS, "depth": "10", "topics": "['1']"}),
    ("data.pool_runs", {"runs": _RUNS, "qrels": _QRELS, "depth": "10"}),
    ("fusion.fuse_runs", {"runs": _RUNS, "method": "'borda'", "depth": "10", "length": "5", "name": "'z'"}),
    *(
        (f"rankers.{name}.fit", _ROWS)
        for name in (
            "RankBoost(n_estimators=2)",
            "RankNet(max_iter=2)",
            "RankSVM()",
            "WeightSearch(max_iter=1)",
            "MaximumEntropy()",
            "LambdaMART(n_estimators=2)",
        )
    ),
    ("rankers.Preferences", {"better": "[0, 3]", "worse": "[1, 2]", "magnitude": "1.0"}),
    (
        "rankers.Preferences.from_clicks",
        {"sessions": "[1, 1, 1]", "rows": "[0, 1, 2]", "ranks": "[1, 2, 3]", "clicked": "[0, 1, 0]"},
    ),
    ("operators.BinnedMatrix", {"codes": "np.array([[0, 1], [1, 2]], dtype=np.uint8)", "offsets": "[0, 2, 5]"}),
    (
        "qp.DualQP",
        {
            "H": "np.eye(2)",
            "b": "np.ones(2)",
            "group": "np.zeros(2, dtype=np.int64)",
            "cap": "np.ones(1)",
            "tol": "1e-6",
        },
    ),
    (
        "comparison.compare",
        {
            "problems": f"Problem.from_queries({_X}, np.array({_Y}, float), {_QID})",
            "solvers": "'one-slack'",
            "backends": "'active-set'",
            "Cs": "1.0",
            "tol": "0.1",
            "time_limit": "2.0",
        },
    ),
)
"""Functions and arguments that go with each other."""

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

_MATRICES = ("X", "x", "xs", "scores", "codes")
"""Arguments that may be damaged sparse matrices; of others, whose messages show them, scipy cannot make a text."""

_ODD_MATRIX = re.compile(r"_csr|_as\(")

_MODULES = ("estimators", "losses", "metrics", "solvers", "solvers.qp", "features", "fusion", "rankers", "protocols")
"""Modules whose public classes are made with odd settings."""


def make(rng: Random, files: Files) -> Case:
    """Return a call with one or two odd arguments; or an object with odd settings."""
    if rng.random() < 0.3:
        what, settings = rng.choice(_classes())
        given = {name: _setting(rng) for name in rng.sample(settings, min(len(settings), rng.choice([1, 1, 2])))}
    else:
        what, valid = rng.choice(CALLS)
        given = dict(valid)
        for _ in range(rng.choice([1, 1, 1, 2])):
            given[rng.choice(list(given))] = (
                rng.choice(ODD) if rng.random() < 0.85 else _changed(rng, rng.choice(list(given.values())))
            )
        if rng.random() < 0.2:
            del given[rng.choice(list(given))]
    given = {
        name: source if name in _MATRICES or not _ODD_MATRIX.search(source) else "None"
        for name, source in given.items()
    }
    return Case("api", {}, what, tuple(f"{name}={source}" for name, source in given.items()))


def _changed(rng: Random, source: str) -> str:
    """Return a valid argument with something done to it."""
    way = rng.choice(
        ["np.asarray({})[::-1]", "np.asarray({})[1:]", "np.asarray({}, dtype=float) * 1e300", "list(np.asarray({}))"]
    )
    way = rng.choice(
        [
            way,
            "np.asarray({}, dtype=object)",
            "np.asarray({}, dtype=str)",
            "[{}]",
            "np.asarray({})[..., None]",
            "-np.asarray({})",
        ]
    )
    return way.format(source)


def _setting(rng: Random) -> str:
    if rng.random() < 0.6:
        return rng.choice(ODD)
    return repr(odd_word(rng)[:5000]) if rng.random() < 0.4 else repr(rng.choice(NUMBERS))


@cache
def _classes() -> list[tuple[str, list[str]]]:
    found = []
    for name in _MODULES:
        module = importlib.import_module(f"structsvm.{name}")
        for public in module.__all__:
            thing = getattr(module, public)
            if inspect.isclass(thing) and not inspect.isabstract(thing):
                settings = [
                    p.name
                    for p in inspect.signature(thing).parameters.values()
                    if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)
                ]
                if settings:
                    found.append((f"{name.rpartition('.')[2]}.{public}", settings))
    return found
