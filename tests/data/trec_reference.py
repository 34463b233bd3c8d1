"""trec_eval's average precision, written slowly, as a reference for readers and measures."""

import gzip
import itertools
import struct
from collections.abc import Iterable
from pathlib import Path


def lines_of(path: Path) -> list[str]:
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return text.decode().splitlines()


def read_run(lines: Iterable[str]) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for line in lines:
        topic, _, document, _, score = line.split()[:5]
        run.setdefault(topic, {})[document] = float(score)
    return run


def read_qrels(lines: Iterable[str]) -> dict[str, dict[str, int]]:
    qrels: dict[str, dict[str, int]] = {}
    for line in lines:
        topic, _, document, grade = line.split()
        qrels.setdefault(topic, {})[document] = int(grade)
    return qrels


def as_float32(score: float) -> float:
    return float(struct.unpack("f", struct.pack("f", score))[0])


def ranked(scores: dict[str, float]) -> list[str]:
    """Score in float32, descending; then document id, descending."""
    return sorted(scores, key=lambda document: (as_float32(scores[document]), document), reverse=True)


def average_precision(ranking: list[str], relevant: set[str]) -> float:
    """Sum of the precisions at the relevant documents that are ranked, over the number of all relevant ones."""
    hits_so_far, total = 0, 0.0
    for rank, document in enumerate(ranking, start=1):
        if document in relevant:
            hits_so_far += 1
            total += hits_so_far / rank
    return total / len(relevant) if hits_so_far else 0.0


def average_precision_over_orders(scores: dict[str, float], relevant: set[str]) -> float:
    """Mean of the average precision over all orders of documents with equal scores."""
    before, hits_so_far, total = 0, 0, 0.0
    for _, group in itertools.groupby(ranked(scores), key=lambda document: as_float32(scores[document])):
        documents = list(group)
        size, hits = len(documents), len(relevant.intersection(documents))
        for place in range(size):
            # If a relevant document has this place, the other hits are spread evenly over the other places.
            others = place * (hits - 1) / max(size - 1, 1)
            total += hits / size * (hits_so_far + 1 + others) / (before + place + 1)
        before, hits_so_far = before + size, hits_so_far + hits
    return total / len(relevant) if hits_so_far else 0.0


def average_precisions(run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]) -> dict[str, float]:
    """AP of each topic that is in both; 0 for a judged topic without a relevant document."""
    return {
        topic: average_precision(ranked(scores), {doc for doc, grade in qrels[topic].items() if grade > 0})
        for topic, scores in run.items()
        if topic in qrels
    }
