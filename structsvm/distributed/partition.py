"""A partition: the rows that a worker holds."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from structsvm.exceptions import DataFormatError, InputError, OracleError
from structsvm.operators import Readable


class Partition(NamedTuple):
    """A partition of ranking data: whole queries.

    Parameters
    ----------
    X : features, shape (rows, d), dense, CSR or a `BinnedMatrix`; it may have no rows.
    y : labels, shape (rows,); None for rows that are to be scored.
    qid : query id of each row, shape (rows,); None: one query.
    sample_weight : weight of each row, the same for all rows of a query; None: all 1.
    names : names of the features; None: they have none.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.distributed import Partition
    >>> part = Partition(np.array([[1.0, 0.0], [0.5, 2.0]]), y=[1, 0], qid=[7, 7], names=("bm25", "age"))
    >>> part.rows, part.sample_weight is None
    (2, True)
    """

    X: Readable
    y: Any = None
    qid: Any = None
    sample_weight: Any = None
    names: tuple[str, ...] | None = None

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])


@contextmanager
def naming(partition: str) -> Iterator[None]:
    """Name the partition in errors that are raised inside, unless they name a file and a line."""
    try:
        yield
    except DataFormatError:
        raise
    except OracleError as error:
        raise OracleError(f"{partition}: {error}") from error
    except InputError as error:
        if type(error).__init__ is not InputError.__init__:
            raise
        raise type(error)(f"{partition}: {error}") from None
