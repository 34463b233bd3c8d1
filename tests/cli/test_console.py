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
        "structsvm: 3 of 12 folds after 0:00:35",
        "structsvm: 5 of 12 folds after 0:01:10, 0:02:55 left",
        "structsvm: 6 of 12 folds after 1:23:20, 2:46:00 left",
    ]
    with console.progress_bar("folds", shown=False) as show:
        now[0] = 1e6
        show(6, 12)
    assert capsys.readouterr().err == ""


def test_the_time_left_is_right_after_a_slow_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first step takes 4 seconds, and a thousand others a tenth of a second each."""
    now, estimates = 0.0, {}
    monkeypatch.setattr(console.time, "monotonic", lambda: now)
    pace = console._Pace()
    pace.report(0, 1000)
    ends = [4.0 + 0.1 * step for step in range(1000)]
    for done, now in enumerate(ends, start=1):
        pace.report(done, 1000)
        estimates[now] = pace.left
    assert estimates[4.0] is None
    soon = [(left, ends[-1] - now) for now, left in estimates.items() if 4.0 < now < ends[-1] - 0.05]
    assert len(soon) > 800
    assert all(left == pytest.approx(right) for left, right in soon)
