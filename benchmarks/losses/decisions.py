"""Decisions by predicted costs: SPO+ to a proved optimum, beside PyEPO's losses."""

import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from time import process_time
from typing import Any

import numpy as np
from attrs import frozen
from scipy.optimize import linear_sum_assignment
from sklearn.linear_model import LinearRegression

from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target
from structsvm import StructuralSVM, StructuralSVMCV
from structsvm.foundation.types import Matrix, Vector
from structsvm.inference.sets import Assignment, DirectedPath, FeasibleSet, Program
from structsvm.losses import Regret

TITLE = "Predict, then optimize"
ABOUT = """
Shortest paths through a 5 x 5 grid, with the data of PyEPO's tutorial: five features, costs that are a polynomial of
them of degree 1 to 6, times uniform noise. Then a knapsack with capacities of three kinds, with the data of PyEPO's
``data.knapsack.genData`` but not rounded, so that the best choice is unique; and an assignment of six rows to six
columns, with costs as for paths. "regret" is the regret of 1,000 test decisions as a share of the best costs, with its
standard error over seeds; "SPO+" is the mean hinge on the training examples; "calls" are the maximizations for each
training example, including the best decision and the checks of the result. C = 1000 in the first two rows; with "C by
validation", `StructuralSVMCV` chooses among four values by five folds, and its seconds include that. The functions in
Python are a dynamic programme for paths, a list of all choices for the knapsack, and SciPy's
``linear_sum_assignment``. PyEPO trains a linear layer by Adam for 20 epochs, with batches of 32 and a learning rate of
.01 (.1 for the knapsack, whose profits are larger; of .01, .03, .1, .3 and 1 it gave SPO+ the least regret on two
seeds), and solves programs by OR-tools. One thread.
"""

GRID = (5, 5)
CAPACITIES = (20.0, 20.0, 20.0)
SIDE = 6
TESTED = 1000
CONTEXT = [
    *((degree, noise, 100, 10) for noise in (0.0, 0.5) for degree in (1, 2, 4, 6)),
    *((degree, 0.5, 1000, 3) for degree in (1, 2, 4, 6)),
]
"""Degree, noise, number of examples, and number of seeds, for paths."""
OTHERS = 4, 0.5, 100, 3
"""The same for the knapsack and the assignment."""
CS = (1.0, 10.0, 100.0, 1000.0)
EPOCHS = 20
FUNCTION = "Regret, a function in Python"


class PythonSet(FeasibleSet):
    """A set with a maximizer in Python, which counts its calls."""

    def __init__(self, size: int, best: Callable[[Vector], Vector]) -> None:
        self.parts, self.best, self.calls = size, best, 0

    @property
    def size(self) -> int:
        return self.parts

    def maximize(self, scores: Vector) -> Vector:
        self.calls += 1
        return self.best(scores)


@frozen
class Kind:
    """A kind of decisions: costs of parts, a feasible set in three forms, and its name in PyEPO.

    ``named`` is declared with a set of this package, ``python`` is the same set in Python, and ``judge`` is the faster
    of both, for test decisions.
    """

    name: str
    named: FeasibleSet
    best: Callable[[Vector], Vector]
    pyepo: Callable[[], Any]
    judge: FeasibleSet
    maximize: bool = False
    rate: float = 0.01
    """Learning rate of PyEPO's models."""

    @property
    def loss(self) -> Regret:
        return Regret(self.judge, maximize=self.maximize)

    def python(self) -> PythonSet:
        """Return the set in Python, with a new count."""
        return PythonSet(self.named.size, self.best)

    def cheapest(self, costs: Matrix) -> Matrix:
        """Return the best decision for each row of costs; profits are negative costs."""
        return np.array([self.judge.maximize(-one) for one in costs])


