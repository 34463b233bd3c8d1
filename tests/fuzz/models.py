"""Damaged files of models and of experiments, and the allowed results."""

import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from attrs import evolve

from structsvm.foundation.storage.archives import with_digests
from structsvm.foundation.storage.artefacts import CACHE
from structsvm.foundation.storage.files import write_archive
from structsvm.foundation.storage.mapped import read_header, read_mapped, write_mapped
from tests.fuzz.case import Case, Special
from tests.fuzz.mutations import NUMBERS, damaged, damaged_bytes

_LOADERS = {
    "m.npz": "structsvm.Ranker.load",
    "calibrated.npz": "structsvm.load",
    "trees.npz": "structsvm.load",
    "boost.npz": "structsvm.rankers.RankBoost.load",
    "net.npz": "structsvm.load",
    "s.npz": "structsvm.StructuralSVM.load",
    "l.npz": "structsvm.estimators.LatentStructuralSVM.load",
    "result.npz": "structsvm.Result.load",
    "c.npz": "structsvm.solvers.Checkpoint({}).read",
    "results/results.json": "structsvm.protocols.Results.load",
}
_FEATURES = 4
"""Columns of the data that the models were trained on."""

_DIGEST = re.compile("digest|checksum|sha|crc")


def make(rng: Random, files: Mapping[str, bytes]) -> Case:
    """Return the load of a damaged file; at times of a kind that is another's."""
    draw = rng.random()
    if draw < 0.1:
        return _of_index(rng, files)
    if draw < 0.2:
        return _of_cache(rng, files)
    if draw < 0.3:
        loader = rng.choice(["structsvm.load", "structsvm.rankers.LambdaMART.load"])
        return Case("models", {"trees.npz": _with_odd_trees(rng, files["trees.npz"])}, loader, ("'trees.npz'",))
    name = rng.choice(["m.npz", "m.npz", "m.npz", *_LOADERS])
    loader = _LOADERS[name] if rng.random() < 0.95 else rng.choice(list(_LOADERS.values()))
    content: bytes | Special = files[name]
    match rng.random():
        case p if p < 0.02:
            content = rng.choice(list(Special))
        case p if p < 0.04 and name.endswith(".npz"):
            content = _bomb(rng, files[name])
        case _ if name.endswith(".json"):
            content = damaged_json(rng, files[name]) if rng.random() < 0.6 else damaged(rng, files[name])
        case p if p < 0.45:
            content = damaged_bytes(rng, files[name])
        case _:
            content = _with_odd_members(rng, files[name])
    path = name.rpartition("/")[2]
    arguments = () if "{}" in loader else (repr(path),)
    return Case("models", {path: content}, loader.format(repr(path)), arguments)


def check(case: Case, value: Any, files: Mapping[str, bytes]) -> str:
    """Describe how a loaded model differs from the one before the damage; "" if it does not.

    If the members were written anew, the model may be any, but must predict or raise.
    """
    from structsvm.exceptions import StructSVMError

    if case.what.endswith("Index.load"):
        return _difference_of_index(case, value, files)
    if case.what.endswith("load_letor"):
        return _difference_of_cache(case, value)
    name = next(iter(case.files))
    if hasattr(value, "predict") and "Latent" not in case.what:
        try:
            value.predict(np.zeros((2, _FEATURES)))
            if getattr(value, "calibration", None) is not None:
                value.predict_proba(np.zeros((2, _FEATURES)))
            repr(value)
        except StructSVMError:
            pass
    content = case.files[name]
    original = next((content for path, content in files.items() if path.rpartition("/")[2] == name), b"")
    if not isinstance(content, bytes) or not name.endswith(".npz") or _rewritten(content) or _is_json(content):
        return ""
    return "" if _members(content) == _members(original) else "it was read, and other arrays are in it"


def _of_index(rng: Random, files: Mapping[str, bytes]) -> Case:
    """Return the load of an index of which a byte is another one."""
    content = files["indexed"]
    place = rng.randrange(len(content))
    changed = content[:place] + rng.randbytes(1) + content[place + 1 :]
    return Case("models", {"indexed": changed}, "structsvm.text.Index.load", ("'indexed'",))


