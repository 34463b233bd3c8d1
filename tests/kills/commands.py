"""The commands to kill, on small data, and the parts of their outputs that repeat exactly."""

import csv
import gzip
import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from structsvm import Result
from structsvm.text import Index
from tests.cli.conftest import write_letor
from tests.protocols.experiment.conftest import scored_documents, write_trec
from tests.protocols.letor.conftest import write_set

EXPERIMENT = "experiment --runs runs --qrels qrels.txt --trials 4 --train 3 --validation 2 --bins 6 --jobs 2 -q"
MODELS = "--models svm-map --with-best"
KEPT = "--checkpoint fit.npz --model m.npz"
SEARCHED = "indexed topics.jsonl"
JUDGED = f"{SEARCHED} --qrels judged.txt --top 100"


@frozen
class Command:
    """A command.

    Parameters
    ----------
    line : its arguments.
    earlier : arguments of a command that may have written to the same place before; "" for none.
    """

    line: str
    earlier: str = ""

    @property
    def name(self) -> str:
        return self.line.split()[0]

    @property
    def goes_on(self) -> bool:
        """Whether it resumes after a kill, and may reach another model within its bounds."""
        return "--checkpoint" in self.line


COMMANDS = (
    Command("train train.txt -C 3000 --tol 1e-7 --model m.npz", "train train.txt -C 1 --model m.npz"),
    Command(
        "train train.txt --C-grid 0.01:10000:12 --validation vali.txt --tol 1e-5 --time-limit 1000 --model m.npz",
        "train train.txt -C 1 --model m.npz",
    ),
    Command("predict known.npz train.txt -o scores.txt.gz", "predict known.npz vali.txt -o scores.txt.gz"),
    Command("predict known.npz train.txt -o scores.txt", "predict known.npz vali.txt -o scores.txt"),
    Command("export known.npz --format json -o m.txt", "export known.npz --format svm_rank -o m.txt"),
    Command("show known.npz --csv - --plot weights.svg", "show known.npz --top 1 --plot weights.svg"),
    Command("evaluate known.npz train.txt --per-query --plot p.svg", "evaluate known.npz vali.txt --plot p.svg"),
    Command(
        "fuse runs --method condorcet -o fused.run.gz --quiet",
        "fuse runs --method borda -o fused.run.gz --quiet",
    ),
    Command(
        "fuse runs --method weighted-comb-sum --qrels qrels.txt -o fused.run --plot weights.svg --quiet",
        "fuse runs/alpha.gz runs/beta.gz --method weighted-comb-sum --qrels qrels.txt -o fused.run --plot weights.svg",
    ),
    Command(
        "compare vali.txt --solver one-slack,frank-wolfe --backend active-set,osqp -C 1,30 --csv rows.csv "
        "--json rows.json --plot gaps.svg",
        "compare vali.txt --solver one-slack --backend active-set --csv rows.csv --json rows.json --plot gaps.svg",
    ),
    Command(f"{EXPERIMENT} {MODELS} --out out"),
    Command("benchmark tiny --models svm-roc,borda-count --out out --jobs 2 -q"),
    Command("report finished"),
    Command(f"train train.txt -C 300 --tol 1e-7 {KEPT}", f"train train.txt -C 300 --tol 0.01 {KEPT}"),
    Command(
        f"train train.txt --C-grid 0.1:1000:5 --validation vali.txt --tol 1e-5 {KEPT}",
        f"train train.txt --C-grid 0.1:1000:5 --validation vali.txt --tol 0.01 {KEPT}",
    ),
    Command(
        "index documents.jsonl --stemmer porter --stop-words lucene --out index -q",
        "index documents.jsonl --fields title --out index -q",
    ),
    Command(
        f"retrieve {SEARCHED} --function cosine,okapi,lm_dirichlet --out ranked -q",
        f"retrieve {SEARCHED} --function okapi --top 10 --out ranked -q",
    ),
    Command(
        f"features {JUDGED} --out features.txt.gz -q",
        f"features {JUDGED} --features L1 --out features.txt.gz -q",
    ),
    Command(
        f"features {JUDGED} --folds 3 --out folds -q",
        f"features {JUDGED} --features L1 --folds 3 --out folds -q",
    ),
)
DEMO = Command("demo --out demo")


def command_of(number: int, words: str = "") -> Command:
    """Return the command of a trial, with all of the words; the demo, which takes minutes, is rare."""
    if not words:
        return DEMO if number % 40 == 39 else COMMANDS[number % len(COMMANDS)]
    fitting = [command for command in (*COMMANDS, DEMO) if set(words.split()) <= set(command.line.split())]
    return fitting[number % len(fitting)]


