"""One rule of exit codes, for every class of errors."""

import errno

import click
import pytest
from click.testing import CliRunner

from structsvm import exceptions
from structsvm.cli import main
from structsvm.cli.shared.failures import EXIT_CODES, CommandLine
from structsvm.exceptions import DataFormatError, InputError, StructSVMError, UnknownNameError

KINDS = [kind for kind in vars(exceptions).values() if isinstance(kind, type) and issubclass(kind, StructSVMError)]
ARGUMENTS = {DataFormatError: ("a.txt", 1, "wrong"), UnknownNameError: ("loss", "x", ["y"])}


def ended_by(error: BaseException) -> tuple[int, str]:
    @click.group(cls=CommandLine)
    def group() -> None: ...

    @group.command()
    def fails() -> None:
        raise error

    done = CliRunner().invoke(group, ["fails"])
    return done.exit_code, done.stderr


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_arguments_exit_with_2_and_others_with_1(kind: type[StructSVMError]) -> None:
    code, message = ended_by(kind(*ARGUMENTS.get(kind, ("wrong",))))
    assert code == (2 if issubclass(kind, InputError) else 1)
    assert message.startswith("structsvm: error: ")
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (FileNotFoundError(errno.ENOENT, "No such file or directory", "a.txt"), 2),
        (PermissionError(errno.EACCES, "Permission denied", "a.txt"), 2),
        (OSError(errno.ENOSPC, "No space left on device", "a.txt"), 1),
        (OSError(errno.EIO, "Input/output error"), 1),
        (MemoryError(), 1),
        (KeyboardInterrupt(), 1),
        (click.UsageError("wrong"), 2),
    ],
    ids=repr,
)
def test_errors_of_the_system(error: BaseException, code: int) -> None:
    assert ended_by(error)[0] == code


def test_a_full_disk_is_nobodys_mistake() -> None:
    error = InputError("a.txt cannot be written")
    error.__cause__ = OSError(errno.ENOSPC, "No space left on device")
    assert ended_by(error)[0] == 1


def test_the_help_states_the_rule() -> None:
    assert EXIT_CODES in " ".join(CliRunner().invoke(main, ["--help"]).output.split())
