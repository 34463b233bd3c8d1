"""The base functions: retrieval functions on indexes, the candidates that they find, and the features of these."""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Self, TypeAlias

import numpy as np
from attrs import field, frozen

from structsvm.data import JoinedRuns, Run, join_runs
from structsvm.exceptions import InputError
from structsvm.registry import retrieval_functions
from structsvm.settings import as_list, as_names, require_integer
from structsvm.text import Index, RetrievalFunction, Retriever
from structsvm.text.index_files import content_digest
from structsvm.text.letor import Feature, find_features, letor_features
from structsvm.text.retrieval import nothing_found
from structsvm.types import Matrix

IndexOrFolder: TypeAlias = Index | str | PathLike[str]

_INDEXES = "an index, its folder, or a list of these"
_FEATURES = "the name of LETOR's features, a Feature, or a list of these"
_FUNCTIONS = "the name of a retrieval function, a RetrievalFunction, or a list of these"


@frozen(eq=False)
class NamedIndex:
    """An index, and where it is from.

    Parameters
    ----------
    name : what columns of features are called after.
    index : the index.
    folder : its folder; None where it was given as an object.
    sha256 : digest of what is in the folder.
    """

    name: str
    index: Index = field(repr=False)
    folder: Path | None
    sha256: str = ""


def opened(indexes: IndexOrFolder | Iterable[IndexOrFolder]) -> tuple[NamedIndex, ...]:
    """Load the indexes that are given by their folders, and name all.

    Their names are those of the folders, if all have one and no two have the same, and else their places from 1.

    Raises
    ------
    InputError : there are none, or one is neither an index nor a folder.
    DataFormatError : a folder holds no index.
    """
    one = isinstance(indexes, Index | str | PathLike)
    given: list[Any] = [indexes] if one else as_list("indexes", indexes, _INDEXES)
    if not given:
        raise InputError("indexes is empty: name one at least")
    found = [_opened(each, str(place)) for place, each in enumerate(given, start=1)]
    names = [each.folder.resolve().name if each.folder else "" for each in found]
    if "" in names or len(set(names)) < len(names):
        return tuple(found)
    return tuple(
        NamedIndex(name, each.index, each.folder, each.sha256) for name, each in zip(names, found, strict=True)
    )


def _opened(given: Any, name: str) -> NamedIndex:
    if isinstance(given, Index):
        return NamedIndex(name, given, None)
    if not isinstance(given, str | PathLike):
        raise InputError(f"indexes must be {_INDEXES}, got {given!r}")
    folder = Path(given)
    index = Index.load(folder)
    return NamedIndex(name, index, folder, content_digest(folder))


@frozen(eq=False)
class BaseFunctions:
    """Retrieval functions on indexes. Made by `of`.

    Parameters
    ----------
    indexes : the indexes.
    functions : the functions, each of which is a base function on each index.
    names : names of the base functions, such as ``"okapi"``, or ``"stems.okapi"`` where there are several indexes.
    depth : how many documents of each are candidates for a topic, the best ones.
    letor : LETOR's features, as they were asked for; None: the scores of the base functions are the features.
    fields : fields that these are of; None: see `letor_features`.
    """

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
        indexes: IndexOrFolder | Iterable[IndexOrFolder],
        functions: str | RetrievalFunction | Iterable[str | RetrievalFunction],
        depth: int,
        letor: str | Feature | Iterable[str | Feature] | None,
        fields: Iterable[str] | None,
    ) -> Self:
        """Load indexes, and bind functions to them.

        Raises
        ------
        InputError, UnknownNameError, DataFormatError : one of these is not what it should be.
        """
        require_integer("depth", depth, 1)
        one = isinstance(functions, str | RetrievalFunction)
        given: list[Any] = [functions] if one else as_list("functions", functions, _FUNCTIONS)
        made = tuple(map(retrieval_functions.create, given))
        if not made:
            raise InputError("functions is empty: name one at least")
        if letor is not None:
            letor = (letor,) if isinstance(letor, str | Feature) else tuple(as_list("letor", letor, _FEATURES))
            find_features(letor)
        if fields is not None and letor is None:
            raise InputError("fields are those of LETOR's features: leave fields out, or say which in letor=...")
        those = opened(indexes)
        return cls(
            indexes=those,
            functions=made,
            names=_names(those, made),
            depth=depth,
            letor=letor,
            fields=None if fields is None else as_names("fields", fields),
            retrievers=tuple(Retriever(each.index, function) for each in those for function in made),
        )

    def runs(self, texts: Mapping[str, str]) -> list[Run]:
        """Return the best documents by each base function; see `texts_of`.

        Raises
        ------
        InputError : no document has a term of any topic.
        """
        runs = [
            each.ranked(texts, self.depth, name=name) for name, each in zip(self.names, self._retrievers, strict=True)
        ]
        if not any(len(run.qid) for run in runs):
            raise nothing_found(texts)
        return runs

    def candidates(self, texts: Mapping[str, str]) -> JoinedRuns:
        """Return the documents that any base function has among its best, topic after topic; see `runs`."""
        return join_runs(self.runs(texts), depth=self.depth)

    def features(self, texts: Mapping[str, str], candidates: JoinedRuns) -> tuple[Matrix, tuple[str, ...]]:
        """Return what is known of candidates, shape (rows, columns), and the names of the columns.

        Of base functions it is the scores, NaN where a function does not have the document among its best. LETOR's
        features are as their formulas have them, without normalisation.

        Parameters
        ----------
        texts : the text of each query by the id of its topic.
        candidates : those of `candidates`, or a pool of `runs`.
        """
        if self.letor is None:
            return candidates.X, self.names
        found = {
            each.name: letor_features(
                each.index, texts, candidates, features=self.letor, fields=self.fields, normalise="none"
            )
            for each in self.indexes
        }
        names = [
            _prefixed(self.indexes, index, name) for index, data in found.items() for name in data.feature_names or ()
        ]
        return np.hstack([np.asarray(data.X) for data in found.values()]), tuple(names)


def _names(indexes: Sequence[NamedIndex], functions: Sequence[RetrievalFunction]) -> tuple[str, ...]:
    spelled = [retrieval_functions.spell(each) or type(each).__name__ for each in functions]
    twice = next((name for place, name in enumerate(spelled) if name in spelled[:place]), None)
    if twice is not None:
        raise InputError(f"the function {twice} is there twice: leave one out")
    return tuple(_prefixed(indexes, index.name, name) for index in indexes for name in spelled)


def _prefixed(indexes: Sequence[NamedIndex], index: str, name: str) -> str:
    return f"{index}.{name}" if len(indexes) > 1 else name
