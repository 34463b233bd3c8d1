"""Decisions by predicted costs: SPO+ to a proved optimum, beside PyEPO's losses."""

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from attrs import frozen
from sklearn.linear_model import LinearRegression

from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target
from structsvm import StructuralSVM, StructuralSVMCV
from structsvm.foundation.types import Matrix, Vector
from structsvm.inference.sets import DirectedPath, FeasibleSet
from structsvm.losses import Regret

TITLE = "Predict, then optimize: shortest paths"
ABOUT = """
Shortest paths through a 5 x 5 grid, with the data of PyEPO's tutorial: five features, costs that are a polynomial of
them of degree 1 to 6, times uniform noise. "regret" is the regret of 1,000 test decisions as a share of the best costs,
with its standard error over seeds; "SPO+" is the mean hinge on the training examples; "calls" are solutions of the
shortest-path problem for each training example. C = 1000 in the first two rows; with "C by validation",
`StructuralSVMCV` chooses among four values by five folds, and its seconds include that. PyEPO trains a linear layer by
Adam for 20 epochs, with a learning rate of .01 and batches of 32, and solves paths by OR-tools. One thread.
"""

GRID = (5, 5)
TESTED = 1000
CONTEXT = [
    *((degree, noise, 100, 10) for noise in (0.0, 0.5) for degree in (1, 2, 4, 6)),
    *((degree, 0.5, 1000, 3) for degree in (1, 2, 4, 6)),
]
"""Degree, noise, number of examples, and number of seeds."""
CS = (1.0, 10.0, 100.0, 1000.0)
EPOCHS = 20


@frozen(eq=False)
class Task:
    """Training and test data of a seed."""

    X: Matrix
    costs: Matrix
    X_test: Matrix
    costs_test: Matrix

    @classmethod
    def of(cls, n: int, degree: int, noise: float, seed: int) -> "Task":
        """Make data by the formula of PyEPO's ``genData``."""
        rng = np.random.RandomState(seed)
        edges = DirectedPath.grid(*GRID).size
        B = rng.binomial(1, 0.5, (edges, 5))
        X = rng.normal(0, 1, (n + TESTED, 5))
        costs = ((X @ B.T / np.sqrt(5) + 3) ** degree + 1) / 3.5**degree
        costs *= rng.uniform(1 - noise, 1 + noise, costs.shape)
        return cls(X[:n], costs[:n], X[n:], costs[n:])


class PythonPaths(FeasibleSet):
    """The same paths, by a dynamic programme in Python, which counts its calls."""

    def __init__(self) -> None:
        self.grid = DirectedPath.grid(*GRID)
        self.calls = 0

    @property
    def size(self) -> int:
        return self.grid.size

    def maximize(self, scores: Vector) -> Vector:
        self.calls += 1
        best: list[tuple[float, int]] = [(0.0, -1)] + [(-np.inf, -1)] * (self.grid.nodes - 1)
        values = scores.tolist()
        for part, (tail, head) in enumerate(self.grid.edges):
            best[head] = max(best[head], (best[tail][0] + values[part], part))
        path, node = np.zeros(self.size), self.grid.nodes - 1
        while node:
            part = best[node][1]
            path[part], node = 1.0, self.grid.edges[part][0]
        return path


Outcome = tuple[Matrix, Vector, float, float]
"""Weights of the costs, shape (40, 5), their constants, CPU seconds, and calls for each example."""


def _ours(feasible: Callable[[], FeasibleSet], task: Task) -> Outcome:
    used = feasible()
    model = StructuralSVM(Regret(used), C=1000.0, fit_intercept=True)
    began = process_time()
    model.fit(task.X, task.costs)
    seconds = process_time() - began
    calls = used.calls / len(task.X) if isinstance(used, PythonPaths) else model.result_.history[-1].passes + 1
    return *_split(model.coef_), seconds, calls


def _chosen(task: Task) -> Outcome:
    search = StructuralSVMCV(StructuralSVM(Regret(DirectedPath.grid(*GRID)), fit_intercept=True), Cs=CS, cv=5)
    began = process_time()
    search.fit(task.X, task.costs)
    return *_split(search.estimator_.coef_), process_time() - began, np.nan


def _split(w: Vector) -> tuple[Matrix, Vector]:
    W = w.reshape(-1, 6)
    return W[:, :-1], W[:, -1]


def _least_squares(task: Task) -> Outcome:
    began = process_time()
    model = LinearRegression().fit(task.X, task.costs)
    return model.coef_, model.intercept_, process_time() - began, 0.0


