"""Trees, scored by LightGBM: `LambdaMART`."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import NotInstalledError, quoted
from structsvm.serving.scorer import Description, Scorer
from structsvm.storage.archives import Archive, require_numbers, shape
from structsvm.types import Vector

_WHOLE = ("split_feature", "decision_type", "left_child", "right_child", "leaf_count", "internal_count")
_REAL = ("split_gain", "threshold", "leaf_value", "leaf_weight", "internal_value", "internal_weight", "shrinkage")
_WRITTEN: Mapping[str, Any] = dict.fromkeys(_WHOLE, np.int64) | dict.fromkeys(_REAL, np.float64)
"""What LightGBM writes of a tree."""

_FIXED: Mapping[str, str] = {
    "version": "v4",
    "num_class": "1",
    "num_tree_per_iteration": "1",
    "label_index": "0",
    "objective": "lambdarank",
    "average_output": "",
}
"""What the head of a text of LightGBM's has for every ranker; the last for boosting by random forests alone."""

_LISTED = ("feature_names", "feature_infos", "tree_sizes", "monotone_constraints")
"""What it has for some features or trees, beside the largest number of a feature."""

_MOST_LEAVES = 2**31 - 1
_DECISIONS = (0, 2, 4, 6, 8, 10)
"""Splits of numbers: whether missing ones go left (2), and which are missing: none, zeros (4) or NaN (8)."""

_END = "end of trees\n"
_PARAMETERS = "\nparameters:\n[objective: lambdarank]\n\nend of parameters\n\npandas_categorical:null\n"
"""What LightGBM is told instead of the parameters in a text, of which its reader believes everything."""

_UNUSUAL = re.compile(r"[^0-9.e+\- ]")


@frozen(eq=False, slots=False)
class TreeScorer(Scorer):
    """Scores of the first trees of LightGBM, which is loaded when the first rows are scored.

    Parameters
    ----------
    about : see `Scorer`.
    text : the trees as LightGBM writes them.
    trees : how many of them count.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from structsvm import load
    >>> from structsvm.rankers import LambdaMART
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 2]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LambdaMART(5, min_child_samples=1, params={"min_data_in_bin": 1}).fit(X, y).save(Path(folder) / "model.npz")
    ...     scorer = load(Path(folder) / "model.npz")
    >>> scorer.trees, scorer.predict(X).argmax()
    (5, np.int64(3))
    """

    takes_missing: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = True

    text: str = field(repr=False)
    trees: int

    @classmethod
    def of(cls, about: Description, arrays: Mapping[str, Any], trees: int) -> Self:
        """Take the trees from the arrays of a file; see `read_trees`."""
        return cls(about, read_trees(arrays, about.n_features, trees), trees)

    @cached_property
    def booster(self) -> Any:
        """The ``lightgbm.Booster``.

        Raises
        ------
        NotInstalledError : when LightGBM is not installed, or cannot be loaded.
        """
        return booster_of(self.text)

    def _scores(self, X: Any, qid: Any) -> Vector:
        if not X.shape[0]:
            return np.zeros(0)
        if type(X) is not np.ndarray:
            import scipy.sparse as sp

            X = sp.csr_matrix(X)  # of arrays LightGBM makes one by itself, with a warning
        scores = self.booster.predict(X, start_iteration=0, num_iteration=self.trees, raw_score=True)
        return np.asarray(scores, dtype=np.float64)


def read_trees(arrays: Mapping[str, Any], n_features: int, trees: int) -> str:
    """Return the text of the trees that a file holds, without the parameters that they were grown by.

    LightGBM's reader may end the process on a text that is not what it wrote, so it reads none of a file: head and
    trees are parsed, checked and written anew. A file must have the digest that was written with it, too.

    Parameters
    ----------
    arrays : those of the file, with the bytes of the text as "trees".
    n_features : number of features of the model.
    trees : how many trees count.
    """
    if isinstance(arrays, Archive) and arrays.digests is None:
        raise ValueError("it has no digests, without which its trees are not read")
    require_numbers(arrays, "trees", shape(arrays, "trees")[:1], np.uint8)
    text = np.asarray(arrays["trees"]).tobytes().decode("ascii")
    head, _, body = text.partition("\n\n")
    said = _named(head.removeprefix("tree\n"))
    if not text.startswith("tree\n"):
        raise ValueError("'trees' is no text of LightGBM's")
    _require_head(said, n_features)
    sizes = list(map(int, said["tree_sizes"].split()))
    if min(sizes, default=0) < 1 or not 1 <= trees <= len(sizes):
        raise ValueError(f"'trees' has {len(sizes)} trees, and {trees} are meant")
    ends = np.cumsum(sizes)
    parts = zip(sizes, ends.tolist(), strict=True)
    made = [_tree(body[end - size : end], number, n_features) for number, (size, end) in enumerate(parts)]
    if not body.startswith(_END, int(ends[-1])):
        raise ValueError("'trees' is cut short")
    return f"{_head(said, n_features, list(map(len, made)))}{''.join(made)}{_END}{_PARAMETERS}"


