"""``structsvm`` and ``python -m structsvm``: the command line."""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it in one line too."""
    try:
        from structsvm.cli import main as commands

        commands()
    except KeyboardInterrupt:
        sys.exit("structsvm: error: interrupted")


if __name__ == "__main__":
    main()
