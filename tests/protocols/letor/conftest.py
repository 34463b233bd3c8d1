from pathlib import Path

import numpy as np
import pytest

from structsvm.protocols.letor.measures import letor_values


def write_set(path: Path, *, queries=8, documents=(3, 12), features=4, first=1, seed=0, missing_last=False) -> Path:
    """Write queries with grades 0 to 2, which the first features go with; the first has no relevant document."""
    rng = np.random.default_rng(seed)
    lines = []
    for query in range(first, first + queries):
        y = rng.integers(0, 3, rng.integers(*documents, endpoint=True)) * (query != first)
        X = np.round(rng.normal(size=(len(y), features)) + np.outer(y, np.arange(features, 0, -1) / features), 1)
        if missing_last:
            X[:, -1] = 0.0
        for row, grade in zip(X, y, strict=True):
            values = " ".join(f"{j}:{value:g}" for j, value in enumerate(row, start=1) if value)
            lines.append(f"{grade} qid:{query} {values}\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines))
    return path


def write_sets(folder: Path) -> Path:
    """Write three sets to be rotated, and return their folder."""
    for number in range(1, 4):
        write_set(folder / "tiny" / f"S{number}.txt", first=100 * number, seed=number)
    return folder / "tiny"


@pytest.fixture
def sets(tmp_path):
    return write_sets(tmp_path)


def means(scores, y, qid):
    """Return the means of LETOR's measures by name."""
    return {name: values.mean() for name, values in letor_values(scores, y, qid).items()}
