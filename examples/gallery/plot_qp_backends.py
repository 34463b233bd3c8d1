"""
QP backends compared
====================

A cutting-plane solver passes a small quadratic program (QP) to a backend after every cut. Any backend works with any
solver. The engine makes the backend's solution feasible and computes both bounds itself. So an inaccurate backend
costs time, but never leads to a wrong certificate.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import Problem
from structsvm.data import load_digits_queries
from structsvm.plots import COLORS, STYLE, ConvergenceDisplay
from structsvm.solvers.comparison import compare

plt.style.use(STYLE)

train, _ = load_digits_queries(n_candidates=50)
problem = Problem.from_queries(train.X, train.y, train.qid, loss="map")
backends = ["active-set", "osqp", "highs"]
table = compare(problem, "one-slack", backends, 1000.0, time_limit=5.0)

# %%
# The built-in active-set method starts from the last solution and its factors. OSQP and HiGHS are general solvers,
# which solve each program from scratch. OSQP is a first-order method and needs many iterations for the last digits.
# All of them certify the same optimum, with nearly equal gaps at each iteration. Only the time between two dots
# differs.

figure, (gaps, seconds) = plt.subplots(1, 2, figsize=(8.0, 3.2), layout="constrained")
curves = {row.backend: tuple(zip(*row.curve, strict=True)) for row in table if row.history}
ConvergenceDisplay(curves, tol=1e-3).plot(gaps)
rows = [row for row in table if row.history]
places = np.arange(len(rows))
seconds.barh(places, [row.solver_seconds for row in rows], color=COLORS[1], label="in QPs")
oracle = [row.oracle_seconds for row in rows]
seconds.barh(places, oracle, left=[row.solver_seconds for row in rows], color=COLORS[0], label="in argmaxes")
seconds.set_yticks(places, labels=[row.backend for row in rows])
seconds.invert_yaxis()
seconds.set(xlabel="seconds", title="Time by part")
seconds.legend()

for row in table:
    print(f"{row.backend:10} {row.status}: {row.qps} QPs, {row.handovers} handed over, primal {row.primal:.4f}")

# %%
# If a backend misses the required accuracy, the built-in backend takes over, and the result counts how often.
# :doc:`/howto/write_a_qp_backend` shows how to add a backend, and :doc:`/comparing` how to compare backends on your
# data.
