"""Models of `LambdaMART`: trees, scored by LightGBM."""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError, quoted
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import require_integer
from structsvm.foundation.storage.archives import require_numbers
from structsvm.foundation.types import Vector
from structsvm.models.base import Parts, TrainedModel
from structsvm.models.explanation import Explanation

_WHOLE = ("split_feature", "decision_type", "left_child", "right_child", "leaf_count", "internal_count")
_REAL = ("split_gain", "threshold", "leaf_value", "leaf_weight", "internal_value", "internal_weight", "shrinkage")
_WRITTEN: Mapping[str, Any] = dict.fromkeys(_WHOLE, np.int64) | dict.fromkeys(_REAL, np.float64)
"""Fields of a tree in LightGBM's text, with their types."""

_FIXED: Mapping[str, str] = {
    "version": "v4",
    "num_class": "1",
    "num_tree_per_iteration": "1",
    "label_index": "0",
    "objective": "lambdarank",
    "average_output": "",
}
"""Fields that have the same value in the head of every ranker; ``average_output`` is optional (random forests)."""

_LISTED = ("feature_names", "feature_infos", "tree_sizes", "monotone_constraints")
"""Other fields of the head, without ``max_feature_idx``."""

DECISIONS = (0, 2, 4, 6, 8, 10)
"""Types of numerical splits: 2 sends missing values left; 4 counts zeros as missing, 8 NaN."""

END = "end of trees\n"
PARAMETERS = "\nparameters:\n[objective: lambdarank]\n\nend of parameters\n\npandas_categorical:null\n"
"""Parameters for LightGBM that replace the parameters in a file: its parser does not validate its input."""

_LARGEST = repr(float(np.finfo(np.float64).max))

_UNUSUAL = re.compile(r"[^0-9.e+\- ]")


@frozen(eq=False, slots=False, kw_only=True)
class TreeModel(TrainedModel):
    """A sum of the first ``trees`` trees in a text of LightGBM's, which is loaded when the first rows are scored."""

    form: ClassVar[str] = "trees"
    array_names: ClassVar[tuple[str, ...]] = ("trees",)
    takes_missing: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    text: str = field(repr=False)
    trees: int

    @cached_property
    def booster(self) -> Any:
        """The ``lightgbm.Booster``; raise NotInstalledError if LightGBM cannot be loaded."""
        return self._with_best(booster_of(self.text))

    @classmethod
    def of(cls, booster: Any, **parameters: Any) -> Self:
        """Return the model of a ``lightgbm.Booster``, without parsing its text again."""
        model = cls(**parameters)
        vars(model)["booster"] = model._with_best(booster)
        return model

    def _with_best(self, booster: Any) -> Any:
        """Let LightGBM predict and write with the same number of trees as the model."""
        booster.best_iteration = self.trees
        return booster

    def parts(self) -> Parts:
        """Return the importance of each feature: the total gain of its splits."""
        gains = self.booster.feature_importance("gain", iteration=self.trees)
        return Parts.of("importance", np.asarray(gains, dtype=np.float64), "Importances are gains of splits, summed.")

    @classmethod
    def read(cls, numbers: Mapping[str, Any], arrays: Mapping[str, Any], common: Mapping[str, Any]) -> Self:
        require_integer("trees", numbers["trees"], 1)
        return cls(text=read_trees(arrays, common["n_features"], numbers["trees"]), trees=numbers["trees"], **common)

    def _arrays(self) -> dict[str, Any]:
        """Return the text as `read_trees` rewrites it, so that equal models make equal files."""
        text = np.frombuffer(self.text.encode(), dtype=np.uint8)
        try:
            read = read_trees({"trees": text}, self.n_features, self.trees)
        except ValueError as error:
            raise InputError(
                f"a file of these trees could not be read again: {error}. booster_.save_model writes LightGBM's own "
                "format"
            ) from None
        return {"trees": np.frombuffer(read.encode(), dtype=np.uint8)}

    def _numbers(self) -> dict[str, Any]:
        return {"trees": self.trees}

    def _scores(self, X: Any, qid: Any) -> Vector:
        return self.scores_of(X, 0, self.trees)

    def _explained(self, X: NDArray[Any], qid: Any) -> Explanation:
        if not len(X):
            return Explanation(np.zeros(X.shape), 0.0)
        contributions = self.booster.predict(X, start_iteration=0, num_iteration=self.trees, pred_contrib=True)
        return Explanation(np.ascontiguousarray(contributions[:, :-1]), float(contributions[0, -1]))

    def scores_of(self, X: Any, first: int, trees: int) -> Vector:
        """Return the sum of some of the trees for checked rows, shape (rows,)."""
        if not X.shape[0]:
            return np.zeros(0)
        if type(X) is not np.ndarray:
            import scipy.sparse as sp

            # LightGBM warns when it converts other sparse arrays.
            X = sp.csr_matrix(X)
        scores = self.booster.predict(X, start_iteration=first, num_iteration=trees, raw_score=True)
        return np.asarray(scores, dtype=np.float64)


