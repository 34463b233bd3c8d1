import pytest
from attrs import evolve

from structsvm.foundation.tables.table import as_text
from structsvm.protocols.experiment.report import map_table
from structsvm.protocols.experiment.report.tables import (
    experiment_tables,
    fits_table,
    function_table,
    map_tables,
    path_table,
    query_table,
)
from tests.protocols.experiment.report.conftest import made_up

DATA = """\
Data
Base functions   Features   Queries   Documents   Relevant   Judged relevant
────────────────────────────────────────────────────────────────────────────
             2          6         4          40          8                20
"""

WITH_BEST = """\
MAP of models that read all base functions
Model                       MAP     95% interval   W/L/T      p   Holm   Tied
─────────────────────────────────────────────────────────────────────────────
SVM-map                  0.6250   [0.314, 0.936]       –                  25%
SVM-roc                  0.3750   [0.064, 0.686]   3/0/0   0.25   0.75    25%

Best function: alpha_1   0.5000                -   2/0/1    0.5   0.75    25%
2nd best: beta<2>        0.3750                -   3/0/0   0.25   0.75    25%
"""

WITHOUT_BEST = """\
MAP of models that read all base functions but the best one
Model                       MAP     95% interval   W/L/T      p   Holm   Tied
─────────────────────────────────────────────────────────────────────────────
SVM-map                  0.5000   [0.189, 0.811]       –                  25%
SVM-roc                  0.2500   [0.000, 0.561]   3/0/0   0.25   0.75    25%

Best function: alpha_1   0.5000                -   1/1/1      1      1    25%
2nd best: beta<2>        0.3750                -   2/0/1    0.5      1    25%
"""

JUDGED = """\
MAP of models that read all base functions, with the denominators of trec_eval
Model                       MAP     95% interval   W/L/T      p   Holm   Tied
─────────────────────────────────────────────────────────────────────────────
SVM-map                  0.3542   [0.031, 0.677]       –                  25%
SVM-roc                  0.2014   [0.094, 0.309]   3/0/0   0.25   0.75    25%

Best function: alpha_1   0.3056   [0.000, 0.736]   2/0/1    0.5   0.75    25%
2nd best: beta<2>        0.2292   [0.000, 0.552]   3/0/0   0.25   0.75    25%
"""

DIFFERENCES = """\
MAP of SVM-map minus MAP of each other ranker, models read all base functions
Ranker                   difference         95% interval   W/L/T     p t   p Wilcoxon   p Fisher   Holm
───────────────────────────────────────────────────────────────────────────────────────────────────────
SVM-roc                     +0.2500   [+0.2500, +0.2500]   3/0/0       -         0.25       0.25   0.75

Best function: alpha_1      +0.1250   [-0.1855, +0.4355]   2/0/1    0.23          0.5        0.5   0.75
2nd best: beta<2>           +0.2500   [-0.0605, +0.5605]   3/0/0   0.074         0.25       0.25   0.75

"""

FITS = """\
Training, on all base functions
Model     Features       Tried   Picked   At an end   Seconds       Gap   Largest gap
─────────────────────────────────────────────────────────────────────────────────────
SVM-map          6   0.1 to 10        1      1 of 2      1.00   2.0e-04       3.0e-04
SVM-roc          6   0.1 to 10        1      1 of 2      1.00   2.0e-04       3.0e-04
"""

QUERIES = """\
Average precision of each query, models read all base functions
Query   Documents   Relevant   SVM-map   SVM-roc   alpha_1   beta<2>
────────────────────────────────────────────────────────────────────
q0             10          2     0.500     0.250     0.500     0.375
q1             10          2     0.625     0.375     0.500     0.375
q2             10          2     0.750     0.500     0.500     0.375
q3             10          2                         1.000     0.875
"""

FUNCTIONS = """\
Base functions, over the pool
Base function      MAP   Retrieved   Tied
─────────────────────────────────────────
alpha_1         0.6250         50%    25%
beta<2>         0.5000         50%    25%
"""

PATH = """\
MAP against the hyper-parameter, models read all base functions
Model     Value   Validation     Test   Times picked
────────────────────────────────────────────────────
SVM-map     0.1       0.2000   0.1000              0
SVM-map       1       0.3000   0.4000              1
SVM-map      10       0.3000   0.2000              1
"""


def test_the_tables_show_the_results(results):
    tables = experiment_tables(results)
    for table, expected in zip(tables, [DATA, WITH_BEST, WITHOUT_BEST, JUDGED], strict=False):
        assert as_text(table).startswith(expected)
    assert as_text(tables[5]).startswith(DIFFERENCES)
    assert as_text(tables[-2]).startswith(FITS)
    assert as_text(query_table(results, "with-best")) == QUERIES
    assert as_text(function_table(results)).startswith(FUNCTIONS)
    assert as_text(path_table(results, "with-best")).startswith(PATH)
    assert len(tables) == 1 + 4 + 2 + 2


def test_each_table_names_its_denominators(results):
    pool, judged = (" ".join(map_table(results, "with-best", name).notes) for name in ("pool", "judged"))
    assert "relevant documents in the pool" in pool
    assert "trec_eval" not in pool
    assert "all documents judged relevant, in the pool or not, as in trec_eval" in judged


def test_one_table_names_the_test_of_significance(results):
    notes = [" ".join(table.notes) for table in map_tables(results)]
    assert ["two-tailed Wilcoxon signed rank test" in note for note in notes] == [True, False, False, False]


def test_one_model_and_one_base_function():
    table = map_table(made_up(variants=("with-best",), names=("SVM-map",), functions=("bm25",)), "with-best")
    assert [row[0] for section in table.cells for row in section] == ["SVM-map", "Best function: bm25"]


def test_a_model_without_a_certificate(results):
    for trial in results.trials:
        trial.fits["with-best"]["SVM-roc"] = evolve(trial.fits["with-best"]["SVM-roc"], gaps=(None,) * 3)
    assert [row[-2:] for row in fits_table(results, "with-best").cells[0]] == [["2.0e-04", "3.0e-04"], ["none", "none"]]


@pytest.mark.parametrize(
    ("validation", "chosen", "values", "ends"),
    [
        ((0.3, 0.2, 0.1), 0, (1.0, 2.0, 3.0), 2),
        ((0.3, 0.3, 0.1), 0, (1.0, 2.0, 3.0), 0),
        ((0.1, 0.2, 0.3), 2, (1.0, 2.0, 3.0), 2),
        ((0.1, 0.2, 0.3), 2, ("a", "b", "c"), 0),
        ((0.3,), 0, (1.0,), 0),
    ],
)
def test_an_end_is_picked_where_a_further_value_may_do_better(results, validation, chosen, values, ends):
    for trial in results.trials:
        fit = trial.fits["with-best"]["SVM-roc"]
        trial.fits["with-best"]["SVM-roc"] = evolve(
            fit,
            validation=validation,
            chosen=chosen,
            values=values,
            test=validation,
            seconds=validation,
            gaps=validation,
        )
    assert fits_table(results, "with-best").records[1]["at_an_end"] == ends
