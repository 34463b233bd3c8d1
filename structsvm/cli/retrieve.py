"""``structsvm retrieve``."""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.shared.collections import with_numbering, with_texts
from structsvm.cli.shared.command import Output, command
from structsvm.cli.shared.console import note, progress_bar, progress_line
from structsvm.cli.shared.failures import Failure
from structsvm.cli.shared.options import COUNT, list_option, names_in
from structsvm.cli.shared.paths import INPUT, NEW_FILES, TOPICS
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.exceptions import InputError, counted, first_of
from structsvm.foundation.settings import real_name, repeated
from structsvm.foundation.storage.artefacts import INDEX, artefact_kind
from structsvm.registry import retrieval_functions

if TYPE_CHECKING:
    from structsvm.data import Run, Topic

_UNREADABLE = re.compile(r"[\s\ud800-\udfff]+")
"""Blanks, and bytes of file names that are not UTF-8, which no reader of runs accepts in a name."""
_UNUSUAL = re.compile(r"[^\w.=+-]+")


def _outputs(values: dict[str, Any]) -> Iterator[Output]:
    for file in dict.fromkeys(map(_file, _names(values["indexes"], values["function"], values["field"]))):
        yield Output("--out", values["out"] / file, NEW_FILES)


def _names(indexes: Iterable[Path], functions: Iterable[str], field: str | None) -> list[str]:
    """Return the names of the runs: index, field if there is one, and function."""
    spelled = [retrieval_functions.spell(retrieval_functions.create(name)) or name for name in functions]
    parts = [] if field is None else [field]
    return [_UNREADABLE.sub("_", ".".join([real_name(path), *parts, name])) for path in indexes for name in spelled]


def _file(name: str) -> str:
    """Return the file name of a run, with characters replaced that are special in shells."""
    return f"{_UNUSUAL.sub('_', name).strip('_')}.run"


@command(
    "retrieve",
    "Rank the documents of indexes for topics, as TREC runs.",
    also_writes=_outputs,
    examples=[
        "structsvm retrieve index topics.trec --out runs/",
        "structsvm retrieve plain porter cran.qry --function 'bm25(b=0.4),lm_dirichlet,tfidf' --out runs/",
    ],
)
@click.argument("indexes", metavar="INDEX...", type=INPUT, nargs=-1, required=True)
@click.argument("topics", type=TOPICS)
@list_option(
    "--function",
    default=("bm25",),
    callback=names_in(retrieval_functions),
    help='Retrieval functions, as in bm25(k1=0.9,b=0.4),lm_dirichlet; "structsvm list" shows them.',
)
@click.option(
    "-o", "--out", type=NEW_FILES, required=True, help="Folder for the runs: a run for each index and function."
)
@click.option("--top", type=COUNT, default=1000, help="Largest number of documents for a topic.")
@click.option(
    "--query",
    metavar="PART",
    help="Part of the topic to use as the query: title, description, narrative, another part of the topics, or all.  "
    "[default: title, or else description, text or all]",
)
@click.option(
    "--field",
    metavar="NAME",
    help='Field of the documents to search; "structsvm index" shows the fields.  [default: all fields together]',
)
@with_texts
@with_numbering
@with_json
@click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary.")
def retrieve_command(
    indexes: tuple[Path, ...],
    topics: Path,
    function: tuple[str, ...],
    out: Path,
    top: int,
    query: str | None,
    field: str | None,
    json_path: Path | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Rank the documents of each INDEX for the topics of the file TOPICS, by each retrieval function.

    An INDEX is a file that "structsvm index" wrote. Topics are analyzed like its documents. Runs are in TREC's format
    and have the names of index and function, and of the field if --field is given. Two or more runs can be the base
    functions of "structsvm experiment": pass the --out folder as --runs.

    The command writes all runs or, if it fails, no run. It does not retrieve documents without any term of a topic.
    """
    from attrs import evolve

    from structsvm.data import read_topics
    from structsvm.data.trec import run_lines
    from structsvm.foundation.storage.files import errors_naming, replacement

    shows_text(json_path)
    names = _names(indexes, function, field)
    _require_different(indexes, names)
    with progress_line(shown=not quiet) as say:
        say("reading topics")
        read = read_topics(topics, **reading)
    missing: dict[Path, set[str]] = {}
    written: list[dict[str, Any]] = []
    done = 0
    try:
        with ExitStack() as stack, progress_bar("topics", shown=not quiet) as show:
            places = [stack.enter_context(replacement(out / _file(name), makes_folders=True)) for name in names]

            def advance(count: int) -> None:
                nonlocal done
                done += count
                show(done, len(names) * len(read))

            show(0, len(names) * len(read))
            runs = _runs(indexes, function, read, top, query, field, advance)
            for name, place, (index, run) in zip(names, places, runs, strict=True):
                with (
                    errors_naming(out / _file(name), f"{out} is as it was"),
                    place.open("w", encoding="utf-8", errors="surrogateescape") as file,
                ):
                    file.writelines(run_lines(evolve(run, name=name)))
                answered = set(run.qid.tolist())
                missing[index] = {topic.id for topic in read} - answered
                entry = {"run": name, "file": out / _file(name), "index": index}
                written.append({**entry, "topics": len(answered), "retrieved": len(run.qid)})
    except KeyboardInterrupt:
        raise Failure(f"interrupted after {done} of {len(names) * len(read)} topics; {out} is as it was") from None
    write_json({"topics": len(read), "runs": written}, json_path)
    _note_missing(missing, len(read))
    _note_others(out, {_file(name) for name in names})
    if not quiet:
        note(f"wrote {counted(len(names), 'run')} of {counted(len(read), 'topic')} to {out}")


def _runs(
    indexes: Iterable[Path],
    functions: Iterable[str],
    topics: "list[Topic]",
    top: int,
    query: str | None,
    field: str | None,
    advance: Any,
) -> "Iterator[tuple[Path, Run]]":
    """Yield each run with the path of its index."""
    from structsvm.text import Index, Retriever

    for path in indexes:
        index = Index.load(path)
        for name in functions:
            yield path, Retriever(index, name, field).retrieve(topics, top, query=query, progress=advance)


def _require_different(indexes: Iterable[Path], names: list[str]) -> None:
    from structsvm.text.index import require_regular

    for path in indexes:
        require_regular(path)
        if artefact_kind(path) != INDEX:
            raise InputError(f"{path} is not an index: indexes come first, topics last")
    twice = repeated(map(_file, names))
    if twice is not None:
        raise InputError(
            f"two runs would have the name {twice}, because two indexes have the same name: rename an index, or "
            "retrieve from it with another --out"
        )


def _note_missing(missing: dict[Path, set[str]], topics: int) -> None:
    """Note the topics that share no term with an index."""
    from structsvm.data.pairs import sort_topics

    for index, lacking in missing.items():
        if lacking:
            some = first_of(sort_topics(lacking))
            note(
                f"{index} has no term of {len(lacking)} of {counted(topics, 'topic')} ({some}): their runs have no "
                "documents"
            )


def _note_others(out: Path, written: set[str]) -> None:
    others = sorted(path.name for path in out.iterdir() if path.name not in written and not path.name.startswith("."))
    if others:
        note(
            f"{out} has {counted(len(others), 'other file')} ({first_of(others)}): later commands will read them with "
            "the runs"
        )
