"""Compare the output of a block with the output that its page shows.

Text must be equal. White space is equal to white space, a rule of a table to one of any length, and a version such as
``0.1.0`` to any other. A line ``[...]``, with or without words inside the brackets, stands for any lines. Whole
numbers must be equal; other numbers may differ by 2 % or by two units of the last digit shown, as processors and
versions round differently. Time, memory and work (``0.3 s``, ``12 kB``, ``40 passes``) and gaps are different in
every run: any number is accepted. Commands report compilation only in a new environment, so ``and 8.9 s of
compilation`` is left out unless the page shows it.
"""

import math
import re
from collections.abc import Iterator

from attrs import frozen

WITHIN = 0.02
CUT = r"^[ \t]*\[\.\.\.[^\n]*\][ \t]*$"
NUMBER = r"(?<![\w.@])(?:(?<![\d)-])-)?\d(?:[\d,]*\d)?(?:\.\d+)?(?:e[-+]?\d+)?(?!\w|\.\d)"
VERSION = r"(?<![\w.])\d+\.\d+\.\d+\S*"
UNITS = "s|ms|µs|minutes?|bytes|[kMG]i?B|passes|iterations|rounds?|cuts|calls|steps"
COMPILATION = re.compile(r", and [\d.]+ s of compilation")
TOKEN = re.compile(
    rf"(?P<cut>{CUT})|(?P<rule>─+)|(?P<version>{VERSION})|(?P<space>\s+?(?={CUT})|\s+)|(?P<number>{NUMBER})|(?P<text>.)",
    re.MULTILINE | re.DOTALL,
)
PATTERNS = {"cut": r"(.*?)", "rule": r"(─+)", "version": f"({VERSION})", "space": r"(\s+)", "number": rf"({NUMBER})"}


@frozen
class Token:
    """A piece of the output that a page shows, and the piece that was printed for it."""

    kind: str
    shown: str
    printed: str
    varies: bool


def tokens(shown: str, printed: str) -> list[Token] | None:
    """Match an output; None if its text differs from the text that the page shows."""
    shown, printed = shown.strip(), printed.strip()
    if COMPILATION.search(shown) is None:
        printed = COMPILATION.sub("", printed)
    result = list(TOKEN.finditer(shown))
    kinds = [str(token.lastgroup) for token in result]
    pattern = "".join(PATTERNS.get(kind, f"({re.escape(token[0])})") for kind, token in zip(kinds, result, strict=True))
    match = re.fullmatch(pattern.replace(r"(\s+)(.*?)(\s+)", r"(\s+)(.*?)(\s*)"), printed, flags=re.DOTALL)
    if match is None:
        return None
    return [
        Token(kind, token[0], got, varies(shown, token))
        for kind, token, got in zip(kinds, result, match.groups(), strict=True)
    ]


def varies(shown: str, number: re.Match[str]) -> bool:
    """Whether a number is a time, a size, a count of work, or a gap."""
    before, after = shown[: number.start()], shown[number.end() :]
    return re.match(rf" (?:{UNITS})\b", after) is not None or re.search(r"\bgap:? $", before) is not None


def differences(matched: list[Token], within: float) -> Iterator[str]:
    """Yield a message for each number that differs by more than its tolerance."""
    for token in matched:
        if token.kind == "number" and not token.varies:
            shown, printed = (float(text.replace(",", "")) for text in (token.shown, token.printed))
            digits = re.search(r"\.(\d+)", token.shown)
            power = re.search(r"e([-+]?\d+)", token.shown)
            unit = 10.0 ** ((int(power[1]) if power else 0) - (len(digits[1]) if digits else 0))
            tolerance = max(within * abs(shown), 2 * unit) if digits or power else 0.0
            if not math.isclose(shown, printed, rel_tol=1e-12, abs_tol=tolerance):
                yield f"the page shows {token.shown} for {token.printed}"


def refreshed(matched: list[Token]) -> str:
    """Return the output as a page should show it: cuts and line breaks of the page, everything else as printed."""
    return "".join(
        token.shown
        if token.kind == "cut" or (token.kind == "space" and ("\n" in token.shown) != ("\n" in token.printed))
        else token.printed
        for token in matched
    )
