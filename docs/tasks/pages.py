"""The pages "Coming from …" and the table of tasks, made from the code of the tasks."""

from types import ModuleType

from tasks import MODULES, code, count, module, tasks

TABLE = """\
# {title} tasks, there and here

These are things that people do every day with MuJoCo, Pinocchio, Drake, Gymnasium and Brax. The table counts the
lines of code that each takes there and here. Lines are counted by `python docs/tasks/tasks.py`: without imports,
comments and blank lines, at 120 columns, formatted by ruff. Each title leads to the code of both.

Of these {number} tasks, {possible} can be done here: {shorter} in fewer lines, {equal} in as many, {longer} in more
(at most {most} more). What is not here yet is named in the table.

The tests run our side of every task, and MuJoCo's and Pinocchio's; where both sides give numbers, the tests compare
them. The code for Drake, Gymnasium and Brax was tried with the version that its page names, by `python
docs/tasks/tasks.py from_drake` and the like.

| task | simulator | lines there | lines here |
| --- | --- | --- | --- |
"""


def name(of: ModuleType) -> str:
    """The name of the page of a simulator."""
    return of.__name__.replace("_", "-").replace("from-", "")


def slug(title: str) -> str:
    """The anchor of a heading."""
    return "".join(c for c in title.lower() if c.isalnum() or c in "- ").replace(" ", "-")


def block(text: str) -> str:
    """Code that another test runs than that of the page."""
    return f"```py\n{text}```\n"


def side_by_side(left: str, right: str) -> str:
    """Two blocks; the site shows them beside each other."""
    return f'<div class="there-and-here" markdown>\n\n{left}\n{right}\n</div>\n'


def coming_from(of: ModuleType) -> str:
    """The page of one simulator: what differs, what is given, and every task in both ways."""
    given = side_by_side(block(code(of.given_there)), block(code(of.given_here)))
    parts = [
        f"# Coming from {of.NAME}\n",
        of.INTRODUCTION,
        f"Below, each task is first in {of.NAME}'s code (version {of.TRIED}) and then in ours. All tasks are in\n"
        "[one table](../tasks.md). `python docs/make_pages.py` makes this page from\n"
        f"[code that {of.RUN}](../tasks/{of.__name__}.py).\n",
        "## What is given\n",
        of.GIVEN,
        given,
    ]
    for task in tasks(of):
        parts.append(f"## {task.title}\n")
        here = f"{task.here[0].upper()}{task.here[1:]}.\n" if isinstance(task.here, str) else block(code(task.here))
        parts.append(side_by_side(block(code(task.there)), here))
    return "\n".join(parts)


def table() -> str:
    """The page with the table of all tasks."""
    rows, more = [], []
    for of in map(module, MODULES):
        for task in tasks(of):
            there = count(task.there)
            here = task.here if isinstance(task.here, str) else str(count(task.here))
            rows.append(
                f"| [{task.title}](coming-from/{name(of)}.md#{slug(task.title)}) | {of.NAME} | {there} | {here} |"
            )
            if not isinstance(task.here, str):
                more.append(count(task.here) - there)
    counts = {
        "title": "Fifty" if len(rows) == 50 else len(rows),
        "number": len(rows), "possible": len(more), "shorter": sum(k < 0 for k in more),
        "equal": sum(k == 0 for k in more), "longer": sum(k > 0 for k in more), "most": max(0, *more),
    }  # fmt: skip
    return TABLE.format(**counts) + "\n".join(rows) + "\n"
