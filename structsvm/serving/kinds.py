"""The kinds of models that files hold, and the text that each of them begins with."""

from collections.abc import Mapping
from typing import Any

from structsvm.exceptions import ModelFileError
from structsvm.result import require_known_format
from structsvm.storage.archives import record, require_names

FORMAT = 2
"""In 1 no model normalises features, and a loss with a cut-off was trained truncated."""

KINDS = {
    "ranker": "Ranker",
    "rank_svm": "RankSVM",
    "maximum_entropy": "MaximumEntropy",
    "weight_search": "WeightSearch",
    "rank_boost": "RankBoost",
    "rank_net": "RankNet",
    "lambda_mart": "LambdaMART",
}
"""Rankers: what files call them, as `structsvm.registry.rankers` does, and their classes."""

UNNAMED = {"ramp_ranker": "structsvm.estimators:RampRanker"}
"""Rankers that `structsvm.registry.rankers` does not name: what files call them, and where their classes are."""

WHOLE = {
    "structural_svm": "structsvm.estimators:StructuralSVM",
    "latent_structural_svm": "structsvm.estimators:LatentStructuralSVM",
    "text_ranker": "structsvm.pipelines:TextRanker",
}
"""Models that do not score the rows of a matrix and so are read as a whole, and where their classes are."""

STRUCTURAL = ("structural_svm", "latent_structural_svm")
"""Those among them that are weights of joint features alone, and need their loss to predict."""


def contents(kind: str, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text in a file, after a look at what wrote it.

    Parameters
    ----------
    kind : the kind of model that is wanted.
    arrays : those of the file.

    Raises
    ------
    ModelFileError : when it is of another kind, or a newer version wrote it.
    KeyError, ValueError : when something is missing, or is not what it can be.
    """
    elsewhere = {name: target.partition(":")[2] for name, target in (UNNAMED | WHOLE).items() if name != "text_ranker"}
    titles = KINDS | elsewhere
    other = next((name for name in titles if name != kind and name in arrays), None)
    if other is not None and kind not in arrays:
        raise ModelFileError(f"it holds a {titles[other]}: read it with {titles[other]}.load or structsvm.load")
    text = record(arrays, kind)
    require_known_format(text["format"], FORMAT)
    require_names("the file", text, ("format", "settings", "fitted"))
    for name in ("settings", "fitted"):
        if not isinstance(text[name], dict):
            raise ValueError(f"{name} must be a JSON object, got {text[name]!r}")
    return text
