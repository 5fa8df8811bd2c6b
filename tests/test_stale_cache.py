"""Compiled code never outlives its source, and is reused while the source stands still.

Numba stamps cached code with the size and time of the caller's file only. These tests edit a *helper* in another file,
keeping both, which is the case where Numba alone returns the old answer.
"""

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import stickslip
from stickslip._jit import KEPT_CACHES, counts

SOURCE = Path(stickslip.__file__).parent

CALLER = """
from stickslip._jit import kernel
from stickslip.math.spatial import cross


@kernel
def third(ax, ay, az, bx, by, bz):
    return cross(ax, ay, az, bx, by, bz)[2]
"""
BEFORE, AFTER = "ax * by - ay * bx", "ax * by + ay * bx"  # of one length


@pytest.fixture
def package(tmp_path):
    """A small copy of the package: the decorator, the mathematics, and a kernel that calls a helper there."""
    root = tmp_path / "src" / "stickslip"
    shutil.copytree(SOURCE / "math", root / "math", ignore=shutil.ignore_patterns("__pycache__"))
    for module in ("_argument_types.py", "_jit.py", "_lean.py"):
        shutil.copy(SOURCE / module, root)
    (root / "__init__.py").write_text("")
    (root / "caller.py").write_text(CALLER)
    return root


def call(package, cache):
    """(1, 2, ·) × (3, 4, ·) in a fresh process: 1·4 − 2·3 = −2, and 1·4 + 2·3 = 10 after the edit."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    # -B: Python's own .pyc files go by size and time, too
    environment |= {"PYTHONPATH": str(package.parent), "STICKSLIP_CACHE_DIR": str(cache)}
    code = "from stickslip.caller import third; print(third(1.0, 2.0, 0.0, 3.0, 4.0, 0.0))"
    command = [sys.executable, "-B", "-c", code]
    return float(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)


def edit(path, before, after):
    """Replace text, keeping the file's size and times."""
    times = path.stat()
    text = path.read_text()
    assert before in text
    assert len(before) == len(after)
    path.write_text(text.replace(before, after))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def files(cache):
    return {path: path.stat().st_mtime_ns for path in cache.rglob("*") if path.is_file()}


def test_an_edited_helper_changes_the_answer_of_its_callers(package, tmp_path):
    cache = tmp_path / "cache"
    assert call(package, cache) == -2.0
    edit(package / "math" / "spatial.py", BEFORE, AFTER)
    assert call(package, cache) == 10.0
    edit(package / "math" / "spatial.py", AFTER, BEFORE)
    assert call(package, cache) == -2.0


def test_unchanged_source_reuses_compiled_code(package, tmp_path):
    cache = tmp_path / "cache"
    call(package, cache)
    first = files(cache)
    assert any(path.suffix == ".nbc" for path in first)
    call(package, cache)
    assert files(cache) == first


def test_only_the_last_versions_are_kept(package, tmp_path):
    cache = tmp_path / "cache"
    for version in range(KEPT_CACHES + 2):
        old = cache / f"{version:016x}"
        old.mkdir(parents=True)
        os.utime(old, (1e9 + version, 1e9 + version))
    (cache / "somebody's thesis").mkdir()
    os.utime(cache / "somebody's thesis", (1e9 - 1, 1e9 - 1))
    call(package, cache)
    kept = {path.name for path in cache.iterdir()}
    newest = {f"{version:016x}" for version in range(3, KEPT_CACHES + 2)}
    assert newest < kept
    assert "somebody's thesis" in kept
    assert len(kept) == KEPT_CACHES + 1


def file_of(module, name):
    """The file that ``from module import name`` reads."""
    base = SOURCE.joinpath(*module.split(".")[1:])
    candidates = (base / f"{name}.py", base / name / "__init__.py", base.with_suffix(".py"), base / "__init__.py")
    return next(path for path in candidates if path.exists())


def is_kernel(node):
    decorators = map(ast.unparse, getattr(node, "decorator_list", ()))
    return any(text.partition("(")[0] in ("kernel", "template") for text in decorators)


def read_by_kernels(tree):
    """The global names that kernels of a file read, also by way of the file's own constants."""
    made = {t.id: node.value for node in tree.body if isinstance(node, ast.Assign) for t in node.targets
            if isinstance(t, ast.Name)}  # fmt: skip
    todo = [statement for node in ast.walk(tree) if is_kernel(node) for statement in node.body]
    names = set()
    while todo:
        found = {node.id for node in ast.walk(todo.pop()) if isinstance(node, ast.Name)} - names
        names |= found
        todo += [made[name] for name in found & made.keys()]
    return names


def test_the_cache_is_named_by_all_files_whose_numbers_kernels_contain():
    missing, looked_at = set(), 0
    for path in SOURCE.rglob("*.py"):
        if not counts(path.relative_to(SOURCE).as_posix(), path.read_bytes()):
            continue
        tree = ast.parse(path.read_text())
        names = read_by_kernels(tree)
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("stickslip."):
                for name in (alias.name for alias in node.names if (alias.asname or alias.name) in names):
                    source = file_of(node.module, name)
                    looked_at += 1
                    if not counts(source.relative_to(SOURCE).as_posix(), source.read_bytes()):
                        missing.add((source.relative_to(SOURCE).as_posix(), name))
    assert looked_at > 500
    assert missing <= {("errors.py", "number")}  # a kernel has a variable of that name
