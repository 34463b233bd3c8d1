"""Preferences between documents of a query, from pairs or from clicks."""

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import numbers
from structsvm.foundation.queries import Queries, require_labels
from structsvm.foundation.settings import as_list, require_number
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses.shared.pairs import magnitudes


def _rows(values: ArrayLike) -> IntVector:
    try:
        rows = np.asarray(values)
    except ValueError as error:
        raise InputError(f"better and worse must be vectors of row numbers: {error}") from None
    if rows.ndim == 1 and len(rows) == 0:
        return np.zeros(0, dtype=np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise InputError(
            "preferences are between rows, so better and worse must be vectors of row numbers: "
            f"one has shape {rows.shape} and type {rows.dtype}"
        )
    return rows.astype(np.int64)


@frozen(eq=False, repr=False)
class Preferences:
    """Pairs of a better and a worse row, from which `RankSVM`, `RankBoost` and `RankNet` can learn instead of labels.

    Pass them to ``fit(X, y)`` as ``y``.

    Parameters
    ----------
    better, worse : row numbers of the better and the worse document of each pair, from 0, shape (P,).
    magnitude : strength of each preference, above 0, shape (P,), or one number for all pairs. The ranker reads it as
        the weight of the pair (`RankSVM`, `RankBoost`) or as the target difference of the two scores (`RankNet`).

    Examples
    --------
    >>> from structsvm.rankers import RankSVM
    >>> X, qid = [[1.0], [2.0], [3.0]], [0, 0, 0]
    >>> RankSVM(C=10).fit(X, Preferences(better=[2, 1], worse=[1, 0]), qid).predict(X).argmax()
    np.int64(2)
    """

    better: IntVector = field(converter=_rows)
    worse: IntVector = field(converter=_rows)
    magnitude: Vector = field(default=1.0, converter=magnitudes)

    def __attrs_post_init__(self) -> None:
        pairs = len(self.better)
        if len(self.worse) != pairs:
            raise InputError(f"there are {pairs} better rows and {len(self.worse)} worse ones: a pair has one of each")
        magnitude = self.magnitude
        if magnitude.ndim == 0:
            magnitude = np.full(pairs, float(magnitude))
        if magnitude.shape != (pairs,):
            raise InputError(f"there are {pairs} pairs, but magnitude has shape {magnitude.shape}")
        object.__setattr__(self, "magnitude", magnitude)
        for wrong, why in (
            ((self.better < 0) | (self.worse < 0), "has a negative row number"),
            (self.better == self.worse, "prefers a row to itself"),
            (~(np.isfinite(magnitude) & (magnitude > 0.0)), "has a magnitude that is not positive and finite"),
        ):
            if wrong.any():
                pair = int(wrong.argmax())
                raise InputError(
                    f"pair {pair} ({self.better[pair]}, {self.worse[pair]}, {magnitude[pair]:g}) {why}: leave it out"
                )

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.better)

    def __repr__(self) -> str:
        return f"Preferences({len(self)} pairs)"

    def queries(self, ptr: IntVector) -> IntVector:
        """Return the query number of each pair, shape (P,), given the starts of queries, shape (Q + 1,)."""
        return np.searchsorted(ptr, self.better, side="right") - 1

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int] | tuple[int, int, float]]) -> Self:
        """Make preferences from tuples ``(better, worse)`` or ``(better, worse, magnitude)``.

        Examples
        --------
        >>> Preferences.of([(0, 1), (0, 2, 2.0)]).magnitude
        array([1., 2.])
        """
        listed = as_list("pairs", pairs, "a list of (better, worse) or (better, worse, magnitude)")
        for number, pair in enumerate(listed):
            if not isinstance(pair, Sequence | np.ndarray) or isinstance(pair, str) or len(pair) not in (2, 3):
                raise InputError(f"pair {number} is {pair!r}: it must be (better, worse) or (better, worse, magnitude)")
        return cls(
            [pair[0] for pair in listed],
            [pair[1] for pair in listed],
            [pair[2] if len(pair) == 3 else 1.0 for pair in listed],
        )

    @classmethod
    def of_labels(cls, y: ArrayLike, qid: ArrayLike | None = None) -> Self:
        """Make a preference from each pair of different labels of a query: up to m²/2 pairs for m rows.

        Parameters
        ----------
        y : labels, shape (rows,); larger is better. The magnitude of a pair is the difference.
        qid : query id of each row; None: one query.
        """
        labels = numbers(y, "y", "one number per row")
        if labels.ndim != 1:
            raise InputError(f"y must have one number per row: its shape is {labels.shape}")
        require_labels(labels, len(labels))
        number = Queries.of(qid, len(labels)).number
        order = np.argsort(number, kind="stable")
        none = np.zeros(0, dtype=np.int64)
        better, worse = [none], [none]
        for rows in np.split(order, np.cumsum(np.bincount(number))[:-1]):
            first, second = np.nonzero(labels[rows][:, None] > labels[rows])
            better.append(rows[first])
            worse.append(rows[second])
        i, j = np.concatenate(better), np.concatenate(worse)
        return cls(i, j, labels[i] - labels[j])

    @classmethod
    def from_clicks(
        cls, sessions: ArrayLike, rows: ArrayLike, ranks: ArrayLike, clicked: ArrayLike, *, min_magnitude: float = 1.0
    ) -> Self:
        """Make preferences from a click log: users prefer a clicked document to the skipped documents above it.

        A user who clicks at rank 3 but not at ranks 1 and 2 has seen all three documents and prefers the third to the
        first two (Joachims, KDD 2002, section 3). The click does not compare the document with lower ones, or with
        other clicked documents. A session is one user's view of one ranking for one query; the log has one entry for
        each document shown in a session, in any order.

        Parameters
        ----------
        sessions : session of each entry, any ids, shape (entries,).
        rows : row in X of the document that was shown, shape (entries,).
        ranks : rank of the document, smaller is further up, shape (entries,). Ranks may have gaps, but must be distinct
            within a session.
        clicked : True if the user clicked the document, boolean or 0 and 1, shape (entries,).
        min_magnitude : smallest magnitude of a preference; smaller ones are dropped as noise.

        Returns
        -------
        Preferences, sorted by row. The magnitude of (i, j) is the number of sessions that prefer i to j, minus the
        number of sessions that prefer j to i; pairs with a difference of 0 are dropped.

        Examples
        --------
        Three users click at rank 3 and one at rank 1, for a query whose documents are the rows 0, 1 and 2:

        >>> preferences = Preferences.from_clicks(
        ...     sessions=[1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4],
        ...     rows=[0, 1, 2] * 4,
        ...     ranks=[1, 2, 3] * 4,
        ...     clicked=[0, 0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 0],
        ... )
        >>> preferences.better, preferences.worse, preferences.magnitude
        (array([2, 2]), array([0, 1]), array([3., 3.]))
        """
        require_number("min_magnitude", min_magnitude, above=0.0)
        session, row, rank, click = _entries(sessions, rows, ranks, clicked)
        order = np.lexsort((rank, session))
        session, row, click = session[order], row[order], click[order]

        skipped = np.flatnonzero(~click)
        skipped_before = np.concatenate([[0], np.cumsum(~click)])
        start = np.searchsorted(session, session)
        hits = np.flatnonzero(click)
        first = skipped_before[start[hits]]
        count = skipped_before[hits] - first
        ends = np.cumsum(count)
        within = np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - count, count)
        better = np.repeat(row[hits], count)
        worse = row[skipped[np.repeat(first, count) + within]]
        return cls(*_net(better, worse, float(min_magnitude)))


