"""``structsvm features``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.shared.collections import with_grades, with_numbering, with_texts
from structsvm.cli.shared.command import Output, command
from structsvm.cli.shared.console import note, progress_bar, progress_line
from structsvm.cli.shared.files import write_text
from structsvm.cli.shared.options import COUNT, Whole, fold_seed, list_option, names_in
from structsvm.cli.shared.paths import INPUT, NEW_FILES, QRELS, RUNS, STREAMED, TOPICS
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.exceptions import InputError, counted, first_of
from structsvm.features.scaling.names import SCORE_SCALINGS
from structsvm.registry import retrieval_functions

if TYPE_CHECKING:
    from structsvm.data import Qrels, RankingData, Topic
    from structsvm.text.letor.extraction import Candidates


def _folds(values: dict[str, Any]) -> list[Output]:
    """Return the files that --folds writes to the folder --out."""
    from structsvm.protocols.letor.folds import fold_files

    files = fold_files(values["out"], values["folds"]) if values["folds"] else []
    return [Output("--out", path, NEW_FILES) for path in files]


@command(
    "features",
    "Compute LETOR's features from an index, topics and judgments.",
    also_writes=_folds,
    examples=[
        "structsvm features index topics.txt --qrels qrels.txt --judged --out train.txt",
        "structsvm features index topics.txt --qrels qrels.txt --candidates runs/ --folds 5 --out letor",
    ],
)
@click.argument("index", type=INPUT)
@click.argument("topics", type=TOPICS)
@click.option("--qrels", type=QRELS, required=True, help="Judgments in TREC's format: the labels.")
@click.option(
    "-o", "--out", type=STREAMED, required=True, help="LETOR file to write; with --folds a folder for the files."
)
@click.option(
    "--candidates",
    type=RUNS,
    multiple=True,
    help="TREC run, or folder of runs, whose top documents are the candidates. Repeat the option for the union of "
    "several.",
)
@list_option(
    "--function",
    callback=names_in(retrieval_functions),
    help="Without --candidates: retrieval functions; the candidates are the union of their top documents.  "
    "[default: bm25]",
)
@click.option(
    "--top",
    type=COUNT,
    help="Number of candidates for each topic from each run or function.  [default: 1000]",
)
@click.option("--judged", is_flag=True, help="Use the judged documents as candidates.")
@list_option(
    "--features",
    default=["released"],
    help="Features to compute: released (L1 to L10 and H1 to H5 as in LETOR's data), lecture (as in the lecture), "
    "single features (L8,H1), or retrieval functions.",
)
@list_option(
    "--fields", help="Fields to compute features of; whole is the whole document.  [default: all fields, and whole]"
)
@click.option(
    "--normalize",
    type=click.Choice(["none", *SCORE_SCALINGS]),
    default="query-min-max",
    help="Scale each feature within each query. LETOR uses query-min-max, which scales to the range from 0 to 1.",
)
@click.option("--folds", type=Whole(min=3), help='Split the topics into files S1.txt, ... for "benchmark".')
@fold_seed
@click.option(
    "--query",
    metavar="PART",
    help="Part of the topic to use as the query.  [default: title, or else description, text or all]",
)
@with_numbering
@with_grades
@with_texts
@with_json
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
    normalize: str,
    folds: int | None,
    seed: int,
    query: str | None,
    grades: dict[int, int] | None,
    json_path: Path | None,
    quiet: bool,
    **reading: Any,
) -> None:
    """Compute LETOR's features of candidate documents, and write a LETOR file for train, predict, evaluate, benchmark.

    INDEX is a file that "structsvm index" wrote, TOPICS a file of topics. The candidates of a topic are the top
    documents of retrieval functions on the index (--function) or of runs (--candidates), or the judged documents
    (--judged). Candidates without a judgment get label 0. The command leaves out judged documents that are not in the
    index, and topics without judgments or candidates.

    The file begins with the names of the features as comments. It is written whole or not at all, as gzip if its name
    ends in .gz.
    """
    from attrs import evolve

    from structsvm.data import join_runs, load_qrels, load_run, read_topics
    from structsvm.data.letor.writing import LetorText
    from structsvm.data.trec import run_files
    from structsvm.protocols.letor import write_folds
    from structsvm.protocols.letor.folds import require_place_for_folds
    from structsvm.text import Index, retrieve
    from structsvm.text.letor.catalogue import find_features
    from structsvm.text.letor.extraction import indexed_judgments, letor_features

    shows_text(json_path)
    _require_one_kind(candidates, function, top, judged=judged)
    find_features(features)
    if folds:
        require_place_for_folds(out, folds)
    with progress_line(shown=not quiet) as say:
        say("reading index, topics and judgments")
        read = Index.load(index)
        judgments = load_qrels(qrels, grades)
        every = read_topics(topics, **reading)
        judged_topics = _judged_topics(every, judgments, topics, qrels)
        say("finding candidates")
        taken: dict[str, Any] = {"depth": top or 1000, "topics": [topic.id for topic in judged_topics]}
        pairs: Candidates
        missing: list[str] = []
        if judged:
            pairs, missing = indexed_judgments(judgments, read, judged_topics)
        elif candidates:
            files = [file for path in candidates for file in run_files(path)]
            pairs = join_runs([evolve(load_run(file), name=str(file)) for file in files], **taken)
        else:
            functions, depth = function or ("bm25",), taken["depth"]
            pairs = join_runs(
                [retrieve(read, judged_topics, name, depth, query=query, name=name) for name in functions], **taken
            )
    with progress_bar("topics", shown=not quiet) as show:
        data = letor_features(
            read,
            judged_topics,
            pairs,
            judgments,
            features=features,
            fields=fields or None,
            normalize=normalize,
            query=query,
            progress=show,
        )
    if missing:
        lost = counted(len(missing), "judged document")
        note(f"{lost} of these topics not in the index ({first_of(missing)}), and left out")
    queries = set(data.qid.tolist())
    left_out = [topic.id for topic in every if topic.id not in queries]
    _note_left_out(left_out, data)
    if folds:
        write_folds(out, data, folds=folds, random_state=seed)
    else:
        text = LetorText.of(data.X, data.y, data.qid, data.doc_ids, data.feature_names)
        write_text(text.pieces(), out)
    relevant = int((data.y > 0).sum())
    content = {
        "output": out,
        "topics": len(queries),
        "topics_left_out": left_out,
        "documents": len(data.qid),
        "relevant": relevant,
        "judged_documents_left_out": len(missing),
        "features": data.feature_names,
    }
    write_json(content, json_path)
    if not quiet:
        note(f"wrote {data.summary}, {relevant} relevant, to {f'{folds} files in {out}' if folds else out}")


def _require_one_kind(candidates: Sequence[Path], functions: Sequence[str], top: int | None, *, judged: bool) -> None:
    if judged and (candidates or functions or top):
        raise click.UsageError("--judged chooses the candidates: leave out --candidates, --function and --top")
    if candidates and functions:
        raise click.UsageError("--candidates and --function both choose the candidates: leave one out")


def _judged_topics(topics: "Sequence[Topic]", judgments: "Qrels", path: Path | str, qrels: Path | str) -> "list[Topic]":
    ids = dict.fromkeys(judgments.qid.tolist())
    judged = [topic for topic in topics if topic.id in ids]
    if not judged:
        raise InputError(
            f"no topic of {path} is judged in {qrels}: the first topics are {topics[0].id!r} and "
            f"{next(iter(ids))!r}. If the judgments number topics by position, pass --numbering position"
        )
    return judged


def _note_left_out(lost: list[str], data: "RankingData") -> None:
    if lost:
        note(f"{counted(len(lost), 'topic')} left out ({first_of(lost)}), without judgments or without candidates")
    without = len(set(data.qid.tolist())) - len(set(data.qid[data.y > 0].tolist()))
    if without:
        note(f"{counted(without, 'topic')} with no relevant document among the candidates: measures count them as 0")
