"""``structsvm fuse``."""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import note, progress_line
from structsvm.cli.shared.files import write_text
from structsvm.cli.shared.options import COUNT, accepted_by, names_of
from structsvm.cli.shared.paths import QRELS, RUNS, STREAMED
from structsvm.cli.shared.results import check_plot, shows_text, with_json, with_plot, write_json, write_plot
from structsvm.exceptions import InputError, counted, first_of
from structsvm.features.scaling.names import SCORE_SCALINGS
from structsvm.registry import fusions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from structsvm.data import Run


def _require_method(name: str) -> None:
    from structsvm.fusion.runs import method_named

    method_named(name)


@command(
    "fuse",
    "Combine several TREC runs into one.",
    examples=[
        "structsvm fuse a.run b.run c.run --method comb-mnz --normalize query-min-max --output fused.run",
        "structsvm fuse runs/ --method rrf --output fused.run",
        "structsvm fuse runs/ --method weighted-comb-sum --qrels training.txt --output fused.run --plot weights.svg",
    ],
)
@click.argument("runs", type=RUNS, nargs=-1, required=True)
@click.option(
    "--method",
    metavar="NAME",
    default="comb-mnz",
    callback=accepted_by(_require_method),
    shell_complete=names_of(fusions),
    help="Methods on scores: comb-min, comb-max, comb-med, comb-sum, comb-anz, comb-mnz, and weighted-comb-sum, which "
    "learns weights from --qrels. Methods on ranks: rrf (reciprocal ranks), isr (inverse squares of ranks), borda, "
    "condorcet (wins over all runs) and copeland (contests won by majority). Settings follow in parentheses, as in "
    "'rrf(rank_constant=10)'.",
)
@click.option(
    "--qrels",
    type=QRELS,
    help="Judgments of training topics in TREC's format, for weighted-comb-sum: the weight of a run is its MAP on the "
    "training topics. Measure the fused run on other topics.",
)
@click.option(
    "--normalize",
    type=click.Choice(["none", *SCORE_SCALINGS]),
    help="Scaling of the scores of each run and topic, for methods on scores.  [default: query-min-max]",
)
@click.option("--depth", type=COUNT, default=1000, help="Number of documents to read for each topic of a run.")
@click.option("--length", type=COUNT, default=1000, help="Number of documents to write for each topic.")
@click.option("--tag", default="fused", help="Name of the run, its last column.")
@click.option("-o", "--output", type=STREAMED, help="File to write the run to.  [default: standard output]")
@with_plot("Plot the weights that weighted-comb-sum learned to this file, such as weights.svg, .pdf or .png.")
@with_json
@click.option("-q", "--quiet", is_flag=True, help="Show no progress, no learned weights and no summary.")
def fuse_command(
    runs: tuple[Path, ...],
    method: str,
    qrels: Path | None,
    normalize: str | None,
    depth: int,
    length: int,
    tag: str,
    output: Path | None,
    plot_path: Path | None,
    json_path: Path | None,
    quiet: bool,
) -> None:
    """Combine several TREC runs into one.

    RUNS are files in TREC's format, plain or compressed, or one folder of files. The candidates of a topic are all
    documents that a run retrieved for the topic. Runs with the same name are renamed after their files.

    An output file is written whole or not at all, as gzip if its name ends in .gz. It must not be one of RUNS, nor in
    their folder.
    """
    from structsvm.data import load_qrels
    from structsvm.data.trec import run_files, run_lines
    from structsvm.fusion import fuse_runs
    from structsvm.fusion.runs import fit_to_judged, method_named

    if output is None and not shows_text(json_path):
        raise click.UsageError("the run and --json both go to standard output: name a file for one, as with --output")
    try:
        fusion: Any = method_named(method, **({} if normalize is None else {"normalize": normalize}))
    except InputError as error:
        raise click.UsageError(str(error)) from None
    if fusion.learns and qrels is None:
        raise click.UsageError(f"{method} learns from judgments: name judgments of training topics with --qrels")
    if qrels is not None and not fusion.learns:
        raise click.UsageError(f"{method} does not use judgments: leave --qrels out, or use weighted-comb-sum")
    if plot_path is not None and not fusion.learns:
        raise click.UsageError(
            f"{method} learns no weights that --plot could draw: leave --plot out, or use weighted-comb-sum"
        )
    files = run_files(runs[0] if len(runs) == 1 and runs[0].is_dir() else runs)
    _require_different(files)
    check_plot(plot_path)
    with progress_line(shown=not quiet) as say:
        say("reading runs")
        read = _read(files)
        judgments = None if qrels is None else load_qrels(qrels)
        if judgments is not None:
            say("learning weights")
            fit_to_judged(fusion, read, judgments, depth=depth)
            fusion.set_params(weights=fusion.weights_)
        say("fusing runs")
        fused = fuse_runs(read, fusion, depth=depth, length=length, name=tag)
        lines = run_lines(fused)
    _note_missing(read)
    weights = None
    if judgments is not None:
        weights = {run.name: float(weight) for run, weight in zip(read, fusion.weights_, strict=True)}
        if not quiet:
            note(f"learned weights: {', '.join(f'{name} {weight:.4g}' for name, weight in weights.items())}")
        trained = set(judgments.qid.tolist()) & set(fused.qid.tolist())
        if trained:
            topics = counted(len(trained), "topic")
            note(f"the fused run contains {topics} that the weights were learned from: measure it without these topics")
    write_text(lines, output)
    content = {
        "method": method,
        "runs": [{"run": run.name, "file": path} for run, path in zip(read, files, strict=True)],
        "run": tag,
        "output": output,
        "topics": len(set(fused.qid.tolist())),
        "documents": len(fused.qid),
        "weights": weights,
    }
    write_json(content, json_path)
    if output is not None and not quiet:
        topics = counted(len(set(fused.qid.tolist())), "topic")
        note(f"wrote {counted(len(fused.qid), 'document')} of {topics} to {output}")
    if plot_path is not None and weights is not None:
        _draw(weights, plot_path, quiet=quiet)


