"""The tables and figures of the page for users, from the stored results.

``templates/benchmarks.md.j2`` has the prose. Each function here returns the values of one section. Sentences that
compare systems depend on the results: `_claim` stops the report if a sentence no longer holds.
"""

from collections.abc import Callable, Iterable, Sequence
from statistics import median
from typing import Any

from markupsafe import Markup

from benchmarks.harness.rows import Row
from benchmarks.harness.store import read
from structsvm.foundation.tables.formats import as_markdown, environment
from structsvm.foundation.tables.table import Column, Table

MINUS, NONE = "−", "–"
CS = (10.0, 100.0, 1000.0)


def users_page() -> str:
    """Return the page for users as Markdown."""
    template = environment("benchmarks.harness").get_template("benchmarks.md.j2")
    values = {name: section() for name, section in SECTIONS.items()}
    return template.render(values)


def _dlib() -> dict[str, Any]:
    what, ours = "MAP on m", "auto"
    each, whole = "dlib, query by query", "dlib, one call per pass"

    def cells(C: float) -> list[str]:
        find = _finder("average_precision", what=what, C=C)
        gaps = [f"{find(who, 'gap'):.1e}" for who in (ours, each)]
        seconds = [_seconds(find(who, "seconds")) for who in (ours, each, whole)]
        return [f"{C:,.0f}", seconds[0], gaps[0], seconds[1], gaps[1], seconds[2]]

    def faster(who: str) -> list[str]:
        finds = [_finder("average_precision", what=what, C=C) for C in CS]
        return [f"{find(who, 'seconds') / find(ours, 'seconds'):.0f}" for find in finds]

    headings = ("C", "structsvm, s", "gap / C", "dlib, s", "gap / C", "dlib, one call, s")
    return {"table": table(headings, map(cells, CS)), "each": faster(each), "whole": faster(whole)}


TREES = {
    "Ranker()": "`Ranker()`",
    "LightGBM, tuned": "LightGBM",
    "XGBoost, tuned": "XGBoost",
    "TreeRanker()": "`TreeRanker()`",
}
TREE_DATA = ("MQ2008", "Robust 2003", "digits", "products", "rules", "distances", "shape of MSLR")


def _trees() -> dict[str, Any]:
    def cell(what: str, who: str, measure: str = "map") -> str:
        find, prefix = _finder("trees", what=what), "" if measure == "map" else f"{measure}_"
        ahead, error = find(who, f"{prefix}ahead"), find(who, f"{prefix}error")
        lead = f" ({_difference(ahead, error)})" if error else ""
        return f"{find(who, measure):.4f}{lead}"

    def leads(who: str, ahead: str, error: str) -> list[float]:
        finds = [_finder("trees", what=what) for what in TREE_DATA]
        # Equal models have an error of 0.
        return [find(who, ahead) / max(find(who, error), 1e-9) for find in finds]

    trained_for_ndcg = 'TreeRanker(measure="ndcg@10")'
    of_map = leads("TreeRanker()", "ahead", "error")
    of_ndcg = leads(trained_for_ndcg, "ndcg_ahead", "ndcg_error")
    linear = [_finder("trees", what=what)("Ranker, tuned", "ahead") for what in ("products", "shape of MSLR")]
    _claim(max(linear) < -0.1, "LightGBM beats linear models on products", "trees")
    _claim(sum(lead > 2.0 for lead in of_map) > 1, "TreeRanker() beats LightGBM in MAP on some sets", "trees")
    _claim(sum(lead > 2.0 for lead in of_ndcg) > 1, "TreeRanker(measure) beats LightGBM in NDCG@10 on some", "trees")
    rows = (
        [
            what,
            *(cell(what, who) for who in TREES),
            *(cell(what, who, "ndcg") for who in ("LightGBM, tuned", trained_for_ndcg)),
        ]
        for what in TREE_DATA
    )
    headings = *(f"{name}, MAP" for name in TREES.values()), "LightGBM, NDCG@10", f"`{trained_for_ndcg}`, NDCG@10"
    dask = _finder("beside_lightgbm_dask", what="MQ2008, fold 1")
    theirs, ours = (dask(f"{who}: time to", "seconds") for who in ("DaskLGBMRanker", "DaskRanker"))
    _claim(theirs < ours, "lightgbm.dask is faster on MQ2008", "beside_lightgbm_dask")
    return {
        "table": table(("test", *headings), rows),
        "behind": [f"{-ahead:.2f}" for ahead in linear],
        "better": [sum(lead > 2.0 for lead in of_all) for of_all in (of_map, of_ndcg)],
        "worse": [sum(lead < -2.0 for lead in of_all) for of_all in (of_map, of_ndcg)],
        "dask": [_seconds(theirs), _seconds(ours)],
    }


