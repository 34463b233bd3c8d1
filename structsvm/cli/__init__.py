"""The command line, one file a command."""

import click

from structsvm.cli.benchmark import benchmark_command
from structsvm.cli.compare import compare_command
from structsvm.cli.demo import demo_command
from structsvm.cli.evaluate import evaluate_command
from structsvm.cli.experiment import experiment_command
from structsvm.cli.failures import CommandLine
from structsvm.cli.features import features_command
from structsvm.cli.fuse import fuse_command
from structsvm.cli.index import index_command
from structsvm.cli.listing import list_command
from structsvm.cli.morgan import morgan_command
from structsvm.cli.options import example
from structsvm.cli.predict import predict_command
from structsvm.cli.report import report_command
from structsvm.cli.retrieve import retrieve_command
from structsvm.cli.train import train_command

__all__ = ["main"]


@click.group(
    cls=CommandLine,
    commands=[
        train_command,
        predict_command,
        evaluate_command,
        compare_command,
        experiment_command,
        features_command,
        fuse_command,
        benchmark_command,
        morgan_command,
        index_command,
        retrieve_command,
        report_command,
        list_command,
        demo_command,
    ],
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=example(
        "structsvm train train.txt --loss map -C 10 --model m.npz",
        "structsvm evaluate m.npz test.txt --measure map --measure ndcg@10",
    ),
)
@click.version_option(package_name="structural-svm", prog_name="structsvm")
def main() -> None:
    """Train linear rankers on the measure you report, with a certificate of how good they are.

    Data files are in LETOR's format: a document a line, "<label> qid:<query> <index>:<value> ...", plain or compressed.
    """