def _require_head(said: Mapping[str, str], n_features: int) -> None:
    """Refuse a head of which a value is not what LightGBM writes for a ranker of so many features."""
    for name, value in said.items():
        wanted = _FIXED.get(name, str(n_features - 1) if name == "max_feature_idx" else None)
        if wanted is None and name not in _LISTED:
            raise ValueError(f"'trees' has {name}={quoted(value)} in its head, which is not what LightGBM writes")
        if wanted is not None and value != wanted:
            raise ValueError(f"'trees' has {name}={quoted(value)} in its head, and must have {wanted!r}")
        if name in ("feature_names", "feature_infos") and len(value.split(" ")) != n_features:
            raise ValueError(f"'trees' has {len(value.split(' '))} of {name}, and {n_features} features")
    missing = {"feature_names", "feature_infos", "max_feature_idx", "tree_sizes", *_FIXED} - {"average_output"}
    if not missing <= said.keys():
        raise ValueError(f"'trees' has no {min(missing - said.keys())} in its head")


def _head(said: Mapping[str, str], n_features: int, sizes: list[int]) -> str:
    """Return a head of values that were checked: no text of the file is in it."""
    lines = [f"{name}={value}" for name, value in _FIXED.items() if name != "average_output"]
    lines += [f"max_feature_idx={n_features - 1}", *["average_output"] * ("average_output" in said)]
    lines += [f"feature_names={' '.join(f'Column_{k}' for k in range(n_features))}"]
    lines += [f"feature_infos={' '.join(['none'] * n_features)}", f"tree_sizes={' '.join(map(str, sizes))}"]
    return "\n".join(["tree", *lines, "", ""])


def _tree(text: str, number: int, n_features: int) -> str:
    """Return a tree as LightGBM writes it, from numbers that were checked.

    Trees are refused of which LightGBM would read what is not there, or that it would walk for ever.
    """
    said = _named(text)
    leaves = int(said.pop("num_leaves"))
    if int(said.pop("Tree")) != number or leaves < 1 or not text.endswith("\n\n"):
        raise ValueError(f"tree {number} is malformed: its number or its leaves are wrong")
    if int(said.pop("num_cat", 0)) or int(said.pop("is_linear", 0)):
        raise ValueError(f"tree {number} has splits by categories or linear leaves, which are not read from files")
    numbers = {name: _numbers(name, value) for name, value in said.items() if value or leaves > 1}
    for name, found in numbers.items():
        if len(found) != (1 if name == "shrinkage" else leaves if name.startswith("leaf_") else leaves - 1):
            raise ValueError(f"tree {number} has {len(found)} numbers of {name}")
    if leaves > _MOST_LEAVES:
        raise ValueError(f"tree {number} has {leaves} leaves")
    if "leaf_value" not in numbers or "shrinkage" not in numbers:
        raise ValueError(f"tree {number} has no leaf_value or no shrinkage")
    if leaves == 1:
        return _written(number, leaves, {name: numbers[name] for name in ("leaf_value", "shrinkage")})
    splits, left, right = (numbers[name] for name in ("split_feature", "left_child", "right_child"))
    if not {"threshold", "decision_type", "leaf_value"} <= numbers.keys():
        raise ValueError(f"tree {number} has no thresholds or leaves")
    later = np.arange(leaves - 1)  # a node of a split is made after the one above it
    children = np.sort(np.concatenate([left, right]))
    if not (
        ((splits >= 0) & (splits < n_features)).all()
        and (((left < 0) | (left > later)) & ((right < 0) | (right > later))).all()
        and np.array_equal(children, np.setdiff1d(np.arange(-leaves, leaves - 1), [0]))
    ):
        raise ValueError(f"tree {number} is malformed: its splits do not make a tree")
    if not np.isin(numbers["decision_type"], _DECISIONS).all():
        raise ValueError(f"tree {number} has a decision_type that LightGBM does not write of numbers")
    return _written(number, leaves, numbers)


def _written(number: int, leaves: int, numbers: Mapping[str, NDArray[Any]]) -> str:
    lines = [f"Tree={number}", f"num_leaves={leaves}", "num_cat=0"]
    for name in (*_WHOLE, *_REAL):
        if name in numbers:
            form = "d" if name in _WHOLE else ".17g"
            lines.append(f"{name}={' '.join(format(value, form) for value in numbers[name].tolist())}")
    return "\n".join([*lines, "is_linear=0", "", "", ""])


def _numbers(name: str, text: str) -> NDArray[Any]:
    """Return the finite numbers that stand behind a name, of those that LightGBM writes."""
    dtype = _WRITTEN.get(name)
    if dtype is None or _UNUSUAL.search(text):
        raise ValueError(f"'trees' has {name}={quoted(text)}, which is not what LightGBM writes")
    found = np.array(text.split(" "), dtype=np.float64)
    if not np.isfinite(found).all() or (dtype is np.int64 and (np.abs(found) >= 2**31).any()):
        raise ValueError(f"'trees' has a number of {name} that is too large")
    return np.array(text.split(" "), dtype=dtype)


def _named(text: str) -> dict[str, str]:
    """Return what stands behind each name in lines ``name=...``."""
    lines = [line.partition("=") for line in text.split("\n") if line]
    found = {name: value for name, _, value in lines}
    if len(found) < len(lines):
        raise ValueError("'trees' has a name twice")
    return found


def booster_of(text: str) -> Any:
    """Return the ``lightgbm.Booster`` that a text is of, one that `read_trees` returned."""
    try:
        from lightgbm import Booster
        from lightgbm.basic import LightGBMError
    except (ImportError, OSError) as error:
        raise NotInstalledError(
            f"this model is scored by LightGBM, which cannot be loaded ({error}): pip install "
            "'structural-svm[lambdamart]'"
        ) from error
    try:
        return Booster(model_str=text)
    except LightGBMError as error:
        raise ValueError(f"LightGBM cannot read its trees: {error}") from None
