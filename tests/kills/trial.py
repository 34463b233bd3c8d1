"""One trial: kill a command, check its files, and run it again."""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Lock

from attrs import frozen

from tests.kills.commands import (
    COMMANDS,
    DEMO,
    PREPARED,
    Command,
    checkpoints_in,
    command_of,
    copied,
    difference,
    files_in,
    same_each_time,
    write_inputs,
)

HURRIED = "tests.kills.hurried"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
_MOST_SECONDS = 1200.0
_TO_WRITE = 60.0
_LEAST_PART = 1e-3


@frozen
class Verdict:
    """The verdict on a trial.

    Parameters
    ----------
    number : of the trial.
    what : the command with signals and moment.
    faults : "loss", "leftover", "traceback", "orphan", "hang" or "silent", with the evidence.
    """

    number: int
    what: str
    faults: dict[str, str]


class Campaign:
    """A folder with inputs and with the outputs of undisturbed commands.

    Parameters
    ----------
    folder : is made if it does not exist.
    to_die : seconds for processes to end after the kill.
    prepared : commands that make further inputs.
    words : kill only commands that have all these words.
    """

    def __init__(
        self, folder: Path, to_die: float = 2.0, prepared: tuple[str, ...] = PREPARED, *, words: str = ""
    ) -> None:
        self.folder = folder
        self.words = words
        self.to_die = to_die
        self.inputs = folder / "inputs"
        self._lock = Lock()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # ignored in the background
            if signal.getsignal(number) is signal.SIG_IGN:
                signal.signal(number, signal.SIG_DFL)
        if not (folder / "ready").exists():
            shutil.rmtree(folder, ignore_errors=True)
            self.inputs.mkdir(parents=True)
            write_inputs(self.inputs)
            for line in prepared:
                self._undisturbed(line, self.inputs)
            (folder / "ready").touch()

    def reference(self, command: Command) -> tuple[Path, float]:
        """Return the folder of an undisturbed run, and its seconds."""
        place = (*COMMANDS, DEMO).index(command)
        done = self.folder / "undisturbed" / f"{place}-{command.name}"
        with self._lock:
            if not (done / "seconds").exists():
                shutil.rmtree(done, ignore_errors=True)
                copied(self.inputs, done / "files")
                (done / "seconds").write_text(str(self._undisturbed(command.line, done / "files")))
        return done / "files", float((done / "seconds").read_text())

    def _undisturbed(self, line: str, folder: Path) -> float:
        """Run a command; return its seconds from the moment at which it takes signals."""
        started, ready = self.start(line, folder)
        _, errors = started.communicate(timeout=_MOST_SECONDS)
        if started.returncode:
            raise RuntimeError(f"{line}: {errors}")
        return time.perf_counter() - ready

    def start(self, line: str, folder: Path) -> tuple[subprocess.Popen[str], float]:
        """Start a command, and wait until it takes signals: before that it is the interpreter alone."""
        temporary = folder.with_name(f"{folder.name}.tmp")
        temporary.mkdir(exist_ok=True)
        environment = {
            **os.environ,
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"),
            "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]),
            "TMPDIR": str(temporary),
            "JOBLIB_TEMP_FOLDER": str(temporary),
        }
        started = subprocess.Popen(
            [sys.executable, "-m", HURRIED if "--checkpoint" in line else "structsvm", *line.split()],
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        while started.poll() is None and not _takes_signals(started.pid):
            time.sleep(0.005)
        return started, time.perf_counter()

    def try_one(self, number: int, seed: int = 0) -> Verdict:
        """Kill the command of a number at a random moment; run it again; return the verdict."""
        chance = random.Random(f"{seed} {number}")
        command = command_of(number, self.words)
        asked = chance.choice(SIGNALS)
        again = chance.random() < 0.25 and asked != signal.SIGKILL
        group = chance.random() < 0.5 and asked != signal.SIGKILL
        part = chance.random() if chance.random() < 0.3 else chance.uniform(0.4, 1.05)
        pause = chance.uniform(0.0, 1.5)
        earlier = command.earlier if chance.random() < 0.5 else ""
        folder = copied(self.inputs, _emptied(self.folder / "trials" / str(number)))
        if earlier:
            self._undisturbed(earlier, folder)
        before = {path: (folder / path).read_bytes() for path in files_in(folder)}
        undisturbed, seconds = self.reference(command)
        while True:
            moment = part * seconds
            started, ready = self.start(command.line, folder)
            time.sleep(max(0.0, ready + moment - time.perf_counter()))
            if started.poll() is None:
                break
            if part < _LEAST_PART:
                raise RuntimeError(f"{command.line}: it takes no signals")
            part *= 0.8  # it was faster than the undisturbed one
            started.communicate()
            copied(self.inputs, _emptied(folder))
            if earlier:
                self._undisturbed(earlier, folder)
                before = {path: (folder / path).read_bytes() for path in files_in(folder)}
        send = os.killpg if group else os.kill
        send(started.pid, asked)
        faults: dict[str, str] = {}
        if again:
            time.sleep(pause)
            if started.poll() is None:
                send(started.pid, asked)
        self._see_it_end(started, asked, faults)
        self._see_what_is_left(undisturbed, folder, before, soft=asked != signal.SIGKILL, faults=faults)
        self._run_again(command, undisturbed, folder, faults)
        if not faults:
            _emptied(folder).rmdir()
        whom = " to its group" if group else ""
        twice = f", again after {pause:.2f} s" if again else ""
        there = ", over earlier outputs" if earlier else ""
        what = f"{command.line}: {asked.name}{whom} after {moment:.2f} s{twice}{there}"
        return Verdict(number, what, faults)

    def _see_it_end(self, started: "subprocess.Popen[str]", asked: signal.Signals, faults: dict[str, str]) -> None:
        try:
            started.wait(timeout=_TO_WRITE)
        except subprocess.TimeoutExpired:
            faults["hang"] = f"it went on for {_TO_WRITE:g} s"
            started.kill()
            started.wait()
        deadline = time.monotonic() + self.to_die
        while (alive := _session(started.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        if alive:
            faults["orphan"] = "; ".join(alive)
            for each in alive:
                os.kill(int(each.split()[0]), signal.SIGKILL)
        _, errors = started.communicate()
        if "Traceback" in errors:
            faults["traceback"] = errors
        # A command that lasts long tells its progress.
        lines = [line for line in errors.splitlines() if not re.match(r"structsvm: (note: |\d+ of \d+ )", line)]
        one_line = len(lines) == 1 and lines[0].startswith("structsvm: error: ")
        said = started.returncode == 1 and one_line
        done = started.returncode == 0 and not lines
        if asked != signal.SIGKILL and not (said or done):
            faults["silent"] = f"exit code {started.returncode}: {errors}"

    def _see_what_is_left(
        self, undisturbed: Path, folder: Path, before: dict[Path, bytes], *, soft: bool, faults: dict[str, str]
    ) -> None:
        for each in folder.rglob("*"):
            if each.is_dir() and not any(each.iterdir()):
                faults["leftover"] = f"{each.relative_to(folder)} is an empty folder"
        for path in {*before, *files_in(folder)}:
            now = (folder / path).read_bytes() if (folder / path).exists() else None
            if now == before.get(path) or path.suffix in (".jsonl", ".part"):
                continue
            if ".structsvm-" in str(path):
                if soft:
                    faults["leftover"] = str(path)
                continue
            if now is None or not (undisturbed / path).exists():
                faults["loss"] = f"{path} is gone" if now is None else f"{path} is there"
                continue
            try:
                same_each_time(folder / path)
            except Exception as error:
                faults["loss"] = f"{path} is half-written: {error!r}"

    def _run_again(self, command: Command, undisturbed: Path, folder: Path, faults: dict[str, str]) -> None:
        kept = checkpoints_in(folder) if command.goes_on else {}
        started, _ = self.start(command.line, folder)
        _, errors = started.communicate(timeout=_MOST_SECONDS)
        if started.returncode:
            faults["loss"] = f"run again: {errors}"
            return
        if files_in(folder) != files_in(undisturbed):
            faults["leftover"] = str(sorted({*files_in(folder)} ^ {*files_in(undisturbed)}))
        for path in files_in(undisturbed):
            if (folder / path).exists() and (
                differs := difference(folder / path, undisturbed / path, goes_on=command.goes_on)
            ):
                faults["loss"] = f"run again, {path}: {differs}"
        if command.goes_on:
            now = checkpoints_in(folder)
            for name in kept:
                if name not in now or now[name].worse_than(kept[name]):
                    faults["loss"] = f"run again, {name}: {now.get(name)} after {kept[name]}"


def _emptied(folder: Path) -> Path:
    for each in (folder, folder.with_name(f"{folder.name}.tmp")):
        shutil.rmtree(each, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _takes_signals(pid: int) -> bool:
    """Say whether a process has a handler of SIGTERM."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    caught = int(next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt")), 16)
    return bool(caught >> (signal.SIGTERM - 1) & 1)


def _session(leader: int) -> list[str]:
    """Return the processes of a session without zombies."""
    result = subprocess.run(["ps", "-o", "pid=,stat=,args=", "-s", str(leader)], capture_output=True, text=True)
    return [line for line in result.stdout.splitlines() if line.split()[1][0] != "Z"]
