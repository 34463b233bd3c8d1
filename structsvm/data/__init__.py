"""Readers and writers of ranking data, and small example data."""

from typing import TYPE_CHECKING

from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.data.collections.items import Document, Topic
    from structsvm.data.collections.reading import read_documents, read_topics
    from structsvm.data.dataset import Pool, RankingData, join_runs, pool_runs
    from structsvm.data.digits import load_digits_queries, load_digits_runs, load_digits_sequences
    from structsvm.data.letor.reading import load_letor
    from structsvm.data.letor.writing import write_letor
    from structsvm.data.runs import Qrels, Run
    from structsvm.data.table import load_table
    from structsvm.data.trec import load_qrels, load_run, load_runs, write_run

__all__ = [
    "Document",
    "Pool",
    "Qrels",
    "RankingData",
    "Run",
    "Topic",
    "join_runs",
    "load_digits_queries",
    "load_digits_runs",
    "load_digits_sequences",
    "load_letor",
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
        "structsvm.data.collections.items": ["Document", "Topic"],
        "structsvm.data.collections.reading": ["read_documents", "read_topics"],
        "structsvm.data.dataset": ["Pool", "RankingData", "join_runs", "pool_runs"],
        "structsvm.data.digits": ["load_digits_queries", "load_digits_runs", "load_digits_sequences"],
        "structsvm.data.letor.reading": ["load_letor"],
        "structsvm.data.letor.writing": ["write_letor"],
        "structsvm.data.runs": ["Qrels", "Run"],
        "structsvm.data.table": ["load_table"],
        "structsvm.data.trec": ["load_qrels", "load_run", "load_runs", "write_run"],
    },
)
