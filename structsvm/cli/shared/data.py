"""Options about data files, and readers for LETOR's format and tables."""

from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click
from attrs import evolve, frozen

from structsvm.cli.shared.console import note, warnings_as_notes
from structsvm.cli.shared.options import several_or_none
from structsvm.cli.shared.paths import CACHE, DATA
from structsvm.data.columns.base import all_tables
from structsvm.exceptions import InputError, counted, first_of, quoted

if TYPE_CHECKING:
    from structsvm.data import RankingData
    from structsvm.metrics import Measure

T = TypeVar("T", bound=Callable[..., Any])


@frozen
class Columns:
    """Options about data files; None for the default columns of `structsvm.data.load_table`."""

    label: str | None = None
    qid: str | None = None
    docid: str | None = None
    weight: str | None = None
    features: tuple[str, ...] | None = None
    categories: tuple[str, ...] | None = None
    groups: tuple[Path, ...] = ()
    float32: bool = False
    zero_based: bool | None = None
    cache: Path | None = None

    def are_tables(self, paths: Sequence[Path]) -> bool:
        """Return whether files are tables, by name or because options name columns; raise InputError for a mix."""
        if not self.named and not all_tables(paths):
            return False
        indices = "" if self.zero_based is None else "--zero-based" if self.zero_based else "--one-based"
        other = "--groups" if self.groups else "--cache" if self.cache else indices
        if other:
            raise click.UsageError(f"{other} is for files in LETOR's format, not for tables: leave it out")
        return True

    @property
    def named(self) -> dict[str, Any]:
        """The column options in use, by role."""
        roles = ("label", "qid", "docid", "weight", "features", "categories")
        return {role: getattr(self, role) for role in roles if getattr(self, role) is not None}

    @property
    def dtype(self) -> str:
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
        help="Tables: columns of features, as a,b,c.  [default: the features of the model, or all other columns of "
        "numbers or categories except ids]",
    ),
    click.option(
        "--categories",
        metavar="COLUMNS",
        multiple=True,
        callback=several_or_none,
        help="Tables: columns whose values are categories, as a,b,c.  [default: the categories of the model, or "
        "columns of texts with 2 to 50 values]",
    ),
)
_OF_TRAINING = (click.option("--weight", metavar="COLUMN", help="Tables: column of weights.  [default: no weights]"),)
_OF_LETOR = (
    click.option(
        "--groups",
        type=DATA,
        multiple=True,
        help="File with the number of lines of each query, for DATA without query ids; repeat it for each DATA file.  "
        "[default: DATA.query or DATA.group]",
    ),
    click.option(
        "--zero-based/--one-based",
        default=None,
        help="DATA counts features from 0, as LightGBM and XGBoost do when they read files, or from 1.  [default: as "
        "the training files of the model, or from 1]",
    ),
    click.option("--float32", is_flag=True, help="Store features in single precision, in half the memory."),
)
_CACHE = (
    click.option(
        "--cache",
        type=CACHE,
        help="File to cache the data in: the next run maps it to memory, unless DATA has changed.",
    ),
)


def with_columns(*, letor: bool = True, cache: bool = False, weight: bool = False) -> Callable[[T], T]:
    """Add the options about data files to a command, which receives them as ``columns``."""
    options = (
        *_OF_TABLES,
        *(_OF_TRAINING if weight else ()),
        *(_OF_LETOR if letor else ()),
        *(_CACHE if cache else ()),
    )

    def decorate(command: T) -> T:
        @wraps(command)
        def collected(**arguments: Any) -> Any:
            names = [name for name in Columns.__annotations__ if name in arguments]
            columns = Columns(**{name: arguments.pop(name) for name in names})
            return command(columns=columns, **arguments)

        decorated: Any = collected
        for option in reversed(options):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def read_data(paths: Sequence[Path], columns: Columns, *, sparse: bool | None = None) -> "RankingData":
    """Read training data in LETOR's format or tables; ``sparse`` as in `structsvm.data.load_letor`."""
    if columns.are_tables(paths):
        return _read_tables(paths, columns, labels=True, queries=True)
    from structsvm.data import load_letor

    with warnings_as_notes():
        data = load_letor(
            paths,
            sparse=sparse,
            dtype=columns.dtype,
            groups=columns.groups or None,
            zero_based=bool(columns.zero_based),
            cache=columns.cache,
        )
    if data.sample_weight is not None:
        from structsvm.data.letor.side_files import weight_files

        note(f"the numbers in {first_of(map(str, weight_files(paths)))} are used as weights")
    return data


