"""Masonry without mortar: a semicircular arch.

J. Heyman, "The safety of masonry arches", Int. J. Mech. Sci. 11, 1969; J. A. Ochsendorf, "The masonry arch on spreading
supports", Struct. Eng. 84, 2006: an arch of thickness t and mean radius R stands iff t/R ≥ 0.1075; it fails by hinges
at the crown, the haunches and the springings.
"""

from __future__ import annotations

import numpy as np

from stickslip.errors import expected, number, whole
from stickslip.model.scene import Scene
from stickslip.simulation.setup import Setup


def arch(
    thickness: float = 0.13, *, blocks: int = 20, radius: float = 1.0, depth: float = 0.3, friction: float = 0.8
) -> Setup:
    """A semicircle of wedge-shaped ``blocks`` (2000 kg/m³) on a floor: it stands iff thickness/radius ≥ 0.1075.

    ``thickness``, mean ``radius`` and ``depth`` [m]. Limit analysis with 21 joints gives 0.1073; with fewer joints
    there are fewer places for hinges, and a thinner arch stands. Blocks do not slide if μ ≥ 0.5.
    """
    whole("blocks", blocks, 3)
    radius, depth = (
        number(what, value, "a length > 0 [m]", above=0.0) for what, value in (("radius", radius), ("depth", depth))
    )
    if not 0.0 < number("thickness", thickness, "a length [m]") < radius:
        raise expected("thickness", f"more than 0 and less than the radius of {radius:g} m", thickness)
    scene = Scene(name="arch")
    scene.add_plane(friction=friction)
    joints = np.linspace(0.0, np.pi, blocks + 1)
    for k in range(blocks):
        corners = [
            (r * np.cos(angle), y, r * np.sin(angle))
            for angle in joints[k : k + 2]
            for r in (radius - thickness / 2, radius + thickness / 2)
            for y in (-depth / 2, depth / 2)
        ]
        scene.add_mesh(corners, density=2000.0, friction=friction, name=f"block{k}")
    return Setup(scene)
