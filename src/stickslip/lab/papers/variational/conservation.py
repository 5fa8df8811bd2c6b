"""Not in the paper's figures, but why one integrates so: momentum, closed joints and an energy without trend.

* A body of J = diag(1, 2, 3) kg m², no torque, ω = (0.1, 2, 0.1) rad/s: spins about its middle axis and flips.
* Five rods with ball joints in free space, ε = 1e-12, 5 s from random velocities.
* A four-bar linkage (scene ``four-bar``), its loop closed by a point: ‖g‖ of all joints after every step.
* A double pendulum of two rods (1 kg, 1 m), let go at 1.5 and 0.5 rad: chaotic. Its energy ½νᵀMν + V at the ends of
  steps stays in a band of O(dt), that with V averaged over steps in one of O(dt²). The slope is that of a straight line
  through all samples, times the duration: how far the energy would have gone, against the whole band.

Momenta and energies are the discrete ones of ``discrete_rotation``, drifts against the first step's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from stickslip.lab.papers.paper import Part, Results, finish, grid, image, new_figure, units
from stickslip.lab.papers.rows import column, first, slope, table_of, where
from stickslip.lab.papers.variational.setups import DT, METHOD, NONE, TOLERANCE, Sizes, thinned
from stickslip.lab.store import Store
from stickslip.lab.targets import Target
from stickslip.maximal.rows import joint_errors
from stickslip.methods.variational.discrete_rotation import discrete_energy, world_momentum
from stickslip.model.scene import Scene
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation

BODY, CHAIN, LINKAGE, PENDULUM = "torque-free body", "free chain", "four-bar", "double pendulum"
FLIPS, FLOATS = 20.0, 5.0
"""Duration of the motions of body and chain [s]."""
LINKS = 5
BLOCK = 10
"""Steps of the pendulum in one compiled call, between samples of its energy."""
BINS = 120
"""Number of pieces of a curve; the smallest and largest sample of each is kept."""
TIGHT, TIGHTER = 1e-10, 1e-12
"""Tolerances."""
KEPT, FLOATING, NORM = 1e-10, 1e-8, 1e-12
"""Limits of the drift of momenta of body and chain [kg m/s, kg m²/s], and of | |q| − 1 | of the body."""
FLIPPED = 1.9
"""Speed with which the body has to turn the other way round [rad/s]."""
CLOSED = 1e-8
"""Limit of ‖g‖ [m, rad]."""
STEADY = 1.5
"""Limit of the largest of the last tenth over that of the first, or of halves: no trend."""
SECULAR = 0.1
"""Limit of how far the energy went along a straight line, as a part of its band."""
FIRST_ORDER = 0.2
"""Limit of |order − 1| of the energy's band in dt."""


def _rod(body: Any, pos: tuple[float, float, float] = (0.0, 0.0, -0.5)) -> None:
    body.add_cylinder(0.05, 1.0, mass=1.0, pos=pos, collide=False)


def free_chain() -> Scene:
    scene = Scene(name=CHAIN, gravity=(0.0, 0.0, 0.0))
    body = scene.add_body("rod0", joint="free")
    _rod(body)
    for k in range(1, LINKS):
        body = body.add_body(f"rod{k}", joint="ball", pos=(0.0, 0.0, -1.0))
        _rod(body)
    return scene


def double_pendulum() -> Scene:
    scene = Scene(name=PENDULUM)
    body: Any = scene.world
    for k in range(2):
        body = body.add_body(f"rod{k}", joint="hinge", axis=(0, 1, 0), pos=(0.0, 0.0, -1.0 * k))
        _rod(body)
    return scene


def momentum(sim: Simulation) -> np.ndarray:
    """(6,) linear and angular, about the origin."""
    s: Any = sim.stepper
    out = np.empty(6)
    world_momentum(s.mechanism.bodies, s.motion.pose, s.motion.nu, sim.dt, np.zeros(3), out)
    return out


def drifts(samples: list[np.ndarray]) -> tuple[float, float]:
    """The largest distances from the first: linear, angular."""
    off = np.array(samples) - samples[0]
    return float(np.linalg.norm(off[:, :3], axis=1).max()), float(np.linalg.norm(off[:, 3:], axis=1).max())


def binned(values: np.ndarray) -> dict[str, list[float]]:
    """Smallest and largest of BINS pieces of a row of samples."""
    pieces = np.array_split(values, min(BINS, len(values)))
    return {"low": [float(p.min()) for p in pieces], "high": [float(p.max()) for p in pieces]}


