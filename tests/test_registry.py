"""Objects by name: spellings, hints, plug-ins, and nothing imported before its use."""

import subprocess
import sys
from importlib.metadata import EntryPoint, EntryPoints
from typing import Any

import pytest

from structsvm import registry
from structsvm.exceptions import InputError, UnknownNameError
from structsvm.losses import AveragePrecision, ROCArea
from structsvm.metrics import AP
from structsvm.qp import ActiveSet, HiGHS
from structsvm.registry import backends, losses, solvers
from structsvm.solvers import NSlack, OneSlack


@pytest.mark.parametrize("name", ["one-slack", "one_slack", "ONE-SLACK", " One_Slack "])
def test_hyphens_underscores_and_case_do_not_matter(name: str) -> None:
    assert solvers.create(name) == OneSlack()


def test_settings_are_passed_on() -> None:
    assert solvers.create("n-slack", tol=0.5) == NSlack(tol=0.5)


def test_an_object_is_returned_as_it_is() -> None:
    loss = ROCArea(relevant_from=2)
    assert losses.create(loss) is loss


@pytest.mark.parametrize("kind", [losses, solvers, backends])
def test_every_built_in_name_is_found(kind: Any) -> None:
    for name in kind.built_in:
        assert isinstance(kind.find(name), type)


@pytest.mark.parametrize(
    ("kind", "name", "hint"),
    [
        (losses, "roc-aera", "roc_area"),
        (losses, "ROCArea", "roc_area"),
        (losses, "mapp", "map"),
        (solvers, "nslack", "n-slack"),
        (solvers, "OneSlack", "one-slack"),
        (backends, "activeset", "active-set"),
        (backends, "cvxpot", "cvxopt"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(kind: Any, name: str, hint: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        kind.create(name)
    assert str(caught.value).startswith(f"there is no {kind.kind} named {name!r}. Did you mean {hint!r}? Known: ")
    assert isinstance(caught.value, ValueError)


def test_a_name_unlike_any_other_gets_no_hint() -> None:
    with pytest.raises(UnknownNameError, match="^there is no loss named 'xyz'. Known: chain_hamming, map, multi"):
        losses.create("xyz")


def test_a_class_is_not_an_object() -> None:
    with pytest.raises(InputError, match=r"OneSlack is a class: pass an object, OneSlack\(\), or a name"):
        solvers.create(OneSlack)


@pytest.mark.parametrize("spec", [None, 3, {"name": "map"}])
@pytest.mark.parametrize("kind", [losses, solvers, backends])
def test_something_else_is_not_an_object_either(kind: Any, spec: Any) -> None:
    with pytest.raises(InputError, match=f"is no {kind.kind}: pass a name"):
        kind.create(spec)


def test_names_of_classes() -> None:
    assert losses.name_of(AveragePrecision) == "map"
    assert backends.create(backends.name_of(ActiveSet)) == ActiveSet()
    assert losses.name_of(ActiveSet) is None


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        (solvers, HiGHS(), r"HiGHS\(.*\) is no solver, but a QP backend, for backend=... of a solver: pass a name"),
        (backends, OneSlack(), r"OneSlack\(.*\) is no QP backend, but a solver, for solver=...: pass a name"),
        (solvers, ROCArea(), r"ROCArea\(.*\) is no solver, but a loss, for loss=...: pass a name \(auto, "),
        (losses, AP(), r"AP\(.*\) is no loss: pass a name \(map, "),
    ],
)
def test_an_object_of_another_kind_is_told_where_it_belongs(kind: Any, spec: Any, message: str) -> None:
    with pytest.raises(InputError, match=f"^{message}"):
        kind.create(spec)


@pytest.mark.parametrize(
    ("kind", "name", "meaning"),
    [
        (losses, "ndcg", "'ndcg' is a measure, which a ranker reports and does not train on. Known: "),
        (losses, "p@5", "'p@5' is a measure"),
        (losses, "HiGHS", "'HiGHS' is a QP backend, for backend=... of a solver. Known: "),
        (solvers, "highs", "'highs' is a QP backend"),
        (backends, "n_slack", "'n_slack' is a solver, for solver=...."),
    ],
)
def test_a_name_of_something_else_is_told_what_it_is(kind: Any, name: str, meaning: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        kind.create(name)
    assert str(caught.value).startswith(f"there is no {kind.kind} named {name!r}. {meaning}")


class PlugIn(ROCArea):
    """A loss of another package."""


class NeedsSettings(ROCArea):
    def __init__(self, depth: int) -> None:
        raise AssertionError("made without need")


@pytest.fixture
def plug_ins(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Three entry points of other packages; returns the names of those that were loaded."""
    loaded: list[str] = []

    class Spied(EntryPoint):
        def load(self) -> Any:
            loaded.append(self.name)
            return super().load()

    points = [
        Spied("my_loss", f"{__name__}:PlugIn", "structsvm.losses"),
        Spied("broken", "no_such_module:Loss", "structsvm.losses"),
        Spied("map", f"{__name__}:PlugIn", "structsvm.losses"),
    ]
    monkeypatch.setitem(sys.modules, __name__, sys.modules[PlugIn.__module__])
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints(p for p in points if p.group == group))
    return loaded


def test_a_plug_in_is_found_by_its_name(plug_ins: list[str]) -> None:
    assert type(losses.create("My-Loss")).__name__ == "PlugIn"
    assert plug_ins == ["my_loss"]


def test_names_are_listed_without_loading_anything(plug_ins: list[str]) -> None:
    assert losses.names() == [*losses.built_in, "my_loss", "broken"]
    assert solvers.names() == list(solvers.built_in)
    assert plug_ins == []


def test_built_in_names_cannot_be_taken(plug_ins: list[str]) -> None:
    assert losses.create("map") == AveragePrecision()
    assert plug_ins == []


def test_a_plug_in_that_does_not_load_says_why(plug_ins: list[str]) -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        losses.create("broken")


def test_plug_ins_are_part_of_the_hint(plug_ins: list[str]) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'my_loss'"):
        losses.create("myloss")


def test_the_name_of_a_built_in_object_loads_no_plug_in(plug_ins: list[str]) -> None:
    assert losses.name_of(ROCArea) == "roc_area"
    assert plug_ins == []


def test_the_name_of_an_object_without_one_loads_no_plug_in(plug_ins: list[str]) -> None:
    assert losses.name_of(type("Nameless", (ROCArea,), {"__module__": "somewhere"})) is None
    assert plug_ins == []


def test_nothing_is_imported_before_it_is_used() -> None:
    code = (
        "import sys, structsvm.registry as r; r.losses.names(); r.solvers.names(); r.backends.names();"
        "loaded = [m for m in sys.modules if m.startswith('structsvm.') and m.split('.')[1] in "
        "('losses', 'solvers', 'qp')] + [m for m in ('cvxopt', 'osqp', 'highspy', 'numba') if m in sys.modules];"
        "r.backends.find('osqp'); print(loaded, 'osqp' in sys.modules, 'structsvm.solvers' in sys.modules)"
    )
    blank = "import importlib.util, sys, types; p = types.ModuleType('structsvm'); "
    blank += (
        "p.__path__ = importlib.util.find_spec('structsvm').submodule_search_locations; sys.modules['structsvm'] = p; "
    )
    run = subprocess.run([sys.executable, "-c", blank + code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[] False False"
