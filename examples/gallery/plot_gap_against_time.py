"""
How long a fit takes as C grows
===============================

The larger C is, the less the regularizer smooths the problem, and the longer a solver takes.
``structsvm.solvers.comparison`` runs solvers on one problem, one after the other; its clock stops while it measures.
On the command line, ``structsvm compare --plot`` does the same with your data.
"""

import matplotlib.pyplot as plt

from structsvm import Problem
from structsvm.data import load_digits_queries
from structsvm.plots import STYLE, ConvergenceDisplay
from structsvm.solvers.comparison import compare

plt.style.use(STYLE)

train, _ = load_digits_queries(n_candidates=100)
problem = Problem.from_queries(train.X, train.y, train.qid, loss="map")
table = compare(problem, ["one-slack", "frank-wolfe"], "active-set", [1.0, 100.0, 10_000.0], time_limit=5.0)

# %%
# Each line is a run and each dot an iteration. The gap to the optimum is certified, in units of the loss. At a small
# C a few iterations are enough. At a large C many constraints are active at the optimum, and every solver has to find
# them.

figure, panels = plt.subplots(1, 3, figsize=(8.0, 3.0), sharey=True, layout="constrained")
for axes, C in zip(panels, (1.0, 100.0, 10_000.0), strict=True):
    curves = {row.solver: tuple(zip(*row.curve, strict=True)) for row in table if row.C == C}
    ConvergenceDisplay(curves, tol=1e-3).plot(axes)
    axes.set(title=f"C = {C:g}", ylabel="certified gap / C" if C == 1.0 else "")

for row in table:
    print(f"C = {row.C:<7g} {row.solver:12} {row.status}, {row.iterations} iterations")

# %%
# To save this figure to a file, call ``structsvm.plots.gap_against_time(table)``. :doc:`/comparing`
# explains the table, and :doc:`/benchmarks` has larger tables, which include other programs.
