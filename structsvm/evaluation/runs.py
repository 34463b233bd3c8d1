"""A run, ranked and judged as by trec_eval."""

import numpy as np
from attrs import evolve

from structsvm.data import Qrels, Run
from structsvm.exceptions import InputError
from structsvm.metrics import RankedLists, rank_lists
from structsvm.settings import require_kind


def rank_run(run: Run, qrels: Qrels) -> RankedLists:
    """Return the ranked documents of a run with their judgments: what measures are computed from (`Measure.of`).

    Topics without judgments are left out, as by trec_eval; all relevant documents that were judged count.

    Parameters
    ----------
    run : a run.
    qrels : the judgments.

    Raises
    ------
    InputError : no topic of the run is judged.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> from structsvm.evaluation import rank_run
    >>> from structsvm.metrics import AP
    >>> run = Run.from_scores("bm25", qid=[1, 1], doc_ids=["a", "b"], scores=[0.5, 2.0])
    >>> lists = rank_run(run, Qrels.from_grades([1, 1], ["a", "b"], [1, 0]))
    >>> AP().values(lists).tolist()
    [0.5]
    """
    require_kind("run", run, Run, "a Run, such as load_run returns")
    require_kind("qrels", qrels, Qrels, "Qrels, such as load_qrels returns")
    index = qrels.index
    topic = index.number(run.qid)
    rows = topic >= 0
    if not rows.any():
        raise InputError(
            f"no topic of the run {run.name!r} is judged: "
            f"the first topics are {str(run.qid[0])!r} and {index.topics[0]!r}"
        )
    grades = qrels.grades_of(run.qid[rows], run.doc_ids[rows])
    lists = rank_lists(run.scores[rows], grades, topic[rows], judged=(qrels.grades, index.topic))
    return evolve(lists, ids=np.array(index.topics)[lists.ids])
