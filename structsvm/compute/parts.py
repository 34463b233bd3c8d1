"""How numba compiles functions that compiled ones alone call: to code for LLVM, and no further.

Numba makes machine code of each function, and links the code that LLVM optimised for it into those that call it, where
LLVM optimises it once more. That of a part is never called: a sixth of the time of a first fit. Parts are optimised
with who calls them.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary  # structsvm.compute.environment has imported numba
from numba.core.compiler import Compiler, CompileResult


class PartCompiler(Compiler):  # type: ignore[misc]
    """Compiles a function to be linked into others."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes of numba, which end in a library that is never made machine code."""
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()  # type: ignore[no-any-return]


def read_as_part(dispatcher: Any) -> None:
    """Let what is read from disk be a part, too.

    Numba makes machine code of what it reads, which changes the code for LLVM: who is compiled with that would be other
    machine code, of other rounding, than who is compiled with a part that is new.
    """
    if hasattr(dispatcher._cache, "_impl"):
        dispatcher._cache._impl.rebuild = _rebuilt


def _rebuilt(context: Any, kept: tuple[Any, ...]) -> Any:
    return CompileResult._rebuild(_Reader(context), *kept)._replace(target_context=context)


class _Reader:
    """Stands for a target of numba, whose libraries are read as parts."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> "_Reader":
        """Return what reads a library."""
        return self

    def unserialize_library(self, kept: tuple[Any, ...]) -> "_Part":
        """Read a part."""
        return _Part._unserialize(self, kept)  # type: ignore[no-any-return]

    def create_library(self, name: str) -> "_Part":
        """Return an empty part."""
        return _Part(self._context.codegen(), name)


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """Code for LLVM that waits to be linked into other code."""

    @property
    def codegen(self) -> "_Part":
        """What is asked to set an environment: of code that is not there."""
        return self

    def set_env(self, *_: Any) -> None:
        """Set none."""

    def get_pointer_to_function(self, _name: str) -> int:
        """Return 0: there is none."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[Any, ...]:
        """Return what is kept on disk."""
        return self.serialize_using_bitcode()  # type: ignore[no-any-return]

    def _optimize_final_module(self) -> None:
        """Leave it to who links it."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
