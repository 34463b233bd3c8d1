"""The command ``python -m tests.release``."""

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.release.empty import RESOLUTIONS, Trial, found_pythons, try_wheel

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
OLDEST_PYTHON = PYTHONS[0]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.release",
        description="Install a wheel into empty environments and run the quickstart and the demo there.",
    )
    parser.add_argument("dist", type=Path, help="folder with one wheel")
    parser.add_argument("--python", nargs="+", default=PYTHONS, metavar="VERSION", help="default: %(default)s")
    parser.add_argument("--resolution", nargs="+", choices=RESOLUTIONS, default=RESOLUTIONS, help="of dependencies")
    parser.add_argument("--without-demo", action="store_true", help="leave out structsvm demo, which takes a minute")
    arguments = parser.parse_args()
    wheels = sorted(arguments.dist.resolve().glob("*.whl"))
    if len(wheels) != 1:
        parser.error(f"{arguments.dist} holds {len(wheels)} wheels, and must hold one: make wheel")
    pythons = found_pythons(arguments.python)
    for version in arguments.python:
        if version not in pythons:
            print(f"Python {version} is not here: left out", flush=True)
    # The oldest versions have wheels for the oldest Python only.
    trials = [
        Trial(version, python, resolution)
        for version, python in pythons.items()
        for resolution in arguments.resolution
        if resolution == "newest" or version == OLDEST_PYTHON
    ]
    if not trials:
        sys.exit("nothing was tried")
    failed = 0
    for trial in trials:
        with TemporaryDirectory() as folder:
            verdict = try_wheel(wheels[0], trial, Path(folder), demo=not arguments.without_demo)
        failed += not verdict.passed
        print(verdict, flush=True)
    sys.exit(failed > 0)


main()
