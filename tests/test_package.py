"""What holds of the package as a whole: what an import costs, who imports whom, sizes, names."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest

import structsvm

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "structsvm"
MODULES = sorted(PACKAGE.rglob("*.py"))
ALL = frozenset(MODULES)

# The parts of the package in order: what each may import besides itself. A solver sees
# neither a loss nor an operator, a loss sees no solver, an operator sees no loss.
BASE = {"lazy", "types", "exceptions", "memory", "arrays", "sparse", "compute", "settings"}
SHARED = BASE | {"storage", "registry", "result"}
MAY_IMPORT = {
    "lazy": set(),
    "types": set(),
    "exceptions": set(),
    "memory": {"exceptions"},
    "arrays": {"exceptions", "memory"},
    "sparse": {"exceptions", "memory", "arrays"},
    "signals": set(),
    "compute": {"types", "exceptions", "signals"},
    "settings": {"exceptions"},
    "storage": {"exceptions", "memory", "settings"},
    "registry": {"exceptions"},
    "queries": {"types", "exceptions", "arrays"},
    "normalisation": BASE | {"queries", "registry", "storage"},
    "result": BASE | {"storage"},
    "serving": BASE | {"storage", "result", "queries", "normalisation"},
    "operators": BASE,
    "metrics": BASE | {"registry", "queries"},
    "significance": BASE,
    "features": BASE | {"queries", "operators"},
    "data": BASE | {"storage"},
    "clicks": BASE | {"registry", "data", "metrics"},
    "text": SHARED | {"queries", "data", "features"},
    "qp": BASE,
    "losses": BASE | {"registry", "operators", "metrics"},
    "planes": BASE | {"result"},
    "problem": BASE | {"registry", "result", "queries", "signals", "operators", "metrics", "losses", "planes"},
    "solvers": BASE | {"storage", "registry", "result", "qp", "planes", "problem"},
    "testing": SHARED | {"operators", "metrics", "qp", "losses", "problem", "solvers", "text"},
    "tables": {"exceptions", "settings", "storage"},
    "plots": SHARED | {"queries", "metrics", "significance"},
    "evaluation": BASE | {"registry", "metrics", "significance", "data", "tables"},
    "comparison": SHARED | {"tables", "plots", "qp", "planes", "problem", "solvers"},
    "precompile": BASE | {"registry", "data", "problem", "solvers", "comparison"},
    "estimators": SHARED
    | {"queries", "normalisation", "serving", "operators", "metrics", "losses", "problem", "solvers"},
    "rankers": SHARED | {"queries", "serving", "operators", "metrics", "losses", "problem", "solvers", "estimators"},
    "distributed": SHARED
    | {"queries", "normalisation", "data", "metrics", "operators", "losses", "problem", "solvers", "estimators"},
    "export": BASE | {"storage", "serving", "registry", "normalisation", "estimators"},
    "fusion": BASE | {"registry", "queries", "metrics", "features", "data", "estimators"},
    "protocols": SHARED
    | {
        "queries",
        "significance",
        "tables",
        "plots",
        "evaluation",
        "operators",
        "metrics",
        "features",
        "data",
        "losses",
        "estimators",
        "rankers",
        "fusion",
        "text",
        "normalisation",
    },
    "objectives": BASE
    | {"registry", "queries", "metrics", "evaluation", "data", "losses", "problem", "estimators", "rankers"},
    "pipelines": SHARED | {"metrics", "features", "data", "text", "estimators", "protocols"},
}
ANYTHING = {"__init__", "__main__", "cli"}
LARGE = {
    "Stemmer",
    "cvxopt",
    "dask",
    "distributed",
    "highspy",
    "ir_datasets",
    "ir_measures",
    "jax",
    "jinja2",
    "lightgbm",
    "matplotlib",
    "onnx",
    "osqp",
    "pyterrier",
    "torch",
    "xgboost",
}

STATEMENTS = [
    "import structsvm",
    "from structsvm import *",
    "import structsvm.losses, structsvm.solvers, structsvm.qp, structsvm.estimators, structsvm.data",
    "import structsvm.features",
    "import structsvm.text",
    "import structsvm.testing, structsvm.metrics, structsvm.operators, structsvm.problem, structsvm.cli",
    "import structsvm.comparison",
    "import structsvm.clicks",
    "import structsvm.distributed",
    "import structsvm.significance, structsvm.evaluation",
    "import structsvm.rankers, structsvm.fusion",
    "import structsvm.protocols",
    "import structsvm.pipelines",
    "import structsvm.objectives",
    "import structsvm.protocols.experiment",
    "import structsvm.protocols.letor",
    "import structsvm.tables, structsvm.protocols.experiment.report",
    "import structsvm.export",
    "import structsvm.plots",
]

IMPORTS = """
import json, sys
from numba.core import event

found = {}
for statement in STATEMENTS:
    with event.install_recorder("numba:compile") as recorder:
        exec(statement)
    compiled = [str(one.data) for _, one in recorder.buffer if one.is_start]
    found[statement] = [sorted(set(sys.modules) & LARGE), compiled]
print(json.dumps(found))
"""


def test_an_import_is_light(tmp_path):
    """No solver library and no plotting is loaded, and nothing is compiled (a cache of machine code would hide it).

    Each part can be the first that is imported, as no module imports itself by way of others.
    """
    done = subprocess.run(
        [sys.executable, "-c", f"STATEMENTS, LARGE = {STATEMENTS!r}, {LARGE!r}\n{IMPORTS}"],
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {statement: [[], []] for statement in STATEMENTS}


@cache
def imports(module: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Collect the imports anywhere in a file, each with whether it is done at the import of the file itself."""
    tree = ast.parse(module.read_text(encoding="utf-8"))
    top = set(map(id, tree.body))
    return [(node, id(node) in top) for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]


