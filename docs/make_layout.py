"""Makes docs/layout.md, the map of the source, from the first lines of packages and modules.

Run it after a module was added, moved or renamed: ``python docs/make_layout.py``. A test compares the page with the
source.
"""

import ast
from pathlib import Path

DOCS = Path(__file__).parent
SOURCE = DOCS.parent / "src" / "stickslip"
PAGE = DOCS / "layout.md"
INTRODUCTION = """\
# Layout

This page is a map of `src/stickslip`. Each row is a room: a folder, what it holds, and its modules. Hold the pointer
over a module to read its first line. [Architecture](architecture.md) explains how data flows through the rooms.

`python docs/make_layout.py` makes this page from the source.

| folder | what it holds | modules |
| --- | --- | --- |
"""


def first_line(path: Path) -> str:
    """The first line of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def link(path: Path) -> str:
    """A module as a link to its file, with its first line as the title."""
    title = first_line(path).replace('"', "'").replace("|", "\\|")
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


if __name__ == "__main__":
    PAGE.write_text(layout(), encoding="utf-8")
    print(f"{PAGE.name}: {len(layout().splitlines())} lines")
