"""The options that say what is in files of data, and the data that they hold: LETOR's format, or tables with names."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
from attrs import evolve, frozen

from structsvm.cli.console import counted, note
from structsvm.cli.options import several_or_none
from structsvm.cli.paths import DATA, OUTPUT
from structsvm.data.columns.names import named_as_table
from structsvm.exceptions import InputError, quoted

if TYPE_CHECKING:
    from structsvm.data import RankingData

T = TypeVar("T", bound=Callable[..., Any])


@frozen
class Columns:
    """What is in files of data, as options say.

    Parameters
    ----------
    label, qid, docid, features : columns of tables; None: those of `structsvm.data.load_table`.
    groups : the files of the sizes of queries.
    float32 : whether features are float32.
    cache : the file that the data are kept in.
    """

    label: str | None = None
    qid: str | None = None
    docid: str | None = None
    features: tuple[str, ...] | None = None
    groups: tuple[Path, ...] = ()
    float32: bool = False
    cache: Path | None = None

    def are_tables(self, paths: Sequence[Path]) -> bool:
        """Say whether files are tables with named columns: by their names, or because columns are named.

        Raises
        ------
        click.UsageError : some are and some are not, or other options are of LETOR's format.
        """
        by_name = [named_as_table(path) for path in paths]
        if not self.named and any(by_name) and not all(by_name):
            raise click.UsageError(
                f"{paths[by_name.index(True)]} is a table by its name, and {paths[by_name.index(False)]} is not: "
                "they are read as one data set, of one format"
            )
        if not self.named and not any(by_name):
            return False
        other = "--groups" if self.groups else "--cache" if self.cache else ""
        if other:
            raise click.UsageError(f"{other} is for files in LETOR's format, not for tables: leave it out")
        return True

    @property
    def named(self) -> dict[str, Any]:
        """What options say of the columns of tables, by name."""
        roles = ("label", "qid", "docid", "features")
        return {role: getattr(self, role) for role in roles if getattr(self, role) is not None}

    @property
    def dtype(self) -> str:
        """The type of the features."""
        return "float32" if self.float32 else "float64"


_OF_TABLES = (
    click.option("--label", metavar="COLUMN", help="Tables: column of labels.  [default: label]"),
    click.option("--qid", metavar="COLUMN", help="Tables: column of query ids.  [default: qid]"),
    click.option("--docid", metavar="COLUMN", help="Tables: column of document ids.  [default: docid]"),
    click.option(
        "--features",
        metavar="COLUMNS",
        multiple=True,
        callback=several_or_none,
        help="Tables: columns of features, as a,b,c.  [default: those of the model, or all other columns of numbers "
        "but ids]",
    ),
)
_OF_LETOR = (
    click.option(
        "--groups",
        type=DATA,
        multiple=True,
        help="File with the number of lines of each query, for DATA without query ids; one for each file of DATA.  "
        "[default: DATA.query or DATA.group]",
    ),
    click.option("--float32", is_flag=True, help="Store features in single precision, in half the memory."),
)
_CACHE = (
    click.option(
        "--cache",
        type=OUTPUT,
        help="File to cache the data in: the next run maps it to memory, unless DATA has changed.",
    ),
)


def with_columns(*, letor: bool = True, cache: bool = False) -> Callable[[T], T]:
    """Return options that say what is in files of data, and hand them to a command as one argument, ``columns``.

    Parameters
    ----------
    letor : whether there are those of LETOR's format, too, and not of tables alone.
    cache : whether there is --cache.
    """
    options = (*_OF_TABLES, *(_OF_LETOR if letor else ()), *(_CACHE if cache else ()))

    def decorate(command: T) -> T:
        @wraps(command)
        def collected(**given: Any) -> Any:
            names = [name for name in Columns.__annotations__ if name in given]
            columns = Columns(**{name: given.pop(name) for name in names})
            return command(columns=columns, **given)

        made: Any = collected
        for option in reversed(options):
            made = option(made)
        return made  # type: ignore[no-any-return]

    return decorate


def read_data(paths: Sequence[Path], columns: Columns, *, sparse: bool | None = None) -> "RankingData":
    """Read data to learn from.

    Parameters
    ----------
    paths : files of LETOR's format, or tables.
    columns : what is in them.
    sparse : as in `structsvm.data.load_letor`; tables are dense.

    Raises
    ------
    InputError : as `structsvm.data.load_letor` and `structsvm.data.load_table`.
    """
    if columns.are_tables(paths):
        return _read_tables(paths, columns, labels=True, queries=True)
    from structsvm.data import load_letor

    return load_letor(paths, sparse=sparse, dtype=columns.dtype, groups=columns.groups or None, cache=columns.cache)


def read_as_wide(
    paths: Sequence[Path],
    known: int,
    beyond: str,
    names: tuple[str, ...] | None = None,
    *,
    doc_ids: bool = False,
    few: Callable[[int], None] = lambda found: None,
    columns: Columns = Columns(),
    labels: bool = True,
    queries: bool = True,
    sparse: bool | None = None,
) -> "RankingData":
    """Read data with a given number of features.

    Parameters
    ----------
    paths : files of LETOR's format, or tables.
    known : the number.
    beyond : what is said of a line with further ones.
    names : their names; None where they have none. Tables are read by them, in this order.
    doc_ids : whether to read document ids too.
    few : is shown the number in the files where it is smaller.
    columns : what is in the files.
    labels, queries : whether these must be there; a note says where a file is taken for one query.
    sparse : as in `structsvm.data.load_letor`; tables are dense.

    Raises
    ------
    InputError : the data cannot be read, or have other features.
    """
    if columns.are_tables(paths):
        chosen = set(columns.features or names or ())
        missing = [name for name in names or () if name not in chosen]
        if missing:
            raise InputError(f"--features leaves out {quoted(missing[0])}, a feature that is known here: name it too")
        columns = evolve(columns, features=names or columns.features)
        data = _read_tables(paths, columns, labels=labels, queries=queries)
        if data.X.shape[1] != known:
            raise InputError(
                f"{paths[0]} has {counted(data.X.shape[1], 'column')} of features, and {counted(known, 'feature')} are "
                "known here: name those columns, in their order (--features)"
            )
        return data
    from structsvm.data.letor import load_rows
    from structsvm.data.letor_rows import Reading

    how = Reading(
        n_features=known,
        beyond=beyond,
        doc_ids=doc_ids,
        labels=labels,
        queries=queries,
        sparse=sparse,
        dtype=columns.dtype,
    )
    rows = load_rows(paths, how, columns.groups)
    if rows.width < known:
        few(rows.width)
    for path in rows.without_queries:
        note(f"{path} has no query ids, and no file of group sizes is beside it: all of it is taken as one query")
    found = rows.feature_names
    data = rows.data(known, sparse=sparse)
    if not names or not found or found == names[: len(found)]:
        return data
    for path, of_file in rows.names:
        if of_file and set(of_file) != set(names):
            _refuse_names(names, of_file, path)
    places = {name: place for place, name in enumerate(found)}
    order = [places[name] for name in names]
    return evolve(data, X=data.X[:, order], feature_names=names)


def _refuse_names(names: tuple[str, ...], found: tuple[str, ...], path: Path) -> NoReturn:
    """Say which features a file lacks, or has that are not known."""
    known, there = set(names), set(found)
    unknown, lacking = [n for n in found if n not in known], [n for n in names if n not in there]
    strange = f"names {unknown[0]!r}, which is not known here" if unknown else f"does not name {lacking[0]!r}"
    raise InputError(
        f"{path} {strange}: features are found by name, and its comments must name the "
        f"{counted(len(names), 'feature')} that are known, in any order"
    )


def _read_tables(paths: Sequence[Path], columns: Columns, *, labels: bool, queries: bool) -> "RankingData":
    from structsvm.data.table import Naming, read_tables

    naming = Naming(
        columns.label or Naming().label, columns.qid or Naming().qid, columns.docid, columns.features, labels, queries
    )
    data, left_out = read_tables(paths, naming, columns.dtype)
    if left_out.words:
        note(f"columns that are not numbers are left out: {', '.join(left_out.words)}")
    if left_out.ids:
        note(
            f"columns of numbers that are named as ids are left out: {', '.join(left_out.ids)}. --docid takes the one "
            "of document ids, and --features names those to learn from"
        )
    return data
