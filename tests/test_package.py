"""The package as a whole: the cost of its import, the order of imports, sizes, names."""

import ast
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

import structsvm

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "structsvm"
MODULES = sorted(PACKAGE.rglob("*.py"))
ALL = frozenset(MODULES)

# The folders and modules of the package in order: each may import earlier ones. CONTRIBUTING.md has the same order.
ORDER = [
    "exceptions",
    "foundation",
    "registry",
    "result",
    "data",
    "features",
    "metrics",
    "evaluation",
    "inference",
    "losses",
    "problem",
    "solvers",
    "models",
    "training",
    "estimators",
    "rankers",
    "fusion",
    "clicks",
    "inspection",
    "plots",
    "objectives",
    "distributed",
    "protocols",
    "text",
    "testing",
    "loading",
]
# Parts of a folder, in the order of their imports; "" is the rest of the folder.
INSIDE = {
    "foundation": [
        "types",
        "lazy",
        "extras",
        "memory",
        "signals",
        "settings",
        "arrays",
        "sparse",
        "queries",
        "frames",
        "categories",
        "compute",
        "storage",
        "tables",
    ],
    "features": ["operators", "scaling", ""],
    "evaluation": ["significance", ""],
    "problem": ["planes", ""],
    "solvers": ["qp", "", "comparison", "precompile"],
    "models": ["", "export"],
    "text": ["", "pipelines"],
}
PARTS = [f"{folder}.{part}".strip(".") for folder in ORDER for part in INSIDE.get(folder, [""])]
# A solver sees neither losses nor features, a loss sees no data, and a saved model needs NumPy alone.
UNSEEN = {
    "inference": {"registry", "result", "data", "features", "metrics", "evaluation"},
    "losses": {"data", "features.scaling", "features", "evaluation"},
    "problem": {"data", "features.scaling", "features", "evaluation"},
    "solvers": {"data", "features", "metrics", "losses", "evaluation"},
    "models": {"data", "features.operators", "features", "metrics", "losses", "problem", "solvers", "evaluation"},
    "text": {"losses", "problem", "solvers", "models", "estimators", "rankers", "plots", "protocols"},
}
MAY_IMPORT = {part: {*PARTS[:place]} - UNSEEN.get(part, set()) for place, part in enumerate(PARTS)}
ANYTHING = {"__init__", "__main__", "cli"}
LAZY = {"text": {"text.pipelines"}}
"""Parts whose names another part's ``__init__`` imports at their first use."""
NAMES_ALL = {"registry"}
"""Parts that name modules of later parts in strings: a registry imports a built-in class at its first use."""
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
    "import structsvm.losses, structsvm.solvers, structsvm.solvers.qp, structsvm.estimators, structsvm.data",
    "import structsvm.features",
    "import structsvm.text",
    "import structsvm.testing, structsvm.metrics, structsvm.features.operators, structsvm.problem, structsvm.cli",
    "import structsvm.solvers.comparison",
    "import structsvm.inference",
    "import structsvm.clicks",
    "import structsvm.distributed",
    "import structsvm.evaluation.significance, structsvm.evaluation",
    "import structsvm.rankers, structsvm.fusion",
    "import structsvm.protocols",
    "import structsvm.text.pipelines.text_ranker",
    "import structsvm.objectives",
    "import structsvm.protocols.experiment",
    "import structsvm.protocols.letor",
    "import structsvm.foundation.tables.formats, structsvm.protocols.experiment.report",
    "import structsvm.models.export",
    "import structsvm.plots",
    "import structsvm.inspection",
    "import structsvm.training",
    "import structsvm.loading",
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


@pytest.mark.slow
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
def nodes_of(module: Path) -> list[ast.AST]:
    """Return the nodes of a file's syntax tree, the module first."""
    return list(ast.walk(ast.parse(module.read_text(encoding="utf-8"))))


def imports(module: Path) -> list[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Collect the imports anywhere in a file, each with whether it is done at the import of the file itself."""
    tree, *nodes = nodes_of(module)
    top = set(map(id, tree.body))
    return [(node, id(node) in top) for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]


OPTIONAL = {"pandas", "Stemmer", "jinja2", "cattrs"}


def test_optional_packages_are_imported_where_they_are_used():
    """`sys.modules` cannot show this, because scikit-learn loads an installed pandas."""
    result = set()
    for module in MODULES:
        for node, top in imports(module):
            modules = [str(node.module)] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
            result |= {(module, name) for name in modules if top and name.split(".")[0] in OPTIONAL}
    assert not result


def part_of(module: Path) -> str:
    """Name the part of the package that a file belongs to: its folder, or its own name at the top."""
    return part_of_name(module.relative_to(PACKAGE).with_suffix("").parts)


def part_of_name(names: Sequence[str]) -> str:
    """Name the part of a dotted name without ``structsvm``: a room inside another room is a separate part."""
    inner = ".".join(names[:2])
    return inner if inner in MAY_IMPORT else names[0] if names else "__init__"


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
    names |= set() if part_of(module) in NAMES_ALL else modules_in_strings(module)
    return {part_of_name(name.split(".")[1:]) for name in names if name.split(".")[0] == "structsvm"}


def modules_in_strings(module: Path) -> set[str]:
    """Collect the strings of a file that are names of the package's modules, as `import_module` receives them."""
    strings = {node.value for node in nodes_of(module) if isinstance(node, ast.Constant)}
    return {text for text in map(str, strings) if re.fullmatch(r"structsvm(\.\w+)+", text) and file_of(text)}


def test_imports_run_one_way():
    placed = {module: part_of(module) for module in MODULES if part_of(module) not in ANYTHING}
    assert set(placed.values()) <= set(MAY_IMPORT), "these have no place in the order of imports yet"
    wrong = {module: imported_parts(module) - MAY_IMPORT[part] - {part} for module, part in placed.items()}
    for part, named in LAZY.items():
        wrong[PACKAGE / part / "__init__.py"] -= named
    assert {module: parts for module, parts in wrong.items() if parts} == {}


def test_contributing_has_the_order_of_imports():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = "".join(line.split(" | ")[0] for line in text.splitlines() if line.startswith("| `"))
    assert [name.strip("/") for name in re.findall(r"`([a-z_/]+)`", rows)] == [*ORDER, "cli"]


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


def test_every_module_is_named_for_what_it_holds():
    assert [module for module in MODULES if module.stem in {"utils", "helpers", "misc"}] == []


NO_NAMES = {"chosen", "each", "found", "given", "kept", "known", "made", "own", "told"}
"""Names of local variables that could mean anything: name the noun, such as ``result``, ``rows`` or ``names``."""


def test_local_variables_are_named_by_nouns():
    wrong = {
        f"{module.relative_to(ROOT)}:{node.lineno}: {node.id}"
        for module in MODULES
        for function in nodes_of(module)
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NO_NAMES
    }
    assert wrong == set()


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


def test_versions_agree():
    """The version is in pyproject.toml; Python reads it from the installed package."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert structsvm.__version__ == version, "installed is another version: make test installs this one"
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'\n  version: "{version}"\n' in (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8")
    assert re.search(rf"^## \[?{re.escape(version)}\b", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    with pytest.raises(AttributeError, match="has no attribute '__versions__'"):
        structsvm.__versions__  # noqa: B018
