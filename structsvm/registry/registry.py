"""Objects of one kind by name: built-in names and the entry points of other packages."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from attrs import field, frozen

from structsvm.exceptions import InputError, PluginError, UnknownNameError
from structsvm.registry.aliases import Aliases
from structsvm.registry.spelling import Spelling, parameters_of, plain, require_complete, spell

T = TypeVar("T")

_ELSEWHERE = {
    "precision": "p",
    "ap": "map",
    "averageprecision": "map",
    "auc": "roc_area",
    "rocauc": "roc_area",
    "rr": "mrr",
    "reciprocalrank": "mrr",
}
"""What losses are called elsewhere, and here."""


@frozen
class Registry(Generic[T]):
    """Names of one kind of object.

    Parameters
    ----------
    kind : what the objects are, in words.
    group : entry point group in which other packages register theirs.
    built_in : name to ``"module:class"``.
    classes : ``"module:class"`` of the classes that all these objects derive from.
    place : the argument that such an object is for.
    implied : the settings that a built-in name stands for, where it stands for more than a class.
    cutoffs : built-in names that take a cut-off, each with one that messages and lists show.
    aliases : names of other programs that are read, too.
    related : ``"module:class"`` of what is taken for such an object and is none, each with what messages say of it.

    Examples
    --------
    >>> from structsvm.registry import losses
    >>> losses.spell(losses.create("NDCG@10"))
    'ndcg@10'
    """

    kind: str
    group: str
    built_in: dict[str, str]
    classes: tuple[str, ...]
    place: str
    implied: Mapping[str, Mapping[str, Any]] = field(factory=dict, kw_only=True)
    cutoffs: Mapping[str, float] = field(factory=dict, kw_only=True)
    aliases: Aliases = field(factory=Aliases, kw_only=True)
    related: Mapping[str, str] = field(factory=dict, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Add the registry to those that messages look names up in."""
        _MADE.append(self)

    def names(self) -> list[str]:
        """Return all names, some with a cut-off as an example; the built-in ones are first."""
        return [self.shown(name) for name in self._all()]

    def shown(self, known: str) -> str:
        """Return a registered name with a cut-off as an example, where it takes one."""
        return f"{known}@{self.cutoffs[known]}" if known in self.cutoffs else known

    def find(self, name: str) -> type[T]:
        """Import and return the class of that name; underscores, hyphens and case do not matter.

        Raises
        ------
        UnknownNameError : when nothing has that name; it tells the nearest one.
        PluginError : when the package that registered it cannot be imported.
        """
        return self._class(self._known(name))

    def create(self, spec: str | T, **settings: Any) -> T:
        """Return the object of that name, made with these settings; an object is returned as it is.

        Parameters
        ----------
        spec : an object, or a name, with cut-off and settings of its own or without:
            ``"ndcg@10"``, ``"map(relevant_from=2)"``.
        **settings : more settings.

        Raises
        ------
        UnknownNameError : when nothing has that name; it tells the nearest one.
        InputError : when ``spec`` is a class instead of an object, or an object of another kind;
            when a setting is unknown, wrong or lacking.
        PluginError : when the package that registered the name cannot be imported.
        """
        if isinstance(spec, str):
            name, text = self._known(spec), self._spelling(spec)
            made, cutoff = self._class(name), self.cutoffs.get(name, 10)
            written = text.settings(name, made, self.implied.get(name, {}), cutoff)
            twice = sorted(set(written) & set(settings))
            if twice:
                raise InputError(f"the name {spec!r} says what {twice[0]} is: it cannot be given a second time")
            self._require_known(name, made, settings)
            require_complete(name, made, written | settings, cutoff)
            return made(**written, **settings)
        if isinstance(spec, type):
            raise InputError(f"{spec.__name__} is a class: pass an object, {spec.__name__}(), or a name")
        if not self.holds(spec):
            for target, advice in self.related.items():
                if isinstance(spec, _imported(target)):
                    raise InputError(f"{type(spec).__name__} {advice}")
            other = next((each for each in _MADE if each.holds(spec)), None)
            meaning = f", but a {other.kind}, for {other.place}" if other else ""
            raise InputError(
                f"{spec!r} is no {self.kind}{meaning}: pass a name ({', '.join(self.names())}) or an object"
            )
        return spec

    def holds(self, thing: object) -> bool:
        """Say whether an object is of this kind."""
        return isinstance(thing, tuple(_imported(target) for target in self.classes))

    def name_of(self, kind: type[T]) -> str | None:
        """Return a name that leads to a class; None where it has no name."""
        return next(iter(self._names_of(kind)), None)

    def spell(self, thing: T) -> str | None:
        """Return the name that `create` makes an equal object of; None where no name does.

        ``losses.spell(NDCG(k=10))`` is ``"ndcg@10"``. Settings that are not the default follow in
        parentheses; an object with one that cannot be written there, an array say, has no name.
        """
        implied = {name: self.implied.get(name, {}) for name in self._names_of(type(thing))}
        fitting = [
            name
            for name, settings in implied.items()
            if all(getattr(thing, key) == value for key, value in settings.items())
        ]
        name = max(fitting, key=lambda name: len(implied[name]), default=None)
        return None if name is None else spell(name, thing, implied[name])

    def knows(self, text: str) -> bool:
        """Say whether a text starts with a name, built in or registered by another package."""
        wanted = plain(Spelling.of(text).name)
        return any(plain(known) == wanted for known in self._all())

    def _require_known(self, name: str, made: Any, settings: Mapping[str, Any]) -> None:
        """Refuse settings that the class of a name does not have."""
        known = parameters_of(made)
        for key in settings:
            if key not in known:
                having = [each for each in self.built_in if key in parameters_of(cast(Any, self._class(each)))]
                whose = f"it is for {', '.join(having)}" if having else f"it has {', '.join(known) or 'none'}"
                raise InputError(f"the {self.kind} {name!r} has no setting {key}: {whose}")

    def _known(self, text: str) -> str:
        """Return the name, as it is registered, that a text starts with."""
        wanted = plain(self._spelling(text).name)
        for known in self._all():
            if plain(known) == wanted:
                return known
        raise UnknownNameError(self.kind, text, self.names(), _other_meaning(text, self.kind) or self._meant(text))

    def _spelling(self, text: str) -> Spelling:
        """Return the parts of a text, an alias translated where no plug-in has its name."""
        written = Spelling.of(text)
        translated = self.aliases.translated(written)
        if translated.name != written.name and plain(written.name) in map(plain, self._plugins()):
            return written
        return translated

    def _meant(self, text: str) -> str:
        """Ask for the name that another project's name stands for here; "" where it is not known."""
        spelling = Spelling.of(text)
        known = _ELSEWHERE.get(plain(spelling.name))
        if known not in self.built_in:
            return ""
        near = self.shown(known) if spelling.cutoff is None else f"{known}@{spelling.cutoff}"
        return f"Did you mean {near!r}?"

    def _all(self) -> Iterator[str]:
        """Yield the built-in names, and then those of plug-ins, for which all installed packages are asked."""
        yield from self.built_in
        yield from (name for name in self._plugins() if name not in self.built_in)

    def _class(self, known: str) -> type[T]:
        target = self.built_in.get(known)
        return cast(type[T], self._plugged_in(self._plugins()[known]) if target is None else _imported(target))

    def _plugged_in(self, plugin: EntryPoint) -> Any:
        """Import and return the class of another package."""
        package = plugin.dist.name if plugin.dist else plugin.module
        where = f"the {self.kind} {plugin.name!r} of the package {package}"
        try:
            made = plugin.load()
        except Exception as error:
            raise PluginError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
        wanted = tuple(_imported(target) for target in self.classes)
        if not (isinstance(made, type) and issubclass(made, wanted)):
            bases = " or ".join(base.__name__ for base in wanted)
            raise PluginError(f"{where} is {made!r}: its entry point must name a class derived from {bases}")
        return made

    def _names_of(self, kind: type[T]) -> list[str]:
        package = _package(kind.__module__)
        targets = {name: plugin.value for name, plugin in self._plugins().items()} | self.built_in
        return [name for name in self._all() if _package(targets[name]) == package and self._class(name) is kind]

    def _plugins(self) -> dict[str, EntryPoint]:
        return {entry_point.name: entry_point for entry_point in entry_points(group=self.group)}


def _imported(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


_MADE: "list[Registry[Any]]" = []
"""All registries, for messages that say what a name means elsewhere."""


def _other_meaning(text: str, kind: str) -> str:
    """Say what a name stands for among the objects of another kind; "" where nothing is called so."""
    for registry in _MADE:
        if registry.knows(text):
            return f"{text!r} is a {registry.kind}, for {registry.place}; a {kind} is needed here."
    return ""


def _package(target: str) -> str:
    return target.partition(":")[0].partition(".")[0]
