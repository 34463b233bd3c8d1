"""Readers of collections and topics, of every format."""

import stat
from collections.abc import Callable, Generator, Iterable, Iterator
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
from structsvm.settings import as_names, as_path, require_choice, require_kind
from structsvm.storage.files import DATA_SET, STANDARD_INPUT

Source: TypeAlias = str | PathLike[str]
Numbering: TypeAlias = Literal["given", "position"]

_BLANKS = " \t\r\n"
"""What is left out around an id; other white space may be part of one, as in runs."""

T = TypeVar("T", Document, Topic)


class Documents(Iterator[Document]):
    r"""The documents of a collection, each read when it is asked for, once. Made by `read_documents`.

    Parameters
    ----------
    read : yields the documents, and calls what it is given with the number of further bytes that it read.

    Attributes
    ----------
    n_read : number of documents so far.
    n_empty : how many of them have no text.
    n_bytes : how much of the files was read so far, in bytes as they are there, packed or not: of `bytes_of` in all.

    Examples
    --------
    >>> from pathlib import Path
    >>> from structsvm.data import read_documents
    >>> _ = Path("plays.jsonl").write_text('{"id": "1", "text": "To be"}\n{"id": "2"}\n')
    >>> with read_documents("plays.jsonl") as documents:
    ...     for document in documents:
    ...         print(document.id, document.fields)
    1 {'text': 'To be'}
    2 {}
    >>> documents.n_read, documents.n_empty
    (2, 1)
    """

    def __init__(self, read: Callable[[Callable[[int], None]], Generator[Document]]) -> None:
        self.n_read = 0
        self.n_empty = 0
        self.n_bytes = 0
        self._found = read(self._count)

    def _count(self, further: int) -> None:
        self.n_bytes += further

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
    r"""Read the documents of a collection, one after the other: the file is read as they are asked for.

    A document without text is returned as any other, without fields; `Documents.n_empty` counts these. White space
    around a field is left out, and so is a field with nothing else.

    Parameters
    ----------
    source : a file, plain or compressed; a folder, of which all files are read that do not begin with a dot, those of
        folders in it too, in the order of their names; ``/dev/stdin``; or ``ir_datasets:NAME``.
    format : ``trec`` (``<DOC>``), ``smart`` (``.I``), ``jsonl`` (an object a line), ``tsv`` (id and text), or
        ``tsv-header`` (the first line names the columns). ``auto``: trec, smart and jsonl are told by the beginning of
        each file; a table is refused.
    encoding : encoding of the files, one that extends ASCII.
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
    >>> from pathlib import Path
    >>> from structsvm.data import read_documents
    >>> _ = Path("plays.trec").write_text("<DOC>\n<DOCNO> d1 </DOCNO>\n<TEXT>To be</TEXT>\n</DOC>\n")
    >>> [(document.id, document.fields) for document in read_documents("plays.trec")]
    [('d1', {'text': 'To be'})]
    """
    kept = None if fields is None else as_names("fields", fields)
    return Documents(lambda seen: _read(source, Document, "document", format, encoding, id_field, kept, seen=seen))


def read_topics(
    source: Source,
    format: str = AUTO,
    numbering: Numbering = "given",
    *,
    encoding: str = "utf-8",
    id_field: str | None = None,
) -> list[Topic]:
    r"""Read topics.

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
    >>> from pathlib import Path
    >>> from structsvm.data import read_topics
    >>> _ = Path("topics.tsv").write_text("7\tto be\n9\tor not\n")
    >>> [topic.id for topic in read_topics("topics.tsv", "tsv")]
    ['7', '9']
    >>> [topic.id for topic in read_topics("topics.tsv", "tsv", numbering="position")]
    ['1', '2']
    """
    require_choice("numbering", numbering, ("given", "position"))
    return list(_read(source, Topic, "topic", format, encoding, id_field, None, positions=numbering == "position"))


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
    seen: Callable[[int], None] = lambda further: None,
) -> Generator[T]:
    """Check the arguments, and return what reads as it is asked to."""
    require_choice("format", form, (AUTO, *FORMATS))
    require_encoding(encoding)
    require_kind("id_field", id_field, str | None, "the name of a field, or None")
    if isinstance(source, str) and source.startswith(DATA_SET):
        if form != AUTO or id_field is not None or encoding != "utf-8":
            raise InputError(f"{source} is read by ir_datasets: leave the options format, encoding and id_field out")
        name, origin = source.removeprefix(DATA_SET), Path(source)
        found = ((origin, record) for record in ir_datasets.read(name, kind))
        return _made(found, make, kept, positions=positions, source=source)
    path = as_path("source", source)
    return _made(
        _of_files(path, kind, form, encoding, id_field, seen), make, kept, positions=positions, source=str(path)
    )


def _of_files(
    path: Path, kind: Kind, form: str, encoding: str, id_field: str | None, seen: Callable[[int], None]
) -> Generator[tuple[Path, Record]]:
    for each in files_of(path):
        with closing(read_text(each, encoding, seen)) as pieces:
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
    source: str,
) -> Generator[T]:
    places, seen, what = Places(), set[str](), make.__name__.lower()
    in_lines = not source.startswith(DATA_SET)

    def place(line: int) -> str:
        return f"line {line}" if in_lines else f"{what} number {line}"

    def fault(path: Path, line: int, problem: str) -> DataFormatError:
        return (
            DataFormatError(path, line, problem)
            if in_lines
            else DataFormatError(path, None, f"{place(line)}: {problem}")
        )

    for number, (path, record) in enumerate(found, start=1):
        fields = {name: text for name, each in record.fields.items() if (text := each.strip())}
        if kept is not None:
            seen.update(fields)
            fields = {name: text for name, text in fields.items() if name in kept}
        try:
            made = make(str(number) if positions else record.id.strip(_BLANKS), fields)
        except InputError as error:
            raise fault(path, record.line, str(error)) from None
        first = places.add(made.id, path, record.line)
        if first is not None:
            before = place(first[1]) if first[0] is path else f"{first[0]}, {place(first[1])}"
            raise fault(path, record.line, f"{what} {quoted(made.id)} is there twice, first in {before}; leave one out")
        if make is Topic and not fields:
            raise fault(path, record.line, f"topic {quoted(made.id)} has no text to search with")
        yield made
    missing = [] if kept is None else [name for name in kept if name not in seen]
    if missing:
        has = f"there is {', '.join(sorted(seen))}" if seen else "none has any"
        raise InputError(f"no {what} of {source} has the field {quoted(missing[0])}: {has}")


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


def bytes_of(source: Source) -> int | None:
    """Return the size of all files of a collection; None where it is not known, as that of a pipe."""
    if str(source).startswith(DATA_SET):
        return None
    try:
        found = [path.stat() for path in files_of(Path(source))]
    except (InputError, OSError):  # who reads it says what is wrong
        return None
    return sum(each.st_size for each in found) if all(stat.S_ISREG(each.st_mode) for each in found) else None


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
