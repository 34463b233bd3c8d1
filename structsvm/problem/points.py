"""What a problem hands out: points, planes and cuts."""

from typing import Self

from attrs import field, frozen

from structsvm.types import IntVector, Matrix, Vector


@frozen(eq=False)
class Point:
    """Weights with the scores they make.

    Scores are linear in the weights, so moving along a line needs no pass over the data.

    Parameters
    ----------
    w : weights, shape (d,).
    scores : scores of all examples.
    moves : moves along lines since the weights were scored, each of which adds rounding errors.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=0.1)
    >>> problem.at(np.array([2.0])).scores.tolist()
    [2.0, 4.0, 8.0]
    """

    w: Vector
    scores: Vector = field(repr=False)
    moves: int = 0

    def toward(self, other: "Point", t: float) -> Self:
        """Return the point at ``(1 − t)`` times this one plus t times the other."""
        return type(self)(
            self.w + t * (other.w - self.w),
            self.scores + t * (other.scores - self.scores),
            max(self.moves, other.moves) + 1,
        )


@frozen(eq=False)
class Planes:
    """The loss-augmented argmax of every example, in score space.

    Example i bounds its own hinge from below by ``loss[i] − coef_i·s_i`` at any scores s.

    Parameters
    ----------
    coef : ``c(y) − c(ŷ)`` of all examples, one after the other, shape of the scores.
    loss : ``Δ(y, ŷ)``, shape (n,).

    Examples
    --------
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map")
    >>> point = problem.origin()
    >>> planes = problem.planes(point)
    >>> planes.coef.tolist(), planes.loss.round(3).tolist()
    ([-1.0, -1.0, 2.0], [0.667])
    >>> float(planes.loss[0] - planes.coef @ point.scores) == problem.hinge(planes, point)
    True
    """

    coef: Vector = field(repr=False)
    loss: Vector = field(repr=False)


@frozen(eq=False)
class Cut:
    """The weighted mean of all planes in weight space: the risk is at least ``L − w·g``.

    Parameters
    ----------
    g : ``Σ κ_i A_i'(c(y_i) − c(ŷ_i)) / Σ κ_i``, shape (d,).
    L : the mean of the losses, with the same weights.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> problem = Problem.from_queries([[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1], loss="map", C=1.0)
    >>> cut = problem.cut(problem.planes(problem.origin()))
    >>> point = problem.at(np.array([0.1]))
    >>> bool(cut.L - point.w @ cut.g <= problem.hinge(problem.planes(point), point))
    True
    """

    g: Vector
    L: float


@frozen(eq=False)
class Cuts:
    """The planes of some examples in weight space: the hinge of ``example[k]`` is at least ``L[k] − w·G[k]``.

    Parameters
    ----------
    G : ``A_i'(c(y_i) − c(ŷ_i))``, a row an example, shape (m, d).
    L : ``Δ(y_i, ŷ_i)``, shape (m,).
    example : number of each example, ascending, shape (m,).

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm import Problem
    >>> X, y, qid = [[1.0], [2.0], [0.0], [3.0]], [0, 1, 0, 1], [1, 1, 2, 2]
    >>> problem = Problem.from_queries(X, y, qid, loss="map")
    >>> cuts = problem.cuts(problem.planes(problem.origin()), np.array([True, True]))
    >>> cuts.G.tolist(), cuts.L.tolist(), cuts.example.tolist()
    ([[2.0], [6.0]], [0.5, 0.5], [0, 1])
    """

    G: Matrix
    L: Vector
    example: IntVector
