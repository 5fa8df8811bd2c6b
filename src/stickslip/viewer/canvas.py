"""The viser server with lights, floors and the initial camera."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from stickslip.errors import StickslipError, expected
from stickslip.record.header import Header
from stickslip.simulation.periods import round_step
from stickslip.viewer.following import ROOT
from stickslip.viewer.guard import guarded
from stickslip.viewer.triangulation import from_matrix, turned

FLOOR = (238, 240, 243)
CELLS, SECTIONS = (206, 211, 218), (168, 175, 185)
BRAND = (38, 84, 124)
SUN, SKY = 1.9, 0.28
"""Intensities of the directional light, which casts shadows, and of the environment."""
AMBIENT = 1.6
"""Intensity of the ambient light if there are no shadows."""


def make_server(host: str, port: int, shadows: bool = True) -> Any:
    """A viser server at the port, or at the next free one. Nothing is loaded from the network."""
    import viser

    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
        raise expected("port", "a whole number from 1 to 65535", port)
    try:
        socket.getaddrinfo(host, port)
        with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
            probe.bind((host, 0))
    except (OSError, UnicodeError) as error:
        raise expected("host", "an address of this machine", host, f"127.0.0.1 is the usual one ({error})") from None
    with _quiet(), guarded(host) as started:
        server = viser.ViserServer(host=host, port=port, label="stickslip", verbose=False)
    if not started:
        server.stop()
        raise StickslipError("this version of viser does not let us check who connects; pip install viser==1.1.1")
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium", brand_color=BRAND)
    server.scene.world_axes.visible = False
    if shadows:
        server.scene.configure_environment_map("studio", environment_intensity=SKY)
    else:  # reflections of the environment cost as much as shadows
        server.scene.configure_environment_map(None)
        server.scene.add_light_ambient("/light/sky", intensity=AMBIENT)
    server.scene.configure_default_lights(enabled=False)
    server.scene.add_light_directional("/light/sun", intensity=SUN, cast_shadow=shadows, position=(-0.35, -0.3, 1.0))
    return server


def stop_server(server: Any) -> None:
    with _quiet():
        server.stop()


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress what viser prints, which it does by rich; what others print meanwhile is not lost."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before


def address(host: str, port: int) -> str:
    """The address of the page, for a browser on this machine."""
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


def cell_size(radius: float) -> float:
    """Size of the floor's cells [m]: 1, 2 or 5 × 10ⁿ, about a fifth of the scene."""
    size = np.clip(np.nan_to_num(radius, nan=1.0), 1e-3, 1e9)  # of damaged recordings it may be anything
    return round_step(2.0 * size / 2.5, longest=float(size))


def add_floors(server: Any, header: Header, pose: np.ndarray, radius: float) -> list[Any]:
    """Draw the infinite planes of a scene as wide squares with a grid."""
    cell = cell_size(radius)
    nodes = []
    for k, shape in enumerate(header.shapes):
        if shape["kind"] != "plane":
            continue
        place = pose[shape["link"]]
        centre = place[:3] + turned(place[None, 3:], np.array([shape["pos"]], dtype=float))[0]
        node = server.scene.add_grid(
            f"{ROOT}/floor/{k}", width=400 * cell, height=400 * cell, cell_size=cell, section_size=5 * cell,
            cell_color=CELLS, section_color=SECTIONS, cell_thickness=1.0, section_thickness=1.2,
            fade_distance=60.0 * cell, fade_strength=1.5, plane_color=FLOOR, plane_opacity=1.0, shadow_opacity=0.3,
            wxyz=from_matrix(np.array(shape["rot"])), position=centre,
        )  # fmt: skip
        nodes.append(node)
    return nodes


def look_at(server: Any, centre: np.ndarray, radius: float) -> None:
    """Set the initial camera of new browsers."""
    direction = np.array([1.0, -1.35, 0.62])
    camera = server.initial_camera
    camera.fov = np.deg2rad(38.0)
    # Look slightly to the right of the middle, since the panel covers that side.
    right = np.cross((0.0, 0.0, 1.0), direction)
    middle = centre + 0.3 * radius * right / np.linalg.norm(right) - np.array([0.0, 0.0, 0.2 * radius])
    camera.look_at = middle
    camera.position = middle + 2.9 * radius * direction / np.linalg.norm(direction)
    camera.near = max(1e-3, 0.01 * radius)
    camera.far = 500.0 * radius
