"""The command line, one module per command."""

from importlib import import_module

import click

from structsvm.cli.shared.command import epilog
from structsvm.cli.shared.failures import EXIT_CODES, CommandLine

__all__ = ["main"]

_HOMES = {
    "train": "train:train_command",
    "calibrate": "calibrate:calibrate_command",
    "predict": "predict:predict_command",
    "evaluate": "evaluate:evaluate_command",
    "show": "show:show_command",
    "explain": "explain:explain_command",
    "importance": "importance:importance_command",
    "select": "select:select_command",
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
    "plan": "plan:plan_command",
    "demo": "demo:demo_command",
}


class _Commands(CommandLine):
    """The commands by name, imported on first use because some need slow imports."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _HOMES:
            return None
        module, _, command = _HOMES[cmd_name].partition(":")
        loaded: click.Command = getattr(import_module(f"structsvm.cli.{module}"), command)
        return loaded


@click.group(
    cls=_Commands,
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
    """Train rankers on the measure you report, and bound how far each fit is from the optimum.

    Data files are tables (CSV, TSV, Parquet) with the columns "label", "qid" and the features, or LETOR's
    format, a line for each document: "<label> qid:<query> <index>:<value> ...". Text may be compressed.
    """
