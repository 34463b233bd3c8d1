"""Import paths of version 0.1 that have moved: they lead to the new ones with a DeprecationWarning, until 0.3."""

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

MOVED: dict[str, tuple[str, ...]] = {
    "structsvm.archive": ("structsvm.files",),
    "structsvm.baselines": ("structsvm.rankers", "structsvm.fusion"),
    "structsvm.baselines.fusion": ("structsvm.fusion",),
    "structsvm.experiment": ("structsvm.protocols.experiment",),
    "structsvm.letor": ("structsvm.protocols.letor",),
    "structsvm.models": ("structsvm.protocols",),
    "structsvm.names": ("structsvm.registry.spelling",),
    "structsvm.report": ("structsvm.protocols.experiment.report",),
    "structsvm.validation": ("structsvm.settings",),
}
"""Where the names of a module are now; those of a module below it are looked for below that."""


class _Finder:
    """Finds modules by their old paths, after Python's own finders have not."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        homes = _homes(name)
        return ModuleSpec(name, _Loader(homes), is_package=True) if homes else None


class _Loader(Loader):
    """Makes a module whose names are those of others."""

    def __init__(self, homes: tuple[str, ...]) -> None:
        self.homes = homes

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        homes = [import_module(home) for home in self.homes]

        def __getattr__(name: str) -> Any:
            for home in homes:
                if hasattr(home, name):
                    return getattr(home, name)
            raise AttributeError(f"module {spec.name!r} has no attribute {name!r}")

        module.__dict__["__getattr__"] = __getattr__
        module.__dict__["__all__"] = sorted({name for home in homes for name in getattr(home, "__all__", ())})
        return module

    def exec_module(self, module: ModuleType) -> None:
        new = " and ".join(self.homes)
        warnings.warn(f"{module.__name__} is now {new}: import from there", DeprecationWarning, stacklevel=2)


def _homes(name: str) -> tuple[str, ...]:
    """Return the modules in which the names of an old one are; none, where it is no old one."""
    if name in MOVED:
        return MOVED[name]
    parent, _, leaf = name.rpartition(".")
    return tuple(f"{home}.{leaf}" for home in _homes(parent)) if parent else ()


def forward() -> None:
    """Let old import paths lead to the new ones."""
    sys.meta_path.append(_Finder)
