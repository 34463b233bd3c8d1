"""From texts to an index and to runs, by this library and by bm25s, each in a separate process: time and memory."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.harness.measuring import Size, forget_peak, peak_megabytes
from benchmarks.harness.rows import Row, Target, pick, quotient
from benchmarks.harness.store import ROOT
from benchmarks.text.retrieval import FUNCTION, KINDS, TOP, random_queries, random_texts
from structsvm.text import Analyzer, Index, Retriever

TITLE = "Indexing and retrieval in separate processes"
ABOUT = """
The random collections of the benchmark `retrieval` as texts, and all of their 200 queries, "frequent" and "content".
Each row is a separate process with one thread, which has indexed and searched a small collection before, so that all
code is compiled. Peak MB are additional memory of the process: without texts and modules, with the pages of mapped
files. Texts are indexed once and saved. This library counts terms, in one index for all functions and settings; bm25s
(its `tokenize` and `index`) computes the scores of one function. Searching opens the saved files and retrieves the best
1000 documents of all queries, so its seconds include the first use of each term. Both map files into memory (bm25s with
`mmap=True`).
"""

SIZES = (100_000, 300_000)
OURS, PEER = "this library", "bm25s"
INDEXING, SEARCHING = "indexed and saved", "opened and searched"
_SMALL = 1000


def run(size: Size) -> Iterator[Row]:
    for n in SIZES:
        documents = max(_SMALL, round(n * size.scale))
        for who in (OURS, PEER):
            with TemporaryDirectory() as folder:
                for work in (INDEXING, SEARCHING):
                    yield Row(
                        what=f"{n:,} documents {work}", who=who, repeats=1, values=_apart(who, work, documents, folder)
                    )


def targets(rows: list[Row]) -> Iterator[Target]:
    for work in (INDEXING, SEARCHING):
        few, many = (f"{n:,} documents {work}" for n in (SIZES[0], SIZES[-1]))
        for value, unit in (("seconds", "time"), ("megabytes", "memory")):
            ours, peer = (pick(rows, value, what=many, who=who) for who in (OURS, PEER))
            yield Target(f"{many}: {unit} over bm25s", 1.0, quotient(ours, peer))
            before = pick(rows, value, what=few, who=OURS)
            yield Target(f"{work}: documents times 3, {unit} times", 3.3, quotient(ours, before))


def _apart(who: str, work: str, documents: int, folder: str) -> dict[str, float]:
    command = [sys.executable, "-m", __name__, who, work, str(documents), folder]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    values: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return values


def _measured(who: str, work: str, documents: int, folder: str) -> dict[str, float]:
    index, search = _WORK[who]
    small = f"{folder}/small"
    index(list(random_texts(_SMALL)), small)
    search(small, ["000001 000002"])
    queries = [text for skipped in KINDS.values() for text in random_queries(skipped).values()]
    texts = list(random_texts(documents)) if work == INDEXING else []
    before = forget_peak()
    began = time.process_time()
    if work == INDEXING:
        index(texts, f"{folder}/index")
    else:
        search(f"{folder}/index", queries)
    return {"seconds": time.process_time() - began, "megabytes": peak_megabytes() - before}


def _index(texts: list[str], folder: str) -> None:
    Index.build(((f"{number:07}", {"text": text}) for number, text in enumerate(texts)), Analyzer(None, None)).save(
        folder
    )


def _search(folder: str, queries: list[str]) -> None:
    Retriever(Index.load(folder), FUNCTION).retrieve({str(number): text for number, text in enumerate(queries)}, TOP)


def _peer_index(texts: list[str], folder: str) -> None:
    import bm25s

    peer = bm25s.BM25(method="lucene", k1=FUNCTION.k1, b=FUNCTION.b, backend="numba")
    peer.index(bm25s.tokenize(texts, stopwords=None, show_progress=False), show_progress=False)
    peer.save(folder, show_progress=False)


def _peer_search(folder: str, queries: list[str]) -> None:
    import bm25s

    peer = bm25s.BM25.load(folder, mmap=True, show_progress=False)
    tokens = bm25s.tokenize(queries, stopwords=None, show_progress=False)
    peer.retrieve(tokens, k=min(TOP, peer.scores["num_docs"]), show_progress=False, n_threads=1)


_WORK: dict[str, tuple[Callable[[list[str], str], Any], Callable[[str, list[str]], Any]]] = {
    OURS: (_index, _search),
    PEER: (_peer_index, _peer_search),
}

if __name__ == "__main__":
    print(json.dumps(_measured(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])))
