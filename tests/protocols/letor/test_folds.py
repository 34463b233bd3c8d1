"""Folds are found in all layouts, and missing files are named."""

import re

import pytest

from structsvm.exceptions import InputError
from structsvm.protocols.letor.folds import find_folds


def touch(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def names(paths):
    return [path.name for path in paths]


def test_the_rotation_of_letor(tmp_path):
    touch(tmp_path, *(f"S{k}.txt" for k in range(1, 6)), "README.txt")
    folds = find_folds(tmp_path)
    assert [fold.name for fold in folds] == [f"Fold{k}" for k in range(1, 6)]
    assert [(names(fold.train), names(fold.validation), names(fold.test)) for fold in folds] == [
        (["S1.txt", "S2.txt", "S3.txt"], ["S4.txt"], ["S5.txt"]),
        (["S2.txt", "S3.txt", "S4.txt"], ["S5.txt"], ["S1.txt"]),
        (["S3.txt", "S4.txt", "S5.txt"], ["S1.txt"], ["S2.txt"]),
        (["S4.txt", "S5.txt", "S1.txt"], ["S2.txt"], ["S3.txt"]),
        (["S5.txt", "S1.txt", "S2.txt"], ["S3.txt"], ["S4.txt"]),
    ]


@pytest.mark.parametrize("validation", ["vali.txt", "valid.txt", "validation.txt.gz"])
def test_folders_of_folds_in_the_order_of_their_numbers(tmp_path, validation):
    for fold in ("Fold10", "Fold2"):
        touch(tmp_path / fold, "train.txt", validation, "test.txt", "notes.md")
    touch(tmp_path, "S1.txt")
    folds = find_folds(tmp_path)
    assert [fold.name for fold in folds] == ["Fold2", "Fold10"]
    assert [names(fold.validation) for fold in folds] == [[validation]] * 2
    assert folds[0].train == (tmp_path / "Fold2" / "train.txt",)


def test_a_folder_that_is_one_fold(tmp_path):
    touch(tmp_path / "set1", "train.txt", "vali.txt", "test.txt")
    (fold,) = find_folds(str(tmp_path / "set1"))
    assert (fold.name, names(fold.test)) == ("set1", ["test.txt"])


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "has no folds: it needs folders Fold1, Fold2, ..."),
        (["other.txt"], "has no folds"),
        (["Fold1/train.txt", "Fold1/test.txt"], "Fold1 has no file to validate with: vali.txt or valid.txt or"),
        (["train.txt", "vali.txt"], "has no file to test with: test.txt"),
        (["notes.txt", "train.csv", "vali.csv"], "has no file to test with: test.csv"),
        (["vali.txt.gz", "test.txt.gz"], "has no file to train with: train.txt.gz"),
        (["Fold1/train.txt", "Fold1/train.txt.gz"], "two files to train with, train.txt and train.txt.gz: keep one"),
        (["S1.txt", "S2.txt", "S4.txt"], "has S1.txt, S2.txt, S4.txt, but not S3.txt"),
        (["S1.txt"], "has S1.txt, but not S2.txt, S3.txt"),
        (["S0.txt", "S1.txt", "S3.txt"], "has S0.txt, S1.txt, S3.txt, but not S2.txt: the sets of"),
        (
            ["S1.txt", "S20080101.txt"],
            "has S1.txt, S20080101.txt, but not S2.txt, S3.txt, S4.txt, S5.txt, S6.txt, ...: the",
        ),
        (
            ["S0.txt", "S1.txt", "S2.txt", "S3.txt"],
            "has S0.txt, S1.txt, S2.txt, S3.txt: the sets of LETOR's rotation count from 1",
        ),
        (["S1.txt", "S1.txt.gz"], "has both S1.txt and S1.txt.gz: keep one"),
        (["Fold1/x", "fold01/x"], "has both Fold1 and fold01: keep one"),
    ],
)
def test_the_message_names_missing_and_repeated_files(tmp_path, files, message):
    touch(tmp_path, *files)
    with pytest.raises(InputError, match=re.escape(message)):
        find_folds(tmp_path)


def test_no_folder(tmp_path):
    with pytest.raises(InputError, match="nowhere does not exist"):
        find_folds(tmp_path / "nowhere")
    touch(tmp_path, "data.txt")
    with pytest.raises(InputError, match=r"data.txt is a file: name the folder"):
        find_folds(tmp_path / "data.txt")
