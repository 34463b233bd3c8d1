"""``structsvm index``."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.shared.collections import with_fields, with_texts
from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import note, progress_line, show_tables
from structsvm.cli.shared.paths import COLLECTION, INDEX, STOP_WORDS
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.exceptions import counted

if TYPE_CHECKING:
    from structsvm.data import Document, Documents

_NONE = "none"
_SAY_EVERY = 256


def _as_stemmer(_ctx: click.Context, _param: click.Parameter, name: str) -> str | None:
    from structsvm.text.analyzer import STEMMERS

    if name not in (_NONE, *STEMMERS):
        raise click.BadParameter(f"unknown stemmer {name!r}; known: {', '.join((_NONE, *STEMMERS))}")
    return None if name == _NONE else name


@command(
    "index",
    "Index a collection of texts.",
    examples=[
        "structsvm index cran.all.1400 --out index",
        "structsvm index cran.all.1400 --fields text --stemmer none --stop-words none --out plain",
    ],
)
@click.argument("collection", type=COLLECTION)
@click.option("-o", "--out", type=INDEX, required=True, help="File for the index. An old index is replaced.")
@click.option(
    "--stemmer",
    metavar="NAME",
    default="porter",
    callback=_as_stemmer,
    help="Stemmer of the terms: porter, porter2, or none for tokens without stemming.",
)
@click.option(
    "--stop-words",
    metavar="NAME|FILE",
    default="snowball",
    type=STOP_WORDS,
    help="Stop words to leave out: snowball (174 words), glasgow (318), lucene (33), none, or a file of words. Write "
    "./ before the name of a file that has the name of a list.",
)
@with_fields
@with_texts
@with_json
@click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary.")
def index_command(
    collection: Path | str,
    out: Path,
    stemmer: str | None,
    stop_words: Path | str,
    fields: tuple[str, ...],
    json_path: Path | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Index the terms of a collection, in each field and in all fields together, for "retrieve" and "features".

    COLLECTION is a file of documents, plain or compressed, a folder of files, "-" for standard input, or
    ir_datasets:NAME. The index stores its stemmer and stop words, so that topics are analyzed like the documents.

    The index is written whole or not at all. The command creates missing folders. It refuses to replace a file that is
    not an index.
    """
    from structsvm.data import read_documents
    from structsvm.text import Analyzer, Index
    from structsvm.text.analyzer import read_stop_words
    from structsvm.text.index import write_index

    text = shows_text(json_path) and not quiet
    listed = None if stop_words == _NONE else stop_words
    analyzer = Analyzer(stemmer, read_stop_words(listed) if isinstance(listed, Path) else listed)
    documents = read_documents(collection, fields=fields or None, **reading)
    with documents, closing(_shown(documents, shown=not quiet)) as read:
        index = Index.build(read, analyzer)
    with progress_line(shown=not quiet) as say:
        say("writing the index")
        write_index(out, index.analyzer, index.doc_ids, index.fields, index.whole, makes_folders=True)
    table, number, empty, size = index.table(), len(index.doc_ids), index.empty_documents, out.stat().st_size
    content = {"index": out, "documents": number, "documents_without_terms": empty, "bytes": size}
    write_json({**content, "rows": table.records}, json_path)
    if text:
        show_tables(table)
    if not quiet:
        if empty:
            has, them = ("has", "it") if empty == 1 else ("have", "them")
            note(f"{counted(empty, 'document')} of {number} {has} no term: no search finds {them}")
        note(f"wrote {counted(number, 'document')} in {size:,} bytes to {out}")


def _shown(documents: "Documents", *, shown: bool) -> "Generator[Document]":
    """Yield documents, and show a count of them if ``shown``."""
    with progress_line(shown=shown) as say:
        for document in documents:
            if documents.n_read % _SAY_EVERY == 1:
                say(f"reading, {documents.n_read:,} documents")
            yield document
