"""Readers of collections and topics, of every format."""

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Literal, Self, TypeAlias, TypeVar

from structsvm.data.collections import ir_datasets
from structsvm.data.collections.document import Document
from structsvm.data.collections.formats import AUTO, FORMATS, records
from structsvm.data.collections.places import Places
from structsvm.data.collections.records import File, Kind, Record
from structsvm.data.collections.text import read_text, require_encoding
from structsvm.data.collections.topic import Topic
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.files import DATA_SET, STANDARD_INPUT
from structsvm.settings import as_list, as_path, require_choice, require_kind

Source: TypeAlias = str | PathLike[str]
Numbering: TypeAlias = Literal["given", "position"]

T = TypeVar("T", Document, Topic)


class Documents(Iterator[Document]):
    """The documents of a collection, each read when it is asked for, once. Made by `read_documents`.

    Attributes
    ----------
    n_read : number of documents so far.
    n_empty : how many of them have no text.
    """

    def __init__(self, found: Generator[Document]) -> None:
        self._found = found
        self.n_read = 0
        self.n_empty = 0

    def __next__(self) -> Document:
        document = next(self._found)
        self.n_read += 1
        self.n_empty += document.is_empty
        return document

    def close(self) -> None:
        """Close the file that is open, for those who stop early."""
        self._found.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def read_documents(
    source: Source,
    format: str = AUTO,
    *,
    encoding: str = "utf-8",
    fields: Iterable[str] | None = None,
    id_field: str | None = None,
) -> Documents:
    """Read the documents of a collection, one after the other: the file is read as they are asked for.

    A document without text is returned as any other, without fields; `Documents.n_empty` counts these. White space
    around a field is left out, and so is a field with nothing else.

    Parameters
    ----------
    source : a file, plain or gzip; a folder, of which all files are read that do not begin with a dot, those of
        folders in it too, in the order of their names; ``/dev/stdin``; or ``ir_datasets:NAME``.
    format : ``trec`` (``<DOC>``), ``smart`` (``.I``), ``jsonl`` (an object a line), ``tsv`` (id and text), or
        ``tsv-header`` (the first line names the columns). ``auto``: trec, smart and jsonl are told by the beginning of
        each file; a table is refused.
    encoding : of the files; ASCII must be ASCII in it.
    fields : names of those that are kept. None: all.
    id_field : the field that holds the id, for formats in which fields have names of one's own. None: in JSON lines
        the one of ``id``, ``_id``, ``docno``, ``doc_id``, ``docid`` that is there; in a table the first column.

    Raises
    ------
    InputError : an argument is not what it should be, there is no such file, or, at the end, no document has one of
        `fields`.
    DataFormatError : a file is not what its format says, or an id is there twice: the message names file and line.
    NotInstalledError : ``ir_datasets:`` without that package.

    Examples
    --------
    >>> documents = read_documents("cran.all.1400")  # doctest: +SKIP
    >>> sum(1 for _ in documents), documents.n_empty  # doctest: +SKIP
    (1400, 2)
    """
    kept = None if fields is None else _as_names(fields)
    return Documents(_read(source, Document, "document", format, encoding, id_field, kept))


def read_topics(
    source: Source,
    format: str = AUTO,
    numbering: Numbering = "given",
    *,
    encoding: str = "utf-8",
    id_field: str | None = None,
) -> list[Topic]:
    """Read topics.

    Parameters
    ----------
    source, format, encoding : as for `read_documents`; ``trec`` has ``<top>``.
    numbering : ``given``: topics have their ids from the file. ``position``: 1, 2, 3, ..., as the judgments of
        Cranfield call them, whatever the file does.
    id_field : the field that holds the id, for formats in which fields have names of one's own. None: in JSON lines
        the one of ``id``, ``_id``, ``qid``, ``query_id``, ``topic_id`` that is there; in a table the first column.

    Raises
    ------
    InputError : an argument is not what it should be, or there is no such file.
    DataFormatError : a file is not what its format says, an id is there twice, or a topic has no text: the message
        names file and line.
    NotInstalledError : ``ir_datasets:`` without that package.

    Examples
    --------
    >>> read_topics("cran.qry", numbering="position")[2].id  # doctest: +SKIP
    '3'
    """
    require_choice("numbering", numbering, ("given", "position"))
    return list(_read(source, Topic, "topic", format, encoding, id_field, None, positions=numbering == "position"))


