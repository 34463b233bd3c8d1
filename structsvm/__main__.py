"""``python -m structsvm``: the command line."""

from structsvm.cli import main

if __name__ == "__main__":
    main()
