"""Workflows, the recipe, the citation and the rest agree with pyproject.toml and the Makefile."""

import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GITHUB = ROOT / ".github"

of_the_repository = pytest.mark.skipif(not GITHUB.is_dir(), reason="an sdist has no workflows")


def read(path: Path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@of_the_repository
@pytest.mark.parametrize("name", ["ci", "release", "security"])
def test_workflows_run_what_there_is(name):
    workflow = read(GITHUB / "workflows" / f"{name}.yml")
    commands = "\n".join(step.get("run", "") for step in steps(workflow))
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert set(re.findall(r"\bmake ([a-z-]+)", commands)) <= set(targets)
    assert workflow["permissions"] == {"contents": "read"}
    owners = {step["uses"].partition("/")[0] for step in steps(workflow) if "uses" in step}
    assert owners <= {"actions", "github", "ossf", "pypa"}


@of_the_repository
def test_every_python_is_tested():
    classified = {
        text.rpartition(" ")[2] for text in PROJECT["project"]["classifiers"] if re.search(r":: 3\.\d+$", text)
    }
    matrix = read(GITHUB / "workflows" / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert set(matrix["python"]) == classified
    assert PROJECT["project"]["requires-python"] == f">={min(classified, key=lambda text: int(text[2:]))}"


@of_the_repository
def test_releases_are_published_without_passwords():
    release = read(GITHUB / "workflows" / "release.yml")
    for job in ("pypi", "testpypi"):
        assert release["jobs"][job]["permissions"] == {"id-token": "write"}
        assert release["jobs"][job]["environment"] == job
    assert "secrets." not in (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")


@of_the_repository
def test_issue_forms():
    for path in GITHUB.glob("ISSUE_TEMPLATE/*.yml"):
        form = read(path)
        if path.stem != "config":
            assert {"name", "description", "body"} <= form.keys()
            assert len({part["id"] for part in form["body"]}) == len(form["body"])


def test_the_recipe_agrees_with_the_project():
    """conda-forge has no extras, so the recipe includes ``tools``. It calls two packages by other names."""
    recipe = read(ROOT / "recipe" / "recipe.yaml")
    project = PROJECT["project"]
    pypi = {"python-xxhash": "xxhash", "pystemmer": "PyStemmer"}

    def requirements(part):
        return {pypi.get(name, name) + bound for name, _, bound in (text.partition(" ") for text in part)}

    assert requirements(recipe["requirements"]["run"]) == {
        "python>=${{ python_min }}",
        *project["dependencies"],
        *project["optional-dependencies"]["tools"],
    }
    assert requirements(recipe["requirements"]["host"]) == {
        "python${{ python_min }}.*",
        "pip",
        *PROJECT["build-system"]["requires"],
    }
    assert recipe["context"] == {
        "version": project["version"],
        "python_min": project["requires-python"].removeprefix(">="),
    }
    assert recipe["package"]["name"] == project["name"]
    scripts = dict(text.split(" = ") for text in recipe["build"]["python"]["entry_points"])
    assert scripts == project["scripts"]
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["license_file"] == project["license-files"]


def test_zenodo_and_the_citation_agree():
    citation = read(ROOT / "CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert citation["license"] == PROJECT["project"]["license"].split(" AND ")[0]
    if not (ROOT / ".zenodo.json").exists():
        pytest.skip("an sdist has no .zenodo.json")
    zenodo = json.loads((ROOT / ".zenodo.json").read_text(encoding="utf-8"))
    assert zenodo["title"] == citation["title"]
    assert zenodo["license"] == citation["license"]
    assert zenodo["keywords"] == citation["keywords"]
    assert {each["name"] for each in zenodo["creators"]} == {each["name"] for each in citation["authors"]}
    dois = {each["doi"] for each in citation["references"] if "doi" in each}
    assert {each["identifier"] for each in zenodo["related_identifiers"]} == dois


def test_fragments_of_the_changelog_can_be_read():
    kinds = {each["directory"] for each in PROJECT["tool"]["towncrier"]["type"]}
    for path in (ROOT / "changes").iterdir():
        if path.name != "README.md":
            assert re.fullmatch(rf"[a-z0-9-]+\.({'|'.join(kinds)})\.md", path.name), path.name
            assert path.read_text(encoding="utf-8").strip()
    start = PROJECT["tool"]["towncrier"]["start_string"]
    assert (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").count(start) == 1


def test_no_address_of_the_project_is_made_up():
    """The place of publication is open: names of owners and hosts in files must exist."""
    texts = [*ROOT.glob("*.md"), *ROOT.glob("recipe/*"), *GITHUB.rglob("*.*"), ROOT / "CITATION.cff"]
    for path in texts:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"(?i)\b(your[-_]org|example\.(com|org)|<owner>|TODO|FIXME)\b", text), path
        assert not re.search(r"github\.com/[\w.-]+/(structsvm|structural-svm)", text), path
