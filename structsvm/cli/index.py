"""``structsvm index``."""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from structsvm.cli.collections import warnings_as_notes, with_encoding, with_fields, with_format, with_id_field
from structsvm.cli.console import counted, note, print_table, progress_bar, progress_line
from structsvm.cli.paths import COLLECTION, NEW_INDEX, STOP_WORDS, Command
from structsvm.cli.texts import example

if TYPE_CHECKING:
    from structsvm.data import Document, Documents
    from structsvm.text import Index, Postings

_NONE = "none"
_SAY_EVERY = 256
_MEGABYTE = 1_000_000


def _as_stemmer(_ctx: click.Context, _param: click.Parameter, name: str) -> str | None:
    from structsvm.text.analyzer import STEMMERS

    if name not in (_NONE, *STEMMERS):
        raise click.BadParameter(f"there is no stemmer {name!r}; known: {', '.join((_NONE, *STEMMERS))}")
    return None if name == _NONE else name


@click.command(
    cls=Command,
    name="index",
    short_help="Index a collection of texts.",
    epilog=example(
        "structsvm index cran.all.1400 --out index",
        "structsvm index cran.all.1400 --fields text --stemmer none --stop-words none --out plain",
    ),
)
@click.argument("collection", type=COLLECTION)
@click.option(
    "-o", "--out", type=NEW_INDEX, required=True, help="Folder for the index; an index that is there is replaced."
)
@click.option(
    "--stemmer",
    metavar="NAME",
    default="porter",
    show_default=True,
    callback=_as_stemmer,
    help="Stemmer of the terms: porter, porter2, or none, which keeps tokens as they are.",
)
@click.option(
    "--stop-words",
    metavar="NAME|FILE",
    default="snowball",
    show_default=True,
    type=STOP_WORDS,
    help="Words to leave out: snowball (174 words), glasgow (318), lucene (33), none, or a file of words. Write ./ "
    "before a file that is named like a list.",
)
@with_fields
@with_format
@with_encoding
@with_id_field
@click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary.")
def index_command(
    collection: Path | str,
    out: Path,
    stemmer: str | None,
    stop_words: Path | str,
    fields: tuple[str, ...],
    form: str,
    encoding: str,
    id_field: str | None,
    quiet: bool,
) -> None:
    """Index the terms of a collection, in each field and in all fields together, for "retrieve" and "features".

    COLLECTION is a file of documents, plain or compressed, a folder of such files, "-" for standard input, or
    ir_datasets:NAME. The index stores its stemmer and stop words, so that topics are analysed as the documents were.

    The folder is written whole or not at all. It must be new, empty, or hold an index and nothing else.
    """
    from structsvm.data import read_documents
    from structsvm.data.collections.reading import bytes_of
    from structsvm.text import Analyzer, Index, read_stop_words
    from structsvm.text.index_files import require_replaceable

    require_replaceable(out)
    listed = None if stop_words == _NONE else stop_words
    analyzer = Analyzer(stemmer, read_stop_words(listed) if isinstance(listed, Path) else listed)
    documents = read_documents(collection, form, encoding=encoding, fields=fields or None, id_field=id_field)
    with warnings_as_notes(), documents, closing(_shown(documents, bytes_of(collection), shown=not quiet)) as told:
        made = Index.build(told, analyzer)
    with progress_line(shown=not quiet) as say:
        say("writing the index")
        made.save(out)
    if not quiet:
        _summarise(made, out)


def _shown(documents: "Documents", size: int | None, *, shown: bool) -> "Generator[Document]":
    """Yield documents, and show how many were read; of files whose size is known, with the time left."""
    if size is None:
        with progress_line(shown=shown) as say:
            for document in documents:
                if documents.n_read % _SAY_EVERY == 1:
                    say(f"reading, {documents.n_read:,} documents")
                yield document
        return
    with progress_bar("MB read", shown=shown) as show:
        for document in documents:
            if documents.n_read % _SAY_EVERY == 1:
                show(documents.n_bytes // _MEGABYTE, size // _MEGABYTE)
            yield document


def _summarise(index: "Index", folder: Path) -> None:
    from structsvm.text.index_files import folder_size

    columns = dict(index.fields)
    if len(columns) > 1:
        columns["all fields"] = index.whole
    rows = [[name, *_amounts(postings)] for name, postings in columns.items()]
    print_table(["field", "documents", "terms", "tokens", "postings"], rows, numbers_from=1)
    empty = index.empty_documents
    if empty:
        has, them = ("has", "it") if empty == 1 else ("have", "them")
        note(f"{counted(empty, 'document')} of {len(index.doc_ids)} {has} no term: no search finds {them}")
    note(f"wrote {counted(len(index.doc_ids), 'document')} in {folder_size(folder):,} bytes to {folder}")


def _amounts(postings: "Postings") -> list[str]:
    import numpy as np

    filled = int(np.count_nonzero(postings.lengths))
    return [f"{number:,}" for number in (filled, postings.n_terms, postings.n_tokens, postings.n_postings)]
