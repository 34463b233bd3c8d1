"""A case: some files, and one command line or one call."""

import shlex
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import TypeAlias

from attrs import frozen


class Special(Enum):
    """Things other than files at the path of an input."""

    FOLDER = "a folder"
    DANGLING = "a link to nothing"
    LOOP = "a link to itself"
    ZEROS = "a link to /dev/zero"
    NULL = "a link to /dev/null"

    def put(self, path: Path) -> None:
        """Make it."""
        match self:
            case Special.FOLDER:
                path.mkdir()
            case Special.DANGLING:
                path.symlink_to("nowhere")
            case Special.LOOP:
                path.symlink_to(path.name)
            case Special.ZEROS:
                path.symlink_to("/dev/zero")
            case Special.NULL:
                path.symlink_to("/dev/null")


Files: TypeAlias = Mapping[str, bytes | Special]


@frozen
class Case:
    """An input to try.

    Parameters
    ----------
    kind : its maker and its judge.
    files : by name, in the folder that it is tried in; "a/b" is in a folder.
    what : a function by its module and name, such as ``structsvm.data.load_run``; "" for a command line.
    arguments : words of the command line; or source text of the arguments of the function.
    shell : text around the command line ``{}`` in a shell; "" if it is run in this process.
    """

    kind: str
    files: Files
    what: str
    arguments: tuple[str, ...]
    shell: str = ""

    def put(self, folder: Path) -> None:
        """Write the files into a folder."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Special):
                content.put(path)
            else:
                path.write_bytes(content)

    @property
    def source(self) -> str:
        """The text that a user types."""
        if not self.what:
            return (self.shell or "{}").replace("{}", shlex.join(("structsvm", *self.arguments)))
        return f"{self.what}({', '.join(self.arguments)})"