def _as_names(fields: Iterable[str]) -> tuple[str, ...]:
    words = "a list of names of fields, such as ['title', 'text']"
    if isinstance(fields, str):
        raise InputError(f"fields must be {words}, got {fields!r}")
    names = as_list("fields", fields, words)
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"fields must be {words}, got {names!r}")
    return tuple(names)


def _read(
    source: Source,
    make: type[T],
    kind: Kind,
    form: str,
    encoding: str,
    id_field: str | None,
    kept: tuple[str, ...] | None,
    *,
    positions: bool = False,
) -> Generator[T]:
    """Check the arguments, and return what reads as it is asked to."""
    require_choice("format", form, (AUTO, *FORMATS))
    require_encoding(encoding)
    require_kind("id_field", id_field, str | None, "the name of a field, or None")
    if isinstance(source, str) and source.startswith(DATA_SET):
        if form != AUTO or id_field is not None or encoding != "utf-8":
            raise InputError(f"{source} is read by ir_datasets: leave the options format, encoding and id_field out")
        name = source.removeprefix(DATA_SET)
        found = ((Path(source), record) for record in ir_datasets.read(name, kind))
        return _made(found, make, kept, positions=positions, where=source)
    if id_field is not None and form in ("trec", "smart"):
        raise InputError(
            f"the option id_field, got {id_field!r}, is for jsonl and tsv-header: in {form} the id has its place"
        )
    path = as_path("source", source)
    return _made(_of_files(path, kind, form, encoding, id_field), make, kept, positions=positions, where=str(path))


def _of_files(path: Path, kind: Kind, form: str, encoding: str, id_field: str | None) -> Generator[tuple[Path, Record]]:
    for each in files_of(path):
        with closing(read_text(each, encoding)) as pieces:
            empty = True
            for record in records(File(each, pieces, kind, id_field), form):
                empty = False
                yield each, record
            if empty:
                raise DataFormatError(each, None, f"there is no {kind} in the file")


def _made(
    found: Iterator[tuple[Path, Record]],
    make: type[T],
    kept: tuple[str, ...] | None,
    *,
    positions: bool,
    where: str,
) -> Generator[T]:
    places, seen, what = Places(), set[str](), make.__name__.lower()
    for number, (path, record) in enumerate(found, start=1):
        fields = {name: text for name, each in record.fields.items() if (text := each.strip())}
        if kept is not None:
            seen.update(fields)
            fields = {name: text for name, text in fields.items() if name in kept}
        try:
            made = make(str(number) if positions else record.id, fields)
        except InputError as error:
            raise DataFormatError(path, record.line, str(error)) from None
        first = places.add(made.id, path, record.line)
        if first is not None:
            raise DataFormatError(
                path, record.line, f"{what} {quoted(made.id)} is there twice, first in {first}; leave one out"
            )
        if make is Topic and not fields:
            raise DataFormatError(path, record.line, f"topic {quoted(made.id)} has no text to search with")
        yield made
    missing = [] if kept is None else [name for name in kept if name not in seen]
    if missing:
        has = f"there is {', '.join(sorted(seen))}" if seen else "none has any"
        raise InputError(f"no {what} of {where} has the field {quoted(missing[0])}: {has}")


def files_of(path: Path) -> list[Path]:
    """Return the files of a collection: of a folder all in it, those of its folders too, in the order of their names.

    Raises
    ------
    InputError : there are none, one is no file, or a folder is in itself by a link.
    """
    if path == STANDARD_INPUT or not path.is_dir():
        return [path]
    try:
        found = list(_below(path, ()))
    except OSError as error:
        raise InputError(f"cannot read the folder {error.filename or path}: {error.strerror or error}") from error
    if not found:
        raise InputError(f"there are no files in the folder {path}")
    return found


def _below(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    real = folder.resolve()
    if real in above:
        raise InputError(f"the folder {folder} is a link to one that it is in: remove the link")
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _below(path, (*above, real))
        elif path.is_file():
            yield path
        else:
            raise InputError(f"{path} is neither a file nor a folder: take it out of the collection")
