"""The page, from stored numbers: the same numbers make the same page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.paper.printed import BEST, SECOND, SVM_MAP, TABLE_2, TABLE_4, TABLES, THIRD, Printed
from structsvm.evaluation.significance import holm

_PLACES = (BEST, SECOND, THIRD)

HEAD = """# The paper, reproduced

<!-- Written by `make paper`; edit benchmarks/paper/ instead. -->

Yue, Finley, Radlinski and Joachims, *A Support Vector Method for Optimizing Average Precision* (SIGIR 2007): this page
compares the paper's tables and conclusions with the results of structsvm. `make paper DATA=folder` runs the experiments
and writes the page; its numbers are in `{FOLDER}/numbers.json`.

The learning problem, the algorithms, the features, the models and the protocol are the paper's. The data are not: WT10g
requires a license, and the scores of the submissions to the Web Tracks of TREC 9 and 10 are not public. These data stand
in for them:

| paper | here |
|---|---|
| five retrieval functions on three indexes of WT10g | {functions}: much smaller collections |
| submissions to TREC 9 and 10 | {submissions}: other years, tracks and systems |

The paper states neither the values of C nor the exact thresholds. Here, thresholds are [quantiles](../features.md), and
the value of a query is its mean over the trials that tested it. The repository lists its errata in `examples/papers/yue2007_errata.md`."""


def page(numbers: Mapping[str, Any], folder: str) -> str:
    """Return the page as Markdown; its pictures are in a folder of that name beside it."""
    sets = numbers["sets"]
    parts = [
        _head(sets),
        *_tried_out(sets),
        *_claims(sets),
        *_data(sets),
        *_tables(sets),
        *_toys(numbers["statements"]),
        *_made(numbers),
    ]
    return "\n\n".join(part.strip() for part in parts).replace("{FOLDER}", folder) + "\n"


def _tried_out(sets: Mapping[str, Any]) -> Iterator[str]:
    fewer = [f"{kept['title']} {kept['trials']}" for kept in sets.values() if kept["trials"] != 50]
    if fewer:
        yield f"**Trials: {', '.join(fewer)}, instead of the paper's 50. Run the same command again to resume.**"


def _head(sets: Mapping[str, Any]) -> str:
    def those(kind: str) -> str:
        return " and ".join(kept["title"] for kept in sets.values() if kept["stands_for"] == kind) or "not run"

    return HEAD.replace("{functions}", those("functions")).replace("{submissions}", those("submissions"))


def _toys(statements: Mapping[str, Any]) -> Iterator[str]:
    """Compare the toy examples and Figure 1."""
    yield "## Toy examples and figures"
    printed = {
        **{
            ("Table 2", h, k): value
            for h, values in TABLE_2.items()
            for k, value in zip(("map", "roc_area"), values, strict=True)
        },
        **{
            ("Table 4", h, k): value
            for h, values in TABLE_4.items()
            for k, value in zip(("map", "accuracy"), values, strict=True)
        },
    }
    computed = {(table, h, k): statements[table.lower().replace(" ", "_")][h][k] for table, h, k in printed}
    wrong = [
        f"{computed[key]:.4f} instead of {value:.2f}"
        for key, value in printed.items()
        if f"{computed[key]:.2f}" != f"{value:.2f}"
    ]
    step = statements["figure_1"]
    yield (
        f"{len(printed) - len(wrong)} of {len(printed)} values of Tables 2 and 4 agree. The two values of MAP in Table 4 divide by 4 instead of "
        f"5: they should be {' and '.join(wrong)}. The step of Figure 1 changes H by {step['change']:.4f}. Equation (5) gives "
        f"{step['with_factor']:.4f} with the factor 1/(RN) of Ψ, and {step['as_printed']:.4f} as printed."
    )
    yield "![Figure 2: w·φ of one base function in four bins, the first two weights positive, the third negative]({FOLDER}/figure_2.svg)"


def _data(sets: Mapping[str, Any]) -> Iterator[str]:
    yield "## The data"
    rows = []
    for kept in sets.values():
        of = kept["statistics"]
        rows.append(
            (
                kept["title"],
                *(f"{of[name]:,}" for name in ("base functions", "features", "queries", "documents", "relevant")),
            )
        )
    yield markdown(
        ("data set", "base functions", "features", "queries", "documents", "relevant"), rows, right={1, 2, 3, 4, 5}
    )
    yield "Values in *italics* below are printed in the paper."


def _tables(sets: Mapping[str, Any]) -> Iterator[str]:
    yield "![MAP of each model as a share of SVM-map's: the paper's two years, and the data sets here]({FOLDER}/models.svg)"
    for numbers, kind, variant, title in (
        ((6, 9), "functions", "with-best", "Tables 6 and 9: trained on retrieval functions"),
        ((7, 10), "submissions", "with-best", "Tables 7 and 10: trained on submissions"),
        ((8, 11), "submissions", "without-best", "Tables 8 and 11: trained on submissions but the best one"),
    ):
        those = [kept for kept in sets.values() if kept["stands_for"] == kind and variant in kept["rows"]]
        if those:
            yield f"## {title}"
            yield _beside(TABLES[numbers[0]] | TABLES[numbers[1]], those, variant)
    yield (
        "\\*\\* marks a significant difference from SVM-map, by the two-tailed Wilcoxon signed rank test. Holm: its p-value, corrected for "
        "all comparisons of the table, which include models with an intercept; the paper does not correct. MAP is over the pool. The best functions have the largest MAP over all "
        "queries, which is not known beforehand."
    )


def _beside(printed: Mapping[str, tuple[Printed, Printed]], sets: Sequence[Mapping[str, Any]], variant: str) -> str:
    ours = [
        {_PLACES[row["place"] - 1] if row["place"] else row["name"]: row for row in _corrected(kept, variant)}
        for kept in sets
    ]
    names = [name for name in ours[0] if name not in _PLACES and not name.endswith("+b")] + [BEST]
    rows = []
    for name in names:
        cells = [name]
        for year in (0, 1):
            row = printed.get(name)
            cells.append("" if row is None else f"*{row[year].map:.3f}*{_stars(row[year].significant)}")
        for of_set in ours:
            row = of_set.get(name)
            if row is None:
                cells += ["", ""]
            else:
                p_value = "" if row["p_value"] is None else f"{row['p_value']:.2g}"
                cells += [f"{row['map']:.4f}{_stars(bool(row['significant']))}", p_value]
        rows.append(tuple(cells))
    headings = ["model", "*TREC 9*", "*TREC 10*"]
    for kept in sets:
        headings += [kept["title"], "Holm"]
    return markdown(headings, rows, right=set(range(1, len(headings))))


def _corrected(kept: Mapping[str, Any], variant: str) -> list[dict[str, Any]]:
    """Return the rows of a table with p-values by Holm's correction."""
    rows = kept["rows"][variant]["pool"]
    p_values = holm(row["p_value"] for row in rows)
    return [
        {**row, "p_value": p, "significant": p is not None and p < 0.05} for row, p in zip(rows, p_values, strict=True)
    ]


