"""``stickslip export``: recordings for MuJoCo, spreadsheets and films."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import Annotated, Any

import typer

from stickslip.errors import expected


def export(
    recording: Annotated[Path, typer.Argument(help="a file of 'stickslip run SCENE --record FILE'")],
    qpos: Annotated[Path | None, typer.Option(help="NumPy archive (.npz): MuJoCo's qpos, qvel, ctrl, XML")] = None,
    csv: Annotated[Path | None, typer.Option(help="table with a row per frame")] = None,
    contacts_csv: Annotated[Path | None, typer.Option(help="table with a row per contact")] = None,
    frames: Annotated[Path | None, typer.Option(help="folder for pictures, frame-00000.png and so on")] = None,
    video: Annotated[Path | None, typer.Option(help="film, .mp4 (GIF where FFmpeg is missing) or .gif")] = None,
    gif: Annotated[Path | None, typer.Option(help="animated GIF")] = None,
    fps: Annotated[float, typer.Option(help="pictures per second of film")] = 30.0,
    speed: Annotated[float, typer.Option(help="simulated seconds per second of film; 0.1 is slow motion")] = 1.0,
    size: Annotated[str, typer.Option(help="size of pictures, WIDTHxHEIGHT in pixels")] = "960x540",
    camera: Annotated[
        str | None,
        typer.Option(help="AZIMUTH,ELEVATION[,DISTANCE] in degrees and metres; default: all that moves is in view"),
    ] = None,
    follow: Annotated[str | None, typer.Option(help="name of a link that the camera follows")] = None,
    contacts: Annotated[bool, typer.Option(help="draw contact forces")] = True,
) -> None:
    """Export a recording for other programs, or as pictures and films. No graphics card is needed.

    Examples: [bold]stickslip export drop.h5 --qpos drop.npz --csv drop.csv[/bold],
    [bold]stickslip export drop.h5 --video drop.mp4 --size 640x360 --speed 0.25[/bold],
    [bold]stickslip export trot.h5 --frames trot --camera=-60,15 --follow base_link[/bold]
    """
    from stickslip.files import check_distinct
    from stickslip.record import load

    check_distinct(qpos=qpos, csv=csv, contacts_csv=contacts_csv, frames=frames, video=video, gif=gif)
    if not any((qpos, csv, contacts_csv, frames, video, gif)):
        wanted = "at least one of --qpos, --csv, --contacts-csv, --frames, --video and --gif"
        raise expected("export", wanted, "none of them")
    with load(recording) as log:
        if qpos is not None:
            print(f"qpos       {log.to_qpos().save(qpos)}")
        if csv is not None:
            print(f"frames     {log.to_csv(csv)}")
        if contacts_csv is not None:
            print(f"contacts   {log.to_csv(contacts_csv, 'contacts')}")
        if frames is not None or video is not None or gif is not None:
            options: dict[str, Any] = {"size": pixels(size), "contacts": contacts, "follow": follow}
            if camera is not None:
                options["camera"] = chosen_camera(log, camera, options)
            if frames is not None:
                print(f"pictures   {frames}: {len(log.frames(frames, fps=fps, speed=speed, **options))}")
            if video is not None:
                print(f"film       {log.video(video, fps=fps, speed=speed, **options)}")
            if gif is not None:
                print(f"film       {log.gif(gif, fps=fps, speed=speed, **options)}")


def pixels(text: str) -> tuple[int, int]:
    """Parse a size such as ``"960x540"``."""
    width, _, height = text.lower().partition("x")
    if not all(side.isascii() and side.isdecimal() and len(side) <= 5 for side in (width, height)):
        raise expected("--size", "WIDTHxHEIGHT in pixels", text, "for example 960x540")
    return int(width), int(height)


def chosen_camera(log: Any, text: str, options: dict[str, Any]) -> Any:
    """Parse a camera such as ``"-60,15"``: azimuth and elevation [deg], and optionally the distance [m]."""
    from dataclasses import replace

    from stickslip.record.picture import Painter

    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    far = numbers[2] if len(numbers) == 3 else 1.0
    if len(numbers) not in (2, 3) or not all(map(isfinite, numbers)) or not 1e-3 <= far <= 1e6:
        raise expected("--camera", "AZIMUTH,ELEVATION[,DISTANCE]", text, "for example --camera=-60,15")
    usual = Painter(log, **{**options, "contacts": False}).camera
    turned = replace(usual, azimuth=numbers[0], elevation=numbers[1])
    return turned if len(numbers) == 2 else replace(turned, distance=numbers[2])
