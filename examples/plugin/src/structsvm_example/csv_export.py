"""A CSV file of weights, as an export format."""

import csv
from pathlib import Path

from structsvm.export import Form, Format


class CSV(Format):
    """A line for each feature with its name, or its number from 1, and its weight; the intercept comes last."""

    def write(self, form: Form, path: Path, model_name: str) -> None:
        """See `Format.write`."""
        names = form.names or range(1, len(form.weights) + 1)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["feature", "weight"])
            writer.writerows(zip(names, form.weights.tolist(), strict=True))
            writer.writerow(["(intercept)", form.constant])
