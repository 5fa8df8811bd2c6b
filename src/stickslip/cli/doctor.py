"""``stickslip doctor``: find faults of a model before simulating it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stickslip.cli.options import FloatingBase, Ignore, PackageDir, UnreadableMeshes, load_options
from stickslip.errors import unknown
from stickslip.files import check_writable, write_json


def doctor(
    model: Annotated[str, typer.Argument(help="an MJCF or URDF file, or the name of a bundled robot")],
    floating_base: FloatingBase = False,
    package_dir: PackageDir = None,
    unreadable_meshes: UnreadableMeshes = "replace",
    ignore: Ignore = None,
    json: Annotated[Path | None, typer.Option(help="write the findings to this file")] = None,
) -> None:
    """Find faults of a model. The exit status is 1 if there are errors, 0 if there are only warnings and notes.

    Example: [bold]stickslip doctor my_robot.urdf --floating-base[/bold]
    """
    from stickslip.model.doctor import examine
    from stickslip.model.scene import BUNDLED

    check_writable(json)
    if model not in BUNDLED and not Path(model).suffix and not Path(model).exists():
        raise unknown("robot or file", model, BUNDLED)
    options = load_options(floating_base, package_dir, unreadable_meshes, ignore)
    report = examine(BUNDLED.get(model, model), **options)
    report.print()
    if json is not None:
        write_json(json, report.to_dict())
    raise typer.Exit(report.exit_code)
