"""A weighted sum of features as NumPy's npz, which ``numpy.load`` reads."""

from pathlib import Path
from typing import Any

import numpy as np

from structsvm.export.base import Form, Format


class NumPyArchive(Format):
    """Arrays ``coef`` and ``intercept``, ``names`` where there are any, and ``normalise`` and ``centred``.

    The last two are there where features are normalised within the query first; see `PlainJSON`.
    """

    by_query = True

    def write(self, form: Form, path: Path, model_name: str) -> None:
        """See `Format.write`."""
        arrays: dict[str, Any] = {"coef": form.weights, "intercept": np.array(form.constant)}
        if form.names is not None:
            arrays["names"] = np.array(form.names)
        if form.by_query is not None:
            arrays |= {"normalise": np.array(form.by_query.name), "centred": np.array(form.by_query.centred)}
        with path.open("wb") as file:
            np.savez(file, **arrays)
