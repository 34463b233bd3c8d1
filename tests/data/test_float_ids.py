"""Query ids that a merge has made floats, 1.0 instead of 1: topics match judgments in every format."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from structsvm.data import Qrels, Run, load_letor, load_qrels, load_run, load_table, write_letor
from structsvm.evaluation import rank_run
from structsvm.exceptions import DataFormatError, InputError
from structsvm.metrics import AP

ROWS = {"qid": [1.0, 1.0, 2.0], "docid": ["a", "b", "a"], "label": [1, 0, 1], "x": [0.5, 1.5, 2.5]}
QRELS = Qrels.from_grades([1, 1, 2], ["a", "b", "a"], [1, 0, 1])


def of_table(folder: Path, suffix: str) -> Any:
    frame = pd.DataFrame(ROWS)
    path = folder / f"t.{suffix}"
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return load_table(path)


def of_letor(folder: Path, suffix: str) -> Any:
    lines = ["1 qid:1.0 1:0.5 # docid = a", "0 qid:1.00 1:1.5 # docid = b", "1 qid:2.0 1:2.5 # docid = a"]
    (folder / "t.txt").write_text("\n".join(lines) + "\n" + "# a comment\n" * (100_000 if suffix == "compiled" else 0))
    return load_letor(folder / "t.txt", doc_ids=True)


@pytest.mark.parametrize(
    ("read", "suffix"), [(of_table, "csv"), (of_table, "parquet"), (of_letor, "plain"), (of_letor, "compiled")]
)
def test_files_of_features_have_whole_ids(tmp_path: Path, read: Any, suffix: str) -> None:
    data = read(tmp_path, suffix)
    assert data.qid.dtype == np.int64
    assert data.qid.tolist() == [1, 1, 2]
    run = Run.from_scores("run", data.qid, data.doc_ids, data.X[:, 0])
    assert AP().of(rank_run(run, QRELS)).values.tolist() == [0.5, 1.0]


RUNS = {
    "array": lambda _: Run.from_scores("run", np.array(ROWS["qid"]), ROWS["docid"], ROWS["x"]),
    "list": lambda _: Run.from_scores("run", ROWS["qid"], ROWS["docid"], ROWS["x"]),
    "objects": lambda _: Run.from_scores("run", np.array(ROWS["qid"], object), ROWS["docid"], ROWS["x"]),
    "text": lambda _: Run.from_scores("run", list(map(str, ROWS["qid"])), ROWS["docid"], ROWS["x"]),
    "frame": lambda _: Run.from_frame(pd.DataFrame(ROWS).rename(columns={"docid": "docno", "x": "score"})),
    "file": lambda folder: of_file(folder),
}


def of_file(folder: Path) -> Run:
    (folder / "r").write_text("1.0 Q0 a 1 0.5 r\n1.0 Q0 b 1 1.5 r\n2.0 Q0 a 1 2.5 r\n")
    return load_run(folder / "r")


@pytest.mark.parametrize("kind", RUNS)
def test_topics_of_runs_match_judgments(tmp_path: Path, kind: str) -> None:
    run = RUNS[kind](tmp_path)
    assert run.qid.tolist() == ["1", "1", "2"]
    assert AP().of(rank_run(run, QRELS)).values.tolist() == [0.5, 1.0]


def test_judgments_and_written_files_have_whole_ids(tmp_path: Path) -> None:
    (tmp_path / "q").write_text("1.0 0 a 1\n1.0 0 b 0\n2.0 0 a 1\n")
    for qrels in (load_qrels(tmp_path / "q"), Qrels.from_grades(ROWS["qid"], ROWS["docid"], ROWS["label"])):
        assert qrels.qid.tolist() == ["1", "1", "2"]
        assert qrels.labels(ROWS["qid"], ROWS["docid"]).tolist() == [1, 0, 1]
    write_letor(tmp_path / "w.txt", np.array(ROWS["x"])[:, None], ROWS["label"], np.array(ROWS["qid"]))
    assert load_letor(tmp_path / "w.txt").qid.tolist() == [1, 1, 2]


def test_ids_with_fractions_stay_text_and_fractional_numbers_are_an_error(tmp_path: Path) -> None:
    for fraction in ("1.5", "1.", ".0"):
        (tmp_path / "t.txt").write_text(f"1 qid:{fraction} 1:2\n")
        with pytest.raises(DataFormatError, match=f"the query id in 'qid:{fraction}' must be a 64-bit whole number"):
            load_letor(tmp_path / "t.txt")
    run = Run.from_scores("run", ["1.0", "1.1"], ["a", "a"], [1.0, 2.0])
    assert run.qid.tolist() == ["1.0", "1.1"]
    with pytest.raises(InputError, match="qid: ids must be text or whole numbers, not fractions, got 1.5 in row 1"):
        Run.from_scores("run", [1.0, 1.5], ["a", "a"], [1.0, 2.0])
