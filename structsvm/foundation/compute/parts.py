"""Compilation of parts, functions that only compiled functions call, to LLVM bitcode only.

numba makes machine code of every function, but also links its bitcode into each caller and optimises the whole. A part
skips machine code and its own optimisation, which saves a sixth of a first fit's time. This relies on numba's private
interface; `try_out` checks that the installed numba still has it.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core.codegen import JITCodeLibrary  # structsvm.foundation.compute.environment has imported numba
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_lock import global_compiler_lock

from structsvm.foundation.compute.environment import numba

_BITCODE = "bitcode"
"""numba's name for LLVM bitcode, as opposed to machine code, in its cache files."""

_STEPS_LEFT_OUT = {"_optimize_final_module", "_finalize_final_module"}
"""Methods by which numba optimises code again and makes machine code; `_Part` skips both."""

_ASKED = {"get_pointer_to_function", "set_env"}
"""Methods that numba calls on machine code; in `_Part` they do nothing."""


def part(function: Callable[..., Any], fastmath: Any, alone: Callable[[], Callable[..., Any]]) -> Any:
    """Return numba's dispatcher of a function that is only linked into others; Python calls run ``alone()`` instead."""
    dispatcher = numba.njit(
        nogil=True, fastmath=fastmath, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_PartCompiler
    )(function)
    # Without an entry, numba calls `_compile_for_args`.
    dispatcher._insert = _not_inserted
    dispatcher._compile_for_args = lambda *_arguments: alone()
    return dispatcher


def read_as_part(dispatcher: Any) -> None:
    """Make cached bitcode load as a part.

    numba would make machine code of it, which changes the bitcode: functions linked with it would round differently.
    """
    if hasattr(dispatcher._cache, "_impl"):
        dispatcher._cache._impl.rebuild = _rebuilt


def try_out() -> None:
    """Compile, cache, load and link a trivial part in milliseconds; raise an exception if this numba cannot do it."""
    dispatcher = part(_nothing, False, lambda: _something)
    _require(dispatcher(1) == 2, "calls of a part from Python")
    options = dispatcher.targetdescr.options
    _require(hasattr(options, "no_cpython_wrapper") and hasattr(options, "no_cfunc_wrapper"), "options of compiling")
    _require(callable(CompileResult._rebuild) and callable(CompileResult._replace), "results of compiling")
    context = dispatcher.targetctx
    with global_compiler_lock:
        made = _Part(context.codegen(), "structsvm.tried")
        module = made.create_ir_module("structsvm.tried")
        number = ir.IntType(64)
        function = ir.Function(module, ir.FunctionType(number, [number]), "structsvm_tried")
        ir.IRBuilder(function.append_basic_block()).ret(function.args[0])
        made.add_ir_module(module)
        made.finalize()
        name, kind, _ = kept = made.serialize_using_object_code()
        _require((name, kind) == ("structsvm.tried", _BITCODE), "how a part is kept")
        read = _Part._unserialize(_Reader(context), kept)
        _require(_functions(read) == _functions(made) != [], "how a part is read")
        whole = _Part(context.codegen(), "structsvm.trying")
        whole.add_linking_library(read)
        whole.finalize()
    _require(_names(JITCodeLibrary.finalize) >= _STEPS_LEFT_OUT, "the steps of compiling")
    _require(_names(type(context).get_executable) >= _ASKED, "what is asked of machine code")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise NotImplementedError(f"numba {numba.__version__} has changed {what}")


def _names(method: Any) -> set[str]:
    return set(method.__code__.co_names)


def _functions(library: Any) -> list[str]:
    return [str(function) for function in library._get_module_for_linking().functions]


def _nothing(x: Any) -> Any:
    """Return x, as a trivial part."""
    return x


def _something(_x: Any) -> int:
    """Return 2, in place of the part."""
    return 2


def _not_inserted(*_: Any) -> None:
    """Do not register the compiled result, because Python cannot call it."""


def _rebuilt(context: Any, kept: tuple[Any, ...]) -> Any:
    """Return a cached part; None if the cache entry is not a part, so that numba compiles it again."""
    if kept[0][1] != _BITCODE:
        return None
    return CompileResult._rebuild(_Reader(context), *kept)._replace(target_context=context)


class _PartCompiler(Compiler):  # type: ignore[misc]
    """Compile a function to be linked into others."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, ending in a library without machine code."""
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()  # type: ignore[no-any-return]


class _Reader:
    """Wrap a numba target so that its libraries are read as parts."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def codegen(self) -> "_Reader":
        """Return itself, which reads libraries."""
        return self

    def unserialize_library(self, kept: tuple[Any, ...]) -> "_Part":
        """Read a part."""
        return _Part._unserialize(self, kept)  # type: ignore[no-any-return]

    def create_library(self, name: str) -> "_Part":
        """Return an empty part."""
        return _Part(self._context.codegen(), name)


class _Part(JITCodeLibrary):  # type: ignore[misc]
    """LLVM bitcode to be linked into other code."""

    @property
    def codegen(self) -> "_Part":
        """Itself, because numba calls `set_env` on it."""
        return self

    def set_env(self, *_: Any) -> None:
        """Do nothing: a part has no environment."""

    def get_pointer_to_function(self, _name: str) -> int:
        """Return 0: a part has no address."""
        self._ensure_finalized()
        return 0

    def serialize_using_object_code(self) -> tuple[Any, ...]:
        """Return the bitcode for the cache."""
        return self.serialize_using_bitcode()  # type: ignore[no-any-return]

    def _optimize_final_module(self) -> None:
        """Do nothing: the caller optimises."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
