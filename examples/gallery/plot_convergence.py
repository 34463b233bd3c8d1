"""
How solvers converge to a proved optimum
========================================

A structural SVM has one optimum, and every solver of this library proves how close its weights are to it. The
*primal* is an upper bound of the optimal value, and the *dual* a lower bound. The engine computes both from the data,
independently of the solver. This page shows the bounds of four solvers on one problem, pass by pass over the data.
"""

import matplotlib.pyplot as plt

from structsvm import Problem
from structsvm.data import load_digits_queries
from structsvm.plots import STYLE, ConvergenceDisplay
from structsvm.solvers import FrankWolfe, NSlack, OneSlack

plt.style.use(STYLE)

# %%
# The problem has forty queries of 100 handwritten digits each. The loss is one minus average precision.

train, _ = load_digits_queries(n_candidates=100)
problem = Problem.from_queries(train.X, train.y, train.qid, loss="map", C=100.0)
results = {
    "one-slack": OneSlack().solve(problem),
    "one-slack, textbook": OneSlack(line_search=False).solve(problem),
    "frank-wolfe": FrankWolfe().solve(problem),
    "n-slack": NSlack().solve(problem),
}

# %%
# Each plot shows the best bounds so far, and all four solvers end at the same value.
#
# The textbook cutting-plane method moves to the minimum of its model, which is a poor choice while the model is
# rough. A line search toward this point finds the true minimum on the line. It needs no extra pass, and saves four
# fifths of the passes. Frank-Wolfe raises the dual query by query. It computes the primal only when convergence seems
# near, because this takes an extra pass.

figure, panels = plt.subplots(2, 2, figsize=(7.0, 5.0), sharey=True, layout="constrained")
for axes, (name, result) in zip(panels.ravel(), results.items(), strict=True):
    ConvergenceDisplay.from_results({"": result}, x="passes", y="bounds", ax=axes)
    axes.set(title=name, ylabel="bounds of the optimum" if axes in panels[:, 0] else "")
    axes.get_legend().remove()
panels[0, 0].legend(["primal", "dual"])

# %%
# The gap between the bounds is the certificate. The gray line is ``tol``, in units of the loss, so it means the same
# for every C: 0.001 is a tenth of a point of mean average precision.

ConvergenceDisplay.from_results(results, x="passes")

for name, result in results.items():
    print(f"{name:20} {result.history[-1].passes:6.1f} passes, optimum in [{result.dual:.3f}, {result.primal:.3f}]")

# %%
# :doc:`/howto/choose_a_solver` helps to choose a solver. :doc:`/solvers` explains how each solver works and its cost.
