"""Habits of writing that readers stumble over: patterns, each with its remedy, as checks of proselint.

In the text, ``X`` stands for code and ``M`` for a formula; ``¶`` ends a paragraph, a heading or a cell.
"""

import re
from collections.abc import Iterator

from attrs import frozen
from proselint.registry.checks import Check, CheckFlags, CheckResult, Padding
from proselint.registry.checks.engine import Fancy, RegexOptions
from proselint.registry.checks.types import Existence

LONGEST_SENTENCE = 40
BE = r"(?:is|are|was|were|be|been|being)"
END = r"(?=\s*[.,;:)¶])"
PREPOSITIONS = "with|without|in|from|to|on|at|by|for|before|after|above"
SENTENCE_START = r"(?:(?<=¶\s)|(?<=[.;:!?(]\s)|(?<=\())"
PLACES = (
    "place",
    "places",
    "folder",
    "directory",
    "page",
    "line",
    "row",
    "column",
    "point",
    "position",
    "file",
    "know",
)


@frozen
class Habit:
    """A habit: its patterns, in which a space is any white space, the remedy, and an example."""

    name: str
    remedy: str
    patterns: tuple[str, ...]
    example: str

    def check(self) -> Check:
        """Return the check that finds it, in quotation marks too."""
        return Check(
            check_type=Existence(tuple(spaced(pattern) for pattern in self.patterns), Padding.RAW),
            engine=Fancy(RegexOptions(case_insensitive=True)),
            path=f"habits.{self.name}",
            message=f"'{{}}': {self.remedy}",
            flags=CheckFlags(allow_quotes=True),
        )


def spaced(pattern: str) -> str:
    """Let a space of a pattern match one line break, too."""
    return pattern.replace(" ", r"[ \n]")