def write_inputs(folder: Path) -> None:
    """Write the inputs of the commands, except the model and the experiment, which commands make."""
    write_letor(folder / "train.txt", queries=40, documents=20, features=30)
    write_letor(folder / "vali.txt", queries=12, documents=12, features=30, first_qid=1000, seed=1)
    for number in range(1, 4):
        write_set(folder / "tiny" / f"S{number}.txt", first=1000 * number, queries=12, seed=number)
    write_trec(folder, *scored_documents(12, 30, 4))
    words = np.array([f"word{number}ing" for number in range(3000)])
    chosen = np.random.default_rng(0).integers(0, 3000, (4000, 80))
    (folder / "documents.jsonl").write_text(
        "".join(
            f'{{"id": "d{number}", "title": "{words[row[0]]}", "text": "{" ".join(words[row])}"}}\n'
            for number, row in enumerate(chosen)
        )
    )
    asked = {f"q{number}": row for number, row in enumerate(chosen[:300, :6])}
    (folder / "topics.jsonl").write_text(
        "".join(f'{{"id": "{topic}", "text": "{" ".join(words[row])}"}}\n' for topic, row in asked.items())
    )
    (folder / "judged.txt").write_text("".join(f"{topic} 0 d{topic[1:]} 1\n" for topic in asked))


PREPARED = (
    "train vali.txt --model known.npz",
    f"{EXPERIMENT} {MODELS} --out finished",
    "index documents.jsonl --out indexed -q",
)
"""Commands that make further inputs."""


@frozen
class Bounds:
    """The bounds of a fit, as a model or a checkpoint has them.

    Parameters
    ----------
    C, tol, status : of the fit.
    dual, primal : the bounds.
    """

    C: float
    tol: float
    status: str
    dual: float
    primal: float

    @classmethod
    def of(cls, path: Path) -> "Bounds":
        with np.load(path) as arrays:
            written = json.loads(str(arrays["result"]))
        return cls(*(written[name] for name in ("C", "tol", "status", "dual", "primal")))

    @classmethod
    def of_result(cls, result: Result) -> "Bounds":
        return cls(result.C, result.tol, result.status.name, result.dual, result.primal)

    @property
    def rounding(self) -> float:
        return 1e-9 * (1.0 + abs(self.primal))

    @property
    def certified(self) -> bool:
        """Whether the fit has converged, and its gap shows it."""
        return self.status == "CONVERGED" and self.primal - self.dual <= self.tol * self.C

    def worse_than(self, other: "Bounds") -> bool:
        """Say whether a bound is farther from the optimum than the other's, by more than rounding."""
        return self.dual < other.dual - other.rounding or self.primal > other.primal + other.rounding

    def contradicts(self, other: "Bounds") -> bool:
        """Say whether no optimum lies within both."""
        return max(self.dual, other.dual) > min(self.primal, other.primal) + other.rounding

    def agrees(self, other: "Bounds") -> bool:
        """Return whether both have converged, and for equal C to the same optimum."""
        same = self.tol == other.tol and not self.contradicts(other)
        return self.certified and other.certified and (self.C != other.C or same)


def checkpoints_in(folder: Path) -> dict[str, Bounds]:
    """Return the bounds of the checkpoints in a folder, by name."""
    return {path.name: Bounds.of(path) for path in folder.glob("fit*.npz")}


def difference(found: Path, undisturbed: Path, *, goes_on: bool) -> str:
    """Describe how a file differs from the file of an undisturbed run; "" if it does not.

    Raises
    ------
    ValueError : when it is not whole.
    """
    same = same_each_time(found) == same_each_time(undisturbed)
    if goes_on and found.suffix == ".npz":
        same = Bounds.of(found).agrees(Bounds.of(undisturbed))
        return "" if same else f"{Bounds.of(found)}, not {Bounds.of(undisturbed)}"
    return "" if same else "differs from an undisturbed run's"


def same_each_time(path: Path) -> Any:
    """Return the content of a file without times; reading it shows that it is whole.

    Raises
    ------
    ValueError : when it is not whole.
    """
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            read = {name: arrays[name] for name in arrays.files}
        result = json.loads(str(read["result"]))
        return read["w"].tolist(), result["primal"], result["dual"], result["status"]
    content = path.read_bytes()
    if path.name in ("index", "indexed"):
        Index.load(path)
        return content
    if path.suffix == ".gz":
        return gzip.decompress(content)
    if path.suffix in (".svg", ".html"):
        if not content.rstrip().endswith(f"</{path.suffix[1:]}>".encode()):
            raise ValueError(f"{path.name} is cut off")
        return None
    if path.suffix == ".json":
        return without_costs(json.loads(content))
    if path.suffix == ".jsonl":
        return sorted(json.dumps(without_costs(json.loads(line))) for line in content.splitlines())
    if not content.endswith(b"\n"):
        raise ValueError(f"{path.name} is cut off")
    if path.suffix == ".csv":
        rows = list(csv.DictReader(content.decode().splitlines(), strict=True))
        return without_costs(rows)
    return re.sub(rb"[ &|]*\d+\.\d\d\b", b"", content) if path.name.startswith("tables") else content


def without_costs(value: Any) -> Any:
    """Leave out seconds and memory, which vary between runs."""
    if isinstance(value, dict):
        costs = {key for key in value if "second" in key or key in ("curve", "peak_memory")}
        return {key: without_costs(part) for key, part in value.items() if key not in costs}
    return [without_costs(part) for part in value] if isinstance(value, list) else value


def files_in(folder: Path) -> list[Path]:
    """Return the files in a folder, relative to it."""
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def copied(source: Path, target: Path) -> Path:
    shutil.copytree(source, target, dirs_exist_ok=True)
    return target
