"""Command lines and their files: working ones, changed at random by click's description of the options."""

import glob
import inspect
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import click

from structsvm.cli import main
from structsvm.registry.built_in import REGISTRIES
from tests.fuzz.case import Case, Special
from tests.fuzz.models import damaged_json
from tests.fuzz.mutations import NUMBERS, WORDS, damaged, damaged_bytes, odd_judgments, odd_word, wide

WORKING = (
    "train train.txt --model new.npz",
    "train train.txt test.txt --ranker ranker(class_weight=balanced) --loss zero_one --fit-intercept --model new.npz",
    "train train.txt --C-grid 0.1:10:3 --validation vali.txt --measure ndcg@5 -m new.npz",
    "train train.txt --solver n-slack --backend active-set --tol 0.1 --max-iter 9 --jobs 2 -m new.npz --quiet",
    "train train.txt --checkpoint c.npz --time-limit 100 --model new.npz",
    "train train.txt --C-grid 0.1:10:3 --folds 2 --seed 1 --measure map --measure p@5 --model new.npz",
    "train train.txt --ranker rank_boost(n_estimators=5) --validation vali.txt --model new.npz",
    "train train.txt --ranker rank_svm -C 0.1 --normalize standard --zero-based --model new.npz",
    "train train.txt --C-grid 0.1:10:3 --validation vali.txt --checkpoint new.c --model new.npz",
    "predict m.npz test.txt",
    "predict m.npz test.txt --format trec --tag me --output scores.txt",
    "predict m.npz test.txt -o scores.txt.gz",
    "train train.txt --normalize query-min-max --model new.npz",
    "train train.txt --bounds 0:,1:-1:0.5 --monotonic-cst 2:-1 --model new.npz",
    "show m.npz --top 2 --plot new.svg",
    "show m.npz --csv -",
    "explain m.npz test.txt --query 100 --documents 1 2 --top 2 --json new.json",
    "export m.npz --format solr --feature-names names.txt --name me --output new.json",
    "export m.npz --format svm_rank --output new.model",
    "export m.npz --format onnx --output new.onnx",
    "predict m.npz grouped.txt -o scores.txt",
    "predict calibrated.npz test.txt --probabilities",
    "calibrate m.npz judged.txt --method sigmoid --output new.npz",
    "train table.csv --label y --qid q --docid name --float32 --model new.npz",
    "predict m.npz table.csv --qid q --features 1,2,3,4 -o scores.txt",
    "train plain.txt --groups sizes.txt --cache new.cache --model new.npz",
    "train grouped.txt --model new.npz",
    "compare grouped.txt --loss map --solver one-slack --backend active-set --csv new.csv",
    "evaluate m.npz test.txt vali.txt --measure map --measure p@3 --per-query",
    "evaluate m.npz test.txt --json - --empty skip",
    "evaluate --qrels q.txt runs/alpha.run runs/beta.run --measure map --json - --plot new.svg",
    "evaluate --qrels q.txt runs/alpha.run --baseline runs/beta.run --measure P_5 --resamples 100 --csv -",
    "evaluate --qrels q.txt runs/alpha.run --grades 0=0,1=2,2=1,3=3 --measure ndcg",
    "compare train.txt --loss map,roc_area --solver one-slack,frank-wolfe --backend active-set -C 1,10 --csv t.csv",
    "compare train.txt --solver one-slack --backend active-set,osqp --time-limit 2 "
    "--bounds 0:,1::2 --monotonic-cst 2:-1 --json t.json",
    "plan --qrels q.txt runs/alpha.run runs/beta.run --difference 0.02 --json -",
    "importance m.npz test.txt --repeats 1 --measure p@2 --across-queries --top 2 --csv - --plot new.svg",
    "select train.txt --step 0.5 --min-features 2 --folds 2 --model new.npz --json new.json",
    "plan --sd 0.1 --queries 50 --systems 3 --all-pairs",
    "fuse runs --output fused.run",
    "fuse runs/alpha.run runs/beta.run --method borda --depth 5 --length 3 --tag both",
    "fuse runs/alpha.run runs/beta.run --method weighted-comb-sum --qrels q.txt -o fused.run --plot new.svg",
    "fuse runs/alpha.run runs/beta.run --method comb-anz(count=nonzero) --normalize query-z-score",
    "benchmark folds --models svm-roc --normalize standard --jobs 1 --out tables",
    "benchmark clicked --models svm-roc --jobs 1 --label y --qid q --features 1,2 --docid name",
    "benchmark sets --models rankboost --jobs 1 --out tables --force --single-features",
    "experiment --runs runs --qrels q.txt --out new --models svm-roc --trials 1 --train 2 --validation 1 --bins 2 "
    "--jobs 1",
    "experiment --runs runs --qrels q.txt --out results --models svm-map,svm-roc --trials 2 --train 2 --validation 1 "
    "--bins 3 --jobs 1",
    "index documents.trec --out new",
    "index documents.trec --stemmer porter --stop-words words.txt --fields text --format trec --out new",
    "retrieve indexed topics.tsv --format tsv --function okapi,lm_dirichlet(mu=9) --top 5 --out new",
    "features indexed topics.tsv --format tsv --qrels q.txt --top 4 --normalize none --out new.txt",
    "features indexed topics.tsv --format tsv --qrels q.txt --candidates runs --features L1,H5 --folds 3 --out new",
    "report results",
    "compile map --jobs 2",
    "list",
    "demo --out train.txt",  # refused: it would take a minute
)
"""Command lines on the files of the corpus, from which `make` begins."""

