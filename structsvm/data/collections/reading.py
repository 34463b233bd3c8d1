"""Read documents and topics in any format; formats have names, or are detected."""

import os
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import Literal, Self, TypeAlias, TypeVar

from attrs import evolve

from structsvm.data.collections import ir_datasets, lines, smart, trec
from structsvm.data.collections.files import File, Kind, Piece, Reader, Record, read_text, require_encoding
from structsvm.data.collections.items import Document, Topic
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.foundation.settings import as_names, as_path, require_choice, require_kind
from structsvm.foundation.storage.files import DATA_SET, STANDARD_INPUT

AUTO = "auto"

FORMATS: Mapping[str, Reader] = {
    "trec": trec.read_trec,
    "smart": smart.read_smart,
    "lisa": smart.read_lisa,
    "jsonl": lines.read_objects,
    "tsv": lines.read_table,
    "tsv-header": lines.read_table_with_header,
}
"""Readers by format name."""

_NAMED = ("jsonl", "tsv-header")
"""Formats whose fields have names chosen by the user."""

_BEGINNINGS = {
    "trec": re.compile(r"<(doc|top)[\s>]|<!--", re.IGNORECASE),
    "smart": re.compile(r"\.I[ \t\n]"),
    "lisa": smart.LISA,
    "jsonl": re.compile(r"\{"),
}
"""Unambiguous beginnings of files by format."""


def records_of(file: File, form: str) -> Iterator[Record]:
    """Yield the records of a file in a named format; `AUTO` detects the format from its beginning."""
    if form == AUTO:
        begun = list[Piece]()
        for piece in file.pieces:
            begun.append(piece)
            if not piece.text.isspace():
                break
        form = _format_of(file, begun)
        file = evolve(file, pieces=chain(begun, file.pieces))
    if file.id_field is not None and form not in _NAMED:
        raise InputError(
            f"id_field={file.id_field!r} is only for the formats {' and '.join(_NAMED)}, but {file.path} is {form}: "
            "leave it out"
        )
    yield from FORMATS[form](file)


def _format_of(file: File, begun: list[Piece]) -> str:
    last = begun[-1].text if begun else ""
    text = last.lstrip()
    if not text:
        raise file.fault(None, f"the file is empty: it must have a {file.kind}")
    for name, beginning in _BEGINNINGS.items():
        if beginning.match(text):
            return name
    first = text.partition("\n")[0]
    if first.startswith("["):
        problem = "is a JSON array: jq -c '.[]' FILE > NEW writes one object per line, which the format jsonl reads"
    elif "\t" in first:
        problem = "is a table: name its format, tsv or, if the first line names the columns, tsv-header"
    else:
        tag = "DOC" if file.kind == "document" else "top"
        problem = (
            f"matches no format: name one of {', '.join(FORMATS)} (trec begins with <{tag}>, smart with .I, jsonl with "
            "{)"
        )
    line = begun[-1].line + last.count("\n", 0, len(last) - len(text))
    raise file.fault(line, f"the beginning {quoted(first)} {problem}")


Source: TypeAlias = str | PathLike[str]
Numbering: TypeAlias = Literal["given", "position"]

_BLANKS = " \t\r\n"
"""Characters stripped from ids; other white space may be part of an id, as in runs."""

_LINES = 2**40
"""More than the lines of any file."""

T = TypeVar("T", Document, Topic)


class Documents(Iterator[Document]):
    """Iterator over the documents of a collection, with counts of documents so far: ``n_read``, ``n_empty``."""

    def __init__(self, documents: Generator[Document]) -> None:
        self.n_read = 0
        self.n_empty = 0
        self._found = documents

    def __next__(self) -> Document:
        document = next(self._found)
        self.n_read += 1
        self.n_empty += document.is_empty
        return document

    def close(self) -> None:
        """Close the open file, to stop early."""
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
    r"""Iterate over the documents of a collection; each is read on demand.

    White space around a field is removed, and empty fields are dropped; a document without text has no fields.

    Parameters
    ----------
    source : a file, plain or compressed; a folder, whose files and subfolders are read in the order of their names,
        except files that begin with a dot; ``/dev/stdin``; or ``ir_datasets:NAME``.
    format : ``trec`` (``<DOC>``), ``smart`` (``.I``), ``lisa`` (``Document 1``), ``jsonl`` (one object per line),
        ``tsv`` (id and text), or ``tsv-header`` (the first line names the columns). ``auto`` detects trec, smart, lisa
        and jsonl by the beginning of each file.
    encoding : encoding of the files, one that extends ASCII.
    fields : names of the fields to keep. None: all.
    id_field : the field with the id, for jsonl and tsv-header. None: in JSON lines the first of ``id``, ``_id``,
        ``docno``, ``doc_id``, ``docid`` that an object has; in a table the first column.

    Returns
    -------
    documents : iterator of `Document`, and a context manager that closes the files. ``n_read`` counts the documents so
        far, and ``n_empty`` the documents without text.

    Raises
    ------
    DataFormatError : a file does not have the given format, or an id is repeated; the message names file and line.
    NotInstalledError : ``ir_datasets:`` without that package.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("plays.jsonl").write_text('{"id": "1", "text": "To be"}\n{"id": "2"}\n')
    >>> with read_documents("plays.jsonl") as documents:
    ...     print([(document.id, document.fields) for document in documents], documents.n_empty)
    [('1', {'text': 'To be'}), ('2', {})] 1
    """
    names = None if fields is None else as_names("fields", fields)
    return Documents(_read(source, Document, format, encoding, id_field, names))