HABITS = (
    Habit(
        "noun-clause",
        "name the thing instead of a clause with what or who",
        (
            r"\bwhat\b(?!ever)(?![^.¶]*\?)",
            SENTENCE_START + r"who(?:ever)?\b(?![^.¶]*\?)",
            r"\b(?:and|or|but|if|from|of|to|by|for|with|than|as|that) who(?:ever)?\b",
        ),
        "What a pass meets tells when it is worth that.",
    ),
    Habit(
        "where",
        "write 'if' or 'when'; 'where' is for places",
        (
            SENTENCE_START + r"where\b(?! (?-i:M)\b)",
            "".join(rf"(?<!\b{p} )" for p in PLACES) + r"(?<!, )\bwhere\b(?! (?-i:[MX])\b)",
        ),
        "Planes are stored in float32 where memory is short.",
    ),
    Habit(
        "is-no",
        "write 'is not a ...'",
        (rf"(?<!there )\b{BE} no\b(?! (?:longer|more|less|fewer|better|worse|larger|smaller|later|earlier)\b)",),
        "The tree is no tree of this format.",
    ),
    Habit(
        "none",
        "repeat the noun: 'no bounds', 'not part of the cell', 'unknown name'",
        (r"\bnone of\b", rf"\b(?:{BE}|has|have|had|needs?|takes?|gives?|holds?) (?-i:none)\b"),
        "Blanks around a cell are none of it.",
    ),
    Habit(
        "nothing",
        "state the positive: 'no result', 'cannot compare'",
        (
            rf"\bthere {BE} nothing\b",
            r"\bnothing (?:of|but)\b",
            r"\b(?:tell|pick|say|know|take|give|hold|ask|teach|taught|cost|learn|mean)(?:s|es)? nothing\b",
        ),
        "There is nothing of the next C.",
    ),
    Habit(
        "agentless",
        "name who acts, with the field's verb: the solver warns, reports, raises, stores",
        (rf"\b{BE} (?:told|said|held(?! out)|asked)\b", r"\bwanting\b", r"\btells? apart\b", r"\btold\b"),
        "Planes are held in memory, which is told to the caller.",
    ),
    Habit(
        "verb",
        "use the field's verb: resume, continue, follow from, report, free, inspect",
        (
            r"\b(?:go|goes|went|going|gone) on\b",
            r"\b(?:come|comes|came) of\b",
            r"\b(?:say|says|said|saying|tell|tells) so\b",
            r"\blet(?:s|ting)? go\b",
            r"\b(?:knows?|knew|known) of\b",
        ),
        "The fit goes on from the last round.",
    ),
    Habit(
        "be-of",
        "use a verb: 'belongs to', 'applies to', 'contains'",
        (rf"(?<!there )\b{BE} of (?:X|the|an?|its|their|this|these|that|use|one|two|any|no|all)\b",),
        "The bounds are of the weights.",
    ),
    Habit(
        "own",
        "write 'custom X', 'separate X' or 'its own X' before the noun",
        (r"\bof (?:its|one's|your|their|our|his|her|my|\w+'s) own\b", r"\bone's own\b"),
        "Write a loss of your own.",
    ),
    Habit("mend", "write 'fix'", (r"\bmend(?:s|ed|ing)?\b",), "It mends a fault."),
    Habit(
        "in-place-of",
        "write 'instead of' or 'replaces'",
        (r"\bin (?:the )?place of\b", r"\b(?:take|takes|took|taking) (?:the|its|their) place\b"),
        "Use C in place of alpha.",
    ),
    Habit(
        "such",
        "repeat the noun",
        (
            rf"\bsuch{END}",
            r"\bsuch (?:is|are|was|were|has|have|and|or|that|too|of|in|with)\b",
            r"\bof such (?!as\b|an?\b)",
        ),
        "Deliberate swaps are such, too.",
    ),
    Habit(
        "so",
        "repeat the verb or the adjective",
        (
            r"\b(?:do|does|did|done|doing)(?: not)? so\b(?! that)",
            rf"\b{BE}(?: not)? so{END}",
            rf"\b{BE}(?: not)? so (?:of|for|in|with|by|too|when|if|where|only|also|and|or|at|on|then|here)\b",
            r"\bif so\b",
            r"\b(?:more|less|stays?|remains?) so\b(?! that)",
            r"\band so (?:is|are|do|does|has|have|of|with|for)\b",
            r"\bso many\b(?! \w+ that)",
            rf"\bin so{END}",
        ),
        "Normalization leaves signs, so that it is so of the features.",
    ),
    Habit(
        "those",
        "repeat the noun",
        (
            rf"\b(?:those|these) (?:of|that|which|who|whose|where|are|is|{PREPOSITIONS})\b",
            rf"\b(?:those|these){END}",
            r"\b(?:is|are|than|as|to|and|or|with|by|from|beside|like|,) that of\b",
        ),
        "The weights are those of the last round.",
    ),
    Habit(
        "pointer",
        "name it",
        (
            r"\bthe (?:former|latter)\b",
            r"\bthe ones? (?:that|which|of|with|in|from)\b",
            rf"(?<!after )\bthe (?:one|others?){END}",
            r"\bthe others? (?:is|are|was|were|has|have|of|that|which)\b",
        ),
        "The former is slower than the other.",
    ),
    Habit(
        "a-for-per",
        "write 'per'",
        (
            r"\b(?:one|two|three|four|six|ten|several|few|many|some|\d+)"
            rf"(?: (?!if|of|as|is|than|and|or|minus|{PREPOSITIONS})\w+)? an? "
            r"(?:round|pass|query|fit|file|document|worker|core|process|thread|trial|fold|row|line|page|loss|example|job|"
            r"feature|measure|class|idea|thing|subject)\b",
        ),
        "It keeps six planes a query.",
    ),
)


def sentences(text: str) -> Iterator[re.Match[str]]:
    """Find the sentences of a text."""
    return re.finditer(r"[^\s¶](?:[^.!?¶]|[.!?](?![\s¶)\"'])|[.!?][)\"']?(?=\s+[^A-ZX\s]))*[.!?]?[)\"']?", text)


def long_sentences(text: str, check: Check) -> Iterator[CheckResult]:
    """Find sentences that are too long."""
    for result in sentences(text):
        words = len(re.findall(r"[^\W\d][\w'-]*", result[0]))
        if words > LONGEST_SENTENCE:
            yield CheckResult(check.path, check.message.format(words), result.span(), None)


LONG = Check(
    check_type=long_sentences,
    path="habits.long",
    message="sentence of {} words: split it",
    flags=CheckFlags(allow_quotes=True),
)
CHECKS = (*(habit.check() for habit in HABITS), LONG)
