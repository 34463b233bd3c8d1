"""The file of finished trials."""

import json

import pytest

from structsvm.exceptions import DataFormatError, InputError
from structsvm.foundation.storage.records import FORMAT, Header, open_records
from structsvm.protocols.experiment.plan import ExperimentPlan
from structsvm.protocols.plan import TRIALS as NAME
from structsvm.protocols.plan import count_trials
from structsvm.protocols.results import ModelFit, Trial

SETTINGS = {"trials": 5, "random_state": 0, "models": {"SVM-map": "C 1", "SVM-roc": "C 2"}}
TRIALS = ExperimentPlan.kind
HEADER = Header(SETTINGS, "abc", {"numpy": "2.0"})
FIT = ModelFit(
    values=(0.1, 1.0),
    validation=(0.3, 1 / 3),
    test=(0.2, 0.25),
    seconds=(0.01, 0.02),
    gaps=(1e-3, None),
    features=850,
    chosen=1,
    measures={"map": 0.1, "iprec@0": 0.5},
    queries={"map": (0.1,), "tied": (0.3,)},
)


def trial(number):
    return Trial(
        name=str(number),
        train=("q0", "q1"),
        validation=("q2",),
        test=("q3",),
        documents=(2, 1, 1),
        seconds=0.1 + 0.2,
        fits={"with-best": {"SVM-map": FIT}},
    )


def write(folder, *numbers):
    with open_records(folder / NAME, HEADER, TRIALS) as records:
        for number in numbers:
            records.append(trial(number))


def read(folder, header=HEADER):
    with open_records(folder / NAME, header, TRIALS) as records:
        return records


def test_trials_come_back_to_the_last_digit_and_in_order(tmp_path):
    write(tmp_path / "new" / "folder", 3, 1)
    write(tmp_path / "new" / "folder", 2)
    assert [count_trials(tmp_path / folder) for folder in ("", "new/folder")] == [0, 3]
    records = read(tmp_path / "new" / "folder")
    assert records.parts == (trial(1), trial(2), trial(3))
    assert records.header == HEADER


@pytest.mark.parametrize("lost", [1, 2, 40, "half"])
def test_a_torn_last_line_is_dropped(tmp_path, lost):
    write(tmp_path, 0, 1)
    path = tmp_path / NAME
    content = path.read_bytes()
    last = content.splitlines(keepends=True)[-1]
    path.write_bytes(content[: -(len(last) // 2 if lost == "half" else lost)])
    assert read(tmp_path).parts == (trial(0),)
    write(tmp_path, 1)
    assert path.read_bytes() == content


@pytest.mark.parametrize("length", [0, 1, 20, None])
def test_a_folder_without_a_trial_is_free_even_if_its_header_is_torn(tmp_path, length):
    write(tmp_path)
    path = tmp_path / NAME
    content = path.read_bytes()
    path.write_bytes(content[:length])
    other = Header(SETTINGS | {"random_state": 1}, "def", {})
    assert read(tmp_path, other).header == other
    write(tmp_path)
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (Header(SETTINGS | {"random_state": 1}, "abc", {}), "random_state was 0, now 1"),
        (Header(SETTINGS | {"trials": 6, "random_state": 1}, "abc", {}), "trials was 5, now 6; random_state was 0"),
        (Header(SETTINGS, "def", {}), "the documents, scores or judgments differ"),
        (Header(SETTINGS | {"models": {"SVM-map": "C 1"}}, "abc", {}), "models were SVM-map, SVM-roc, now SVM-map"),
        (
            Header(SETTINGS | {"models": {"SVM-map": "C 1", "SVM-roc": "C 3"}}, "abc", {}),
            "the settings of SVM-roc differ",
        ),
    ],
)
def test_the_folder_of_another_experiment_is_refused(tmp_path, header, message):
    write(tmp_path, 0)
    before = (tmp_path / NAME).read_bytes()
    with pytest.raises(InputError, match=rf"belongs to another experiment \({message}.*choose another output folder"):
        read(tmp_path, header)
    assert (tmp_path / NAME).read_bytes() == before


@pytest.mark.parametrize("content", ["notes\n", "notes", '{"a": 1}\n', "\xff\n", '{"settings":1}\n{}\n'])
def test_a_file_of_another_kind_is_refused(tmp_path, content):
    (tmp_path / NAME).write_text(content, encoding="latin-1")
    with pytest.raises(InputError, match="is not a file of trials"):
        read(tmp_path)
    assert (tmp_path / NAME).read_text(encoding="latin-1") == content


def test_the_message_about_a_damaged_line_has_its_number(tmp_path):
    write(tmp_path, 0, 1)
    path = tmp_path / NAME
    lines = path.read_text().splitlines(keepends=True)
    damaged = json.loads(lines[1])
    del damaged["seconds"]
    path.write_text(lines[0] + json.dumps(damaged) + "\n" + lines[2])
    with pytest.raises(DataFormatError, match="line 2: this is not a trial .*remove the line"):
        read(tmp_path)


@pytest.mark.parametrize("number", [FORMAT - 1, FORMAT + 1])
def test_another_format_is_refused(tmp_path, number):
    write(tmp_path, 0)
    before = (tmp_path / NAME).read_bytes().replace(b'"format":%d' % FORMAT, b'"format":%d' % number)
    (tmp_path / NAME).write_bytes(before)
    with pytest.raises(
        InputError, match=rf"another version .* wrote this file \(format {number}; this version reads f"
    ):
        read(tmp_path)
    assert (tmp_path / NAME).read_bytes() == before


def test_two_processes_do_not_write_at_once(tmp_path):
    with (
        open_records(tmp_path / NAME, HEADER, TRIALS),
        pytest.raises(InputError, match="another process runs the experiment"),
    ):
        read(tmp_path)


def test_the_message_names_a_folder_that_cannot_be_created(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="file/out/trials.jsonl cannot be written"):
        read(tmp_path / "file" / "out")
