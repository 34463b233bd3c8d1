"""How numba compiles functions that compiled ones alone call: to code for LLVM, and no further.

Numba makes machine code of each function. It also keeps the function's code for LLVM, links that into each function
that calls it, and lets LLVM optimise the whole. A function that only compiled ones call, a *part*, needs no machine
code of its own, nor to be optimised by itself: leaving both out saves a sixth of the time of a first fit.

What this stands on is private to numba. `try_out` tells whether the numba that is installed still has it, and means the
same by it.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba.core.codegen import JITCodeLibrary  # structsvm.compute.environment has imported numba
from numba.core.compiler import Compiler, CompileResult
from numba.core.compiler_lock import global_compiler_lock

from structsvm.compute.environment import numba

_BITCODE = "bitcode"
"""What numba calls code for LLVM, as opposed to machine code, in its files."""

_STEPS_LEFT_OUT = {"_optimize_final_module", "_finalize_final_module"}
"""Methods by which numba optimises code once more, and makes machine code of it: `_Part` does neither."""

_ASKED = {"get_pointer_to_function", "set_env"}
"""Methods that numba calls for what is machine code: `_Part` answers that there is none."""


def part(function: Callable[..., Any], fastmath: Any, alone: Callable[[], Callable[..., Any]]) -> Any:
    """Return numba's dispatcher of a function that is compiled to be linked into others.

    Parameters
    ----------
    function : plain function.
    fastmath : as `numba.njit` has it.
    alone : returns what runs where Python calls the function.
    """
    dispatcher = numba.njit(
        nogil=True, fastmath=fastmath, no_cpython_wrapper=True, no_cfunc_wrapper=True, pipeline_class=_PartCompiler
    )(function)
    dispatcher._insert = _not_inserted  # so that numba asks for what to call
    dispatcher._compile_for_args = lambda *_arguments: alone()
    return dispatcher


def read_as_part(dispatcher: Any) -> None:
    """Let what is read from disk be a part, too.

    Numba makes machine code of what it reads, and changes the code for LLVM by that. A function compiled with such code
    would round otherwise than one compiled with a part that is new, and fits of two processes would differ.
    """
    if hasattr(dispatcher._cache, "_impl"):
        dispatcher._cache._impl.rebuild = _rebuilt


def try_out() -> None:
    """Make, keep, read and link a part of one instruction, and see that Python calls what stands in for a part.

    Nothing is compiled: it takes some milliseconds.

    Raises
    ------
    Exception : of any kind, where this numba lacks a name, or where it means something else.
    """
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
    """Be compiled."""
    return x


def _something(_x: Any) -> int:
    """Be called instead."""
    return 2


def _not_inserted(*_: Any) -> None:
    """Do not offer to Python what it cannot call."""


def _rebuilt(context: Any, kept: tuple[Any, ...]) -> Any:
    """Return what was kept; None where it is no part, for which numba compiles it again."""
    if kept[0][1] != _BITCODE:
        return None
    return CompileResult._rebuild(_Reader(context), *kept)._replace(target_context=context)


class _PartCompiler(Compiler):  # type: ignore[misc]
    """Compiles a function to be linked into others."""

    def define_pipelines(self) -> list[Any]:
        """Return the passes of numba, which end in a library that is never made machine code."""
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()  # type: ignore[no-any-return]


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
