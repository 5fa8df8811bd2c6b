"""Hopper and plate in MuJoCo, with contacts that are springs of a given stiffness and damping.

MuJoCo's soft contact gives f = max(0, (a_ref − a₁)/R) with a_ref = k'·p − b'·v (depth p, separating speed v), a₁ the
acceleration with all forces and R = (1 − d)/d·w, w = ``body_invweight0``. With k' = K·R and b' = B·R it is the
spring–damper K·p − B·v, up to an added mass 1/R per contact. With the compiler's w and the smallest impedance d = 1e-4
that mass is 1e-4 of the body's, in each contact: 0.1 of a plate on 1000 springs. So w is set such that R = 1e8/kg;
then the motion converges to the closed form with the step, at first order, and Newton's method takes one iteration.

What is fast in MuJoCo is chosen (times of 1000 springs, relative to the defaults 1.0): explicit contact pairs and no
midphase (0.9), no islands (0.96), tips as geoms of the world and not as bodies (which would be 1.9); its Euler
integrator (``implicitfast`` costs the same here, ``RK4`` four times as much; the hopper's diagram has it), Newton's
method (CG and PGS are not faster), a dense Jacobian (what ``auto`` takes at 3 degrees of freedom).
"""

from __future__ import annotations

import mujoco
import numpy as np
from mujoco import rollout

from stickslip.lab.papers.event_selected.exact import Hop
from stickslip.lab.papers.event_selected.setups import DT, Bed
from stickslip.lab.papers.event_selected.systems import GRAVITY, LENGTH

IMPEDANCE = 1e-4
"""MuJoCo's smallest."""
REGULARISATION = 1e8
"""R [1/kg]: its inverse is the added mass of a contact."""
TIP = 1e-9
"""Radius of a spring's tip [m]."""
OFF = (
    mujoco.mjtDisableBit.mjDSBL_MIDPHASE.value
    | mujoco.mjtDisableBit.mjDSBL_ISLAND.value
    | mujoco.mjtDisableBit.mjDSBL_AUTORESET.value
)


def _spring(model: mujoco.MjModel, stiffness: float, damping: float) -> mujoco.MjModel:
    """All pairs, of the last body with the world: ``stiffness`` [N/m], ``damping`` [N s/m]."""
    scale = REGULARISATION * IMPEDANCE  # MuJoCo divides both by the impedance
    model.body_invweight0[-1, 0] = scale / (1.0 - IMPEDANCE)
    model.pair_solref[:] = -stiffness * scale, -damping * scale
    model.opt.disableflags |= OFF
    return model


def _pair(first: str, second: str) -> str:
    impedance = f"{IMPEDANCE} {IMPEDANCE} 1 0.5 1"
    return f'<pair geom1="{first}" geom2="{second}" condim="1" solref="-1 -1" solimp="{impedance}"/>'


def _model(option: str, world: str, body: str, pairs: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option {option}/><size memory="256M"/>'
        '<default><geom contype="0" conaffinity="0"/></default>'
        f"<worldbody>{world}<body>{body}</body></worldbody><contact>{pairs}</contact></mujoco>"
    )


def _option(dt: float, integrator: str) -> str:
    return f'timestep="{dt:.17g}" gravity="0 0 {-GRAVITY:.17g}" integrator="{integrator}"'


def hopper(hop: Hop, dt: float = DT, integrator: str = "Euler") -> mujoco.MjModel:
    """1 kg on a vertical slide, a round foot below it that reaches down to L₀, a floor; qpos is z."""
    foot = 0.5 * LENGTH
    model = _model(
        _option(dt, integrator),
        '<geom name="floor" type="plane" size="0 0 1"/>',
        '<joint type="slide" axis="0 0 1"/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>'
        f'<geom name="foot" type="sphere" size="{foot:.17g}" pos="0 0 {-foot:.17g}"/>',
        _pair("floor", "foot"),
    )
    return _spring(model, hop.stiffness, 0.0)


def plate(bed: Bed, dt: float = DT, integrator: str = "Euler") -> mujoco.MjModel:
    """1 kg; its underside is that of a box, thick enough for tips deep inside; qpos is (x, z, θ)."""
    tips = [
        f'<geom name="tip{i}" type="sphere" size="{TIP}" pos="{x:.17g} 0 {LENGTH - TIP:.17g}"/>'
        for i, x in enumerate(bed.tips)
    ]
    model = _model(
        _option(dt, integrator),
        "".join(tips),
        '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint type="hinge" axis="0 -1 0"/>'
        f'<inertial mass="1" pos="0 0 0" diaginertia="{bed.inertia:.17g} {bed.inertia:.17g} {bed.inertia:.17g}"/>'
        '<geom name="plate" type="box" size="50 50 10" pos="0 0 10"/>',
        "".join(_pair("plate", f"tip{i}") for i in range(bed.tips.size)),
    )
    return _spring(model, bed.stiffness, bed.damping)


def trajectory(model: mujoco.MjModel, start: np.ndarray, end: float) -> np.ndarray:
    """(2·nv, steps + 1): qpos and qvel at every step from ``start``."""
    first = np.concatenate([[0.0], start])
    states, _ = rollout.rollout(model, mujoco.MjData(model), first[None], nstep=steps(model, end))
    return np.column_stack([start, states[0, :, 1:].T])


def steps(model: mujoco.MjModel, end: float) -> int:
    return round(end / model.opt.timestep)


def set_start(model: mujoco.MjModel, data: mujoco.MjData, start: np.ndarray) -> None:
    mujoco.mj_resetData(model, data)
    data.qpos[:], data.qvel[:] = start[: model.nv], start[model.nv :]
