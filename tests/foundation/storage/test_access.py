"""Replaced files keep mode, owner and group, and long names can be written."""

import os
import stat
from pathlib import Path

import pytest

from structsvm.exceptions import InputError
from structsvm.foundation.storage.files import check_writable, replacement
from structsvm.foundation.storage.temporary import remove_leftovers


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_a_replaced_file_keeps_its_mode_and_nobody_else_reads_the_new_one_before(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "model.npz"
    path.write_text("before")
    path.chmod(mode)
    with replacement(path) as temporary:
        assert mode_of(temporary) == 0o600
        temporary.write_text("after")
    assert (mode_of(path), path.read_text()) == (mode, "after")


def test_a_replaced_file_behind_a_link_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "private").write_text("before")
    (tmp_path / "private").chmod(0o600)
    (tmp_path / "link").symlink_to("private")
    with replacement(tmp_path / "link"):
        pass
    assert mode_of(tmp_path / "private") == 0o600


def test_new_files_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with replacement(tmp_path / "file"):
            pass
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "file") == 0o640


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_owner_and_group_stay_if_they_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_text("")
    os.chown(path, 12, 34)
    path.chmod(0o664)
    with replacement(path):
        pass
    assert (path.stat().st_uid, path.stat().st_gid, mode_of(path)) == (12, 34, 0o664)

    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    with replacement(path):
        pass
    assert (path.stat().st_gid, mode_of(path)) == (os.getegid(), 0o644)  # the new group could not write before


@pytest.mark.parametrize("name", ["x" * 230, "x" * 255, "\u00e4" * 127])
def test_every_name_that_a_file_system_takes_can_be_written(tmp_path: Path, name: str) -> None:
    with replacement(tmp_path / name) as temporary:
        temporary.write_text("whole")
        remove_leftovers(tmp_path / name, tmp_path)
        assert temporary.exists()
    assert (tmp_path / name).read_text() == "whole"
    (tmp_path / temporary.name).write_text("left by a killed process")
    check_writable(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_name_that_is_too_long_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written: File name too long"):
        check_writable(tmp_path / ("x" * 256))
