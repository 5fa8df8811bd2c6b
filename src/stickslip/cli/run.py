"""``stickslip run``: simulate a scene, print a summary, record, plot."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from stickslip.cli.options import FloatingBase, Ignore, PackageDir, UnreadableMeshes, load_options, method_options
from stickslip.cli.plugin import Plugin, load_plugins


def run(
    scene: Annotated[str, Argument(help="a bundled scene (see 'stickslip list'), or an MJCF or URDF file")],
    method: Annotated[
        str | None, Option(help="contact method (see 'stickslip list'); default: what suits the scene")
    ] = None,
    option: Annotated[
        list[str] | None, Option(help="an option of the method, NAME=VALUE, such as matmuls=2; may be repeated")
    ] = None,
    dt: Annotated[float | None, Option(help="time step in seconds; default: one that suits scene and method")] = None,
    time: Annotated[float | None, Option(help="how many seconds to simulate; default: the scene's own")] = None,
    record: Annotated[Path | None, Option(help="write an HDF5 recording to this file")] = None,
    record_dt: Annotated[float | None, Option(help="seconds between recorded frames; default 0.01")] = None,
    capture: Annotated[Path | None, Option(help="write contact problems to this HDF5 file, for 'solve'")] = None,
    capture_every: Annotated[int, Option(help="capture the first step and then every N-th step")] = 1,
    capture_format: Annotated[
        str, Option(help="frames: all in one file; fclib: one FCLib file per step, NAME-000123.hdf5")
    ] = "frames",
    failures: Annotated[
        str | None,
        Option(
            help="folder for FCLib files of the problems of steps that do not converge, or 'none'; "
            "default: NAME-unconverged beside the recording, else SCENE-unconverged here; made when there are any"
        ),
    ] = None,
    plot: Annotated[Path | None, Option(help="write an overview plot to this file (.png, .pdf, .svg)")] = None,
    floor: Annotated[float | None, Option(help="put a floor at this height (m) under a model file")] = None,
    floating_base: FloatingBase = False,
    package_dir: PackageDir = None,
    unreadable_meshes: UnreadableMeshes = "replace",
    ignore: Ignore = None,
    plugin: Plugin = None,
) -> None:
    """Simulate a scene and print what happened.

    Examples: [bold]stickslip run solo12-drop --time 2 --record drop.h5 --plot drop.png[/bold],
    [bold]stickslip run solo12-squat --method expo --dt 0.01[/bold],
    [bold]stickslip run ball --method coulomb --capture ball.hdf5 --capture-format fclib[/bold],
    [bold]stickslip run my_robot.urdf --floating-base --floor -0.4[/bold]
    """
    from rich.console import Console

    from stickslip.files import check_distinct
    from stickslip.methods.materials import combined_materials
    from stickslip.record.overview import check_plot
    from stickslip.scenes import SCENES, find
    from stickslip.simulation import Simulation

    console = Console(markup=False)  # names may hold brackets
    load_plugins(plugin)
    check_plot(plot)
    check_distinct(record=record, capture=capture if capture_format == "frames" else None, plot=plot)
    options = load_options(floating_base, package_dir, unreadable_meshes, ignore)
    name, setup, seconds = find(scene, floor=floor, **options)
    for note in setup.scene.notes:
        console.print(f"note: {note}", highlight=False)
    sim = Simulation(setup, method=method, dt=dt, **method_options(option))
    if sim.why_method:
        console.print(f"method: {sim.why_method}", highlight=False)
    with console.status("compiling kernels (once per installation) …"):
        sim.warm_up()
    duration = seconds if time is None else time
    before = _identity(record)
    try:
        log = sim.run(
            duration, record=record, record_dt=record_dt,
            capture=capture, capture_every=capture_every, capture_format=capture_format,
            failures=failures_folder(failures, record, name, sim.stepper.solves_problems),
        )  # fmt: skip
    except KeyboardInterrupt:
        print(interrupted(sim.time, duration, record if _identity(record) != before else None), file=sys.stderr)
        raise typer.Exit(130) from None
    console.print(summary(name, sim, log))
    if scene not in SCENES and not len(combined_materials(sim.model)):
        console.print("note: nothing in this scene can touch anything; --floor HEIGHT puts a floor under a model file")
    if record is not None:
        console.print(f"recording  {record}")
    if capture is not None:
        files = capture.with_name(f"{capture.stem}-*{capture.suffix or '.hdf5'}")
        console.print(f"problems   {capture if capture_format == 'frames' else files}")
    if plot is not None:
        from stickslip.record.overview import save_overview

        save_overview(log, plot, title=f"{name}, {sim.method}, dt = {sim.dt:g} s")
        console.print(f"plot       {plot}")


def failures_folder(asked: str | None, record: Path | None, scene: str, problems: bool) -> Path | bool | None:
    """Folder for the problems of unconverged steps; False for no folder, None for the default of ``Simulation.run``."""
    if asked == "none":
        return False
    if asked is not None:
        return Path(asked)
    return Path(f"{Path(scene).stem}-unconverged") if record is None and problems else None


def _identity(path: Path | None) -> int | None:
    """Identity of the present file, to tell a new recording from an earlier one that it replaces."""
    return os.stat(path).st_ino if path is not None and path.exists() else None


def interrupted(time: float, duration: float, recording: Path | None) -> str:
    """The message after an interrupted run: what was recorded, and what to do with it."""
    text = f"interrupted at t = {time:.6g} s of {duration:g} s; "
    if recording is None:
        return text + "nothing was recorded (--record FILE keeps what there is)"
    from stickslip.record import load

    with load(recording) as log:
        until = float(log.time[-1]) if len(log) else 0.0
    return (
        f"{text}the recording {str(recording)!r} holds {len(log)} frames up to {until:.6g} s, to be opened in Python "
        f"with stickslip.load({str(recording)!r}); a run cannot be continued from it: the same command starts over"
    )


def summary(name: str, sim, log):
    """The table that ``stickslip run`` prints."""
    import numpy as np
    from rich.table import Table

    wall, span = float(log.wall[-1]), float(log.time[-1] - log.time[0])
    steps = int(log.steps[-1] - log.steps[0])
    energy = log.energy.sum(axis=1) + np.nan_to_num(log.contact_energy)
    weight = float(sim.model.inertia.mass.sum() * np.linalg.norm(sim.model.inertia.gravity))
    table = Table(title=f"{name}: {sim.method}/{sim.variant}", show_header=False, title_justify="left")
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for row in (
        ("simulated", f"{span:.4g}", "s"),
        ("time step", f"{sim.dt:g}", "s"),
        ("steps", f"{steps}", ""),
        ("computing time", f"{wall:.3g}", "s, recording included"),
        ("real-time factor", f"{span / wall:.3g}" if wall > 0 else "–", "simulated / computing time"),
        ("links, velocities, controls", f"{sim.model.nlink - 1}, {sim.model.nv}, {sim.model.nu}", ""),
        ("contacts at the end", f"{len(log.contacts(len(log) - 1).gap)}", ""),
        ("total normal force at the end", f"{log.contact_force()[-1]:.4g}", f"N (weight {weight:.4g} N)"),
        ("deepest penetration", f"{1e3 * float(np.max(log.penetration())) + 0.0:.3g}", "mm"),
        ("energy at the start, end", f"{energy[0]:.4g}, {energy[-1]:.4g}", "J"),
    ):
        table.add_row(*row)
    return table
