"""Readers and writers of ranking data, and a small data set to try things on."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from structsvm.data.collections import Document, Documents, Topic, read_documents, read_topics
    from structsvm.data.dataset import JoinedRuns, Pool, RankingData
    from structsvm.data.digits import load_digits_queries, load_digits_runs
    from structsvm.data.feature_names import load_feature_names
    from structsvm.data.letor import load_letor, load_letor_parts
    from structsvm.data.letor_writing import write_letor
    from structsvm.data.pooling import join_runs, load_pool, pool_runs
    from structsvm.data.qrels import Qrels
    from structsvm.data.run import Run
    from structsvm.data.table import load_table
    from structsvm.data.trec import load_qrels, load_run, load_runs
    from structsvm.data.trec_writing import write_run

__all__ = [
    "Document",
    "Documents",
    "JoinedRuns",
    "Pool",
    "Qrels",
    "RankingData",
    "Run",
    "Topic",
    "join_runs",
    "load_digits_queries",
    "load_digits_runs",
    "load_feature_names",
    "load_letor",
    "load_letor_parts",
    "load_pool",
    "load_qrels",
    "load_run",
    "load_runs",
    "load_table",
    "pool_runs",
    "read_documents",
    "read_topics",
    "write_letor",
    "write_run",
]

_HOME = {
    "collections": ["Document", "Documents", "Topic", "read_documents", "read_topics"],
    "dataset": ["JoinedRuns", "Pool", "RankingData"],
    "digits": ["load_digits_queries", "load_digits_runs"],
    "feature_names": ["load_feature_names"],
    "letor": ["load_letor", "load_letor_parts"],
    "letor_writing": ["write_letor"],
    "pooling": ["join_runs", "load_pool", "pool_runs"],
    "qrels": ["Qrels"],
    "run": ["Run"],
    "table": ["load_table"],
    "trec": ["load_qrels", "load_run", "load_runs"],
    "trec_writing": ["write_run"],
}
"""The modules that the public names are in."""


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: one reader should not wait for what another one needs."""
    home = next((home for home, names in _HOME.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"structsvm.data.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
