"""Kernels that compile once.

Numba compiles every function as if somebody called it from Python: it inlines the callees, optimises the whole tree
below it, emits machine code and adds a wrapper that unpacks Python's arguments. In a tree of kernels that is ten
levels deep the same code is so optimised and emitted ten times, and only the top is ever called.

A ``Kernel`` has two forms, each made when it is first needed:

* The callee form is what other kernels link: LLVM's intermediate code of this one function, and no machine code.
* The entry form is what Python calls: the callee form and everything below it, linked, optimised and emitted once,
  with wrappers around it.

A kernel that is ``separate`` is never linked into its callers: they call the machine code of its entry form. So a large
kernel with many callers is optimised and emitted once for all of them.

A kernel that is ``deferred`` is separate, and its callers are compiled without it: they call what an address in memory,
the slot, points to. ``Kernel.prepare`` compiles the kernel and fills the slot. So a scene of spheres does not wait for
the contacts of meshes. A deferred kernel returns nothing, because its callers do not know what it would return.

This rests on internals of Numba: ``_jit`` imports it only with a version of Numba that it was checked with.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import os
import sys
from functools import cache, partial
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from llvmlite import ir
from numba.core import (
    caching,
    codegen,
    compiler,
    config,
    environment,
    funcdesc,
    registry,
    sigutils,
    typeinfer,
    types,
    typing,
)
from numba.core.dispatcher import _FunctionCompiler  # type: ignore[attr-defined]
from numba.core.runtime import rtsys

from stickslip._argument_types import writable

Dispatcher: Any = registry.CPUDispatcher
NEEDED = (
    (codegen.JITCodeLibrary, "_optimize_final_module _optimize_functions _get_module_for_linking finalize"),
    (codegen.JITCodeLibrary, "_finalize_dynamic_globals enable_object_caching"),
    (compiler.Compiler, "compile_extra"),
    (compiler.Flags, "values no_compile no_cpython_wrapper no_cfunc_wrapper forceinline"),
    (caching.CompileResultCacheImpl, "get_filename_base check_cachable reduce rebuild"),
    (caching.FunctionCache, "_impl_class load_overload save_overload"),
    (caching._CacheLocator, "get_cache_path get_source_stamp get_disambiguator from_function ensure_cache_path"),
    (compiler.CompileResult, "_find_referenced_environments"),
    (_FunctionCompiler, "compile _compile_core _customize_flags"),
    (environment, "lookup_environment"),
    (Dispatcher, "compile add_overload get_call_template get_overload nopython_signatures typeof_pyval"),
)
"""What is used of Numba's internals."""
UNKNOWN_TO_C = (types.Omitted, types.Optional, types.Generator)
"""Types of arguments and results for which Numba makes no wrapper for C."""


def complete() -> bool:
    """Whether this version of Numba has all of them."""
    return all(hasattr(owner, name) for owner, names in NEEDED for name in names.split())


class CalleeLibrary(codegen.JITCodeLibrary):
    """The code of one kernel, and which libraries it needs; it never becomes machine code by itself."""

    identity = ("", "", (), "")
    """The kernel's module, name and types of arguments, and the symbol of its function."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True
        make_shareable(self._final_module)
        self._finalize_dynamic_globals()

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout
        for function in ll_module.functions:
            if not function.is_declaration:
                passes, builder = self._codegen._function_pass_manager()
                passes.run(function, builder)

    def _get_module_for_linking(self) -> Any:
        """For functions that are no kernels: Numba links one module, so it has to hold everything."""
        self._ensure_finalized()
        if self._shared_module is None:
            self._shared_module = gathered(self)
        return self._shared_module


def make_shareable(module: Any) -> None:
    """Let several modules define the functions of this one, and let the optimiser drop those that nobody calls."""
    for function in module.functions:
        if not function.is_declaration and function.linkage == llvm.Linkage.external:
            function.linkage = "linkonce_odr"


def gathered(library: Any) -> Any:
    """One module with the code of a callee's library and of all that it needs, each once.

    Callers come before their callees, because LLVM's linker drops a shareable function that nobody has called so far.
    """
    callees_first: list[Any] = []
    seen = set()

    def visit(needed: Any) -> None:
        seen.add(needed)
        needed._ensure_finalized()
        library._reload_init.update(needed._reload_init)
        for other in needed._linking_libraries if isinstance(needed, CalleeLibrary) else ():
            if other in seen:
                continue
            if isinstance(other, CalleeLibrary) and is_separate(*other.identity):
                load = partial(load_separate, *other.identity)
                load()
                seen.add(other)
                library._reload_init.add(load)  # another process runs it before it loads the caller's machine code
            else:
                visit(other)
        callees_first.append(needed)

    visit(library)
    module = library._final_module.clone()
    for other in reversed(callees_first[:-1]):
        own = other._final_module if isinstance(other, CalleeLibrary) else other._get_module_for_linking()
        module.link_in(own, preserve=True)
    return module


UNNEEDED = {
    "WithLifting",
    "InlineClosureLikes",
    "RewriteSemanticConstants",
    "DeadBranchPrune",
    "RewriteDynamicRaises",
    "LiteralUnroll",
    "MakeFunctionToJitFunction",
    "InlineInlinables",
    "FindLiterallyCalls",
    "LiteralPropagationSubPipelinePass",
    "InlineOverloads",
    "NopythonRewrites",
    "AnnotateTypes",
    "DumpParforDiagnostics",
}
"""Numba's passes for what no kernel has: closures, contexts, exceptions, array expressions, unrolled tuples."""


