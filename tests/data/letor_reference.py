"""LETOR's format read line by line, slowly, as a reference for the reader."""

import re

NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
LINE = re.compile(rf"[ \t]*({NUMBER})[ \t]+qid:([+-]?[0-9]+)((?:[ \t]+\+?[0-9]+:{NUMBER})*)[ \t]*(?:#.*)?")


def read_rows(content: bytes) -> list[tuple[float, int, dict[int, float]]] | None:
    """Return label, query and features of each row; None if the file is invalid."""
    rows = []
    content = content.removeprefix(b"\xef\xbb\xbf")
    for line in re.split(rb"\r*\n", content.rstrip(b"\r")):
        text = line.decode(errors="surrogateescape")
        if "\0" in text or "\r" in text or text.startswith("\ufeff"):
            return None
        if not text.partition("#")[0].strip(" \t"):
            continue
        match = LINE.fullmatch(text)
        if match is None:
            return None
        pairs = [cell.split(":") for cell in match[3].split()]
        features = {int(index): float(value) for index, value in pairs}
        if list(features) != sorted(features) or len(features) < len(pairs):
            return None
        row = (float(match[1]), int(match[2]), features)
        if not all(abs(number) < float("inf") for number in (row[0], *features.values())):
            return None
        if not -(2**63) <= row[1] < 2**63 or any(not 0 < index < 2**31 for index in features):
            return None
        rows.append(row)
    return rows
