"""Import paths and names of version 0.1 work, and say where things are now."""

import importlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import structsvm
from structsvm import moved

pytestmark = pytest.mark.filterwarnings("ignore:structsvm:DeprecationWarning")


@pytest.fixture(autouse=True)
def nothing_was_imported_by_its_old_path(monkeypatch):
    """Old modules are made anew, so that each test sees the warning of its import."""
    for name in [name for name in sys.modules if moved._homes(name)]:
        monkeypatch.delitem(sys.modules, name)
    yield
    for name in [name for name in sys.modules if moved._homes(name)]:
        del sys.modules[name]


def run(code):
    """Run a file of these lines, all warnings shown, and return what it wrote to both outputs."""
    done = subprocess.run([sys.executable, "-W", "always", "-c", code], capture_output=True, text=True)
    return done.stdout, done.stderr


@pytest.mark.parametrize("old", moved.MODULES)
def test_an_old_path_leads_to_the_new_one(old):
    new = " and ".join(moved.MODULES[old])
    with pytest.warns(DeprecationWarning, match=f"^{old} is now {new}: import from there$"):
        module = importlib.import_module(old)
    for home in map(importlib.import_module, moved.MODULES[old]):
        assert set(getattr(home, "__all__", ())) <= set(module.__all__)
        for name in getattr(home, "__all__", ()):
            assert getattr(module, name) is not None


@pytest.mark.parametrize("statement", ["import structsvm.models as m", "from structsvm import models as m"])
def test_the_warning_points_at_the_file_that_imports(statement, tmp_path, monkeypatch):
    (tmp_path / "of_a_user.py").write_text(f"\n\n{statement}\ncreate = m.create_model\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delattr(structsvm, "models", raising=False)
    monkeypatch.delitem(sys.modules, "of_a_user", raising=False)
    with pytest.warns(DeprecationWarning, match="structsvm.models is now structsvm.protocols") as caught:
        user = importlib.import_module("of_a_user")
    assert {(each.filename, each.lineno) for each in caught} == {(str(tmp_path / "of_a_user.py"), 3)}
    from structsvm.protocols import create_model

    assert user.create is create_model


def test_names_of_both_homes():
    with pytest.warns(DeprecationWarning, match="is now structsvm.rankers and structsvm.fusion: import from there"):
        from structsvm.baselines import CombMNZ, RankSVM
    from structsvm import fusion, rankers

    assert CombMNZ is fusion.CombMNZ
    assert RankSVM is rankers.RankSVM
    with pytest.raises(ImportError, match="cannot import name 'RankSWM'"):
        from structsvm.baselines import RankSWM  # noqa: F401


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("structsvm.baselines.fusion.methods", "structsvm.fusion.methods"),
        ("structsvm.baselines.rank_svm", "structsvm.rankers.rank_svm"),
        ("structsvm.baselines.fusion.comb", "structsvm.fusion.comb"),
        ("structsvm.letor.folds", "structsvm.protocols.letor.folds"),
        ("structsvm.experiment.splits", "structsvm.protocols.experiment.splits"),
    ],
)
def test_modules_below_an_old_path(old, new):
    with pytest.warns(DeprecationWarning, match=f"{old} is now {new}: import from there"):
        module = importlib.import_module(old)
    public = [name for name in vars(importlib.import_module(new)) if not name.startswith("_")]
    assert all(getattr(module, name) is getattr(importlib.import_module(new), name) for name in public)


@pytest.mark.parametrize(
    ("old", "homes"),
    [
        ("structsvm.letor.foldz", "structsvm.protocols.letor.foldz"),
        ("structsvm.baselines.boosting", "structsvm.rankers.boosting or structsvm.fusion.boosting"),
        ("structsvm.letor.folds.x", "structsvm.protocols.letor.folds.x"),
    ],
)
def test_a_module_that_is_nowhere(old, homes):
    with pytest.raises(ModuleNotFoundError, match=f"^there is no module {old} any more, nor {homes}$") as error:
        importlib.import_module(old)
    assert error.value.name == old


def test_other_modules_are_not_found_as_ever():
    with pytest.raises(ModuleNotFoundError, match="No module named 'structsvm.nothing'"):
        importlib.import_module("structsvm.nothing")
    with pytest.raises(ModuleNotFoundError, match="No module named 'nothing_of_this_name'"):
        importlib.import_module("nothing_of_this_name")


def test_a_function_of_an_old_path_works(tmp_path):
    from structsvm.report import write_report

    from structsvm.protocols.experiment import report

    assert write_report is report.write_report


def test_pickles_name_the_new_paths():
    from structsvm.baselines import RankSVM

    written = pickle.dumps(RankSVM(C=3.0), protocol=0)
    assert b"baselines" not in written
    assert pickle.loads(written).C == 3.0


def test_a_pickle_of_old_is_read():
    from structsvm.rankers import RankSVM

    old = pickle.dumps(RankSVM(C=3.0), protocol=0).replace(b"structsvm.rankers", b"structsvm.baselines")
    with pytest.warns(DeprecationWarning, match="structsvm.baselines is now structsvm.rankers"):
        assert pickle.loads(old).C == 3.0


def test_no_warning_without_an_old_path():
    out, err = run("import structsvm, structsvm.metrics, structsvm.problem, structsvm.cli; print(*structsvm.__all__)")
    assert err == ""
    assert out.split() == structsvm.__all__


@pytest.mark.parametrize("old", moved.NAMES)
def test_a_name_that_has_left_its_package(old):
    package, _, name = old.rpartition(".")
    home = importlib.import_module(package)
    with pytest.warns(DeprecationWarning, match=f"{old} is now {moved.NAMES[old][1]}: use that") as caught:
        value = getattr(home, name)
    assert caught[0].filename == __file__
    module, _, attribute = moved.NAMES[old][0].partition(":")
    assert value is getattr(importlib.import_module(module), attribute)
    assert name not in home.__all__
    new, _, attribute = moved.NAMES[old][1].removesuffix(".of").rpartition(".")
    assert hasattr(importlib.import_module(new), attribute)


def test_a_name_that_has_moved_twice():
    with pytest.warns(DeprecationWarning, match="is now") as caught:
        from structsvm.experiment import compare
    assert compare is importlib.import_module("structsvm.significance").signed_rank_test
    assert {each.filename for each in caught} == {__file__}
    said = [str(each.message) for each in caught]
    assert said[0] == "structsvm.experiment is now structsvm.protocols.experiment: import from there"
    assert "structsvm.protocols.experiment.compare is now structsvm.significance.signed_rank_test: use that" in said


def test_a_name_that_a_package_never_had():
    with pytest.raises(ImportError, match="cannot import name 'group_row'"):
        from structsvm.metrics import group_row  # noqa: F401
    with pytest.raises(AttributeError, match=r"module 'structsvm.problem' has no attribute 'Plane'"):
        importlib.import_module("structsvm.problem").Plane  # noqa: B018


def test_rows_are_grouped_as_they_were():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from structsvm.metrics import Groups, group_rows, number_queries
    ids, number = number_queries(["b", "a", "b"], 3)
    assert ids.tolist() == ["b", "a"]
    assert number.tolist() == [0, 1, 0]
    grouped = group_rows(np.array([7, 3, 7]), 3)
    assert isinstance(grouped, Groups)
    ids, order, ptr, together = grouped
    assert (ids.tolist(), order.tolist(), ptr.tolist(), together) == ([7, 3], [0, 2, 1], [0, 2, 3], False)
    assert number_queries(None, 2).ids.tolist() == [0]
