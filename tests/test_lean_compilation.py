"""Kernels that compile once: what kernels call has no machine code, and what Python calls is emitted once."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import codegen, types

from stickslip import _jit, _lean
from stickslip._jit import compiled, kernel, template

FLOATS = types.Array(types.float64, 1, "C")


def family():
    """A fresh kernel that calls an inlined kernel and a kernel that is called, and both of these."""

    @kernel
    def twice(x):
        return 2.0 * x

    @kernel(inline=False)
    def shifted(x, i):
        x[i] = twice(x[i]) + 1.0
        return 0

    @kernel
    def all_shifted(x):
        for i in range(x.shape[0]):
            shifted(x, i)
        return twice(x[0])

    return all_shifted, shifted, twice


def callee(function, *types):
    """The callee form for these types of arguments."""
    return function._callee.overloads[types]


@pytest.fixture
def emitted(monkeypatch):
    """The names of the kernels that become machine code."""
    family()[0](np.ones(1))  # Numba's own run time is emitted with the first
    names = []
    finalize = codegen.JITCodeLibrary._finalize_specific
    monkeypatch.setattr(
        codegen.JITCodeLibrary,
        "_finalize_specific",
        lambda self: (names.append(self.name.rpartition(".")[2]), finalize(self)),
    )
    return names


def test_only_what_python_calls_becomes_machine_code(emitted):
    all_shifted, shifted, twice = family()
    x = np.arange(3.0)
    assert all_shifted(x) == 2.0
    np.testing.assert_array_equal(x, [1.0, 3.0, 5.0])
    assert emitted == ["all_shifted"]
    assert not shifted.overloads
    assert not twice.overloads


@pytest.mark.parametrize("which", [1, 2])
def test_a_callee_has_no_wrapper(which):
    functions = family()
    functions[0](np.ones(2))
    [result] = functions[which]._callee.overloads.values()
    defined = {f.name for f in result.library.get_defined_functions()}
    assert result.fndesc.llvm_func_name in defined
    assert result.fndesc.llvm_cpython_wrapper_name not in defined
    assert result.fndesc.llvm_cfunc_wrapper_name not in defined


def test_a_kernel_that_python_and_kernels_call_has_both_forms(emitted):
    all_shifted, _, twice = family()
    all_shifted(np.ones(2))
    form = callee(twice, types.float64)
    assert twice(3.0) == 6.0
    assert callee(twice, types.float64) is form  # typed and lowered once
    assert emitted == ["all_shifted", "twice"]

    @kernel
    def later(x):
        return twice(x) + 1.0

    assert later(3.0) == 7.0
    assert callee(twice, types.float64) is form


def test_wrappers_call_the_body_and_do_not_repeat_it():
    all_shifted, _, _ = family()
    all_shifted(np.ones(2))
    result = all_shifted.overloads[(FLOATS,)]
    function = result.fndesc
    for name in (function.llvm_cpython_wrapper_name, function.llvm_cfunc_wrapper_name):
        wrapper = str(result.library.get_function(name))
        assert f"@{function.llvm_func_name}(" in wrapper.partition("\n")[2]
        assert "fmul" not in wrapper


def test_the_results_are_those_of_numba():
    def polynomial(x, y):
        return x * y + x * x - y

    def applied(x, y, out):
        for i in range(x.shape[0]):
            out[i] = inner(x[i], y[i]) / 3.0
        return 0

    results = []
    for decorate in (kernel, numba.njit(fastmath={"contract"}, error_model="numpy", forceinline=True)):
        inner = decorate(polynomial)
        rng, out = np.random.default_rng(0), np.zeros(50)
        decorate(applied)(rng.normal(size=50), rng.normal(size=50), out)
        results.append(out)
    np.testing.assert_array_equal(*results)


def test_ordinary_numba_functions_call_kernels():
    all_shifted, _, twice = family()

    @numba.njit
    def user(x):
        return all_shifted(x) + twice(1.0)

    assert user(np.ones(2)) == 8.0


def test_kernels_are_arguments_of_kernels():
    _, _, twice = family()
    kind = types.FunctionType(types.float64(types.float64))
    apply = compiled(types.float64(kind, types.float64), lambda f, x: f(x) + 1.0)
    assert apply(twice, 2.0) == 5.0

    @template
    def both(f, x):
        return f(x) + f(x)

    @kernel
    def top(x):
        return both(twice, x)

    assert top(2.0) == 8.0


def test_arguments_may_have_defaults():
    @kernel
    def scaled(x, factor=3.0):
        return factor * x

    @kernel
    def top(x):
        return scaled(x) + scaled(x, 1.0)

    assert top(1.0) == 4.0
    assert scaled(1.0) == 3.0
    assert scaled(1.0, factor=2.0) == 2.0


def test_a_kernel_may_call_itself():
    @kernel(inline=False)
    def factorial(n):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    assert factorial(5) == 120


def test_the_forms_know_wrong_arguments():
    _, _, twice = family()
    with pytest.raises(numba.TypingError):
        twice("text")

    @kernel
    def top(x):
        return twice((x, x))

    with pytest.raises(numba.TypingError):
        top(1.0)


def deferred(function):
    """A deferred kernel; those outside the package are not deferred by ``kernel``."""
    return _lean.kernel(numba.njit(**_jit.OPTIONS)(function), (), cache=False, deferred=True)


def test_a_deferred_kernel_is_compiled_when_it_is_prepared(emitted):
    @deferred
    def rare(x, out):
        out[0] = 2.0 * x

    @kernel
    def top(x, out):
        if x > 0.0:
            rare(x, out)
        return out[0]

    out = np.ones(1)
    assert top(-1.0, out) == 1.0
    assert "rare" not in emitted
    assert not rare._callee.overloads  # not even its types are known
    _jit.prepare(rare, 0.0, out)
    assert top(3.0, out) == 6.0
    assert emitted.count("rare") == 1
    _jit.prepare(rare, 0.0, np.zeros(2))
    assert emitted.count("rare") == 1


KERNELS = """
from stickslip._jit import kernel

