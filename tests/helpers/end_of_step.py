"""The equations of an implicit step as a function of its end velocities, and their Jacobian against differences."""

from dataclasses import replace

import numpy as np

from stickslip.methods.base import Inputs
from stickslip.methods.implicit_euler.implicit_euler import ImplicitEuler
from stickslip.methods.implicit_euler.implicit_step import evaluate, linearise, load
from stickslip.methods.implicit_euler.spring_damper_derivatives import begin_contacts
from stickslip.methods.soft.viscoelastic import detect, update_kinematics
from stickslip.model.shape import Material, Shape

TWO_TREES = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" pos="0 0 1"><freejoint/><inertial pos="0.1 0 0" mass="2" diaginertia="0.2 0.3 0.25"/>
    <body name="b" pos="0.3 0 0"><joint type="hinge" axis="0 1 0"/>
      <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.2 0.15"/>
      <body name="c" pos="0 0.2 0"><joint type="ball"/>
        <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.15"/></body></body></body>
  <body name="d" pos="0 0 2"><freejoint/><inertial pos="0 0.1 0" mass="2" diaginertia="0.1 0.2 0.15"/></body>
</worldbody></mujoco>"""


def shape(kind, link, *, pos=(0, 0, 0), rot=None, size=(), friction=1.0, stiffness=1e4, damping=100.0, along=(1, 1)):
    """A shape in a link; ``size`` as in MuJoCo. ``along`` is what K and B are multiplied by along the surface."""
    size = np.r_[np.array(size, dtype=float), np.zeros(3 - len(size))]
    K, B = 2.0 * stiffness, 2.0 * damping  # two of them in series
    material = Material(friction, K, B, tangent_stiffness=along[0] * K, tangent_damping=along[1] * B)
    rot = np.eye(3) if rot is None else np.array(rot, dtype=float)
    return Shape(f"{kind} {link}", kind, link, np.array(pos, float), rot, size, None, material, 1, 1, np.ones(4), link)


def frame(normal):
    """(3, 3) a rotation whose third column is along the normal."""
    z = np.array(normal, dtype=float) / np.linalg.norm(normal)
    x = np.cross([0.3, 1.0, 0.2], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def on_plane(row, **material):
    """A plane and a ball (a point, if its radius is 0): (plane's link, its origin and normal; ball's link, centre and
    radius)."""
    link1, origin, normal, link2, center, radius = row
    ball = ("sphere", (radius,)) if radius else ("point", (0.0,))
    return (
        shape("plane", link1, pos=origin, rot=frame(normal), **material),
        shape(ball[0], link2, pos=center, size=ball[1], **material),
    )


def stepper_for(model, dt, shapes, variant="spring-damper", **options):
    """Implicit Euler for a model with these shapes, whose contacts have K and B each."""
    return ImplicitEuler(replace(model, shapes=tuple(shapes)), dt, variant, stiffness_per="point", **options)


class Problem:
    """One step of a stepper from (q, v), as a function of the velocities at its end."""

    def __init__(self, stepper, q, v, inputs=None):
        m = stepper.model
        self.stepper, self.q, self.v = stepper, np.array(q), np.array(v)
        inputs = inputs or Inputs(np.zeros(m.nu), np.zeros(m.nv), np.zeros((m.nlink, 6)))
        s = stepper
        update_kinematics(s.world, s.work, self.q, self.v)
        assert detect(s.world, s.work, s.contacts.arrays) == 0
        begin_contacts(s.work.kin, s.contacts.arrays, s.anchors, s.start)
        self.arguments = (
            s.world, s.work, s.contacts.arrays, s.anchors, s.start, inputs, s.derivatives, s.newton,
        )  # fmt: skip

    def residual(self, v_end):
        self.stepper.newton.v[:] = v_end
        assert evaluate(*self.arguments, self.stepper.dt, self.q, self.v) == 0
        return self.stepper.newton.r.copy()

    def contacts(self, v_end):
        """Normal forces, and how much of the friction cone is used, at the end of the step."""
        self.residual(v_end)
        c, n = self.stepper.contacts.arrays, len(self.stepper.contacts)
        used = np.linalg.norm(c.force[:n, 1:], axis=1) / np.maximum(c.material[:n, 0] * c.force[:n, 0], 1e-30)
        return c.force[:n, 0].copy(), used

    def jacobian_error(self, v_end):
        """Largest difference of the Jacobian from central differences, relative to the largest entry."""
        self.residual(v_end)
        load(*self.arguments, 1.0, self.stepper.dt)
        linearise(*self.arguments, 1.0, self.stepper.dt, self.q)
        ours, step = self.stepper.newton.A.copy(), 1e-6
        columns = [
            (self.residual(v_end + step * e) - self.residual(v_end - step * e)) / (2 * step) for e in np.eye(len(v_end))
        ]
        theirs = np.array(columns).T
        return np.abs(ours - theirs).max() / np.abs(theirs).max()