_AMOUNTS = {"trials", "repeats", "jobs", "time_limit"}
"""Options that say how much is to be done: large numbers would be obeyed."""

_WRITTEN = {"model", "output", "cache", "csv_path", "json_path", "plot_path", "out"}
"""Options that name outputs."""

_LONG = ("benchmark", "experiment", "report")
"""Commands that take seconds, and are tried less often."""

_PLAIN = ("benchmark", "experiment")
"""Commands that take long without their options ``--models`` and ``--jobs``."""

_ODD_PATHS = (
    "",
    ".",
    "..",
    "/",
    "nowhere",
    "nowhere/x",
    "train.txt/x",
    "-",
    "--",
    "a\x1b[31m",
    "a\nb",
    "\udcff",
)
_ODD_PATHS += ("grouped.txt.query", "grouped.txt.group", "x" * 230, "\u00e4" * 127, "x" * 256, "x" * 300)
_ODD_PATHS += ("/dev/null", "/dev/full", "/dev/stdin", "/proc/self/mem", "./train.txt", "runs/../train.txt")


def make(rng: Random, files: Mapping[str, bytes]) -> Case:
    """Return a command line that is wrong in some place, or whose files are; or neither."""
    words = rng.choice(WORKING).split()
    if words[0] in _LONG and rng.random() < 0.8:
        words = rng.choice(WORKING).split()
    needed = _needed(words, files)
    result: dict[str, bytes | Special] = {name: content for name, content in files.items() if name in needed}
    if words[0] == "demo":
        return Case("commands", result, "", tuple(words))
    about_files = rng.random() < 0.5
    if about_files and result:
        name = rng.choice(list(result))
        result[name] = damaged_file(rng, name, files[name])
    if not about_files or rng.random() < 0.2:
        for _ in range(rng.choice([1, 1, 2, 3])):
            words = _changed(rng, words, files)
    if rng.random() < 0.1:
        words = _over_an_input(rng, words, result)
    if rng.random() < 0.1:
        words = _long_name(rng, words, result)
    return Case("commands", result, "", tuple(_bounded(words)))


def _over_an_input(rng: Random, words: list[str], found: dict[str, bytes | Special]) -> list[str]:
    """Name an input as an output: one that is named, or one that the command finds by itself."""
    places = [k for k, word in enumerate(words) if word in _writes(words)]
    if not places or not found:
        return words
    read = rng.choice(list(found))
    if rng.random() < 0.6:
        read += rng.choice([".query", ".group"])
        found[read] = b"5\n5\n5\n5\n"
    words[rng.choice(places)] = rng.choice([read, f"./{read}"])
    return words


