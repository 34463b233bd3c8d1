"""Files of arrays: whole or not at all, and nothing that is unpickled."""

import fcntl
import pickle
import subprocess
import sys
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from structsvm.exceptions import InputError, ModelFileError
from structsvm.foundation.storage import artefacts
from structsvm.foundation.storage.archives import Archive
from structsvm.foundation.storage.files import (
    check_writable,
    read_archive,
    replacement,
    write_archive,
)
from structsvm.foundation.storage.temporary import on_the_way, remove_leftovers

ARRAYS = {"a": np.arange(300.0), "b": np.array("text"), "c": np.eye(3, dtype=np.int64)}


def same(arrays: Archive) -> dict[str, Any]:
    return dict(arrays)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.npz"
    write_archive(path, ARRAYS)
    return path


def assert_only(path: Path) -> None:
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_arrays_come_back(path: Path) -> None:
    assert_only(path)
    arrays = read_archive(path, same)
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, ARRAYS[name])
        assert array.dtype == ARRAYS[name].dtype


@pytest.mark.parametrize("name", ["model", "model.bin", "with space.npz"])
def test_the_path_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    write_archive(str(tmp_path / name), ARRAYS)
    assert_only(tmp_path / name)


def test_permissions_are_those_of_any_new_file(path: Path) -> None:
    other = path.parent / "other"
    other.write_text("")
    assert path.stat().st_mode == other.stat().st_mode


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), RuntimeError("other")])
@pytest.mark.parametrize("moment", ["while writing", "before renaming"])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, moment: str
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise error

    def write_a_little(file: Any, **_: Any) -> None:
        file.write(b"PK")
        raise error

    before = path.read_bytes()
    if moment == "while writing":
        monkeypatch.setattr(np, "savez_compressed", write_a_little)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InputError if isinstance(error, OSError) else type(error)) as caught:
        write_archive(path, {"a": np.zeros(3)})
    if isinstance(error, OSError):
        assert str(caught.value) == (f"{path} cannot be written: No space left on device. It is unchanged")
    assert path.read_bytes() == before
    assert_only(path)


WRITING = """
import sys, time
from pathlib import Path
from structsvm.foundation.storage.artefacts import ARRAYS
from structsvm.foundation.storage.files import replacement

with replacement(Path(sys.argv[1]), ARRAYS) as temporary:
    temporary.write_text("half")
    print("begun", flush=True)
    time.sleep(60)
"""


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(path: Path) -> None:
    before = path.read_bytes()
    other = path.with_name(".structsvm-0123abcd-0123456789abcdef-01234567")  # of another machine
    similar = path.with_name(f".{path.name}.9b2e01aa")  # of anyone
    other.touch()
    similar.touch()
    start = partial(subprocess.Popen, [sys.executable, "-c", WRITING, str(path)], stdout=subprocess.PIPE, text=True)
    with start() as living, start() as killed:
        assert [process.stdout.readline() for process in (living, killed)] == ["begun\n"] * 2
        assert len(list(path.parent.iterdir())) == 5
        killed.kill()
        killed.wait()
        assert path.read_bytes() == before
        assert len(list(path.parent.iterdir())) == 5
        write_archive(path, ARRAYS)
        assert len(list(path.parent.iterdir())) == 4
        living.kill()
        living.wait()
    check_writable(path, artefacts.ARRAYS)
    assert sorted(path.parent.iterdir()) == sorted([path, other, similar])


def test_a_file_that_is_taken_for_a_leftover_before_it_is_locked_is_made_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock, removed = fcntl.flock, []

    def late(descriptor: int, operation: int) -> None:
        if operation == fcntl.LOCK_EX and not removed:
            removed.extend(path.parent.glob(".*"))
            remove_leftovers(path, path.parent)
        flock(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", late)
    write_archive(path, {"a": np.zeros(3)})
    assert len(removed) == 1
    assert_only(path)
    assert read_archive(path, same).keys() == {"a"}


def test_where_there_are_no_locks_nothing_is_removed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with on_the_way(path, path.parent) as temporary:
        name = temporary.name
    (path.parent / name).touch()

    def refuse(*_: Any) -> None:
        raise OSError(37, "No locks available")

    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refuse)
        write_archive(path, ARRAYS)
        assert (path.parent / name).exists()
    write_archive(path, ARRAYS)
    assert_only(path)


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none/m.npz cannot be written: there is no folder .*none"):
        write_archive(tmp_path / "none" / "m.npz", ARRAYS)


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="needs /proc")
@pytest.mark.parametrize("way", ["missing/../kept", "link"])
def test_a_way_through_a_folder_that_does_not_exist_replaces_nothing(path: Path, way: str) -> None:
    target = path.with_name("kept")
    target.write_text("mine")
    path.with_name("link").symlink_to("missing/../kept")
    with pytest.raises(InputError, match=r"cannot be written: there is no folder .*"):
        write_archive(path.parent / way, ARRAYS)
    assert target.read_text() == "mine"


