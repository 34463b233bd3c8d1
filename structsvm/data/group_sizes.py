"""Files of group sizes beside data, as LightGBM (``.query``) and XGBoost (``.group``) have them."""

from contextlib import closing
from pathlib import Path

import numpy as np

from structsvm.data.blocks import is_plain, read_blocks
from structsvm.exceptions import DataFormatError, InputError, quoted
from structsvm.storage.packed import without_suffix
from structsvm.types import IntVector

SUFFIXES = (".query", ".group")


def places_beside(data: Path) -> list[Path]:
    """Return where the sizes of queries of a file of data may be, whether or not a file is there."""
    names = dict.fromkeys([data.name, without_suffix(data).name]) if data.name else {}
    return [data.with_name(f"{name}{suffix}") for name in names for suffix in SUFFIXES]


def sizes_beside(data: Path) -> Path | None:
    """Return the file of group sizes beside a file of data, such as ``train.txt.query``; None without one.

    Raises
    ------
    InputError : there are two.
    """
    found = [path for path in places_beside(data) if _is_file(path)]
    if len(found) > 1:
        raise InputError(f"{found[0]} and {found[1]} both have the sizes of queries of {data}: keep one")
    return found[0] if found else None


def queries_of_sizes(path: Path, data: Path, rows: int, first: int) -> IntVector:
    """Return query ids for the rows of a file, of which another one has the sizes of queries, one a line.

    Parameters
    ----------
    path : the file of sizes.
    data : the file of the rows.
    rows : number of rows.
    first : id of the first query; the others are numbered on.

    Raises
    ------
    InputError : the file does not exist or cannot be read.
    DataFormatError : a line is no positive whole number, or they do not add up to the rows.
    """
    sizes: list[int] = []
    with closing(read_blocks(path)) as blocks:
        for block in blocks:
            for number, line in enumerate(block.content.splitlines()):
                cells = line.partition(b"#")[0].split()
                if not cells:
                    continue
                text = cells[0].decode(errors="replace")
                size = int(text) if is_plain(text) and text.isdecimal() and len(text) <= 18 else 0
                if size < 1 or len(cells) > 1:
                    raise block.fault(
                        number,
                        f"{quoted(line)} is not the size of a query: a line holds one positive whole number, the "
                        f"number of rows of {data.name} that are the next query",
                    )
                sizes.append(size)
    if sum(sizes) != rows:
        raise DataFormatError(
            path,
            None,
            f"the sizes of its {len(sizes):,} queries add up to {sum(sizes):,}, but {data} has {rows:,} rows",
        )
    return np.repeat(np.arange(first, first + len(sizes)), sizes)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # the name is too long to be one
        return False
