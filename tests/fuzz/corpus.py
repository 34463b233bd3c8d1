"""The small valid files that all others are made from. All are generated."""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import attrs
import numpy as np
from click.testing import CliRunner

from structsvm import Ranker, Result, StructuralSVM
from structsvm.cli import main
from structsvm.data import load_letor, load_qrels, load_runs, pool_runs, read_documents
from structsvm.estimators import LatentStructuralSVM
from structsvm.estimators.saving import add_facts
from structsvm.foundation.storage.artefacts import CACHE
from structsvm.foundation.storage.files import write_archive
from structsvm.foundation.storage.mapped import read_header, read_mapped, write_mapped
from structsvm.losses import LatentLoss
from structsvm.models.training import Trained
from structsvm.protocols.experiment import Settings
from structsvm.protocols.experiment import run as run_experiment
from structsvm.rankers import LambdaMART, RankBoost, RankNet
from structsvm.text import Analyzer, Index

_SETTINGS: dict[str, Any] = {"trials": 2, "train": 2, "validation": 1, "bins": 3, "models": ("svm-map", "svm-roc")}


def letor(rng: Random, first_query: int = 1, *, queries: int = 4, documents: int = 5, features: int = 4) -> bytes:
    """Return a LETOR file; every query has a relevant document, and one that is not."""
    lines = []
    for query in range(first_query, first_query + queries):
        for document in range(documents):
            label = 1 if document == 0 else rng.randint(0, 2) if document > 1 else 0
            values = [f"{k}:{rng.gauss(label, 1):.3f}" for k in range(1, features + 1) if rng.random() < 0.9 or k == 1]
            lines.append(f"{label} qid:{query} {' '.join(values)} #docid = D{query}-{document}")
    return "\n".join([*lines, ""]).encode()


def run(rng: Random, name: str, topics: int = 6, documents: int = 8) -> bytes:
    """Return a TREC run in which relevant documents tend to be ahead."""
    lines = []
    for topic in range(1, topics + 1):
        result = sorted(range(documents), key=lambda k: rng.gauss(k, 3))[: rng.randint(4, documents)]
        for rank, document in enumerate(result, start=1):
            lines.append(f"{topic} Q0 D{topic}-{document} {rank} {10 - rank + 0.25 * rng.randrange(4)} {name}")
    return "\n".join([*lines, ""]).encode()


def qrels(topics: int = 6, documents: int = 8) -> bytes:
    """Return judgments of these topics."""
    return b"".join(
        b"%d 0 D%d-%d %d\n" % (t, t, k, max(2 - k, 0)) for t in range(1, topics + 1) for k in range(documents)
    )


def other_judgments(rng: Random) -> bytes:
    """Return judgments in a format of BEIR, SMART or LISA, or in JSON."""
    rows = [(topic, document) for topic in (1, 2) for document in rng.sample(range(1, 30), 3)]
    match rng.choice(["beir", "smart", "lisa", "json"]):
        case "beir":
            lines = ["query-id\tcorpus-id\tscore", *(f"{topic}\t{document}\t1" for topic, document in rows)]
        case "smart":
            lines = [f"{topic:02} {document:04}  0 {rng.choice(['0', '0.000000'])}" for topic, document in rows]
        case "lisa":
            listed = {topic: [str(document) for one, document in rows if one == topic] for topic, _ in rows}
            lines = [f"Query {topic}\n{len(ids)} Relevant Refs:\n{' '.join(ids)} -1\n" for topic, ids in listed.items()]
        case _:
            lines = [
                json.dumps({topic: {str(document): 1 for one, document in rows if one == topic} for topic in (1, 2)})
            ]
    return "\n".join([*lines, ""]).encode()


_WORDS = ("wing", "wings", "the", "flow", "boundary-layer", "it's", "Mach", "0.8", "of")


def documents(rng: Random, topics: int = 6, documents: int = 8) -> bytes:
    """Return documents in TREC's format, with a title and a text each, for all judgments."""
    return "".join(
        f"<DOC>\n<DOCNO>D{topic}-{number}</DOCNO>\n<TITLE>{rng.choice(_WORDS)}</TITLE>\n"
        f"<TEXT>\n{' '.join(rng.choices(_WORDS, k=9))}\n</TEXT>\n</DOC>\n"
        for topic in range(1, topics + 1)
        for number in range(documents)
    ).encode()


def topics(rng: Random, count: int = 6) -> bytes:
    """Return topics as a table."""
    return "".join(f"{topic}\t{' '.join(rng.choices(_WORDS, k=3))}\n" for topic in range(1, count + 1)).encode()


def table(rng: Random, first: int = 0, *, queries: int = 4, documents: int = 5, features: int = 4) -> bytes:
    """Return a table in CSV, with the queries of `letor`."""
    lines = [f"y,q,name,{','.join(map(str, range(1, features + 1)))}\n"]
    for query in range(first, first + queries):
        for k in range(documents):
            numbers = ",".join(f"{rng.uniform(-1, 1):.3f}" for _ in range(features))
            lines.append(f'{int(k < 2)},{query},"d{k}, of {query}",{numbers}\n')
    return "".join(lines).encode()


