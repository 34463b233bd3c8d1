import importlib.util
import sys
from importlib.metadata import EntryPoint

from structsvm.registry import benchmark_models, losses
from structsvm.registry.built_in import REGISTRIES, experiment_models


def row(output: str, first: str) -> str:
    return next(line for line in output.splitlines() if line.split()[:1] == [first])


def test_every_name_is_listed(run):
    done = run("list")
    registered = (name for registry in REGISTRIES.values() for name in registry.names())
    for name in (*registered, *benchmark_models.names(), *experiment_models.names()):
        assert row(done.stdout, name)
    assert done.stderr == ""


def test_kinds_are_shown_by_themselves(run):
    output = run("list", "solvers", "click-models").stdout
    assert [line.split()[0] for line in output.splitlines() if "built in" in line] == [
        *(name for name in REGISTRIES["solvers"].names() if name != "auto"),
        "auto",
        *REGISTRIES["click-models"].names(),
    ]
    assert "losses" in run("list", "sovlers", code=2).stderr
    assert "KIND is one of rankers, losses, " in run("list", "--help").stdout


def test_a_backend_that_is_not_installed(run, monkeypatch):
    find_spec = importlib.util.find_spec
    hidden = "structsvm.solvers.qp.base.find_spec"
    monkeypatch.setattr(hidden, lambda name: None if name == "highspy" else find_spec(name))
    output = run("list").stdout
    assert row(output, "highs").split()[1:5] == ["no:", "pip", "install", "'highspy>=1.14'"]
    assert output.index("\nhighs") > output.index("\nosqp")
    assert row(output, "osqp").split()[1] == "yes,"
    assert row(output, "active-set").split()[1] == "yes"


def test_a_plug_in_is_listed_with_its_origin_and_not_imported(run, monkeypatch):
    plugin = EntryPoint("tau", "no_such_module:KendallTau", losses.group)
    monkeypatch.setattr(
        "structsvm.registry.registry.entry_points", lambda group: [plugin] if group == losses.group else []
    )
    assert row(run("list").stdout, "tau").split() == ["tau", "no_such_module:KendallTau", "no_such_module"]


def test_models_are_listed_with_description_and_commands(run, monkeypatch):
    output = run("list").stdout
    assert ",," not in output
    assert row(output, "SVM-ndcg").split()[-3:] == ["loss", "ndcg", "benchmark"]
    assert row(output, "SVM-acc").split()[-1] == "experiment"
    assert row(output, "RankBoost").split()[-2:] == ["benchmark,", "experiment"]
    assert "Borda count" in row(output, "borda")
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    assert "not installed: it needs lightgbm" in row(run("list").stdout, "LambdaMART")
