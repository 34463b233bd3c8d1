"""Readers and writers of ranking data, and a small data set to try things on."""

from typing import TYPE_CHECKING

from structsvm import lazy

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

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.data.collections": ["Document", "Documents", "Topic", "read_documents", "read_topics"],
        "structsvm.data.dataset": ["JoinedRuns", "Pool", "RankingData"],
        "structsvm.data.digits": ["load_digits_queries", "load_digits_runs"],
        "structsvm.data.feature_names": ["load_feature_names"],
        "structsvm.data.letor": ["load_letor", "load_letor_parts"],
        "structsvm.data.letor_writing": ["write_letor"],
        "structsvm.data.pooling": ["join_runs", "load_pool", "pool_runs"],
        "structsvm.data.qrels": ["Qrels"],
        "structsvm.data.run": ["Run"],
        "structsvm.data.table": ["load_table"],
        "structsvm.data.trec": ["load_qrels", "load_run", "load_runs"],
        "structsvm.data.trec_writing": ["write_run"],
    },
)
