"""``stickslip view``: watch a scene as it is simulated, or recordings, in a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from stickslip.cli.options import FloatingBase, Ignore, PackageDir, UnreadableMeshes, load_options
from stickslip.cli.plugin import Plugin, load_plugins
from stickslip.errors import expected


def view(
    what: Annotated[
        list[str] | None,
        Argument(help="a bundled scene, an MJCF or URDF file, or recordings (.h5): several are overlaid"),
    ] = None,
    method: Annotated[str | None, Option(help="contact method of a scene; it can be changed in the viewer")] = None,
    dt: Annotated[float | None, Option(help="time step of a scene in seconds")] = None,
    port: Annotated[int, Option(help="port of the page; the next free one if it is taken", min=0, max=65535)] = 8080,
    host: Annotated[str, Option(help="address to listen on; any but 127.0.0.1 lets other machines in")] = "127.0.0.1",
    browser: Annotated[bool, Option(help="open the page in a browser")] = True,
    shadows: Annotated[bool, Option(help="draw shadows; off is faster without a graphics card")] = True,
    paused: Annotated[bool, Option("--paused", help="do not begin to play")] = False,
    follow: Annotated[str | None, Option(help="name of a body to keep in view")] = None,
    share: Annotated[Path | None, Option(help="write the recordings as one self-contained HTML file and exit")] = None,
    plugin: Plugin = None,
    floor: Annotated[float | None, Option(help="put a floor at this height (m) under a model file")] = None,
    floating_base: FloatingBase = False,
    package_dir: PackageDir = None,
    unreadable_meshes: UnreadableMeshes = "replace",
    ignore: Ignore = None,
) -> None:
    """Watch a scene as it is simulated, or recordings, in a browser on this machine.

    Examples: [bold]stickslip view solo12-drop --method coulomb[/bold], [bold]stickslip view drop.h5[/bold],
    [bold]stickslip view expo.h5 coulomb.h5[/bold] (ghosts), [bold]stickslip view drop.h5 --share drop.html[/bold]
    """
    from stickslip.viewer.open import open_recordings
    from stickslip.viewer.open import view as open_view

    load_plugins(plugin)
    given = what or ["solo12-drop"]
    subject: str | list[str] = given[0] if len(given) == 1 else given
    if share is not None:
        from stickslip.files import check_writable, write_text
        from stickslip.viewer.share import html

        check_writable(share)
        replays = open_recordings(subject)
        if replays is None:
            raise expected(
                "--share", "recordings (.h5)", given[0], "record it first: stickslip run SCENE --record RUN.h5"
            )
        if method is not None or dt is not None:
            raise expected("--method and --dt", "none with recordings, which have their own", method or dt)
        write_text(share, html(replays, follow=follow))
        print(f"shared     {share}")
        return
    options = load_options(floating_base, package_dir, unreadable_meshes, ignore)
    open_view(
        subject, method=method, dt=dt, port=port, host=host, browser=browser, shadows=shadows, paused=paused,
        follow=follow, floor=floor, **options,
    )  # fmt: skip