def _draw(weights: "dict[str, float]", path: Path, *, quiet: bool) -> None:
    """Plot learned weights, the largest first."""
    from structsvm.plots import FusionWeightsDisplay

    names = sorted(weights, key=lambda name: -weights[name])

    def draw(axes: "Axes") -> None:
        FusionWeightsDisplay({"weights": [weights[name] for name in names]}, names).plot(axes)

    write_plot(path, 6.0, 0.9 + 0.24 * max(len(names), 4), draw, quiet=quiet)


def _require_different(files: "Sequence[Path]") -> None:
    seen: dict[str, Path] = {}
    for path in files:
        other = seen.setdefault(os.path.realpath(path), path)
        if other is not path:
            twice = f"{path} is given twice" if path == other else f"{other} and {path} are the same file"
            raise InputError(f"{twice} and would count as two runs: name the file once")


def _read(files: "Sequence[Path]") -> "list[Run]":
    """Read runs; rename runs with equal names after their files."""
    from attrs import evolve

    from structsvm.data import load_run

    runs = [load_run(path) for path in files]
    times = Counter(run.name for run in runs)
    if max(times.values()) == 1:
        return runs
    return [run if times[run.name] == 1 else evolve(run, name=str(path)) for run, path in zip(runs, files, strict=True)]


def _note_missing(runs: "Sequence[Run]") -> None:
    """Note the runs that lack topics of other runs."""
    from structsvm.data.pairs import sort_topics

    topics = [set(run.qid.tolist()) for run in runs]
    every = set().union(*topics)
    alike: dict[tuple[str, ...], list[str]] = {}
    for run, having in zip(runs, topics, strict=True):
        alike.setdefault(tuple(sort_topics(every - having)), []).append(run.name)
    for lacking, names in alike.items():
        if lacking:
            verbs = ("lacks", "it counts as a run") if len(names) == 1 else ("lack", "they count as runs")
            note(
                f"{', '.join(names)} {verbs[0]} {len(lacking)} of {counted(len(every), 'topic')} "
                f"({first_of(lacking, 3)}), for which {verbs[1]} that retrieved nothing"
            )
