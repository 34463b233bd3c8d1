"""Retrieval by BM25 beside bm25s, on Vaswani and on collections of random terms."""

import time
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from benchmarks.data import text_folder
from benchmarks.measuring import Size, peak_megabytes
from benchmarks.rows import Row
from structsvm.data import read_documents, read_topics
from structsvm.text import Analyzer, Index, Postings, Retriever
from structsvm.text.functions import LuceneBM25

TITLE = "Retrieval"
ABOUT = """
The best 1000 documents of each query by Lucene's BM25 (k1 0.9, b 0.4), in one thread. Random collections: documents of
60 terms, of which term r has a probability proportional to 1/(r + 2.7), out of 200,000; 100 queries of 8 different
terms, drawn as those of documents are, "frequent" with all terms and "content" without the 100 most frequent ones. Ours
starts from an index of counts, and computes the weights of a term when a query first has it: "first" is the time of the
first batch, with that, and "again" that of the same batch with weights that are there. It returns a run: ids, scores in
float64 rounded to float32, ties by id. bm25s returns numbers of documents and scores that are summed in float32; it
starts from a matrix of eager scores, which is not counted (its own `index` took the seconds that are noted, on a tenth
of the documents where there are 1,000,000). Milliseconds are those of a query.
"""

KINDS = {"frequent": 0, "content": 100}
SIZES = (100_000, 300_000, 1_000_000)
TERMS, LENGTH, QUERIES, WORDS, TOP = 200_000, 60, 100, 8, 1000
FUNCTION = LuceneBM25()


def run(size: Size) -> Iterator[Row]:
    yield from _vaswani(size)
    for n in SIZES:
        documents = max(1000, round(n * size.scale))
        index = random_index(documents)
        for kind, skipped in KINDS.items():
            queries = random_queries(skipped)
            what = f"{documents:,} documents, {kind} terms"
            yield from _compared(what, index, queries, size)


def random_index(documents: int) -> Index:
    """Return an index of documents of random terms, made of arrays."""
    draws = _draws(np.random.default_rng(0), documents * LENGTH)
    key = draws.astype(np.int64) * documents + np.repeat(np.arange(documents), LENGTH)
    key.sort()
    first = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    counts = np.diff(first, append=len(key)).astype(np.uint16)
    term, document = np.divmod(key[first], documents)
    present, begins = np.unique(term, return_index=True)
    postings = Postings(
        [f"{number:06}" for number in present.tolist()],
        np.append(begins, len(term)).astype(np.int64),
        document.astype(np.int32),
        counts,
        np.full(documents, LENGTH, dtype=np.int32),
    )
    ids = np.array([f"{number:07}" for number in range(documents)])
    return Index(Analyzer(), ids, {"text": postings}, postings)


def random_queries(skipped: int) -> dict[str, str]:
    """Return queries of random terms without the most frequent ones."""
    rng = np.random.default_rng(1)
    queries = {}
    for number in range(QUERIES):
        drawn = _draws(rng, 50 * WORDS)
        terms = list(dict.fromkeys(drawn[drawn >= skipped].tolist()))[:WORDS]
        queries[str(number + 1)] = " ".join(f"{term:06}" for term in terms)
    return queries


def _draws(rng: np.random.Generator, count: int) -> Any:
    shares = np.cumsum(1.0 / (np.arange(TERMS) + 2.7))
    found = [np.searchsorted(shares, rng.random(some) * shares[-1]) for some in _parts(count)]
    return np.minimum(np.concatenate(found), TERMS - 1).astype(np.int32)


def _parts(count: int) -> list[int]:
    return [1_000_000] * (count // 1_000_000) + [count % 1_000_000]


def _vaswani(size: Size) -> Iterator[Row]:
    what = "Vaswani, 11,429 documents"
    folder = text_folder()
    if folder is None:
        yield Row(what=what, who="this library", note="no data: STRUCTSVM_DATA names no folder that holds text/vaswani")
        return
    index = Index.build(read_documents(folder / "vaswani" / "doc-text.trec"), Analyzer())
    topics = read_topics(folder / "vaswani" / "query-text.trec")
    yield from _compared(what, index, {topic.id: topic.query() for topic in topics}, size)


def _compared(what: str, index: Index, queries: Mapping[str, str], size: Size) -> Iterator[Row]:
    """Time the two in turn."""
    Retriever(index, FUNCTION).retrieve({"1": next(iter(queries.values()))}, TOP)  # compiles
    retriever = Retriever(index, FUNCTION)
    first = _seconds(lambda: retriever.retrieve(queries, TOP))
    peers = {backend: _bm25s(index, retriever, backend) for backend in ("numba", "numpy")}
    tokens = [_numbers(index, text) for text in queries.values()]
    k = min(TOP, len(index.doc_ids))

    def other(backend: str) -> Any:
        return peers[backend].retrieve(tokens, k=k, show_progress=False, n_threads=1)

    other("numba")  # compiles
    ours, theirs = [], []
    for _ in range(size.repeats):
        ours.append(_seconds(lambda: retriever.retrieve(queries, TOP)))
        theirs.append(_seconds(lambda: other("numba")))
    slow = [_seconds(lambda: other("numpy"))]
    _require_same(retriever, queries, other("numba"))
    kept = float(retriever.scorer.weights.nbytes) / 1e6
    for who, seconds, note in (
        ("Retriever, first", [first], "with the weights of the terms of the queries"),
        ("Retriever, again", ours, ""),
        ("bm25s, numba", theirs, ""),
        ("bm25s, numpy", slow, ""),
    ):
        milliseconds = 1000.0 * float(np.median(seconds)) / len(queries)
        values = {"seconds": float(np.median(seconds)), "milliseconds": milliseconds, "megabytes": peak_megabytes()}
        yield Row(what=what, who=who, repeats=len(seconds), values=values, note=note)


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _numbers(index: Index, text: str) -> list[int]:
    found = [index.whole.find(term) for term in index.analyzer.terms(text)]
    return [number for number in found if number is not None]


def _bm25s(index: Index, retriever: Retriever, backend: str) -> Any:
    """Return bm25s with its matrix of eager scores, made of the index."""
    import bm25s

    postings = index.whole
    peer = bm25s.BM25(method="lucene", k1=FUNCTION.k1, b=FUNCTION.b, backend=backend)
    for number in range(len(postings.terms)):
        retriever.scorer._fill(number)
    peer.scores = {
        "data": retriever.scorer.weights.astype(np.float32),
        "indices": postings.documents,
        "indptr": postings.ptr,
        "num_docs": postings.n_documents,
    }
    peer.vocab_dict = {number: number for number in range(len(postings.terms))}
    peer.unique_token_ids_set = set(peer.vocab_dict)
    peer.nonoccurrence_array = None
    return peer