LOSSES = (
    "ndcg@10",
    "map",
    "roc_area",
    "RankSVM",
    "MaximumEntropy",
    "ndcg@10(truncated=true)",
    "LambdaMART",
)
LOSS_DATA = {
    "MQ2008": "MQ2008",
    "Robust 2003": "Robust 2003",
    "lists of 100": "synthetic, lists of 100",
    "lists of 1000": "synthetic, lists of 1,000",
}


def _losses() -> dict[str, Any]:
    def cell(who: str, what: str) -> str:
        find = _finder("cutoff", what=what)
        lead, error = find(who, "lead"), find(who, "error")
        return _difference(lead, error) if error else "best"

    def errors(who: str) -> float:
        finds = (_finder("cutoff", what=what) for what in LOSS_DATA)
        return max(-find(who, "lead") / find(who, "error") for find in finds)

    worst = max(map(errors, LOSSES[:3]))
    _claim(worst < 2.0, "all losses at full depth are within 2 standard errors of the best", "cutoff")
    long = _finder("cutoff", what="lists of 1000")("ndcg@10(truncated=true)", "lead")
    _claim(long < -0.1, "the truncated loss fails on long lists", "cutoff")
    names = {who: f"`{who}`" if who[0].islower() else who for who in LOSSES}
    rows = ([names[who], *(cell(who, what) for what in LOSS_DATA)] for who in LOSSES)
    return {"table": table(("trained on", *LOSS_DATA.values()), rows), "errors": f"{worst:.1f}"}


def _chains() -> dict[str, Any]:
    times: dict[tuple[str, float | None], dict[str, Row]] = {}
    for row in _rows("sequences"):
        if "cpu" in row.values:
            times.setdefault((row.what, row.C), {})[row.who.partition(" (")[0]] = row

    def cell(row: Row | None) -> str:
        if row is None:
            return NONE
        return f"{'> ' if row.values['gap'] > 1.01e-3 else ''}{_seconds(row.values['cpu'])}"

    by_solver = [by for by in times.values() if "OneSlack" in by]
    ratios = [by["OneSlack"].values["cpu"] / by["auto"].values["cpu"] for by in by_solver]
    systems = ("auto", "OneSlack", "BCFW with gap sampling")
    shown = {(what, C): by for (what, C), by in times.items() if what == "n = 16,000" or what == "letters, fold 1"}
    rows = ([what, f"{C:,.0f}", *(cell(by.get(who)) for who in systems)] for (what, C), by in shown.items())
    find = _finder("letters", what="handwritten words")
    right = [find(f"{who}, average=True", "letters") for who in ("fold 1, pixels", "nine folds, products")]
    return {
        "table": table(("data", "C", "`auto`, CPU s", "`OneSlack`, CPU s", "BCFW, CPU s"), rows),
        "right": [f"{share:.1%}" for share in right],
        "ratios": [f"{min(ratios):.1f}", f"{max(ratios):.1f}"],
    }


def _growth() -> dict[str, Any]:
    base = _finder("growth", what="m")("FrankWolfe", "seconds")
    kept = {row.what: row.values["seconds"] for row in _rows("growth")}
    most = max(kept.values()) / base
    _claim(most < 2.5, "a pass takes about twice as long on doubled data", "growth")
    names = {"m": "1,000 queries of 100 documents, 136 features"}
    rows = ([names.get(what, what), f"{1e3 * seconds:.1f}", f"{seconds / base:.1f}"] for what, seconds in kept.items())
    rounds = [_finder("scale", what="queries")(f"{n} queries", "rounds", 1000.0) for n in ("250", "8,000")]
    wide = [_finder("solvers", what=f"MAP, {n} features")("Auto", "cpu", 1000.0) for n in (100, 10000)]
    return {
        "table": table(("data", "ms a pass", "times as long"), rows),
        "most": f"{most:.1f}",
        "rounds": [f"{count:.0f}" for count in rounds],
        "wide": [_seconds(seconds) for seconds in wide],
    }


SOLVED = {
    *("MAP", "MAP, 10000 features", "ROC area", "50 classes", "20 classes of text", "500 sequences"),
    *("labels in a tree", "graphs, grids", "matchings in Python", "slow matchings", "MQ2008 fold 1, MAP"),
}
"""The problems that the page shows; its sentence covers all."""