def make_corpus() -> Mapping[str, bytes]:
    """Return valid files by name: data, runs, judgments, models, a checkpoint, an experiment's results, an index."""
    rng = Random(0)
    files = {
        "train.txt": letor(rng, 1),
        "vali.txt": letor(rng, 11),
        "test.txt": letor(rng, 21),
        "q.txt": qrels(),
        "table.csv": table(Random(3)),
        "plain.txt": b"".join(b"%d 1:%d 2:0.5\n" % (k % 2, k) for k in range(1, 9)),
        "sizes.txt": b"3\n5\n",
        "grouped.txt": b"".join(b"%d 1:%d 2:0.5 3:1 4:%d\n" % (k % 2, k, k % 3) for k in range(1, 9)),
        "grouped.txt.query": b"3\n5\n",
        "judged.txt": letor(Random(3), 201, queries=10),
        "documents.trec": documents(Random(1)),
        "topics.tsv": topics(Random(2)),
        "words.txt": b"the\nof\nit's\n",
        "names.txt": b"bm25\nage\nclicks\nlength\n",
        **{f"runs/{name}.run": run(rng, name) for name in ("alpha", "beta", "gamma")},
        **{f"folds/{part}.txt": letor(rng, 31 + 10 * k) for k, part in enumerate(("train", "vali", "test"))},
        **{f"clicked/S{k}.csv": table(Random(k), 10 * k) for k in (1, 2, 3)},
        **{f"sets/S{k}.txt": letor(rng, 100 + 10 * k) for k in (1, 2, 3)},
    }
    before = Path.cwd()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, content in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
        os.chdir(folder)
        try:
            _write_models()
            pool = pool_runs(load_runs("runs"), load_qrels("q.txt"))
            run_experiment(pool, Settings(**_SETTINGS), "results", n_jobs=1)
            _write_cache()
            Index.build(read_documents("documents.trec"), Analyzer("porter", None)).save("indexed")
        finally:
            os.chdir(before)
        made = [
            "trees.npz",
            "boost.npz",
            "net.npz",
            "m.npz",
            "calibrated.npz",
            "s.npz",
            "l.npz",
            "result.npz",
            "c.npz",
            "results/results.json",
            "results/trials.jsonl",
            "indexed",
            "cached",
        ]
        files |= {path: _without_clock((folder / path).read_bytes()) for path in made}
    return files


def _write_cache() -> None:
    """Write the cache of the training data, without times and places of files."""
    path = Path("cached")
    load_letor("train.txt", sparse=False, cache=path)
    with path.open("rb") as file:
        about = read_header(file, CACHE)["about"]
        arrays = {name: array.copy() for name, array in read_mapped(file, CACHE).items()}
    sources = [[0, 0, 0, 0, 0, digest] for *_, digest in about["sources"]]
    write_mapped(path, CACHE, {**about, "looked": 0, "sources": sources}, arrays)


def _without_clock(content: bytes) -> bytes:
    """Return the results of an experiment with half a second for all that is counted in seconds."""
    return re.sub(
        rb'"seconds":(\[[^]]*\]|[0-9.e+-]+)',
        lambda found: found[0][:10] + re.sub(rb"[0-9.e+-]+", b"0.5", found[1]),
        content,
    )


class _Chosen(LatentLoss[Any, int, int]):
    """1 if some feature is large; the latent is its number."""

    def joint_feature(self, x: Any, y: int, h: int) -> Any:
        return y * x[h] * np.eye(len(x))[h]

    def loss(self, y: int, y_hat: int, h_hat: int) -> float:
        return float(y != y_hat)

    def initial(self, x: Any, y: int) -> int:
        return 0

    def complete(self, x: Any, y: int, w: Any) -> int:
        return int(np.argmax(y * w * x))

    def loss_augmented_argmax(self, x: Any, y: int, w: Any) -> tuple[int, int]:
        h = int(np.argmax(w * x))
        return (1, h) if w[h] * x[h] + (y == 0) > (y == 1) else (0, 0)

    def argmax(self, x: Any, w: Any) -> tuple[int, int]:
        h = int(np.argmax(w * x))
        return (1, h) if w[h] * x[h] > 0.0 else (0, 0)


def _write_models() -> None:
    data = load_letor("train.txt")
    ranker = Ranker("map").fit(data.X, data.y, qid=data.qid)
    structural = StructuralSVM("multiclass").fit(data.X, data.y)
    latent = LatentStructuralSVM(_Chosen()).fit(list(data.X[:6]), [1, 0, 1, 0, 1, 0])
    of_trees = LambdaMART(n_estimators=2, num_leaves=4, min_child_samples=1, params={"min_data_in_bin": 1})
    others = {
        "trees": of_trees,
        "boost": RankBoost(n_estimators=3),
        "net": RankNet(max_iter=2, hidden_layer_sizes=2, random_state=0),
    }
    for name, other in others.items():
        other.fit(data.X, data.y, data.qid)
        add_facts(other, version="0.1.0", time="2026-01-01T00:00:00+00:00")
        other.save(f"{name}.npz")
    for estimator in (ranker, structural, latent):
        training = attrs.evolve(
            estimator.model_.training,
            result=_clockless(estimator.result_),
            trained=Trained("0.1.0", "2026-01-01T00:00:00+00:00"),
        )
        estimator.model_ = attrs.evolve(estimator.model_, training=training)
    ranker.save("m.npz")
    judged = load_letor("judged.txt")
    ranker.model_.calibrated(judged.X, judged.y, judged.qid).save("calibrated.npz")
    structural.save("s.npz")
    latent.save("l.npz")
    ranker.result_.save("result.npz")
    CliRunner().invoke(
        main, ["train", "train.txt", "--max-iter", "1", "--checkpoint", "c.npz", "--model", "unfinished.npz"]
    )
    with np.load("c.npz") as archive:
        arrays = {"checkpoint": archive["checkpoint"], **_clockless(Result.from_arrays(archive)).arrays()}
    write_archive("c.npz", arrays, compressed=False)


def _clockless(result: Result) -> Result:
    """Return a result without times, so that its file has the same bytes in each run."""
    history = (attrs.evolve(step, seconds=0.0, oracle_seconds=0.0, solver_seconds=0.0) for step in result.history)
    return attrs.evolve(result, history=tuple(history))
