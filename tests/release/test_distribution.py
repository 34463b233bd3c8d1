"""The wheel and the sdist: their contents, and equal bytes from every build."""

import email
import email.message
import os
import re
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest
from hatchling.builders.sdist import SdistBuilder
from hatchling.builders.wheel import WheelBuilder
from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[2]
LARGEST_WHEEL = 2_000_000
"""Bytes. A copy of data in the wheel would exceed them."""


def build(root: Path, folder: Path) -> tuple[Path, Path]:
    """Build wheel and sdist of a tree."""
    [wheel] = WheelBuilder(str(root)).build(directory=str(folder), versions=["standard"])
    [sdist] = SdistBuilder(str(root)).build(directory=str(folder), versions=["standard"])
    return Path(wheel), Path(sdist)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1700000000")
        yield build(ROOT, tmp_path_factory.mktemp("built"))


@pytest.fixture(scope="module")
def tree(built, tmp_path_factory):
    """The sdist, unpacked somewhere else, at another time."""
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(built[1]) as archive:
        archive.extractall(folder, filter="data")
    [root] = folder.iterdir()
    for path in root.rglob("*"):
        os.utime(path, (1.0, 1.0))
    return root


def names_of_wheel(built) -> list[str]:
    with zipfile.ZipFile(built[0]) as archive:
        return archive.namelist()


def tracked() -> set[str]:
    """The files of the package in the repository, without the caches of Python and numba."""
    left = {".pyc", ".nbi", ".nbc"}
    return {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "structsvm").rglob("*")
        if path.is_file() and path.suffix not in left
    }


@pytest.mark.slow
def test_another_build_gives_the_same_bytes(built, tree, tmp_path, monkeypatch):
    """Of the sdist, elsewhere and with other times of its files; so the sdist has all that the wheel is made of."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    wheel, sdist = build(tree, tmp_path)
    assert (wheel.name, sdist.name) == (built[0].name, built[1].name)
    assert wheel.read_bytes() == built[0].read_bytes()
    assert sdist.read_bytes() == built[1].read_bytes()


@pytest.mark.slow
def test_the_time_in_the_archives_is_that_of_the_commit(built, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1600000000")
    wheel, _ = build(ROOT, tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {2020}
    assert wheel.read_bytes() != built[0].read_bytes()


def test_the_wheel_holds_the_package_and_nothing_else(built):
    names = names_of_wheel(built)
    about = [name for name in names if ".dist-info/" in name]
    assert set(names) - set(about) == tracked()
    assert {PurePosixPath(name).name for name in about} == {
        "METADATA",
        "WHEEL",
        "RECORD",
        "LICENSE",
        "snowball-license.txt",
        "entry_points.txt",
    }
    assert {"structsvm/py.typed", "structsvm/protocols/experiment/report/templates/report.html.j2"} <= set(names)
    assert {PurePosixPath(name).suffix for name in tracked()} <= {".py", ".typed", ".j2", ".txt", ".css"}
    assert built[0].stat().st_size < LARGEST_WHEEL


def test_the_sdist_holds_what_is_needed_and_nothing_of_this_machine(built):
    with tarfile.open(built[1]) as archive:
        members = archive.getmembers()
    names = [PurePosixPath(member.name) for member in members]
    assert {name.parts[1] for name in names} == {
        *("structsvm", "tests", "docs", "examples", "benchmarks", "recipe", "changes", "contributing"),
        *("README.md", "CHANGELOG.md", "CITATION.cff", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md"),
        *("LICENSE", "Makefile", "PKG-INFO", "pyproject.toml", "hatch_build.py", ".gitignore"),
    }
    left = [name for name in names if "__pycache__" in name.parts or name.suffix in {".pyc", ".npz", ".nbi", ".whl"}]
    assert left == []
    assert all((member.uid, member.uname) == (0, "") for member in members)
    assert built[1].stat().st_size < 2 * LARGEST_WHEEL


def metadata_of(wheel: Path) -> email.message.Message:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/METADATA")]
        return email.message_from_bytes(archive.read(name))


def links(metadata: email.message.Message) -> list[str]:
    """The targets of links and pictures of the description, as a page of an index shows it."""
    tokens = MarkdownIt().parse(metadata.get_payload())
    inline = [child for token in tokens for child in token.children or ()]
    result = [child.attrs.get("href", child.attrs.get("src")) for child in inline]
    result += re.findall(r"<[^>]*\b(?:href|src)=[\"']([^\"']*)", "".join(token.content for token in tokens))
    return [str(address) for address in result if address is not None]


def test_the_description_has_no_link_that_leads_nowhere(built):
    metadata = metadata_of(built[0])
    assert "Project-URL" not in metadata
    assert [address for address in links(metadata) if not address.startswith("https://")] == []
    assert "[" not in re.sub(r"`[^`]*`|```.*?```", "", metadata.get_payload(), flags=re.DOTALL)
    assert "contributing, changelog, license" in metadata.get_payload()


def test_links_of_a_release_lead_to_its_sources(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTSVM_SOURCE_URL", "https://sources/v1/")
    wheel, _ = build(ROOT, tmp_path)
    metadata = metadata_of(wheel)
    listed = dict(each.split(", ") for each in metadata.get_all("Project-URL"))
    assert list(listed) == ["Source", "Documentation", "Changelog"]
    result = [*links(metadata), *listed.values()]
    assert "https://sources/v1/docs/quickstart.md" in result
    monkeypatch.setenv("STRUCTSVM_DOCS_URL", "https://site/")
    wheel, _ = build(ROOT, tmp_path)
    assert "Documentation, https://site/" in metadata_of(wheel).get_all("Project-URL")
    for address in result:
        path, _, _ = address.removeprefix("https://sources/v1/").partition("#")
        assert address.startswith("https://sources/v1/"), address
        assert (ROOT / path).exists(), address


def test_metadata(built):
    metadata = metadata_of(built[0])
    with zipfile.ZipFile(built[0]) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        scripts = archive.read(name).decode()
    assert metadata["Name"] == "structural-svm"
    assert metadata["License-Expression"] == "Apache-2.0 AND BSD-3-Clause"
    assert metadata.get_all("License-File") == ["LICENSE", "structsvm/text/snowball-license.txt"]
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "structsvm = structsvm.__main__:main" in scripts
    mine = "matplotlib", "lightgbm", "cvxopt", "pytest"
    needed = [text for text in metadata.get_all("Requires-Dist") if "extra ==" not in text]
    assert not [text for text in needed if re.match("|".join(mine), text)]
