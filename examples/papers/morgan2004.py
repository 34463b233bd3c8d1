"""Average precision by the length of a query: weight search, maximum entropy and SVM-map.

Morgan, Greiff and Henderson, "Direct maximization of average precision by hill-climbing, with a comparison to a maximum
entropy approach", HLT-NAACL 2004, section 4. ``morgan2004.md`` beside it explains the protocol and shows results.
``python -m examples.papers.morgan2004 INDEX --qrels QRELS`` runs it on an index that ``structsvm index`` wrote.
"""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import numpy as np
from attrs import frozen
from joblib import Parallel, delayed

from structsvm.data import Qrels, load_qrels
from structsvm.evaluation import mean_interval
from structsvm.evaluation.significance import paired_tests
from structsvm.exceptions import InputError
from structsvm.features.operators import Rows
from structsvm.foundation.tables.table import Column, Table
from structsvm.foundation.types import BoolVector, IntVector, Matrix, Vector
from structsvm.metrics import AP
from structsvm.plots import STYLE
from structsvm.protocols import AsGiven, Candidate, EstimatorModel, RankingSVM
from structsvm.rankers import MaximumEntropy, WeightSearch
from structsvm.text import Index, Postings, RetrievalFunction
from structsvm.text.functions import Occurrences

PARTS = ("train", "validation", "test")
SEARCH = "WeightSearch"
CS = {SEARCH: ("",), "MaximumEntropy": (0.1, 1.0, 10.0, 100.0, 1e4), "SVM-map": (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)}
"""The values of C of each method."""
MODELS = {
    "MaximumEntropy": EstimatorModel(
        name="MaximumEntropy", features=AsGiven(), estimator=MaximumEntropy(), grid={"C": CS["MaximumEntropy"]}
    ),
    "SVM-map": RankingSVM(name="SVM-map", features=AsGiven(), loss="map", Cs=CS["SVM-map"]),
}
LENGTHS = (1, 2, 5, 10, 15, 20)
"""Query lengths of the table of differences."""


@frozen
class OkapiTF(RetrievalFunction):
    """The count of BM25 without idf, with k1 = 2 and b = 0.75 (Robertson et al., "Okapi at TREC-3", 1994)."""

    def weights(self, found: Occurrences) -> Vector:
        """Return ``tf / (tf + 0.5 + 1.5 |d| / avg)``."""
        return found.tf / (found.tf + (0.5 + 1.5 * found.length / found.collection.average_length))


def mutual_information(postings: Postings, rows: IntVector, relevant: BoolVector) -> Vector:
    """Return the mutual information, in nats, of the presence of each term and relevance over some documents."""
    n, R = len(rows), int(relevant.sum())
    kind = np.zeros(postings.n_documents, dtype=np.int8)
    kind[rows] = 1 + relevant
    sums = [np.cumsum(np.append(0, kind[postings.documents] >= least)) for least in (1, 2)]
    present, both = (counts[postings.ptr[1:]] - counts[postings.ptr[:-1]] for counts in sums)
    cells = ((both, present, R), (present - both, present, n - R), (R - both, n - present, R))
    total = np.zeros(len(present))
    for cell, of_term, of_kind in (*cells, (n - R - present + both, n - present, n - R)):
        share = np.divide(n * cell, of_term * of_kind, out=np.ones(len(cell)), where=cell > 0)
        total += cell / n * np.log(share)
    return np.maximum(total, 0.0)


def draw_split(relevant: BoolVector, rng: np.random.Generator) -> tuple[IntVector, IntVector, IntVector]:
    """Return 25 % of the documents to train, 25 % to validate and 50 % to test; each part has both kinds."""
    quarter = len(relevant) // 4
    while True:
        order = rng.permutation(len(relevant))
        split = order[:quarter], order[quarter : 2 * quarter], order[2 * quarter :]
        if all(relevant[part].any() and not relevant[part].all() for part in split):
            return split


def relevant_rows(index: Index, qrels: Qrels, min_relevant: int) -> dict[str, BoolVector]:
    """Return the relevance of every document of the index, for topics with enough relevant documents."""
    topics: dict[str, BoolVector] = {}
    for topic in dict.fromkeys(qrels.qid.tolist()):
        ids = qrels.doc_ids[(qrels.qid == topic) & (qrels.grades > 0)]
        relevant = np.isin(index.doc_ids, ids)
        if min_relevant <= relevant.sum() <= len(relevant) - 3:
            topics[topic] = relevant
    if not topics:
        raise InputError(f"no topic has {min_relevant} relevant documents in the index. Lower --min-relevant")
    return topics


