"""Tables 1 to 11 of the paper, as they are printed."""

from attrs import frozen

TABLE_1 = (1, 0, 0, 0, 0, 1, 1, 0)
TABLE_2 = {"h1": (0.59, 0.47), "h2": (0.51, 0.53)}
"""MAP and ROC area on Table 1."""

TABLE_3 = (1, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0)
TABLE_4 = {"h1": (0.70, 0.64), "h2": (0.64, 0.73)}
"""MAP and best accuracy on Table 3."""


@frozen
class Printed:
    """A row of Tables 6 to 11 in one of the two years: MAP, SVM-map's wins and losses against it, and their stars."""

    map: float
    wins: int | None = None
    losses: int | None = None
    significant: bool = False


def _row(text: str) -> tuple[Printed, Printed]:
    years = []
    for year in text.split("|"):
        value, *against = year.split()
        wins, losses = map(int, against[0].split("/")) if against else (None, None)
        years.append(Printed(float(value), wins, losses, against[1:] == ["**"]))
    first, second = years
    return first, second


SVM_MAP, BEST, SECOND, THIRD = "SVM-map", "Best function", "2nd best", "3rd best"

TABLES = {
    number: {name: _row(text) for name, text in rows.items()}
    for number, rows in {
        6: {
            SVM_MAP: "0.242|0.236",
            BEST: "0.204 39/11 **|0.181 37/13 **",
            SECOND: "0.199 38/12 **|0.174 43/7 **",
            THIRD: "0.188 34/16 **|0.174 38/12 **",
        },
        7: {
            SVM_MAP: "0.290|0.287",
            BEST: "0.280 28/22|0.283 29/21",
            SECOND: "0.269 30/20|0.251 36/14 **",
            THIRD: "0.266 30/20|0.233 36/14 **",
        },
        8: {
            SVM_MAP: "0.284|0.288",
            BEST: "0.280 27/23|0.283 31/19",
            SECOND: "0.269 30/20|0.251 36/14 **",
            THIRD: "0.266 30/20|0.233 35/15 **",
        },
        9: {
            SVM_MAP: "0.242|0.236",
            "SVM-roc": "0.237 29/21|0.234 24/26",
            "SVM-acc": "0.147 47/3 **|0.155 47/3 **",
            "SVM-acc2": "0.219 39/11 **|0.207 43/7 **",
            "SVM-acc3": "0.113 49/1 **|0.153 45/5 **",
            "SVM-acc4": "0.155 48/2 **|0.155 48/2 **",
        },
        10: {
            SVM_MAP: "0.290|0.287",
            "SVM-roc": "0.282 29/21|0.278 35/15 **",
            "SVM-acc": "0.213 49/1 **|0.222 49/1 **",
            "SVM-acc2": "0.270 34/16 **|0.261 42/8 **",
            "SVM-acc3": "0.133 50/0 **|0.182 46/4 **",
            "SVM-acc4": "0.233 47/3 **|0.238 46/4 **",
        },
        11: {
            SVM_MAP: "0.284|0.288",
            "SVM-roc": "0.274 31/19 **|0.272 38/12 **",
            "SVM-acc": "0.215 49/1 **|0.211 50/0 **",
            "SVM-acc2": "0.267 35/15 **|0.258 44/6 **",
            "SVM-acc3": "0.133 50/0 **|0.174 46/4 **",
            "SVM-acc4": "0.228 46/4 **|0.234 45/5 **",
        },
    }.items()
}
"""Rows by name: TREC 9, then TREC 10."""