def flip(dt: float, seconds: float) -> dict[str, Any]:
    setup = SCENES["tumble"].build()
    sim = Simulation(setup.scene, METHOD, dt=dt, tolerance=TIGHTER)
    sim.set_state(v=setup.velocity)
    momenta, spin, norm = [], [], 0.0
    for _ in range(round(seconds / dt)):
        sim.step()
        momenta.append(momentum(sim))
        spin.append(sim.state.v[3:6].copy())
        norm = max(norm, abs(float(np.linalg.norm(sim.state.q[3:7])) - 1.0))
    linear, angular = drifts(momenta)
    omega = np.array(spin)
    return {
        "unconverged": int(sim.stepper.unconverged), "linear": linear, "angular": angular, "quaternion": norm,
        "lowest": float(omega[:, 1].min()), "omega": thinned(omega, 1000),
    }  # fmt: skip


def float_freely(dt: float, seconds: float) -> dict[str, Any]:
    sim = Simulation(free_chain(), METHOD, dt=dt, tolerance=TIGHTER)
    sim.set_state(v=np.random.default_rng(0).normal(size=sim.model.nv))
    momenta = []
    for _ in range(round(seconds / dt)):
        sim.step()
        momenta.append(momentum(sim))
    linear, angular = drifts(momenta)
    return {"unconverged": int(sim.stepper.unconverged), "linear": linear, "angular": angular}


def close_loop(dt: float, seconds: float) -> dict[str, Any]:
    sim = Simulation(SCENES["four-bar"].build().scene, METHOD, dt=dt, tolerance=TOLERANCE)
    s: Any = sim.stepper
    joints = s.mechanism.nodes.joints
    g, error = np.zeros(len(joints.joint)), np.zeros(round(seconds / dt))
    for k in range(len(error)):
        sim.step()
        joint_errors(joints, s.motion.pose, g)
        error[k] = np.linalg.norm(g)
    tenth = len(error) // 10
    return {
        "unconverged": int(s.unconverged), "largest": float(error.max()),
        "trend": float(error[-tenth:].max() / error[:tenth].max()), **binned(error),
    }  # fmt: skip