def _solvers() -> dict[str, Any]:
    rows = [row for row in _rows("solvers") if row.values]
    by_problem = {
        (row.what, row.C): {one.who: one for one in rows if (one.what, one.C) == (row.what, row.C)} for row in rows
    }
    ratios = [row.values["ratio"] for row in rows if "ratio" in row.values]
    calls = [row.values["calls_ratio"] for row in rows if "calls_ratio" in row.values]

    def cell(row: Row | None) -> str:
        if row is None:
            return NONE
        return f"{'> ' if row.note else ''}{_seconds(row.values['cpu'])}"

    systems = ("Auto", "FrankWolfe", "OneSlack", "NSlack(batch=1000)")
    shown = (
        [what, f"{C:,.0f}", *(cell(by.get(who)) for who in systems)]
        for (what, C), by in by_problem.items()
        if what in SOLVED and C >= 1000.0
    )
    return {
        "table": table(("data", "C", "`auto`, CPU s", "`FrankWolfe`", "`OneSlack`", "`NSlack(batch=1000)`"), shown),
        "problems": len(ratios),
        "most": f"{max(ratios):.2f}",
        "usual": f"{median(ratios):.2f}",
        "calls": f"{max(calls):.2f}",
    }


def _threads() -> dict[str, Any]:
    finds = [_finder("both_cores", what=what, C=C) for what in ("MAP on m", "MAP on l") for C in (*CS, 10_000.0)]
    one, two = ([find(f"FrankWolfe, {n}", "seconds") for find in finds] for n in ("1 thread", "2 threads"))
    gains = [a / b for a, b in zip(one, two, strict=True)]
    reference = [find("X @ w and X.T @ c, 2 threads", "ratio") for find in finds]
    ranges = {"gains": gains, "reference": reference}
    return {name: [f"{min(ratios):.1f}", f"{max(ratios):.1f}"] for name, ratios in ranges.items()}


def _mslr() -> dict[str, Any]:
    alone = _finder("web30k", what="MAP, 31,531 x 120 x 136, float32")
    spread = _finder("cluster_web30k", what="MAP, 31,531 x 120 x 136, float32, 16 files")
    text = _finder("reading", what="the size of MSLR-WEB30K, from text to a model")
    works: dict[str, tuple[Callable[..., float], str]] = {
        "fit arrays in memory, one thread": (alone, "Ranker"),
        "read 16 Parquet files, two threads": (spread, "one process, two threads: read"),
        "fit them with `one-slack`, two threads": (spread, "one process, two threads: fit"),
        "read them by two Dask workers": (spread, "two workers: read"),
        "fit with two Dask workers": (spread, "two workers: fit"),
        "`structsvm train`, from text to a model": (text, "structsvm train"),
    }
    rows = (
        [work, _seconds(find(who, "seconds")), f"{find(who, 'megabytes'):,.0f}"] for work, (find, who) in works.items()
    )
    return {
        "table": table(("work", "seconds", "peak MB of a process"), rows),
        "seconds": _seconds(alone("Ranker", "seconds")),
        "data": f"{alone('the data', 'megabytes') / 1000:.1f}",
        "peak": f"{alone('Ranker', 'megabytes') / 1000:.1f}",
        "cpu": _seconds(text("structsvm train", "cpu")),
    }


def _memory() -> dict[str, Any]:
    fresh, later = (
        _finder("first_fit", what=f"first fit {when}") for when in ("on a fresh install", "of a later process")
    )
    sparse = _finder("sparse", what="ROC area, 1,000,000 x 100,000, sparse")
    binned = _finder("binned", what="one pass")
    text = _finder("reading", what="1.1 GB")
    seconds = [_seconds(find("auto", "seconds", 10.0)) for find in (fresh, later)]

    def cells(work: str, find: Callable[..., float], who: str, time: str, memory: str) -> list[str]:
        return [work, _seconds(find(who, time)), _mb(find(who, memory))]

    rows = [
        ["first fit of an installation, `auto`", seconds[0], NONE],
        ["first fit of an installation, `one-slack`", _seconds(fresh("one-slack", "seconds")), NONE],
        ["first fit of a later process", seconds[1], NONE],
        cells("fit 1,000,000 × 100,000, sparse, gap 1e-6 C", sparse, "Ranker", "seconds", "megabytes"),
        cells("one pass over bins, float64 array", binned, "float64 array", "seconds", "stored"),
        cells("one pass over bins, `BinnedMatrix`", binned, "BinnedMatrix", "seconds", "stored"),
        cells("read 1.1 GB of text: `load_letor`, CPU", text, "load_letor", "cpu", "megabytes"),
        cells("read 1.1 GB of text: LightGBM, CPU", text, "LightGBM", "cpu", "megabytes"),
        cells("read 1.1 GB of text: XGBoost, CPU", text, "XGBoost", "cpu", "megabytes"),
    ]
    return {"table": table(("work", "seconds", "MB"), rows), "first": seconds}


