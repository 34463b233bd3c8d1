"""The checks of numpydoc that fit our style, for docstrings of public names: ``python -m tests.docs.validate``.

The others ask for types after names, which signatures have, for capitals after names, or for sections that are not
always of use (ES01, RT01, SA01).
"""

import sys
from enum import EnumType
from typing import Any

from numpydoc.validate import validate

from tests.docs.reference import listed, thing
from tests.docs.values import docstring_of, is_error, is_value

CHECKS = {"GL01", "GL03", "GL05", "GL06", "GL07", "GL09", "GL10"}  # white space, sections, deprecations
CHECKS |= {"EX01"}  # an example, which tests/test_examples.py runs
CHECKS |= {"PR01", "PR02", "PR04", "PR09", "PR10"}  # parameters: all that there are and no others, well written
CHECKS |= {"RT05", "SS02", "SS03", "SS04", "SS05", "YD01"}  # sentences, summaries, what is yielded


def errors(path: str) -> list[tuple[str, str]]:
    """Return the errors of numpydoc; of values, which it cannot read, only a missing example."""
    if is_value(thing(path)):
        return [] if "Examples\n--------\n" in docstring_of(path) else [("EX01", "No examples section found")]
    left_out = {"PR01"} if not is_called(thing(path)) else set()
    left_out |= {"EX01"} if is_error(thing(path)) else set()
    return [fault for fault in validate(path)["errors"] if fault[0] not in left_out]


def is_called(what: Any) -> bool:
    """Return whether its author chose its parameters, unlike protocols and enumerations."""
    return not (isinstance(what, EnumType) or getattr(what, "_is_protocol", False))


def main() -> int:
    """Print errors; return 1 if there are any."""
    faults = [(path, fault) for path in listed() for fault in errors(path) if fault[0] in CHECKS]
    for path, (check, text) in faults:
        print(f"{path}: {check} {text}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