def _long_name(rng: Random, words: list[str], found: dict[str, bytes | Special]) -> list[str]:
    """Give an input or an output a name that is as long as file systems allow, or nearly so."""
    places = [k for k, word in enumerate(words) if word in found or word in _writes(words)]
    if not places:
        return words
    k = rng.choice(places)
    old, (_, dot, suffix) = words[k], words[k].partition(".")
    new = "n" * (rng.randint(200, 255) - len(dot + suffix)) + dot + suffix
    if old in found:
        found[new] = found.pop(old)
    return [new if word == old else word for word in words]


def damaged_file(rng: Random, name: str, content: bytes) -> bytes | Special:
    """Return a damaged file, or something other than a file."""
    if rng.random() < 0.04:
        return rng.choice(list(Special))
    if name.endswith(".csv") and rng.random() < 0.04:
        return wide(content)
    if name == "q.txt" and rng.random() < 0.3:
        return odd_judgments(rng, content)
    if name.endswith(".npz"):
        return damaged_bytes(rng, content)
    if name.endswith(("json", "jsonl")) and rng.random() < 0.7:
        return damaged_json(rng, content)
    return damaged(rng, content)


def _needed(words: Sequence[str], files: Mapping[str, bytes]) -> set[str]:
    """Return the files that are named, or in a folder that is."""
    named = {name for name in files if any(word in (name, name.partition("/")[0]) for word in words)}
    return named | {f"{name}.query" for name in named if f"{name}.query" in files} | {"train.txt"}


def _changed(rng: Random, words: list[str], files: Mapping[str, bytes]) -> list[str]:
    """Return the command line with a word removed, repeated, exchanged or replaced, or with another option."""
    command = main.get_command(click.Context(main), words[0])
    words = list(words)
    k = rng.randrange(len(words))
    if rng.random() < 0.15:
        expected = [(j, each) for j, word in enumerate(words) for each in REGISTRIES.values() if each.knows(word)]
        if expected:
            k, registry = rng.choice(expected)
            words[k] = _with_settings(rng, registry)
            return words
    match rng.randrange(10):
        case 0:
            del words[k]
        case 1:
            words.insert(rng.randrange(len(words) + 1), words[k])
        case 2:
            j = rng.randrange(len(words))
            words[k], words[j] = words[j], words[k]
        case 3:
            words[k] = odd_word(rng)[:100_000]
        case 4:
            words.insert(k + 1, rng.choice([*_ODD_PATHS, *files, *WORDS]))
        case 5:
            words[k] = rng.choice([*_ODD_PATHS, *files])
        case _ if command is not None and command.params:
            words += option(rng, rng.choice(command.params), files)
    return words or ["--help"]


def option(rng: Random, parameter: click.Parameter, files: Mapping[str, bytes]) -> list[str]:
    """Return an option with a value, or a value of an argument, as click says that it may be; or nearly so."""
    opts = [rng.choice(parameter.opts)] if isinstance(parameter, click.Option) else []
    if getattr(parameter, "is_flag", False):
        return opts
    return [*opts, _value(rng, parameter, files)[:100_000]]


def _value(rng: Random, parameter: click.Parameter, files: Mapping[str, bytes]) -> str:
    kind = parameter.type
    if rng.random() < 0.1:
        return odd_word(rng)
    if isinstance(kind, click.Path):
        return rng.choice(
            [
                *files,
                *_ODD_PATHS,
                "new.npz",
                "new.csv",
                "new.svg",
                "new",
                "runs",
                "folds",
                "clicked",
                "results",
                "indexed",
            ]
        )
    if isinstance(kind, click.Choice):
        return str(rng.choice(list(kind.choices)))
    if isinstance(kind, click.types.IntParamType | click.types.FloatParamType) and rng.random() < 0.8:
        if parameter.name in _AMOUNTS:
            return rng.choice(["1", "2", "0", "-1", "1.5", "1e1", "nan", "1_0", "x", "9" * 20, "9" * 5000])
        return rng.choice(["1", "2", "3", "0.5", *NUMBERS])
    return _name(rng)


def _name(rng: Random) -> str:
    """Return a name that one registry or another knows, with settings at times, or several; or nearly so."""
    name = rng.choice(_names())
    if rng.random() < 0.3:
        setting = rng.choice(
            ["relevant_from", "empty", "k", "gain", "tol", "backend", "batch", "max_iter", "beta", "x", ""]
        )
        name += f"({setting}={rng.choice([*NUMBERS, 'skip', 'linear', 'None', 'osqp', '(', ')'])})"
    if rng.random() < 0.2:
        name += f"@{rng.choice(NUMBERS)}"
    if rng.random() < 0.2:
        name += rng.choice([",", ":", ", ", "("]) + rng.choice([*_names(), *NUMBERS])
    if rng.random() < 0.1:
        name = "(" * rng.choice([1, 1000, 50_000]) + name
    return name


