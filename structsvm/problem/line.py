"""What a problem tells of a line between two points."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from attrs import frozen

from structsvm.types import Vector


class LineHinge(NamedTuple):
    """The weighted hinge at a point of a line, and its slope there.

    Parameters
    ----------
    value : ``(C/n) Σ_i κ_i`` times the hinges at t: P(w) less its regulariser.
    slope : a subgradient of it by t, that of the planes found there.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> origin = problem.origin()
    >>> line = problem.line(origin, problem.planes(origin), problem.at(np.array([1.0])))
    >>> for t in (0.0, 0.1):
    ...     (hinge,) = line.hinges([t])
    ...     print(f"{t:g}: {hinge.value:.3f}, slope {hinge.slope:.3f}")
    0: 0.667, slope -5.000
    0.1: 0.300, slope -2.000
    """

    value: float
    slope: float


@frozen
class Parabola:
    """The regulariser on the line ``w_b + t (w_t − w_b)``: ``start + t · linear + ½ t² · curvature``.

    Parameters
    ----------
    start, linear, curvature : see above.
    farthest : the largest t at which weights are within their bounds, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.problem import Parabola
    >>> parabola = Parabola.between(np.array([1.0, 0.0]), np.array([0.0, 2.0]))
    >>> parabola.value(0.0), parabola.value(0.5), parabola.value(1.0)
    (0.5, 0.625, 2.0)
    >>> parabola.slope(0.2)  # nowhere on this line are weights smaller
    0.0
    """

    start: float
    linear: float
    curvature: float
    farthest: float = np.inf

    @classmethod
    def between(cls, base: Vector, target: Vector) -> "Parabola":
        """Return ``½‖w‖²`` on the line from weights ``base``, at t = 0, through ``target``, at t = 1."""
        direction = target - base
        return cls(0.5 * float(base @ base), float(base @ direction), float(direction @ direction))

    def value(self, t: float) -> float:
        """Return the value at t."""
        return self.start + t * (self.linear + 0.5 * t * self.curvature)

    def slope(self, t: float) -> float:
        """Return the slope at t."""
        return self.linear + t * self.curvature


class Line(ABC):
    """The objective on the line from a point, at t = 0, through another, at t = 1.

    Scores are linear in t, so that no look at it reads the features.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> origin = problem.origin()
    >>> line = problem.line(origin, problem.planes(origin), problem.at(np.array([1.0])))
    >>> steps = [0.0, 0.25, 0.5]
    >>> [round(line.regulariser.value(t) + hinge.value, 3) for t, hinge in zip(steps, line.hinges(steps))]
    [0.667, 0.031, 0.125]
    >>> point, planes = line.at(0.25)
    >>> point.w.tolist(), round(problem.primal(planes, point), 3)
    ([0.25], 0.031)
    """

    regulariser: Parabola

    @property
    def together(self) -> int:
        """Number of steps t that are best looked at together: 1 unless a look costs more than what is done in it."""
        return 1

    @abstractmethod
    def hinges(self, steps: Sequence[float]) -> list[LineHinge]:
        """Return the weighted hinge and its slope at some t.

        Parameters
        ----------
        steps : where to look, each t from 0 on; they are looked at together.
        """

    @abstractmethod
    def at(self, t: float) -> tuple[Any, Any]:
        """Return the point at t, which was looked at, and its planes."""
