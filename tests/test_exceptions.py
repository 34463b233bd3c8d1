"""Errors keep their messages on their way from one process to another."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm import Ranker, StructuralSVM, data, inference, plots, rankers, solvers
from structsvm.estimators import FeatureEliminationCV, RankerCV
from structsvm.exceptions import DataFormatError, InputError, StructSVMError, UnknownNameError, printable
from tests.fuzz.verdict import Text, Unshown


@pytest.mark.parametrize(
    "error",
    [
        InputError("no"),
        DataFormatError("a.txt", 3, "it is no number"),
        DataFormatError("a.txt", None, "it is empty"),
        UnknownNameError("loss", "mpa", ["map", "ndcg"]),
        UnknownNameError("loss", "auc", iter(["map"]), "It is called roc_area here."),
    ],
)
def test_errors_can_be_sent(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain Äé 検索\u3000x\xa0y", "plain Äé 検索\u3000x\xa0y"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\tb\r\nc\x00\x7f\x9b", r"a\tb\r\nc\x00\x7f\x9b"),
        ("\u202eabc\u2066\u200f", r"\u202eabc\u2066\u200f"),
        ("\u2028\u2029\u200b\U000e0041", r"\u2028\u2029\u200b\U000e0041"),
        ("\udce9", r"\udce9"),
    ],
)
def test_control_characters_are_escaped(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown
    assert str(InputError(f"1: {text}")) == "1: " + "\n".join(map(printable, text.split("\n")))
    assert str(DataFormatError(Path(text or "."), 3, "what")) == f"{shown}, line 3: what"


def test_a_word_that_is_no_path_is_cut_off():
    error = InputError(f"the name {'x' * 100_000} is not known")
    assert str(error) == f"the name {'x' * 60}... (100,000 characters) is not known"


X, Y, QID = np.arange(24.0).reshape(8, 3) % 5, [1, 0, 0, 1, 0, 2, 0, 1], [1, 1, 1, 1, 2, 2, 2, 2]


def wide() -> Any:
    return sp.csr_array((8, 2**62))


ODD: dict[str, Callable[[], object]] = {
    "a number of 400 digits": lambda: RankerCV(Cs=10**400).fit(X, Y, QID),
    "a grid without an end": lambda: RankerCV(Cs=10**19).fit(X, Y, QID),
    "2**63 units": lambda: rankers.RankNet(2**63).fit(X, Y, QID),
    "2**62 units": lambda: rankers.RankNet(2**62).fit(X, Y, QID),
    "10**30 steps": lambda: rankers.RankBoost(n_estimators=10**30).fit(X, Y, QID),
    "a large grid": lambda: inference.grid_edges(10**30, 3),
    "a larger grid": lambda: inference.grid_edges(10**10, 10**10),
    "a text as problem": lambda: solvers.descend("x", lambda w: (0.0, w), solvers.OneSlack()),  # type: ignore[arg-type]
    "5 as left_out": lambda: data.Pool(
        X=X,
        qid=QID,
        doc_ids=QID,
        run_names=("a",),
        y=Y,
        qrels=None,
        left_out=5,  # type: ignore[arg-type]
    ),
    "a long name of topics": lambda: data.read_topics("x" * 5000),
    "a long name of data": lambda: data.load_letor("x" * 5000),
    "a long name of a run": lambda: data.load_runs("x" * 5000),
    "chains of vectors": lambda: StructuralSVM("chain_hamming").fit(
        [sp.coo_array(np.ones(8)), sp.coo_array(np.ones(3))], [Y, [0, 1, 2]]
    ),
    "a class for a ranker": lambda: plots.FeatureImportanceDisplay.from_estimator(Ranker, X, Y, qid=QID),
    "a class for scores": lambda: plots.InterpolatedPrecisionDisplay.from_estimator(Ranker, X, Y, qid=QID),
    **{
        f"2**62 columns of {type(each).__name__}": lambda each=each: each.fit(wide(), Y, QID)
        for each in (
            rankers.MaximumEntropy(),
            rankers.TreeRanker(),
            rankers.WeightSearch(),
            rankers.LambdaMART(),
            Ranker(normalize="standard"),
        )
    },
    **{
        f"{name} that cannot be shown": lambda name=name: Ranker(**{name: Unshown()}).fit(X, Y, QID)  # type: ignore[arg-type]
        for name in ("loss", "C", "solver", "normalize", "bounds")
    },
    **{
        f"{type(odd).__name__} as {name}": lambda name=name, odd=odd: Ranker().fit(
            **{"X": X, "y": Y, "qid": QID, name: odd}
        )
        for name in ("X", "y", "qid")
        for odd in (Unshown(), Text())
    },
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_arguments_raise_errors_of_the_library(kind: str) -> None:
    with pytest.raises(StructSVMError) as caught:
        ODD[kind]()
    assert len(str(caught.value)) < 1000


def test_elimination_by_a_tiny_share_ends() -> None:
    search = FeatureEliminationCV(Ranker(C=0.1), step=1e-10, cv=2).fit(X, Y, QID)
    assert search.sizes_.tolist() == [1, 2, 3]


def test_long_doubles_are_labels(tmp_path: Path) -> None:
    StructuralSVM("multiclass").fit(X, np.array(Y, dtype=np.longdouble)).save(tmp_path / "m.npz")


def test_messages_are_bounded_and_keep_their_remedy() -> None:
    message = str(InputError(" ".join(["many words"] * 1000) + ": leave it out"))
    assert len(message) < 2100
    assert message.startswith("many words")
    assert message.endswith("leave it out")
