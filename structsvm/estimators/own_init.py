"""Let Python's messages about the arguments of an estimator name its class."""

from types import FunctionType
from typing import Any


class OwnInit:
    """Base of estimators whose subclasses may inherit ``__init__``: each gets a copy with its name."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        inherited: Any = cls.__init__
        if "__init__" in vars(cls) or not isinstance(inherited, FunctionType):
            return
        own: Any = FunctionType(
            inherited.__code__, inherited.__globals__, "__init__", inherited.__defaults__, inherited.__closure__
        )
        own.__kwdefaults__, own.__annotations__ = inherited.__kwdefaults__, inherited.__annotations__
        own.__module__, own.__doc__ = cls.__module__, inherited.__doc__
        own.__qualname__ = f"{cls.__qualname__}.__init__"
        cls.__init__ = own  # type: ignore[method-assign]
