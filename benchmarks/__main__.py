"""The command ``python -m benchmarks``."""

import argparse
import os
import subprocess
import sys
import time
from importlib.util import find_spec

from benchmarks.harness.store import NAMES, ONE_THREAD, ROOT


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Run benchmarks and write their pages.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show the names of the benchmarks")
    run = commands.add_parser("run", help="run benchmarks, each in a separate process (default: all)")
    run.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    run.add_argument("--repeats", type=int, default=7, help="number of timings of work that takes seconds (default: 7)")
    run.add_argument(
        "--scale", type=float, default=1.0, help="share of the data, for trials; only results at 1 are stored"
    )
    run.add_argument("--in-process", action="store_true", help=argparse.SUPPRESS)
    commands.add_parser("report", help="write docs/benchmarks.md and benchmarks/notes/ from the stored results")
    arguments = parser.parse_args()

    if arguments.command == "list":
        print("\n".join(NAMES))
    elif arguments.command == "report":
        from benchmarks.harness.notes import draw, write

        print(f"wrote {len(write())} pages")
        if find_spec("matplotlib") is None:
            print("plots were not drawn: install matplotlib")
        else:
            draw()
    elif unknown := set(arguments.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    elif arguments.in_process:
        from benchmarks.harness.store import measure

        measure(arguments.names[0], arguments.scale, arguments.repeats)
    else:
        failed = [name for name in arguments.names or NAMES if not _apart(name, arguments)]
        sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


def _apart(name: str, arguments: argparse.Namespace) -> bool:
    """Run a benchmark in a separate process; return whether it succeeded."""
    print(f"── {name}", flush=True)
    began = time.perf_counter()
    settings = ["--scale", str(arguments.scale), "--repeats", str(arguments.repeats)]
    command = [sys.executable, "-m", "benchmarks", "run", "--in-process", *settings, name]
    done = subprocess.run(command, env={**os.environ, **ONE_THREAD}, cwd=ROOT, check=False)
    print(f"   {time.perf_counter() - began:.0f} s", flush=True)
    return done.returncode == 0


main()
