"""How numba compiles functions that compiled ones alone call: to code for LLVM, and no further.

Numba makes machine code of each function, and links the code that LLVM optimised for it into those that call it, where
LLVM optimises it once more. That of a part is never called: a sixth of the time of a first fit. Parts are optimised
with who calls them.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary  # structsvm.compute.environment has imported numba
from numba.core.compiler import Compiler


class PartCompiler(Compiler):  # type: ignore[misc]
    """Compiles a function to be linked into others."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes of numba, which end in a library that is never made machine code."""
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()  # type: ignore[no-any-return]


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
