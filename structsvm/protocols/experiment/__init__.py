"""The experiment of Yue, Finley, Radlinski and Joachims (SIGIR 2007, sections 4 and 5) on any runs.

``run(pool_runs(runs, qrels), Settings(), out)`` trains the models of the paper on the scores of base functions in 50
trials, and returns `structsvm.protocols.Results`. `structsvm.protocols.experiment.report` writes tables and a report.
"""

from structsvm.protocols.experiment.plan import Settings, run

__all__ = ["Settings", "run"]
