"""Completion of commands, options and registered names, as shells ask for it."""

import pytest
from click.testing import CliRunner

from structsvm.cli import main
from structsvm.registry import backends, fusions, losses
from structsvm.registry.built_in import exports


def completed(*words: str, shell: str = "bash") -> list[str]:
    environment = {
        "_STRUCTSVM_COMPLETE": f"{shell}_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = CliRunner().invoke(main, [], prog_name="structsvm", env=environment)
    return [line.partition(",")[2] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["structsvm", "tra"], ["train"]),
        (["structsvm", "train", "--los"], ["--loss"]),
        (["structsvm", "train", "a.txt", "--loss", "m"], [name for name in losses.names() if name.startswith("m")]),
        (["structsvm", "train", "--backend", ""], backends.names()),
        (["structsvm", "compare", "--loss", "map,roc"], ["map,roc_area"]),
        (["structsvm", "export", "m.npz", "--format", ""], exports.names()),
        (["structsvm", "fuse", "--method", ""], fusions.names()),
        (["structsvm", "list", "click"], ["click-models"]),
    ],
    ids=" ".join,
)
def test_names_are_completed(words: list[str], expected: list[str]) -> None:
    assert completed(*words) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("click.shell_completion.BashComplete._check_version", lambda self: None)
    done = CliRunner().invoke(main, [], prog_name="structsvm", env={"_STRUCTSVM_COMPLETE": f"{shell}_source"})
    assert "_STRUCTSVM_COMPLETE" in done.stdout
