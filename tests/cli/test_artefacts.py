"""No output of a command replaces a file of another kind, a protected file, a folder or a device."""

import os
import shutil
from pathlib import Path

import pytest

from structsvm import Ranker
from structsvm.cli.shared.paths import NEW_FOLDER
from structsvm.data import load_letor
from structsvm.foundation.storage import artefacts
from structsvm.text import Analyzer, Index
from tests.cli.conftest import write_letor
from tests.cli.test_paths import COMMANDS, command_line, is_output, paths_of

TEXT, EMPTY, PROTECTED, FOLDER = "a text", "an empty file", "a protected file", "a folder"
LINK, LOOP, PIPE = "a link to an index", "a loop of links", "a pipe"
KINDS = (
    artefacts.MODEL,
    artefacts.CHECKPOINT,
    artefacts.RESULT,
    artefacts.INDEX,
    artefacts.CACHE,
    artefacts.PARTS,
    *(TEXT, EMPTY, PROTECTED, FOLDER, LINK, LOOP, PIPE),
)

OUTPUTS = [
    pytest.param(command, output, id=f"{command.name} {output.name}")
    for command in COMMANDS
    for output in filter(is_output, paths_of(command))
]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return a folder with a file of each kind."""
    folder = tmp_path_factory.mktemp("artefacts")
    data = load_letor(write_letor(folder / "train.txt", queries=5, documents=6, features=2))
    ranker = Ranker().fit(data.X, data.y, data.qid)
    ranker.save(folder / artefacts.MODEL)
    ranker.result_.save(folder / artefacts.RESULT)
    ranker.fit(data.X, data.y, data.qid, checkpoint=folder / artefacts.CHECKPOINT)
    Index.build([("a", {"text": "wing"})], Analyzer(None, None)).save(folder / artefacts.INDEX)
    load_letor(folder / "train.txt", cache=folder / artefacts.CACHE)
    (folder / artefacts.PARTS).write_text('{"settings":{},"data":"","versions":{},"format":3}\n')
    (folder / TEXT).write_text("notes\n")
    (folder / EMPTY).touch()
    return folder


def put(kind, path, written):
    """Put something of a kind at a path, and return the file that must stay; None if it is not a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    match kind:
        case "a folder":
            path.mkdir()
        case "a loop of links":
            path.symlink_to(path.name)
        case "a pipe":
            os.mkfifo(path)
        case "a link to an index":
            path.symlink_to(Path(shutil.copy(written / artefacts.INDEX, "target")).absolute())
        case "a protected file":
            path.write_text("notes\n")
            path.chmod(0o444)
        case _:
            shutil.copy(written / kind, path)
    return path.resolve() if path.is_file() else None


def accepts(output, kind):
    if output.type is NEW_FOLDER:
        return False
    if kind == PIPE:
        return output.type.pipes
    if output.type.kind is None:
        return kind in (TEXT, EMPTY)
    return output.type.kind == (artefacts.INDEX if kind == LINK else kind)


@pytest.mark.parametrize(("command", "output"), OUTPUTS)
def test_outputs_replace_files_of_their_kind_only(run, written, command, output):
    for number, kind in enumerate(KINDS):
        value = path = Path(f"out{number}.svg")
        if not output.type.file_okay:
            path = [file for file in output.type.writes(value) if file.suffix != ".jsonl"][-1]
        words = command_line(command, output, value)
        file = put(kind, path, written)
        before = file and (file.read_bytes(), file.stat())
        if accepts(output, kind):
            output.type.check_output(path)
        else:
            (line,) = run(*words, code=2).stderr.splitlines()
            assert line.startswith((f"structsvm: error: {path} ", f"structsvm: error: {value} is not empty")), kind
        assert before == (file and (file.read_bytes(), file.stat())), kind
        assert os.path.lexists(path), kind


@pytest.mark.parametrize(("command", "output"), [case for case in OUTPUTS if case.values[1].type.file_okay])
def test_folders_and_streams_are_rejected_as_outputs(run, command, output):
    for path in ("/", ".", "..", *(() if output.type.pipes else ("/dev/stdout", "/proc/self/fd/1"))):
        (line,) = run(*command_line(command, output, path), code=2).stderr.splitlines()
        assert line.endswith(("it is a folder", "it is not a regular file"))


@pytest.mark.parametrize("redirection", [">", ">>"])
def test_standard_output_by_its_name_is_not_replaced(process, model, redirection):
    with Path("scores").open("wb" if redirection == ">" else "ab") as file:
        file.write(b"before\n")
        file.flush()
        assert process("predict", model, "test.txt", "-o", "/dev/stdout", stdout=file).wait(60) == 0
    first, *scores = Path("scores").read_text().splitlines()
    assert (first, len(scores)) == ("before", 60)


@pytest.mark.parametrize("content", [b"", b"notes", b'{"settings":', b'{"settings":{}}\n', b"notes\n"])
def test_the_record_of_a_comparison_spares_other_files(run, here, content):
    Path("rows.csv.part").write_bytes(content)
    (line,) = run("compare", "train.txt", "--solver", "one-slack", "--csv", "rows.csv", code=2).stderr.splitlines()
    assert line.startswith("structsvm: error: rows.csv.part ")
    assert Path("rows.csv.part").read_bytes() == content
