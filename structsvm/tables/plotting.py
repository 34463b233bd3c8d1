"""Matplotlib, which plots need and nothing else does."""

from importlib import import_module

from structsvm.exceptions import NotInstalledError


def require_matplotlib() -> None:
    """Make sure that plots can be drawn.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    """
    try:
        for module in ("matplotlib", "matplotlib.figure"):
            import_module(module)
    except ImportError as error:
        raise NotInstalledError("plots need Matplotlib: pip install 'structural-svm[plot]'.") from error
