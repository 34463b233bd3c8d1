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

    def add(self, name: str, path: Path, line: int) -> tuple[Path, int] | None:
        """Add an id; lines of a file come in their order. Return the file and line where it was before, if anywhere."""
        if not self._paths or path is not self._paths[-1]:
            self._paths.append(path)
            self._begins.append(self._last)
        self._last = place = self._begins[-1] + line
        known = len(self._place)
        first = self._place.setdefault(name, place)
        if len(self._place) > known:
            return None
        k = bisect_right(self._begins, first - 1) - 1
        return self._paths[k], first - self._begins[k]