def read_as_wide(
    paths: Sequence[Path],
    width: int,
    beyond: str,
    names: tuple[str, ...] | None = None,
    *,
    categories: tuple[str, ...] = (),
    doc_ids: bool | None = False,
    few: Callable[[int], None] = lambda count: None,
    columns: Columns = Columns(),
    zero_based: bool | None = None,
    labels: bool = True,
    queries: bool = True,
    sparse: bool | None = None,
) -> "RankingData":
    """Read data with a known number of features; tables are read by feature ``names``.

    ``zero_based`` is the default of the option, from the training files of the model; a note reports a contradiction.
    ``beyond`` is the error message for a line with more features. ``few`` is called with the number of features if it
    is smaller.
    """
    if columns.are_tables(paths):
        selection = set(columns.features or names or ())
        missing = [name for name in names or () if name not in selection]
        if missing:
            raise InputError(f"--features leaves out {quoted(missing[0])}, a feature of the model: name it too")
        columns = evolve(columns, features=names or columns.features, categories=categories or columns.categories)
        data = _read_tables(paths, columns, labels=labels, queries=queries)
        if data.X.shape[1] != width:
            raise InputError(
                f"{paths[0]} has {counted(data.X.shape[1], 'column')} of features, but the model has "
                f"{counted(width, 'feature')}: name its columns in order (--features)"
            )
        return data
    from structsvm.data.letor.reading import Reading, read_rows

    if zero_based is not None and columns.zero_based is (not zero_based):
        option = "--one-based" if zero_based else "--zero-based"
        note(
            f"the model was trained on files that count features from {1 - zero_based}, but {option} counts the "
            f"features of {paths[0]} from {int(zero_based)}"
        )
    how = Reading(
        n_features=width,
        beyond=beyond,
        doc_ids=doc_ids,
        labels=labels,
        queries=queries,
        sparse=sparse,
        dtype=columns.dtype,
        zero_based=bool(zero_based if columns.zero_based is None else columns.zero_based),
    )
    rows = read_rows(paths, how, columns.groups)
    if rows.width < width:
        few(rows.width)
    for path in rows.without_queries:
        note(f"{path} has no query ids and no file of group sizes beside it: the whole file counts as one query")
    file_names = rows.feature_names
    data = rows.data(width, sparse=sparse)
    if not names or not file_names or file_names == names[: len(file_names)]:
        return data
    for path, of_file in rows.names:
        if of_file and set(of_file) != set(names):
            _refuse_names(names, of_file, path)
    places = {name: place for place, name in enumerate(file_names)}
    order = [places[name] for name in names]
    return evolve(data, X=data.X[:, order], feature_names=names)


def read_judges(
    paths: Sequence[Path],
    width: int,
    measure: "Measure",
    columns: Columns,
    names: tuple[str, ...] | None,
    *,
    categories: tuple[str, ...] = (),
    sparse: bool | None = None,
) -> "RankingData":
    """Read validation queries with these features; raise InputError if the measure has no value on them."""
    import numpy as np

    from structsvm.metrics import rank_lists

    beyond = f"there is a feature beyond the {width} of the training files"
    columns = evolve(columns, groups=())
    judges = read_as_wide(paths, width, beyond, names, categories=categories, columns=columns, sparse=sparse)
    if np.isnan(measure.values(rank_lists(np.zeros(len(judges.y)), judges.y, judges.qid))).all():
        raise InputError(
            f"--validation {', '.join(map(str, paths))} cannot choose a value of --C-grid: {measure} is undefined on "
            "all of its queries, for example because no document is relevant. Check the labels, or name other queries"
        )
    return judges


def require_present(data: "RankingData") -> None:
    """Raise InputError for missing features, which the solvers do not take."""
    import numpy as np

    if not isinstance(data.X, np.ndarray) or not np.isnan(data.X).any():
        return
    counts = np.isnan(data.X).sum(axis=0)
    column = int(np.flatnonzero(counts)[0])
    name = f"feature {column + 1}" if data.feature_names is None else quoted(data.feature_names[column])
    more = int(np.count_nonzero(counts)) - 1
    others = f", and {counted(more, 'other', 'others')} too" if more else ""
    raise InputError(
        f"{name} is missing in {counts[column]:,} of {len(data.X):,} documents{others}: "
        "give --missing median, mean or a number, or train with --ranker trees, which learns from missing features"
    )


def _refuse_names(names: tuple[str, ...], names_of_file: tuple[str, ...], path: Path) -> NoReturn:
    """Raise InputError with the features that a file lacks, or that are unknown."""
    expected, there = set(names), set(names_of_file)
    unknown, lacking = [n for n in names_of_file if n not in expected], [n for n in names if n not in there]
    strange = f"names the unknown feature {unknown[0]!r}" if unknown else f"does not name the feature {lacking[0]!r}"
    raise InputError(
        f"{path} {strange}: features are matched by name, so the comments of the file must name the "
        f"{counted(len(names), 'feature')} of the model, in any order"
    )


def _read_tables(paths: Sequence[Path], columns: Columns, *, labels: bool, queries: bool) -> "RankingData":
    from structsvm.data.table import Naming, read_tables

    naming = Naming(**columns.named, labels=labels, queries=queries)
    data, left_out = read_tables(paths, naming, columns.dtype)
    if data.categories and not columns.features:
        note(f"columns of categories, each value a feature of 0 or 1: {', '.join(data.categories)}")
    if left_out.others:
        note(
            f"left out columns that are neither numbers nor categories: {', '.join(left_out.others)}. Make numbers of "
            "dates, such as days; name columns of categories with --categories"
        )
    if left_out.unknown:
        note(f"categories that the training data lack, which are 0 in all features: {', '.join(left_out.unknown)}")
    if left_out.ids:
        note(
            f"left out columns of numbers that have names of ids or of a saved index: {', '.join(left_out.ids)}. Name "
            "document ids with --docid, features with --features"
        )
    return data