def _with_settings(rng: Random, registry: Any) -> str:
    """Return a registered name with a setting of its class, mostly one that it has."""
    name = rng.choice(list(registry.built_in))
    settings = [*inspect.signature(registry.find(name)).parameters, "k", "x"]
    value = rng.choice([*NUMBERS, "3", "0.5", "2", "skip", "linear", "none", "true", "osqp", "[1,2]", "(", "'a'"])
    return f"{name}({rng.choice(settings)}={value})"


def _names() -> list[str]:
    from structsvm.registry import benchmark_models
    from structsvm.registry.built_in import experiment_models

    expected: list[str] = [
        *benchmark_models.names(),
        *experiment_models.names(),
        "0.1:10:3",
        "1:1e9",
        "1,10",
        "601-650",
        "1-3,5",
    ]
    for registry in REGISTRIES.values():
        expected += registry.built_in
    return expected


def _bounded(words: list[str]) -> list[str]:
    """Return a command line that does not ask for hours of work, and that a system can pass on."""
    if words and words[0] in _PLAIN and not {"-h", "--help"} & set(words):
        words = words + [
            word
            for name, value in (("--models", "svm-roc"), ("--jobs", "1"))
            if name not in words
            for word in (name, value)
        ]
    if words and words[0] == "compile" and "map" not in words:
        words = [*words, "map"]  # or all losses would be compiled
    bounded = list[str]()
    for k, word in enumerate(words):
        before = words[k - 1] if k else ""
        large = re.fullmatch(r"[+0]*[0-9]{2,18}", word) is not None
        bounded.append("2" if large and before in ("--trials", "--repeats", "--jobs") else word.replace("\0", ""))
    return bounded


def is_checkpoint(path: str, case: Case) -> bool:
    """Say whether a file is the checkpoint, or of one of the values of C that have one each."""
    names = [Path(os.path.normpath(value)) for value in _values(case.arguments, {"checkpoint"}) if value]
    return any(
        Path(path) == name or Path(path).match(f"{glob.escape(name.stem)}.C=*{glob.escape(name.suffix)}")
        for name in names
    )


def outputs(case: Case) -> set[str]:
    """Return the values of the options that name outputs."""
    return _writes(case.arguments)


def _writes(words: Sequence[str]) -> set[str]:
    return {value for value in _values(words, _WRITTEN) if value}


def is_read(path: str, case: Case) -> bool:
    """Say whether a file is an input: named, in a folder that is named, or one with sizes of queries beside one."""
    others = Counter(case.arguments[1:]) - Counter(_values(case.arguments, {*_WRITTEN, "checkpoint"}))
    read = {os.path.normpath(word) for word in others if word}
    read |= {word.removesuffix(".gz") for word in read}
    data = path.removesuffix(".query").removesuffix(".group")
    # No command looks beside a model, a run or judgments, and these two read no data.
    alone = {os.path.normpath(name) for name in _values(case.arguments, {"qrels"}) if name}
    beside = data in read - alone and not data.endswith((".npz", ".run"))
    beside = beside and case.arguments[0] not in ("export", "show")
    return path in read or beside or any(path.startswith(f"{word}/") for word in read)


def _values(words: Sequence[str], names: set[str]) -> list[Any]:
    """Return the values of the options of these names."""
    command = main.get_command(click.Context(main), words[0]) if words else None
    if command is None:
        return []
    result = list[Any]()
    options = {opt: p for p in command.params if isinstance(p, click.Option) and p.name in names for opt in p.opts}
    for k, word in enumerate(words):
        name, equals, value = word.partition("=")
        if word in options and k + 1 < len(words):
            result.append(words[k + 1])
        elif equals and name in options:
            result.append(value)
        elif len(word) > 2 and word[:2] in options and not word.startswith("--"):
            result.append(word[2:])
    return result
