"""The file of finished trials in the folder of Morgan's experiment."""

from examples.papers.morgan2004.results import TopicTrial
from structsvm.storage.records import Kind

NAME = "trials.jsonl"

TRIALS = Kind(
    part=TopicTrial,
    key=lambda trial: trial.number,
    work="experiment",
    name="trial",
    names="trials",
    data="documents or judgments",
)
