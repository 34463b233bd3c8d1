"""
How solvers converge
====================

A structural SVM has one optimum, and every solver of the library proves how near to it the weights are: the *primal*
is an upper bound of it, the *dual* a lower one, and both are computed from the data, whatever the solver was told by
its QP. Here are the bounds of three solvers on one problem, pass by pass over the data.
"""

import matplotlib.pyplot as plt

from structsvm import Problem
from structsvm.data import load_digits_queries
from structsvm.plots import STYLE, ConvergenceDisplay
from structsvm.solvers import FrankWolfe, NSlack, OneSlack

plt.style.use(STYLE)

# %%
# Forty queries of 100 handwritten digits each; the loss is one minus average precision.

train, _ = load_digits_queries(n_candidates=100)
problem = Problem.from_queries(train.X, train.y, train.qid, loss="map", C=100.0)
results = {
    "one-slack": OneSlack().solve(problem),
    "one-slack, textbook": OneSlack(line_search=False).solve(problem),
    "frank-wolfe": FrankWolfe().solve(problem),
    "n-slack": NSlack().solve(problem),
}

# %%
# Each bound is the best so far. A cutting-plane solver by the textbook goes to the minimum of its model, which is a
# poor place while the model is: it needs five times the passes of one that looks along the line to it for the true
# minimum, for which no pass is needed. Frank-Wolfe raises the dual query by query, and works out the primal, which
# takes a pass of its own, only when it may be near. All four end at the same number.

figure, panels = plt.subplots(2, 2, figsize=(7.0, 5.0), sharey=True, layout="constrained")
for axes, (name, result) in zip(panels.ravel(), results.items(), strict=True):
    ConvergenceDisplay.from_results({"": result}, x="passes", y="bounds", ax=axes)
    axes.set(title=name, ylabel="bounds of the optimum" if axes in panels[:, 0] else "")
    axes.get_legend().remove()
panels[0, 0].legend(["primal", "dual"])

# %%
# The gap between the bounds is what they certify. ``tol`` asks for one in units of the loss, so that it means the same
# for every C: the grey line is 0.001, a tenth of a point of mean average precision.

ConvergenceDisplay.from_results(results, x="passes")

# %%
# :doc:`/solvers` says what each costs, :doc:`/howto/choose_a_solver` which to take.

for name, result in results.items():
    print(f"{name:20} {result.history[-1].passes:6.1f} passes, optimum in [{result.dual:.3f}, {result.primal:.3f}]")