def _pyepo(name: str, task: Task) -> Outcome:
    """Train a linear layer by a loss of PyEPO."""
    import pyepo
    import torch
    from pyepo.data.dataset import optDataset
    from pyepo.model.ort.shortestpath import shortestPathModel

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = shortestPathModel(GRID)
    calls, solve = [0], model.solve

    def counted() -> Any:
        calls[0] += 1
        return solve()

    model.solve = counted
    data = optDataset(model, task.X.astype(np.float32), task.costs.astype(np.float32))
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    layer = torch.nn.Linear(task.X.shape[1], task.costs.shape[1])
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.01)
    losses: dict[str, Callable[[], Any]] = {
        "SPO+": lambda: pyepo.func.SPOPlus(model, processes=1),
        "PFYL": lambda: pyepo.func.perturbedFenchelYoung(model, n_samples=3, sigma=1.0, processes=1),
        "AI-MLE": lambda: pyepo.func.adaptiveImplicitMLE(model, n_samples=3, sigma=1.0, processes=1),
        "NCE": lambda: pyepo.func.contrastiveMAP(model, processes=1, solve_ratio=0.05, dataset=data),
    }
    loss = losses[name]()
    began = process_time()
    for _ in range(EPOCHS):
        for x, c, w, z in loader:
            guess = layer(x)
            if name == "SPO+":
                value = loss(guess, c, w, z)
            elif name == "AI-MLE":
                value = ((loss(guess) - w) ** 2).mean()
            else:
                value = loss(guess, w)
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
    seconds = process_time() - began
    weights = layer.weight.detach().numpy().astype(float), layer.bias.detach().numpy().astype(float)
    return *weights, seconds, calls[0] / len(task.X)


def systems() -> dict[str, Callable[[Task], Outcome]]:
    """Return the systems by name; PyEPO's only if it is installed."""
    ours: dict[str, Callable[[Task], Outcome]] = {
        "Regret, DirectedPath": lambda task: _ours(lambda: DirectedPath.grid(*GRID), task),
        "Regret, a function in Python": lambda task: _ours(PythonPaths, task),
        "Regret, C by validation": _chosen,
        "least squares": _least_squares,
    }
    if find_spec("pyepo"):
        for name in ("SPO+", "PFYL", "AI-MLE", "NCE"):
            ours[f"PyEPO, {name}"] = lambda task, name=name: _pyepo(name, task)
    return ours


def run(size: Size) -> Iterator[Row]:
    for degree, noise, n, most in CONTEXT:
        seeds = max(1, round(most * size.scale))
        what = f"degree {degree}, noise {noise:g}, {n} examples"
        tasks = [Task.of(n, degree, noise, seed) for seed in range(seeds)]
        for who, system in systems().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                system(Task.of(20, degree, noise, 0))  # compiles
                outcomes = [system(task) for task in tasks]
            pairs = list(zip(tasks, outcomes, strict=True))
            regrets = [_regret(task, outcome) for task, outcome in pairs]
            values = {
                "regret": float(np.mean(regrets)),
                "regret_error": float(np.std(regrets, ddof=min(1, seeds - 1)) / np.sqrt(seeds)),
                "spo_plus": float(np.mean([_hinge(task, outcome) for task, outcome in pairs])),
                "cpu": float(np.median([outcome[2] for outcome in outcomes])),
                "solved": float(np.mean([outcome[3] for outcome in outcomes])),
            }
            yield Row(what=what, who=who, repeats=seeds, values={k: v for k, v in values.items() if np.isfinite(v)})


def _decisions(costs: Matrix) -> Matrix:
    grid = DirectedPath.grid(*GRID)
    return np.array([grid.maximize(-one) for one in costs])


def _regret(task: Task, outcome: Outcome) -> float:
    W, b, *_ = outcome
    return Regret(DirectedPath.grid(*GRID)).relative(task.costs_test, _decisions(task.X_test @ W.T + b))


def _hinge(task: Task, outcome: Outcome) -> float:
    """Return the mean SPO+ on the training examples."""
    W, b, *_ = outcome
    guess, c = task.X @ W.T + b, task.costs
    best, worst = _decisions(c), _decisions(2.0 * guess - c)
    return float(((c - 2.0 * guess) * (worst - best)).sum(axis=1).mean())


def targets(rows: list[Row]) -> Iterator[Target]:
    for degree, noise, n, _ in CONTEXT:
        what = f"degree {degree}, noise {noise:g}, {n} examples"
        by = {row.who: row.values for row in rows if row.what == what}
        pyepo = [values for who, values in by.items() if who.startswith("PyEPO")]
        if not pyepo:
            continue
        ours = by["Regret, C by validation"]
        best = min(pyepo, key=lambda values: values["regret"])
        yield Target(
            f"regret behind PyEPO's best, in its standard errors: {what}",
            1.0,
            (ours["regret"] - best["regret"]) / best["regret_error"],
        )
        yield Target(
            f"time over PyEPO's SPO+, named set: {what}",
            0.1,
            by["Regret, DirectedPath"]["cpu"] / by["PyEPO, SPO+"]["cpu"],
        )
        yield Target(
            f"time over PyEPO's SPO+, function in Python: {what}",
            0.5,
            by["Regret, a function in Python"]["cpu"] / by["PyEPO, SPO+"]["cpu"],
        )
        yield Target(
            f"calls over PyEPO's SPO+: {what}",
            0.5,
            by["Regret, a function in Python"]["solved"] / by["PyEPO, SPO+"]["solved"],
        )
        yield Target(
            f"SPO+ over PyEPO's: {what}", 1.0, by["Regret, DirectedPath"]["spo_plus"] / by["PyEPO, SPO+"]["spo_plus"]
        )
