"""The public modules of docs/stability.md have ``__all__``, and every public name is documented."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import structsvm

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "stability.md").read_text(encoding="utf-8")
PUBLIC = re.findall(r"`(structsvm[a-z_.]*)`", "\n".join(line for line in PAGE.splitlines() if line.startswith("| `")))
NOT_PUBLIC = {"structsvm.cli", "structsvm.foundation.compute"}
MODULES = {"structsvm.exceptions", *(f"structsvm.objectives.for_{name}" for name in re.findall(r"`for_(\w+)`", PAGE))}


def packages_with_all() -> set[str]:
    package = Path(structsvm.__file__).parent
    return {"structsvm.inspection"} | {
        ".".join(("structsvm", *path.parent.relative_to(package).parts))
        for path in package.rglob("__init__.py")
        if re.search(r"^__all__", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }


def test_the_page_lists_every_public_package_once():
    assert len(PUBLIC) == len(set(PUBLIC))
    assert set(PUBLIC) == {
        name for name in packages_with_all() if not any(f"{name}.".startswith(f"{each}.") for each in NOT_PUBLIC)
    }


@pytest.mark.parametrize("package", PUBLIC)
def test_public_names_are_there_and_documented(package):
    module = importlib.import_module(package)
    assert module.__doc__
    assert len(module.__all__) == len(set(module.__all__))
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert inspect.getdoc(value), f"{package}.{name}"
        assert not name.startswith("_")


def test_pages_and_templates_import_public_names_only():
    examples = ROOT / "examples"
    pages = (ROOT / "docs").rglob("*.md")
    for path in [*pages, *(examples / "plugin").rglob("*.py"), *(examples / "gallery").rglob("*.py")]:
        imports = re.findall(
            r"^ *(?:from|import) (structsvm(?:\.\w+)*)\b(?!_)", path.read_text(encoding="utf-8"), flags=re.MULTILINE
        )
        assert {*imports} <= {*PUBLIC, *MODULES}, path
