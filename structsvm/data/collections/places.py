"""Where ids were seen first, to find those that are there twice."""

from bisect import bisect_right
from pathlib import Path


class Places:
    """The place of each id: its file and line, kept as one number an id."""

    def __init__(self) -> None:
        self._place: dict[str, int] = {}
        self._paths: list[Path] = []
        self._begins: list[int] = []  # of each file, the sum of the lines of those before
        self._last = 0

    def add(self, name: str, path: Path, line: int) -> str | None:
        """Add an id; lines of a file come in their order. Return its place in words if it was there before."""
        if not self._paths or path is not self._paths[-1]:
            self._paths.append(path)
            self._begins.append(self._last)
        self._last = place = self._begins[-1] + line
        known = len(self._place)
        first = self._place.setdefault(name, place)
        return None if len(self._place) > known else self._words(first, path)

    def _words(self, place: int, path: Path) -> str:
        k = bisect_right(self._begins, place - 1) - 1
        line = f"line {place - self._begins[k]}"
        return line if self._paths[k] is path else f"{self._paths[k]}, {line}"
