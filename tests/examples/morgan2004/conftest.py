from pathlib import Path

import numpy as np
import pytest

from examples.papers.morgan2004 import MorganSettings, SearchedWeights, morgan
from structsvm.data import Qrels
from structsvm.protocols import AsGiven, EstimatorModel, RankingSVM
from structsvm.rankers import MaximumEntropy
from structsvm.text import Analyzer, Index

WORDS = [f"w{k:02}" for k in range(40)]


def texts(n=240, seed=0):
    """Documents of random words by id, and which are relevant to three topics: those with words of the topic's own."""
    rng = np.random.default_rng(seed)
    share = 1.0 / np.arange(1.0, len(WORDS) + 1.0)
    documents, relevant = {}, {"1": [], "2": [], "few": []}
    for k in range(n):
        words = rng.choice(WORDS, size=rng.integers(4, 30), p=share / share.sum()).tolist()
        for topic, about in (("1", "alpha beta gamma"), ("2", "delta epsilon beta")):
            if rng.random() < 0.12:
                words += rng.choice(about.split(), size=rng.integers(1, 4)).tolist()
                relevant[topic].append(f"D{k:03}")
        documents[f"D{k:03}"] = " ".join(rng.permutation(words).tolist())
    documents["D007"] = ""
    relevant["few"] = ["D001", "D002"]
    return documents, relevant


def judged(relevant):
    """Judgments of these relevant documents, and one that is judged not relevant."""
    pairs = [(topic, name, 1) for topic, names in relevant.items() for name in names]
    return Qrels.from_grades(*map(list, zip(*pairs, ("1", "D239", 0), strict=True)))


def indexed(documents):
    return Index.build([(name, {"text": text}) for name, text in documents.items()], Analyzer(None, None))


def write_collection(folder: Path):
    """Write judgments to a folder, and the index to a folder in it."""
    documents, relevant = texts()
    indexed(documents).save(folder / "index")
    lines = [f"{topic} 0 {name} 1\n" for topic, names in relevant.items() for name in names]
    (folder / "qrels.txt").write_text("".join(lines))


@pytest.fixture(scope="session")
def index():
    return indexed(texts()[0])


@pytest.fixture(scope="session")
def qrels():
    return judged(texts()[1])


def small(**changed):
    """Settings of an experiment that takes a second."""
    methods = (
        SearchedWeights(),
        EstimatorModel(name="MaximumEntropy", features=AsGiven(), estimator=MaximumEntropy(), grid={"C": (0.1, 10.0)}),
        RankingSVM(name="SVM-map", features=AsGiven(), loss="map", Cs=(0.1, 10.0)),
    )
    return MorganSettings(**{"terms": 4, "repeats": 2, "min_relevant": 10, "methods": methods, **changed})


@pytest.fixture(scope="session")
def results(index, qrels, tmp_path_factory):
    return morgan(index, qrels, small(), tmp_path_factory.mktemp("morgan"), n_jobs=1)
