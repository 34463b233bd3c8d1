"""Lines of progress if standard error is not a terminal."""

import pytest

from structsvm.cli.shared import console


def test_progress_prints_lines_with_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [100.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    with console.progress_bar("folds") as show:
        for seconds, done in ((0.0, 2), (20.0, 3), (35.0, 3), (60.0, 4), (70.0, 5), (5000.0, 6)):
            now[0] = 100.0 + seconds
            show(done, 12)
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.splitlines() == [
        "structsvm: 3 of 12 folds after 0:00:35, 0:05:15 left",
        "structsvm: 5 of 12 folds after 0:01:10, 0:02:43 left",
        "structsvm: 6 of 12 folds after 1:23:20, 2:05:00 left",
    ]
    with console.progress_bar("folds", shown=False) as show:
        now[0] = 1e6
        show(6, 12)
    assert capsys.readouterr().err == ""
