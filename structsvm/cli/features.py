"""``structsvm features``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.collections import (
    warnings_as_notes,
    with_encoding,
    with_format,
    with_grades,
    with_id_field,
    with_numbering,
)
from structsvm.cli.console import counted, first_of, note, progress_bar, progress_line
from structsvm.cli.files import check_output, write_text
from structsvm.cli.options import names_in, several
from structsvm.cli.paths import INDEX, OUTPUT, QRELS, RUNS, TOPICS, Command
from structsvm.cli.texts import example
from structsvm.exceptions import InputError
from structsvm.registry import retrieval_functions

if TYPE_CHECKING:
    from structsvm.data import Qrels, RankingData, Topic
    from structsvm.text import Index
    from structsvm.text.letor import Candidates


def _folds(values: dict[str, Any]) -> list[tuple[str, Path]]:
    """Return the files that --folds makes of the folder that --out names."""
    from structsvm.protocols.letor.fold_files import fold_files

    return [("--out", path) for path in fold_files(values["out"], values["folds"])] if values["folds"] else []


@click.command(
    cls=Command,
    also_writes=_folds,
    name="features",
    short_help="Compute LETOR's features from an index, topics and judgments.",
    epilog=example(
        "structsvm features index/ topics.txt --qrels qrels.txt --judged --out train.txt",
        "structsvm features index/ topics.txt --qrels qrels.txt --candidates runs/ --folds 5 --out letor",
    ),
)
@click.argument("index", type=INDEX)
@click.argument("topics", type=TOPICS)
@click.option("--qrels", type=QRELS, required=True, help="Judgments in TREC's format: the labels.")
@click.option(
    "-o", "--out", type=OUTPUT, required=True, help="LETOR file to write; with --folds a folder for the files."
)
@click.option(
    "--candidates",
    type=RUNS,
    multiple=True,
    help="A TREC run, or a folder of them: its top documents are the candidates. If given several times, the union is "
    "taken.",
)
@click.option(
    "--function",
    metavar="NAMES",
    multiple=True,
    callback=names_in(retrieval_functions),
    help="Without --candidates: retrieval functions; the union of their top documents are the candidates.  "
    "[default: bm25]",
)
@click.option(
    "--top",
    type=click.IntRange(min=1),
    help="How many documents of each run or function become candidates for a topic.  [default: 1000]",
)
@click.option("--judged", is_flag=True, help="Take the judged documents as candidates.")
@click.option(
    "--features",
    metavar="NAMES",
    multiple=True,
    default=["released"],
    show_default=True,
    callback=several,
    help="Features to compute: released (L1 to L10 and H1 to H5 as in LETOR's data), lecture (as in the lecture), "
    "single ones (L8,H1), or retrieval functions.",
)
@click.option(
    "--fields",
    metavar="NAMES",
    multiple=True,
    callback=several,
    help="Fields to compute features of; whole is the whole document.  [default: all fields, and whole]",
)
@click.option(
    "--normalise",
    type=click.Choice(["query-min-max", "none"]),
    default="query-min-max",
    show_default=True,
    help="Scale each feature to the range from 0 to 1 within each query, as in LETOR, or leave it as it is.",
)
@click.option("--folds", type=click.IntRange(min=3), help='Split the topics into files S1.txt, ... for "benchmark".')
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random split into folds."
)
@click.option("--query", metavar="PART", help="Part of the topic to use as the query.  [default: description, or all]")
@with_numbering
@with_grades
@with_format
@with_encoding
@with_id_field
@click.option("-q", "--quiet", is_flag=True, help="Show no progress and no summary.")
def features_command(
    index: Path,
    topics: Path | str,
    qrels: Path | str,
    out: Path,
    candidates: tuple[Path, ...],
    function: tuple[str, ...],
    top: int | None,
    judged: bool,
    features: tuple[str, ...],
    fields: tuple[str, ...],
    normalise: str,
    folds: int | None,
    seed: int,
    query: str | None,
    numbering: Any,
    grades: dict[int, int] | None,
    form: str,
    encoding: str,
    id_field: str | None,
    quiet: bool,
) -> None:
    """Compute LETOR's features of candidate documents, and write a LETOR file for train, predict, evaluate, benchmark.

    INDEX is a folder that "structsvm index" wrote, TOPICS a file of topics. The candidates of a topic are the top
    documents of retrieval functions on the index (--function) or of runs (--candidates), or the judged documents
    (--judged). Candidates without a judgment get label 0. Left out are judged documents that are not in the index, and
    topics without judgments or without candidates.

    The names of the features are written as comments at the head of the file. The file is written whole or not at all,
    and compressed by gzip if its name ends in .gz.
    """
    from structsvm.data import load_qrels, read_topics
    from structsvm.data.letor_writing import LetorText
    from structsvm.protocols.letor import write_folds
    from structsvm.protocols.letor.fold_files import require_place_for_folds
    from structsvm.text import Index
    from structsvm.text.letor import find_features, letor_features

    _require_one_kind(candidates, function, top, judged=judged)
    find_features(features)
    if folds:
        require_place_for_folds(out, folds)
    else:
        check_output(out)
    with warnings_as_notes(), progress_line(shown=not quiet) as say:
        say("reading index, topics and judgments")
        read = Index.load(index)
        judgments = load_qrels(qrels, grades)
        every = read_topics(topics, form, numbering, encoding=encoding, id_field=id_field)
        asked = _judged_topics(every, judgments, topics, qrels)
        say("finding candidates")
        if judged:
            pairs, missing = _indexed(judgments, read, asked)
        else:
            pairs, missing = _first_documents(read, asked, candidates, function or ("bm25",), top, query), []
    with progress_bar("topics", shown=not quiet) as show:
        data = letor_features(
            read,
            asked,
            pairs,
            judgments,
            features=features,
            fields=fields or None,
            normalise=normalise,
            query=query,
            progress=show,
        )
    if missing:
        lost = counted(len(missing), "judged document")
        note(f"{lost} of these topics not in the index ({first_of(missing)}), and left out")
    _note_left_out(every, data)
    if folds:
        write_folds(out, data, folds=folds, seed=seed)
    else:
        text = LetorText.of(data.X, data.y, data.qid, data.doc_ids, data.feature_names)
        write_text(text.pieces(), out)
    if not quiet:
        where = f"{folds} files in {out}" if folds else str(out)
        note(f"wrote {data.summary}, {int((data.y > 0).sum())} relevant, to {where}")


def _require_one_kind(candidates: Sequence[Path], functions: Sequence[str], top: int | None, *, judged: bool) -> None:
    if judged and (candidates or functions or top):
        raise click.UsageError("--judged says what the candidates are: leave out --candidates, --function and --top")
    if candidates and functions:
        raise click.UsageError(
            "candidates are the documents of runs, --candidates, or of functions on the index, --function: leave one "
            "out"
        )


def _judged_topics(topics: "Sequence[Topic]", judgments: "Qrels", path: Path | str, qrels: Path | str) -> "list[Topic]":
    """Return the topics that have judgments."""
    known = dict.fromkeys(judgments.qid.tolist())
    judged = [topic for topic in topics if topic.id in known]
    if not judged:
        raise InputError(
            f"no topic of {path} is judged in {qrels}: the first ones are {topics[0].id!r} and {next(iter(known))!r}. "
            "Where judgments number topics by their position, --numbering position does so, too"
        )
    return judged


def _indexed(judgments: "Qrels", index: "Index", topics: "Sequence[Topic]") -> "tuple[Candidates, list[str]]":
    """Return the judgments of topics whose documents are in an index, and the documents of the others.

    Where none is there, all are returned: that is an error of its own.
    """
    import numpy as np
    from attrs import evolve

    asked = np.isin(judgments.qid, [topic.id for topic in topics])
    there = np.isin(judgments.doc_ids, np.asarray(index.doc_ids))
    if not (asked & there).any():
        return judgments, []
    missing = list(dict.fromkeys(judgments.doc_ids[asked & ~there].tolist()))
    return (
        evolve(judgments, **{name: getattr(judgments, name)[there] for name in ("qid", "doc_ids", "grades")}),
        missing,
    )


def _first_documents(
    index: "Index",
    topics: "Sequence[Topic]",
    candidates: Sequence[Path],
    functions: Sequence[str],
    top: int | None,
    query: str | None,
) -> "Candidates":
    """Return the union of the first documents of runs, or of retrieval functions where there are none."""
    from attrs import evolve

    from structsvm.data import join_runs, load_run
    from structsvm.data.trec import run_files
    from structsvm.text import retrieve

    depth = top or 1000
    if candidates:
        files = [file for path in candidates for file in run_files(path)]
        runs = [evolve(load_run(file), name=str(file)) for file in files]
    else:
        runs = [retrieve(index, topics, function, depth, query=query, name=function) for function in functions]
    return join_runs(runs, depth=depth, topics=[topic.id for topic in topics])


def _note_left_out(topics: "Sequence[Topic]", data: "RankingData") -> None:
    kept = set(data.qid.tolist())
    lost = [topic.id for topic in topics if topic.id not in kept]
    if lost:
        note(f"{counted(len(lost), 'topic')} left out ({first_of(lost)}), without judgments or without candidates")
    without = len(kept) - len(set(data.qid[data.y > 0].tolist()))
    if without:
        note(f"{counted(without, 'topic')} with no relevant document among the candidates: measures count them as 0")