def read_topics(
    source: Source,
    format: str = AUTO,
    numbering: Numbering = "given",
    *,
    encoding: str = "utf-8",
    id_field: str | None = None,
) -> list[Topic]:
    r"""Read the topics of a file or data set.

    Parameters
    ----------
    source, format, encoding : as for `read_documents`; topics in ``trec`` are ``<top>`` elements.
    numbering : ``given``: topics have their ids from the file. ``position``: topics are numbered 1, 2, 3, ... in the
        order of the file, as in the judgments of Cranfield.
    id_field : as for `read_documents`; in JSON lines, ids are in ``id``, ``_id``, ``qid``, ``query_id`` or
        ``topic_id``.

    Raises
    ------
    NotInstalledError : as `read_documents`.
    DataFormatError : as `read_documents`, or a topic has no text.

    Examples
    --------
    >>> from pathlib import Path
    >>> _ = Path("topics.tsv").write_text("7\tto be\n9\tor not\n")
    >>> [topic.id for topic in read_topics("topics.tsv", "tsv")]
    ['7', '9']
    """
    require_choice("numbering", numbering, ("given", "position"))
    return list(_read(source, Topic, format, encoding, id_field, None, positions=numbering == "position"))


def _read(
    source: Source,
    make: type[T],
    form: str,
    encoding: str,
    id_field: str | None,
    names: tuple[str, ...] | None,
    *,
    positions: bool = False,
) -> Generator[T]:
    """Check the arguments and return a generator of documents or topics."""
    require_choice("format", form, (AUTO, *FORMATS))
    require_encoding(encoding)
    require_kind("id_field", id_field, str | None, "the name of a field, or None")
    kind: Kind = "topic" if make is Topic else "document"
    if isinstance(source, str) and source.startswith(DATA_SET):
        if form != AUTO or id_field is not None or encoding != "utf-8":
            raise InputError(f"{source} is read by ir_datasets: leave out format, encoding and id_field")
        origin, records = Path(source), ir_datasets.read_ir_dataset(source.removeprefix(DATA_SET), kind)
        return _made(((origin, record) for record in records), make, kind, names, positions=positions, source=source)
    path = as_path("source", source)
    pairs = _of_files(path, kind, form, encoding, id_field)
    return _made(pairs, make, kind, names, positions=positions, source=str(path))


def _of_files(path: Path, kind: Kind, form: str, encoding: str, id_field: str | None) -> Generator[tuple[Path, Record]]:
    for file in files_of(path):
        with closing(read_text(file, encoding)) as pieces:
            empty = True
            for record in records_of(File(file, pieces, kind, id_field), form):
                empty = False
                yield file, record
            if empty:
                raise DataFormatError(file, None, f"the file has no {kind}")


def _made(
    records: Iterator[tuple[Path, Record]],
    make: type[T],
    kind: Kind,
    names: tuple[str, ...] | None,
    *,
    positions: bool,
    source: str,
) -> Generator[T]:
    paths, first_places, seen = list[Path](), dict[str, int](), set[str]()
    in_lines = not source.startswith(DATA_SET)

    def place(line: int) -> str:
        return f"line {line}" if in_lines else f"{kind} number {line}"

    def fault(path: Path, line: int, problem: str) -> DataFormatError:
        return DataFormatError(path, line if in_lines else None, problem if in_lines else f"{place(line)}: {problem}")

    for number, (path, record) in enumerate(records, start=1):
        fields = {name: text for name, text_of_field in record.fields.items() if (text := text_of_field.strip())}
        if names is not None:
            seen.update(fields)
            fields = {name: text for name, text in fields.items() if name in names}
        try:
            item = make(str(number) if positions else record.id.strip(_BLANKS), fields)
        except InputError as error:
            raise fault(path, record.line, str(error)) from None
        if not paths or path is not paths[-1]:
            paths.append(path)
        # One number per id takes less memory than a pair of file and line.
        here = (len(paths) - 1) * _LINES + record.line
        count = len(first_places)
        first = first_places.setdefault(item.id, here)
        if len(first_places) == count:
            file, line = divmod(first, _LINES)
            before = place(line) if paths[file] is path else f"{paths[file]}, {place(line)}"
            raise fault(path, record.line, f"{kind} {quoted(item.id)} occurs twice, first in {before}: leave one out")
        if make is Topic and not fields:
            raise fault(path, record.line, f"topic {quoted(item.id)} has no text to search with")
        yield item
    missing = [] if names is None else [name for name in names if name not in seen]
    if missing:
        has = ", ".join(sorted(seen)) or "none"
        raise InputError(f"no {kind} of {source} has the field {quoted(missing[0])}; their fields: {has}")


def files_of(path: Path) -> list[Path]:
    """Return the files of a collection: one file, or all in a folder and its subfolders, sorted by name."""
    if path == STANDARD_INPUT or not path.is_dir():
        return [path]
    try:
        files = list(_below(path, ()))
    except OSError as error:
        raise InputError(f"cannot read the folder {error.filename or path}: {error.strerror or error}") from error
    if not files:
        raise InputError(f"the folder {path} has no files")
    return files


def _below(folder: Path, above: tuple[Path, ...]) -> Iterator[Path]:
    real = Path(os.path.realpath(folder))
    if real in above:
        raise InputError(f"the folder {folder} is a link to a folder that contains it: remove the link")
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            yield from _below(path, (*above, real))
        elif path.is_file():
            yield path
        else:
            raise InputError(f"{path} is neither a file nor a folder: remove it from the collection")
