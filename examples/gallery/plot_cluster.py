"""
Scaling on a cluster: a constant number of rounds
=================================================

Communication dominates the cost of training on a cluster. It is counted in *rounds*: in each round, all workers
receive a request and the solver waits for all answers. The 1-slack solver with a line search needs about as many
rounds on many partitions as on one. This page simulates the workers in one process (``InProcess``), which counts
calls and bytes as on a cluster with one partition per worker.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import Problem
from structsvm.data import load_digits_queries
from structsvm.distributed import DistributedProblem, InProcess, Partition
from structsvm.plots import STYLE, ConvergenceDisplay
from structsvm.solvers import OneSlack

plt.style.use(STYLE)

# %%
# Spread sixty-four queries over 1, 4, 16 and 64 workers, and train at two values of C.

train, _ = load_digits_queries(n_train=64, n_candidates=40)


def spread(workers, C):
    mine = [train.qid % workers == k for k in range(workers)]
    parts = [Partition(train.X[rows], train.y[rows], train.qid[rows]) for rows in mine]
    return DistributedProblem.from_queries(InProcess(), parts, loss="map", C=C)


workers, Cs = (1, 4, 16, 64), (10.0, 100.0)
results = {(K, C): OneSlack().solve(spread(K, C)) for K in workers for C in Cs}

# %%
# The number of rounds depends on C, not on the number of workers (left). The bytes per round grow in proportion to
# the number of workers (right), and are the same for both values of C: each worker receives a vector of weights and
# returns a vector of the same length.

figure, (rounds, sent) = plt.subplots(1, 2, figsize=(8.0, 3.4), layout="constrained")
for C, marker, dashes, width in zip(Cs, "os", ("-", "--"), (2.6, 1.2), strict=True):
    last = [results[K, C].history[-1] for K in workers]
    style = {"linestyle": dashes, "linewidth": width, "marker": marker, "label": f"C = {C:g}"}
    rounds.plot(workers, [step.iteration for step in last], **style)
    sent.plot(workers, [step.sent / 1e3 / step.iteration for step in last], **style)
rounds.set(xscale="log", xlabel="workers", ylabel="rounds until converged", ylim=(0.0, None))
sent.set(xscale="log", yscale="log", xlabel="workers", ylabel="kB per round, all workers", ylim=(1, 100))
sent.set_yticks([1, 10, 100], labels=["1", "10", "100"])
for axes in (rounds, sent):
    axes.set_xticks(workers, labels=map(str, workers))
    axes.minorticks_off()
    axes.legend()

# %%
# The certificate is the same as on one machine. The plot shows the gap, call by call, with one worker and with 64: the
# two lines coincide. Sums over examples are exact, so the upper bound at given weights does not depend on the
# partitions.

few, many = results[1, 100.0], results[64, 100.0]
ConvergenceDisplay.from_results({"1 worker": few, "64 workers": many}, x="calls")
alone = Problem.from_queries(train.X, train.y, train.qid, loss="map", C=100.0)
point = alone.at(many.w)
print(f"one machine says {alone.primal(alone.planes(point), point)!r}, 64 workers {many.primal!r}")

print(np.unique([result.status.value for result in results.values()]))

# %%
# :doc:`/howto/use_a_cluster` shows how to train on a cluster, and describes the steps of a round.
