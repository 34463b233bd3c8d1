"""What names mean here that trec_eval and ir_measures have for measures."""

import re
from collections.abc import Mapping

from attrs import evolve, field, frozen

from structsvm.registry.spelling import Spelling, plain

_NUMBERED = re.compile(r"(?P<name>.+?)[_.](?P<number>\d*\.?\d+)")
"""trec_eval writes ``P_5``, and on its command line ``P.5``; a level of recall may be ``.10``."""


@frozen
class Aliases:
    """Names and settings of other programs.

    Parameters
    ----------
    names : other name to the name here, with the settings in parentheses that it stands for. A key is as `plain` has
        it, for any case; or as it is written, where the case matters; ``name(setting)`` is for that name with that
        setting only.
    numbered : other names, as `plain` has them, that a number follows behind ``_`` or ``.``, to what it is: the
        setting's name, or ``@``.
    settings : other name of a setting to the name here.
    values : other value of a setting to the value here, by the setting's name here.
    """

    names: Mapping[str, str] = field(factory=dict)
    numbered: Mapping[str, str] = field(factory=dict)
    settings: Mapping[str, str] = field(factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(factory=dict)

    def translated(self, spelling: Spelling) -> Spelling:
        """Return the parts of a text in the names that there are here; its `text` stays what was written."""
        name, cutoff, options = spelling.name, spelling.cutoff, [self._translated(each) for each in spelling.options]
        numbered = _NUMBERED.fullmatch(name)
        setting = self.numbered.get(plain(numbered["name"])) if numbered else None
        if numbered and setting and (setting != "@" or cutoff is None):
            name = numbered["name"]
            if setting == "@":
                cutoff = numbered["number"]
            else:
                options.append(f"{setting}={numbered['number']}")
        given = {option.partition("=")[0].strip() for option in options}
        keys = (name, *(f"{plain(name)}({each})" for each in sorted(given)), plain(name))
        here = next((self.names[key] for key in keys if key in self.names), None)
        if here is not None:
            known = Spelling.of(here)
            name = known.name
            options = [*(each for each in known.options if each.partition("=")[0] not in given), *options]
        return evolve(spelling, name=name, cutoff=cutoff, options=tuple(options))

    def _translated(self, option: str) -> str:
        key, equals, value = (part.strip() for part in option.partition("="))
        here = self.settings.get(key, key)
        if not equals or here not in {*self.settings.values(), *self.values}:
            return option
        bare = value.strip("'\"")
        return f"{here}={self.values.get(here, {}).get(bare, bare)}"


OF_MEASURES = Aliases(
    names={
        "ap": "map",
        "averageprecision": "map",
        "mapcut": "map",
        "precision": "p",
        "r": "recall",
        "rr": "mrr",
        "reciprank": "mrr",
        "reciprocalrank": "mrr",
        "auc": "roc_area",
        "rocauc": "roc_area",
        "nDCG": "ndcg(gain=linear)",
        "ndcgcut": "ndcg(gain=linear)",
        "iprecatrecall": "iprec",
        "setr": "set_recall",
        "setap": "set_map",
        "gmap": "gm_map",
        "numret(relevant_from)": "num_rel_ret",
    },
    numbered={
        "p": "@",
        "recall": "@",
        "success": "@",
        "mapcut": "@",
        "ndcgcut": "@",
        "iprecatrecall": "@",
        "setf": "recall_weight",
    },
    settings={"rel": "relevant_from", "dcg": "gain", "beta": "recall_weight"},
    values={"gain": {"log2": "linear", "exp-log2": "exponential"}},
)
"""Of trec_eval and ir_measures, and of scikit-learn for some. ``nDCG`` is ir_measures' and has linear gain."""

OF_LOSSES = Aliases(names={"nDCG": "ndcg(gain=linear)"})
"""A loss that is called as the measure is has the gains of the measure."""

OF_FUSIONS = Aliases(names={"reciprocalrankfusion": "rrf", "inversesquarerank": "isr", "bordacount": "borda"})
"""Methods of fusion by the names of their classes, where those are not the names here."""
