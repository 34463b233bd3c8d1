"""LETOR's features of Cranfield, made from its text, learn a ranker that is better than BM25."""

import numpy as np
import pytest

from structsvm import Ranker
from structsvm.data import join_runs, load_qrels, read_documents, read_topics
from structsvm.data.letor.reading import load_letor_parts
from structsvm.metrics import AP
from structsvm.protocols.letor import write_folds
from structsvm.protocols.letor.folds import find_folds
from structsvm.text import Analyzer, Index, retrieve
from structsvm.text.letor import letor_features
from tests.real_data import CRANFIELD, needs

FUNCTIONS = ("cosine", "tfidf", "okapi", "lm_dirichlet", "lm_jelinek_mercer")

pytestmark = needs(CRANFIELD)


def test_mean_test_map(tmp_path):
    """At C = 10 and depth 50: 0.3833 when validation picks C, and BM25 is at 0.3630."""
    documents = read_documents(CRANFIELD / "cran.all.1400", fields=["title", "text"])
    index = Index.build(documents, Analyzer("porter", "glasgow"))
    topics = read_topics(CRANFIELD / "cran.qry", numbering="position")
    judgments = load_qrels(CRANFIELD / "cranqrel", {1: 4, 2: 3, 3: 2, 4: 1, -1: 0})
    union = join_runs([retrieve(index, topics, function, 50) for function in FUNCTIONS], depth=50)
    data = letor_features(index, topics, union, judgments, fields=["title", "text"])
    bm25 = data.feature_names.index("text.H1")
    learned, alone = [], []
    write_folds(tmp_path, data)
    for fold in find_folds(tmp_path):
        train, test = load_letor_parts([fold.train, fold.test], sparse=False)
        ranker = Ranker("map", C=10.0).fit(train.X, train.y, qid=train.qid)
        learned.append(ranker.score(test.X, test.y, test.qid))
        alone.append(AP().mean(test.X[:, bm25], test.y, test.qid))
    assert np.mean(alone) == pytest.approx(0.3630, abs=5e-4)
    assert np.mean(learned) >= 0.375