@kernel
def twice(x):
    return 2.0 * max(x, 1.0)

@kernel(inline=False)
def shifted(x):
    return twice(x) + 1.0

@kernel
def first(x):
    return shifted(x) + twice(x)

@kernel
def second(x):
    return shifted(x) - twice(x)

@kernel(deferred=True)
def rare(x):
    first(x)

@kernel
def third(x):
    if x < 0.0:
        rare(x)
    return twice(x)
"""
CALL = """
import sys
from numba.core import event
from stickslip import kernels

class Listener(event.Listener):
    names = []
    def on_start(self, e): self.names.append(e.data["dispatcher"].py_func.__name__)
    def on_end(self, e): pass

event.register("numba:compile", Listener())
print(getattr(kernels, sys.argv[1])(3.0), *(n for n in Listener.names if hasattr(kernels, n)))
"""


def test_what_is_compiled_is_kept_for_other_processes(tmp_path):
    package = tmp_path / "stickslip"
    package.mkdir()
    for name, text in {
        "__init__.py": "",
        "kernels.py": KERNELS,
        "_argument_types.py": Path(_jit.__file__).with_name("_argument_types.py").read_text(),
        "_jit.py": Path(_jit.__file__).read_text(),
        "_lean.py": Path(_lean.__file__).read_text(),
    }.items():
        (package / name).write_text(text)
    environment = {**os.environ, "STICKSLIP_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def call(name):
        command = [sys.executable, "-c", CALL, name]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        answer, *compiled = run.stdout.split()
        return float(answer), set(compiled)

    assert call("first") == (13.0, {"first", "shifted", "twice"})
    assert call("first") == (13.0, set())  # an entry needs no callees
    assert call("second") == (1.0, {"second"})  # callees serve other kernels, too
    assert call("shifted") == (7.0, {"shifted"})  # only linked and emitted
    assert call("twice") == (6.0, {"twice"})
    assert call("third") == (6.0, {"third"})  # what is deferred is not compiled
    assert call("third") == (6.0, set())


@pytest.fixture
def asked_anew():
    """The question about Numba's version is put again, and once more afterwards."""
    _jit.two_forms.cache_clear()
    yield
    _jit.two_forms.cache_clear()


@pytest.mark.parametrize(
    ("owner", "name", "value"), [(_jit, "CHECKED", ("0.1",)), (_lean, "NEEDED", ((codegen, "no_such_thing"),))]
)
@pytest.mark.usefixtures("asked_anew")
def test_an_unknown_numba_compiles_the_plain_way_and_says_so_once(monkeypatch, owner, name, value):
    monkeypatch.setattr(owner, name, value)
    with pytest.warns(RuntimeWarning, match="kernels compile the slow way") as caught:
        all_shifted, _, twice = family()
    assert len(caught) == 1
    assert not isinstance(twice, _lean.Kernel)
    assert all_shifted(np.arange(3.0)) == 2.0


def test_without_compilation_kernels_are_plain_functions():
    code = "from stickslip.math.spatial import cross; print(type(cross).__name__, cross(1, 0, 0, 0, 1, 0))"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert run.stdout == "function (0, 0, 1)\n"
