"""Look up objects of one kind by name, built in or from entry points of other packages."""

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from attrs import field, frozen

from structsvm.exceptions import InputError, PluginError, UnknownNameError, brief, with_article
from structsvm.registry.spelling import OF_MEASURES, Aliases, Spelling, name_key, parameters_of, require_complete, spell

T = TypeVar("T")


@frozen
class Registry(Generic[T]):
    """A registry: objects of one kind by name, built in or from other packages.

    Parameters
    ----------
    kind : name of the kind, for messages.
    group : entry point group in which other packages register objects.
    built_in : ``"module:class"`` of each built-in object, by name.
    classes : ``"module:class"`` of the base classes of these objects.
    place : argument that accepts such an object, for messages.
    implied : settings that a built-in name implies beyond its class.
    cutoffs : built-in names with a cut-off, each with an example of it for messages and lists.
    aliases : accepted names of other programs.
    related : ``"module:class"`` of objects that users may confuse with this kind, each with an explanation.
    advice : names of other kinds or projects that users try, each with a sentence on the nearest object.

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
    advice: Mapping[str, str] = field(factory=dict, kw_only=True)

    def __attrs_post_init__(self) -> None:
        """Let messages search this registry for names."""
        _MADE.append(self)

    def names(self) -> list[str]:
        """Return all names, built-in names first, with an example of each cut-off."""
        return [self.shown(name) for name in self._all()]

    def shown(self, name: str) -> str:
        """Return a registered name, with an example of its cut-off if it has one."""
        return f"{name}@{self.cutoffs[name]}" if name in self.cutoffs else name

    def find(self, name: str) -> type[T]:
        """Return the class of a name; raise UnknownNameError, or PluginError if its package cannot be imported."""
        return self._class(self._known(name))

    def create(self, spec: str | T, **settings: Any) -> T:
        """Return the object of that name, made with these settings; an object is returned unchanged.

        Parameters
        ----------
        spec : an object, or a name, optionally with cut-off and settings: ``"ndcg@10"``, ``"map(relevant_from=2)"``.
        **settings : more settings.

        Raises
        ------
        UnknownNameError : no object has that name; the message suggests the nearest one.
        PluginError : the package that registered the name cannot be imported.
        """
        if isinstance(spec, str):
            name, text = self._known(spec), self._spelling(spec)
            class_, cutoff = self._class(name), self.cutoffs.get(name, 10)
            written = text.settings(name, class_, self.implied.get(name, {}), cutoff)
            twice = sorted(set(written) & set(settings))
            if twice:
                raise InputError(f"the name {spec!r} already sets {twice[0]}: give it once")
            self._require_known(name, class_, settings)
            require_complete(name, class_, written | settings, cutoff)
            return class_(**written, **settings)
        if isinstance(spec, type):
            raise InputError(f"{spec.__name__} is a class: pass an object, {spec.__name__}(), or a name")
        if not self.holds(spec):
            for target, advice in self.related.items():
                if isinstance(spec, _imported(target)):
                    raise InputError(f"{type(spec).__name__} {advice}")
            other = next((registry for registry in _MADE if registry.holds(spec)), None)
            meaning = f", but {with_article(other.kind)}, for {other.place}" if other else ""
            raise InputError(
                f"{brief(spec)} is not a valid {self.kind}{meaning}: pass a name ({', '.join(self.names())}) or an "
                "object"
            )
        return spec

    def entries(self) -> Iterator[tuple[str, str, str]]:
        """Yield name, description and origin of each object: built-in ones, "auto" last, and then plug-ins."""
        described: dict[str, str] = {}
        for name, target in sorted(self.built_in.items(), key=lambda item: item[0] == "auto"):
            same = name == "auto" and target in described
            text = f"the default: {described[target]}" if same else first_sentence(self.find(name))
            described[target] = name
            implied = ", ".join(f"{key} {value}" for key, value in self.implied.get(name, {}).items())
            yield self.shown(name), f"{text}; {implied}" if implied else text, "built in"
        for name, plugin in self._plugins().items():
            if name not in self.built_in:
                origin = f"{plugin.dist.name} {plugin.dist.version}" if plugin.dist else plugin.module
                yield name, plugin.value, origin

    def holds(self, thing: object) -> bool:
        """Return True if an object has the kind of this registry."""
        return isinstance(thing, tuple(_imported(target) for target in self.classes))

    def name_of(self, kind: type[T]) -> str | None:
        """Return a name of a class; None without a name."""
        return next(iter(self._names_of(kind)), None)

    def spell(self, thing: T) -> str | None:
        """Return the name from which `create` makes an equal object, "ndcg@10" for ``NDCGLoss(k=10)``, or None.

        An object with a setting that a name cannot contain, such as an array, has no name.
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
        """Return True if a text starts with a name, built in or registered by another package."""
        wanted = name_key(Spelling.of(text).name)
        return any(name_key(name) == wanted for name in self._all())

    def _require_known(self, name: str, class_: Any, settings: Mapping[str, Any]) -> None:
        """Raise InputError for settings that the class of a name does not have."""
        parameters = parameters_of(class_)
        for key in settings:
            if key not in parameters:
                having = [other for other in self.built_in if key in parameters_of(cast(Any, self._class(other)))]
                whose = f"it is for {', '.join(having)}" if having else f"it has {', '.join(parameters) or 'none'}"
                raise InputError(f"the {self.kind} {name!r} has no setting {key}: {whose}")

    def _known(self, text: str) -> str:
        """Return the registered name that a text starts with."""
        wanted = name_key(self._spelling(text).name)
        for candidate in self._all():
            if name_key(candidate) == wanted:
                return candidate
        raise UnknownNameError(self.kind, text, self.names(), self._other_meaning(text) or self._meant(text))

    def _spelling(self, text: str) -> Spelling:
        """Return the parts of a text; translate aliases unless a plug-in has the same name."""
        written = Spelling.of(text)
        translated = self.aliases.translated(written)
        if translated.name != written.name and name_key(written.name) in map(name_key, self._plugins()):
            return written
        return translated

    def _other_meaning(self, text: str) -> str:
        """Return a message about a name of another kind of object or another project; else ""."""
        wanted = name_key(Spelling.of(text).name)
        sentences = [sentence for name, sentence in self.advice.items() if name_key(name) == wanted]
        other = next((registry for registry in _MADE if registry.knows(text)), None)
        if other is not None:
            needed = f"{with_article(self.kind)} is needed here."
            sentences.insert(0, f"{text!r} is {with_article(other.kind)}, for {other.place}; {needed}")
        return " ".join(sentences)

    def _meant(self, text: str) -> str:
        """Return a suggestion for a name of another project; "" if the name is unknown."""
        spelling = Spelling.of(text)
        alias = OF_MEASURES.names.get(name_key(spelling.name), "")
        if alias not in self.built_in:
            return ""
        near = self.shown(alias) if spelling.cutoff is None else f"{alias}@{spelling.cutoff}"
        return f"Did you mean {near!r}?"

    def _all(self) -> Iterator[str]:
        """Yield the built-in names, then names of plug-ins; these require a scan of all packages."""
        yield from self.built_in
        yield from (name for name in self._plugins() if name not in self.built_in)

    def _class(self, name: str) -> type[T]:
        target = self.built_in.get(name)
        return cast(type[T], self._plugged_in(self._plugins()[name]) if target is None else _imported(target))

    def _plugged_in(self, plugin: EntryPoint) -> Any:
        package = plugin.dist.name if plugin.dist else plugin.module
        where = f"the {self.kind} {plugin.name!r} of the package {package}"
        try:
            loaded = plugin.load()
        except Exception as error:
            raise PluginError(f"{where} cannot be imported: {type(error).__name__}: {error}") from error
        wanted = tuple(_imported(target) for target in self.classes)
        if not (isinstance(loaded, type) and issubclass(loaded, wanted)):
            bases = " or ".join(base.__name__ for base in wanted)
            raise PluginError(f"{where} is {loaded!r}: its entry point must name a class derived from {bases}")
        return loaded

    def _names_of(self, kind: type[T]) -> list[str]:
        package, targets = _package(kind.__module__), self.built_in
        # Only classes of other packages need the slow scan of plug-ins, which cannot name classes of a script.
        if package not in (_package(__name__), "__main__"):
            targets = targets | {name: entry.value for name, entry in self._plugins().items() if name not in targets}
        return [name for name, target in targets.items() if _package(target) == package and self._class(name) is kind]

    def _plugins(self) -> dict[str, EntryPoint]:
        return {entry_point.name: entry_point for entry_point in entry_points(group=self.group)}


def first_sentence(kind: type) -> str:
    """Return the first sentence of a class's docstring, without its period."""
    paragraph = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".").replace("`", "")


def _imported(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


_MADE: "list[Registry[Any]]" = []
"""All registries, to find the meaning of a name for messages."""


def _package(target: str) -> str:
    return target.partition(":")[0].partition(".")[0]
