"""Every option of a command changes something, or is refused."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from structsvm.cli import main
from structsvm.cli.shared.options import Dependent
from tests.cli.test_paths import COMMANDS, contents

LINES = (
    "train train.txt --model new.npz",
    "train train.txt --ranker rank_boost(n_estimators=2) --model new.npz",
    "predict m.npz test.txt",
    "evaluate m.npz test.txt",
    "evaluate --qrels qrels.txt old.run",
    "explain m.npz test.txt",
    "export m.npz --format json --output new.json",
    "export m.npz --format svm_rank --output new.model",
    "show m.npz",
    "plan --sd 0.1 --queries 20",
    "plan --qrels qrels.txt old.run --queries 20",
    "fuse old.run new.run",
    "compare train.txt --solver one-slack,frank-wolfe --backend active-set",
    "compare train.txt --solver frank-wolfe",
    "features index topics.tsv --format tsv --qrels qrels.txt --judged --out new.txt",
    "retrieve index topics.tsv --format tsv --out new",
    "index docs.jsonl --out new",
)

VALUES = {
    "ranker": "rank_svm",
    "loss": "roc_area",
    "C": "7",
    "Cs": "7",
    "C_grid": "1:10:2",
    "solver": "n-slack(max_iter=3)",
    "backend": "osqp",
    "backend_names": "osqp",
    "loss_names": "roc_area",
    "normalize": "standard",
    "limits": "0:0.01",
    "signs": "1:-1",
    "measures": "p@3",
    "measure": "p@3",
    "tag": "x",
    "name": "x",
    "form": "numpy",
    "query": "101",
    "documents": "1 2",
    "grades": "0=0,1=0,2=1",
    "method": "borda",
    "features": "L1",
    "fields": "whole",
    "function": "cosine",
    "interval": "bootstrap",
    "ties": "input",
    "empty": "skip",
    "sd": "0.3",
    "difference": "0.2",
    "power": "0.9",
    "level": "0.01",
    "correlation": "0.5",
    "confidence": "0.5",
    "id_field": "x",
    "label": "x",
    "qid": "x",
    "docid": "x",
    "field": "x",
    "tol": "0.5",
    "stemmer": "none",
    "stop_words": "none",
    "numbering": "position",
    "encoding": "utf-16",
    "format": "trec",
}
AMOUNTS = {"resamples": "100", "folds": "3", "systems": "3", "queries": "9"}
WITHOUT_EFFECT = {
    **dict.fromkeys(("jobs", "quiet", "time_limit", "max_iter", "float32", "help"), "cost and progress"),
    **dict.fromkeys(("tol", "encoding"), "these data are the same"),
}

_TIMES = re.compile(r"\d+\.\d+ ?(e-\d+ )?s\b|\d{4}-\S+|seconds.*|[\d.]+ *(?=\d+\.\d\d)")


@pytest.fixture
def files(run, model):
    """Write the files that the command lines read."""
    rows = [f"{t} Q0 d{k} {k} {10 - k + 0.1 * t} old\n" for t in (1, 2, 3) for k in range(1, 6)]
    Path("old.run").write_text("".join(rows))
    Path("new.run").write_text("".join(reversed(rows)).replace("old", "new").replace("d1 ", "d6 "))
    Path("qrels.txt").write_text(
        "".join(f"{t} 0 d{k} {(k + t) % 3 * (t < 3)}\n" for t in (1, 2, 3, 4) for k in range(1, 7))
    )
    with Path("test.txt").open("a") as data:
        data.write("0 qid:200 1:1\n1 qid:200 1:1\n")
    Path("topics.tsv").write_text("2\twing flow\n1\tflow\n3\tlayers of it\n")
    texts = ("the wing of a wing", "flow", "wing flow", "layers", "layer flow flow", "it")
    Path("docs.jsonl").write_text("".join(f'{{"id": "d{k}", "text": "{text}"}}\n' for k, text in enumerate(texts, 1)))
    run("index", "docs.jsonl", "--out", "index", "-q")
    return contents()


def outcome(words, files):
    for path in contents().keys() - files.keys():
        path.unlink()
    done = CliRunner().invoke(main, words, prog_name="structsvm")
    written = {path: content for path, content in contents().items() if path not in files}
    # Models contain the time of their training, and archives the time of their writing.
    models = {path for path in written if path.suffix == ".npz" or path.name == "new.json"}
    shown = [done.stdout, done.stderr, *(str(content) for path, content in written.items() if path not in models)]
    weights = [str(CliRunner().invoke(main, ["show", str(path)]).stdout) for path in sorted(models)]
    texts = [
        re.sub(r"\d+\.\d+ ?(e-\d+ )?s\b|\d{4}-\S+|seconds.*|[\d.]+ *(?=\d+\.\d\d)", "", text)
        for text in shown + weights
    ]
    return done.exit_code, sorted(written), texts


def value_of(param):
    if isinstance(param, click.Option) and param.is_flag:
        return []
    if param.name in VALUES | AMOUNTS:
        return (VALUES | AMOUNTS)[param.name].split()
    if isinstance(param.type, click.Choice):
        return [next(choice for choice in param.type.choices if choice != param.default)]
    return ["3"] if isinstance(param.type, click.IntRange) else None


@pytest.mark.parametrize("line", LINES)
def test_an_option_changes_something_or_is_refused(files, line):
    words = line.split()
    command = next(command for command in COMMANDS if command.name == words[0])
    before = outcome(words, files)
    assert before[0] == 0, before
    idle = []
    for param in command.params:
        if not isinstance(param, click.Option) or param.opts[-1] in words or param.name in WITHOUT_EFFECT:
            continue
        value = value_of(param)
        if value is None:
            continue
        after = outcome([*words, param.opts[-1], *value], files)
        assert after[0] in (0, 1, 2), after
        if after == before:
            idle.append(param.opts[-1])
    assert idle == []


@pytest.mark.parametrize(
    ("line", "option"),
    [
        ("train train.txt --model new.npz --seed 5", "--seed has no effect without --folds"),
        ("train train.txt --model new.npz --measure p@3", "--measure has no effect without --C-grid or --validation"),
        ("predict m.npz test.txt --tag x", "--tag has no effect without --format trec"),
        ("export m.npz --format json --output new.json --name x", "--name has no effect without --format solr or"),
        ("compare train.txt --solver frank-wolfe --backend osqp", "--backend has no effect without a solver that"),
        ("plan --sd 0.1 --queries 9 --all-pairs", "--all-pairs has no effect without --systems 3 or more"),
        ("plan --sd 0.1 --queries 9 --grades 1=2", "--grades has no effect without --qrels"),
        ("evaluate m.npz test.txt --resamples 100", "--resamples has no effect without --baseline or --interval boot"),
        ("features i t --qrels q --out o --seed 3", "--seed has no effect without --folds"),
        ("benchmark . --force", "--force has no effect without --out"),
    ],
)
def test_options_without_effect_are_refused(run, line, option):
    assert option in run(*line.split(), code=2).stderr


def test_dependent_options_are_known_from_their_declaration():
    assert sum(isinstance(param, Dependent) for command in COMMANDS for param in command.params) >= 12