def swing(dt: float, seconds: float) -> dict[str, Any]:
    sim = Simulation(double_pendulum(), METHOD, dt=dt, tolerance=TIGHT)
    sim.set_state([1.5, 0.5], [0.0, 0.0])
    s: Any = sim.stepper
    gravity, bodies = sim.model.inertia.gravity, s.mechanism.bodies
    ends, means = np.zeros((2, round(seconds / dt) // BLOCK))
    for k in range(len(ends)):
        sim.step(BLOCK)
        kinetic, potential = discrete_energy(bodies, gravity, s.motion.pose, s.motion.nu, dt)
        means[k] = kinetic + potential
        ends[k] = kinetic - bodies.mass @ (s.motion.pose.pos @ gravity)
    early, late = np.array_split(ends, 2)
    times = np.linspace(-0.5, 0.5, len(ends))
    return {
        "unconverged": int(s.unconverged), "energy": float(ends.mean()), "amplitude": float(ends.std()),
        "averaged": float(means.std()), "band": float(np.ptp(ends)), "trend": float(np.ptp(late) / np.ptp(early)),
        "secular": float(abs(np.polyfit(times, ends, 1)[0]) / np.ptp(ends)), **binned(ends),
    }  # fmt: skip


COLUMNS = ("linear", "angular", "quaternion", "lowest", "largest", "trend", "energy", "amplitude", "averaged", "band",
           "secular")  # fmt: skip
"""Figures that some of the rows have."""


def study(store: Store, sizes: Sizes) -> Results:
    """One row per mechanism and step; a figure that it does not have is ''."""
    work: dict[str, Any] = {BODY: flip, CHAIN: float_freely, LINKAGE: close_loop, PENDULUM: swing}
    cases = [
        {"case": BODY, "dt": DT, "seconds": FLIPS},
        {"case": CHAIN, "dt": DT, "seconds": FLOATS},
        {"case": LINKAGE, "dt": DT, "seconds": sizes.linkage},
        *grid(case=[PENDULUM], dt=sizes.energy_steps, seconds=[sizes.pendulum]),
    ]
    rows = units(store, "conservation", cases, lambda case, dt, seconds: work[case](dt, seconds))
    empty = dict.fromkeys(("case", "dt", "seconds", "unconverged", *COLUMNS), "")
    return {"conservation": [{**empty, **row} for row in rows]}


def targets(results: Results) -> list[Target]:
    rows = results["conservation"]
    body, chain, linkage = (first(rows, case=case) for case in (BODY, CHAIN, LINKAGE))
    swings = sorted(where(rows, case=PENDULUM), key=lambda row: row["dt"])
    result = [
        Target(f"{BODY}: drift of momentum [kg m/s, kg m²/s]", max(body["linear"], body["angular"]), KEPT),
        Target(f"{BODY}: {FLIPPED} rad/s over the largest −ω_y", FLIPPED / max(-body["lowest"], 1e-12), 1.0),
        Target(f"{BODY}: | |q| − 1 |", body["quaternion"], NORM),
        Target(f"{CHAIN}: drift of linear momentum [kg m/s]", chain["linear"], FLOATING),
        Target(f"{CHAIN}: drift of angular momentum [kg m²/s]", chain["angular"], FLOATING),
        Target(f"{LINKAGE}: largest ‖g‖ in {linkage['seconds']:g} s [m, rad]", linkage["largest"], CLOSED),
        Target(f"{LINKAGE}: ‖g‖ in the last tenth over that in the first", linkage["trend"], STEADY),
    ]
    for row in swings:
        name = f"{PENDULUM}, {row['dt']:g} s"
        result.append(Target(f"{name}: band of energy in the later half over that in the first", row["trend"], STEADY))
        result.append(
            Target(f"{name}: slope of energy times {row['seconds']:g} s, of its band", row["secular"], SECULAR)
        )
    if len(swings) > 1:
        order = slope(column(swings, "dt"), column(swings, "amplitude"))
        result.append(Target(f"{PENDULUM}: |order − 1| of the energy's band in dt", abs(order - 1.0), FIRST_ORDER))
    failed = sum(row["unconverged"] for row in rows)
    return [*result, Target("conservation: steps that did not converge", failed, NONE)]


def draw(results: Results):
    """ω of the flipping body, errors of joints and energies over time."""
    rows = results["conservation"]
    figure, axes = new_figure(1, 3, (16, 4.4))
    left, middle, right = axes[0]
    body, linkage = first(rows, case=BODY), first(rows, case=LINKAGE)
    omega = np.array(body["omega"])
    left.plot(np.linspace(0.0, body["seconds"], len(omega)), omega, label=["ω_x", "ω_y", "ω_z"])
    left.axhline(-FLIPPED, color="grey", linestyle=":")
    left.set(ylabel="[rad/s]", title="a body without torque turns over")
    times = np.linspace(0.0, linkage["seconds"], len(linkage["high"]))
    middle.semilogy(times, linkage["high"], color="C0", label="largest ‖g‖ nearby")
    middle.axhline(CLOSED, color="grey", linestyle=":", label="target")
    middle.set_ylabel("[m, rad]")
    middle.set_title(f"four-bar: ‖g‖ ≤ {linkage['largest']:.1e}, last tenth / first {linkage['trend']:.2f}")
    for k, row in enumerate(where(rows, case=PENDULUM)):
        times = np.linspace(0.0, row["seconds"], len(row["high"]))
        label = f"dt = {1e3 * row['dt']:g} ms, slope · time / band = {row['secular']:.0e}"
        band = {"color": f"C{k}", "alpha": 0.7, "linewidth": 0, "label": label}
        right.fill_between(times, row["low"], row["high"], step="mid", **band)
    low, high = right.get_ylim()
    right.set_ylim(low, high + 0.3 * (high - low))  # room for the legend
    right.set(ylabel="energy [J]", title="double pendulum")
    finish(axes, "time [s]")
    return figure


def section(results: Results) -> str:
    rows = results["conservation"]
    body, chain, linkage = (first(rows, case=case) for case in (BODY, CHAIN, LINKAGE))
    return "\n".join([
        "## What is kept\n",
        image("conservation_over_time", "A body that flips; the joints of a four-bar linkage; the energy of a double "
              "pendulum, bands of all samples"),
        f"A body without torque, {body['seconds']:g} s: momentum drifts by {max(body['linear'], body['angular']):.1e}, "
        f"ω_y comes down to {body['lowest']:.3f} rad/s, quaternions are unit within {body['quaternion']:.1e}. A free "
        f"chain, {chain['seconds']:g} s, ε = 1e-12: linear momentum drifts by {chain['linear']:.1e}, angular by "
        f"{chain['angular']:.1e}. A four-bar linkage, {linkage['seconds']:g} s: ‖g‖ ≤ {linkage['largest']:.1e}, in the "
        f"last tenth {linkage['trend']:.2f} of that in the first. A double pendulum, chaotic: its energy stays in a "
        "band proportional to dt; that with the potential averaged over each step, in one proportional to dt².\n",
        table_of(where(rows, case=PENDULUM), {
            "dt [ms]": lambda row: f"{1e3 * row['dt']:g}", "time [s]": "{seconds:g}",
            "energy, standard deviation [J]": "{amplitude:.3g}", "band [J]": "{band:.3g}",
            "averaged, deviation [J]": "{averaged:.3g}", "band, later half / first": "{trend:.2f}",
            "\\|slope\\| · time / band": "{secular:.1e}", "unconverged": "{unconverged}",
        }),
    ])  # fmt: skip


CONSERVATION = Part(
    "conservation", study, section, targets, {"conservation_over_time": draw}, tables=("conservation",)
)  # fmt: skip
