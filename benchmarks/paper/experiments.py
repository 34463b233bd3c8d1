"""The experiments that stand in for the paper's, by the commands that a user would type, and the numbers of each."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from attrs import frozen

from structsvm.cli import main as structsvm
from structsvm.data import load_digits_runs, pool_runs
from structsvm.protocols import Results
from structsvm.protocols.experiment import Settings, run
from structsvm.protocols.experiment.plan import RESULTS

SECONDS = "seconds.json"

_FUNCTIONS = "cosine,tfidf,okapi,lm_dirichlet,lm_jelinek_mercer"
_INDEXES: dict[str, tuple[str, ...]] = {
    "plain": ("--stemmer", "none", "--stop-words", "none"),
    "porter": ("--stop-words", "none"),
    "stop": ("--stop-words", "glasgow"),
}


@frozen
class DataSet:
    """Data that stand in for some of the paper's.

    Parameters
    ----------
    name : name of the folder with its results.
    title : name on the page.
    stands_for : "submissions" (Tables 7, 8, 10 and 11) or "functions" (6 and 9).
    needs : subfolder that the folder of data must have.
    """

    name: str
    title: str
    stands_for: str
    needs: str | None

    def there(self, data: Path | None) -> bool:
        """Return whether a folder of data contains the set."""
        return self.needs is None or (data is not None and (data / self.needs).exists())


REAL = (
    DataSet("robust03-old", "Robust 2003, old topics", "submissions", "robust03"),
    DataSet("robust03-new", "Robust 2003, new topics", "submissions", "robust03"),
    DataSet("cranfield", "Cranfield", "functions", "text/cranfield"),
    DataSet("vaswani", "Vaswani", "functions", "text/vaswani"),
)
MADE = DataSet("digits", "Digits (made)", "submissions", None)
"""The set that is available without data: 15 ways to compare two images of scikit-learn."""


def chosen(data: Path | None) -> tuple[DataSet, ...]:
    """Return the data sets of a folder, or else the set from images."""
    return tuple(each for each in REAL if each.there(data)) or (MADE,)


def commands(of: DataSet, data: Path, out: Path, extra: Sequence[str] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the commands of ``structsvm`` that compute the results of a data set, in ``out``.

    Parameters
    ----------
    of : the data set.
    data : folder of the data.
    out : folder of the data set's results.
    extra : options of the experiment.
    """
    if of.stands_for == "submissions":
        folder, topics = data / "robust03", "1-600" if of.name.endswith("old") else "601-650"
        read = ("--runs", str(folder / "runs"), "--qrels", str(folder / "qrels.txt"), "--topics", topics)
        yield ("experiment", *read, "--out", str(out), *extra)
        return
    folder = data / "text" / of.name
    cranfield = of.name == "cranfield"
    documents = (str(folder / "cran.all.1400"), "--fields", "text") if cranfield else (str(folder / "doc-text.trec"),)
    topics = (
        ("cran.qry", "--numbering", "position", "--top", "200") if cranfield else ("query-text.trec", "--top", "400")
    )
    for name, analysis in _INDEXES.items():
        yield ("index", *documents, *analysis, "--out", str(out / name))
    indexes = (str(out / name) for name in _INDEXES)
    asked = (str(folder / topics[0]), *topics[1:])
    yield ("retrieve", *indexes, *asked, "--function", _FUNCTIONS, "--out", str(out / "runs"))
    judged = ("--qrels", str(folder / "cranqrel"), "--grades", "1=4,2=3,3=2,4=1,5=0,-1=0")
    judged = judged if cranfield else ("--qrels", str(folder / "qrels"))
    yield ("experiment", "--runs", str(out / "runs"), *judged, "--with-best", "--out", str(out / "report"), *extra)


def make(of: DataSet, data: Path | None, work: Path, jobs: int, extra: Sequence[str] = ()) -> Results:
    """Run the missing commands of a data set, add up their times, and return the results."""
    out = work / of.name
    out.mkdir(parents=True, exist_ok=True)
    if of is MADE:
        settings = Settings(trials=int(extra[1]), models=tuple(extra[3].split(","))) if extra else Settings()
        runs = load_digits_runs(n_candidates=400, depth=100)
        return _timed(out, "experiment", partial(run, pool_runs(*runs), settings, out, n_jobs=jobs))
    assert data is not None
    folder = out
    for command in commands(of, data, out, ("--jobs", str(jobs), *extra)):
        folder = Path(command[command.index("--out") + 1])
        if command[0] == "experiment" or not _finished(folder):
            print(f"$ structsvm {' '.join(command)}", flush=True)
            _timed(out, command[0], partial(structsvm.main, [*command], standalone_mode=False))
    return Results.load(folder / RESULTS)


def numbers(of: DataSet, results: Results, work: Path) -> dict[str, Any]:
    """Return the numbers of a data set on the page, for JSON."""
    seconds = work / of.name / SECONDS
    return {
        "title": of.title,
        "stands_for": of.stands_for,
        "settings": {name: value for name, value in results.header.settings.items() if name != "models"},
        "versions": results.header.versions,
        "statistics": dict(results.statistics),
        "trials": len(results.trials),
        "left_out": len(results.left_out),
        "seconds": json.loads(seconds.read_text()) if seconds.exists() else {},
        "seconds_of_trials": sum(trial.seconds for trial in results.trials),
        "rows": {
            variant: {
                denominators: [_row(row) for row in results.rows(variant, denominators=denominators)]
                for denominators in ("pool", "judged")
            }
            for variant in results.variants
        },
        "fits": {
            variant: {
                model: {
                    "largest_gap": max((gap for fit in fits for gap in fit.gaps if gap is not None), default=None),
                    "longest": max(max(fit.seconds) for fit in fits),
                    "mean": sum(sum(fit.seconds) for fit in fits) / sum(len(fit.seconds) for fit in fits),
                    "values": list(fits[0].values),
                }
                for model in results.models
                for fits in [results.fits(variant, model)]
            }
            for variant in results.variants
        },
    }


def _row(row: Any) -> dict[str, Any]:
    return {
        "name": row.name,
        "place": row.place,
        "map": row.map,
        "tied": row.tied,
        "wins": row.wins,
        "losses": row.losses,
        "ties": row.ties,
        "p_value": row.p_value,
        "significant": row.p_value is not None and row.p_value < 0.05,
    }


def _finished(folder: Path) -> bool:
    """Return whether a command has finished: indexes are written at once, but the fifteen runs one by one."""
    return folder.is_dir() and (folder.name != "runs" or len(list(folder.iterdir())) == len(_INDEXES) * 5)


def _timed(folder: Path, name: str, work: Callable[[], Any]) -> Any:
    """Do some work, and add its seconds to the seconds that the folder stores under its name."""
    path = folder / SECONDS
    began = time.perf_counter()
    try:
        return work()
    finally:
        kept = json.loads(path.read_text()) if path.exists() else {}
        kept[name] = kept.get(name, 0.0) + time.perf_counter() - began
        path.write_text(json.dumps(kept))
