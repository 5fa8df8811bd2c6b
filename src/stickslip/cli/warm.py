"""``stickslip warm``: compile the kernels of methods ahead of time."""

from __future__ import annotations

from typing import Annotated

import typer


def warm(
    methods: Annotated[
        list[str] | None, typer.Argument(help="methods such as expo or coulomb/admm (default: all of them)")
    ] = None,
    jobs: Annotated[int | None, typer.Option(help="processes side by side (default: one per core)", min=1)] = None,
) -> None:
    """Compile the kernels of methods side by side, so that their first step does not have to wait.

    Examples: [bold]stickslip warm[/bold], [bold]stickslip warm expo coulomb/pgs[/bold]
    """
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from stickslip._jit import CACHE_DIR
    from stickslip.lab.warm import warm as compile_kernels

    table = Table("method", "first step [s]", title="Kernels are ready", title_justify="left")
    for method, answer in compile_kernels(methods, jobs).items():
        table.add_row(method, escape(answer) if isinstance(answer, str) else f"{answer:.1f}")
    console = Console()
    console.print(table)
    console.print(f"They are kept in {CACHE_DIR}", soft_wrap=True, highlight=False, markup=False)
