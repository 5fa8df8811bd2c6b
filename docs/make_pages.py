"""Makes the pages and tables that follow from the source: the layout, the tables of methods, the list of examples.

Run it after a module was added, moved or renamed, or a method's declaration was changed: ``python docs/make_pages.py``.
A test compares the pages with the source.
"""

import ast
import json
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from stickslip.episodes import TASKS, Task
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
`coulomb/admm` solves the same problem by ADMM. What a method cannot honour of a scene is a warning by name, but for
the stiffness and damping that rigid contacts do without.
[Choosing a method](../choosing.md) says which one when. `python docs/make_pages.py` makes this page from what the
methods declare.

"""
EXAMPLES_INTRODUCTION = """\
# Examples

Each example is a flat script of at most 60 lines that takes a few seconds and opens no window; `train_hopper_sb3` takes
some minutes. The tests run all of them.

| script | what it shows |
| --- | --- |
"""
SQUAT = ("expo", "variational", "coulomb/pgs", "semi-implicit-euler", "rk4", "mujoco")
"""Methods that README.md shows."""


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


def table(page: str, heading: str) -> list[list[str]]:
    """The cells of the first table under a heading of a page."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8").partition(f" {heading}\n")[2]
    found = re.search(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    assert found, f"{page}: no table under {heading!r}"
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in found[0].splitlines()]


def as_markdown(rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def squat() -> str:
    """A part of the table of choosing.md: the methods and columns that README.md shows."""
    header, rule, *rows = table("choosing.md", "A robot on stiff feet, under control")
    names = ("method", "dt", "× real time", "error [mm]", "energy gained [J]", "order", "longest stable step")
    columns = [header.index(name) for name in names]
    chosen = {row[0].strip("`"): row for row in rows}
    return as_markdown([[row[c] for c in columns] for row in (header, rule, *(chosen[name] for name in SQUAT))])


def dynamics() -> str:
    """The tables of benchmarks.md, a column per robot."""
    tables = ("Rigid-body algorithms, median µs per call", "Derivatives")
    rows = [row for heading in tables for row in table("benchmarks.md", heading)[2:]]
    times = {(robot, algorithm): (ours, other, ratio) for robot, algorithm, ours, other, ratio, *_ in rows}
    header = ["", "Solo12 ours", "Pinocchio", "ratio", "Romeo ours", "Pinocchio", "ratio"]
    lines = [[name, *times["solo12", name], *times["romeo", name]] for robot, name in times if robot == "solo12"]
    return as_markdown([header, ["---"] * len(header), *lines])


def readme() -> str:
    """README.md with its tables made anew."""
    return tables_made(ROOT / "README.md", squat=squat, methods=methods, dynamics=dynamics)


def tables_made(page: Path, **makers: Callable[[], str]) -> str:
    """A page with its tables made anew, each between two marks."""
    text = page.read_text(encoding="utf-8")
    for name, make in makers.items():
        begin, end = f"<!-- {name}: made by docs/make_pages.py -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{make()}{end}{rest.partition(end)[2]}"
    return text


def tasks_table() -> str:
    """A row per task of ``stickslip.episodes``, from what it declares."""
    heading = ["environment", "observation", "action", "reward of an action", "fails if", "longest", "randomised"]
    rows = [heading, ["---"] * 7]
    for task in TASKS.values():
        moved = [*task.action_names[:3], "…"] if len(task.action_names) > 6 else task.action_names
        observed, varied = count_of(task), task.variations
        ranges = "; ".join(f"{name} {what.low:g} to {what.high:g}" for name, what in varied.items())
        rows.append([
            f"`stickslip/{task.name}-v0`: {task.summary}", f"{observed}: {'; '.join(task.observed)}",
            f"{len(task.action_names)}: {'; '.join(moved)}", task.rewarded, task.fails, f"{task.seconds:g} s", ranges,
        ])  # fmt: skip
    return as_markdown(rows)


def count_of(task: type[Task]) -> int:
    """Numbers that are observed; each of the words ends with how many they are."""
    return sum(int(words.rpartition("(")[2].rstrip(")")) for words in task.observed)


def learned_table() -> str:
    """Returns by method, from what ``stickslip learn`` wrote."""
    numbers = json.loads((ROOT / "docs" / "images" / "learn-hopper.json").read_text(encoding="utf-8"))
    (name, unit), own = numbers["measured"], numbers["judged"][0]["mean"]
    rows = [["method", "dt [ms]", "return", "of its own", "length [s]", f"{name} [{unit}]", "failed"], ["---"] * 7]
    for each in [*numbers["judged"], {**numbers["random"], "method": "random actions"}]:
        label = f"`{each['method']}`{each['remark']}" if each["method"] != "random actions" else each["method"]
        if each["why_not"]:
            rows.append([label, "–", each["why_not"], "", "", "", ""])
            continue
        rows.append([
            label, f"{1e3 * each['dt']:g}", f"{each['mean']:.0f} ± {each['deviation']:.0f}",
            f"{each['mean'] / own:.0%}" if own > 0 else "", f"{each['seconds']:.1f}", f"{each['measured']:.1f}",
            f"{each['failed']} of {each['episodes']}",
        ])  # fmt: skip
    return as_markdown(rows)


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
    ROOT / "docs" / "environments.md": partial(
        tables_made, ROOT / "docs" / "environments.md", tasks=tasks_table, learn=learned_table
    ),
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
