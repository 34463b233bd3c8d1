"""Options for collections, topics and judgments, shared by several commands."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import click

from structsvm.cli.shared.options import accepted_by, list_option, needing, several
from structsvm.registry.spelling import is_whole

T = TypeVar("T", bound=Callable[..., Any])

_GRADE = re.compile(r"([+-]?\d{1,18})\s*=\s*([+-]?\d{1,18})", re.ASCII)


def _as_format(_ctx: click.Context, _param: click.Parameter, name: str) -> str:
    from structsvm.data.collections.reading import AUTO, FORMATS

    if name not in (AUTO, *FORMATS):
        raise click.BadParameter(f"unknown format {name!r}; known: {', '.join((AUTO, *FORMATS))}")
    return name


def _require_encoding(name: str) -> None:
    from structsvm.data.collections.files import require_encoding

    require_encoding(name)


def _as_grades(ctx: click.Context, param: click.Parameter, text: str | None) -> dict[int, int] | None:
    """Parse "1=4,2=3" into a dict from old to new grades."""
    if text is None:
        return None
    grades: dict[int, int] = {}
    for part in several(ctx, param, (text,)):
        match = _GRADE.fullmatch(part)
        if not match:
            raise click.BadParameter(f"{part!r} is not of the form OLD=NEW, with whole numbers: write 1=4,2=3")
        if int(match[1]) in grades:
            raise click.BadParameter(f"grade {int(match[1])} is given twice: leave one out")
        grades[int(match[1])] = int(match[2])
    return grades


_WITH_FORMAT = click.option(
    "--format",
    metavar="NAME",
    default="auto",
    callback=_as_format,
    help="Format: trec, smart, lisa, jsonl (an object on each line), tsv (id and text), tsv-header (the first "
    "line names the columns), or auto, which recognizes trec, smart, lisa and jsonl by their first characters.",
)

_WITH_ENCODING = click.option(
    "--encoding",
    metavar="NAME",
    default="utf-8",
    callback=accepted_by(_require_encoding),
    help="Encoding of the texts.",
)

_WITH_ID_FIELD = click.option(
    "--id-field", metavar="NAME", help="Field that holds the id, in jsonl and tsv-header.  [default: found by its name]"
)


def with_texts(command: T) -> T:
    """Add --format, --encoding and --id-field, the arguments of `structsvm.data.read_topics`."""
    return _WITH_FORMAT(_WITH_ENCODING(_WITH_ID_FIELD(command)))


with_fields = list_option("--fields", help="Fields of the documents to keep, as in title,text.  [default: all]")

with_numbering = click.option(
    "--numbering",
    type=click.Choice(["given", "position"]),
    default="given",
    help="Ids of topics: given, as in the file, or position, which is 1, 2, 3, ... as in Cranfield's judgments.",
)

with_grades = click.option(
    "--grades",
    metavar="PAIRS",
    callback=_as_grades,
    **needing("--qrels"),
    help="New grade for each grade in the judgments, such as 1=4,2=3,3=2,4=1,-1=0 for Cranfield, whose best grade is "
    "1.  [default: as given]",
)


def expanded(topics: Iterable[str], names: Iterable[str]) -> Iterator[str]:
    """Yield topics; replace ranges such as 301-350 by the known topics in them."""
    every = list(dict.fromkeys(names))
    for text in topics:
        ends = re.fullmatch(r"(\d{1,18})-(\d{1,18})", text, re.ASCII)
        if ends and text not in every:
            numbers = (name for name in every if is_whole(name))
            yield from (name for name in numbers if int(ends[1]) <= int(name) <= int(ends[2]))
        else:
            yield text