def _of_cache(rng: Random, files: Mapping[str, bytes]) -> Case:
    """Return the reading of data through a cache with right digests, but with arrays that no reader writes."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "cached")
        path.write_bytes(files["cached"])
        with path.open("rb") as file:
            about = read_header(file, CACHE)["about"]
            arrays = {name: array.copy() for name, array in read_mapped(file, CACHE).items()}
        name = rng.choice(list(arrays))
        match rng.randrange(6):
            case 0:
                arrays[name] = arrays[name].astype(rng.choice(["f4", ">f8", "i4", "u8", "U3"]))
            case 1:
                arrays[name] = arrays[name][rng.choice([1, 2, 10**6]) :]
            case 2:
                arrays[name] = arrays[name][None] if rng.random() < 0.5 else np.concatenate([arrays[name]] * 2)
            case 3:
                arrays["y" if rng.random() < 0.5 else "X"].flat[0] = rng.choice([np.nan, np.inf, -np.inf])
            case 4:
                del arrays[name]
            case _:
                key = rng.choice(list(about))
                about[key] = rng.choice([None, [], {}, 0, -1, 2**70, "x", [1], [2**40, 4], [20, 3], ["a"] * 4])
        write_mapped(path, CACHE, about, arrays)
        changed = path.read_bytes()
    read = ("'train.txt'", "cache='cached'", "sparse=False")
    return Case("models", {"train.txt": files["train.txt"], "cached": changed}, "structsvm.data.load_letor", read)


def _difference_of_cache(case: Case, data: Any) -> str:
    """Say whether data through a cache differ from the text."""
    from structsvm.data import load_letor

    with TemporaryDirectory() as folder:
        case.put(Path(folder))
        wanted = load_letor(Path(folder, "train.txt"), sparse=False)
    same = all(
        np.array_equal(getattr(data, name), getattr(wanted, name))
        and getattr(data, name).dtype == getattr(wanted, name).dtype
        for name in ("X", "y", "qid")
    )
    return "" if same and data.feature_names == wanted.feature_names else "a crafted cache was read"


def _difference_of_index(case: Case, index: Any, files: Mapping[str, bytes]) -> str:
    """Say whether a damaged index retrieves other documents than before, if it was read."""
    from structsvm.exceptions import StructSVMError
    from structsvm.text import Index, retrieve

    def retrieved(index: Index) -> Any:
        run = retrieve(index, {"1": "wing flow", "2": "the wings of it's mach"}, "okapi")
        return run.qid.tolist(), run.doc_ids.tolist(), run.scores.tolist()

    try:
        result = retrieved(index)
    except StructSVMError:
        return ""
    with TemporaryDirectory() as folder:
        evolve(case, files={"indexed": files["indexed"]}).put(Path(folder))
        wanted = retrieved(Index.load(Path(folder) / "indexed"))
    return "a damaged index was read, and retrieves other documents" if result != wanted else ""


def _with_odd_trees(rng: Random, content: bytes) -> bytes:
    """Return a model of trees with right digests whose text LightGBM would not write."""
    with np.load(io.BytesIO(content)) as archive:
        arrays: dict[str, Any] = {name: array for name, array in archive.items() if not _DIGEST.search(name)}
    lines = arrays["trees"].tobytes().decode().split("\n")
    for _ in range(rng.choice([1, 1, 2])):
        k = rng.choice([k for k, line in enumerate(lines) if "=" in line])
        name, _, value = lines[k].partition("=")
        parts = value.split(" ")
        parts[rng.randrange(len(parts))] = rng.choice(
            ["0", "-1", "", "1" + "0" * 9, "1" + "0" * 20, "x", "nan", "1e308"]
        )
        other = rng.choice([" ".join(parts), rng.choice(["0", "-1", "", "9" * 30, "x"]), f"{value} {value}"])
        lines[k : k + 1] = rng.choice(
            [[f"{name}={other}"], [f"{name}={other}"], [], [lines[k]] * 2, [lines[k], rng.choice(_MORE_OF_TREES)]]
        )
    text = "\n".join(lines).encode()
    arrays["trees"] = np.frombuffer(_sized(text) if rng.random() < 0.8 else text, dtype=np.uint8)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "trees.npz"
        write_archive(path, arrays, compressed=False)
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = _MARK
        return path.read_bytes()


_MORE_OF_TREES = ("Tree=0", "num_leaves=1", "num_cat=3", "is_linear=1", "end of trees", "", "tree", "average_output")


def _sized(text: bytes) -> bytes:
    """Return the text of trees with the sizes that its trees have now."""
    head, mark, body = text.partition(b"\n\n")
    trees = body.partition(b"end of trees")[0].split(b"Tree=")[1:]
    sizes = b" ".join(b"%d" % len(b"Tree=" + tree) for tree in trees)
    return re.sub(rb"(?m)^tree_sizes=.*$", b"tree_sizes=" + sizes, head) + mark + body


def _bomb(rng: Random, content: bytes) -> bytes:
    """Return an archive with a member that is a gigabyte once it is unpacked, instead of another or as one more."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members.pop(rng.choice(list(members)) if rng.random() < 0.7 else "", None)
    gone = sorted(set(zipfile.ZipFile(io.BytesIO(content)).namelist()) - set(members)) or ["more.npy"]
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.comment = _MARK
        for name, member in members.items():
            _add(archive, name, member)
        with archive.open(gone[0], "w", force_zip64=True) as file:
            kind = rng.choice(["<f8", "|u1", "<U9"])
            length = 2**30 // np.dtype(kind).itemsize
            np.lib.format.write_array_header_1_0(
                file, {"descr": kind, "fortran_order": False, "shape": rng.choice([(length,), (1, length), ()])}
            )
            for _ in range(64):
                file.write(bytes(2**24))
    return made.getvalue()


