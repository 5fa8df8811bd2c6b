"""The message when a simulation diverges: step, time, body and contact, and what to try."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stickslip.errors import LONGEST
from stickslip.methods.base import FASTEST, STALLED, STATUS
from stickslip.simulation.method import stable_step

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation

NAME_OF_A_FILE = 90
"""Characters that may follow the message: where the last finite state is."""


def describe_divergence(sim: Simulation, gained: float = 0.0) -> str:
    """What happened; ``gained`` [J] is what a motion of finite numbers has gained without a reason."""
    bad = np.flatnonzero(~(np.abs(sim.state.v + sim.dt * sim.acceleration) <= FASTEST))
    if gained:
        bad = np.array([np.argmax(np.abs(sim.state.v))])
    links = [sim.model.link_names[sim.model.support.dof_link[dof]] for dof in bad[:1]]
    # at the initial state, since the failing state may not be finite
    limit = stable_step(sim.stepper, sim.model.state())
    remedy = f"try a smaller dt than {sim.dt:g} s"
    if sim.status == STALLED and not gained:  # a smaller dt has the same events, and there is no room for a contact
        where = f"step {sim.steps}, t = {sim.time:.6g} s"
        return f"{STATUS[STALLED]}: {where}; try another method, such as implicit-euler, or larger rtol and atol."
    if why := getattr(sim.stepper, "why_diverged", ""):
        return f"{why}: step {sim.steps}, t = {sim.time:.6g} s; {remedy}."
    if limit < sim.dt:
        remedy += f" (below {limit:.1g} s), or leave dt out"
    elif sim.stepper.unconverged:
        remedy += " or another solver (some steps were not solved)"
    else:
        remedy += " or softer contacts" if "stiffness" in sim.stepper.honours else ""
    if sim.controller is not None and limit >= sim.dt:
        remedy += ", or lower gains of the controller"
    where = f"step {sim.steps}, t = {sim.time:.6g} s" + "".join(f", body {link!r}" for link in links)
    what = f"{sim.method} has gained {gained:.2g} J from nothing" if gained else STATUS[sim.status]
    contact, numbers = _deepest_contact(sim)
    room = LONGEST - NAME_OF_A_FILE - len(f"{what}: {where}; {contact}; {remedy}.")
    contact += numbers if len(numbers) <= room else ""
    return f"{what}: {where}; {contact}; {remedy}."


def _deepest_contact(sim: Simulation) -> tuple[str, str]:
    """Which contact it is, and its gap and force, which a long message leaves out."""
    c, n = sim.contacts.arrays, len(sim.contacts)
    if n == 0:
        return "no contact was active", ""
    k = int(np.argmin(np.where(np.isfinite(c.gap[:n]), c.gap[:n], -np.inf)))
    first, second = (sim.model.link_names[i] for i in (c.link1[k], c.link2[k]))
    return f"deepest contact {first}–{second}", f", gap {c.gap[k]:.3g} m, {c.force[k, 0]:.3g} N"
