"""A CSV file of weights, as an export format."""

import csv
from pathlib import Path

from structsvm.models import LinearModel
from structsvm.models.export import Format


class CSV(Format):
    """A line for each feature with its name, or its number from 1, and its weight; the intercept comes last."""

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        """See `Format.write`."""
        names = model.feature_names or range(1, model.n_features + 1)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["feature", "weight"])
            writer.writerows(zip(names, model.coef.tolist(), strict=True))
            writer.writerow(["(intercept)", model.intercept])
