"""Files without text or without an end, pipes, and names that contradict the content."""

import gzip
import io
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from structsvm.data import load_letor, load_qrels, load_run
from structsvm.data.blocks import LONGEST_LINE
from structsvm.exceptions import InputError

LETOR, RUN, QRELS = b"1 qid:1 1:2\n0 qid:1 2:1\n", b"1 Q0 a 1 2.5 t\n1 Q0 b 2 1.5 t\n", b"1 0 a 1\n1 0 b 0\n"
readers = pytest.mark.parametrize(
    ("load", "content"), [(load_letor, LETOR), (load_run, RUN), (load_qrels, QRELS)], ids=["letor", "run", "qrels"]
)


def rows(read) -> int:
    return len(read.qid)


def refusal(load, path: Path) -> str:
    with pytest.raises(InputError) as caught:
        load(path)
    return str(caught.value).removeprefix(f"{path}")


@readers
def test_a_pipe_is_read_once(tmp_path, load, content):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    for sent in (content, gzip.compress(content)):
        writer = threading.Thread(target=path.write_bytes, args=(sent,))
        writer.start()
        assert rows(load(path)) == 2
        writer.join()
    writer = threading.Thread(target=path.write_bytes, args=(content + b"x\n",))
    writer.start()
    assert refusal(load, path).startswith(", line 3: ")
    writer.join()
    writer = threading.Thread(target=path.write_bytes, args=(gzip.compress(content)[:20],))
    writer.start()
    assert "the gzip stream is damaged or cut short" in refusal(load, path)
    writer.join()
    writer = threading.Thread(target=path.write_bytes, args=(b"",))
    writer.start()
    assert refusal(load, path).startswith((": the file has no documents", ": the file is empty"))
    writer.join()


@readers
def test_standard_input(monkeypatch, load, content):
    path = Path("/dev/stdin")
    for sent in (content, gzip.compress(content), b"\xef\xbb\xbf" + content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent)))
        assert rows(load(path)) == 2
    assert refusal(load, path).startswith(": the file ")
    monkeypatch.setattr(sys, "stdin", None)
    assert refusal(load, path) == "cannot read standard input: it is closed"


@readers
@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-be"])
def test_other_encodings_are_named(tmp_path, load, content, encoding):
    path = tmp_path / "file"
    path.write_bytes(content.decode().encode(encoding))
    name = "binary or UTF-16" if encoding[-2:] in ("le", "be") else encoding.upper()
    assert refusal(load, path).startswith(f", line 1: this is {name}, not text in UTF-8")


@readers
def test_a_byte_order_mark_of_utf_8(tmp_path, load, content):
    path = tmp_path / "file"
    path.write_bytes(b"\xef\xbb\xbf" + content)
    assert rows(load(path)) == 2
    path.write_bytes(content + b"\xef\xbb\xbf" + content)
    assert refusal(load, path).startswith(", line 3: a byte order mark begins the line, perhaps because files")


@readers
def test_line_ends(tmp_path, load, content):
    path = tmp_path / "file"
    path.write_bytes(content.replace(b"\n", b"\r\n", 1))
    assert rows(load(path)) == 2
    path.write_bytes(content.replace(b"\n", b"\r\r\n"))
    assert rows(load(path)) == 2
    path.write_bytes(content.rstrip(b"\n"))
    assert rows(load(path)) == 2
    path.write_bytes(content.replace(b"\n", b"\r"))
    assert refusal(load, path).startswith(", line 1: a carriage return within a line: if all line ends are")
    path.write_bytes(content + content.replace(b"\n", b"\r"))
    assert refusal(load, path).startswith(", line 3: a carriage return within a line")


@readers
@pytest.mark.parametrize(
    ("start", "name"),
    [(b"PK\x03\x04", "a zip archive"), (b"\x93NUMPY", "a NumPy array"), (b"PAR1", "Parquet")],
)
def test_other_files_are_named(tmp_path, load, content, start, name):
    path = tmp_path / "file.gz"
    path.write_bytes(start + content)
    message = refusal(load, path)
    assert message.startswith(f", line 1: this is {name}")
    assert message.endswith("despite its name, the file is not compressed with gzip")


