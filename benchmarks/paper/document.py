"""The page, from stored numbers: the same numbers make the same page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.paper.printed import BEST, SECOND, SVM_MAP, TABLE_2, TABLE_4, TABLE_5, TABLES, THIRD, Printed

_PLACES = (BEST, SECOND, THIRD)

HEAD = """# The paper, reproduced

<!-- Written by `make paper`; edit benchmarks/paper/ instead. -->

Yue, Finley, Radlinski and Joachims, *A Support Vector Method for Optimizing Average Precision* (SIGIR 2007): this page
compares every table, figure and statement of the paper with the results of structsvm. One command writes the page and its pictures
from files that other commands wrote:

```text
make paper DATA=folder
```

The numbers are in `{FOLDER}/numbers.json`."""

CANNOT = """
## Similarities and differences

The learning problem, the algorithms, the features, the models and the protocol are the same as in the paper. The data are not: the
paper uses WT10g, which requires a license, and the submissions to the Web Tracks of TREC 9 and 10, whose scores are not public. Data
of the same kinds replace them:

| paper | here | comparison |
|---|---|---|
| Tables 1 to 4, two toy examples | [computed](#tables-1-to-4) | the same, except for the MAP of Table 4, which [divides by 4 instead of 5](../errata.md#table-4-map) |
| Figure 1 and equation (5), one step of δ | [computed](#figure-1-and-algorithm-2) | the same, with the [factor 1/(RN) of its Ψ](../errata.md#equation-5-a-missing-factor) |
| Figure 2, a base function in bins | [drawn](#figure-2) | the same |
| Algorithm 1, Theorem 1 | `NSlack` | [the bound holds](#theorem-1); other solvers reach the same optimum sooner |
| Algorithm 2, Lemma 1, Theorem 2 | `AveragePrecision` | the same maximum, in O(n log n) instead of O(RN) |
| Observation 1, Proposition 1 | `tests/paper` | they hold, by enumeration |
| Table 5, data sets | [other data](#table-5) | {stands_in} |
| Tables 6 and 9, five functions on three indexes | {functions} | other documents and topics, much smaller collections |
| Tables 7, 8, 10, 11, submissions to TREC | {submissions} | other years, tracks and systems |
| SVM-light, SVM-struct and their Python interface | this library | the objective and C are the same; each fit is certified |

The paper does not state the values of C, the exact spacing of thresholds ("reasonably"), and the way to average the tests of a query.
This experiment uses the values of C that each report lists, thresholds at [quantiles](../features.md), and the mean of the values of a
query over the trials that tested it."""


def page(numbers: Mapping[str, Any], folder: str) -> str:
    """Return the page as Markdown; its pictures are in a folder of that name beside it."""
    sets = numbers["sets"]
    parts = [
        HEAD,
        *_tried_out(sets),
        _cannot(sets),
        *_toys(numbers["statements"]),
        *_bound(numbers["statements"]["bound"]),
    ]
    parts += [*_data(sets), *_tables(sets), *_claims(sets), *_made(numbers)]
    return "\n\n".join(part.strip() for part in parts).replace("{FOLDER}", folder) + "\n"


def _tried_out(sets: Mapping[str, Any]) -> Iterator[str]:
    fewer = [f"{kept['title']} {kept['trials']}" for kept in sets.values() if kept["trials"] != 50]
    if fewer:
        yield f"**Trials: {', '.join(fewer)}, instead of the paper's 50. Run the same command again to resume.**"


def _cannot(sets: Mapping[str, Any]) -> str:
    def those(kind: str) -> str:
        return " and ".join(kept["title"] for kept in sets.values() if kept["stands_for"] == kind) or "not run"

    return CANNOT.format(
        functions=those("functions"),
        submissions=those("submissions"),
        stands_in=", ".join(kept["title"] for kept in sets.values()),
    )


def _toys(statements: Mapping[str, Any]) -> Iterator[str]:
    yield "## Tables 1 to 4"
    rows = [
        ("Table 2", h, what, printed[k], statements["table_2"][h][key])
        for h, printed in TABLE_2.items()
        for k, (what, key) in enumerate([("MAP", "map"), ("ROC area", "roc_area")])
    ]
    rows += [
        ("Table 4", h, what, printed[k], statements["table_4"][h][key])
        for h, printed in TABLE_4.items()
        for k, (what, key) in enumerate([("MAP", "map"), ("best accuracy", "accuracy")])
    ]
    yield markdown(
        ("", "hypothesis", "", "printed", "computed", ""),
        [
            (a, h, what, f"{p:.2f}", f"{c:.4f}", "same" if f"{c:.2f}" == f"{p:.2f}" else "**differs**")
            for a, h, what, p, c in rows
        ],
        right={3, 4},
    )
    yield "Both tables make the same point as in the paper: each measure prefers another hypothesis."
    step, found = statements["figure_1"], statements["argmax"]
    yield "## Figure 1 and Algorithm 2"
    yield (
        "A query has two relevant documents (scores 0.6 and 0.1) and three other documents (0.4, −0.3, −0.5). If the first of the "
        f"three moves above the second relevant document, H changes by {step['change']:.4f}. Equation (5) gives "
        f"{step['with_factor']:.4f} with the factor 1/(RN), and {step['as_printed']:.4f} as printed."
    )
    yield (
        f"The largest H over all interleavings was computed by enumeration for {found['cases']} random queries of up to four documents "
        f"of each kind. `AveragePrecision` finds it for {found['library']} queries, Algorithm 2 with the factor for "
        f"{found['with_factor']}, and Algorithm 2 as printed for {found['as_printed']}."
    )
    yield "## Figure 2"
    yield "![w·φ of one base function in four bins, the first two weights positive, the third negative]({FOLDER}/figure_2.svg)"


def _bound(bound: Sequence[Mapping[str, float]]) -> Iterator[str]:
    yield "## Theorem 1"
    yield "Constraints of Algorithm 1 (`NSlack`) on 30 made queries of 20 documents, C = 10:"
    rows = [(f"{each['epsilon']:g}", f"{each['constraints']:,.0f}", f"{each['allowed']:,.0f}") for each in bound]
    yield markdown(("ε", "in the working set", "allowed by the theorem"), rows, right={0, 1, 2})


def _data(sets: Mapping[str, Any]) -> Iterator[str]:
    yield "## Table 5"
    rows = [
        (f"*{name}*", str(functions), f"{features:,}", "50", "", "") for name, (functions, features) in TABLE_5.items()
    ]
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
    yield "Values in *italics*, here and below, are printed in the paper."


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
        "W/L: number of queries on which SVM-map is better and worse; \\*\\* marks p < 0.05 by the two-tailed Wilcoxon "
        "signed rank test. MAP is over the pool: R is the number of relevant documents in it. The best functions have the largest "
        "MAP over all queries, which is not known beforehand. Models with an intercept (+b) are not in the paper."
    )
    yield "If R is the number of all documents judged relevant, as in trec_eval, MAP is smaller:"
    rows = [
        (
            kept["title"],
            *(
                f"{row['map']:.4f}"
                for row in kept["rows"]["with-best"]["judged"]
                if row["name"] == SVM_MAP or row["place"] == 1
            ),
        )
        for kept in sets.values()
    ]
    yield markdown(("data set", "SVM-map", "best function"), rows, right={1, 2})


def _beside(printed: Mapping[str, tuple[Printed, Printed]], sets: Sequence[Mapping[str, Any]], variant: str) -> str:
    ours = [
        {_PLACES[row["place"] - 1] if row["place"] else row["name"]: row for row in kept["rows"][variant]["pool"]}
        for kept in sets
    ]
    names = [name for name in ours[0] if name not in _PLACES] + list(_PLACES)
    rows = []
    for name in names:
        cells = [name]
        for year in (0, 1):
            row = printed.get(name)
            cells += ["", ""] if row is None else [f"*{row[year].map:.3f}*", _against(row[year], "*")]
        for of_set in ours:
            row = of_set.get(name)
            cells += (
                ["", "", ""]
                if row is None
                else [
                    f"{row['map']:.4f}",
                    _against(Printed(0.0, row["wins"], row["losses"], bool(row["significant"])), ""),
                    "" if row["p_value"] is None else f"{row['p_value']:.2g}",
                ]
            )
        rows.append(tuple(cells))
    headings = ["model", "*TREC 9*", "*W/L*", "*TREC 10*", "*W/L*"]
    for kept in sets:
        headings += [kept["title"], "W/L", "p"]
    return markdown(headings, rows, right=set(range(1, len(headings))))


def _against(row: Printed, mark: str) -> str:
    if row.wins is None:
        return "–"
    return f"{mark}{row.wins}/{row.losses}{mark}" + (" \\*\\*" if row.significant else "")


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
        ("SVM-acc3 is not competitive", "submissions", "with-best", 10, "SVM-acc3", "ahead **"),
        ("SVM-acc4 is not competitive", "submissions", "with-best", 10, "SVM-acc4", "ahead **"),
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
                found = kept["rows"][variant]["pool"]
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
                str(kept["trials"]),
                f"{sum(kept['seconds'].values()) / 60:.1f}" if kept["seconds"] else "",
                f"{kept['seconds_of_trials'] / 60:.1f}",
                f"{svm_map['mean']:.2f}",
                f"{svm_map['longest']:.1f}",
                f"{max(gaps):.1e}",
            )
        )
    headings = (
        "data set",
        "trials",
        "minutes, all commands",
        "minutes, sum over trials",
        "SVM-map: seconds per fit",
        "longest fit, seconds",
        "largest certified gap / C",
    )
    yield markdown(headings, rows, right={1, 2, 3, 4, 5, 6})
    yield (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, Python {machine['python']}, structural-svm "
        f"{machine['packages'].get('structural-svm', '')}. {numbers['note']} The gap is proved: no other weights are better than "
        'the model by more, in units of the loss. The paper reports less than an hour for "virtually all well-performing models".'
    )
    yield (
        "After Ctrl-C, run `make paper` again to resume. Without DATA, it uses the images of [the demo](../experiment.md#running-it), which "
        "come with scikit-learn. The working folder (`WORK=paper`) contains the reports of the single experiments, with all plots. "
        "The page on [Cranfield and Vaswani](cranfield_and_vaswani.md) explains the choice of their pools."
    )


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], right: set[int]) -> str:
    """Return a table; align the columns with numbers in ``right`` to the right."""
    rule = ["---:" if k in right else "---" for k in range(len(headings))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [headings, rule, *rows])
