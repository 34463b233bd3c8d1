"""
Scaling on a cluster: rounds, not time
======================================

On a cluster the network is what costs, and what it costs is counted in rounds: how often all workers are asked and
waited for. One-slack with a line search needs as many on a thousand partitions as on one. This is a simulation in one
process, ``InProcess``, whose counts of calls and bytes are those of a cluster with one partition a worker.
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
# Sixty-four queries on 1, 4, 16 and 64 workers, at two values of C.

train, _ = load_digits_queries(n_train=64, n_candidates=40)


def spread(workers, C):
    mine = [train.qid % workers == k for k in range(workers)]
    parts = [Partition(train.X[rows], train.y[rows], train.qid[rows]) for rows in mine]
    return DistributedProblem.from_queries(InProcess(), parts, loss="map", C=C)


workers, Cs = (1, 4, 16, 64), (10.0, 100.0)
results = {(K, C): OneSlack().solve(spread(K, C)) for K in workers for C in Cs}

# %%
# Rounds depend on C and not on the number of workers; bytes grow in proportion to workers times features, as each
# round sends every worker a vector of weights and receives one of a cut.

figure, (rounds, sent) = plt.subplots(1, 2, figsize=(8.0, 3.4), layout="constrained")
for C, marker, dashes in zip(Cs, "os", ("-", "--"), strict=True):
    last = [results[K, C].history[-1] for K in workers]
    rounds.plot(workers, [step.iteration for step in last], dashes, marker=marker, label=f"C = {C:g}")
    sent.plot(workers, [step.sent / 1e3 / step.iteration for step in last], dashes, marker=marker)
rounds.set(xscale="log", xlabel="workers", ylabel="rounds until converged", ylim=(0.0, None))
sent.set(xscale="log", yscale="log", xlabel="workers", ylabel="kB a round, all workers")
for axes in (rounds, sent):
    axes.set_xticks(workers, labels=map(str, workers))
    axes.minorticks_off()
rounds.legend()

# %%
# The certificate is that of one machine: the gap, call by call, on one worker and on 64. Sums over examples are
# added without rounding, so that the upper bound at given weights does not depend on the partitions at all.

few, many = results[1, 100.0], results[64, 100.0]
ConvergenceDisplay.from_results({"1 worker": few, "64 workers": many}, x="calls")
alone = Problem.from_queries(train.X, train.y, train.qid, loss="map", C=100.0)
point = alone.at(many.w)
print(f"one machine says {alone.primal(alone.planes(point), point)!r}, 64 workers {many.primal!r}")

# %%
# :doc:`/distributed` tells what happens in a round, and :doc:`/scale` what a billion queries would take.
print(np.unique([result.status.value for result in results.values()]))
