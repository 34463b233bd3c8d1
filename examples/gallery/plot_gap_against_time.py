"""
Gap against time, as C grows
============================

Passes are what a solver asks of the data, and time is what a user waits. The larger C, the less the regulariser
smooths, and the more cuts an optimum needs. ``structsvm.comparison`` runs solvers on one problem, one after the other
and with a clock that stops while it measures; ``structsvm compare --plot`` does so from the command line.
"""

import matplotlib.pyplot as plt

from structsvm import Problem
from structsvm.comparison import compare, gap_against_time
from structsvm.data import load_digits_queries
from structsvm.plots import STYLE

plt.style.use(STYLE)

train, _ = load_digits_queries(n_candidates=100)
problem = Problem.from_queries(train.X, train.y, train.qid, loss="map")
table = compare(problem, ["one-slack", "frank-wolfe"], "active-set", [1.0, 100.0, 10_000.0], time_limit=5.0)

# %%
# Each line is a run, each dot an iteration; the gap is certified, in units of the loss. A step down is a better bound
# on either side. Where C is small a few iterations do; where it is large, the optimum has many binding constraints, and
# every solver needs a description of it that is finer.

seen = gap_against_time(table)

# %%
# ``gap_against_time`` returns a figure that belongs to no window, for files. Here the same rows are drawn for the page.

from structsvm.plots import ConvergenceDisplay

figure, panels = plt.subplots(1, 3, figsize=(8.0, 3.0), sharey=True, layout="constrained")
for axes, C in zip(panels, (1.0, 100.0, 10_000.0), strict=True):
    curves = {row.solver: tuple(zip(*row.curve, strict=True)) for row in table if row.C == C}
    ConvergenceDisplay(curves, tol=1e-3).plot(axes)
    axes.set(title=f"C = {C:g}", ylabel="certified gap / C" if C == 1.0 else "")

for row in table:
    print(f"C = {row.C:<7g} {row.solver:12} {row.status}, {row.iterations} iterations")

# %%
# :doc:`/comparing` reads the table, and :doc:`/benchmarks` has larger ones.
