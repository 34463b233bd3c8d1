"""The protocol of Morgan's experiment: trials of a topic and a split each, kept as they finish."""

import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import evolve
from sklearn.exceptions import ConvergenceWarning

from examples.papers.morgan2004.methods import Method
from examples.papers.morgan2004.okapi_tf import okapi_tf
from examples.papers.morgan2004.records import NAME, TRIALS
from examples.papers.morgan2004.results import PARTS, Curve, Learned, MorganResults, TopicTrial
from examples.papers.morgan2004.settings import MorganSettings
from examples.papers.morgan2004.split import Split, draw_split
from examples.papers.morgan2004.terms import informative_terms, mutual_information
from examples.papers.morgan2004.topics import JudgedTopics, fingerprint, judged_topics
from structsvm.compute.processes import one_thread
from structsvm.data import Qrels
from structsvm.exceptions import InputError
from structsvm.metrics import AP, IPrec, rank_lists
from structsvm.metrics.measures.interpolated_precision import LEVELS
from structsvm.protocols.model import Candidate
from structsvm.protocols.pick import Progress
from structsvm.protocols.unfinished import run_missing
from structsvm.settings import as_list, as_path, require_kind
from structsvm.storage.files import replacing
from structsvm.storage.records import Header, as_json, open_records, versions
from structsvm.text import Index
from structsvm.types import BoolVector, Matrix, Vector

RESULTS = "results.json"


