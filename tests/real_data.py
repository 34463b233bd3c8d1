"""Data outside the repository, in the folder that the variable ``STRUCTSVM_DATA`` names."""

import os
from pathlib import Path

import pytest

from structsvm.data import RankingData, load_letor

_ROOT = Path(__file__).resolve().parents[1]

REAL_DATA = (_ROOT / os.environ.get("STRUCTSVM_DATA", "no-data")).resolve()
REFERENCE = REAL_DATA.parent / "reference"
"""Figures that were computed independently of this project."""

MQ2008 = REAL_DATA / "MQ2008"
ROBUST03 = REAL_DATA / "robust03"
CRANFIELD, VASWANI = REAL_DATA / "text" / "cranfield", REAL_DATA / "text" / "vaswani"
TREC_EVAL = REAL_DATA / "trec_eval"


def needs(*paths: Path) -> pytest.MarkDecorator:
    """Skip a test, or with ``pytestmark`` a module, without these files and folders, whose names it says."""
    names = ", ".join(os.path.relpath(path, REAL_DATA) for path in paths)
    return pytest.mark.skipif(not all(path.exists() for path in paths), reason=f"needs STRUCTSVM_DATA: {names}")


def mq2008(first: int, count: int) -> RankingData:
    """Return some of the five sets of MQ2008, beginning with one of them: S1 follows S5."""
    return load_letor([MQ2008 / f"S{(first + k) % 5 + 1}.txt" for k in range(count)])
