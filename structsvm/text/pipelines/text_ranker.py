"""Retrieval functions, a feature map and a trained ranker as one estimator, and its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, Self

import attrs
import numpy as np
from attrs import frozen
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from structsvm.data import Run, pool_runs
from structsvm.data.pairs import sort_topics
from structsvm.data.runs import QrelsLike, as_qrels
from structsvm.estimators import RampRanker, Ranker
from structsvm.estimators.parameters import measure_of
from structsvm.exceptions import InputError, ModelFileError, brief, with_article
from structsvm.features import Thresholds
from structsvm.foundation.settings import require_kind
from structsvm.foundation.storage.archives import json_object, text_array
from structsvm.foundation.storage.files import read_archive, write_archive
from structsvm.foundation.storage.records import from_json, to_json
from structsvm.metrics import AP, Measure
from structsvm.models.base import read_model
from structsvm.protocols import AsGiven, FeatureMap, Indicators, Scores
from structsvm.registry import retrieval_functions
from structsvm.registry.capabilities import capabilities_of
from structsvm.result import require_format
from structsvm.text.functions import RetrievalFunction
from structsvm.text.letor import Feature
from structsvm.text.pipelines.base_functions import BaseFunctions, IndexOrPath, NamedIndex
from structsvm.text.retrieval import Topics, texts_of

TEXT_RANKER = "text_ranker"
"""Name of the description's array, by which `structsvm.load` recognizes the file."""

_FORMAT = 1
_MAPS: Mapping[str, type[FeatureMap]] = {kind.__name__: kind for kind in (Indicators, Scores, AsGiven)}


@frozen(eq=False)
class Fitted:
    """State of a fitted `TextRanker`; ``columns`` are the names of the feature map's input."""

    base: BaseFunctions
    query: str | None
    features: FeatureMap
    transformer: Any
    ranker: Any
    columns: tuple[str, ...]
    left_out: dict[str, str]


@frozen
class _Description:
    """Content of the file besides the ranker; ``indexes`` has paths and digests, ``features`` a name in `_MAPS`."""

    format: int
    indexes: list[tuple[str, str]]
    functions: list[str]
    depth: int
    letor: list[str] | None
    fields: list[str] | None
    query: str | None
    features: str
    settings: dict[str, Any]
    thresholds: list[list[float]] | None
    columns: list[str]
    left_out: dict[str, str]


def write_text_ranker(path: str | Path, fitted: Fitted) -> None:
    """Write the fitted attributes, see `TextRanker.save`."""
    base, ranker, features, transformer = fitted.base, fitted.ranker, fitted.features, fitted.transformer
    if type(ranker) is not Ranker:
        raise InputError(
            f"the file of a TextRanker stores a Ranker, got {with_article(type(ranker).__name__)}: save the ranker "
            "itself, or write its runs with structsvm.data.write_run"
        )
    if type(features) not in _MAPS.values():
        raise InputError(f"features must be one of {', '.join(_MAPS)} to be saved, got {brief(features)}")
    thresholds = transformer.thresholds_ if isinstance(transformer, Thresholds) else None
    description = _Description(
        format=_FORMAT,
        indexes=[(_path(place, opened), opened.digest) for place, opened in enumerate(base.indexes)],
        functions=[_spelled(function) for function in base.functions],
        depth=base.depth,
        letor=None if base.letor is None else [_named(feature) for feature in base.letor],
        fields=None if base.fields is None else list(base.fields),
        query=fitted.query,
        features=type(features).__name__,
        settings=attrs.asdict(features),  # type: ignore[arg-type]
        thresholds=None if thresholds is None else [cuts.tolist() for cuts in thresholds],
        columns=list(fitted.columns),
        left_out=fitted.left_out,
    )
    write_archive(path, {**ranker.model_.arrays(), TEXT_RANKER: np.array(to_json(description))})


