"""``structsvm``, with a checkpoint after every iteration: the fits of the campaign take seconds."""

from structsvm.__main__ import main
from structsvm.solvers import Checkpoint

if __name__ == "__main__":
    Checkpoint.__init__.__defaults__ = (0.0,)
    main()
