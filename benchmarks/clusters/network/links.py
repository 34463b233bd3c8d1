"""Links between machines, and trees of them that carry numbers down and sums up."""

from math import ceil

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import at_least, not_negative, positive
from structsvm.foundation.types import Matrix, Vector


@frozen
class Link:
    """Connection of a machine to all other machines; it sends and receives messages one after another.

    Parameters
    ----------
    latency : seconds until the first byte of a message is there, the time that both ends need to handle it included.
    bandwidth : bytes per second.
    """

    latency: float = field(validator=not_negative)
    bandwidth: float = field(validator=positive)


def fan_ins(workers: int, most: int) -> tuple[int, ...]:
    """Return the number of messages that the busiest machine of each level of a tree receives, from the workers up.

    The driver is the top of the tree. If ``most`` is at least the number of workers, all of them send to it.

    Parameters
    ----------
    workers : number of workers, at least 1.
    most : largest number of messages that one machine adds up, at least 2.
    """
    levels = [min(workers, most)]
    while workers > most:
        workers = ceil(workers / most)
        levels.append(min(workers, most))
    return tuple(levels)


@frozen
class Tree:
    """A network that carries numbers from the driver to the workers, and sums from the workers to the driver.

    A machine forwards a message after it has received the whole message. Adding up takes no additional time.

    Parameters
    ----------
    link : link of each machine.
    fan_in : number of messages that a machine adds up; None: the driver receives all messages, a star.
    servers : number of equal parts of the numbers, each with a separate driver and tree on machines that no other part
        uses. A machine still sends all of its numbers.
    """

    link: Link
    fan_in: int | None = None
    servers: int = field(default=1, validator=at_least(1))

    def levels(self, workers: int) -> tuple[int, ...]:
        """Return `fan_ins` of this tree."""
        return fan_ins(workers, max(2, workers) if self.fan_in is None else self.fan_in)

    def hop(self, messages: int, size: float) -> float:
        """Return the seconds in which a machine receives, or sends, this many messages of ``size`` bytes each."""
        return self.link.latency + size * max(1.0, messages / self.servers) / self.link.bandwidth

    def seconds(self, workers: int, size: float) -> float:
        """Return the seconds from the driver to the last worker, or from workers that begin at once to the driver."""
        return sum(self.hop(messages, size) for messages in self.levels(workers))

    def finished(self, sent: Matrix, size: float) -> Vector:
        """Return the time at which the driver has the sum.

        A machine waits for its last sender, then receives from all of them.

        Parameters
        ----------
        sent : time at which each worker has its part, shape (trials, workers).
        size : bytes of a message.
        """
        for messages in self.levels(sent.shape[1]):
            trials, senders = sent.shape
            groups = ceil(senders / messages)
            padded = np.full((trials, groups * messages), -np.inf)
            padded[:, :senders] = sent
            sent = padded.reshape(trials, groups, messages).max(axis=2) + self.hop(messages, size)
        return np.asarray(sent[:, 0])
