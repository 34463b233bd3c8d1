"""Errors of the command line about unknown names of losses, solvers and the like."""

import pytest

from structsvm.cli.shared.options import as_measures


def test_an_option_may_have_several_measures():
    measures = as_measures(None, None, ("map,ndcg@10(gain=linear,empty=skip)", "p@5"))
    assert list(map(str, measures)) == ["map", "ndcg@10(empty=skip,gain=linear)", "p@5"]


def test_the_loss_of_another_package_is_no_measure(run, monkeypatch):
    from importlib.metadata import EntryPoint

    from structsvm.registry import registry

    plugin = EntryPoint("mine", "structsvm.losses:RecallAtK", "structsvm.losses")
    monkeypatch.setattr(registry, "entry_points", lambda group: [plugin] if group == plugin.group else [])
    error = run("evaluate", "m.npz", "test.txt", "--measure", "mine@5", code=2).stderr
    assert "'mine@5' is a loss, for --loss; a measure is needed here." in " ".join(error.split())
    assert "Did you mean" not in error


@pytest.mark.parametrize("command", ["train", "compare", "select", "plan", "calibrate"])
def test_help_shows_no_range_for_any_number(run, command):
    assert "None]" not in run(command, "--help").stdout
