"""Mode, owner and group of files and folders that take the place of others."""

import os
import stat
from contextlib import suppress
from functools import reduce
from operator import and_
from pathlib import Path


def keep_access(new: Path, old: Path) -> None:
    """Give a file or a folder mode, owner and group of the one that it replaces, if there is one.

    A group that cannot be kept leaves its bits to no other group: they become those that everybody has.
    """
    with suppress(OSError):  # file systems without modes, and no file in the place any more
        before = old.stat()
        after = _owned(new, before)
        mode = stat.S_IMODE(before.st_mode) if stat.S_ISDIR(before.st_mode) else before.st_mode & 0o777
        if after.st_gid != before.st_gid:
            mode &= ~0o2070 | (mode & 0o007) << 3
        new.chmod(mode)


def keep_access_within(new: Path, old: Path) -> None:
    """Give a folder and its files the access of those that they replace; new files get what all old ones have."""
    if not old.is_dir():
        return
    modes = [path.stat().st_mode & 0o777 for path in old.rglob("*") if path.is_file()]
    common = reduce(and_, modes, 0o777)
    for path in new.rglob("*"):
        if (old / path.relative_to(new)).exists():
            keep_access(path, old / path.relative_to(new))
        elif path.is_file():
            path.chmod(path.stat().st_mode & common)
    keep_access(new, old)


def _owned(new: Path, before: os.stat_result) -> os.stat_result:
    """Change owner and group, or the group alone if the owner may not be changed, and return what came of it."""
    after = new.stat()
    for owner in (before.st_uid, -1):
        if (after.st_uid, after.st_gid) != (before.st_uid, before.st_gid):
            with suppress(OSError):
                os.chown(new, owner, before.st_gid)
            after = new.stat()
    return after
