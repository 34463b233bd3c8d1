"""States of sets, such as models of solvers and earlier outputs: one per set and thread, never copied or pickled."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

_MOST = 512
"""Most states of a kind that a thread stores. A model of HiGHS takes about 0.2 MB."""

_of_thread = threading.local()


def state_of(owner: Any, make: Callable[[Any], T]) -> T:
    """Return the state of a set in this thread, made by ``make(owner)`` at first use; it must not refer to the set."""
    states: WeakKeyDictionary[Any, T] = _of_thread.__dict__.setdefault(make.__name__, WeakKeyDictionary())
    state = states.get(owner)
    if state is None:
        if len(states) >= _MOST:
            states.popitem()
        state = states[owner] = make(owner)
    return state