def _stars(significant: bool) -> str:
    return " \\*\\*" if significant else ""


def _claims(sets: Mapping[str, Any]) -> Iterator[str]:
    """Check the conclusions of the paper on its own tables and on ours, by the same rule."""
    yield "## Conclusions of the paper"
    rows = []
    for claim, kind, variant, number, other, wants in (
        ("SVM-map is significantly ahead of the best function", "functions", "with-best", 6, BEST, "ahead **"),
        ("its difference from the best submission is not significant", "submissions", "with-best", 7, BEST, "level"),
        ("the same for models that do not read the best submission", "submissions", "without-best", 8, BEST, "level"),
        (
            "its difference from SVM-roc on functions is not significant",
            "functions",
            "with-best",
            9,
            "SVM-roc",
            "level",
        ),
        ("SVM-map is ahead of SVM-roc on submissions", "submissions", "with-best", 10, "SVM-roc", "ahead"),
        (
            "the same without the best submission, significantly",
            "submissions",
            "without-best",
            11,
            "SVM-roc",
            "ahead **",
        ),
        ("SVM-acc2 is significantly behind", "submissions", "with-best", 10, "SVM-acc2", "ahead **"),
        ("SVM-acc is not competitive", "submissions", "with-best", 10, "SVM-acc", "ahead **"),
    ):
        paper = [
            _verdict(
                TABLES[number][SVM_MAP][year].map - TABLES[number][other][year].map,
                TABLES[number][other][year].significant,
            )
            for year in (0, 1)
        ]
        here = []
        for kept in sets.values():
            if kept["stands_for"] == kind and variant in kept["rows"]:
                found = _corrected(kept, variant)
                row = next(
                    (each for each in found if (each["place"] == 1 if other == BEST else each["name"] == other)), None
                )
                if row is not None:
                    difference = found[0]["map"] - row["map"]
                    verdict = _verdict(difference, bool(row["significant"]))
                    holds = (
                        verdict == wants
                        or (wants == "ahead" and verdict.startswith("ahead"))
                        or (wants == "level" and "**" not in verdict)
                    )
                    stars = " \\*\\*" * ("**" in verdict)
                    here.append(f"{kept['title']}: {'holds' if holds else 'does not hold'} ({difference:+.4f}{stars})")
        if here:
            rows.append((claim, str(number), ", ".join(paper).replace("*", "\\*"), "; ".join(here)))
    yield markdown(("conclusion", "table", "TREC 9, TREC 10", "here, with the difference in MAP"), rows, right={1})


def _verdict(difference: float, significant: bool) -> str:
    return ("ahead" if difference > 0 else "behind") + " **" * significant


def _made(numbers: Mapping[str, Any]) -> Iterator[str]:
    machine = numbers["machine"]
    yield "## Machine and time"
    rows = []
    for kept in numbers["sets"].values():
        fits = [fit for of_variant in kept["fits"].values() for fit in of_variant.values()]
        gaps = [fit["largest_gap"] for fit in fits if fit["largest_gap"] is not None]
        svm_map = kept["fits"]["with-best"].get(SVM_MAP, fits[0])
        rows.append(
            (
                kept["title"],
                f"{sum(kept['seconds'].values()) / 60:.1f}" if kept["seconds"] else "",
                f"{svm_map['mean']:.2f}",
                f"{svm_map['longest']:.1f}",
                f"{max(gaps):.1e}",
            )
        )
    headings = (
        "data set",
        "minutes",
        "SVM-map: seconds per fit",
        "longest fit, seconds",
        "largest certified gap / C",
    )
    yield markdown(headings, rows, right={1, 2, 3, 4})
    yield (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, Python {machine['python']}, structural-svm "
        f"{machine['packages'].get('structural-svm', '')}. {numbers['note']} The gap is proved: no other weights are better than "
        "the model by more, in units of the loss."
    )
    yield (
        "After Ctrl-C, run `make paper` again to resume. Without DATA, it uses the images of [the demo](../experiment.md#running-it). "
        "The folder `paper` then has the reports of the single experiments, with all plots. "
        "[Cranfield and Vaswani](cranfield_and_vaswani.md) explains the choice of their pools."
    )


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], right: set[int]) -> str:
    """Return a table; align the columns with numbers in ``right`` to the right."""
    rule = ["---:" if k in right else "---" for k in range(len(headings))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [headings, rule, *rows])
