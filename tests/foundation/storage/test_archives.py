"""Files of arrays of which nothing is believed: flipped bits, sizes that are not there, contents that make no sense."""

import copy
import io
import json
import re
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import structsvm
from structsvm import Ranker, Result, StructuralSVM
from structsvm.exceptions import ModelFileError
from structsvm.foundation.storage.archives import DIGESTS, with_digests
from structsvm.foundation.storage.files import read_archive, write_archive
from structsvm.losses import NDCGLoss
from structsvm.solvers import OneSlack
from tests.slow import slow

Edit = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def ranker() -> Ranker:
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(24, 3)), np.repeat(np.arange(4), 6)
    return Ranker(NDCGLoss(k=5), solver=OneSlack(), tol=0.01, class_weight=None).fit(X, X[:, 0] > 0.3, qid=qid)


@pytest.fixture
def path(ranker: Ranker, tmp_path: Path) -> Path:
    ranker.save(tmp_path / "m.npz")
    return tmp_path / "m.npz"


def arrays_of(ranker: Any) -> dict[str, Any]:
    return {name: np.asarray(array) for name, array in ranker.model_.arrays().items()}


def write_as_they_are(path: Path, arrays: dict[str, Any]) -> Path:
    """Write arrays, the digests among them, of which none need be right."""
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays)
    return path


def write_with_digests(path: Path, arrays: dict[str, Any]) -> Path:
    """Write arrays with right digests, so that only the arrays can be wrong."""
    return write_as_they_are(path, with_digests(arrays))


def contents(ranker: Ranker) -> tuple[str, ...]:
    state = sorted((name, str(value)) for name, value in vars(ranker).items() if name not in ("model_", "_statistics"))
    return repr(ranker.get_params()), repr(state), repr(ranker.result_.arrays())