def morgan(
    index: Index,
    qrels: Qrels,
    settings: MorganSettings,
    out: str | Path,
    *,
    topics: Iterable[str] | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> MorganResults:
    """Run Morgan's experiment, or go on with one that was interrupted.

    Morgan, Greiff and Henderson, "Direct maximization of average precision by hill-climbing, with a comparison to a
    maximum entropy approach", HLT-NAACL 2004, section 4. For each topic, the documents of the collection are split at
    random: 25% to train, 25% to validate and 50% to test on. The terms that tell most of relevance on the training
    documents, by mutual information, are added to the query one at a time, and each method learns their weights.
    Documents are scored by the weighted sum of the Okapi tf scores of the terms; those of one score are in a
    random order.

    Every finished trial is appended to a file in the output folder; a run that was ended in any way goes on from there,
    and its results are the same to the last digit, on any number of processes.

    Parameters
    ----------
    index : index of the documents; the counts of all fields together are read.
    qrels : which documents are relevant; those that are not judged are not.
    settings : settings of the experiment; ``MorganSettings()`` are those of the paper.
    out : folder for ``trials.jsonl`` and ``results.json``; made where it does not exist. Of one experiment only.
    topics : topics to choose from; None: all that are judged.
    jobs : processes that run trials; None: as many as there are processors.
    progress : is shown how far the experiment is.

    Raises
    ------
    InputError : when no topic has enough relevant documents, the index has too few terms or other documents than those
        that are judged, or the output folder belongs to another experiment; it says why.
    KeyboardInterrupt : after Ctrl-C; finished trials are kept.

    Examples
    --------
    >>> import tempfile
    >>> from structsvm.data import Qrels
    >>> from examples.papers.morgan2004 import MorganSettings, morgan, paper_methods
    >>> from structsvm.text import Analyzer, Index
    >>> texts = ["wing lift", "lift", "lift heat", "wing drag", "flow heat"] * 4
    >>> ids = [str(k) for k in range(20)]
    >>> index = Index.build([(k, {"text": text}) for k, text in zip(ids, texts)], Analyzer(None, None))
    >>> qrels = Qrels.from_grades(["1"] * 20, ids, [1, 1, 0, 0, 0] * 4)
    >>> settings = MorganSettings(terms=2, repeats=1, min_relevant=8, methods=paper_methods()[:2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = morgan(index, qrels, settings, folder, jobs=1)
    >>> {method: round(results.at_pick(method, "test").item(), 2) for method in results.methods}
    {'WeightSearch': 0.97, 'MaximumEntropy': 0.97}
    """
    require_kind("index", index, Index, "an Index")
    require_kind("qrels", qrels, Qrels, "Qrels, such as load_qrels returns")
    require_kind("settings", settings, MorganSettings, "MorganSettings")
    folder = as_path("out", out)
    asked = None if topics is None else [str(topic) for topic in as_list("topics", topics, "a list of topics")]
    chosen = judged_topics(index, qrels, min_relevant=settings.min_relevant, topics=asked)
    if len(index.whole.terms) < settings.terms:
        raise InputError(
            f"the index has {len(index.whole.terms)} terms, and queries are to have up to {settings.terms}: ask for "
            "fewer (--terms, terms=...)"
        )
    plan = [(topic, repeat) for topic in chosen.relevant for repeat in range(settings.repeats)]
    header = Header(settings.as_text() | {"topics": list(chosen.relevant)}, fingerprint(index, chosen), versions())
    with open_records(folder / NAME, header, TRIALS) as records:
        for trial in records.parts:
            _require_of(trial, plan, settings, folder)

        def tasks(numbers: Sequence[int]) -> Iterator[tuple[Any, ...]]:
            return _tasks(numbers, plan, index, chosen, settings)

        trials = run_missing(records, TRIALS, range(len(plan)), run_topic_trial, tasks, jobs=jobs, progress=progress)
        results = MorganResults(
            header=records.header.of_this_format(),
            topics=chosen.counts,
            left_out=chosen.left_out,
            missing=chosen.missing,
            documents=chosen.documents,
            trials=trials,
        )
        with replacing(folder / RESULTS) as file:
            file.write(as_json(results) + "\n")
    return results


def _require_of(trial: TopicTrial, plan: Sequence[tuple[str, int]], settings: MorganSettings, folder: Path) -> None:
    """Refuse a trial that these settings do not come to."""
    lengths = {len(getattr(curve, part)) for each in trial.learned.values() for curve in each.curves for part in PARTS}
    if (
        not 0 <= trial.number < len(plan)
        or (trial.topic, trial.repeat) != plan[trial.number]
        or list(trial.learned) != [method.name for method in settings.methods]
        or lengths != {settings.terms}
    ):
        raise InputError(
            f"trial {trial.number} in {folder / NAME} has another topic, other methods or lengths than this "
            "experiment: remove its line, and the trial is run again"
        )


def _tasks(
    numbers: Iterable[int],
    plan: Sequence[tuple[str, int]],
    index: Index,
    topics: JudgedTopics,
    settings: MorganSettings,
) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of `run_topic_trial`: splits and terms are chosen here, where the index is."""
    for number in numbers:
        topic, repeat = plan[number]
        relevant = topics.labels(topic)
        split = draw_split(relevant, np.random.default_rng([settings.seed, repeat, *topic.encode()]))
        information = mutual_information(index.whole, split.train, relevant[split.train])
        terms = informative_terms(information, settings.terms)
        train, validation, test = (int(relevant[part].sum()) for part in split)
        trial = TopicTrial(
            number=number,
            topic=topic,
            repeat=repeat,
            relevant=(train, validation, test),
            terms=tuple(index.whole.terms[term] for term in terms.tolist()),
            information=tuple(information[terms].tolist()),
            learned={},
            seconds=0.0,
        )
        yield trial, okapi_tf(index.whole, terms), relevant, split, settings.methods


def run_topic_trial(
    trial: TopicTrial, values: Matrix, relevant: BoolVector, split: Split, methods: Sequence[Method]
) -> TopicTrial:
    """Return a trial with what each method learned, in one thread: its numbers do not depend on how many there are.

    Parameters
    ----------
    trial : without what was learned.
    values : of each term in every document, shape (n_documents, terms).
    relevant : whether each document is relevant, shape (n_documents,).
    split : the documents of each part.
    methods : in the order of the tables.
    """
    began = time.perf_counter()
    learned = {}
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the gaps of SVMs are in the results
        data = [(values[part], relevant[part].astype(np.float64)) for part in split]
        for method in methods:
            try:
                learned[method.name] = _learned(method, data)
            except ValueError as error:
                raise InputError(f"{method.name} on topic {trial.topic}, repeat {trial.repeat}: {error}") from error
    return evolve(trial, learned=learned, seconds=time.perf_counter() - began)


def _learned(method: Method, data: Sequence[tuple[Matrix, Vector]]) -> Learned:
    found = list(method.lengths(*data[0]))
    every = [candidate for candidates in found for candidate in candidates]
    curves = tuple(
        Curve(of_value[0].value, *(_precision(of_value, *part) for part in data))
        for of_value in zip(*found, strict=True)
    )
    gaps = [candidate.gap for candidate in every if candidate.gap is not None]
    learned = Learned(curves, sum(candidate.seconds for candidate in every), max(gaps, default=None))
    value, length = learned.pick
    weights = found[-1][int(learned.validation[:, -1].argmax())].weights
    return evolve(
        learned,
        precision=_interpolated(found[length][value], length + 1, *data[PARTS.index("test")]),
        weights=None if weights is None or len(weights) != len(found) else tuple(weights.tolist()),
    )


def _interpolated(candidate: Candidate, length: int, X: Matrix, y: Vector) -> tuple[float, ...]:
    """Return interpolated precision at the levels of recall; documents of one score keep their order, as below."""
    qid = np.zeros(len(y), dtype=np.int64)
    lists = rank_lists(candidate.scores(np.ascontiguousarray(X[:, :length]), qid), y)
    return tuple(float(IPrec(level).values(lists)[0]) for level in LEVELS)


def _precision(lengths: Sequence[Candidate], X: Matrix, y: Vector) -> tuple[float, ...]:
    """Return average precision for each length; documents of one score keep their order, which is random."""
    qid = np.zeros(len(y), dtype=np.int64)
    scores = (each.scores(np.ascontiguousarray(X[:, :length]), qid) for length, each in enumerate(lengths, start=1))
    return tuple(AP().mean(each, y) for each in scores)
