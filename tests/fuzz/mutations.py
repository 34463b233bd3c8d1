"""Ways to damage a file: its numbers, words, lines, encoding, bytes and the archive that it is packed in."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from random import Random
from typing import TypeAlias

Damage: TypeAlias = Callable[[Random, bytes], bytes]

NUMBERS = (
    *("0", "-0", "+1", "1.", ".5", "1e3", "1E-3", "007", "1e308", "1.7976931348623157e308", "1e309", "-1e400"),
    *("1e-320", "5e-324", "1e-400", "1e155", "1e290", "3.4028236e38", "16777217", "2147483647", "2147483648"),
    *("4294967296", "9223372036854775807", "9223372036854775808", "-9223372036854775809", "100000000", "1" * 400),
    *("nan", "NaN", "-nan", "inf", "-Infinity", "infinity", "1_0", "1__0", "0x10", "0b1", "1e", "e5", "--1", "+-1"),
    *("1,5", "1.2.3", "1j", "1d5", "1f", "True", "None", "٣", "１", "²", "Ⅷ", "½", "\N{MINUS SIGN}1", "1\u00a00"),
    *("0.1000000000000000055511151231257827021181583404541015625", "9007199254740993", "1e22", "1e23", "8.5e-5"),
)
"""Numbers at the limits, and texts that some readers take for a number."""

WORDS = (
    *(
        "",
        " ",
        "\t",
        "\0",
        "\x07",
        "\x1b[31m",
        "\x1b]0;x\x07",
        "\x85",
        "\u2028",
        "\u202e",
        "\ufeff",
        "\ud7ff",
        "é",
        "😀",
    ),
    *(
        "=1+1",
        "@SUM(1)",
        "-",
        "--",
        "%s",
        "{}",
        "{0}",
        "$HOME",
        "../..",
        "/",
        "//",
        "#",
        ":",
        "::",
        "qid:",
        "qid",
        "1:",
    ),
    *(":1", "0:1", "-1:1", "Q0", "'", '"', "\\", "\\n", "`x`", "<b>&amp;", "(", ")", "((((", "]", ",", ",,", "a" * 300),
)
"""Words that mean something to a terminal, a spreadsheet, a shell, a format or a parser."""


def odd_word(rng: Random) -> str:
    """Return a number or a word; a long one at times."""
    draw = rng.random()
    if draw < 0.55:
        return rng.choice(NUMBERS)
    if draw < 0.97:
        return rng.choice(WORDS)
    return rng.choice("9a\x1b:") * rng.choice([5000, 70_000, 1_000_000])


def damaged(rng: Random, content: bytes, ways: Sequence[Damage] | None = None) -> bytes:
    """Return the content after one to three mutations."""
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        content = rng.choice(ways or _GROUPS[rng.choice(_WEIGHTED)])(rng, content)
    return content


def damaged_bytes(rng: Random, content: bytes) -> bytes:
    """Return binary content after one to three mutations that ignore its format."""
    return damaged(rng, content, _GROUPS["bytes"])


def wide(content: bytes, columns: int = 40_000) -> bytes:
    """Return a table with many more columns."""
    head, *rows = content.splitlines()
    names = b"".join(b",f%d" % k for k in range(columns))
    return b"\n".join([head + names, *(row + b",0" * columns for row in rows), b""])


def odd_judgments(rng: Random, content: bytes) -> bytes:
    """Return judgments with their columns in another order, or grades that are not whole numbers."""
    rows = [row for line in content.splitlines() if len(row := line.split()) == 4] or [[b"1", b"0", b"a", b"1"]]
    if rng.random() < 0.5:
        order = rng.sample(range(4), 4)
        rows = [[row[k] for k in order] for row in rows]
    else:
        rows = [[*row[:3], row[3] + rng.choice([b".0", b".5", b"e0", b"."])] for row in rows]
    return b"".join(b" ".join(row) + b"\n" for row in rows)


def _word(rng: Random, content: bytes) -> bytes:
    """Replace a word, or a part of it between colons."""
    lines = content.split(b"\n")
    k = rng.randrange(len(lines))
    words = lines[k].split(b" ")
    j = rng.randrange(len(words))
    parts = words[j].split(b":")
    new = odd_word(rng).encode(errors="surrogatepass")
    if rng.random() < 0.7:
        parts[rng.randrange(len(parts))] = new
        words[j] = b":".join(parts)
    else:
        words[j] = new
    lines[k] = b" ".join(words)
    return b"\n".join(lines)


def _words_moved(rng: Random, content: bytes) -> bytes:
    """Remove, repeat or exchange words of a line."""
    lines = content.split(b"\n")
    k = rng.randrange(len(lines))
    words = lines[k].split(b" ")
    lines[k] = b" ".join(_moved(rng, words))
    return b"\n".join(lines)


def _lines_moved(rng: Random, content: bytes) -> bytes:
    """Remove, repeat or exchange lines."""
    return b"\n".join(_moved(rng, content.split(b"\n")))


def _moved(rng: Random, pieces: list[bytes]) -> list[bytes]:
    i, j = rng.randrange(len(pieces)), rng.randrange(len(pieces))
    match rng.randrange(4):
        case 0:
            del pieces[i]
        case 1:
            pieces.insert(j, pieces[i])
        case 2:
            pieces[i], pieces[j] = pieces[j], pieces[i]
        case _:
            pieces[i : i + 1] = [pieces[i], b"", b"# comment"][: rng.randint(1, 3)]
    return pieces


def _separators(rng: Random, content: bytes) -> bytes:
    """Write other blanks or line ends, everywhere or once."""
    old = rng.choice([b"\n", b" ", b":"])
    new = rng.choice([b"\r\n", b"\r", b"\n\r", b"\n\n", b"\t", b"  ", b"\x0b", b"\x0c", b"\x1c", b"\x1d", b"\x85", b""])
    new = rng.choice([new, "\u00a0".encode(), "\u2028".encode(), "\u3000".encode()]) if rng.random() < 0.3 else new
    return content.replace(old, new, rng.choice([-1, -1, 1, 2]))


def _end(rng: Random, content: bytes) -> bytes:
    """Cut it off, or let it end in something else."""
    if rng.random() < 0.6:
        return content[: rng.randrange(len(content) + 1)]
    return content.rstrip(b"\n") + rng.choice([b"", b"\r\n", b"\n\n\n", b"\x1a", b"\0", b"\r", b" ", b"\n#", b"#"])


def _encoded(rng: Random, content: bytes) -> bytes:
    """Write the text in another encoding."""
    text = content.decode(errors="replace")
    encoding = rng.choice(["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "utf-7", "cp500", "latin-1"])
    if encoding == "latin-1":
        text = text.replace("# ", "# é ", 1) if "# " in text else f"{text}é"
    return text.encode(encoding, errors="replace")


def _bit(rng: Random, content: bytes) -> bytes:
    if not content:
        return b"\0"
    place, mask = rng.randrange(len(content)), 1 << rng.randrange(8)
    return content[:place] + bytes([content[place] ^ mask]) + content[place + 1 :]


def _stretch(rng: Random, content: bytes) -> bytes:
    """Remove, repeat or replace a stretch of bytes."""
    start = rng.randrange(len(content) + 1)
    length = min(rng.choice([1, 2, 8, 64, 1000]), len(content) - start)
    piece, after = content[start : start + length], content[start + length :]
    new = rng.choice([b"", piece * 2, rng.randbytes(length), b"\0" * length, piece * 50])
    return content[:start] + new + after


def _packed(rng: Random, content: bytes) -> bytes:
    """Pack it, whole or damaged, in one archive or several."""
    packed = gzip.compress(content, mtime=0)
    match rng.randrange(10):
        case 0:
            return packed
        case 1:
            return gzip.compress(packed, mtime=0)
        case 2:
            return packed + packed
        case 3:
            return packed[: rng.randrange(len(packed) + 1)]
        case 4:
            return _bit(rng, packed)
        case 5:
            return packed + rng.choice([b"\0" * 10, b"junk", b"\x1f\x8b"])
        case 6:
            half = content.rfind(b"\n", 0, len(content) // 2) + 1
            return gzip.compress(content[:half], mtime=0) + gzip.compress(content[half:], mtime=0)
        case 7:
            return zlib.compress(content)
        case 8:
            return rng.choice([bz2.compress, lzma.compress])(content)
        case _:
            return rng.choice([b"\x1f\x8b", b"\x1f\x8b\x08\0", b"PK\x03\x04", b"", packed[:10]])


def _bomb(rng: Random, content: bytes) -> bytes:
    """Return a small gzip file that holds a gigabyte, behind the content or alone."""
    filling = rng.choice([b"\0", b"\n", b" ", b"1", b"# a long comment "])
    return rng.choice([b"", gzip.compress(content, mtime=0)]) + _gigabyte(filling)


@cache
def _gigabyte(filling: bytes) -> bytes:
    piece = filling * (2**24 // len(filling))
    return gzip.compress(piece, mtime=0) * 64


_GROUPS: dict[str, tuple[Damage, ...]] = {
    "words": (_word, _word, _words_moved),
    "lines": (_lines_moved, _separators, _end),
    "bytes": (_bit, _stretch, _end),
    "container": (_packed, _packed, _packed, _encoded, _encoded),
    "bomb": (_bomb,),
}
_WEIGHTED = ("words",) * 500 + ("lines",) * 300 + ("bytes",) * 150 + ("container",) * 100 + ("bomb",)