START, QUERY = "import, load, first scores", "a query of 100 documents"


def _serving() -> dict[str, Any]:
    numpy = "NumPy's X @ w"

    def cells(work: str, what: str, column: str, scale: float, *systems: str) -> list[str]:
        find = _finder("serving", what=what)
        return [work, *(f"{scale * find(who, column):,.3g}" for who in ("structsvm.load", *systems))]

    others = ("Ranker.predict", "LightGBM", numpy)
    rows = [
        [*cells("first scores of a process, ms", START, "seconds", 1e3, "Ranker.load", "LightGBM"), NONE],
        cells("a query of 100 documents, µs", QUERY, "microseconds", 1.0, *others),
        cells("a million rows, ms", "a million rows", "seconds", 1e3, *others),
    ]
    headings = ("work", "`structsvm.load`", "`Ranker`", "LightGBM, 100 trees", "NumPy's `X @ w`")
    query = _finder("serving", what=QUERY)("structsvm.load", "microseconds")
    return {"table": table(headings, rows), "query": f"{query:.0f}"}


def _machines() -> dict[str, Any]:
    origins: dict[tuple[str, str], list[str]] = {}
    versions: dict[str, dict[str, None]] = {}
    for name in USED:
        machine = _stored(name)[0]
        system = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"
        origins.setdefault((system, machine["date"]), []).append(f"`{name}`")
        for package, version in {"Python": machine["python"], **machine["packages"]}.items():
            versions.setdefault(package.replace("xgboost-cpu", "xgboost"), {})[version] = None
    rows = ([system, date, ", ".join(names)] for (system, date), names in sorted(origins.items()))
    return {
        "table": table(("machine", "date", "benchmarks"), rows, left=3),
        "versions": ", ".join(f"{package} {' and '.join(found)}" for package, found in versions.items()),
    }


USED = (
    *(
        "average_precision",
        "trees",
        "beside_lightgbm_dask",
        "cutoff",
        "sequences",
        "letters",
        "growth",
        "scale",
        "solvers",
    ),
    *("both_cores", "web30k", "cluster_web30k", "reading", "first_fit", "sparse", "binned", "serving"),
)
"""The benchmarks of the page; all others are in the notes only."""

SECTIONS: dict[str, Callable[[], dict[str, Any]]] = {
    "dlib": _dlib,
    "trees": _trees,
    "losses": _losses,
    "chains": _chains,
    "solvers": _solvers,
    "growth": _growth,
    "threads": _threads,
    "mslr": _mslr,
    "memory": _memory,
    "serving": _serving,
    "machines": _machines,
}


def _stored(name: str) -> tuple[dict[str, Any], list[Row]]:
    stored = read(name)
    if stored is None:
        raise LookupError(
            f"the page needs results of {name}, and none are stored. Run: python -m benchmarks run {name}"
        )
    return stored


def _rows(name: str) -> list[Row]:
    return _stored(name)[1]


def _finder(name: str, *, what: str, C: float | None = None) -> Callable[..., float]:
    """Return the function that finds a value of one work by system; ``auto`` also finds ``auto (FrankWolfe)``."""
    rows = [row for row in _rows(name) if row.what == what]

    def find(who: str, column: str, own_C: float | None = C) -> float:
        for row in rows:
            named = row.who == who or row.who.startswith(f"{who} (")
            if named and own_C in {None, row.C} and column in row.values:
                return row.values[column]
        at = "" if own_C is None else f" at C = {own_C:g}"
        raise LookupError(f"{name} has no {column} of {who!r} for {what!r}{at}. Adapt benchmarks/page.py to its rows")

    return find


def _claim(holds: bool, sentence: str, name: str) -> None:
    if not holds:
        raise ValueError(
            f"the results of {name} no longer show that {sentence}. Rewrite the sentence in "
            "benchmarks/harness/templates/benchmarks.md.j2 and its check in benchmarks/harness/page.py"
        )


def table(headings: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Markup:
    """Return a table as Markdown, its first columns aligned to the left."""
    columns = tuple(
        Column(heading, lambda record, k=k: record[str(k)], right=k >= left) for k, heading in enumerate(headings)
    )
    records = tuple({str(k): cell for k, cell in enumerate(row)} for row in rows)
    return Markup(as_markdown([Table("", columns, (records,))], escaped=False).strip())


def _seconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 9.95 else f"{value:#.2g}" if value >= 0.00995 else f"{value:.2g}"


def _mb(value: float) -> str:
    return f"{value:,.0f}" if value >= 10.0 else f"{value:.2g}"


def _difference(mean: float, error: float) -> str:
    return f"{mean:+.4f} ± {error:.4f}".replace("-", MINUS)
