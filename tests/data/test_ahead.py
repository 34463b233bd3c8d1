"""Results and exceptions come in order."""

import threading
import time

import pytest

from structsvm.data.letor.reading import in_order


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
def test_results_come_in_order(threads, count):
    def slow_first(k):
        time.sleep(0.002 if k == 0 else 0.0)
        return k * k

    assert list(in_order(slow_first, range(count), lambda: threads)) == [k * k for k in range(count)]


def test_no_more_is_taken_than_threads_and_one():
    taken = []

    def things():
        for k in range(20):
            taken.append(k)
            yield k

    for k in in_order(lambda k: k, things(), lambda: 3):
        assert len(taken) <= k + 5


@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_what_is_raised_comes_in_its_place(count):
    """The fault of a thing comes before one of a further thing that cannot even be taken."""

    def things():
        yield from range(count)
        raise OSError("no more")

    calls = []
    results = in_order(lambda k: calls.append(k) or k, things(), lambda: 2)
    with pytest.raises(OSError, match="no more"):
        list(results)
    assert sorted(calls) == list(range(count))

    def fail(k):
        if k == 3:
            raise ValueError("three")
        return k

    if count > 3:
        with pytest.raises(ValueError, match="three"):
            list(in_order(fail, things(), lambda: 2))


def test_threads_work_at_the_same_time():
    together = threading.Barrier(2, timeout=20)
    assert len(list(in_order(lambda k: together.wait(), range(2), lambda: 2))) == 2