def _rewritten(content: bytes) -> bool:
    return _MARK in content


_MARK = b"rewritten by the fuzzer"


def _is_json(content: bytes) -> bool:
    return content[:1] == b"{"


def _members(content: bytes) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    with np.load(io.BytesIO(content)) as archive:
        return {name: (array.dtype.str, array.shape, array.tobytes()) for name, array in archive.items()}


def _with_odd_members(rng: Random, content: bytes) -> bytes:
    """Return an archive with arrays of other shapes, types and values, and other text; mostly with right digests."""
    with np.load(io.BytesIO(content)) as archive:
        arrays: dict[str, Any] = dict(archive)
    right = rng.random() < 0.8
    if right:
        arrays = {name: array for name, array in arrays.items() if not _DIGEST.search(name)}
    for _ in range(rng.choice([1, 1, 2])):
        name = rng.choice(list(arrays))
        if isinstance(arrays[name], bytes):
            continue
        if arrays[name].dtype.kind == "U" and arrays[name].ndim == 0 and rng.random() < 0.8:
            text = str(arrays[name])
            changed = damaged_json(rng, text.encode()) if text.startswith("{") else damaged(rng, text.encode())
            arrays[name] = np.array(changed.decode(errors="replace"))
        else:
            arrays[name] = _odd_array(rng, arrays[name])
            if arrays[name] is None:
                del arrays[name]
    if right and all(isinstance(array, np.ndarray) and array.dtype.kind not in "OV" for array in arrays.values()):
        arrays = dict(with_digests(arrays))
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])) as archive:
        archive.comment = _MARK
        for name, array in arrays.items():
            _add(archive, f"{name}.npy", array if isinstance(array, bytes) else _as_npy(array))
            if rng.random() < 0.01:
                _add(archive, f"{name}_2.npy", _as_npy(np.zeros(3)))
    return made.getvalue()


