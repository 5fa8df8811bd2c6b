"""``stickslip doctor``: what is wrong with a model, before simulating it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stickslip.files import check_writable, write_json


def doctor(
    model: Annotated[str, typer.Argument(help="an MJCF or URDF file, or the name of a bundled robot")],
    floating_base: Annotated[bool, typer.Option(help="free the root link of a URDF")] = False,
    package_dir: Annotated[list[Path] | None, typer.Option(help="where package:// meshes live (repeatable)")] = None,
    unreadable_meshes: Annotated[str, typer.Option(help="error, replace or drop")] = "error",
    ignore: Annotated[list[str] | None, typer.Option(help="feature to leave out (repeatable), or 'all'")] = None,
    json: Annotated[Path | None, typer.Option(help="write the findings to this file")] = None,
) -> None:
    """Examine a model; the exit status is 1 if something is wrong with it.

    Example: [bold]stickslip doctor my_robot.urdf --floating-base[/bold]
    """
    from stickslip.model.doctor import examine
    from stickslip.model.scene import BUNDLED

    check_writable(json)
    report = examine(
        BUNDLED.get(model, model),
        floating_base=floating_base,
        package_dirs=package_dir or (),
        unreadable_meshes=unreadable_meshes,
        ignore="all" if ignore == ["all"] else tuple(ignore or ()),
    )
    report.print()
    if json is not None:
        write_json(json, report.to_dict())
    raise typer.Exit(report.exit_code)
