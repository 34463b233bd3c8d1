"""Translate names of trec_eval, ir_measures and other programs to the names of this package."""

import re
from collections.abc import Mapping

from attrs import evolve, field, frozen

from structsvm.exceptions import InputError
from structsvm.registry.spelling import Spelling, name_key

_NUMBERED = re.compile(r"(?P<name>.+?)[_.](?P<number>\d*\.?\d+)")
"""trec_eval writes ``P_5``, and on its command line ``P.5``; a level of recall may be ``.10``."""


@frozen
class Aliases:
    """Translations of names and settings of other programs to the names of this package.

    - ``names``: name to our name with settings. Keys are case-sensitive or of `name_key`; ``name(setting)`` matches
      only this setting.
    - ``numbered``: `name_key` of names followed by ``_`` or ``.`` and a number, to the setting of the number, or ``@``.
    - ``settings``: setting to our setting.
    - ``values``: for each of our settings, value to our value.
    """

    names: Mapping[str, str] = field(factory=dict)
    numbered: Mapping[str, str] = field(factory=dict)
    settings: Mapping[str, str] = field(factory=dict)
    values: Mapping[str, Mapping[str, str]] = field(factory=dict)

    def translated(self, spelling: Spelling) -> Spelling:
        """Return a spelling with our names; its `text` stays as written."""
        name, cutoff, options = spelling.name, spelling.cutoff, [self._translated(text) for text in spelling.options]
        numbered = _NUMBERED.fullmatch(name)
        setting = self.numbered.get(name_key(numbered["name"])) if numbered else None
        if numbered and setting and (setting != "@" or cutoff is None):
            name = numbered["name"]
            if setting == "@":
                cutoff = numbered["number"]
            else:
                options.append(f"{setting}={numbered['number']}")
        bare = name_key(name.rstrip("."))
        if not numbered and cutoff is None and (bare.endswith("cut") or (name[-1:] in "_." and bare in self.numbered)):
            raise InputError(f"{spelling.text!r} lacks its number: write it as in {name.rstrip('_.')}_10")
        present = {option.partition("=")[0].strip() for option in options}
        keys = (name, *(f"{name_key(name)}({key})" for key in sorted(present)), name_key(name))
        here = next((self.names[key] for key in keys if key in self.names), None)
        if here is not None:
            spelled = Spelling.of(here)
            name = spelled.name
            options = [*(option for option in spelled.options if option.partition("=")[0] not in present), *options]
        return evolve(spelling, name=name, cutoff=cutoff, options=tuple(options))

    def _translated(self, option: str) -> str:
        key, equals, value = (part.strip() for part in option.partition("="))
        here = self.settings.get(key, key)
        if not equals or here not in {*self.settings.values(), *self.values}:
            return option
        bare = value.strip("'\"")
        return f"{here}={self.values.get(here, {}).get(bare, bare)}"


_NAMES = {
    "ap": "map",
    "averageprecision": "map",
    "precision": "p",
    "r": "recall",
    "rr": "mrr",
    "reciprank": "mrr",
    "reciprocalrank": "mrr",
    "auc": "roc_area",
    "rocauc": "roc_area",
    "nDCG": "ndcg(gain=linear)",
    "ndcgcut": "ndcg(gain=linear)",
}
_NUMBERED_NAMES = {"p": "@", "recall": "@", "ndcgcut": "@"}

OF_MEASURES = Aliases(
    names={
        **_NAMES,
        "mapcut": "map",
        "iprecatrecall": "iprec",
        "setr": "set_recall",
        "setap": "set_map",
        "gmap": "gm_map",
        "numret(relevant_from)": "num_rel_ret",
    },
    numbered={**_NUMBERED_NAMES, "success": "@", "mapcut": "@", "iprecatrecall": "@", "setf": "recall_weight"},
    settings={"rel": "relevant_from", "dcg": "gain", "beta": "recall_weight"},
    values={"gain": {"log2": "linear", "exp-log2": "exponential"}},
)
"""Names of trec_eval and ir_measures, and some of scikit-learn; ``nDCG`` of ir_measures has linear gain."""

OF_LOSSES = Aliases(names=_NAMES, numbered=_NUMBERED_NAMES)
"""The names of measures that are losses too, with the same settings."""

OF_FUSIONS = Aliases(names={"reciprocalrankfusion": "rrf", "inversesquarerank": "isr", "bordacount": "borda"})
"""Class names of fusion methods that differ from their registered names."""

OF_MODELS = Aliases(names={"rrf": "ReciprocalRankFusion", "isr": "InverseSquareRank", "borda": "BordaCount"})
"""Models that are methods of fusion, by the names of these methods."""