def _add(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a member without the time of day, which `ZipFile.writestr` would store."""
    with archive.open(name, "w") as file:
        file.write(content)


def _as_npy(array: Any) -> bytes:
    made = io.BytesIO()
    np.save(made, array, allow_pickle=True)
    return made.getvalue()


def _odd_array(rng: Random, array: Any) -> Any:
    """Return an array like this one, with something wrong; None: leave it out; bytes: not an array."""
    wild = np.array(rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e308, 1e155, 0.0, -1.0, 2.0**63]))
    match rng.randrange(14):
        case 0:
            return None
        case 1:
            return array[..., :-1] if array.ndim else array[None]
        case 2:
            return np.concatenate([array, array]) if array.ndim else np.array([array, array])
        case 3:
            return array[None]
        case 4:
            return array.reshape(-1)[:0]
        case 5:
            kind = rng.choice(["U3", "S3", "c16", "f4", "i8", "?", "M8[s]", "f2", ">f8", "g", "O", "V8", "u1"])
            try:
                with np.errstate(all="ignore"):
                    return array.astype(kind)
            except (TypeError, ValueError):
                return np.zeros(array.shape, kind)
        case 6:
            return np.array([("x", 1)], dtype=[("a", "U1"), ("b", "i4")])
        case 7:
            return np.array([{}, None, [1]], dtype=object)
        case 8:
            return b"\x93NUMPY\x01\x00v\x00" + _header(rng)
        case 9:
            return rng.randbytes(rng.randrange(200))
        case 10:
            return np.broadcast_to(wild, (200,) * rng.randrange(3))
        case 11 if array.ndim == 2:
            return np.asfortranarray(array.T)
        case _:
            if array.size == 0 or array.dtype.kind not in "fiu":
                return wild
            changed = array.astype(np.float64)
            changed.flat[rng.randrange(array.size)] = wild
            return changed.astype(array.dtype) if array.dtype.kind == "f" else changed


def _header(rng: Random) -> bytes:
    """Return the header of an array that is larger than any memory, or no array."""
    shape = rng.choice(
        ["(1000000000000,)", "(1000000, 1000000)", "(-1,)", "(2**64,)", "()", "(1,) * 9", "99999999999999999999,"]
    )
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    return text.ljust(117).encode() + b"\n"


def damaged_json(rng: Random, content: bytes) -> bytes:
    """Return JSON in which something is of another type, missing, there twice, nested deep, or no JSON at all."""
    text = content.decode()
    if rng.random() < 0.1:
        return rng.choice(
            [b"[" * 100_000, b'{"a":' * 50_000, b"", b"null", b"[]", b"{}", b"1e999", b"NaN", b'"\\ud800"']
        )
    first, _, rest = text.partition("\n")
    whole = json.loads(first)
    for _ in range(rng.choice([1, 1, 2])):
        _change(rng, whole)
    made = json.dumps(whole)
    if rng.random() < 0.1:
        made = made.replace("{", '{"format": 1, ', 1)
    return f"{made}\n{rest}".encode() if rest else made.encode()


_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 10**20, 10**400, 0.5, float("nan"), float("inf"), 1e308, "", "x", "map", "\x1b[31m"),
    *(
        [],
        {},
        [[]],
        [None],
        [1, 2, 3],
        {"": 0},
        {"name": "map", "settings": {}},
        {"text": "X()"},
        "=1",
        "\u202e",
        "9" * 5000,
    ),
    *NUMBERS[:8],
)


def _change(rng: Random, whole: Any) -> None:
    """Change one value somewhere."""
    holders: list[Any] = []
    _walk(whole, holders)
    if not holders:
        return
    holder = rng.choice(holders)
    key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
    match rng.randrange(6):
        case 0:
            del holder[key]
        case 1 if isinstance(holder, dict):
            holder[rng.choice(["x", "", "format", "\x00", "__class__", "self"])] = rng.choice(_VALUES)
        case 1:
            holder.append(rng.choice(_VALUES))
        case 2:
            holder[key] = json.loads("[" * 300 + "]" * 300)
        case 3 if isinstance(holder[key], int | float):
            number = holder[key]
            whole = int(number) if math.isfinite(number) else 0
            holder[key] = rng.choice([-number, number + 1, number * 1e9, whole, str(number)])
        case _:
            holder[key] = rng.choice(_VALUES)


def _walk(value: Any, holders: list[Any]) -> None:
    if isinstance(value, dict | list) and value:
        holders.append(value)
        for each in value.values() if isinstance(value, dict) else value:
            _walk(each, holders)
