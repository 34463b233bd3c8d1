"""The smallest case that shows a fault, as far as some hundred attempts find one."""

from collections.abc import Callable, Iterator
from time import monotonic

from attrs import evolve

from tests.fuzz.case import Case

_SECONDS = 5.0


def shrunk(case: Case, shows: Callable[[Case], bool]) -> Case:
    """Return a case with fewer files, arguments, lines, words and bytes that shows the fault still."""
    until, smaller = monotonic() + _SECONDS, True
    while smaller:
        smaller = False
        for candidate in _candidates(case):
            if monotonic() > until:
                return case
            if shows(candidate):
                case, smaller = candidate, True
                break
    return case


def _candidates(case: Case) -> Iterator[Case]:
    for name in case.files:
        yield evolve(case, files={other: content for other, content in case.files.items() if other != name})
    first = {"readers": 1, "models": 1, "collections": 2}.get(case.kind, 0)  # the first ones are the file, its format
    for many in (2, 1):
        for k in range(first, len(case.arguments) - many + 1):
            yield evolve(case, arguments=case.arguments[:k] + case.arguments[k + many :])
    for name, content in case.files.items():
        if isinstance(content, bytes) and not name.endswith(".npz"):
            for less in _smaller(content):
                yield evolve(case, files={**case.files, name: less})


def _smaller(content: bytes) -> Iterator[bytes]:
    for separator in (b"\n", b" ", b""):
        pieces = content.split(separator) if separator else [content[k : k + 1] for k in range(len(content))]
        length = len(pieces) // 2
        while length:
            for start in range(0, len(pieces), length):
                yield separator.join(pieces[:start] + pieces[start + length :])
            length = length // 2 if separator or length > 32 else 0 if length == 1 else 1 if len(pieces) < 200 else 0
