"""What a simulation warns of: things that it will do, but that the user hardly wants."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from stickslip.collision.detector import Detector
from stickslip.collision.detectors import DETECTORS
from stickslip.errors import (
    EnergyGainWarning,
    NotHonouredWarning,
    PainleveWarning,
    StartWarning,
    StickslipWarning,
    UnconvergedWarning,
    UnstableStepWarning,
    called,
)
from stickslip.methods.base import Method
from stickslip.model.arrays import SLIDE
from stickslip.simulation.periods import round_step

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

DEEP_START = 1e-3
"""[m] a deeper penetration at the start is announced."""
TINY_STEP = 1e-5
"""[s] below it a default time step is announced: such a run takes long."""


def not_honoured(method: str, stepper: Method) -> None:
    """Restitution and preload; that a rigid contact has no stiffness is what the method is chosen for. One that has K
    along the normal is also asked for K along the surface."""
    along = ("tangent_stiffness", "tangent_damping") if "stiffness" in stepper.honours else ()
    for sentence in stepper.not_honoured("restitution", "preload", "torsion", "rolling", "adhesion", *along):
        _warn(f"{method} does not honour {sentence}.", NotHonouredWarning)


def no_groups(method: str, detector: Detector | None) -> None:
    """Warn that a method which works with groups of subcontacts gets single contacts."""
    if detector is not None and type(detector).find_groups is Detector.find_groups:
        name = next((name for name, kind in DETECTORS.items() if kind is type(detector)), type(detector).__name__)
        _warn(
            f"{method} works with groups of subcontacts, and the detector {name!r} finds single contacts, each of "
            "which is then a group of its own (for peg, this is stewart-trinkle). Leave detector out, or give one that "
            "finds groups.",
            NotHonouredWarning,
        )


def tiny_step(dt: float) -> None:
    if dt < TINY_STEP:
        _warn(
            f"dt = {dt:g} s, {1 / dt:.0e} steps per second: a light link or a short lever carries a stiff contact or "
            "spring in this scene; soften it, or give dt yourself.",
            UnstableStepWarning,
        )


def long_step(method: str, dt: float, limit: float, better: float) -> None:
    if dt > limit:
        _warn(
            f"dt = {dt:g} s is above {limit:.2g} s, where {method} becomes unstable if all contacts of this scene "
            f"touch, all springs act and all links hang; leave dt out for {better:g} s, or choose softer contacts.",
            UnstableStepWarning,
        )


def softened_contacts(method: str, stepper: Method) -> None:
    """A step that is longer than the time in which soft contacts are to push bodies out."""
    time = getattr(stepper, "contact_time", float("inf"))
    if stepper.dt > time:
        _warn(
            f"dt = {stepper.dt:g} s is above {time:g} s, the time constant (solref) in which contacts of {method} push "
            f"bodies out: they will sink in deeply; take dt = {0.5 * time:g} s or less.",
            UnstableStepWarning,
        )


def shaking_controller(sim: Simulation, period: float) -> None:
    """Gains at which a controller that is asked every ``period`` [s] makes the joints shake, if it knows."""
    longest = getattr(sim.controller, "longest_period", None)
    if longest is not None and period > (limit := longest(sim.model, sim.state.q)):
        _warn(
            f"{called(sim.controller)}: joints shake, since a control holds for {period:g} s, and at these gains it "
            f"may hold for at most {limit:.2g} s; take dt and control_dt = {round_step(limit, period):g} s or lower "
            "gains.",
            UnstableStepWarning,
        )


def rounded_period(note: str) -> None:
    _warn(note, StickslipWarning)


def unconverged(sim: Simulation, count: int, steps: int, where: str) -> None:
    """Steps whose solver did not reach its tolerance: at the end of each ``run``, and once in a loop of single steps.
    The text for a single step has no number that changes, so that Python shows it once for many simulations, too."""
    if count > 0:
        _warn(
            f"{sim.method}: the solver of {count} of {steps} steps did not reach its tolerance; its best was taken: "
            f"{sim.stepper.at_unconverged}." + (f" {where}" if where else ""),
            UnconvergedWarning,
        )


def energy_gain(sim: Simulation, gained: float, swing: float) -> None:
    """More energy than there was, in joules; ``swing`` is that of the energy."""
    better = ", or bias='midpoint'" if getattr(sim.stepper.options, "bias", "") == "explicit" else ""
    if sim.stepper.capabilities.order == 1:
        better += ", or a method of higher order (rk4)"
    shorter = min(round_step(sim.dt, sim.dt), round_step(sim.stable_dt, sim.dt))
    _warn(
        f"{sim.method} at dt = {sim.dt:g} s has gained {gained:.3g} J by t = {sim.time:.4g} s, {gained / swing:.0%} of "
        f"the swing of its energy, though nothing drives the scene; take dt = {shorter:g} s or less"
        f"{better}.",
        EnergyGainWarning,
    )


def painleve(sim: Simulation, announced: bool) -> bool:
    """A sliding contact in Painlevé's paradox, once in a simulation; returns whether it has been announced."""
    seen = getattr(sim.stepper, "seen_paradox", None)
    if seen is None or announced:
        return announced
    found, (first, second) = seen.paradox, seen.links
    meaning = "no finite force keeps it sliding" if found.inconsistent else "it may let go or jam"
    _warn(
        f"Painlevé's paradox, {found.kind}: contact {found.contact} of {second!r} on {first!r} slides with "
        f"{found.speed:.3g} m/s and μ = {found.friction:.4g}, above {found.critical:.4g} for this direction: "
        f"{meaning}. The step is taken, as an impact without collision; less friction avoids it.",
        PainleveWarning,
    )
    return True


