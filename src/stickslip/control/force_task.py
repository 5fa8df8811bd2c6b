"""An objective on contact forces in the inverse-dynamics controller.

    weight·Σ ‖f_i − f_ref,i‖²    over the contacts i that have a reference f_ref,i (3,) [N]

f_i is the force on the robot at contact i, in world axes. A contact that has a reference is not pulled towards zero by
``force_weight`` any more. Equations of motion, friction pyramids, normal forces and torque limits remain constraints:
if the reference violates them, the force ends on their boundary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from stickslip.errors import expected, number, unknown
from stickslip.model.model import Model


class ContactForce:
    """Track given contact forces [N] on the robot in world axes.

    ``reference`` is a mapping from contacts to forces (3,), an array (n, 3) in the order of the n contacts, or a
    function of time that returns either, or None while the task is off. In a mapping, contacts that are left out are
    free, and contacts that are not active at the time are ignored. An array has one row per active contact.
    ``weight`` ≥ 0 [(m/s²/N)²] is small by default: an error of 1 N counts like an error of 0.03 m/s² in the
    acceleration of the centre of mass.

    >>> more = ContactForce({"FL_FOOT": (0, 0, 8), "HR_FOOT": (0, 0, 8)})
    >>> controller = InverseDynamics(feet, [CenterOfMass(), Posture(weight=1e-3), more])
    """

    def __init__(self, reference, *, weight: float = 1e-3) -> None:
        self.reference = reference
        self.weight = number("ContactForce weight", weight, "a number ≥ 0", least=0.0)

    def bind(self, model: Model, contacts: Sequence[str], *, always: bool) -> None:
        """Check the reference against the contacts at t = 0; ``always`` says that they never change."""
        self._model, self._always = model, tuple(contacts) if always else None
        self.target(0.0, contacts)

    def target(self, t: float, contacts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """(k,) indices of the active contacts that have a reference at t, and (k, 3) their forces [N]."""
        wanted = self.reference(t) if callable(self.reference) else self.reference
        what = f"ContactForce reference at t = {t:g} s"
        if wanted is None and callable(self.reference):
            return np.zeros(0, dtype=int), np.zeros((0, 3))
        if isinstance(wanted, Mapping):
            for name in wanted:
                self._model.frame(name)
                if self._always is not None and name not in self._always:
                    raise unknown("contact of ContactForce", name, self._always)
            members = [i for i, name in enumerate(contacts) if name in wanted]
            rows = [
                _forces(f"{what}, {contacts[i]!r}", wanted[contacts[i]], (3,), "three numbers [N]") for i in members
            ]
            return np.array(members, dtype=int), np.array(rows).reshape(-1, 3)
        shape = (len(contacts), 3)
        form = f"forces of shape {shape} [N], a row for each of {', '.join(contacts) or 'no contacts'}"
        remedy = "a mapping from contacts to forces (3,) also fits when contacts change"
        return np.arange(len(contacts)), _forces(what, wanted, shape, form, remedy)


def _forces(what: str, value, shape: tuple[int, ...], form: str, remedy: str = "") -> np.ndarray:
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise expected(what, form, value, remedy) from None
    if array.shape != shape:
        raise expected(what, form, f"shape {array.shape}", remedy)
    if not np.all(np.isfinite(array)):
        raise expected(what, "finite forces", value)
    return array