@frozen(eq=False)
class Task:
    """Training and test data of a seed."""

    kind: Kind
    X: Matrix
    costs: Matrix
    X_test: Matrix
    costs_test: Matrix

    @classmethod
    def of(cls, kind: Kind, n: int, degree: int, noise: float, seed: int) -> "Task":
        """Make data by the formulas of PyEPO's ``genData``."""
        rng = np.random.RandomState(seed)
        B = rng.binomial(1, 0.5, (kind.named.size, 5))
        X = rng.normal(0, 1, (n + TESTED, 5))
        costs = ((X @ B.T / np.sqrt(5) + 3) ** degree + 1) / 3.5**degree
        costs *= rng.uniform(1 - noise, 1 + noise, costs.shape)
        if kind.maximize:
            costs *= 5.0
        return cls(kind, X[:n], costs[:n], X[n:], costs[n:])


def paths() -> Kind:
    """Return shortest paths through a grid."""
    grid = DirectedPath.grid(*GRID)

    def best_path(scores: Vector) -> Vector:
        best: list[tuple[float, int]] = [(0.0, -1)] + [(-np.inf, -1)] * (grid.nodes - 1)
        values = scores.tolist()
        for part, (tail, head) in enumerate(grid.edges):
            best[head] = max(best[head], (best[tail][0] + values[part], part))
        path, node = np.zeros(grid.size), grid.nodes - 1
        while node:
            part = best[node][1]
            path[part], node = 1.0, grid.edges[part][0]
        return path

    def pyepo_model() -> Any:
        from pyepo.model.ort.shortestpath import shortestPathModel

        return shortestPathModel(GRID)

    return Kind("", grid, best_path, pyepo_model, grid)


def knapsack() -> Kind:
    """Return choices of ten items within three capacities."""
    weights = np.random.RandomState(135).choice(range(300, 800), size=(len(CAPACITIES), 10)) / 100
    program = Program((weights, np.array(CAPACITIES)))
    choices = np.array(list(program.outputs()))

    def best_choice(scores: Vector) -> Vector:
        choice: Vector = choices[np.argmax(choices @ scores)]
        return choice

    def pyepo_model() -> Any:
        from pyepo.model.ort.knapsack import knapsackModel

        return knapsackModel(weights, CAPACITIES)

    return Kind("knapsack, ", program, best_choice, pyepo_model, PythonSet(10, best_choice), maximize=True, rate=0.1)


def assignment() -> Kind:
    """Return assignments of rows to columns."""
    named = Assignment(SIDE, SIDE)

    def best_assignment(scores: Vector) -> Vector:
        output = np.zeros((SIDE, SIDE))
        output[linear_sum_assignment(scores.reshape(SIDE, SIDE), maximize=True)] = 1.0
        return output.ravel()

    def pyepo_model() -> Any:
        from ortools.linear_solver import pywraplp
        from pyepo.model.ort.ortmodel import optOrtModel

        class AssignmentModel(optOrtModel):  # type: ignore[misc]
            def _getModel(self) -> Any:
                solver = pywraplp.Solver.CreateSolver("GLOP")
                x = {k: solver.NumVar(0, 1, f"x_{k}") for k in range(SIDE * SIDE)}
                for i in range(SIDE):
                    solver.Add(sum(x[SIDE * i + j] for j in range(SIDE)) == 1)
                    solver.Add(sum(x[SIDE * j + i] for j in range(SIDE)) == 1)
                return solver, x

        return AssignmentModel("glop")

    return Kind("assignment, ", named, best_assignment, pyepo_model, named)


Outcome = tuple[Matrix, Vector, float, float]
"""Weights of the costs, shape (40, 5), their constants, CPU seconds, and calls for each example."""


CHECKS = 4
"""Maximizations for each example that the history does not count: the best decision, fingerprint, and two checks."""


def _ours(feasible: FeasibleSet, task: Task) -> Outcome:
    model = StructuralSVM(Regret(feasible, maximize=task.kind.maximize), C=1000.0, fit_intercept=True)
    began = process_time()
    model.fit(task.X, task.costs)
    seconds = process_time() - began
    return *_split(model.coef_), seconds, model.result_.history[-1].argmaxes + CHECKS


