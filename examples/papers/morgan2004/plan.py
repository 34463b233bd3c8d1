"""The plan of Morgan's experiment: trials of a topic and a split each."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from attrs import asdict, evolve, field, frozen

from examples.papers.morgan2004.okapi_tf import okapi_tf
from examples.papers.morgan2004.results import MorganResults, TopicTrial
from examples.papers.morgan2004.settings import MorganSettings
from examples.papers.morgan2004.split import Split, draw_split
from examples.papers.morgan2004.terms import informative_terms, mutual_information
from examples.papers.morgan2004.topics import JudgedTopics, fingerprint, judged_topics
from structsvm.data import Qrels
from structsvm.exceptions import InputError
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import as_list, as_path, require_kind
from structsvm.foundation.storage.files import replacing
from structsvm.foundation.storage.records import Header, RecordType, to_json, versions
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector
from structsvm.metrics import AP, IPrec, rank_lists
from structsvm.metrics.average_precision import LEVELS
from structsvm.protocols.feature_maps import AsGiven, FeatureMap
from structsvm.protocols.model import Candidate, ProtocolModel
from structsvm.protocols.plan import TRIALS, Case, Plan, Progress, QuerySet, naming_model, run_plan
from structsvm.protocols.results import Fit
from structsvm.text import Index

RESULTS = "results.json"


def morgan(
    index: Index,
    qrels: Qrels,
    settings: MorganSettings,
    out: str | Path,
    *,
    topics: Iterable[str] | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> MorganResults:
    """Run Morgan's experiment, or resume an interrupted run.

    Morgan, Greiff and Henderson, "Direct maximization of average precision by hill-climbing, with a comparison to a
    maximum entropy approach", HLT-NAACL 2004, section 4. For each topic, the documents of the collection are split at
    random: 25% to train, 25% to validate and 50% to test on. The terms with the largest mutual information with
    relevance on the training documents are added to the query one at a time, and each method learns their weights.
    Documents are scored by the weighted sum of the Okapi tf scores of the terms; documents with equal scores are in
    random order.

    Every finished trial is appended to a file in the output folder, and an interrupted run resumes from this file. Its
    results are the same to the last digit, on any number of processes.

    Parameters
    ----------
    index : index of the documents; the counts of all fields together are read.
    qrels : the relevant documents; documents without a judgment are not relevant.
    settings : settings of the experiment; ``MorganSettings()`` are as in the paper.
    out : folder for ``trials.jsonl`` and ``results.json`` of one experiment; it is created if it does not exist.
    topics : topics to choose from; None: all judged topics.
    n_jobs : processes that run trials; None: one per processor.
    progress : called with the progress of the experiment.

    Raises
    ------
    InputError : no topic has enough relevant documents, the index has too few terms or lacks the judged documents, or
        the output folder belongs to another experiment.
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
    ...     results = morgan(index, qrels, settings, folder, n_jobs=1)
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
    plan = MorganPlan(settings=settings, topics=chosen, index=index)
    header, trials = run_plan(plan, folder, n_jobs=n_jobs, progress=progress)
    results = MorganResults(
        header=header,
        topics=chosen.counts,
        left_out=chosen.left_out,
        missing=chosen.missing,
        documents=chosen.documents,
        trials=trials,
    )
    with replacing(folder / RESULTS) as file:
        file.write(to_json(results) + "\n")
    return results