@frozen(eq=False)
class Trial:
    """A topic and one split of its documents: values and relevance of the parts, and the terms of the longest query."""

    values: tuple[Matrix, ...]
    relevant: tuple[Vector, ...]
    terms: tuple[str, ...]

    @classmethod
    def draw(cls, index: Index, topic: str, relevant: BoolVector, terms: int, seed: tuple[int, int]) -> "Trial":
        """Draw a split, and choose the terms with the most information on its training documents."""
        split = draw_split(relevant, np.random.default_rng([*seed, *topic.encode()]))
        information = mutual_information(index.whole, split[0], relevant[split[0]])
        chosen = [index.whole.terms[term] for term in np.argsort(-information, kind="stable")[:terms].tolist()]
        scorer = OkapiTF().bind(index.whole)
        values = np.column_stack([scorer.scores({term: 1.0}) for term in chosen])
        return cls(tuple(values[p] for p in split), tuple(relevant[p].astype(float) for p in split), tuple(chosen))

    def results(self) -> dict[str, Matrix]:
        """Return the average precision of each method, shape (parts, lengths, values of C)."""
        return {name: self._measured(name) for name in CS}

    def _measured(self, name: str) -> Matrix:
        lengths = []
        for length, candidates in enumerate(self._fitted(name), start=1):
            parts = [np.ascontiguousarray(X[:, :length]) for X in self.values]
            lengths.append(
                [
                    [AP().mean(candidate.scores(X, np.zeros(len(y), int)), y) for candidate in candidates]
                    for X, y in zip(parts, self.relevant, strict=True)
                ]
            )
        return np.array(lengths).swapaxes(0, 1)

    def _fitted(self, name: str) -> Iterator[Any]:
        """Yield the candidates of a method for each length, one per value of C."""
        X, y = self.values[0], self.relevant[0]
        qid = np.zeros(len(y), dtype=np.int64)
        if name == SEARCH:
            search = WeightSearch(fix_first=True, incremental=True).fit(X, y, qid=qid)
            for length, weights in enumerate(search.coef_path_, start=1):
                w = weights[:length]
                yield [Candidate("", lambda X, qid, w=w: Rows.one_row_per_example(X).scores(w), seconds=0.0)]
            return
        for length in range(1, X.shape[1] + 1):
            yield MODELS[name].candidates(np.ascontiguousarray(X[:, :length]), y, qid)


@frozen(eq=False)
class Results:
    """The average precision of a method: arrays of shape (topics, splits, parts, lengths, values of C)."""

    ap: dict[str, Matrix]

    def of_lengths(self, method: str, part: str, value: int | None = None) -> Matrix:
        """Return the means over splits at each length, with the C that validation picks, shape (topics, lengths)."""
        ap = self.ap[method]
        best = ap[:, :, 1].argmax(axis=-1) if value is None else np.full(ap.shape[:2] + ap.shape[3:4], value)
        return np.take_along_axis(ap[:, :, PARTS.index(part)], best[..., None], axis=-1)[..., 0].mean(axis=1)

    def picks(self, method: str, value: int | None = None) -> IntVector:
        """Return the pick of validation, shape (topics, splits): its position among lengths and values."""
        validation = self.ap[method][:, :, 1]
        if value is not None:
            validation = np.where(np.arange(validation.shape[-1]) == value, validation, -1.0)
        return validation.reshape(*validation.shape[:2], -1).argmax(axis=-1)

    def at_pick(self, method: str, part: str, value: int | None = None) -> Vector:
        """Return the means over splits at the length and the C that validation picks, shape (topics,)."""
        ap = self.ap[method][:, :, PARTS.index(part)]
        flat = ap.reshape(*ap.shape[:2], -1)
        return np.take_along_axis(flat, self.picks(method, value)[..., None], axis=-1)[..., 0].mean(axis=1)


def morgan(
    index: Index,
    qrels: Qrels,
    *,
    terms: int = 20,
    repeats: int = 5,
    min_relevant: int = 20,
    seed: int = 0,
    jobs: int = 1,
) -> Results:
    """Run the experiment; trials of all topics with enough relevant documents, in `jobs` processes."""
    topics = relevant_rows(index, qrels, min_relevant)
    click.echo(f"{len(index.doc_ids)} documents, {len(topics)} topics: {' '.join(topics)}")
    trials = (
        delayed(Trial.draw(index, topic, relevant, terms, (seed, repeat)).results)()
        for topic, relevant in topics.items()
        for repeat in range(repeats)
    )
    measured = Parallel(n_jobs=jobs)(trials)
    shape = (len(topics), repeats)
    return Results(
        {
            name: np.reshape([each[name] for each in measured], (*shape, *measured[0][name].shape))
            for name in measured[0]
        }
    )


