"""Losses with a cut-off, at full depth and truncated, beside the other rankers."""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.util import find_spec

import numpy as np
from attrs import frozen

from benchmarks.harness.data import graded, letor_folder, robust_folder, robust_pools
from benchmarks.harness.folds import Fold, partition, read_folds
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target, without_data
from structsvm.foundation.types import Vector
from structsvm.metrics import NDCG
from structsvm.protocols.estimator_model import EstimatorModel
from structsvm.protocols.feature_maps import AsGiven
from structsvm.protocols.model import ProtocolModel
from structsvm.protocols.svm_models import RankingSVM
from structsvm.rankers import LambdaMART, MaximumEntropy, RankNet, RankSVM
from structsvm.rankers.tree_ranker import SAMPLED

TITLE = "Losses with a cut-off"
ABOUT = """
The loss `ndcg@10`, which trains NDCG at full depth, compared with other linear rankers of the library, the truncated
bound and trees of LightGBM. Test NDCG@10 is over all test queries of all folds; queries without a relevant document
count as 0. Validation NDCG@10 chooses the hyper-parameter of each ranker (C, epochs, trees). "behind the best" is the
mean of the differences, query by query, from the linear ranker other than `ndcg@10` with the largest mean, and its
standard error. MQ2008:
its five folds. Robust 2003: the pools of 17 submissions, 100 topics in five folds of three parts to train, one to
validate and one to test, min-max normalized scores as 17 features, grades 0 to 2. Random lists: of 100 and of 1000
documents with 25 normal features and grades 0 to 4 (52, 32, 13, 2 and 1 % of them) of a utility that is linear in
the features plus noise of the same size and an offset of the query; 100 or 40 queries to train, half as many to
validate and as many to test, three seeds. Networks are left out if queries have thousands of documents.
The rows of LambdaMART were measured without sampling of rows and columns.
"""

CS = tuple(10.0**k for k in range(-2, 5))
PAIRS_CS = tuple(10.0**k for k in range(-7, 3))
TOL = 1e-4
EPOCHS = range(5, 31, 5)
TREES = range(10, 201, 10)
MOST_DOCUMENTS_OF_NETWORKS = 1000
"""Beyond, an epoch over all pairs takes longer than all that the other rankers do."""
MEASURE = NDCG(10)
OURS = "ndcg@10"
TRUNCATED = "ndcg@10(truncated=true)"
LISTS = {100: 100, 1000: 40}
"""Number of training queries by the documents of each."""


@frozen(eq=False)
class Tested:
    """The values of a ranker on all test queries, and how often its scores were all the same."""

    model: ProtocolModel
    values: Vector
    constant: int
    seconds: float


def models(*, networks: bool) -> list[ProtocolModel]:
    """Return the rankers, the linear ones first, with the truncated bound and trees at the end."""
    given = AsGiven()
    losses = (OURS, "map", "roc_area")
    linear: list[ProtocolModel] = [RankingSVM(name=loss, features=given, loss=loss, Cs=CS, tol=TOL) for loss in losses]
    linear += [
        EstimatorModel(name="RankSVM", features=given, estimator=RankSVM(tol=TOL), grid={"C": PAIRS_CS}),
        EstimatorModel(
            name="RankSVM, queries",
            features=given,
            estimator=RankSVM(objective="queries", tol=TOL),
            grid={"C": CS},
        ),
        EstimatorModel(
            name="MaximumEntropy", features=given, estimator=MaximumEntropy(), grid={"C": (1e-3, 0.1, 10.0)}
        ),
    ]
    if networks:
        network = RankNet(0, max_iter=max(EPOCHS), random_state=0)
        linear.append(EstimatorModel(name="RankNet, linear", features=given, estimator=network, rounds=EPOCHS))
    others: list[ProtocolModel] = [RankingSVM(name=TRUNCATED, features=given, loss=TRUNCATED, Cs=CS, tol=TOL)]
    if find_spec("lightgbm") is not None:
        params = {"num_threads": 1, **SAMPLED}
        trees = LambdaMART(max(TREES), num_leaves=8, learning_rate=0.05, random_state=0, params=params)
        others.append(EstimatorModel(name="LambdaMART", features=given, estimator=trees, rounds=TREES))
    return linear + others


def run(size: Size) -> Iterator[Row]:
    for name, folder in (("MQ2008", letor_folder()), ("robust03", robust_folder())):
        if folder is None:
            yield without_data(name, OURS, name)
    for what, folds in data_sets(size):
        yield from _rows(what, folds)


def data_sets(size: Size) -> Iterator[tuple[str, list[Fold]]]:
    """Yield the name of each data set that there is, and its folds."""
    folder = letor_folder()
    if folder is not None:
        yield "MQ2008", read_folds(folder, size)
    if robust_folder() is not None:
        yield "Robust 2003", partition(robust_pools(), 0, size)
    for documents, queries in LISTS.items():
        train = max(4, round(queries * size.scale))
        folds = [graded((train, train // 2, train), documents, seed=seed) for seed in range(3)]
        yield f"lists of {documents}", folds


def _rows(what: str, folds: Sequence[Fold]) -> Iterator[Row]:
    networks = max(len(train.y) / len(np.unique(train.qid)) for train, _, _ in folds) <= MOST_DOCUMENTS_OF_NETWORKS
    found = [_tested(model, folds) for model in models(networks=networks)]
    linear = [each for each in found if each.model.name not in (OURS, TRUNCATED, "LambdaMART")]
    best = max(linear, key=lambda each: float(each.values.mean()))
    for each in found:
        lead = each.values - best.values
        values = {
            "ndcg": float(each.values.mean()),
            "lead": float(lead.mean()),
            "error": float(lead.std() / np.sqrt(len(lead))),
            "seconds": each.seconds,
        }
        note = f"all scores the same in {each.constant} of {len(folds)} folds" if each.constant else ""
        yield Row(what=what, who=each.model.name, repeats=1, values=values, note=note)


def _tested(model: ProtocolModel, folds: Sequence[Fold]) -> Tested:
    """Return the values of the candidates that validation picks."""
    values, constant, seconds = [], 0, 0.0
    for train, valid, test in folds:
        took, candidates = clock(partial(model.candidates, train.X, train.y, train.qid), 1)
        judged = [MEASURE.mean(each.scores(valid.X, valid.qid), valid.y, valid.qid) for each in candidates]
        scores = candidates[int(np.argmax(judged))].scores(test.X, test.qid)
        constant += int(np.ptp(scores) == 0.0)
        seconds += took[0]
        values.append(np.nan_to_num(MEASURE.per_query(scores, test.y, test.qid).values))
    return Tested(model, np.concatenate(values), constant, seconds)


def targets(rows: list[Row]) -> Iterator[Target]:
    for row in rows:
        if row.who == OURS and "lead" in row.values:
            reached = row.values["lead"] / max(row.values["error"], 1e-12)
            yield Target(
                f"{row.what}: test NDCG@10 of ndcg@10 less that of the best other linear ranker, in standard errors",
                -1.0,
                reached,
                at_least=True,
            )
