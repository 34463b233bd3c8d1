"""A ranker of topics: retrieval functions, a map of features, and a ranker that is trained on them."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

from collections.abc import Iterable, Mapping
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from structsvm.data import Qrels, Run, pool_runs
from structsvm.data.pairs import sort_topics
from structsvm.estimators import Ranker
from structsvm.estimators.parameters import measure_of
from structsvm.exceptions import InputError
from structsvm.metrics import AP, Measure
from structsvm.pipelines.base_functions import BaseFunctions, IndexOrFolder
from structsvm.pipelines.text_ranker_file import read, write
from structsvm.protocols import FeatureMap, Indicators, Scores
from structsvm.settings import require_kind
from structsvm.text import RetrievalFunction
from structsvm.text.letor import Feature
from structsvm.text.retrieval import Topics, texts_of


class TextRanker(BaseEstimator):
    """Ranks the documents of an index for topics, by a ranker trained on topics that were judged.

    The candidates of a topic are the documents that any of several base functions, each a retrieval function on an
    index, has among its best: the pool of section 4 of Yue, Finley, Radlinski and Joachims (SIGIR 2007). Their features
    are the scores of the base functions, or LETOR's features; a map prepares them, and the ranker learns from them.

    Parameters
    ----------
    indexes : the collection: an `Index`, the folder of one, or a list of these, such as one plain and one of stems.
        Only folders can be saved.
    functions : retrieval functions, by name or as objects; those of the paper.
    depth : how many documents of each base function are candidates for a topic, the best ones; 1000 in the paper.
    letor : LETOR's features that take the place of the scores, as `structsvm.text.letor.find_features` reads them:
        ``"released"``, ``["L1", "L8", "okapi"]``. None: the scores of the base functions are the features.
    fields : the fields that LETOR's features are of; None: all, see `structsvm.text.letor.letor_features`.
    features : how the ranker reads features: `Indicators`, `Scores` or `AsGiven` of `structsvm.protocols`, or a
        `FeatureMap` of one's own. None: ``Indicators()`` for a `Ranker` of the scores of base functions, as in the
        paper; else ``Scores("min-max")``, which is LETOR's normalisation by query.
    ranker : the estimator to train: any with ``fit(X, y, qid)`` and ``predict(X)``, of which a clone is fitted.
        None: ``Ranker("map")``.
    query : part of the topic that is the query, see `Topic.query`. None: the description, or all that there is.

    Attributes
    ----------
    ranker_ : the fitted ranker.
    features_ : the map of features.
    transformer_ : what transforms features, fitted on the training topics: the thresholds of `Indicators`.
    column_names_ : names of the base functions, or of LETOR's features.
    left_out_ : topics that were not learned from, each with the reason.

    Examples
    --------
    >>> from structsvm.data import Qrels
    >>> from structsvm.pipelines import TextRanker
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
        indexes: IndexOrFolder | Iterable[IndexOrFolder],
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

    def fit(self, topics: Topics, qrels: Qrels) -> Self:
        """Retrieve candidates for topics, and learn to rank them by their judgments.

        Documents that were not judged are not relevant. Documents that no base function retrieved are not learned
        from. Topics without a relevant candidate are left out, as `structsvm.data.pool_runs` does; ``left_out_`` has
        them.

        Parameters
        ----------
        topics : the topics, such as `read_topics` returns; or the text of each query by the id of its topic.
        qrels : the judgments, those of other topics too.

        Raises
        ------
        InputError : a parameter, the topics or the judgments cannot be used, or no topic has a relevant candidate.
        DataFormatError : a folder holds no index.
        """
        require_kind("qrels", qrels, Qrels, "Qrels, such as load_qrels returns")
        texts = texts_of(topics, self.query)
        ranker = clone(self._unfitted())
        features = self._feature_map(ranker)
        base = BaseFunctions.of(self.indexes, self.functions, self.depth, self.letor, self.fields)
        pool = pool_runs(base.runs(texts), qrels, depth=base.depth, topics=texts)
        found, names = base.features(texts, pool)
        transformer = features.transformer()
        X = transformer.fit_transform(features.within_queries(found, pool.qid))
        self.ranker_ = ranker.fit(X, pool.y, qid=pool.qid)
        self._keep(base, features, transformer, names)
        self.left_out_ = dict(pool.left_out)
        return self

    def rank(self, topics: Topics, *, name: str | None = None) -> Run:
        """Return the candidates of each topic, ranked: the topics may be new.

        A topic of which no document has a term is not in the run, as with `structsvm.text.retrieve`.

        Parameters
        ----------
        topics : as in `fit`.
        name : name of the run; None: that of the class of the ranker.

        Raises
        ------
        InputError : the topics cannot be used, or no document has a term of any.
        """
        check_is_fitted(self, "ranker_")
        require_kind("name", name, str | None, "the name of a run, or None")
        return self._ranked(texts_of(topics, self._query), name or type(self.ranker_).__name__)

    def score(self, topics: Topics, qrels: Qrels) -> float:
        """Rank topics, and return the mean of the ranker's measure over those that are judged.

        The measure is MAP where the ranker names none. All relevant documents that were judged count, retrieved or
        not, as in trec_eval. A judged topic that has no candidates counts as one for which only a document that is not
        relevant was retrieved.

        Parameters
        ----------
        topics, qrels : as in `fit`.

        Raises
        ------
        InputError : the topics cannot be used, or none is judged.
        """
        check_is_fitted(self, "ranker_")
        require_kind("qrels", qrels, Qrels, "Qrels, such as load_qrels returns")
        texts = texts_of(topics, self._query)
        judged = set(qrels.qid.tolist()) & set(texts)
        if not judged:
            raise InputError(
                f"none of {len(texts)} topics is judged: the first topic is {next(iter(texts))!r}, the first that is "
                f"judged {next(iter(qrels.qid.tolist()), None)!r}"
            )
        run = self._ranked({topic: texts[topic] for topic in sort_topics(judged)}, "run")
        nothing = list(sort_topics(judged - set(run.qid.tolist())))
        scores = np.concatenate([run.scores, np.zeros(len(nothing))])
        labels = np.concatenate([qrels.labels(run.qid, run.doc_ids), np.zeros(len(nothing))])
        qid = np.concatenate([run.qid, np.array(nothing, dtype=np.str_)])
        return self._measure().mean(scores, labels, qid, judged=qrels.judged)

    def save(self, path: str | Path) -> None:
        """Write the fitted ranker to a file (npz, nothing pickled); an existing file is replaced at once or not at all.

        Indexes are not in it, but where their folders are, and a digest of each. `Ranker.load` reads the ranker alone.

        Raises
        ------
        InputError : something cannot be written there, such as an index without a folder or a ranker that is no
            `Ranker`; or the file cannot be written.
        """
        check_is_fitted(self, "ranker_")
        write(
            path,
            self._base,
            self._query,
            self.features_,
            self.transformer_,
            self.ranker_,
            self.column_names_,
            self.left_out_,
        )

    @classmethod
    def load(
        cls, path: str | Path, *, indexes: str | PathLike[str] | Iterable[str | PathLike[str]] | None = None
    ) -> Self:
        """Read a ranker that `save` wrote, and load its indexes.

        Parameters
        ----------
        path : the file.
        indexes : the folders of the indexes, in the order of training. None: where they were then.

        Raises
        ------
        ModelFileError : the file is not one, is damaged, or comes from a newer version.
        InputError : an index is not where it was, or is another one.
        DataFormatError : a folder holds no index.
        """
        saved = read(path, indexes)
        self = cls(**saved.settings, ranker=clone(saved.ranker))
        self.ranker_ = saved.ranker
        self._keep(saved.base, saved.features, saved.transformer, saved.columns)
        self.left_out_ = saved.left_out
        return self

    def _ranked(self, texts: Mapping[str, str], name: str) -> Run:
        candidates = self._base.candidates(texts)
        found, _ = self._base.features(texts, candidates)
        X = self.transformer_.transform(self.features_.within_queries(found, candidates.qid))
        known = {"qid": candidates.qid} if "qid" in signature(self.ranker_.predict).parameters else {}
        return Run.from_scores(name, candidates.qid, candidates.doc_ids, self.ranker_.predict(X, **known))

    def _keep(self, base: BaseFunctions, features: FeatureMap, transformer: Any, names: tuple[str, ...]) -> None:
        """Keep what `rank` needs: parameters that are set later wait for the next `fit`."""
        self._base, self._query = base, self.query
        self.features_, self.transformer_, self.column_names_ = features, transformer, names

    def _feature_map(self, ranker: Any) -> FeatureMap:
        if self.features is None:
            return Indicators() if self.letor is None and isinstance(ranker, Ranker) else Scores("min-max")
        require_kind("features", self.features, FeatureMap, "a map of features, such as Indicators(50) or Scores()")
        return self.features

    def _unfitted(self) -> Any:
        ranker = Ranker("map") if self.ranker is None else self.ranker
        if isinstance(ranker, type):
            raise InputError(f"ranker must be an object, {ranker.__name__}(...); {ranker.__name__} is a class")
        if not all(hasattr(ranker, name) for name in ("fit", "predict", "get_params")):
            raise InputError(f"ranker must have fit, predict and get_params, as Ranker() has, got {ranker!r}")
        return ranker

    def _measure(self) -> Measure:
        return measure_of(self.ranker_) if hasattr(self.ranker_, "measure") else AP()
