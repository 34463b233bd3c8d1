"""Indexing of more and more texts: time, memory and bytes."""

import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.harness.data import texts
from benchmarks.harness.measuring import Size, clock, forget_peak, peak_megabytes
from benchmarks.harness.rows import Row, Target, pick
from structsvm.text import Analyzer, Index

TITLE = "Indexing"
ABOUT = """
Abstracts of 150 words, drawn from 200,000 whose frequencies fall as in Zipf's law, are tokenized, stemmed by Porter's
algorithm, counted, and written. Texts are in memory. Seconds are CPU seconds, on one core, without the writing. Peak
MB are additional memory, without the texts and modules that the process had before, but with the index.
CountVectorizer is scikit-learn's, with the same analyzer.
"""

DOCUMENTS = (25_000, 50_000, 100_000)
OURS, THEIRS, LOADING = "Index.build", "CountVectorizer", "Index.load"


def run(size: Size) -> Iterator[Row]:
    analyzer = Analyzer("porter", "glasgow")
    Index.build([("a", {"text": "imports modules"})], analyzer)
    for number in DOCUMENTS:
        count = max(20, round(number * size.scale))
        given = list(texts(count))
        what = f"{number:,} abstracts"
        yield _ours(what, given, analyzer, size)
    yield _theirs(what, given, analyzer)
    yield _loaded(what, given, analyzer)


def _ours(what: str, given: list[str], analyzer: Analyzer, size: Size) -> Row:
    seconds = []
    before = forget_peak()
    for _ in range(min(3, size.repeats)):
        began = time.process_time()
        index = Index.build(((str(number), {"text": text}) for number, text in enumerate(given)), analyzer)
        seconds.append(time.process_time() - began)
        peak = peak_megabytes() - before
    with TemporaryDirectory() as folder:
        index.save(Path(folder) / "index")
        stored = (Path(folder) / "index").stat().st_size / 1e6
    middle = sorted(seconds)[len(seconds) // 2]
    values = {
        "seconds": middle,
        "fastest": min(seconds),
        "megabytes": peak,
        "stored": stored,
        "postings": float(index.whole.n_postings),
        "rate": index.whole.n_postings / middle,
    }
    return Row(what=what, who=OURS, repeats=len(seconds), values=values)


def _theirs(what: str, given: list[str], analyzer: Analyzer) -> Row:
    from sklearn.feature_extraction.text import CountVectorizer

    before = forget_peak()
    began = time.process_time()
    counts = CountVectorizer(analyzer=analyzer.terms).fit_transform(given).tocsc()
    seconds = time.process_time() - began
    values = {
        "seconds": seconds,
        "megabytes": peak_megabytes() - before,
        "postings": float(counts.nnz),
        "rate": counts.nnz / seconds,
    }
    return Row(what=what, who=THEIRS, repeats=1, values=values)


def _loaded(what: str, given: list[str], analyzer: Analyzer) -> Row:
    with TemporaryDirectory() as folder:
        Index.build(((str(number), {"text": text}) for number, text in enumerate(given)), analyzer).save(
            f"{folder}/index"
        )
        seconds, _ = clock(lambda: Index.load(f"{folder}/index"), 7)
    return Row(
        what=what, who=LOADING, repeats=len(seconds), values={"seconds": sorted(seconds)[3], "fastest": min(seconds)}
    )


def targets(rows: list[Row]) -> Iterator[Target]:
    most, half = f"{DOCUMENTS[-1]:,} abstracts", f"{DOCUMENTS[-2]:,} abstracts"
    yield Target(f"indexing {most}", 60.0, pick(rows, "seconds", what=most, who=OURS), unit="s")
    seconds, before = (pick(rows, "seconds", what=what, who=OURS) for what in (most, half))
    times = None if seconds is None or before is None else seconds / before
    yield Target("abstracts doubled: times the seconds of indexing", 2.2, times)
    stored, postings = (pick(rows, name, what=most, who=OURS) for name in ("stored", "postings"))
    each = None if stored is None or postings is None else 1e6 * stored / postings
    yield Target("an index with its terms and ids", 12.0, each, unit="bytes per posting")
    yield Target(f"loading the index of {most}", 0.05, pick(rows, "seconds", what=most, who=LOADING), unit="s")
