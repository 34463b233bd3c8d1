"""
Which model is better: a small report
=====================================

``structsvm experiment`` compares models on your own runs. In each of several trials, models learn from training
queries how to combine the runs, validation queries choose C, and the remaining queries test. The command writes an
HTML report with all tables and plots. This page runs a small experiment and draws plots of its results one by one.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np

from structsvm.data import load_digits_runs, pool_runs
from structsvm.plots import (
    STYLE,
    FusionWeightsDisplay,
    MeansDisplay,
    QueryDifferencesDisplay,
    RegularizationPathDisplay,
)
from structsvm.protocols import RankingSVM, Scores
from structsvm.protocols.experiment import Settings, run

plt.style.use(STYLE)

# %%
# The runs are fifteen ways to compare digits. Three trials compare two models: SVM-map and an SVM for the ROC area.

pool = pool_runs(*load_digits_runs(n_queries=30, n_candidates=120, depth=40))
models = tuple(
    RankingSVM(name=f"SVM-{loss}", features=Scores(), loss=loss, Cs=(0.01, 0.1, 1.0, 10.0, 100.0))
    for loss in ("map", "roc_area")
)
with tempfile.TemporaryDirectory() as folder:
    results = run(pool, Settings(trials=3, train=10, validation=5, models=models), folder, n_jobs=1)

# %%
# Left: MAP of the two models and of the three best runs, with 95% intervals over queries. Right: mean differences of
# the first model from the other models. Their intervals are narrower, because all rankers meet the same easy and hard
# queries.

rows = results.rows("with-best")
values = {row.name: row.values for row in rows}
first = rows[0].name
figure, (means, minus) = plt.subplots(1, 2, figsize=(8.0, 2.8), layout="constrained")
MeansDisplay(values, measure="MAP over the pool").plot(means)
differences = {name: values[first] - of_row for name, of_row in values.items() if name != first}
MeansDisplay(differences, measure=f"MAP of {first} minus MAP").plot(minus)

# %%
# The weights of the runs in each model, as mean over trials with the middle half.

figure, axes = plt.subplots(figsize=(5.0, 4.4), layout="constrained")
learned = {model: results.weights("with-best", model) for model in results.models}
FusionWeightsDisplay(learned, results.functions_read("with-best")).plot(axes)

# %%
# Left: SVM-map compared with the best run, query by query, with wins and losses. Right: MAP along the path of C, with
# the values that validation chose.

figure, (differences, path) = plt.subplots(1, 2, figsize=(8.0, 3.4), layout="constrained")
best = next(row for row in rows if row.place == 1)
QueryDifferencesDisplay(rows[0].values, best.values, names=(rows[0].name, best.name)).plot(differences)
fits = results.fits("with-best", results.models[0])
RegularizationPathDisplay(
    fits[0].values,
    [fit.validation for fit in fits],
    test=[fit.test for fit in fits],
    picks=np.bincount([fit.chosen for fit in fits], minlength=len(fits[0].values)),
).plot(path)
differences.set_title(f"{rows[0].name} less {best.name}", loc="left")
path.set_title(f"{results.models[0]}, {len(fits)} trials", loc="left")

# %%
# :doc:`/experiment` shows the report that ``structsvm experiment`` writes. :doc:`/measures` explains the significance
# tests in its tables.