@readers
def test_a_nul_is_named_with_its_line(tmp_path, load, content):
    path = tmp_path / "file"
    path.write_bytes(content + b"1\0\n")
    assert refusal(load, path).startswith(", line 3: this is binary or UTF-16, not text")


@readers
def test_names_that_no_file_has(tmp_path, load, content):
    assert "there is no file" in refusal(load, tmp_path / "a\0b")
    assert "too long" in refusal(load, tmp_path / ("x" * 5000))
    assert refusal(load, tmp_path) == " is a directory: name the files in it"


def bomb(path: Path, piece: bytes, times: int) -> None:
    with gzip.open(path, "wb", compresslevel=6) as file:
        for _ in range(times):
            file.write(piece)


LIMITED = """
import resource, sys
from pathlib import Path
import structsvm.data as data
import structsvm.data.letor.block, pandas
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
for line in Path(sys.argv[1]).read_text().split("\\n"):
    kind, path = line.split(" ", 1)
    try:
        getattr(data, kind)(path)
    except data.letor.reading.InputError as error:
        print(error)
    else:
        print("no error")
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


@pytest.mark.slow
def test_files_without_end_and_bombs_take_little_memory(tmp_path):
    """Run in a separate process, whose memory can be measured."""
    bomb(tmp_path / "nul.gz", b"\0" * 2**20, 80)
    bomb(tmp_path / "blank.gz", b" " * 2**20, 80)
    bomb(tmp_path / "lines.gz", b"1 qid:1\n" * 2**17, 80)
    bomb(tmp_path / "twice.gz", gzip.compress(b"1 qid:1\n" * 2**22, 9), 1)
    with (tmp_path / "long").open("wb") as file:
        file.write(b"1 qid:1 1:1 " + b"2" * (LONGEST_LINE - 20))
    with (tmp_path / "features").open("wb") as file:
        file.write(b"1 qid:1" + b"".join(b" %d:1" % k for k in range(1, 300_000)) + b" x")
    tasks = [
        f"{kind} {path}"
        for path in ["/dev/zero", *sorted(map(str, tmp_path.iterdir()))]
        for kind in ("load_letor", "load_run", "load_qrels")
    ]
    (tmp_path / "tasks").write_text("\n".join(tasks))
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "tasks")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    *messages, megabytes = done.stdout.splitlines()
    assert len(messages) == len(tasks)
    for task, message in zip(tasks, messages, strict=True):
        assert task.split(" ")[1] in message
        assert len(message) < 500 + len(str(tmp_path))
    assert "/dev/zero, line 1: this is binary" in messages[0]
    assert int(megabytes) < 450


@readers
def test_a_line_without_end(tmp_path, load, content, monkeypatch):
    monkeypatch.setattr("structsvm.data.blocks.LONGEST_LINE", 100)
    monkeypatch.setattr("structsvm.data.blocks.BLOCK", 50)
    path = tmp_path / "file"
    path.write_bytes(content + b"7" * 101)
    assert refusal(load, path) == ", line 3: the line is longer than 100 bytes"
    path.write_bytes(content + b"7" * 101 + b"\n" + content)
    assert refusal(load, path) == ", line 3: the line is longer than 100 bytes"


def test_no_memory(tmp_path, monkeypatch):
    path = tmp_path / "file"
    for load, parse, content, message in (
        (load_letor, "letor.reading.parse_block", LETOR, "there is no memory for more than its first 0 documents"),
        (load_run, "trec._parse", RUN, "there is not enough memory"),
    ):
        path.write_bytes(content)

        def refuse(*args: object, **settings: object) -> None:
            raise MemoryError

        monkeypatch.setattr(f"structsvm.data.{parse}", refuse)
        assert message in refusal(load, path)
