"""Questions of new users, and the place at which the site's search has a page that answers.

``python -m tests.docs.questions`` needs Node.js, and the site that ``make docs`` builds, or another one.
"""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).parent
SITE = HERE.parents[1] / "docs" / "_build" / "html"


QUESTIONS = tomllib.loads((HERE / "questions.toml").read_text(encoding="utf-8"))
"""Wordings of questions, by a pattern of the pages or places in pages that answer them, as ``faq#how-many``."""


def ask(site: Path, wordings: Sequence[str]) -> list[list[tuple[str, str, str, float]]]:
    """Return the results of a site's search for several wordings: page, text, anchor and score, best first."""
    command = ["node", str(HERE / "ask.js"), str(site), *wordings]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
    return [[tuple(each) for each in json.loads(line)] for line in done.stdout.splitlines()]


def main() -> None:
    """Print the place of the first page that answers, for each wording."""
    site = Path(sys.argv[1]) if len(sys.argv) > 1 else SITE
    asked = [(answers, wording) for answers, wordings in QUESTIONS.items() for wording in wordings]
    first = in_three = 0
    reciprocal = 0.0
    for (answers, wording), result in zip(asked, ask(site, [wording for _, wording in asked]), strict=True):
        pages = [page + anchor for page, _, anchor, _ in result]
        place = next((k for k, page in enumerate(pages, 1) if re.match(answers, page)), None)
        first += place == 1
        in_three += place is not None and place <= 3
        reciprocal += 1 / place if place else 0
        print(f"{wording:52}{place or '-':>4}  of {len(pages):3}  {', '.join(pages[:3])}")
    print(
        f"{first} of {len(asked)} have it first, {in_three} among the first three; "
        f"mean reciprocal rank {reciprocal / len(asked):.3f}"
    )


if __name__ == "__main__":
    main()
