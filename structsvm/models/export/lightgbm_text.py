"""LightGBM's text, for ``lightgbm.Booster(model_file=...)``, which computes in float64."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structsvm.models import LinearModel, TrainedModel
from structsvm.models.export.base import Format
from structsvm.models.leaves import LeafModel
from structsvm.models.trees import END, PARAMETERS, head_of, tree_text

_UNFIT = re.compile(r'[\s",:\[\]{}]')
"""Characters that LightGBM does not allow in names of features."""


class LightGBMText(Format):
    """A model file of LightGBM with the trees of the model, then one tree for the weight of each feature.

    The tree of a weight has one linear leaf: its output is the weight times the feature, or times the replacement of a
    missing feature. LightGBM counts features up to 1e-35 as 0, and replaces spaces in their names; other characters
    that it does not allow are replaced as well.
    """

    fills = True
    named = False
    zero_based = True

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        _write(path, _of_weights(model, 0), model)

    def write_trees(self, model: LeafModel, path: Path, model_name: str) -> None:
        trees = _of_splits(model)
        weights = [] if model.linear is None else _of_weights(model.linear, len(trees))
        _write(path, [*trees, *weights], model)


def _write(path: Path, trees: list[str], model: TrainedModel) -> None:
    numbered = [f"Column_{k}" for k in range(model.n_features)]
    names = numbered if model.feature_names is None else [_UNFIT.sub("_", name) for name in model.feature_names]
    if len(set(names)) < len(names):
        names = numbered
    path.write_text(f"{head_of(names, trees)}{''.join(trees)}{END}{PARAMETERS}", encoding="utf-8", newline="\n")


def _of_splits(model: LeafModel) -> list[str]:
    trees, texts = model.trees.double, []
    sums, counts = model.inner()
    for number, (first, last) in enumerate(zip(trees.splits[:-1].tolist(), trees.splits[1:].tolist(), strict=True)):
        leaves = last - first + 1
        part = slice(trees.offsets[number], trees.offsets[number] + leaves)
        fields: dict[str, NDArray[Any]] = {"leaf_value": model.values[part], "leaf_count": model.counts[part]}
        if last > first:
            left, right = (np.where(ends >= 0, ends - first, ends)[first:last] for ends in (trees.left, trees.right))
            fields |= {
                "split_feature": trees.feature[first:last],
                "decision_type": trees.decision[first:last],
                "left_child": left,
                "right_child": right,
                "internal_count": counts[first:last],
                "split_gain": np.zeros(last - first),
                "threshold": trees.threshold[first:last],
                "leaf_weight": model.counts[part].astype(np.float64),
                "internal_value": sums[first:last] / np.maximum(counts[first:last], 1),
                "internal_weight": counts[first:last].astype(np.float64),
            }
        texts.append(tree_text(number, leaves, {**fields, "shrinkage": np.ones(1)}))
    return texts


def _of_weights(model: LinearModel, number: int) -> list[str]:
    """Return a tree for each weight that is not 0, and one for the constant; the first has this number."""
    there = np.flatnonzero(model.coef).tolist()
    absent = np.zeros(len(model.coef)) if model.fill is None else model.coef * model.fill
    texts = [_linear_leaf(number + k, j, model.coef[j], absent[j]) for k, j in enumerate(there)]
    if model.intercept or not (texts or number):
        fields = {"leaf_value": np.array([model.intercept]), "shrinkage": np.ones(1)}
        texts.append(tree_text(number + len(texts), 1, fields))
    return texts


def _linear_leaf(number: int, feature: int, weight: float, absent: float) -> str:
    # LightGBM requires the fields of splits in linear trees, even without a split.
    lines = [f"Tree={number}", "num_leaves=1", "num_cat=0", "split_feature=", "threshold=", "left_child="]
    lines += ["right_child=", f"leaf_value={absent:.17g}", "is_linear=1", "leaf_const=0", "num_features=1"]
    lines += [f"leaf_features={feature} ", f"leaf_coeff={weight:.17g} ", "shrinkage=1"]
    return "\n".join([*lines, "", "", ""])