def assert_refused_or_the_same(path: Path, ranker: Ranker, bits: Iterator[int] | range) -> int:
    """Load a file with each of these bits flipped; return how many were refused."""
    whole, expected, refused = path.read_bytes(), contents(Ranker.load(path)), 0
    assert expected == contents(ranker)
    other = path.with_name("flipped.npz")
    for bit in bits:
        flipped = bytearray(whole)
        flipped[bit // 8] ^= 1 << bit % 8
        other.write_bytes(flipped)
        try:
            again = Ranker.load(other)
        except ModelFileError:
            refused += 1
        else:
            assert contents(again) == expected, f"bit {bit}"
    return refused


def test_a_flipped_bit_is_refused_or_changes_nothing(path: Path, ranker: Ranker) -> None:
    bits = range(3, 8 * path.stat().st_size, 151)
    assert assert_refused_or_the_same(path, ranker, bits) > len(bits) // 2


def test_a_flipped_length_in_the_list_of_parts_hides_none_of_them(path: Path, ranker: Ranker) -> None:
    """zipfile leaves out all parts behind an entry that is too long, the digests among them."""
    whole = path.read_bytes()
    entries = [match.start() for match in re.finditer(rb"PK\x01\x02", whole)]
    lengths = [8 * (entry + 28) + bit for entry in entries for bit in range(48)]
    assert len(entries) == len(np.load(path).files)
    assert assert_refused_or_the_same(path, ranker, iter(lengths)) > len(lengths) // 2


@pytest.mark.slow
def test_a_flipped_bit_of_each_byte_is_refused_or_changes_nothing(path: Path, ranker: Ranker) -> None:
    """Neighbouring bytes flip different bits."""
    assert_refused_or_the_same(path, ranker, (8 * byte + byte % 8 for byte in range(path.stat().st_size)))


@pytest.mark.parametrize("name", ["w", "fingerprint", "result", "coef", "model"])
def test_an_array_of_another_file_is_noticed(path: Path, ranker: Ranker, name: str) -> None:
    """Every part is whole, and its CRC is right."""
    parts = dict(np.load(path))
    parts[name] = np.array(f"{parts[name]} ") if parts[name].dtype.kind == "U" else parts[name] + 1e-9
    write_as_they_are(path, parts)
    with pytest.raises(ModelFileError, match=f"m.npz is damaged: the checksum of '{name}' does not match"):
        Ranker.load(path)


@pytest.mark.parametrize("change", [lambda parts: parts.pop("L"), lambda parts: parts.update(more=np.zeros(1))])
def test_a_part_too_many_or_too_few_is_noticed(path: Path, change: Edit) -> None:
    parts = dict(np.load(path))
    change(parts)
    write_as_they_are(path, parts)
    with pytest.raises(ModelFileError, match="m.npz is damaged: it has other parts than when it was written"):
        Ranker.load(path)


def test_digests_that_are_none(path: Path) -> None:
    write_as_they_are(path, dict(np.load(path)) | {DIGESTS: np.array("[1, 2")})
    with pytest.raises(ModelFileError, match="is damaged"):
        Ranker.load(path)


def of(name: str, change: Edit) -> Edit:
    """Return the change of a text of JSON."""

    def edit(arrays: dict[str, Any]) -> None:
        text = json.loads(str(arrays[name]))
        change(text)
        arrays[name] = np.array(json.dumps(text))

    return edit


def put(*places: Any) -> Edit:
    """Return the change of a value in a text of a ranker: its keys, and then the value."""
    *keys, last, value = places

    def change(text: dict[str, Any]) -> None:
        for key in keys:
            text = text[key]
        text[last] = value

    return of("model", change)


def result(**values: Any) -> Edit:
    return of("result", lambda text: text.update(values))


def array(**arrays: Any) -> Edit:
    return lambda contents: contents.update(arrays)


def with_number(name: str, value: float) -> Edit:
    def edit(arrays: dict[str, Any]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name].flat[-1] = value

    return edit


WRONG: dict[str, tuple[Edit, str]] = {
    "coef too short": (array(coef=np.ones(2)), "'coef' must be float64 of shape (3,), got float64 of shape (2,)"),
    "coef of another result": (array(coef=np.ones(3)), "the weights of the model and of its result differ"),
    "w too short": (array(w=np.ones(2)), "'G' must be float64 of shape"),
    "w too long": (array(w=np.ones(4)), "'G' must be"),
    "w a matrix": (array(w=np.ones((3, 1))), "is not a file of this kind"),
    "w a number": (array(w=np.array(1.0)), "is not a file of this kind"),
    "w float32": (array(w=np.ones(3, np.float32)), "'w' must be float64"),
    "w of text": (array(w=np.array(["a", "b", "c"])), "'w' must be float64 of shape (3,), got <U1"),
    "w complex": (array(w=np.ones(3, complex)), "is not a model file, or it is damaged"),
    "w with dates": (array(w=np.zeros(3, "M8[s]")), "is not a model file, or it is damaged"),
    "w with fields": (array(w=np.zeros(3, [("a", float)])), "is not a model file, or it is damaged"),
    "w with NaN": (with_number("w", np.nan), "'w' must be finite"),
    "w with inf": (with_number("w", np.inf), "'w' must be finite"),
    "fingerprint with NaN": (with_number("fingerprint", np.nan), "'fingerprint' must be finite"),
    "G of other features": (array(G=np.ones((1, 7))), "'G' must be"),
    "G with NaN": (with_number("G", np.nan), "'G' must be finite"),
    "L too long": (array(L=np.ones(99)), "must be float64 of shape (99,)"),
    "group of floats": (lambda a: a.update(group=a["group"] * 1.0), "'group' must be int64"),
    "group out of range": (with_number("group", 9), "'group' must be from 0 to 0"),
    "negative multiplier": (with_number("a", -1.0), "must not be negative"),
    "primal of text": (result(primal="1"), "primal must be a finite number, got '1'"),
    "dual true": (result(dual=True), "dual must be a finite number"),
    "C of 0": (result(C=0.0), "C must be a positive finite number"),
    "C of 400 digits": (result(C=10**400), "C must be a positive finite number"),
    "groups of text": (result(groups="1"), "groups must be an integer"),
    "certified none": (result(certified=None), "certified must be True or False"),
    "status": (result(status="FINE"), "status must be"),
    "solver a list": (result(solver=[]), "solver must be text"),
    "history short": (result(history=[[0, 1.0]]), "a step of 'history' must be 14 numbers"),
    "history none": (result(history=None), "of this kind"),
    "further number": (result(more=1), "the result has an unknown name, 'more'"),
    "format none": (result(format=None), "wrote it (format None; this version"),
    "another format": (result(format=4), "wrote it (format 4; this version"),
    "another format of models": (put("format", 3), "wrote it (format 3; this version"),
    "model format of text": (put("format", "x"), "wrote it (format 'x'; this version"),
    "settings a list": (put("settings", []), "settings must be a JSON object"),
    "C of text": (put("settings", "C", "x"), "C must be a positive finite number, got 'x'"),
    "tol of 0": (put("settings", "tol", 0), "tol must be a positive finite number or None"),
    "intercept of text": (put("settings", "fit_intercept", "yes"), "fit_intercept must be True or False"),
    "intercept": (put("settings", "fit_intercept", True), "the weights of the model and of its result differ"),
    "class weight": (put("settings", "class_weight", "even"), "class_weight must be 'balanced' or None"),
    "class weights": (put("settings", "class_weight", [[1]]), "class_weight must be pairs"),
    "measure a number": (put("settings", "measure", 3), "measure must be text"),
    "loss a number": (put("settings", "loss", 3), "a loss must be text"),
    "unknown setting": (put("settings", "color", 3), "has an unknown name, 'color'"),
    "unknown setting of loss": (
        put("settings", "loss", "settings", "color", 3),
        "settings of the loss 'ndcg' are invalid",
    ),
    "k of text": (put("settings", "loss", "settings", "k", "many"), "settings of the loss 'ndcg' are invalid"),
    "loss without a name": (put("settings", "loss", "name", None), "a name that is text"),
    "loss without text": (of("model", lambda text: text["settings"]["loss"].pop("text")), "'text' is missing"),
    "backend a number": (put("settings", "solver", "settings", "backend", 3), "a QP backend must be text"),
    "loss of no ranker": (put("fitted", "loss_", {"name": "multiclass", "settings": {}, "text": ""}), "one score"),
    "features of text": (put("n_features", "3"), "n_features must be an integer"),
    "features another number": (put("n_features", 4), "'coef' must be"),
    "a method": (put("fitted", "predict", True), "has an unknown name, 'predict'"),
    "qid missing": (of("model", lambda text: text["fitted"].pop("_fitted_with_qid")), "lacks '_fitted_with_qid'"),
    "features missing": (of("model", lambda text: text.pop("n_features")), "'n_features' is missing"),
    "another form": (put("form", "stumps"), "'alphas' is missing"),
    "no form": (put("form", []), "of this kind"),
    "qid a number": (put("fitted", "_fitted_with_qid", 3), "must be True or False"),
    "saved loss": (put("fitted", "saved_loss", 3), "of this kind"),
    "names too few": (array(feature_names=np.array(["a"])), "'feature_names' must be text of shape (3,)"),
    "names of numbers": (array(feature_names=np.ones(3)), "'feature_names' must be text"),
    "no text": (array(model=np.ones(3)), "'model' must be text"),
    "deep": (array(model=np.array("[" * 100_000)), "it is nested too deeply"),
    "huge integer": (array(model=np.array('{"format": ' + "9" * 5000 + "}")), "of this kind"),
    "huge number": (array(model=np.array('{"format": 1e999}')), "1e999 is not a finite number"),
    "NaN": (array(model=np.array('{"format": NaN}')), "NaN is not a finite number"),
    "twice": (array(model=np.array('{"format": 1, "format": 1}')), "'format' occurs twice"),
}


@pytest.mark.parametrize("kind", WRONG)
def test_what_cannot_be_is_refused_by_name(tmp_path: Path, ranker: Ranker, kind: str) -> None:
    edit, message = WRONG[kind]
    arrays = copy.copy(arrays_of(ranker))
    edit(arrays)
    path = write_with_digests(tmp_path / "m.npz", arrays)
    with pytest.raises(ModelFileError) as caught:
        Ranker.load(path)
    text = str(caught.value)
    assert text.startswith(f"{path}")
    assert message in text
    assert "\n" not in text
    assert len(text) < 6000


def test_a_loss_and_solver_of_packages_that_are_missing_predict(tmp_path: Path, ranker: Ranker) -> None:
    arrays = arrays_of(ranker)
    for change in (
        put("settings", "loss", {"name": "own_loss", "settings": {"k": 3}, "text": "own_loss@3"}),
        put("fitted", "loss_", {"name": "own_loss", "settings": {"k": 3}, "text": "own_loss@3"}),
        put("settings", "solver", {"name": "own-solver", "settings": {}, "text": ""}),
    ):
        change(arrays)
    loaded = Ranker.load(write_with_digests(tmp_path / "m.npz", arrays))
    np.testing.assert_array_equal(loaded.predict(np.eye(3)), ranker.predict(np.eye(3)))
    assert loaded.loss == "own_loss@3"


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("loss", ["multiclass", "chain_hamming", "zero_one"])
def test_weights_of_a_structural_svm_fit_its_loss(tmp_path: Path, loss: str, fit_intercept: bool) -> None:
    X = np.random.default_rng(1).normal(size=(12, 2))
    y: Any = (X[:, 0] > 0).astype(int)
    xs, ys = (list(X.reshape(4, 3, 2)), list(y.reshape(4, 3))) if loss == "chain_hamming" else (X, y)
    svm = StructuralSVM(loss, tol=0.5, fit_intercept=fit_intercept).fit(xs, ys)
    svm.save(tmp_path / "m.npz")
    np.testing.assert_array_equal(StructuralSVM.load(tmp_path / "m.npz").coef_, svm.coef_)
    arrays = arrays_of(svm)
    write_with_digests(tmp_path / "m.npz", {**arrays, "w": np.append(arrays["w"], 0.0)})
    with pytest.raises(ModelFileError, match="weights, but the loss needs|'G' must be"):
        StructuralSVM.load(tmp_path / "m.npz")
    of("model", lambda text: text["fitted"].update(_matrices=3))(arrays)
    with pytest.raises(ModelFileError, match="_matrices must be True or False"):
        StructuralSVM.load(write_with_digests(tmp_path / "m.npz", arrays))


def peak_of(path: Path, load: Callable[[Path], Any]) -> int:
    """Return the most bytes that a refusal takes."""
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            load(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def raw_header(shape: tuple[int, ...], dtype: str = "<f8") -> bytes:
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize("shape", [(10**12,), (2**62, 2**62), (-1, -5), (10**30,), (True,)])
@pytest.mark.parametrize("kind", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_size_that_is_not_there_is_refused_before_memory_is_taken(
    tmp_path: Path, shape: tuple[int, ...], kind: int
) -> None:
    path = tmp_path / "m.npz"
    with zipfile.ZipFile(path, "w", kind) as zipped:
        zipped.writestr("w.npy", raw_header(shape) + bytes(40))
    assert peak_of(path, Result.load) < 1e6


def test_a_member_that_says_it_is_larger_than_it_is(tmp_path: Path) -> None:
    """Both directories of the zip and the header of the array agree on 8 TB."""
    path = tmp_path / "m.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("w.npy", raw_header((2**28,)) + bytes(80))
    size = 128 + 8 * 2**28
    whole = path.read_bytes().replace((128 + 80).to_bytes(4, "little"), size.to_bytes(4, "little"))
    assert whole.count(size.to_bytes(4, "little")) == 2
    path.write_bytes(whole)
    assert peak_of(path, Result.load) < 1e6


@pytest.mark.parametrize("name", ["w", *slow("G", "feature_names", "result")])
def test_a_bomb_that_is_as_large_as_it_says_is_refused_by_its_shape(tmp_path: Path, ranker: Ranker, name: str) -> None:
    size = 16_000_000
    arrays = arrays_of(ranker)
    bomb = np.array(" " * (2 * size)) if name == "result" else np.zeros(size)
    write_with_digests(tmp_path / "m.npz", {**arrays, name: bomb})
    assert (tmp_path / "m.npz").stat().st_size < 1e6
    assert peak_of(tmp_path / "m.npz", Ranker.load) < 2e7


def test_a_file_that_unpacks_to_more_than_any_of_ours_is_not_read(tmp_path: Path) -> None:
    """Its shapes agree with one another: 80 MB of weights that are 0, in 0.4 MB."""
    d = 10_000_000
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]
    arrays = {name: np.asarray(value) for name, value in Ranker().fit(X, y).model_.arrays().items()}
    text = str(arrays["model"]).replace('"n_features": 2', f'"n_features": {d}')
    with zipfile.ZipFile(tmp_path / "m.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped:
        for name, array in {**arrays, "model": np.array(text)}.items():
            if name != "w":
                file = io.BytesIO()
                np.save(file, array)
                zipped.writestr(f"{name}.npy", file.getvalue())
        with zipped.open("w.npy", "w") as member:
            member.write(raw_header((d,)))
            for _ in range(d // 1_000_000):
                member.write(bytes(8_000_000))
    for load in (Ranker.load, structsvm.load):
        assert peak_of(tmp_path / "m.npz", load) < 1e6


def test_equal_weights_are_written_so_that_they_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsvm.foundation.storage.archives._ALWAYS_READ", 1000)
    write_archive(tmp_path / "m.npz", {"w": np.zeros(100_000)})
    assert read_archive(tmp_path / "m.npz", lambda arrays: arrays["w"]).shape == (100_000,)


def test_an_array_is_not_read_into_memory_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_archive(tmp_path / "m.npz", {"w": np.arange(2**23 + 2**20, dtype=np.float64)}, compressed=False)
    monkeypatch.setattr("structsvm.foundation.storage.archives.available", lambda: 2.0**20)
    with pytest.raises(ModelFileError, match="needs 0.1 GB of memory for 'w' alone, more than is available"):
        read_archive(tmp_path / "m.npz", lambda arrays: arrays["w"])


@pytest.mark.parametrize("kind", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_kinds_of_compression_are_not_ours(path: Path, kind: int) -> None:
    with zipfile.ZipFile(path) as zipped:
        parts = {name: zipped.read(name) for name in zipped.namelist()}
    with zipfile.ZipFile(path, "w", kind) as zipped:
        for name, part in parts.items():
            zipped.writestr(name, part)
    with pytest.raises(ModelFileError, match="is not a model file, or it is damaged"):
        Ranker.load(path)