@pytest.mark.parametrize("part", ["", "a", "a/b"])
def test_a_link_that_leads_nowhere_is_followed(tmp_path: Path, part: str) -> None:
    link, there = tmp_path / "link", tmp_path / "there"
    link.symlink_to("there")
    with pytest.raises(KeyError), replacement(link / part, makes_folders=True):
        raise KeyError
    assert not there.exists()
    with replacement(link / part, makes_folders=True):
        assert not there.exists()
    assert (link.is_symlink(), (there / part).is_file()) == (True, True)
    assert set(tmp_path.iterdir()) == {link, there}


def test_a_link_into_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("none/file")
    with pytest.raises(InputError, match=r"link cannot be written: it is a link to .*none/file, and there is no fold"):
        check_writable(tmp_path / "link")


def test_a_folder_that_takes_no_new_files() -> None:
    with pytest.raises(InputError, match=r"^/proc/m.npz cannot be written: Permission denied$"):
        write_archive("/proc/m.npz", ARRAYS)


def test_a_file_for_a_folder(path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: there is no folder .*model.npz"):
        write_archive(path / "m.npz", ARRAYS)


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulated, since for root there is no such folder."""

    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="m.npz cannot be written: Permission denied"):
        write_archive(tmp_path / "m.npz", ARRAYS)
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "m.npz").mkdir()
    with pytest.raises(InputError, match=r"m.npz cannot be written: it is a folder"):
        write_archive(tmp_path / "m.npz", ARRAYS)
    assert_only(tmp_path / "m.npz")
    with pytest.raises(ModelFileError, match=r"m.npz cannot be read: Is a directory"):
        read_archive(tmp_path / "m.npz", same)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="gone.npz does not exist$"):
        read_archive(tmp_path / "gone.npz", same)


class Bomb:
    def __reduce__(self) -> Any:
        raise AssertionError("pickled")

    def __setstate__(self, state: Any) -> None:
        raise AssertionError("unpickled")


def not_models(path: Path) -> dict[str, Any]:
    return {
        "empty": lambda: path.write_bytes(b""),
        "text": lambda: path.write_text("1 qid:1 1:0.5\n"),
        "pickle": lambda: path.write_bytes(pickle.dumps({"a": 1})),
        "one array": lambda: np.save(path.open("wb"), np.ones(3)),
        "array of objects": lambda: np.savez(path, a=np.array([{"x": 1}], dtype=object)),
        "zip of text": lambda: zipfile.ZipFile(path, "w").close(),
    }


@pytest.mark.parametrize("kind", not_models(Path()))
def test_what_is_not_a_model_is_said_to_be_none(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "m.npz"
    not_models(path)[kind]()
    with pytest.raises(
        ModelFileError, match=r"m.npz is not a (model file, or it is damaged|file of this kind)"
    ) as caught:
        read_archive(path, lambda arrays: arrays["a"])
    assert "pickle" not in str(caught.value)


def test_every_truncation_is_noticed(path: Path) -> None:
    whole = path.read_bytes()
    for length in [*range(0, len(whole), 17), len(whole) - 1]:
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match="not a model file, or it is damaged"):
            read_archive(path, same)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(data=st.data())
def test_flipped_bytes_are_noticed_or_harmless(path: Path, data: st.DataObject) -> None:
    broken = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        broken[data.draw(st.integers(0, len(broken) - 1))] = data.draw(st.integers(0, 255))
    other = path.with_name("broken.npz")
    other.write_bytes(broken)
    try:
        arrays = read_archive(other, same)
    except ModelFileError:
        return
    for name in arrays.keys() & ARRAYS.keys():
        np.testing.assert_array_equal(arrays[name], ARRAYS[name])


@pytest.mark.parametrize("error", [KeyError("w"), TypeError("t"), ValueError("v"), AttributeError("a")])
def test_contents_that_make_no_sense_are_said_to_be_of_another_kind(path: Path, error: Exception) -> None:
    def make(arrays: dict[str, Any]) -> None:
        raise error

    with pytest.raises(ModelFileError, match=f"is not a file of this kind: '?{error.args[0]}"):
        read_archive(path, make)


def test_the_path_is_put_before_the_refusal_of_the_maker(path: Path) -> None:
    def make(arrays: dict[str, Any]) -> None:
        raise ModelFileError("it is too new")

    with pytest.raises(ModelFileError, match=f"^{path}: it is too new$"):
        read_archive(path, make)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="needs /dev/zero")
def test_a_device_without_an_end_is_no_archive():
    with pytest.raises(ModelFileError, match="is not a model file"):
        read_archive("/dev/zero", dict)