def _net(better: IntVector, worse: IntVector, smallest: float) -> tuple[IntVector, IntVector, Vector]:
    """Return each pair and its count minus the opposite pair's; drop counts below ``smallest``."""
    rows = np.unique(np.concatenate([better, worse]))
    i, j = np.searchsorted(rows, better), np.searchsorted(rows, worse)
    keys, number = np.unique(np.minimum(i, j) * len(rows) + np.maximum(i, j), return_inverse=True)
    net = np.bincount(number, np.where(i < j, 1.0, -1.0), len(keys))
    large = (net != 0.0) & (np.abs(net) >= smallest)
    keys, net = keys[large], net[large]
    low, high = rows[keys // max(len(rows), 1)], rows[keys % max(len(rows), 1)]
    ahead, behind = np.where(net > 0.0, low, high), np.where(net > 0.0, high, low)
    order = np.lexsort((behind, ahead))
    return ahead[order], behind[order], np.abs(net[order])


def _entries(
    sessions: ArrayLike, rows: ArrayLike, ranks: ArrayLike, clicked: ArrayLike
) -> tuple[IntVector, IntVector, NDArray[Any], NDArray[np.bool_]]:
    """Return the log entries with sessions as numbers; raise InputError if entries contradict each other."""
    arrays = {
        "sessions": np.asarray(sessions),
        "rows": np.asarray(rows),
        "ranks": np.asarray(ranks),
        "clicked": np.asarray(clicked),
    }
    for name, values in arrays.items():
        if values.ndim != 1:
            raise InputError(f"{name} must be a vector with one element an entry; its shape is {values.shape}")
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"a log has one element of each array per entry, but the lengths are {lengths}")
    if not lengths["rows"]:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing, nothing, nothing, np.zeros(0, dtype=np.bool_)
    row, rank = arrays["rows"], arrays["ranks"]
    if row.dtype.kind not in "iu":
        raise InputError(
            f"rows must be row numbers of X, integers from 0; the first is {row.tolist()[0]!r}, {row.dtype}. Replace "
            "ids of documents by their rows in X"
        )
    if (row < 0).any():
        raise InputError(f"rows must be row numbers of X, integers from 0; the least is {row.min()}")
    if rank.dtype.kind not in "iuf" or not np.isfinite(rank).all():
        raise InputError(f"ranks must be finite numbers; they are {rank.dtype}")
    click = arrays["clicked"]
    if click.dtype.kind not in "biuf" or not np.isin(click, (0, 1)).all():
        raise InputError("clicked must be True or False, or 1 or 0, for each entry")
    ids = arrays["sessions"]
    if ids.dtype.kind == "f" and np.isnan(ids).any():
        raise InputError(f"sessions contains NaN: the first is entry {int(np.isnan(ids).argmax())}")
    try:
        session = np.unique(ids, return_inverse=True)[1].ravel()
    except TypeError as error:
        raise InputError(f"sessions must be ids of one kind: {error}") from None
    row = row.astype(np.int64)
    _require_once(session, row, "the document of row {}", ids)
    _require_once(session, rank, "rank {}", ids)
    return session, row, rank, click.astype(np.bool_)


def _require_once(session: IntVector, values: NDArray[Any], what: str, ids: NDArray[Any]) -> None:
    order = np.lexsort((values, session))
    again = (np.diff(session[order]) == 0) & (np.diff(values[order]) == 0)
    if again.any():
        entry = int(order[1:][again].min())
        raise InputError(
            f"{what.format(values[entry])} occurs more than once in session {ids[entry]} (again in entry {entry}): "
            "a session is one ranking shown once, with one document at each rank"
        )
