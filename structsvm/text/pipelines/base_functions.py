"""Base functions, which are retrieval functions on indexes, with their candidates and features."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from attrs import field, frozen

from structsvm.data import Run, join_runs
from structsvm.data.dataset import JoinedRuns
from structsvm.exceptions import InputError
from structsvm.foundation.settings import as_list, as_names, as_path, real_name, repeated, require_integer, require_kind
from structsvm.foundation.types import Matrix
from structsvm.registry import retrieval_functions
from structsvm.text.functions import RetrievalFunction
from structsvm.text.index import Index, content_digest
from structsvm.text.letor import Feature, letor_features
from structsvm.text.letor.catalogue import find_features
from structsvm.text.retrieval import Retriever, nothing_found

IndexOrPath: TypeAlias = Index | str | PathLike[str]

_INDEXES = "an index, its file, or a list of indexes and files"
_FEATURES = "the name of LETOR's features, a Feature, or a list of names and Features"
_FUNCTIONS = "the name of a retrieval function, a RetrievalFunction, or a list of names and functions"


@frozen(eq=False)
class NamedIndex:
    """An index with its name in columns, and path and content digest of its file (None and "" without a file)."""

    name: str
    index: Index = field(repr=False)
    path: Path | None
    digest: str


def opened(indexes: IndexOrPath | Iterable[IndexOrPath]) -> tuple[NamedIndex, ...]:
    """Load indexes from files, and name them by their files if these names are distinct, else by number from 1."""
    one = isinstance(indexes, Index | str | PathLike)
    listed: list[Any] = [indexes] if one else as_list("indexes", indexes, _INDEXES)
    if not listed:
        raise InputError("indexes is empty: pass at least one")
    for index in listed:
        require_kind("indexes", index, Index | str | PathLike, _INDEXES)
    paths = [None if isinstance(index, Index) else as_path("indexes", index) for index in listed]
    names = [real_name(path) if path else "" for path in paths]
    if "" in names or len(set(names)) < len(names):
        names = [str(number) for number in range(1, len(names) + 1)]
    return tuple(
        NamedIndex(name, Index.load(path) if path else index, path, content_digest(path) if path else "")
        for name, index, path in zip(names, listed, paths, strict=True)
    )


@frozen(eq=False)
class BaseFunctions:
    """All retrieval functions on all indexes, made by `of`; the best ``depth`` documents of each are candidates."""

    indexes: tuple[NamedIndex, ...]
    functions: tuple[RetrievalFunction, ...]
    names: tuple[str, ...]
    depth: int
    letor: tuple[str | Feature, ...] | None
    fields: tuple[str, ...] | None
    _retrievers: tuple[Retriever, ...] = field(repr=False)

    @classmethod
    def of(
        cls,
        indexes: IndexOrPath | Iterable[IndexOrPath],
        functions: str | RetrievalFunction | Iterable[str | RetrievalFunction],
        depth: int,
        letor: str | Feature | Iterable[str | Feature] | None,
        fields: Iterable[str] | None,
    ) -> Self:
        require_integer("depth", depth, 1)
        one = isinstance(functions, str | RetrievalFunction)
        listed: list[Any] = [functions] if one else as_list("functions", functions, _FUNCTIONS)
        objects = tuple(map(retrieval_functions.create, listed))
        if not objects:
            raise InputError("functions is empty: name at least one")
        if letor is not None:
            letor = (letor,) if isinstance(letor, str | Feature) else tuple(as_list("letor", letor, _FEATURES))
            find_features(letor)
        if fields is not None and letor is None:
            raise InputError("fields needs letor=...: name LETOR's features, or leave fields out")
        those = opened(indexes)
        return cls(
            indexes=those,
            functions=objects,
            names=_names(those, objects),
            depth=depth,
            letor=letor,
            fields=None if fields is None else as_names("fields", fields),
            retrievers=tuple(Retriever(item.index, function) for item in those for function in objects),
        )

    def runs(self, texts: Mapping[str, str]) -> list[Run]:
        """Return the best documents by each base function; InputError if no topic shares a term with a document."""
        runs = [
            item.ranked(texts, self.depth, name=name) for name, item in zip(self.names, self._retrievers, strict=True)
        ]
        if not any(len(run.qid) for run in runs):
            raise nothing_found(texts)
        return runs

    def candidates(self, texts: Mapping[str, str]) -> JoinedRuns:
        """Return the documents among the best of any base function, topic by topic."""
        return join_runs(self.runs(texts), depth=self.depth)

    def features(self, texts: Mapping[str, str], candidates: JoinedRuns) -> tuple[Matrix, tuple[str, ...]]:
        """Return features of candidates, shape (rows, columns), not normalized, and the names of the columns."""
        if self.letor is None:
            return candidates.X, self.names
        parts = {
            opened.name: letor_features(
                opened.index, texts, candidates, features=self.letor, fields=self.fields, normalize=None
            )
            for opened in self.indexes
        }
        names = [
            _prefixed(self.indexes, index, name) for index, data in parts.items() for name in data.feature_names or ()
        ]
        return np.hstack([np.asarray(data.X) for data in parts.values()]), tuple(names)


def _names(indexes: Sequence[NamedIndex], functions: Sequence[RetrievalFunction]) -> tuple[str, ...]:
    spelled = [retrieval_functions.spell(function) or type(function).__name__ for function in functions]
    twice = repeated(spelled)
    if twice is not None:
        raise InputError(f"the function {twice} is given twice: leave one out")
    return tuple(_prefixed(indexes, index.name, name) for index in indexes for name in spelled)


def _prefixed(indexes: Sequence[NamedIndex], index: str, name: str) -> str:
    return f"{index}.{name}" if len(indexes) > 1 else name
