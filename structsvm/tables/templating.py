"""Templates of the package, and what they escape."""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        '"': r"\textquotedbl{}",
        "|": r"\textbar{}",
        "[": "{[}",  # after the end of a row, this and a star have a meaning
        "*": r"\textasteriskcentered{}",
        **{character: "\\" + character for character in "&%$#_{}"},
    }
)


def escape_latex(text: str) -> str:
    """Return text that LaTeX sets as it is."""
    return text.translate(_LATEX)


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows as it is, in a cell of a table too."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", " ".join(text.split()))


@cache
def environment(package: str) -> "Environment":
    """Return Jinja's environment for the folder ``templates`` of a package; values in HTML are escaped.

    The filter ``latex`` escapes values in LaTeX.

    Parameters
    ----------
    package : such as ``"structsvm.tables"``.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

    made = Environment(
        loader=PackageLoader(package),
        autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["latex"] = escape_latex
    return made
