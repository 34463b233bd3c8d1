"""Commands load no module that they do not need."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from structsvm.cli import _HOMES

COMPILER = {"numba", "llvmlite"}
LEARNING = {
    "sklearn",
    "pandas",
    "scipy.stats",
    "joblib",
    "structsvm.estimators",
    "structsvm.solvers",
    "structsvm.losses",
}
NUMBERS = COMPILER | LEARNING | {"scipy"}
REPORTS = {"cattrs", "jinja2", "matplotlib"}

STEPS = [
    *((f"{name} --help", NUMBERS | REPORTS) for name in _HOMES),
    ("--help", NUMBERS | REPORTS),
    ("list measures", NUMBERS | REPORTS),
    ("evaluate --qrels qrels.txt a.run --measure map --measure ndcg@10 --per-query", NUMBERS | REPORTS),
    ("evaluate model.npz train.txt --measure map", NUMBERS | REPORTS),
    ("predict model.npz train.txt -o scores.txt", NUMBERS | REPORTS),
    ("index documents.jsonl --out index --quiet", NUMBERS),
    ("retrieve index topics.jsonl --function okapi --out ranked --quiet", NUMBERS),
]
"""Command lines in one process, each with modules that must not be loaded so far."""

SCRIPT = """
import contextlib, io, json, sys
from structsvm.cli import main
found = {}
for line, banned in json.loads(sys.argv[1]):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main(line.split())
    found[line] = sorted(set(banned) & set(sys.modules))
print(json.dumps(found))
"""


def loaded(code: str, *args: str) -> Any:
    done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return json.loads(done.stdout)


def test_commands_load_only_what_they_need(model):
    Path("qrels.txt").write_text("1 0 a 1\n1 0 b 0\n")
    Path("a.run").write_text("1 Q0 a 1 2.5 a\n1 Q0 b 2 1.5 a\n")
    Path("documents.jsonl").write_text('{"id": "d1", "text": "wing flow"}\n{"id": "d2", "text": "heat flow"}\n')
    Path("topics.jsonl").write_text('{"id": "1", "text": "heat"}\n')
    model.rename("model.npz")
    modules = loaded(SCRIPT, json.dumps([(line, sorted(banned)) for line, banned in STEPS]))
    assert modules == {line: [] for line, _ in STEPS}
    assert Path("scores.txt").exists()
    assert list(Path("ranked").iterdir())


@pytest.mark.slow
def test_an_import_loads_only_what_is_used():
    names = "sorted(name for name in sys.modules if name.startswith('structsvm'))"
    code = f"import json, sys, structsvm; first = {names}; structsvm.Ranker; print(json.dumps([first, {names}]))"
    first, used = loaded(code)
    assert first == ["structsvm", "structsvm.foundation", "structsvm.foundation.lazy"]
    unused = (
        "cli",
        "solvers.comparison",
        "data",
        "plots",
        "rankers",
        "foundation.tables",
        "estimators.latent_structural_svm",
    )
    assert not [name for name in used if name.startswith(tuple(f"structsvm.{part}" for part in unused))]
