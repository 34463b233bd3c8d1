"""No output of a command replaces an input or another output, whatever they are called."""

import gzip
import inspect
import os
from pathlib import Path

import click
import pytest
from attrs import fields

from structsvm.cli import _HOMES, main
from structsvm.cli.shared import command as checks
from structsvm.cli.shared import paths
from structsvm.cli.shared.command import Command
from structsvm.cli.shared.data import Columns
from structsvm.cli.shared.results import Outputs
from tests.cli.conftest import write_letor
from tests.protocols.experiment.report.conftest import made_up
from tests.slow import slow

COMMANDS = [main.get_command(click.Context(main), name) for name in _HOMES]


def paths_of(command):
    return [param for param in command.params if isinstance(param.type, paths.PathType)]


def is_input(param):
    return param.type.reads is not paths.nothing


def is_output(param):
    return param.type.writes is not paths.nothing


PAIRS = [
    pytest.param(command, output, other, id=f"{command.name} {output.name} {other.name}")
    for command in COMMANDS
    for output in filter(is_output, paths_of(command))
    for other in filter(is_input, paths_of(command))
]


def itself(target):
    return target


def around(target):
    return Path("..") / Path.cwd().name / target


def symbolic_link(target):
    Path("first").symlink_to(target)
    Path("link").symlink_to("first")
    return Path("link")


def hard_link(target):
    Path("link").hardlink_to(target)
    return Path("link")


def make_input(param):
    """Make the input of a parameter, and return its name and one of its files."""
    name = Path(param.name)
    if param.name == "folder":
        name.mkdir()
        made_up().save(name / "results.json")
    elif not param.type.file_okay or param.type.reads_all:
        name.mkdir()
        for number in range(1, 4):
            write_letor(name / f"S{number}.txt", queries=3, documents=4, features=2, first_qid=10 * number)
    else:
        write_letor(name, queries=3, documents=4, features=2)
    return next(path for path in (name, *sorted(name.glob("*"))) if path.is_file())


def command_line(command, output, value):
    """Return a command line with all inputs, and this for the output."""
    words = [command.name]
    for param in filter(lambda param: is_input(param) or param is output, paths_of(command)):
        if param is not output and not Path(param.name).exists():
            make_input(param)
        words += [param.opts[-1]] * isinstance(param, click.Option) + [value if param is output else param.name]
    for param in paths_of(command):
        if param.required and not is_input(param) and param is not output:
            words += [param.opts[-1], "another"]
    for param in command.params:
        if param.required and isinstance(param.type, click.Choice):
            words += [param.opts[-1], param.type.choices[0]]
    if command.name == "export":
        words += ["--format", "json"]
    return words


def contents():
    return {path: path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("way", [itself, symbolic_link, *slow(around, hard_link)])
@pytest.mark.parametrize(("command", "output", "other"), PAIRS)
def test_no_output_replaces_an_input(run, command, output, other, way):
    target = make_input(other)
    value = file = way(target)
    if not output.type.file_okay:  # a folder, where one of the files to be written is the input
        value = target.parent if output is other else Path("made")
        value.mkdir(exist_ok=True)
        file = list(output.type.writes(value))[-1]
        file.parent.mkdir(exist_ok=True)
        os.link(target, file) if way is hard_link else file.symlink_to(target.absolute())
    words = command_line(command, output, value)
    before = contents()
    (line,) = run(*words, code=2).stderr.splitlines()
    name = max(output.opts, key=len) if isinstance(output, click.Option) else "FOLDER"
    assert line.startswith(f"structsvm: error: {name} {file} would replace the input {target}")
    assert contents() == before


BESIDE = [pair for pair in PAIRS if pair.values[2].type in (paths.DATA, paths.FOLDS) and pair.values[1].type.file_okay]


@pytest.mark.parametrize(("suffix", "there"), [(".query", True), (".group", False)])
@pytest.mark.parametrize(("command", "output", "other"), BESIDE)
def test_no_output_replaces_or_becomes_a_file_of_group_sizes(run, command, output, other, suffix, there):
    target = make_input(other)
    beside = target.with_name(target.name + suffix)
    if there:
        beside.write_text("4\n4\n4\n")
    words = command_line(command, output, around(beside))
    before = contents()
    (line,) = run(*words, code=2).stderr.splitlines()
    replaced = f"would replace the input {beside}, which is the same file"
    assert (replaced if there else "the next run would read ") in line
    assert contents() == before


def test_sizes_beside_packed_data_are_inputs(run):
    write_letor(Path("g.txt"), queries=3, documents=4, features=2)
    Path("g.txt.gz").write_bytes(gzip.compress(Path("g.txt").read_bytes()))
    Path("g.txt.group").write_text("4\n4\n4\n")
    (line,) = run("train", "g.txt.gz", "--model", "g.txt.group", code=2).stderr.splitlines()
    assert "--model g.txt.group would replace the input g.txt.group" in line


def test_every_command_is_looked_at():
    assert all(isinstance(command, Command) for command in COMMANDS)
    assert len(PAIRS) >= 12


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_path_is_an_input_or_an_output(command):
    hints = inspect.get_annotations(inspect.unwrap(command.callback))
    described = {paths.NEW_FILES}  # the files are those of `also_writes`
    names = {
        param.name for param in paths_of(command) if is_input(param) or is_output(param) or param.type in described
    }
    together = {field.name: field.type for field in fields(Columns)} if "columns" in hints else {}
    if "outputs" in hints:
        together |= {f"{field.name}_path": field.type for field in fields(Outputs)}
    hints |= {param.name: together[param.name] for param in command.params if param.name in together}
    assert names == {name for name, hint in hints.items() if "Path" in str(hint)}
    assert names == {param.name for param in command.params if isinstance(param.type, click.Path | click.File)}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("compare", "train.txt", "--csv", "a", "--plot", "../{here}/a"),
            "--csv a and --plot ../{here}/a are the same",
        ),
        (("compare", "train.txt", "--csv", "dangling", "--json", "nothing"), "--csv dangling and --json nothing are"),
        (("compare", "train.txt", "--csv", "linked", "--json", "there"), "--csv linked and --json there are the same"),
        (("benchmark", ".", "--out", "out"), "--out out/tables.txt and --out out/tables.md are the same file"),
    ],
)
def test_no_output_replaces_another(run, here, words, message):
    Path("dangling").symlink_to("nothing")
    Path("there").write_text("")
    Path("linked").hardlink_to("there")
    Path("out").mkdir()
    Path("out/tables.md").symlink_to("tables.txt")
    (line,) = run(*(word.format(here=here.name) for word in words), code=2).stderr.splitlines()
    assert line.startswith(f"structsvm: error: {message.format(here=here.name)}")


