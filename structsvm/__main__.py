"""``structsvm`` and ``python -m structsvm``: the command line."""

import sys

from structsvm.signals import end_as_ctrl_c_does, leave, unwrapped


def main() -> None:
    """Run the command line; Ctrl-C while it is still being loaded ends it in one line too."""
    try:
        end_as_ctrl_c_does()
        with unwrapped():
            from structsvm.cli import main as commands
        commands()
    except KeyboardInterrupt:
        sys.exit("structsvm: error: interrupted")
    finally:
        leave()


if __name__ == "__main__":
    main()
