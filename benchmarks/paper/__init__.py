"""Yue, Finley, Radlinski and Joachims, "A Support Vector Method for Optimizing Average Precision" (SIGIR 2007), again.

``python -m benchmarks.paper --data FOLDER`` runs the experiments and writes docs/experiment/yue2007.md: every table and
figure of the paper beside the results of structsvm.
"""
