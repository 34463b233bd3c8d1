"""The time limit of ``structsvm train``."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from structsvm.result import Result, Step


class TimeLimit:
    """Ends each fit of a training after some time, and counts those that it ended.

    Parameters
    ----------
    seconds : for each fit, from its beginning; None: no limit.

    Attributes
    ----------
    fits : number of fits so far.
    ended : how many of them the limit ended before their gap was as asked for.
    """

    def __init__(self, seconds: float | None) -> None:
        from structsvm.comparison.limit import Watch

        self.seconds = seconds
        self.fits = 0
        self.ended = 0
        self._C: float | None = None
        self._watch = self._next = Watch(seconds)

    def begin(self) -> None:
        """Begin the next fit now, and not where the one before it ended."""
        from structsvm.comparison.limit import Watch

        self._C = None
        self._next = Watch(self.seconds)

    def over(self, step: "Step") -> bool:
        """Say whether a fit is to end after a step. The next value of C of a path begins after the last step of one."""
        from structsvm.comparison.limit import Watch

        if step.C != self._C:
            self._watch, self._C = self._next, step.C
        self._next = Watch(self.seconds)
        return self._watch.over()

    def has_ended(self, result: "Result") -> bool:
        """Say whether a result is what there was when the time was over, and not as good as asked for."""
        return self._stopped(result) and not result.converged

    def fitted(self, rankers: "Sequence[Any]") -> None:
        """Count what was fitted."""
        self.fits += len(rankers)
        self.ended += sum(self.has_ended(ranker.result_) for ranker in rankers)

    def path(self, part: "Callable[[Sequence[float]], Sequence[Any]]", Cs: "Sequence[float]") -> "Sequence[Any]":
        """Fit at several values of C, of which each has the whole time.

        Parameters
        ----------
        part : fits a path over values of C, which ends where a fit is stopped.
        Cs : the values, ascending. One after a fit that the limit ended begins anew.

        Returns
        -------
        The rankers; after Ctrl-C, those that were reached.

        Raises
        ------
        KeyboardInterrupt : Ctrl-C came before there was one.
        """
        rankers: list[Any] = []
        while len(rankers) < len(Cs):
            self.begin()
            try:
                rankers += part(Cs[len(rankers) :])
            except KeyboardInterrupt:
                if not rankers:
                    raise
                break
            if not self._stopped(rankers[-1].result_):
                break
        return rankers

    def _stopped(self, result: "Result") -> bool:
        from structsvm.result import Status

        return self.seconds is not None and result.status is Status.STOPPED

    def __str__(self) -> str:
        return f"the time limit of {self.seconds:g} s"