@pytest.mark.parametrize("folder", ["runs", "runs/../runs", "link"])
def test_nothing_is_written_to_a_folder_that_is_read_as_a_whole(run, here, folder):
    Path("runs").mkdir()
    Path("link").symlink_to("runs")
    write_letor(Path("runs/a"), queries=3, documents=4, features=2)
    for words in (
        ("fuse", "runs", "--output", f"{folder}/new"),
        ("experiment", "--runs", "runs", "--qrels", "test.txt", "--out", folder),
        ("benchmark", "runs", "--out", folder),
    ):
        (line,) = run(*words, code=2).stderr.splitlines()
        assert line.endswith(" is in the input folder runs, so the next run would read it: choose another folder")
    assert [path.name for path in Path("runs").iterdir()] == ["a"]


def test_tables_of_a_benchmark_are_not_among_its_data(run, here):
    Path("data/Fold1").mkdir(parents=True)
    for qid, name in enumerate(("train", "vali", "test")):
        write_letor(Path(f"data/Fold1/{name}.txt"), queries=3, documents=4, features=2, first_qid=10 * qid)
    command = ("benchmark", "data", "--models", "borda-count", "--jobs", 1, "-q", "--out")
    (line,) = run(*command, "data/Fold1", code=2).stderr.splitlines()
    assert line.startswith("structsvm: error: --out data/Fold1/folds.jsonl is in the input folder data/Fold1")
    assert "tables.csv in data/tables\n" in run(*command, "data/tables").stdout.replace(", tables.json", "")


def test_names_that_a_file_system_may_take_for_one(tmp_path):
    assert checks._identity(tmp_path / "Rows.csv") == checks._identity(tmp_path / "rows.CSV")
    assert checks._identity(tmp_path / "Rows.csv") != checks._identity(tmp_path / "other")
    (tmp_path / "Rows.csv").touch()
    assert checks._identity(tmp_path / "Rows.csv") != checks._identity(tmp_path / "rows.CSV")


def test_standard_output_does_not_go_to_an_input(process):
    before = Path("train.txt").read_bytes()
    with Path("train.txt").open("ab") as file:
        one = process("evaluate", "m.npz", "train.txt", stdout=file)
        _, printed = one.communicate(timeout=60)
    assert (one.returncode, printed) == (
        2,
        b"structsvm: error: standard output goes to the input train.txt: send it elsewhere\n",
    )
    assert Path("train.txt").read_bytes() == before


def test_a_checkpoint_of_a_value_of_C_is_an_output_too(run, here):
    train = ("train", "train.txt", "--C-grid", "1:10:2", "--validation", "test.txt")
    (line,) = run(*train, "--checkpoint", "fit.npz", "--model", "fit.C=1.0.npz", code=2).stderr.splitlines()
    assert line == (
        "structsvm: error: --model fit.C=1.0.npz and --checkpoint fit.C=1.0.npz are the same file: each output needs "
        "its own"
    )
    run("train", "train.txt", "--checkpoint", "fit.npz", "--model", "fit.C=1.0.npz")


def test_the_file_of_finished_rows_is_an_output_too(run, here):
    Path("rows.csv.part").write_bytes(Path("train.txt").read_bytes())
    before = contents()
    (line,) = run("compare", "rows.csv.part", "--csv", "rows.csv", code=2).stderr.splitlines()
    assert line.startswith("structsvm: error: --csv rows.csv.part would replace the input rows.csv.part")
    assert contents() == before