class CalleePipeline(compiler.Compiler):
    """Numba's compiler with fewer passes, into a library that stays without machine code."""

    def define_pipelines(self) -> list[Any]:
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [item for item in pipeline.passes if item[0].__name__ not in UNNEEDED]
        return pipelines

    def compile_extra(self, func: Any) -> Any:
        self.state.library = CalleeLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


class QuickFlags(compiler.Flags):
    """Numba's options of a function, compared quickly: type inference does it for every call of a built-in function."""

    _hash = hash(compiler.Flags())  # Numba's hash is that of the names of the options, so it is the same for all

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, compiler.Flags) and (self._values == other._values or self.values() == other.values())


class CalleeCompiler(_FunctionCompiler):
    """Numba's compilation of a function, with what makes it a callee form."""

    def _customize_flags(self, flags: Any) -> Any:
        flags = QuickFlags(flags)
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        return flags

    def _compile_core(self, args: Any, return_type: Any) -> Any:
        result = super()._compile_core(args, return_type)
        result.library.identity = identity(result.fndesc, args)
        result = result._replace(entry_point=object())  # the name under which callers find it
        result.target_context.insert_user_function(result.entry_point, result.fndesc, [result.library])
        return result


class Place(caching._CacheLocator):
    """Where a kernel is kept: a folder per package. The folder above them is named by a hash of the source, so that
    neither the path nor the time of the source file counts."""

    def __init__(self, py_func: Any) -> None:
        folder: Any = config
        self.path = os.path.join(folder.CACHE_DIR, *py_func.__module__.split(".")[1:-1])

    def get_cache_path(self) -> str:
        return self.path

    def get_source_stamp(self) -> int:
        return 0

    def get_disambiguator(self) -> None:
        return None

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Place:
        return cls(py_func)


class EntryStore(caching.CompileResultCacheImpl):
    """How entry forms are kept on disk."""

    _locator_classes: Any = (Place,)


class CalleeStore(EntryStore):
    """How callee forms are kept on disk: the code of the kernel itself, and which kernels it calls."""

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        return "callee-" + super().get_filename_base(fullname, abiflags)

    def check_cachable(self, result: Any) -> bool:
        result.library._ensure_finalized()
        kernels = [other for other in result.library._linking_libraries if isinstance(other, CalleeLibrary)]
        return not result.library.has_dynamic_globals and all(findable(*other.identity) for other in kernels)

    def reduce(self, result: Any) -> tuple:
        module, kernels = result.library._final_module.clone(), []
        for other in result.library._linking_libraries:
            if isinstance(other, CalleeLibrary):
                kernels.append(other.identity)
            elif other is not rtsys.library:
                module.link_in(other._get_module_for_linking(), preserve=True)
        description = result.fndesc
        description.typemap = description.calltypes = None
        others, reload = result._find_referenced_environments(), list(result.library._reload_init)
        state = (result.library.name, module.as_bitcode(), kernels, description)
        return *state, result.environment, result.signature, reload, others

    def rebuild(self, context: Any, payload: tuple) -> Any:
        name, bitcode, kernels, description, env, signature, reload_init, others = payload
        for initialise in reload_init:
            initialise()
        needed = [found(*kernel) for kernel in dict.fromkeys(kernels)]
        if None in needed:
            return None
        library = CalleeLibrary(context.codegen(), name)
        library._final_module = llvm.parse_bitcode(bitcode)
        library._linking_libraries = [*needed, rtsys.library]
        library._reload_init.update(reload_init)
        library._finalized = True
        library.identity = identity(description, signature.args)
        return compiler.compile_result(
            target_context=context, typing_context=context.typing_context, library=library, environment=env,
            entry_point=object(), fndesc=description, signature=signature, objectmode=False, lifted=(),
            reload_init=reload_init, referenced_envs=others, metadata={},
        )  # fmt: skip