def read_trees(arrays: Mapping[str, Any], n_features: int, trees: int) -> str:
    """Parse, check and rewrite the text of the trees in a file: LightGBM's parser may crash on other text."""
    require_numbers(arrays, "trees", (None,), np.uint8)
    said, texts = split_text(np.asarray(arrays["trees"]).tobytes().decode("ascii"))
    _require_head(said, n_features)
    if not 1 <= trees <= len(texts):
        raise ValueError(f"'trees' has {len(texts)} trees, but the model uses {trees}")
    written = [tree_text(number, *fields_of_tree(text, number, n_features)) for number, text in enumerate(texts)]
    head = head_of([f"Column_{k}" for k in range(n_features)], written, averaged="average_output" in said)
    return f"{head}{''.join(written)}{END}{PARAMETERS}"


def split_text(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the fields in the head of a text of LightGBM's, and the texts of its trees."""
    if not text.startswith("tree\n"):
        raise ValueError("'trees' must be a text of LightGBM's")
    head, _, body = text.partition("\n\n")
    fields = fields_of(head.removeprefix("tree\n"))
    sizes = list(map(int, fields.get("tree_sizes", "").split()))
    if min(sizes, default=1) < 1 or not body.startswith(END, sum(sizes)):
        raise ValueError("'trees' is cut short")
    return fields, [body[end - size : end] for size, end in zip(sizes, np.cumsum(sizes).tolist(), strict=True)]


def _require_head(said: Mapping[str, str], n_features: int) -> None:
    """Refuse a head that LightGBM does not write for a ranker with this number of features."""
    for name, value in said.items():
        wanted = _FIXED.get(name, str(n_features - 1) if name == "max_feature_idx" else None)
        if wanted is None and name not in _LISTED:
            raise ValueError(f"'trees' has {name}={quoted(value)} in its head, but LightGBM never writes this")
        if wanted is not None and value != wanted:
            raise ValueError(f"'trees' has {name}={quoted(value)} in its head, and must have {wanted!r}")
        if name in ("feature_names", "feature_infos") and len(value.split(" ")) != n_features:
            raise ValueError(f"'trees' has {len(value.split(' '))} of {name}, and {n_features} features")
    missing = {"feature_names", "feature_infos", "max_feature_idx", "tree_sizes", *_FIXED} - {"average_output"}
    if not missing <= said.keys():
        raise ValueError(f"'trees' has no {min(missing - said.keys())} in its head")


def head_of(names: Sequence[str], trees: Sequence[str], *, averaged: bool = False) -> str:
    """Return the head of a text, for names of features and texts of trees."""
    lines = [f"{name}={value}" for name, value in _FIXED.items() if name != "average_output"]
    lines += [f"max_feature_idx={len(names) - 1}", *["average_output"] * averaged]
    lines += [f"feature_names={' '.join(names)}", f"feature_infos={' '.join(['none'] * len(names))}"]
    sizes = (str(len(tree.encode())) for tree in trees)
    return "\n".join(["tree", *lines, f"tree_sizes={' '.join(sizes)}", "", ""])


def fields_of_tree(
    text: str, number: int, n_features: int, names: Collection[str] = _WRITTEN
) -> tuple[int, dict[str, NDArray[Any]]]:
    """Return the number of leaves and some checked fields of a tree; refuse trees that could crash or hang LightGBM.

    Unless ``names`` are fewer than all that LightGBM writes, other fields are refused.
    """
    said = fields_of(text)
    leaves = int(said.pop("num_leaves"))
    if int(said.pop("Tree")) != number or leaves < 1 or not text.endswith("\n\n"):
        raise ValueError(f"tree {number} is malformed: its number or its leaves are wrong")
    if int(said.pop("num_cat", 0)) or int(said.pop("is_linear", 0)):
        raise ValueError(f"tree {number} has splits by categories or linear leaves, which are not read from files")
    if names is not _WRITTEN:
        said = {name: said[name] for name in names if name in said}
    numbers = {name: _numbers(name, value) for name, value in said.items() if value or leaves > 1}
    for name, values in numbers.items():
        if len(values) != (1 if name == "shrinkage" else leaves if name.startswith("leaf_") else leaves - 1):
            raise ValueError(f"tree {number} has {leaves} leaves, but {len(values)} entries in {name}")
    if "leaf_value" not in numbers or "shrinkage" not in numbers:
        raise ValueError(f"tree {number} has no leaf_value or no shrinkage")
    if leaves == 1:
        return leaves, {name: numbers[name] for name in ("leaf_value", "shrinkage")}
    splits, left, right = (numbers[name] for name in ("split_feature", "left_child", "right_child"))
    if not {"threshold", "decision_type", "leaf_value"} <= numbers.keys():
        raise ValueError(f"tree {number} has no thresholds or leaves")
    # LightGBM numbers a child node after its parent.
    later = np.arange(leaves - 1)
    children = np.sort(np.concatenate([left, right]))
    if not (
        ((splits >= 0) & (splits < n_features)).all()
        and (((left < 0) | (left > later)) & ((right < 0) | (right > later))).all()
        and np.array_equal(children, np.setdiff1d(np.arange(-leaves, leaves - 1), [0]))
    ):
        raise ValueError(f"tree {number} is malformed: its splits do not make a tree")
    if not np.isin(numbers["decision_type"], DECISIONS).all():
        raise ValueError(f"tree {number} has a decision_type that LightGBM does not write of numbers")
    return leaves, numbers


def tree_text(number: int, leaves: int, numbers: Mapping[str, NDArray[Any]]) -> str:
    """Return the text of a tree, from checked fields."""
    lines = [f"Tree={number}", f"num_leaves={leaves}", "num_cat=0"]
    for name in (*_WHOLE, *_REAL):
        if name in numbers:
            form = "d" if name in _WHOLE else ".17g"
            lines.append(f"{name}={' '.join(format(value, form) for value in numbers[name].tolist())}")
    return "\n".join([*lines, "is_linear=0", "", "", ""])


def _numbers(name: str, text: str) -> NDArray[Any]:
    """Parse the finite numbers of a field that LightGBM writes."""
    dtype = _WRITTEN.get(name)
    if name == "threshold":
        # A split of NaN from all numbers has an infinite threshold.
        text = re.sub(r"\binf\b", _LARGEST, text)
    if dtype is None or _UNUSUAL.search(text):
        raise ValueError(f"'trees' has {name}={quoted(text)}, but LightGBM never writes this")
    array = np.array(text.split(" "), dtype=np.float64)
    if not np.isfinite(array).all() or (dtype is np.int64 and (np.abs(array) >= 2**31).any()):
        raise ValueError(f"'trees' has a number of {name} that is too large")
    return np.array(text.split(" "), dtype=dtype)


def fields_of(text: str) -> dict[str, str]:
    """Parse lines ``name=value``."""
    lines = [line.partition("=") for line in text.split("\n") if line]
    fields = {name: value for name, _, value in lines}
    if len(fields) < len(lines):
        raise ValueError("'trees' has a name twice")
    return fields


def booster_of(text: str) -> Any:
    """Return the ``lightgbm.Booster`` of a text that `read_trees` returned."""
    with needed("the scores of this model need LightGBM", "lambdamart"):
        from lightgbm import Booster
        from lightgbm.basic import LightGBMError
    try:
        return Booster(model_str=text)
    except LightGBMError as error:
        raise ValueError(f"LightGBM cannot read its trees: {error}") from None
