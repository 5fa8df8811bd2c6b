"""Every module lies where its users are: what one method alone uses lies in that method's folder."""

import ast
import runpy
from collections import defaultdict
from pathlib import Path

import typer

import stickslip
from stickslip.cli import app
from stickslip.cli.reproduce import PAPERS

SOURCE = Path(stickslip.__file__).parent
ROOT = Path(__file__).parents[1]


def import_graph(source):
    """The set of importing modules of every module below ``source``, by their paths without suffix."""
    modules = {path.relative_to(source).with_suffix("").as_posix(): path for path in source.rglob("*.py")}
    users = defaultdict(set)
    for module, path in modules.items():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("stickslip"):
                names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for name in names:
                used = name.removeprefix("stickslip").lstrip(".").replace(".", "/")
                for target in (used, f"{used}/__init__".lstrip("/")):
                    if target in modules and target != module:
                        users[target].add(module)
    return modules, users


def method_of(module):
    """The method in whose folder a module lies, or None."""
    parts = module.split("/")
    return parts[1] if parts[0] == "methods" and len(parts) > 2 and parts[1] != "soft" else None


def misplaced(source):
    """{module: method} of modules outside the only method that uses them; public ones may lie where they like."""
    modules, users = import_graph(source)
    found = {}
    for module in modules:
        using = {user for user in users[module] if not user.startswith("lab/")}
        if "__init__" in using or module.endswith("__init__") or not using:
            continue
        methods = {method_of(user) for user in using}
        if len(methods) == 1 and None not in methods and method_of(module) not in methods:
            found[module] = methods.pop()
    return found


def test_what_one_method_alone_uses_lies_in_its_folder():
    assert not misplaced(SOURCE)


def test_a_misplaced_module_is_named(tmp_path):
    (tmp_path / "methods" / "expo").mkdir(parents=True)
    (tmp_path / "math").mkdir()
    (tmp_path / "methods" / "expo" / "expo.py").write_text("from stickslip.math.modes import averages")
    (tmp_path / "math" / "modes.py").write_text("averages = 1")
    assert misplaced(tmp_path) == {"math/modes": "expo"}


def test_no_module_is_without_users():
    """Code that nobody imports is dead; what users import themselves is in a package's ``__init__``, and the command
    line finds benchmarks and papers by their names."""
    modules, users = import_graph(SOURCE)
    unused = {module for module in modules if not users[module] and not module.endswith("__init__")}
    by_name = {f"lab/bench/{name}" for name in typer.main.get_command(app).commands["bench"].commands}
    by_name |= {"lab/papers/" + paper.where.partition(":")[0].replace(".", "/") for paper in PAPERS}
    assert unused - by_name == {"__main__"}


def test_pages_that_follow_from_the_source_are_up_to_date():
    """``python docs/make_pages.py`` makes them."""
    for page, make in runpy.run_path(str(ROOT / "docs" / "make_pages.py"))["PAGES"].items():
        assert page.read_text() == make(), page
    assert len((ROOT / "docs" / "layout.md").read_text().splitlines()) < 150