def _chosen(task: Task) -> Outcome:
    search = StructuralSVMCV(StructuralSVM(task.kind.loss, fit_intercept=True), Cs=CS, cv=5)
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

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = task.kind.pyepo()
    calls, solve = [0], model.solve

    def counted() -> Any:
        calls[0] += 1
        return solve()

    model.solve = counted
    data = optDataset(model, task.X.astype(np.float32), task.costs.astype(np.float32))
    loader = torch.utils.data.DataLoader(data, batch_size=32, shuffle=True)
    layer = torch.nn.Linear(task.X.shape[1], task.costs.shape[1])
    optimizer = torch.optim.Adam(layer.parameters(), lr=task.kind.rate)
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


def systems(kind: Kind) -> dict[str, Callable[[Task], Outcome]]:
    """Return the systems by name; PyEPO's only if it is installed."""
    ours: dict[str, Callable[[Task], Outcome]] = {
        f"Regret, {type(kind.named).__name__}": lambda task: _ours(kind.named, task),
        FUNCTION: lambda task: _ours(kind.python(), task),
        "Regret, C by validation": _chosen,
        "least squares": _least_squares,
    }
    if find_spec("pyepo"):
        for name in ("SPO+", "PFYL", "AI-MLE", "NCE"):
            ours[f"PyEPO, {name}"] = lambda task, name=name: _pyepo(name, task)
    return ours


def run(size: Size) -> Iterator[Row]:
    yield from _rows(paths(), CONTEXT, size)
    for kind in (knapsack(), assignment()):
        yield from _rows(kind, [OTHERS], size)


def _rows(kind: Kind, context: list[tuple[int, float, int, int]], size: Size) -> Iterator[Row]:
    for degree, noise, n, most in context:
        seeds = max(1, round(most * size.scale))
        tasks = [Task.of(kind, n, degree, noise, seed) for seed in range(seeds)]
        for who, system in systems(kind).items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                system(Task.of(kind, 20, degree, noise, 0))  # compiles
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
            numbers = {name: value for name, value in values.items() if np.isfinite(value)}
            yield Row(what=_what(kind, degree, noise, n), who=who, repeats=seeds, values=numbers)


def _what(kind: Kind, degree: int, noise: float, n: int) -> str:
    return f"{kind.name}degree {degree}, noise {noise:g}, {n} examples"


def _regret(task: Task, outcome: Outcome) -> float:
    W, b, *_ = outcome
    sign = -1.0 if task.kind.maximize else 1.0
    decisions = task.kind.cheapest(sign * (task.X_test @ W.T + b))
    return task.kind.loss.relative(task.costs_test, decisions)


def _hinge(task: Task, outcome: Outcome) -> float:
    """Return the mean SPO+ on the training examples."""
    W, b, *_ = outcome
    sign = -1.0 if task.kind.maximize else 1.0
    guess, c = sign * (task.X @ W.T + b), sign * task.costs
    best, worst = task.kind.cheapest(c), task.kind.cheapest(2.0 * guess - c)
    return float(((c - 2.0 * guess) * (worst - best)).sum(axis=1).mean())


def targets(rows: list[Row]) -> Iterator[Target]:
    settings = [(paths(), one) for one in CONTEXT] + [(kind, OTHERS) for kind in (knapsack(), assignment())]
    for kind, (degree, noise, n, _) in settings:
        what, named = _what(kind, degree, noise, n), f"Regret, {type(kind.named).__name__}"
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
            by[named]["cpu"] / by["PyEPO, SPO+"]["cpu"],
        )
        yield Target(
            f"time over PyEPO's SPO+, function in Python: {what}",
            0.5,
            by[FUNCTION]["cpu"] / by["PyEPO, SPO+"]["cpu"],
        )
        yield Target(
            f"calls over PyEPO's SPO+: {what}",
            0.5,
            by[FUNCTION]["solved"] / by["PyEPO, SPO+"]["solved"],
        )
        yield Target(f"SPO+ over PyEPO's: {what}", 1.0, by[named]["spo_plus"] / by["PyEPO, SPO+"]["spo_plus"])
