"""Makes the pages and tables that follow from the source: the layout, the tables of methods, the list of examples.

Run it after a module was added, moved or renamed, or a method's declaration was changed: ``python docs/make_pages.py``.
A test compares the pages with the source.
"""

import ast
import re
import sys
from functools import partial
from pathlib import Path

from stickslip.methods.registry import METHODS

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "tasks"))
import pages as task_pages  # noqa: E402 - it lies in the folder that was just added
import tasks  # noqa: E402

SOURCE = ROOT / "src" / "stickslip"
INTRODUCTION = """\
# Layout

This page is a map of `src/stickslip`. Each row is a room: a folder, what it holds, and its modules. Hold the pointer
over a module to read its first line. [Architecture](architecture.md) explains how data flows through the rooms.

`python docs/make_pages.py` makes this page from the source.

| folder | what it holds | modules |
| --- | --- | --- |
"""
METHODS_INTRODUCTION = """\
# Methods

A method is a name, or a name and a variant: `coulomb` is `coulomb/pgs`, Coulomb's law solved by Gauss–Seidel, and
`coulomb/admm` solves the same problem by ADMM. What a method cannot honour of a scene is a warning by name.
[Choosing a method](../choosing.md) says which one when. `python docs/make_pages.py` makes this page from what the
methods declare.

"""
EXAMPLES_INTRODUCTION = """\
# Examples

Each example is a flat script of at most 60 lines that takes a few seconds and opens no window. The tests run all of
them.

| script | what it shows |
| --- | --- |
"""
BEGIN, END = "<!-- methods: made by docs/make_pages.py -->\n", "<!-- end of methods -->\n"


def first_line(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def link(path: Path) -> str:
    """A module as a link to its file, with its first line as the title."""
    title = re.sub('"(.*?)"', r"“\1”", first_line(path)).replace("|", "\\|")
    return f'[{path.stem}](../src/stickslip/{path.relative_to(SOURCE).as_posix()} "{title}")'


def layout() -> str:
    """The page, one row per package, parents first."""
    rows = []
    for package in sorted(SOURCE.rglob("__init__.py"), key=lambda path: path.parent.relative_to(SOURCE).parts):
        folder = package.parent.relative_to(SOURCE).as_posix()
        modules = sorted(path for path in package.parent.glob("*.py") if path != package)
        name = "`stickslip`" if folder == "." else f"`{folder}/`"
        summary = first_line(package).replace("|", "\\|")
        rows.append(f"| {name} | {summary} | {' · '.join(link(path) for path in modules)} |")
    return INTRODUCTION + "\n".join(rows) + "\n"


def methods(pages: str = "docs/") -> str:
    """The table of methods, from what they declare. ``pages`` leads to docs/."""
    rows = ["| method | what it is | honours | order | limit on dt |", "| --- | --- | --- | --- | --- |"]
    for name, method in METHODS.items():
        declared = method.capabilities
        order = "by tolerance" if method.by_tolerance else str(declared.order)
        honours = ", ".join(sorted(declared.honours)) or "–"
        first = f"[`{name}`]({pages}{declared.page or f'methods/{name}.md'})"
        rows.append(f"| {first} | {declared.summary} | {honours} | {order} | {declared.stability} |")
    return "\n".join(rows) + "\n"


def readme() -> str:
    """README.md with its table of methods made anew."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.sub(f"(?<={BEGIN}).*(?={END})", lambda _: methods(), text, flags=re.DOTALL)


def methods_page() -> str:
    """The index of the methods' pages."""
    return METHODS_INTRODUCTION + methods("../")


def examples_page() -> str:
    """A row per example: its name and the first line of its docstring."""
    paths = sorted((ROOT / "examples").glob("*.py"))
    return EXAMPLES_INTRODUCTION + "".join(
        f"| [{path.stem}](../examples/{path.name}) | {first_line(path)} |\n" for path in paths
    )


PAGES = {
    ROOT / "docs" / "layout.md": layout,
    ROOT / "docs" / "methods" / "index.md": methods_page,
    ROOT / "docs" / "examples.md": examples_page,
    ROOT / "README.md": readme,
    ROOT / "docs" / "tasks.md": task_pages.table,
    **{
        ROOT / "docs" / "coming-from" / f"{task_pages.name(module)}.md": partial(task_pages.coming_from, module)
        for module in map(tasks.module, tasks.MODULES)
    },
}

if __name__ == "__main__":
    for page, make in PAGES.items():
        page.write_text(make(), encoding="utf-8")