def violent_start(sim: Simulation) -> None:
    """A start with bodies inside each other, with open loops or outside joint limits is a catapult; the contacts must
    be up to date."""
    m, c = sim.model, sim.contacts.arrays
    gap = gaps_of_groups(sim)
    deep = np.flatnonzero(gap < -DEEP_START)
    if len(deep):
        deep = deep[-gap[deep] > sim.stepper.bearable_depths()[deep]]
    if len(deep):
        deepest = int(deep[np.argmin(gap[deep])])
        first, second = sim.contacts[deepest].bodies
        others = len(set(zip(c.link1[deep].tolist(), c.link2[deep].tolist(), strict=True))) - 1
        remedy = "start them apart, by scene.set_home or sim.set_state"
        if _of_one_robot(sim, first, second):
            remedy = f"start in another pose, or let the two pass: scene.exclude({first!r}, {second!r})"
        _warn(
            f"the simulation starts with {second!r} {-gap[deepest]:.3g} m inside {first!r}"
            f"{_and_more(others, 'pair')}: {sim.stepper.at_overlap}; {remedy}",
            StartWarning,
        )
    opened = sim.stepper.joint_error()[:, 0] if m.loops else np.zeros(0)
    if opened.max(initial=0.0) > DEEP_START:
        worst = int(np.argmax(opened))
        _warn(
            f"the simulation starts with {sim.stepper.constraint_names[worst]!r} open by {opened[worst]:.3g} m or rad: "
            "closing it throws things about; start with closed loops, by scene.set_home or sim.set_state",
            StartWarning,
        )
    q, limits = sim.state.q[m.tree.joint_q], m.joint_forces.range
    scalar = (m.tree.joint_type >= SLIDE) & (m.joint_forces.limited != 0)
    outside = np.flatnonzero(scalar & ((q < limits[:, 0] - 1e-6) | (q > limits[:, 1] + 1e-6)))
    if len(outside):
        j = outside[0]
        _warn(
            f"the simulation starts with joint {m.joint_names[j]!r} at {q[j]:.4g}, outside its range "
            f"{limits[j, 0]:.4g} … {limits[j, 1]:.4g}{_and_more(len(outside) - 1, 'joint')}: {sim.stepper.at_limits}; "
            "start elsewhere, by scene.set_home or sim.set_state",
            StartWarning,
        )


def _of_one_robot(sim: Simulation, first: str, second: str) -> bool:
    """Whether two bodies hang together by joints, so that their shapes may overlap in every pose."""
    mj = sim.model.mj
    roots = {int(mj.body(name).rootid[0]) for name in (first, second) if name}
    return len(roots) == 1 and roots != {0}


def gaps_of_groups(sim: Simulation) -> np.ndarray:
    """(nc,) the gaps of the contacts at hand [m]; where they come in groups, the largest of the group."""
    gap, groups = sim.contacts.arrays.gap[: len(sim.contacts)], sim.stepper.contact_groups()
    if groups is None or len(groups) < 2:
        return gap
    return np.repeat(np.maximum.reduceat(gap, groups[:-1]), np.diff(groups))


def _and_more(others: int, what: str) -> str:
    return f" (and {others} more {what}{'s' if others > 1 else ''})" if others else ""


def _warn(message: str, category: type[Warning]) -> None:
    """A warning that points at the user's line, not at ours."""
    package = str(Path(__file__).parents[1])
    depth = 1
    while sys._getframe(depth).f_code.co_filename.startswith(package):
        depth += 1
    warnings.warn(message, category, stacklevel=depth + 1)
