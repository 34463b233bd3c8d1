"""Transformers in pipelines and searches, with qid handed on to each step."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.features import FillMissing, QueryMinMax, QueryPercentiles, ReciprocalRanks, Thresholds

EVEN = Thresholds(bins=10, spacing="even", low=0.0, high=1.0)
PIPELINES = {
    "thresholds": (Thresholds(bins=10), Ranker()),
    "percentiles": (QueryPercentiles(), EVEN, Ranker()),
    "min-max": (QueryMinMax(), EVEN, Ranker("zero_one", fit_intercept=True)),
    "reciprocal ranks": (ReciprocalRanks(), FillMissing(0.0), Ranker()),
    "raw": (FillMissing(), Ranker()),
}


@pytest.fixture(scope="module")
def data() -> Any:
    """Three functions: two see the relevance with noise, on a scale of each query's own; a third of it is missing."""
    rng = np.random.default_rng(0)
    qid = np.repeat([f"topic {k}" for k in range(20)], 15)
    y = (rng.random(len(qid)) < 0.3).astype(float)
    X = np.column_stack([y + rng.standard_normal(len(y)), y + 0.5 * rng.standard_normal(len(y)), rng.random(len(y))])
    X *= np.repeat(rng.uniform(0.5, 50.0, 20), 15)[:, None]
    X[rng.random(X.shape) < 0.3] = np.nan
    return X, y, qid


@pytest.mark.parametrize("steps", PIPELINES.values(), ids=PIPELINES)
def test_a_pipeline_is_its_steps_one_by_one(steps: Any, data: Any) -> None:
    X, y, qid = data
    train = np.isin(qid, np.unique(qid)[:12])
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(*(clone(step) for step in steps)).fit(X[train], y[train], qid=qid[train])
        needed = {} if isinstance(steps[0], Thresholds) else {"qid": qid[~train]}
        result = pipeline.predict(X[~train], **needed)
        score = pipeline.score(X[~train], y[~train], qid=qid[~train])
    *transformers, ranker = (clone(step) for step in steps)
    seen, new = X[train], X[~train]
    for transformer in transformers:
        if isinstance(transformer, Thresholds):
            seen, new = transformer.fit(seen).transform(seen), transformer.transform(new)
        else:
            seen = transformer.fit_transform(seen, qid=qid[train])
            new = transformer.transform(new, qid=qid[~train])
    ranker.fit(seen, y[train], qid=qid[train])
    np.testing.assert_array_equal(result, ranker.predict(new))
    assert score == ranker.score(new, y[~train], qid=qid[~train])


def test_without_routing_the_error_says_what_to_switch_on(data: Any) -> None:
    X, y, qid = data
    with pytest.raises(InputError, match="QueryPercentiles needs qid.*enable_metadata_routing"):
        make_pipeline(QueryPercentiles(), Thresholds(), Ranker()).fit(X, y, ranker__qid=qid)


def test_drift_names_the_columns_of_the_input_if_frames_pass_through(data: Any) -> None:
    X, y, qid = data
    frame = pd.DataFrame(X, columns=["bm25", "lm", "tfidf"])
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), Ranker()).set_output(transform="pandas")
    pipeline.fit(frame, y, ranker__qid=qid)
    shifted = pipeline[:-1].transform(frame.assign(lm=frame.lm + 1e6))
    assert str(pipeline[-1].model_.check(shifted, qid)).split("\n")[1].startswith("lm: PSI")


def test_data_frames_keep_their_names(data: Any) -> None:
    X, _, qid = data
    frame = pd.DataFrame(X, columns=["bm25", "lm", "tfidf"])
    out = QueryMinMax().set_output(transform="pandas").fit_transform(frame, qid=pd.Series(qid))
    assert list(out.columns) == ["bm25", "lm", "tfidf"]
    assert Thresholds(bins=1).fit(out).get_feature_names_out().tolist() == ["bm25>=0.0", "lm>=0.0", "tfidf>=0.0"]
    with pytest.raises(InputError, match="lacks 1 of the 3 features that QueryMinMax was fitted with: 'tfidf'"):
        QueryMinMax().fit(frame, qid=qid).transform(frame[["lm", "bm25"]], qid=qid)