def read_text_ranker(path: str | Path, indexes: Any) -> Fitted:
    """Read a file and load its indexes, see `TextRanker.load`."""
    description, features, transformer, ranker = read_archive(path, _contents)
    base = BaseFunctions.of(
        _index_paths(path, [saved for saved, _ in description.indexes], indexes),
        description.functions,
        description.depth,
        description.letor,
        description.fields,
    )
    for opened, (_, digest) in zip(base.indexes, description.indexes, strict=True):
        if opened.digest != digest:
            raise InputError(
                f"the index {opened.path} differs from the index that {path} was trained with: pass the file of the "
                "original index, TextRanker.load(path, indexes=[...]), or train again"
            )
    columns = tuple(description.columns)
    return Fitted(base, description.query, features, transformer, ranker, columns, description.left_out)


def _index_paths(path: str | Path, saved: list[str], indexes: Any) -> list[str | PathLike[str]]:
    if indexes is None:
        lacking = next((file for file in saved if not Path(file).is_file()), None)
        if lacking is not None:
            raise InputError(
                f"the index {lacking}, with which {path} was trained, does not exist: pass its current path, "
                "TextRanker.load(path, indexes=[...])"
            )
        return list(saved)
    listed = [indexes] if isinstance(indexes, str | PathLike) else indexes
    if not isinstance(listed, list | tuple) or not all(isinstance(file, str | PathLike) for file in listed):
        raise InputError(f"indexes must be the file of an index, or a list of files, got {brief(indexes)}")
    if len(listed) != len(saved):
        raise InputError(f"indexes must name a file for each of the {len(saved)} indexes of {path}, got {len(listed)}")
    return list(listed)


def _contents(arrays: Mapping[str, Any]) -> tuple[_Description, FeatureMap, Any, Ranker]:
    """Return the checked content of a file."""
    if TEXT_RANKER not in arrays:
        raise ModelFileError(f"the file contains a {read_model(arrays).title}: read it with structsvm.load")
    require_format(json_object(arrays, TEXT_RANKER)["format"], _FORMAT)
    description = from_json(str(text_array(arrays, TEXT_RANKER, ())), _Description)
    if description.features not in _MAPS:
        raise ValueError(f"unknown map of features {description.features!r}")
    features = _MAPS[description.features](**description.settings)
    ranker = Ranker.from_model(read_model({name: arrays[name] for name in arrays if name != TEXT_RANKER}))
    n = len(description.columns)
    transformer = features.transformer()
    if isinstance(transformer, Thresholds):
        transformer.thresholds_ = [np.array(cuts) for cuts in description.thresholds or []]
        if len(transformer.thresholds_) != n:
            raise ValueError(f"it has thresholds of {len(transformer.thresholds_)} columns instead of {n}")
        if any((np.diff(cuts) <= 0.0).any() for cuts in transformer.thresholds_):
            raise ValueError("the thresholds of a column do not ascend")
        transformer.n_features_in_ = n
        n = sum(map(len, transformer.thresholds_))
    else:
        transformer.fit(np.zeros((1, n)))
    if ranker.n_features_in_ != n:
        raise ValueError(f"its ranker has {ranker.n_features_in_} features, but its feature map makes {n}")
    return description, features, transformer, ranker


def _path(place: int, index: NamedIndex) -> str:
    if index.path is None:
        raise InputError(
            f"indexes[{place}] is an object, but a file stores the paths of indexes: write the index with "
            "index.save(path), and pass the path instead"
        )
    return os.path.realpath(index.path)


def _spelled(function: Any) -> str:
    name = retrieval_functions.spell(function)
    if name is None:
        raise InputError(
            f"the function {function!r} has no registered name, and a file stores functions by name: register it as an "
            "entry point of the group structsvm.retrieval"
        )
    return name


def _named(feature: Any) -> str:
    if not isinstance(feature, str):
        raise InputError(
            f"a file stores LETOR's features by name: name the feature {feature.name!r} instead of passing an object"
        )
    return feature


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
        """Rank topics, and return the mean over judged topics of the ranker's measure, by default of AP.

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
