"""The prose of a file, line by line. Code is ``X``, a formula ``M``; ``¶`` ends a paragraph, a heading or a cell."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from attrs import frozen
from markdown_it import MarkdownIt

TESTS = Path(__file__).resolve().parents[1]
FEWEST_WORDS = 4  # of a string in code that counts as prose
SECTIONS = re.compile(r"^\s*(-{3,}|={3,}|~{3,})\s*$")
PARAMETERS = re.compile(r"\s*\*{0,2}\w+(?:, \*{0,2}\w+)* : ")


@frozen
class Piece:
    """Prose that begins on a line of a file, counted from 1."""

    line: int
    text: str


def prose(path: Path) -> str:
    """Return the prose of a file, each word on the line that it has there."""
    source = path.read_text(encoding="utf-8")
    # Strings of tests are data, or quote the package.
    code = python_without_strings if path.is_relative_to(TESTS) else python
    read = {".md": markdown, ".py": code, ".rst": restructured_text}[path.suffix]
    lines = [""] * (source.count("\n") + 2)
    for piece in read(source):
        for k, text in enumerate(f"{piece.text} ¶".split("\n"), piece.line - 1):
            lines[k] = f"{lines[k]} {text}" if lines[k] else text
    return "¶ " + "\n".join(lines)


def markdown(source: str, first: int = 1) -> Iterator[Piece]:
    """Find the prose of Markdown, and of the directives of MyST in it."""
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    line = 0
    for token in parser.parse(re.sub(r"^:::.*$", "", source, flags=re.MULTILINE)):
        line = token.map[0] if token.map else line
        if token.type == "inline":
            yield Piece(first + line, without_code(token.content))


def without_code(text: str) -> str:
    """Replace code and formulas of Markdown, and leave of links and images their text."""
    text = re.sub(r"(?:\{[\w:]+\})?(`+)(?!`).+?(?<!`)\1(?!`)", as_one("X"), text, flags=re.DOTALL)
    text = re.sub(r"(\$\$?)(?![\s$]).+?\1", as_one("M"), text, flags=re.DOTALL)
    text = re.sub(r"\]\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+\"[^\"]*\")?\)|\]\[[^\]]*\]", "]", text)
    text = re.sub(r"<(?:[a-z]+:[^>]*|/?[a-zA-Z][^>]*)>|<!--.*?-->", as_one(""), text, flags=re.DOTALL)
    return re.sub(r"https?://\S+", "X", re.sub(r"[*\[\]!\\](?=\S)|(?<=\S)[*\[\]]|\b_|_\b", "", text))


def as_one(word: str) -> Callable[[re.Match[str]], str]:
    """Return a replacement by one word that keeps line breaks."""
    return lambda found: word + "\n" * found[0].count("\n")


def python(source: str) -> Iterator[Piece]:
    """Find the prose of a module: docstrings, strings that are sentences, and comments on their own lines."""
    yield from python_without_strings(source)
    tree = ast.parse(source)
    yield from strings(tree, {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)})


def python_without_strings(source: str) -> Iterator[Piece]:
    """Find docstrings, and comments on their own lines."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            for piece in restructured_text(inspect.cleandoc(node.value.value)):
                yield Piece(node.lineno + piece.line - 1, piece.text)
    yield from comments(source)


def strings(tree: ast.AST, bare: set[ast.expr]) -> Iterator[Piece]:
    """Find strings of some words that are not docstrings."""
    inside: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            inside.update(node.values)
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in bare | inside:
            text = node.value
        else:
            continue
        if len(re.findall(r"(?<![\w.])[A-Za-z']+(?![\w(=])", text)) >= FEWEST_WORDS:
            yield Piece(node.lineno, re.sub(r"\s*\n\s*", " ¶ ", without_code(text).strip()))


def comments(source: str) -> Iterator[Piece]:
    """Find comments on their own lines; lines below each other are one text."""
    for result in re.finditer(r"(?:^[ \t]*#(?!!| ?(?:%%|noqa|type:|pragma)).*\n)+", source, flags=re.MULTILINE):
        text = re.sub(r"^[ \t]*#:? ?", "", result[0].rstrip(), flags=re.MULTILINE)
        for piece in restructured_text(text):
            yield Piece(source.count("\n", 0, result.start()) + piece.line, piece.text)


def restructured_text(source: str) -> Iterator[Piece]:
    """Find the paragraphs of reStructuredText and of numpydoc's sections; skip examples, literals and directives."""
    piece: list[str] = []
    first, indent = 0, 0
    example, literal = False, -1  # literal: indentation below which a literal block or a directive ends
    for k, line in enumerate([*source.split("\n"), ""]):
        depth = len(line) - len(line.lstrip())
        blank = not line.strip()
        if literal >= 0 and (blank or depth > literal):
            continue
        literal = -1
        example = (example and not blank) or line.lstrip().startswith(">>> ")
        item = re.match(r"\s*(?:[-*+]|\d+\.|:[\w ]+:) ", line)
        parameters = PARAMETERS.match(line)
        directive = re.match(r"\s*\.\. ", line)
        ruled = SECTIONS.match(line)
        if piece and (blank or item or parameters or example or directive or ruled or depth != indent):
            yield Piece(first + 1, without_code_of_docstrings("\n".join(piece)))
            if blank and piece[-1].endswith("::"):
                literal = indent
            piece = []
        if directive:
            literal = depth
        if blank or example or directive or ruled:
            continue
        if not piece:
            # The description of a parameter continues on indented lines.
            first, indent = k, len(item[0]) if item else depth + 4 if parameters else depth
        piece.append(PARAMETERS.sub("X : ", line).strip())


def without_code_of_docstrings(text: str) -> str:
    """Replace code, formulas and roles."""
    text = re.sub(r":math:`[^`]+`", as_one("M"), text)
    text = re.sub(r"(?::[\w:]+:)?(``?)(?!`).+?(?<!`)\1_?_?", as_one("X"), text, flags=re.DOTALL)
    return re.sub(r"[*|]|https?://\S+", "", text)
