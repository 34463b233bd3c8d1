"""Retrieval by BM25 beside bm25s, on Vaswani and on collections of random terms."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from benchmarks.harness.data import text_folder
from benchmarks.harness.measuring import Size, peak_megabytes
from benchmarks.harness.rows import Row, Target, pick, quotient, without_data
from structsvm.data import Run, read_documents, read_topics
from structsvm.text import Analyzer, Index, Postings, Retriever
from structsvm.text.functions.tf_idf import BM25
from structsvm.text.postings import Strings

TITLE = "Retrieval"
ABOUT = """
The best 1000 documents of each query by Lucene's BM25 (k1 0.9, b 0.4), in one thread. Random collections: documents of
60 terms, of which term r has a probability proportional to 1/(r + 2.7), out of 200,000; 100 queries of 8 different
terms, drawn like terms of documents, "frequent" with all terms and "content" without the 100 most frequent terms.
Vaswani: all words, and its 93 topics. `Retriever` starts from an index of counts and computes the weights of a term
when a query first has it. "first" is the time of the first batch, and "again" the time of the same batch with cached
weights. It returns a run: ids, scores summed in float64, ties by id. bm25s (its numba backend) returns numbers of
documents, and scores summed in float32. It starts from a matrix of eager scores; computing the matrix from our arrays
of counts is a separate row (bm25s' `index` computes it from lists of tokens, and takes longer). Seconds are CPU
seconds; peak MB is the peak memory of the process so far.
"""

KINDS = {"frequent": 0, "content": 100}
SIZES = (100_000, 300_000, 1_000_000)
TERMS, LENGTH, QUERIES, WORDS, TOP = 200_000, 60, 100, 8, 1000
FUNCTION = BM25(k1=0.9, b=0.4)
FIRST, AGAIN, PEER, MATRIX = "Retriever, first", "Retriever, again", "bm25s", "matrix of bm25s"
T = TypeVar("T")


def run(size: Size) -> Iterator[Row]:
    yield from _vaswani(size)
    for n in SIZES:
        documents = max(1000, round(n * size.scale))
        index = random_index(documents)
        for kind, skipped in KINDS.items():
            yield from _compared(f"{n:,} documents, {kind} terms", index, random_queries(skipped), size)


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
    ids = Strings.of(f"{number:07}" for number in range(documents))
    return Index(Analyzer(None, None), ids, {"text": postings}, postings)


def random_texts(documents: int) -> Iterator[str]:
    """Return the texts of the documents of `random_index`, which have random terms."""
    words = np.array([f"{number:06}" for number in range(TERMS)], dtype=object)
    draws = _draws(np.random.default_rng(0), documents * LENGTH).reshape(documents, LENGTH)
    return (" ".join(words[terms]) for terms in draws)


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
    what = "Vaswani"
    folder = text_folder()
    if folder is None:
        yield without_data(what, "this library", "text/vaswani")
        return
    index = Index.build(read_documents(folder / "vaswani" / "doc-text.trec"), Analyzer(None, None))
    topics = read_topics(folder / "vaswani" / "query-text.trec")
    yield from _compared(what, index, {topic.id: topic.query() for topic in topics}, size)


def _compared(what: str, index: Index, queries: Mapping[str, str], size: Size) -> Iterator[Row]:
    """Time the two in turn."""
    retriever = Retriever(index, FUNCTION)
    first, _ = _processor_seconds(lambda: retriever.retrieve(queries, TOP))
    tokens = [_numbers(index, text) for text in queries.values()]
    k = min(TOP, len(index.doc_ids))
    matrix, peer = _processor_seconds(lambda: _bm25s(index, FUNCTION))

    def other() -> Any:
        return peer.retrieve(tokens, k=k, show_progress=False, n_threads=1)

    _, (_, scores) = _processor_seconds(other)  # compiles
    ours, theirs = [], []
    for _ in range(size.repeats):
        seconds, made = _processor_seconds(lambda: retriever.retrieve(queries, TOP))
        ours.append(seconds)
        theirs.append(_processor_seconds(other)[0])
    _require_same(made, list(queries), scores)
    for who, seconds in ((FIRST, [first]), (AGAIN, ours), (PEER, theirs)):
        median = float(np.median(seconds))
        values = {"seconds": median, "milliseconds": 1000.0 * median / len(queries), "megabytes": peak_megabytes()}
        yield Row(what=what, who=who, repeats=len(seconds), values=values)
    yield Row(what=what, who=MATRIX, repeats=1, values={"seconds": matrix})


def _processor_seconds(work: Callable[[], T]) -> tuple[float, T]:
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def _require_same(run: Run, topics: list[str], scores: Any) -> None:
    """Check that both programs find the same scores."""
    for number, topic in enumerate(topics):
        ours = run.scores[run.qid == topic]
        assert np.allclose(ours, scores[number][: len(ours)], rtol=1e-4), topic


def _numbers(index: Index, text: str) -> list[int]:
    found = [index.whole.find(term) for term in index.analyzer.terms(text)]
    return [number for number in found if number is not None]


def _bm25s(index: Index, function: BM25) -> Any:
    """Return bm25s with its matrix of eager scores, made of the index."""
    import bm25s

    postings = index.whole
    df = np.diff(postings.ptr)
    idf = np.log1p((postings.n_documents - df + 0.5) / (df + 0.5))
    relative = (postings.lengths / postings.average_length)[postings.documents]
    slowed = postings.counts + function.k1 * (1.0 - function.b + function.b * relative)
    peer = bm25s.BM25(method="lucene", k1=function.k1, b=function.b, backend="numba")
    peer.scores = {
        "data": (np.repeat(idf, df) * postings.counts / slowed).astype(np.float32),
        "indices": np.asarray(postings.documents),
        "indptr": np.asarray(postings.ptr),
        "num_docs": postings.n_documents,
    }
    peer.vocab_dict = {number: number for number in range(postings.n_terms)}
    peer.unique_token_ids_set = set(peer.vocab_dict)
    peer.nonoccurrence_array = None
    return peer


def targets(rows: list[Row]) -> Iterator[Target]:
    for what in dict.fromkeys(row.what for row in rows):
        ratio = quotient(pick(rows, "seconds", what=what, who=AGAIN), pick(rows, "seconds", what=what, who=PEER))
        yield Target(f"{what}: time over bm25s", 1.0, ratio)
        peer, matrix = (pick(rows, "seconds", what=what, who=who) for who in (PEER, MATRIX))
        both = None if peer is None or matrix is None else peer + matrix
        ratio = quotient(pick(rows, "seconds", what=what, who=FIRST), both)
        yield Target(f"{what}: the first batch, over bm25s with its matrix", 1.0, ratio)
