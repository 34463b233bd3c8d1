"""``structsvm index``."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.shared.collections import with_fields, with_texts
from structsvm.cli.shared.command import Command
from structsvm.cli.shared.console import note, print_table, progress_line
from structsvm.cli.shared.paths import COLLECTION, INDEX, STOP_WORDS
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.exceptions import counted

if TYPE_CHECKING:
    from structsvm.data import Document, Documents
    from structsvm.text import Index, Postings

_NONE = "none"
_SAY_EVERY = 256
_AMOUNTS = ("documents", "terms", "tokens", "postings")


def _as_stemmer(_ctx: click.Context, _param: click.Parameter, name: str) -> str | None:
    from structsvm.text.analyzer import STEMMERS

    if name not in (_NONE, *STEMMERS):
        raise click.BadParameter(f"unknown stemmer {name!r}; known: {', '.join((_NONE, *STEMMERS))}")
    return None if name == _NONE else name


@click.command(
    cls=Command,
    name="index",
    short_help="Index a collection of texts.",
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
    from structsvm.text.index_file import write_index
    from structsvm.text.stop_words import read_stop_words

    text = shows_text(json_path) and not quiet
    listed = None if stop_words == _NONE else stop_words
    analyzer = Analyzer(stemmer, read_stop_words(listed) if isinstance(listed, Path) else listed)
    documents = read_documents(collection, fields=fields or None, **reading)
    with documents, closing(_shown(documents, shown=not quiet)) as read:
        index = Index.build(read, analyzer)
    with progress_line(shown=not quiet) as say:
        say("writing the index")
        write_index(out, index.analyzer, index.doc_ids, index.fields, index.whole, makes_folders=True)
    summary = _summary(index, out)
    write_json(summary, json_path)
    if text:
        rows = [[row["field"], *(f"{row[name]:,}" for name in _AMOUNTS)] for row in summary["rows"]]
        print_table(["field", *_AMOUNTS], rows, numbers_from=1)
    if not quiet:
        _note_written(summary)


def _shown(documents: "Documents", *, shown: bool) -> "Generator[Document]":
    """Yield documents, and show a count of them if ``shown``."""
    with progress_line(shown=shown) as say:
        for document in documents:
            if documents.n_read % _SAY_EVERY == 1:
                say(f"reading, {documents.n_read:,} documents")
            yield document


def _summary(index: "Index", path: Path) -> dict[str, Any]:
    """Return the size of an index, and a row of counts for each field and for all together."""
    fields = dict(index.fields)
    if len(fields) > 1:
        fields["all fields"] = index.whole
    return {
        "index": path,
        "documents": len(index.doc_ids),
        "documents_without_terms": index.empty_documents,
        "bytes": path.stat().st_size,
        "rows": [{"field": name, **_amounts(postings)} for name, postings in fields.items()],
    }


def _amounts(postings: "Postings") -> dict[str, int]:
    import numpy as np

    filled = int(np.count_nonzero(postings.lengths))
    return dict(zip(_AMOUNTS, (filled, postings.n_terms, postings.n_tokens, postings.n_postings), strict=True))


def _note_written(summary: dict[str, Any]) -> None:
    empty, documents = summary["documents_without_terms"], summary["documents"]
    if empty:
        has, them = ("has", "it") if empty == 1 else ("have", "them")
        note(f"{counted(empty, 'document')} of {documents} {has} no term: no search finds {them}")
    note(f"wrote {counted(documents, 'document')} in {summary['bytes']:,} bytes to {summary['index']}")
