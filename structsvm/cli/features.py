"""``structsvm features``."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.console import counted, note, progress_bar, progress_line
from structsvm.cli.files import check_output, write_text
from structsvm.cli.options import bad, example, names_in, several
from structsvm.cli.paths import DATA, INDEX, OUTPUT, RUNS, Command
from structsvm.exceptions import InputError
from structsvm.registry import retrieval_functions

if TYPE_CHECKING:
    from structsvm.data import Qrels, RankingData, Topic
    from structsvm.text import Index
    from structsvm.text.letor import Candidates

_SHOWN = 5
_TOP = 1000
