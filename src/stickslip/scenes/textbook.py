"""One or two bodies whose motion under Coulomb's law is known in closed form.

The rod is Painlevé's (1895) as in Génot and Brogliato, Eur. J. Mech. A/Solids 18, 1999: uniform, one end on a rough
floor, sliding towards the side to which it does not lean. The others are in every textbook of mechanics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.control import PD
from stickslip.errors import expected, number, whole
from stickslip.methods.soft.restitution import damping_ratio
from stickslip.model.scene import Scene
from stickslip.model.shape import Material
from stickslip.scenes.rpisim import FRICTION
from stickslip.simulation.setup import Setup

STEEPEST = 1.4
"""[rad] largest angle of planes and wedges."""


def _angle(what: str, value: float, most: float = STEEPEST) -> float:
    if not 0.0 < number(what, value, "an angle [rad]") <= most:
        raise expected(what, f"an angle above 0 and up to {most:g} rad", value)
    return float(value)


def ball_rolling(angle: float = 0.3, *, friction: float = FRICTION) -> Setup:
    """A ball (1 kg, radius 0.1 m) on a plane that falls towards x by ``angle`` [rad].

    It rolls with 5/7·g·sin α if μ ≥ 2/7·tan α, else it slides with g·(sin α − μ·cos α).
    """
    angle = _angle("angle", angle)
    scene = Scene(name="ball-rolling")
    normal = np.array([np.sin(angle), 0.0, np.cos(angle)])
    scene.add_plane(normal=normal, friction=friction)
    scene.add_sphere(0.1, pos=0.1 * normal, mass=1.0, friction=friction, name="ball")
    return Setup(scene)


def bounce_damping(restitution: float, stiffness: float, mass: float) -> float:
    """Damping [N s/m] for which a mass [kg] on a spring [N/m] rebounds with ``restitution`` times its speed.

    Without gravity, by ``methods.soft.restitution``: the mass leaves where the force is zero, not the depth.
    """
    if number("restitution", restitution) > 1.0 or restitution <= 0.0:
        raise expected("restitution", "a number above 0 and up to 1, which such springs can give", restitution)
    return float(2.0 * damping_ratio(float(restitution)) * np.sqrt(stiffness * mass))


def bouncing_ball(
    height: float = 1.0, *, restitution: float = 0.7, friction: float = FRICTION, stiffness: float | None = None
) -> Setup:
    """A ball (1 kg, radius 0.1 m) falls from ``height`` [m] and bounces: it rests after √(2h/g)·(1 + e)/(1 − e).

    With a ``stiffness`` [N/m] the floor is also a spring and damper that bounces by the same restitution.
    """
    height = number("height", height, "a height > 0 [m]", above=0.0)
    spring: dict[str, Any] = {}
    if stiffness is not None:
        stiffness = number("stiffness", stiffness, "a stiffness > 0 [N/m]", above=0.0)
        spring = {"stiffness": stiffness, "damping": bounce_damping(restitution, stiffness, 1.0)}
    scene = Scene(name="bouncing-ball")
    scene.add_plane(friction=friction, restitution=restitution, **spring)
    scene.add_sphere(0.1, pos=(0, 0, 0.1 + height), mass=1.0, friction=friction, restitution=restitution, name="ball")
    return Setup(scene)


def newtons_cradle(
    balls: int = 5,
    *,
    angle: float = np.pi / 6,
    gap: float = 1e-3,
    restitution: float = 1.0,
    stiffness: float = 1e7,
    friction: float = 0.0,
) -> Setup:
    """Equal balls (0.1 kg, radius 3 cm) hang in a row on rods of 0.5 m without mass, a ``gap`` [m] between them; the
    first is drawn aside by ``angle`` [rad] and strikes.

    Equal masses that collide one after another, e = 1, exchange their velocities: the last ball swings out by the same
    angle, the others stay. Without gaps the rigid-body model does not determine the result. Contacts are also undamped
    springs of ``stiffness`` [N/m], which push for π·√(m/2K) = 0.22 ms, less than a ball needs for the gap.
    """
    whole("balls", balls, 2)
    angle, gap = _angle("angle", angle), number("gap", gap, "a distance ≥ 0 [m]", least=0.0)
    radius, length, mass = 0.03, 0.5, 0.1
    surface = Material(friction=friction, restitution=restitution, stiffness=2.0 * stiffness, damping=0.0)
    scene = Scene(name="newtons-cradle")
    for k in range(balls):
        place = ((2 * radius + gap) * (k - (balls - 1) / 2), 0.0, length + 2 * radius)
        arm = scene.add_body(f"ball{k}", joint="hinge", axis=(0, -1, 0), pos=place)
        arm.add_sphere(radius, pos=(0, 0, -length), mass=mass, rgba=(0.75, 0.76, 0.8, 1), material=surface)
        arm.add_capsule(0.002, length - radius, pos=(0, 0, -(length - radius) / 2), mass=0.0, collide=False)
    scene.set_home("ball0", -angle)
    return Setup(scene)


def painleve_rod(angle: float = np.arctan(2.0), *, speed: float = 1.0, friction: float = 1.6) -> Setup:
    """A uniform rod (1 kg, 1 m) leans by ``angle`` [rad] from the floor towards x, and its lower end slides with
    ``speed`` [m/s] towards −x.

    Sliding has no solution of finite forces, or has two, where μ > (tan θ + 4/tan θ)/3, which is least, 4/3, at
    tan θ = 2: the end jams at once. Friction is that of the floor; only the lower end of the rod collides.
    """
    angle = _angle("angle", angle, 1.5)
    speed = number("speed", speed, "a speed ≥ 0 [m/s]", least=0.0)
    scene = Scene(name="painleve-rod")
    scene.add_plane(friction=friction)
    half, mass = 0.5, 1.0
    along = np.array([np.cos(angle), 0.0, np.sin(angle)])
    turn = (np.pi / 2 - angle) / 2
    rod = scene.add_body("rod", pos=half * along, quat=(np.cos(turn), 0.0, np.sin(turn), 0.0))
    rod.add_cylinder(0.01, 2 * half, collide=False)
    inertia = mass * (2 * half) ** 2 / 12
    rod.set_inertia(mass, inertia=(inertia, inertia, 1e-3 * inertia))
    rod.add_contact_point("tip", pos=(0, 0, -half))
    return Setup(scene, velocity=np.array([-speed, 0, 0, 0, 0, 0]))


def wedge(half_angle: float = 0.35, *, force: float = 10.0, friction: float = FRICTION) -> Setup:
    """A wedge (1 kg) without weight, squeezed between two jaws (1 kg each) on slides by a ``force`` [N] each.

    It holds if tan(half angle) ≤ μ; otherwise it is expelled upwards with the acceleration 2·N·(sin α − μ·cos α)/m,
    where N = F/(cos α + μ·sin α + 2·tan α·(sin α − μ·cos α)·M/m).
    """
    half_angle = _angle("half_angle", half_angle, 0.8)
    force = number("force", force, "a force ≥ 0 [N]", least=0.0)
    scene = Scene(name="wedge", gravity=(0, 0, 0))
    high, deep, thick = 0.2, 0.1, 0.05
    s, c, t = np.sin(half_angle), np.cos(half_angle), np.tan(half_angle)
    middle = 0.05 + t * high / 2  # half the width at half the height; the wedge is wider above
    outline = [(side * (middle + up * t * high / 2), up * high / 2) for up in (-1, 1) for side in (-1, 1)]
    corners = [(x, y, z) for x, z in outline for y in (-deep / 2, deep / 2)]
    scene.add_mesh(corners, mass=1.0, friction=friction, name="wedge", rgba=(0.8, 0.4, 0.2, 1))
    for name, side in (("left", -1), ("right", 1)):
        normal = np.array([side * c, 0.0, -s])  # out of the wedge
        place, half = np.array([side * middle, 0, 0]) + thick / 2 * normal, side * half_angle / 2
        jaw = scene.add_body(name, joint="slide", axis=(-side, 0, 0), pos=place, motor=True)
        jaw.add_box(
            (thick, deep, high / 2), quat=(np.cos(half), 0, np.sin(half), 0), mass=1.0, friction=friction
        )  # fmt: skip
    return Setup(scene, PD(kp=0.0, kd=0.0, feedforward=(force, force)))


def sliding_disc(direction: float = 0.0, *, speed: float = 2.0, friction: float = 0.3) -> Setup:
    """A disc (1 kg, radius 0.1 m, 2 cm high) slides with ``speed`` [m/s] in a ``direction`` [rad] from x.

    It stops after v²/(2·μ·g) in every direction.
    """
    direction, speed = number("direction", direction), number("speed", speed, "a speed ≥ 0 [m/s]", least=0.0)
    scene = Scene(name="sliding-disc")
    scene.add_plane(friction=friction)
    scene.add_cylinder(0.1, 0.02, pos=(0, 0, 0.01), mass=1.0, friction=friction, name="disc")
    velocity = np.zeros(6)
    velocity[:2] = speed * np.cos(direction), speed * np.sin(direction)
    return Setup(scene, velocity=velocity)
