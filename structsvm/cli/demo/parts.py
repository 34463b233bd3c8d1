"""The three parts of the demo: each runs, states its conclusion, and returns tables and the data of its pictures."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import numpy as np
from attrs import evolve, frozen
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from structsvm import Problem, StructuralSVM, StructuralSVMCV
from structsvm.data import load_digits_queries, load_digits_runs, load_digits_sequences, pool_runs
from structsvm.evaluation.paired_columns import paired_table
from structsvm.foundation.compute.processes import one_thread
from structsvm.foundation.tables.table import Column, Table, with_notes_once
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.protocols import Results
from structsvm.protocols.catalogue import needed_package
from structsvm.protocols.experiment import Settings, run
from structsvm.protocols.experiment.plan import RESULTS
from structsvm.protocols.experiment.report.tables import legend, map_table
from structsvm.protocols.results import WITH_BEST
from structsvm.solvers.comparison import Comparison, compare

Show = Callable[[int, int], None]

EXPERIMENT = "experiment"
"""Subfolder with the results of the first part, for ``structsvm report``."""

WORDS = {
    "SVM-map": "the SVM for average precision",
    "SVM-roc": "the SVM for ROC area",
    "SVM-acc": "the SVM for accuracy",
    "SVM-acc2": "the SVM for accuracy with equal weights of both classes",
    "MaximumEntropy": "logistic regression",
    "LambdaMART": "boosted trees",
    "WeightedCombSUM": "the weighted sum of scores",
    "CombSUM": "the plain sum of scores",
}
"""The rankers of the first part by name, in words."""

SETTINGS = Settings(trials=6, models=[name for name in WORDS if not needed_package(name)], variants=[WITH_BEST])
CANDIDATES = 400
BACKENDS = "all"
NOISES = (0.35, 0.5)


@frozen
class Part(ABC):
    """A finished part: its conclusion in a few sentences, its tables, and the data of its pictures."""

    title: ClassVar[str]
    question: ClassVar[str]
    steps: ClassVar[str]
    finding: str
    tables: tuple[Table, ...]
    data: Any

    @classmethod
    @abstractmethod
    def run(cls, out: Path, show: Show) -> "Part":
        """Run the part; ``show`` receives the numbers of finished and of all steps."""


class Ranking(Part):
    """The experiment of the paper, on images."""

    title = "Find images of the same digit"
    steps = "trials"
    question = (
        "A query is an image of a handwritten digit. Its documents are other images; images of the same digit are "
        "relevant. Each of 15 base functions compares two images, and retrieves the quarter of documents that is most "
        "similar to the query. Which combination of these functions ranks relevant images first? Rankers learn from "
        f"{SETTINGS.train} queries, {SETTINGS.validation} others choose their settings, and the rest test them, in "
        f"{SETTINGS.trials} trials."
    )

    @classmethod
    def run(cls, out: Path, show: Show) -> "Ranking":
        pool = pool_runs(*load_digits_runs(n_candidates=CANDIDATES, depth=CANDIDATES // 4))
        with TemporaryDirectory() as trials:
            results = run(pool, SETTINGS, trials, progress=show)
        results.save(out / EXPERIMENT / RESULTS)
        table = map_table(results, WITH_BEST)
        return cls(ranking_finding(results), (evolve(table, notes=table.notes + legend(results)),), results)


class Solving(Part):
    """One problem, solved by all pairs of solver and QP backend."""

    title = "Solve one problem in many ways"
    steps = "combinations"
    question = (
        "Training SVM-map is a convex problem with one constraint for each possible ranking. n-slack and one-slack add "
        "the most violated constraints step by step, and leave a quadratic program to a QP backend each time. Do all "
        "combinations prove the same optimum?"
    )

    @classmethod
    def run(cls, out: Path, show: Show) -> "Solving":
        train, _ = load_digits_queries(n_train=10, n_candidates=100)
        problem = Problem.from_queries(train.X, train.y, train.qid, loss="map")
        comparison = compare(
            {"map": problem},
            ["n-slack", "one-slack"],
            BACKENDS,
            tol=1e-4,
            time_limit=10.0,
            callback=lambda progress: show(progress.number - 1, progress.planned),
        )
        numbers = (("Lower bound", "dual", ".6f"), ("Objective", "primal", ".6f"), ("Seconds", "seconds", ".2f"))
        columns = (
            *(Column.text(name.capitalize(), name, missing="–") for name in ("solver", "backend", "status")),
            *(Column.number(*number, missing="–") for number in numbers),
        )
        note = "Lower bound: no weights reach a smaller objective. Objective: these weights reach it."
        table = Table("One problem, every solver and backend", columns, (tuple(comparison.records()),), (note,))
        return cls(solving_finding(comparison), (table,), comparison)


@frozen
class Sequences:
    """Test sequences at one level of noise, and the digits that each model reads, shape (sequences, length)."""

    noise: float
    xs: list[Matrix]
    ys: Matrix
    readings: dict[str, Matrix]

    def right(self, model: str) -> Vector:
        """Return the share of right digits of each sequence."""
        return np.asarray((self.readings[model] == self.ys).mean(axis=1))


class Reading(Part):
    """Sequences of digits, read by a chain and by models without one."""

    title = "Read numbers of eight digits"
    steps = "models"
    question = (
        "Each number has eight noisy images of digits, and each digit is 1, 2 or 3 above the previous one, modulo 10. "
        "Noise is the standard deviation of noise added to pixels from 0 to 1. A chain, which is a structural SVM, "
        "learns from 300 numbers which digits follow each other, and reads all eight together. Does that help against "
        "models that read one digit at a time, alone or with the pixels of its neighbors?"
    )

    @classmethod
    def run(cls, out: Path, show: Show) -> "Reading":
        levels = []
        for number, noise in enumerate(NOISES):
            train, (new_xs, new_ys) = load_digits_sequences(noise=noise)
            readings = {}
            for position, (model, read) in enumerate(READERS.items()):
                show(number * len(READERS) + position, len(NOISES) * len(READERS))
                # Threads of small products would compete for longer than they compute.
                with one_thread():
                    readings[model] = np.reshape(read(*train, new_xs), (len(new_xs), -1))
            levels.append(Sequences(noise, new_xs, np.array(new_ys), readings))
        show(len(NOISES) * len(READERS), len(NOISES) * len(READERS))
        return cls(reading_finding(levels), tuple(with_notes_once(list(map(reading_table, levels)))), levels)


PARTS = (Ranking, Solving, Reading)


def _alone(xs: Sequence[Matrix]) -> Matrix:
    return np.concatenate(xs)


def _with_neighbors(xs: Sequence[Matrix]) -> Matrix:
    """Return the pixels of each image, of the image before and of the image after it; 0 at the ends."""
    blank = np.zeros((1, xs[0].shape[1]))
    return np.concatenate([np.hstack([np.vstack([blank, x[:-1]]), x, np.vstack([x[1:], blank])]) for x in xs])


def _chain(xs: Any, ys: Any, new_xs: Any) -> Any:
    return StructuralSVMCV(StructuralSVM("chain_hamming"), Cs=[0.1, 1.0, 10.0, 100.0], cv=3).fit(xs, ys).predict(new_xs)


def _classified(model: Any, features: Callable[[Sequence[Matrix]], Matrix] = _alone) -> Callable[..., IntVector]:
    def read(xs: Any, ys: Any, new_xs: Any) -> IntVector:
        return np.asarray(model().fit(features(xs), np.concatenate(ys)).predict(features(new_xs)))

    return read


def _logistic() -> Any:
    return GridSearchCV(LogisticRegression(max_iter=1000), {"C": [0.001, 0.01, 0.1, 1.0]}, cv=3)


def _trees() -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbosity=-1, random_state=0)


READERS: dict[str, Callable[..., Any]] = {
    "chain": _chain,
    "multiclass SVM": _classified(lambda: StructuralSVMCV(StructuralSVM("multiclass"), cv=3)),
    "logistic regression": _classified(_logistic),
    "logistic regression with neighbors": _classified(_logistic, _with_neighbors),
    **({} if needed_package("LambdaMART") else {"LightGBM": _classified(_trees)}),
}
"""Functions that learn from sequences and labels, and read new sequences, by model; validation chooses each C."""


def reading_table(level: Sequences) -> Table:
    """Return the differences in right digits of the chain from the other models, with their own shares."""
    first, *others = (f"{model} ({level.right(model).mean():.1%})" for model in level.readings)
    chain, *values = map(level.right, level.readings)
    pairs = {name: (chain, right) for name, right in zip(others, values, strict=True)}
    title = f"Noise {level.noise}: right digits of the {first} minus right digits of other models"
    table = paired_table(title, "Model", [pairs], (0.0, 1.0), last="wilcoxon")
    return evolve(table, notes=tuple(note.replace("queries", "numbers") for note in table.notes))


def ranking_finding(results: Results) -> str:
    """Return the conclusion about the rankers."""
    first, *others = results.rows(WITH_BEST)
    groups: dict[str, list[str]] = {"clearly beats": [], "clearly loses to": [], "does not clearly differ from": []}
    for row in sorted(others, key=lambda row: -row.map):
        clear = row.holm is not None and row.holm < 0.05
        verb = (
            "does not clearly differ from"
            if not clear
            else "clearly " + ("beats" if row.map < first.map else "loses to")
        )
        if row.place < 2:
            name = f"{WORDS[row.name]} (" if row.name in WORDS else f"the best base function ({row.name}, "
            groups[verb].append(f"{name}{row.map:.3f})")
    best = max(results.rows(WITH_BEST), key=lambda row: row.map)
    return " ".join(
        [
            f"Finding images of the same digit: {WORDS[first.name]}, trained on {SETTINGS.train} queries, has a mean "
            f"average precision of {first.map:.3f} (1 would put all images of the same digit first).",
            *([] if best is first else [f"The ranker with the highest mean is {WORDS.get(best.name, best.name)}."]),
            *(f"The SVM {verb} {_and(names)}." for verb, names in groups.items() if names),
        ]
    )


def solving_finding(comparison: Comparison) -> str:
    """Return the conclusion about solvers and backends."""
    solved = [row for row in comparison if row.status == "converged"]
    if not solved:
        return f"Proving the optimum: {len(comparison)} ways to train a model all missed the target gap."
    dual, primal = (max(row.dual or 0.0 for row in solved), min(row.primal or 0.0 for row in solved))
    sentences = [
        f"Proving the optimum: {len(solved)} of {len(comparison)} ways to train the same model, each with another "
        f"algorithm or QP solver, agree. They prove that no weights have a training objective below "
        f"{np.floor(1e5 * dual) / 1e5:.5f}, and their best weights have {np.ceil(1e5 * primal) / 1e5:.5f}."
    ]
    others = [f"{row.solver} with {row.backend} ({row.status})" for row in comparison if row.status != "converged"]
    if others:
        sentences.append(f"Not solved: {_and(others)}.")
    return " ".join(sentences)


def reading_finding(levels: Sequence[Sequences]) -> str:
    """Return the conclusion about the readers."""
    clauses, clear = [], True
    for level in levels:
        best = min(reading_table(level).records, key=lambda record: record["difference"])
        p_value = best["holm_wilcoxon"]
        clear &= best["difference"] > 0.0 and p_value is not None and p_value < 0.05
        chain = level.right(next(iter(level.readings))).mean()
        clauses.append(
            f"at noise {level.noise}, the chain has {chain:.1%} right, and the best other model is {best['model']}"
        )
    verdict = f"{'The' if clear else 'Not all'} differences are clear"
    return f"Reading numbers of eight digits, each of which limits the next: {'; '.join(clauses)}. {verdict}."


def _and(names: Iterable[str]) -> str:
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last
