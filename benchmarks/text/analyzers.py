"""MAP by stemmer, stop words and settings of BM25: ``python -m benchmarks.text.analyzers`` prints it as a table."""

from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness.data import text_folder
from structsvm.data import Document, Qrels, Topic, load_qrels, read_documents, read_topics
from structsvm.metrics import AP
from structsvm.text import Analyzer, Index, retrieve

FUNCTIONS = ("bm25", "bm25(k1=0.9,b=0.4)", "bm25(k1=1.5,b=0.75)", "okapi")
STEMMERS = (None, "porter", "porter2")
STOP_WORDS = (None, "lucene", "snowball", "glasgow")


def main() -> None:
    """Print a table in Markdown, a row for each stemmer and list of stop words."""
    folder = text_folder()
    if folder is None:
        raise SystemExit("STRUCTSVM_DATA must name a folder with text/vaswani and text/cranfield")
    collections = list(_collections(folder))
    names = [f"{name}, {function}" for name, *_ in collections for function in FUNCTIONS]
    print(f"| stemmer | stop words | {' | '.join(names)} |")
    print(f"|---|---|{'---:|' * len(names)}")
    for stemmer in STEMMERS:
        for stop_words in STOP_WORDS:
            cells = [f"{each:.4f}" for each in _row(Analyzer(stemmer, stop_words), collections)]
            print(f"| {stemmer or 'none'} | {stop_words or 'none'} | {' | '.join(cells)} |", flush=True)


def _collections(folder: Path) -> Iterator[tuple[str, list[Document], list[Topic], Qrels]]:
    yield (
        "Vaswani",
        list(read_documents(folder / "vaswani" / "doc-text.trec")),
        read_topics(folder / "vaswani" / "query-text.trec"),
        load_qrels(folder / "vaswani" / "qrels"),
    )
    yield (
        "Cranfield",
        list(read_documents(folder / "cranfield" / "cran.all.1400")),
        read_topics(folder / "cranfield" / "cran.qry", numbering="position"),
        load_qrels(folder / "cranfield" / "cranqrel", {1: 4, 2: 3, 3: 2, 4: 1, 5: 0, -1: 0}),
    )


def _row(analyzer: Analyzer, collections: list[tuple[str, list[Document], list[Topic], Qrels]]) -> Iterator[float]:
    """Yield the MAP of each function on each collection."""
    for _, documents, topics, qrels in collections:
        index = Index.build(documents, analyzer)
        for function in FUNCTIONS:
            run = retrieve(index, topics, function)
            yield AP().mean(run.scores, qrels.labels(run.qid, run.doc_ids), run.qid, judged=qrels.judged, ties="input")


if __name__ == "__main__":
    main()
