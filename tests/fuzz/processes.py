"""Command lines in a shell: streams that are closed, full or cut off, pipes for files, signals, and the environment."""

from collections.abc import Mapping
from random import Random

from attrs import evolve

from tests.fuzz.case import Case, Special
from tests.fuzz.commands import WORKING
from tests.fuzz.commands import make as make_command

_SHELLS = (
    *("{} >&-", "{} 2>&-", "{} <&-", "{} <&- >&- 2>&-", "{} >/dev/full", "{} 2>/dev/full", "{} >/dev/full 2>&1"),
    *(
        "{} | head -c 1",
        "{} | true",
        "yes | {}",
        "{} </dev/zero",
        "(sleep 0.2; exec {})",
        "ulimit -f 1; PYTHONDONTWRITEBYTECODE=1 {}",
        "ulimit -n 8; {}",
    ),
    *(f"timeout -s {name} {seconds} {{}}" for name in ("INT", "TERM", "HUP", "PIPE") for seconds in (0.3, 0.9, 1.5)),
    *(f"NUMBA_NUM_THREADS={n} {{}}" for n in ("0", "-1", "x", "1", "100000")),
    *("NUMBA_DISABLE_JIT=1 {}", "NUMBA_CACHE_DIR=/proc {}", "NUMBA_CACHE_DIR=/nowhere/x {}", "OMP_NUM_THREADS=x {}"),
    *("env -u HOME {}", "TMPDIR=/nowhere {}", "TERM= {}", "TERM=dumb COLUMNS=0 {}", "COLUMNS=-5 {}", "COLUMNS=x {}"),
    *(
        "LANG=C LC_ALL=C {}",
        "PYTHONUTF8=0 LC_ALL=POSIX {}",
        "PYTHONIOENCODING=ascii {}",
        "PYTHONOPTIMIZE=2 {}",
        "FORCE_COLOR=1 {}",
    ),
    *("PYTHONWARNINGS=always {}", "mkdir gone; cd gone; rmdir ../gone; {}"),
)
_ALWAYS = ("--version", "--help", "list", "train --help", "evaluate --bogus", "")


def make(rng: Random, files: Mapping[str, bytes]) -> Case:
    """Return a command line that works, or one that is wrong somewhere, in an odd shell."""
    shell = rng.choice(_SHELLS)
    draw = rng.random()
    if draw < 0.2:
        return Case("processes", {}, "", tuple(rng.choice(_ALWAYS).split()), shell)
    if draw < 0.4:
        case = make_command(rng, files)
        return evolve(case, kind="processes", shell=shell)
    words = rng.choice(
        [line for line in WORKING if line.split()[0] in ("train", "predict", "evaluate", "fuse", "compare")]
    ).split()
    result: dict[str, bytes | Special] = {
        name: content for name, content in files.items() if not name.startswith("results")
    }
    if rng.random() < 0.3 and any(word.endswith(".txt") for word in words):
        k = rng.choice([k for k, word in enumerate(words) if word.endswith(".txt")])
        return Case("processes", result, "", (*words[:k], "/dev/stdin", *words[k + 1 :]), f"cat {words[k]} | {{}}")
    return Case("processes", result, "", tuple(words), shell)