class CheckedCache(caching.FunctionCache):
    """Numba's cache, safe against processes that save two signatures of a function at the same time as one file."""

    _impl_class: Any = EntryStore

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        result, (args, _) = super().load_overload(sig, target_context), sigutils.normalize_signature(sig)
        return result if result and tuple(result.signature.args) == tuple(args) else None


class CalleeCache(CheckedCache):
    """The cache of callee forms."""

    _impl_class = CalleeStore


def identity(description: Any, args: Any) -> tuple:
    """How another process finds the callee form of a kernel."""
    return description.modname, description.qualname, tuple(args), description.llvm_func_name


def findable(module: str, name: str, *_: Any) -> bool:
    """Whether another process finds this kernel by its name, and its source is part of the cache's name."""
    return module.startswith(f"{__package__}.") and isinstance(getattr(sys.modules.get(module), name, None), Kernel)


def is_separate(module: str, name: str, *_: Any) -> bool:
    """Whether the callers of this kernel call its machine code."""
    return findable(module, name) and getattr(sys.modules[module], name).separate


def load_separate(module: str, name: str, args: tuple, symbol: str) -> None:
    """Make the machine code of a separate kernel known by the symbol that its callers use."""
    owner = getattr(importlib.import_module(module), name)
    owner.compile(args)
    result = owner.overloads[args]
    llvm.add_symbol(symbol, result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


class Slot:
    """The memory that holds the address of a deferred kernel's machine code, which machine code knows by a symbol."""

    def __init__(self, symbol: str) -> None:
        self.filled = False
        self.stop = ctypes.CFUNCTYPE(None)(partial(stop, symbol))
        self.memory = ctypes.c_void_p(ctypes.cast(self.stop, ctypes.c_void_p).value)
        llvm.add_symbol(symbol, ctypes.addressof(self.memory))

    def fill(self, address: int) -> None:
        self.memory.value, self.filled = address, True


def stop(symbol: str) -> None:
    """What a slot points to before it is filled: its caller cannot go on."""
    print(f"the deferred kernel {symbol} was called before it was prepared", file=sys.stderr, flush=True)
    os.abort()


@cache
def slot(symbol: str) -> Slot:
    return Slot(symbol)


def slot_symbol(py_func: Any, args: tuple) -> str:
    kinds = hashlib.sha256(repr(args).encode()).hexdigest()[:16]
    return f"{py_func.__module__}.{py_func.__qualname__}.{kinds}"


def found(module: str, name: str, args: tuple, symbol: str) -> Any:
    """The library of a kernel's callee form; None if a process that ran beside the first gave it another symbol."""
    callee = getattr(importlib.import_module(module), name).called
    callee.compile(args)
    result = callee.overloads[args]
    return result.library if result.fndesc.llvm_func_name == symbol else None


class Callee(Dispatcher):
    """The callee forms of a kernel."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals, targetoptions, CalleePipeline)
        self._compiler = CalleeCompiler(py_func, self.targetdescr, targetoptions, locals, CalleePipeline)

    def enable_caching(self) -> None:
        self._cache = CalleeCache(self.py_func)

    def add_overload(self, result: Any) -> None:
        self.overloads[tuple(result.signature.args)] = result


class ThroughSlot(Callee):
    """The callee forms of a deferred kernel: they call what its slot points to."""

    def compile(self, sig: Any) -> Any:
        args = tuple(sigutils.normalize_signature(sig)[0])
        if args not in self.overloads:
            self.add_overload(self.call(args))
        return self.overloads[args].entry_point

    def call(self, args: tuple) -> Any:
        context, symbol = self.targetctx, slot_symbol(self.py_func, args)
        description = funcdesc.FunctionDescriptor(
            native=True, modname=self.py_func.__module__, qualname=self.py_func.__qualname__, unique_name=symbol,
            doc="", typemap=None, restype=types.none, calltypes=None,
            args=tuple(f"a{k}" for k in range(len(args))), kws={},
            mangler=lambda *_, **__: f"{symbol}.call", argtypes=args,
        )  # fmt: skip
        code, kind = ir.Module(symbol), context.call_conv.get_function_type(types.none, args)
        function = ir.Function(code, kind, description.llvm_func_name)
        function.attributes.add("alwaysinline")
        builder = ir.IRBuilder(function.append_basic_block())
        target = builder.load(ir.GlobalVariable(code, kind.as_pointer(), symbol))
        builder.ret(builder.call(target, function.args))
        library = CalleeLibrary(context.codegen(), symbol)
        library.add_ir_module(code)
        library.finalize()
        library.identity = identity(description, args)
        library._reload_init.add(partial(slot, symbol))
        slot(symbol)
        result = compiler.compile_result(
            target_context=context, typing_context=context.typing_context, library=library, environment=None,
            entry_point=object(), fndesc=description, signature=typing.signature(types.none, *args), objectmode=False,
            lifted=(), reload_init=[], referenced_envs=[], metadata={},
        )  # fmt: skip
        context.insert_user_function(result.entry_point, description, [library])
        return result


def entry_form(callee: Any) -> Any:
    """Link, optimise and emit a callee form, with wrappers for Python and for C around it."""
    context, description = callee.target_context, callee.fndesc
    library = context.codegen().create_library(callee.library.name)
    library.enable_object_caching()
    library._final_module = gathered(callee.library)
    library._final_module.get_function(description.llvm_func_name).linkage = "external"
    wrapping = (library, description, callee.environment, callee.call_helper)
    with context.push_code_library(library):
        context.create_cpython_wrapper(*wrapping, release_gil=True)
        if not any(isinstance(kind, UNKNOWN_TO_C) for kind in (description.restype, *description.argtypes)):
            context.create_cfunc_wrapper(*wrapping)
    library.finalize()
    for variable in library._final_module.global_variables:
        known = environment.lookup_environment(variable.name)
        if known is not None:
            library.codegen.set_env(variable.name, known)
    function = context.get_executable(library, description, callee.environment)
    initialisers = list(callee.library._reload_init)
    return callee._replace(entry_point=function, library=library, reload_init=initialisers, metadata={})


class Kernel(Dispatcher):
    """A compiled function with a form for Python and a form for kernels."""

    separate = False
    """Whether callers call its machine code instead of linking its callee form."""

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None, deferred: bool = False) -> None:
        super().__init__(py_func, locals, targetoptions)
        self._callee = Callee(py_func, locals, targetoptions)
        self._callee._compiling_counter = self._compiling_counter  # how Numba notices recursion
        self._compiler.compile = self._compile_entry
        self.called = ThroughSlot(py_func, locals, targetoptions) if deferred else self._callee

    def enable_caching(self) -> None:
        self._cache = CheckedCache(self.py_func)
        self._callee.enable_caching()

    def _compile_entry(self, args: Any, return_type: Any) -> Any:
        self._callee.compile(args if return_type is None else typing.signature(return_type, *args))
        return entry_form(self._callee.overloads[tuple(args)])

    def typeof_pyval(self, val: Any) -> Any:
        return writable(super().typeof_pyval(val))

    def get_call_template(self, args: Any, kws: Any) -> Any:
        asked: Any = self.called if self._can_compile else super()
        return asked.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.called.compile(sigutils.normalize_signature(sig)[0])

    def prepare(self, *values: Any) -> None:
        """Compile a deferred kernel for values of these types, so that kernels can call it with them."""
        args = tuple(self.typeof_pyval(value) for value in values)
        place = slot(slot_symbol(self.py_func, args))
        if not place.filled:
            self.compile(args)
            result = self.overloads[args]
            place.fill(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def kernel(plain: Any, signatures: tuple, *, cache: bool, separate: bool = False, deferred: bool = False) -> Kernel:
    """The function and options of Numba's dispatcher ``plain``, in two forms."""
    made = Kernel(plain.py_func, plain.locals, plain.targetoptions, deferred)
    made.separate = separate
    if cache:
        made.enable_caching()
    if signatures:
        with typeinfer.register_dispatcher(made):
            for signature in signatures:
                made.compile(signature)
        made.disable_compile()
    return made
