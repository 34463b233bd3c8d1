from contextlib import contextmanager

import numpy as np
import pytest

from structsvm.foundation.storage.records import Header
from structsvm.protocols import Results
from structsvm.protocols.results import BaseFunction, ModelFit, Query, Trial

QUERIES = 4
NAMES = ("SVM-map", "SVM-roc")


def ranked(*ap):
    """Average precision, with a quarter of the documents tied."""
    return {
        "measures": {"map": float(np.mean(ap))},
        "queries": {"map": ap, "tied": (0.25,) * len(ap)},
    }


def recorded(monkeypatch, plots):
    """Figures by name, as the module ``plots`` draws them from now on."""
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed: reports have no plots")
    figures, figure_of = {}, plots.figure_of

    @contextmanager
    def record(name, width, height):
        with figure_of(name, width, height) as (figure, drawn):
            figures[name] = figure
            yield figure, drawn

    monkeypatch.setattr(plots, "figure_of", record)
    return figures


def fit(ap, *, chosen=1, gaps=(1e-4, 3e-4, 2e-4), weights=None):
    return ModelFit(
        values=(0.1, 1.0, 10.0),
        validation=(0.2, 0.3, 0.3),
        test=(0.1, 0.4, 0.2),
        seconds=(0.5, 0.25, 0.25),
        gaps=gaps,
        features=6,
        chosen=chosen,
        **ranked(*ap.tolist()),
        weights=weights,
    )


def made_up(*, variants=("with-best", "without-best"), names=NAMES, functions=("alpha_1", "beta<2>"), linear=NAMES):
    """Return results of two trials, each of which tests two of four queries."""
    trials = []
    for number, test in enumerate([(0, 1), (1, 2)]):
        fits = {
            variant: {
                name: fit(
                    np.array([0.5, 0.75]) - 0.25 * k - 0.125 * v,
                    chosen=1 + number % 2,
                    weights=None
                    if name not in linear
                    else (3.0, 1.0 - 2.0 * number, 4.0 * k)[: len(functions) - (variant == "without-best")],
                )
                for k, name in enumerate(names)
            }
            for v, variant in enumerate(variants)
        }
        trials.append(
            Trial(
                name=str(number),
                train=("q3",),
                validation=(f"q{2 - 2 * number}",),
                test=tuple(f"q{k}" for k in test),
                documents=(10, 10, 20),
                seconds=2.0,
                fits=fits,
            )
        )
    header = Header(
        settings={
            "trials": 2,
            "train": 1,
            "validation": 1,
            "bins": 3,
            "random_state": 7,
            "variants": list(variants),
            "models": {name: f"Model('{name}', <C>)" for name in names},
        },
        data="0123456789abcdef",
        versions={"python": "3.11.0", "numpy": "2.0.0"},
    )
    return Results(
        header=header,
        queries=tuple(Query(f"q{k}", 10, 2, 2 + 2 * k) for k in range(QUERIES)),
        left_out={"q9": "it is <not> judged"},
        functions=tuple(
            BaseFunction(
                name=name,
                retrieved=0.5,
                **ranked(*(np.array([0.5, 0.5, 0.5, 1.0]) - 0.125 * k).tolist()),
            )
            for k, name in enumerate(functions)
        ),
        trials=tuple(trials),
    )


@pytest.fixture
def results():
    """Results whose numbers are easy to follow."""
    return made_up()
