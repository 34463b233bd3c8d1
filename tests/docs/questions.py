"""Questions of new users, and the place at which the site's search has a page that answers.

``python -m tests.docs.questions`` needs Node.js, and the site as ``make docs`` leaves it, or another that it is told.
"""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from attrs import frozen

HERE = Path(__file__).parent
SITE = HERE.parents[1] / "docs" / "_build" / "html"


@frozen
class Question:
    """What somebody wants to know.

    Parameters
    ----------
    about : a name for it.
    answered : a pattern of the pages, or places in pages, that answer it, as ``losses`` or ``faq#how-do-i-choose-c``.
    wordings : what people type.
    """

    about: str
    answered: str
    wordings: tuple[str, ...]


QUESTIONS = (
    Question(
        "graded labels",
        r"faq#(index-0|.*graded)|guide/choices|losses",
        ("which loss for graded labels", "graded relevance loss", "loss for graded judgments"),
    ),
    Question(
        "svm_rank's -c",
        r"faq#(index-1|.*svm)|coming_from",
        ("how do I convert svm_rank's -c", "svm_rank c", "convert C from svm_rank"),
    ),
    Question(
        "scales of features",
        r"faq#(index-2|.*scale)|howto/export_a_model|features|guide/features_and",
        ("features on different scales", "normalize features", "scale features"),
    ),
    Question(
        "which C",
        r"faq#(index-3|.*choose-c)|howto/C_and_tol|quickstart#choosing|serving#c-by|guide/choices",
        ("how do I choose C", "choose C", "cross validation C"),
    ),
    Question(
        "a fit that stopped",
        r"faq#(index-4|.*tol)|howto/C_and_tol|guide/certainty|formulation#the-cert",
        ("fit stopped before tol", "not converged warning", "ConvergenceWarning gap"),
    ),
    Question(
        "significance",
        r"faq#(index-5|.*signif)|measures|guide/certainty",
        ("is the difference between two rankers significant", "significance test", "compare two rankers"),
    ),
    Question(
        "a loss of one's own",
        r"faq#(index-6|.*own)|howto/write_a_loss|guide/own",
        ("how do I write a loss of my own", "custom loss", "own loss function"),
    ),
    Question(
        "cores and clusters",
        r"faq#(index-7|.*cores)|solvers(#threads|$)|howto/use_a_cluster",
        ("use all cores", "n_jobs threads", "run on a cluster"),
    ),
    Question(
        "production",
        r"faq#(index-8|.*production)|guide/serve|serving|howto/export_a_model|howto/a_day",
        ("put a model into production", "save a model", "ONNX export"),
    ),
    Question(
        "clicks",
        r"faq#(index-9|.*click)|howto/learn_from_clicks",
        ("train on clicks", "click logs", "implicit feedback"),
    ),
    Question(
        "missing values",
        r"faq#(index-10|.*missing)|features|guide/features_and|howto/use_a_cluster",
        ("missing values", "NaN in features"),
    ),
    Question(
        "going on after an end",
        r"faq#(index-11|.*go-on)|quickstart#going-on|solvers#|reliability#nothing",
        ("resume training", "continue after interruption"),
    ),
    Question("citation", r"faq#(index-12|.*cite)|project|index$", ("how to cite", "bibtex citation")),
    Question(
        "queries without relevant documents",
        r"faq#(index-13|.*relevant-documents)|formulation#usable|experiment$",
        ("queries without relevant documents", "all documents irrelevant"),
    ),
    Question(
        "what the gap means",
        r"faq#(index-14|.*gap|.*tol)|formulation#the-cert|quickstart#what-the-result|guide/certainty|howto/C_and_tol",
        ("what does the duality gap mean", "certificate of optimality"),
    ),
    Question(
        "sparse features",
        r"faq#(index-15|.*sparse)|data|quickstart|scale|guide/features_and",
        ("sparse matrix", "csr features"),
    ),
    Question(
        "scikit-learn",
        r"faq#(index-16|.*scikit|index-3|.*choose-c)|quickstart|guide/features_and",
        ("GridSearchCV", "scikit-learn pipeline"),
    ),
    Question("TREC's files", r"faq#(index-17|.*trec)|trec|measures|guide/runs", ("evaluate trec run", "qrels file")),
    Question("sequences", r"sequences|guide/own", ("sequence labelling", "part of speech tagging")),
    Question(
        "systems and versions of Python",
        r"faq#(index-18|.*run-on)|stability#what-it-runs|project",
        ("windows support", "supported python versions"),
    ),
)


def ask(site: Path, wordings: Sequence[str]) -> list[list[tuple[str, str, str, float]]]:
    """Return what the search of a site shows for each of several wordings: page, text, anchor and score, best first."""
    command = ["node", str(HERE / "ask.js"), str(site), *wordings]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    return [[tuple(each) for each in json.loads(line)] for line in done.stdout.splitlines()]


def main() -> None:
    """Print the place of the first page that answers, for each wording."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    asked = [(question, wording) for question in QUESTIONS for wording in question.wordings]
    first = 0
    for (question, wording), found in zip(asked, ask(site, [wording for _, wording in asked]), strict=True):
        pages = [page + anchor for page, _, anchor, _ in found]
        place = next((k for k, page in enumerate(pages, 1) if re.match(question.answered, page)), None)
        first += place == 1
        print(f"{question.about:36}{wording:52}{place or '-':>4}  of {len(pages):3}  {', '.join(pages[:3])}")
    print(f"{first} of {len(asked)} have it first")


if __name__ == "__main__":
    main()
