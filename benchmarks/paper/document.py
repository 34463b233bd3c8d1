"""The page, from numbers that were kept: the same numbers make the same page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from benchmarks.paper.printed import BEST, SECOND, SVM_MAP, TABLE_2, TABLE_4, TABLE_5, TABLES, THIRD, Printed

_PLACES = (BEST, SECOND, THIRD)

HEAD = """# The paper, reproduced

<!-- Written by `make paper`; edit benchmarks/paper/ instead. -->

Yue, Finley, Radlinski and Joachims, *A Support Vector Method for Optimizing Average Precision* (SIGIR 2007): every table,
figure and statement of the paper, beside what this library computes. The page and its pictures are made by

```text
make paper DATA=folder
```

from files that commands wrote; the numbers are in `{FOLDER}/numbers.json`."""

CANNOT = """
## What is the same, and what cannot be

The learning problem, the algorithms, the features, the models and the protocol are the paper's. Its data are not: they are
WT10g, which is licensed, and the submissions to the Web Tracks of TREC 9 and 10, whose scores are not public. Data of
the same kinds stand in:

| of the paper | here | how it compares |
|---|---|---|
| Tables 1 to 4, two toy examples | [computed](#tables-1-to-4) | the same, but for Table 4's MAP, which [divides by 4 instead of 5](../errata.md#table-4-map) |
| Figure 1 and equation (5), one step of δ | [computed](#figure-1-and-algorithm-2) | the same, with the [factor 1/(RN) of its own Ψ](../errata.md#equation-5-a-missing-factor) |
| Figure 2, a base function in bins | [drawn](#figure-2) | the same |
| Algorithm 1, Theorem 1 | `NSlack` | [the bound holds](#theorem-1); other solvers come to the same optimum sooner |
| Algorithm 2, Lemma 1, Theorem 2 | `AveragePrecision` | the same maximum, in O(n log n) instead of O(RN) |
| Observation 1, Proposition 1 | `tests/paper` | they hold, by enumeration |
| Table 5, data sets | [other data](#table-5) | {stands_in} |
| Tables 6 and 9, five functions on three indexes | {functions} | other documents and topics, much smaller collections |
| Tables 7, 8, 10, 11, submissions to TREC | {submissions} | other years, tracks and systems |
| SVM-light, SVM-struct and their Python interface | this library | the objective and C are the same; each fit is certified |

Unknown, as the paper does not say: which values of C, how thresholds are spaced exactly ("reasonably"), which tests are
counted as trials of a query. Here: the values of C that each report lists, thresholds by
[quantiles](../features.md), and the mean of a query's values over the trials that tested it."""


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
        yield f"**Trials: {', '.join(fewer)}, instead of the paper's 50: the same command goes on from there.**"


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
    yield "Both tables show what they are there for all the same: each measure prefers another hypothesis."
    step, found = statements["figure_1"], statements["argmax"]
    yield "## Figure 1 and Algorithm 2"
    yield (
        "Two relevant documents (scores 0.6 and 0.1) and three others (0.4, −0.3, −0.5): where the first of the others slides up "
        f"over the second relevant one, H changes by {step['change']:.4f}. Equation (5) with the factor 1/(RN) says "
        f"{step['with_factor']:.4f}, and as it is printed {step['as_printed']:.4f}."
    )
    yield (
        f"In {found['cases']} random queries of up to four documents of each kind, the largest H over all interleavings is what "
        f"`AveragePrecision` finds in {found['library']}, Algorithm 2 with the factor in {found['with_factor']}, and Algorithm 2 as "
        f"it is printed in {found['as_printed']}."
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
    yield "In *italics*, here and below: printed in the paper."


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
        "W/L: queries on which SVM-map does better and worse; \\*\\* marks p < 0.05 by the two-tailed Wilcoxon "
        "signed rank test. MAP is over the pool: R counts the relevant documents in it. The best functions are those of all "
        "queries, which nobody knows beforehand. Models with an intercept (+b) are not in the paper."
    )


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
    """What the paper concludes, checked on its own tables and on ours by the same rule."""
    yield "## What the paper concludes, and what holds here"
    rows = []
    for claim, kind, variant, number, other, wants in (
        ("SVM-map is significantly ahead of the best function", "functions", "with-best", 6, BEST, "ahead **"),
        ("its difference from the best submission is not significant", "submissions", "with-best", 7, BEST, "level"),
        ("the same where it does not read the best one", "submissions", "without-best", 8, BEST, "level"),
        (
            "its difference from SVM-roc on functions is not significant",
            "functions",
            "with-best",
            9,
            "SVM-roc",
            "level",
        ),
        ("SVM-map is ahead of SVM-roc on submissions", "submissions", "with-best", 10, "SVM-roc", "ahead"),
        ("the same without the best one, significantly", "submissions", "without-best", 11, "SVM-roc", "ahead **"),
        ("SVM-acc2 is significantly behind", "submissions", "with-best", 10, "SVM-acc2", "ahead **"),
        ("SVM-acc is not competitive", "submissions", "with-best", 10, "SVM-acc", "ahead **"),
        ("nor is SVM-acc3", "submissions", "with-best", 10, "SVM-acc3", "ahead **"),
        ("nor is SVM-acc4", "submissions", "with-best", 10, "SVM-acc4", "ahead **"),
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
    yield markdown(("the paper says", "table", "TREC 9, TREC 10", "here, with MAP's difference"), rows, right={1})


def _verdict(difference: float, significant: bool) -> str:
    return ("ahead" if difference > 0 else "behind") + " **" * significant


def _made(numbers: Mapping[str, Any]) -> Iterator[str]:
    machine = numbers["machine"]
    yield "## How it was made, and how long that took"
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
        "minutes of trials, added up",
        "SVM-map: seconds a fit",
        "the longest",
        "largest certified gap / C",
    )
    yield markdown(headings, rows, right={1, 2, 3, 4, 5, 6})
    yield (
        f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, Python {machine['python']}, structural-svm "
        f"{machine['packages'].get('structural-svm', '')}. {numbers['note']} The gap is proved: no other weights are better than "
        'the model by more, in units of the loss. The paper has "virtually all well-performing models" in less than an hour each.'
    )
    yield (
        "After Ctrl-C `make paper` goes on where it was. Without DATA it runs on images that come with scikit-learn "
        "([the demo's](../experiment.md#running-it)). The reports of the single experiments, with every plot, are in the working folder "
        "(`WORK=paper`); what was said of them before is in [Robust 2003](robust03.md) and [Cranfield and "
        "Vaswani](cranfield_and_vaswani.md)."
    )


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]], right: set[int]) -> str:
    """Return a table; columns whose numbers are in ``right`` are aligned to the right."""
    rule = ["---:" if k in right else "---" for k in range(len(headings))]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [headings, rule, *rows])