@frozen(kw_only=True)
class FittedMethod(ProtocolModel):
    """A method whose candidates are known before the case, because they were fitted for all lengths at once."""

    name: str
    fitted: Sequence[Candidate]
    features: FeatureMap = field(factory=AsGiven)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Return the candidates."""
        return self.fitted


@frozen(eq=False)
class TopicData:
    """The data of one trial.

    Parameters
    ----------
    values : of each term in every document, shape (n_documents, terms).
    relevant : whether each document is relevant, shape (n_documents,).
    split : the documents of each part.
    terms : the terms of the longest query, in order.
    information : mutual information of each on the training documents, in nats.
    """

    values: Matrix
    relevant: BoolVector
    split: Split
    terms: tuple[str, ...]
    information: tuple[float, ...]


@frozen(eq=False, kw_only=True)
class MorganPlan(Plan):
    """The trials of the experiment: every topic with every split. `data` belongs to one trial, in its process."""

    kind = RecordType(
        part=TopicTrial,
        key=lambda trial: trial.name,
        work="experiment",
        name="trial",
        names="trials",
        data="documents or judgments",
    )
    file = TRIALS
    measures_each_value = ("train", "test")
    measure = AP()

    settings: MorganSettings
    topics: JudgedTopics
    index: Index | None
    data: TopicData | None = None

    @property
    def names(self) -> Sequence[str]:
        """Topic and number of the split of each trial."""
        return [f"{topic}/{repeat}" for topic in self.topics.relevant for repeat in range(self.settings.repeats)]

    def header(self) -> Header:
        """Return the settings with the topics, and a hash of the documents and judgments."""
        assert self.index is not None
        settings = self.settings.as_text() | {"topics": list(self.topics.relevant)}
        return Header(settings, fingerprint(self.index, self.topics), versions())

    def ready(self, names: Sequence[str]) -> Iterator[Self]:
        """Choose splits and terms here, as the index is large."""
        return (evolve(self, index=None, data=self._data(name)) for name in names)

    def cases(self, name: str) -> Iterator[Case]:
        """Yield the query lengths."""
        assert self.data is not None
        topic, _, number = name.rpartition("/")
        where = f"topic {topic}, repeat {number}"
        parts = [(self.data.values[part], self.data.relevant[part].astype(np.float64)) for part in self.data.split]
        found = {}
        for method in self.settings.methods:
            with naming_model(method, where):
                found[method.name] = list(method.lengths(*parts[0]))
        for length in range(1, self.settings.terms + 1):
            models = [FittedMethod(name=method, fitted=of_lengths[length - 1]) for method, of_lengths in found.items()]
            train, validation, test = (_documents(X[:, :length], y, topic) for X, y in parts)
            yield Case(str(length), where, models, (train, validation, test))

    def test(self, scores: Vector, queries: QuerySet) -> tuple[dict[str, float], dict[str, Vector]]:
        """Return average precision, and interpolated precision at the levels of recall."""
        lists = rank_lists(scores, queries.y)
        ap = AP().of(lists).values
        levels = {f"iprec@{level:g}": float(IPrec(level).values(lists)[0]) for level in LEVELS}
        return {"map": float(ap[0]), **levels}, {"map": ap}

    def weights(self, group: str, weights: Vector, X: Any) -> Vector | None:
        """Return the weights of the terms."""
        return weights if len(weights) == X.shape[1] else None

    def trial(self, name: str, case: Case, fits: dict[str, dict[str, Fit]], seconds: float) -> TopicTrial:
        """Return a trial with its terms."""
        assert self.data is not None
        made = asdict(super().trial(name, case, fits, seconds), recurse=False)
        return TopicTrial(**made, terms=self.data.terms, information=self.data.information)

    def contradiction(self, trial: TopicTrial) -> str:
        """Return a difference of a trial from the plan: another topic, other methods or lengths."""
        lengths = [str(length) for length in range(1, self.settings.terms + 1)]
        methods = {method.name for method in self.settings.methods}
        same = trial.name in self.names and trial.fits.keys() == set(lengths)
        same = same and all(fits.keys() == methods for fits in trial.fits.values())
        return "" if same else "another topic, other methods or lengths"

    def _data(self, name: str) -> TopicData:
        assert self.index is not None
        topic, _, repeat = name.rpartition("/")
        relevant = self.topics.labels(topic)
        split = draw_split(relevant, np.random.default_rng([self.settings.random_state, int(repeat), *topic.encode()]))
        information = mutual_information(self.index.whole, split.train, relevant[split.train])
        terms = informative_terms(information, self.settings.terms)
        return TopicData(
            values=okapi_tf(self.index.whole, terms),
            relevant=relevant,
            split=split,
            terms=tuple(self.index.whole.terms[term] for term in terms.tolist()),
            information=tuple(information[terms].tolist()),
        )


def _documents(X: Matrix, y: Vector, topic: str) -> QuerySet:
    """Return documents of a topic with the values of some terms."""
    values = np.ascontiguousarray(X)
    return QuerySet(lambda features: values, y, Queries.of_sizes(np.array([len(y)]), [topic]))
