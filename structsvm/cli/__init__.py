"""The command line, one module per command."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module

import click

from structsvm.cli.shared.command import epilog
from structsvm.cli.shared.failures import EXIT_CODES, CommandLine

__all__ = ["main"]

_HOMES = {
    "train": "train:train_command",
    "predict": "predict:predict_command",
    "evaluate": "evaluate:evaluate_command",
    "show": "show:show_command",
    "export": "export:export_command",
    "compare": "compare:compare_command",
    "experiment": "experiment:experiment_command",
    "features": "features:features_command",
    "fuse": "fuse:fuse_command",
    "benchmark": "benchmark:benchmark_command",
    "index": "index:index_command",
    "retrieve": "retrieve:retrieve_command",
    "report": "experiment:report_command",
    "compile": "compile:compile_command",
    "list": "listing:list_command",
    "demo": "demo:demo_command",
}


class _Commands(MutableMapping[str, click.Command]):
    """Commands by name, imported on first use because some need slow imports."""

    def __init__(self) -> None:
        self._homes = dict(_HOMES)
        self._found: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._found:
            module, _, command = self._homes[name].partition(":")
            self._found[name] = getattr(import_module(f"structsvm.cli.{module}"), command)
        return self._found[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._homes[name] = ""
        self._found[name] = command

    def __delitem__(self, name: str) -> None:
        del self._homes[name]
        self._found.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)


@click.group(
    cls=CommandLine,
    commands=_Commands(),
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog=epilog(
        [
            "structsvm train train.txt --loss map -C 10 --model m.npz",
            "structsvm evaluate m.npz test.txt --measure map --measure ndcg@10",
        ]
    )
    + f"\n\n{EXIT_CODES}",
)
@click.version_option(package_name="structural-svm", prog_name="structsvm")
def main() -> None:
    """Train rankers on the measure you report, with a certificate of how good they are.

    Data files are in LETOR's format, plain or compressed, with one document a line:
    "<label> qid:<query> <index>:<value> ...".
    """