def test_pandas_is_imported_where_it_is_used():
    """It takes half a second. What is imported cannot be asked: scikit-learn loads pandas where it is installed."""
    found = set()
    for module in MODULES:
        for node, top in imports(module):
            modules = [str(node.module)] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            found |= {(module, name) for name in modules if top and name.split(".")[0] == "pandas"}
    assert not found


def part_of(module: Path) -> str:
    """Name the part of the package that a file belongs to: its folder, or its own name at the top."""
    return module.relative_to(PACKAGE).with_suffix("").parts[0]


def imported_parts(module: Path) -> set[str]:
    """Collect the parts of the package that a file imports, anywhere in it."""
    here = ("structsvm", *module.relative_to(PACKAGE).parent.parts)
    names = set()
    for node, _ in imports(module):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            start = ".".join(here[: len(here) - node.level + 1]) if node.level else ""
            source = ".".join(filter(None, [start, node.module]))
            names |= {f"{source}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] if "." in name else "__init__" for name in names if name.split(".")[0] == "structsvm"}


def test_imports_run_one_way():
    placed = {module: part_of(module) for module in MODULES if part_of(module) not in ANYTHING}
    assert set(placed.values()) <= set(MAY_IMPORT), "these have no place in the order of imports yet"
    wrong = {module: imported_parts(module) - MAY_IMPORT[part] - {part} for module, part in placed.items()}
    assert {module: parts for module, parts in wrong.items() if parts} == {}


def test_the_order_of_imports_has_no_circle():
    placed: set[str] = set()
    while placed != set(MAY_IMPORT):
        ready = {part for part, below in MAY_IMPORT.items() if below <= placed}
        assert ready - placed, f"a circle among {sorted(set(MAY_IMPORT) - placed)}"
        placed |= ready


def test_contributing_says_where_everything_is():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = "".join(line.partition(" | ")[0] for line in text.splitlines() if line.startswith("| `"))
    parts = {part_of(module) for module in MODULES} - {"__init__", "__main__"}
    assert {name.strip("/") for name in re.findall(r"`([a-z_/]+)`", rows)} == parts


def imported_modules(module: Path) -> set[Path]:
    """Collect the files of the package that a file imports by their names, anywhere in it, for types only too."""
    names = set()
    for node, _ in imports(module):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        else:
            below = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if file_of(name) else str(node.module) for name in below}
    return {file for file in map(file_of, names) if file}


def file_of(name: str) -> Path | None:
    path = ROOT.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file in ALL), None)


def test_no_module_imports_itself_by_way_of_others():
    waiting = {module: imported_modules(module) for module in MODULES}
    while ready := {module for module, imported in waiting.items() if not imported & set(waiting)}:
        waiting = {module: imported for module, imported in waiting.items() if module not in ready}
    assert waiting == {}


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("import structsvm.qp.base", {"qp"}),
        ("from structsvm import losses", {"losses"}),
        ("from structsvm.types import Vector", {"types"}),
        ("import structsvm", {"__init__"}),
        ("import numpy\nfrom structsvm_other import x", set()),
        ("from . import base", {"solvers"}),
        ("from ..qp import base", {"qp"}),
        ("def f():\n    from structsvm.cli import main", {"cli"}),
    ],
)
def test_imports_are_found(source, parts, tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "PACKAGE", tmp_path)
    (tmp_path / "solvers").mkdir()
    module = tmp_path / "solvers" / "new.py"
    module.write_text(source)
    assert imported_parts(module) == parts


def test_every_module_is_named_for_what_it_holds():
    assert [module for module in MODULES if module.stem in {"utils", "helpers", "misc"}] == []


def texts() -> list[Path]:
    """List the text files of the repository."""
    files = [
        *(path for path in ROOT.iterdir() if path.is_file()),
        *(
            path
            for folder in (".ci", ".github", "benchmarks", "docs", "examples", "structsvm", "tests")
            for path in (ROOT / folder).rglob("*")
        ),
    ]
    kinds = {".cff", ".cfg", ".ipynb", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml", ""}
    caches = {"__pycache__", ".ruff_cache"}
    return [path for path in files if path.is_file() and path.suffix in kinds and not caches & {*path.parts}]


OTHER_PROJECT = re.compile(
    r"\b(?:pip|pipx|uv|conda|poetry)3? +(?:install|add)\b[^\n`]*?(?<![\w./-])structsvm(?![\w./])"
)


def test_the_installation_named_is_ours():
    """On the Python package index, the name of the import belongs to another project."""
    wrong = [path for path in texts() if OTHER_PROJECT.search(path.read_text(encoding="utf-8"))]
    assert wrong == []


@pytest.mark.parametrize("command", ["pip install {}", "uv add '{}[cvxopt]'", "python -m pip install -U {}"])
def test_the_other_project_is_recognised(command):
    assert OTHER_PROJECT.search(command.format("structsvm"))
    assert not OTHER_PROJECT.search(command.format("structural-svm"))


def test_versions_agree():
    """The version is in pyproject.toml; Python asks what is installed for it."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert structsvm.__version__ == version, "installed is another version: make test installs this one"
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'\n  version: "{version}"\n' in (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    assert re.search(rf"^## \[?{re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    with pytest.raises(AttributeError, match="has no attribute '__versions__'"):
        structsvm.__versions__  # noqa: B018
