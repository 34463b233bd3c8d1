"""Retrieval functions, a feature map and a trained ranker as one estimator."""

# With postponed annotations, `help` shows types by name instead of as long unions.
from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from structsvm.data import Run, pool_runs
from structsvm.data.pairs import sort_topics
from structsvm.data.runs import QrelsLike, as_qrels
from structsvm.estimators import RampRanker, Ranker
from structsvm.estimators.parameters import measure_of
from structsvm.exceptions import InputError, brief
from structsvm.foundation.settings import require_kind
from structsvm.metrics import AP, Measure
from structsvm.protocols import FeatureMap, Indicators, Scores
from structsvm.registry.capabilities import capabilities_of
from structsvm.text.functions import RetrievalFunction
from structsvm.text.letor import Feature
from structsvm.text.pipelines.base_functions import BaseFunctions, IndexOrPath
from structsvm.text.pipelines.text_ranker_file import Fitted, read_text_ranker, write_text_ranker
from structsvm.text.retrieval import Topics, texts_of


class TextRanker(BaseEstimator):
    """Rank the documents of an index for topics, by a ranker trained on judged topics.

    The candidates of a topic are the best documents of several base functions, each a retrieval function on an
    index, as in the pool of section 4 of Yue, Finley, Radlinski and Joachims (SIGIR 2007). The features of candidates
    are the scores of the base functions, or LETOR's features. A feature map transforms them for the ranker.

    Parameters
    ----------
    indexes : the collection: an `Index`, the file of an index, or a list of indexes and files, such as an index of
        words and an index of stems. `save` needs files.
    functions : retrieval functions, by name or as objects; by default as in the paper.
    depth : number of best documents of each base function that are candidates for a topic; 1000 in the paper.
    letor : LETOR's features, which replace the scores, as for `structsvm.text.letor.letor_features`: ``"released"``,
        ``["L1", "L8", "okapi"]``. None: the scores of the base functions are the features.
    fields : the fields of LETOR's features; None: all, see `structsvm.text.letor.letor_features`.
    features : the feature map: `Indicators`, `Scores` or `AsGiven` of `structsvm.protocols`, or your own
        `FeatureMap`. None: ``Indicators()`` for a `Ranker` of the scores of base functions, as in the
        paper; else ``Scores()``, which is LETOR's normalization by query.
    ranker : the estimator to train, with ``fit(X, y, qid)`` and ``predict(X)``; a clone is fitted. None:
        ``Ranker("map")``.
    query : part of the topic that is the query; see `Topic.query`.

    Attributes
    ----------
    ranker_ : the fitted ranker.
    features_ : the feature map.
    transformer_ : the transformer of the features, fitted on the training topics: the thresholds of `Indicators`.
    column_names_ : names of the base functions, or of LETOR's features.
    left_out_ : topics that were not used for training, each with the reason.

    Examples
    --------
    >>> from structsvm.data import Qrels
    >>> from structsvm.text import Index
    >>> texts = {"a": "flow over a wing", "b": "heat flow", "c": "wing flutter", "d": "heat transfer"}
    >>> index = Index.build([(name, {"text": text}) for name, text in texts.items()])
    >>> judged = Qrels.from_grades(["1", "1"], ["c", "a"], [1, 0])
    >>> ranker = TextRanker(index, ["okapi", "cosine"], depth=10).fit({"1": "flutter of a wing"}, judged)
    >>> ranker.rank({"2": "heat transfer"}).doc_ids
    array(['d', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        indexes: IndexOrPath | Iterable[IndexOrPath],
        functions: str | RetrievalFunction | Iterable[str | RetrievalFunction] = (
            "cosine",
            "tfidf",
            "okapi",
            "lm_dirichlet",
            "lm_jelinek_mercer",
        ),
        *,
        depth: int = 1000,
        letor: str | Feature | Iterable[str | Feature] | None = None,
        fields: Iterable[str] | None = None,
        features: FeatureMap | None = None,
        ranker: Any = None,
        query: str | None = None,
    ) -> None:
        self.indexes = indexes
        self.functions = functions
        self.depth = depth
        self.letor = letor
        self.fields = fields
        self.features = features
        self.ranker = ranker
        self.query = query

    def fit(self, topics: Topics, qrels: QrelsLike) -> Self:
        """Retrieve candidates for topics, and train the ranker by their judgments.

        Unjudged documents count as not relevant. Documents that no base function retrieved are not used. Topics without
        a relevant candidate are left out, as by `structsvm.data.pool_runs`; ``left_out_`` lists them.

        Parameters
        ----------
        topics : the topics, for example from `read_topics`; or the text of each query by the id of its topic.
        qrels : the judgments, or a data frame or dictionary of them (`Qrels.from_frame`, `Qrels.from_dict`); other
            topics are ignored.

        Raises
        ------
        DataFormatError : a file is not an index.
        """
        qrels = as_qrels(qrels)
        texts = texts_of(topics, self.query)
        ranker = self._unfitted()
        features = self._feature_map(ranker)
        base = BaseFunctions.of(self.indexes, self.functions, self.depth, self.letor, self.fields)
        pool = pool_runs(base.runs(texts), qrels, depth=base.depth, topics=texts)
        columns, names = base.features(texts, pool)
        transformer = features.transformer()
        X = transformer.fit_transform(features.within_queries(columns, pool.qid))
        ranker.fit(X, pool.y, qid=pool.qid)
        return self._with(Fitted(base, self.query, features, transformer, ranker, names, dict(pool.left_out)))

    def rank(self, topics: Topics, *, name: str | None = None) -> Run:
        """Return the ranked candidates of each topic, also of topics without judgments.

        A topic that shares no term with any document is not in the run, as with `structsvm.text.retrieve`.

        Parameters
        ----------
        topics : as in `fit`; InputError if they share no term with any document.
        name : name of the run; None: the ranker's class.
        """
        check_is_fitted(self, "ranker_")
        require_kind("name", name, str | None, "the name of a run, or None")
        return self._ranked(texts_of(topics, self._fitted.query), name or type(self.ranker_).__name__)

    def score(self, topics: Topics, qrels: QrelsLike) -> float:
        """Rank topics, and return the mean of the ranker's measure over judged topics; MAP without a measure.

        All judged relevant documents count, retrieved or not, as in trec_eval. A judged topic without candidates counts
        as if only one document, not relevant, had been retrieved. The arguments are as in `fit`.
        """
        check_is_fitted(self, "ranker_")
        qrels = as_qrels(qrels)
        texts = texts_of(topics, self._fitted.query)
        judged = set(qrels.qid.tolist()) & set(texts)
        if not judged:
            raise InputError(
                f"no judgments for the {len(texts)} topics: the first topic is {next(iter(texts))!r}, the first judged "
                f"topic {next(iter(qrels.qid.tolist()), None)!r}. Pass judgments with the same topic ids"
            )
        run = self._ranked({topic: texts[topic] for topic in sort_topics(judged)}, "run")
        nothing = list(sort_topics(judged - set(run.qid.tolist())))
        scores = np.concatenate([run.scores, np.zeros(len(nothing))])
        labels = np.concatenate([qrels.labels(run.qid, run.doc_ids), np.zeros(len(nothing))])
        qid = np.concatenate([run.qid, np.array(nothing, dtype=np.str_)])
        measure: Measure = measure_of(self.ranker_) if hasattr(self.ranker_, "measure") else AP()
        return measure.mean(scores, labels, qid, judged=qrels.judged)

    def save(self, path: str | Path) -> None:
        """Write the fitted ranker to a file (npz, nothing pickled), atomically.

        The file has the paths and digests of the indexes, but not the indexes.
        """
        check_is_fitted(self, "ranker_")
        write_text_ranker(path, self._fitted)

    @classmethod
    def load(
        cls, path: str | Path, *, indexes: str | PathLike[str] | Iterable[str | PathLike[str]] | None = None
    ) -> Self:
        """Read a ranker that `save` wrote, and load its indexes.

        Parameters
        ----------
        path : the file.
        indexes : the files of the indexes, in the order of training. None: the files of training.

        Raises
        ------
        ModelFileError : the file has another content or format, or is damaged.
        DataFormatError : a file is not an index.
        """
        fitted = read_text_ranker(path, indexes)
        base = fitted.base
        self = cls(
            [str(opened.path) for opened in base.indexes],
            base.functions,
            depth=base.depth,
            letor=base.letor,
            fields=base.fields,
            features=fitted.features,
            ranker=clone(fitted.ranker),
            query=fitted.query,
        )
        return self._with(fitted)

    def _ranked(self, texts: Mapping[str, str], name: str) -> Run:
        base = self._fitted.base
        candidates = base.candidates(texts)
        columns, _ = base.features(texts, candidates)
        X = self.transformer_.transform(self.features_.within_queries(columns, candidates.qid))
        arguments = {"qid": candidates.qid} if capabilities_of(self.ranker_).takes_qid_at_predict else {}
        return Run.from_scores(name, candidates.qid, candidates.doc_ids, self.ranker_.predict(X, **arguments))

    def _with(self, fitted: Fitted) -> Self:
        self._fitted = fitted
        self.ranker_, self.features_, self.transformer_ = fitted.ranker, fitted.features, fitted.transformer
        self.column_names_, self.left_out_ = fitted.columns, fitted.left_out
        return self

    def _feature_map(self, ranker: Any) -> FeatureMap:
        if self.features is None:
            return Indicators() if self.letor is None and isinstance(ranker, Ranker | RampRanker) else Scores()
        require_kind("features", self.features, FeatureMap, "a map of features, such as Indicators(50) or Scores()")
        return self.features

    def _unfitted(self) -> Any:
        ranker = Ranker("map") if self.ranker is None else self.ranker
        if isinstance(ranker, type):
            raise InputError(f"ranker must be an object, {ranker.__name__}(...); {ranker.__name__} is a class")
        if not all(hasattr(ranker, name) for name in ("fit", "predict", "get_params")):
            raise InputError(f"ranker must have fit, predict and get_params, as Ranker() has, got {brief(ranker)}")
        return clone(ranker)