def tables(results: Results) -> tuple[Table, ...]:
    """Return the tables of the page."""
    lengths = next(iter(results.ap.values())).shape[3]
    picks, values = [], []
    for method, ap in results.ap.items():
        interval = mean_interval(results.at_pick(method, "test")) or (np.nan, np.nan)
        terms = 1 + results.picks(method) // ap.shape[-1]
        low, median, high = np.quantile(terms, (0.25, 0.5, 0.75))
        record = {part: results.at_pick(method, part).mean() for part in PARTS}
        record |= {"interval": f"[{interval[0]:.4f}, {interval[1]:.4f}]", "terms": f"{median:g} ({low:g} to {high:g})"}
        picks.append({"method": method, **record})
        for k, C in enumerate(CS[method]):
            record = {part: results.of_lengths(method, part, k).mean(axis=0)[-1] for part in ("train", "test")}
            record |= {"pick": results.at_pick(method, "test", k).mean()}
            times = int((results.picks(method) % ap.shape[-1] == k).sum())
            values.append({"method": method, "C": str(C), **record, "times": times})
    curves = [
        {"length": n + 1}
        | {
            f"{method} {part}": results.of_lengths(method, part).mean(axis=0)[n]
            for part in PARTS
            for method in results.ap
        }
        for n in range(lengths)
    ]
    differences = []
    for one, other in combinations(results.ap, 2):
        pairs = {"pick": tuple(results.at_pick(method, "test") for method in (one, other))}
        of_lengths = [results.of_lengths(method, "test") for method in (one, other)]
        pairs |= {str(n): (of_lengths[0][:, n - 1], of_lengths[1][:, n - 1]) for n in LENGTHS if n <= lengths}
        for length, values_of_both in pairs.items():
            tests = paired_tests(*values_of_both)
            low, high = tests.interval or (np.nan, np.nan)
            record = {"methods": f"{one} minus {other}", "length": length, "difference": tests.difference}
            record |= {"interval": f"[{low:+.4f}, {high:+.4f}]", "p": tests.p_values["wilcoxon"]}
            differences.append({**record, "wins": f"{tests.wins}/{tests.losses}/{tests.ties}"})
    number = [Column.number(part.capitalize(), part, ".4f") for part in PARTS]
    method = Column.text("Method", "method")
    terms_picked = Column.text("Terms picked", "terms")
    return (
        Table(
            "Average precision at the query length that validation picks, mean over topics",
            (method, *number, Column.text("95% interval of test", "interval"), terms_picked),
            (tuple(picks),),
        ),
        Table(
            "Differences on test documents",
            (
                Column.text("Methods", "methods"),
                Column.text("Terms", "length"),
                Column.number("Difference", "difference", "+.4f"),
                Column.text("95% interval", "interval"),
                Column.text("W/L/T", "wins"),
                Column.p_value("p", "p"),
            ),
            (tuple(differences),),
        ),
        Table(
            "Average precision against query length, mean over topics",
            tuple(
                Column.number(name.capitalize() if name == "length" else name, name, "" if name == "length" else ".4f")
                for name in curves[0]
            ),
            (tuple(curves),),
        ),
        Table(
            "Average precision with one value of C",
            (
                method,
                Column.text("C", "C"),
                Column.number(f"Train, {lengths} terms", "train", ".4f"),
                Column.number(f"Test, {lengths} terms", "test", ".4f"),
                Column.number("Test, terms picked", "pick", ".4f"),
                Column.number("Times picked", "times"),
            ),
            (tuple(values),),
        ),
    )


def draw(results: Results, path: Path) -> None:
    """Draw average precision against query length, a panel per part."""
    import matplotlib.pyplot as plt

    plt.rcParams.update(STYLE)
    figure, panels = plt.subplots(1, 3, figsize=(9.0, 3.2), sharex=True, layout="constrained")
    for axes, part in zip(panels, PARTS, strict=True):
        for method in results.ap:
            means = results.of_lengths(method, part).mean(axis=0)
            axes.plot(np.arange(1, len(means) + 1), means, marker="o", markersize=2.5, label=method)
        axes.set(title=part, xlabel="terms")
    panels[0].set_ylabel("average precision")
    panels[0].legend()
    figure.savefig(path)
    plt.close(figure)


def _grades(_context: Any, _option: Any, text: str | None) -> dict[int, int] | None:
    return {int(old): int(new) for old, _, new in (pair.partition("=") for pair in text.split(","))} if text else None


@click.command()
@click.argument("index", type=click.Path(path_type=Path))
@click.option("--qrels", required=True, help="Judgments in TREC's format.")
@click.option("--grades", callback=_grades, help="Grades to replace, as OLD=NEW,...; for qrels with other scales.")
@click.option("--terms", type=click.IntRange(1), default=20, show_default=True, help="Terms of the longest query.")
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Random splits per topic.")
@click.option("--min-relevant", type=click.IntRange(3), default=20, show_default=True, help="Least relevant documents.")
@click.option("--seed", default=0, show_default=True, help="Seed of the splits.")
@click.option("--jobs", default=1, show_default=True, help="Processes.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw average precision against query length.")
@click.option("--out", type=click.Path(path_type=Path), help="Write every average precision as JSON.")
def main(index: Path, qrels: str, grades: Any, plot: Path | None, out: Path | None, **settings: int) -> None:
    """Run the experiment of Morgan, Greiff and Henderson (HLT-NAACL 2004) on INDEX, a folder of `structsvm index`."""
    results = morgan(Index.load(index), load_qrels(qrels, grades), **settings)
    for table in tables(results):
        click.echo(f"\n{table}")
    if plot is not None:
        draw(results, plot)
    if out is not None:
        out.write_text(json.dumps({name: ap.tolist() for name, ap in results.ap.items()}), encoding="utf-8")


if __name__ == "__main__":
    main()
