"""Linear feedback along a reference: u = u_ref(t) + K_fb(t)·(x_ref(t) ⊖ x).

x = (q, v) (nq + nv,), ⊖ on the configuration manifold (2nv,), u (nu,) forces of the actuated joints. It drives
the trot and the jump of Hammoud et al., "Exponential Integration for Efficient and Accurate Multi-Body Simulation with
Stiff Viscoelastic Contacts", Section VI.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from zipfile import BadZipFile
from zlib import error as ZlibError

import numpy as np

from stickslip.control.actuation import Actuation, check_bound
from stickslip.dynamics import Dynamics
from stickslip.errors import InputError, expected
from stickslip.files import write_whole
from stickslip.model.model import Model, State


@dataclass(frozen=True, repr=False)
class Reference:
    """A motion with feed-forward forces and feedback gains at n instants; after the last instant it is held."""

    time: np.ndarray
    """(n,) [s], increasing."""
    q: np.ndarray
    """(n, nq)."""
    v: np.ndarray
    """(n, nv)."""
    u: np.ndarray
    """(n, nu) force of every actuator's joint [N m or N], gear included."""
    gains: np.ndarray
    """(n, nu, 2nv) K_fb: joint force per error of q [N m/rad, N m/m, …] and of v [N m s/rad, …]."""

    def __post_init__(self) -> None:
        for field in fields(self):
            try:
                array = np.array(getattr(self, field.name), dtype=float)
            except (TypeError, ValueError, OverflowError):
                raise expected(f"reference {field.name}", "an array of numbers", getattr(self, field.name)) from None
            if not np.all(np.isfinite(array)):
                raise expected(f"reference {field.name}", "finite numbers", "NaN or infinity")
            object.__setattr__(self, field.name, array)
        n = len(self.time) if self.time.ndim == 1 else 0
        if n < 1 or np.any(np.diff(self.time) <= 0.0):
            raise expected("reference time", "one or more instants (n,), increasing", self.time)
        for name in ("q", "v", "u"):
            shape = getattr(self, name).shape
            if len(shape) != 2 or shape[0] != n:
                raise expected(f"reference {name}", f"an array of shape ({n}, …), one row per instant", shape)
        wanted = (n, self.u.shape[1], 2 * self.v.shape[1])
        if self.gains.shape != wanted:
            raise expected("reference gains", f"an array of shape {wanted}, (n, nu, 2nv)", self.gains.shape)

    def __repr__(self) -> str:
        sizes = ", ".join(f"n{name} = {getattr(self, name).shape[1]}" for name in ("q", "v", "u"))
        return f"Reference({len(self.time)} instants from {self.time[0]:g} to {self.time[-1]:g} s, {sizes})"

    @property
    def duration(self) -> float:
        """[s] from the first to the last instant."""
        return float(self.time[-1] - self.time[0])

    def save(self, path: str | Path) -> None:
        """Write a NumPy archive (.npz)."""
        with write_whole(path) as part, part.open("wb") as file:
            np.savez_compressed(file, **{field.name: getattr(self, field.name) for field in fields(self)})

    @staticmethod
    def load(path: str | Path) -> Reference:
        """Read what ``save`` wrote."""
        try:
            name = os.fspath(path)
        except TypeError:
            raise expected("load", "the path of a file that Reference.save wrote", path) from None
        wanted = f"cannot load {name!r}: expected a file that Reference.save wrote"
        try:
            return Reference(**_arrays(name))
        except InputError as error:
            raise InputError(f"{wanted}, got another one ({error}); save the reference again") from None
        except FileNotFoundError:
            folder = os.path.dirname(os.path.abspath(name))
            raise InputError(f"{wanted}, got no such file; check the name, and the folder {folder!r}") from None
        except OSError as error:
            raise InputError(f"{wanted}, got {error.strerror or error}; give the path of a readable file") from None
        except (BadZipFile, ZlibError, EOFError) as error:
            raise InputError(f"{wanted}, got a damaged one ({error}); save the reference again") from None


def _arrays(path: str) -> dict[str, np.ndarray]:
    """Read all fields of a Reference from a file."""
    names = [field.name for field in fields(Reference)]
    try:
        archive = np.load(path, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise InputError("a single array")
        with archive:
            if missing := [name for name in names if name not in archive.files]:
                raise InputError(f"an archive without {', '.join(missing)}")
            return {name: archive[name] for name in names}
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError("not an archive of NumPy arrays") from None


class LinearFeedback:
    """Follow a reference, corrected in proportion to the error.

    >>> gains = np.hstack([np.zeros((12, 6)), 10 * np.eye(12), np.zeros((12, 6)), 0.2 * np.eye(12)])  # Solo12's joints
    >>> reference = Reference([0.0], [q], [v], np.zeros((1, 12)), [gains])  # stand
    >>> log = sim.run(0.5, controller=LinearFeedback(reference), control_dt=2e-3)

    Between two instants of the reference everything is interpolated, configurations along q₀ ⊕ s·(q₁ ⊖ q₀). The
    actuators clip forces beyond their limits.
    """

    def __init__(self, reference: Reference) -> None:
        if not isinstance(reference, Reference):
            raise expected("reference", "a Reference", type(reference).__name__)
        self.reference = reference

    def bind(self, model: Model) -> None:
        """Check the reference against the model."""
        r = self.reference
        for name, got, wanted in (("q", r.q, model.nq), ("v", r.v, model.nv), ("u", r.u, model.nu)):
            if got.shape[1] != wanted:
                raise expected(f"reference {name}", f"{wanted} columns, as the model has", got.shape[1])
        for q in r.q:
            model.check(State(q, np.zeros(model.nv), act=np.zeros(model.na)))
        self._actuation = Actuation(model, "LinearFeedback")
        self._dynamics = Dynamics(model)

    def sample(self, t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """q (nq,), v (nv,), u (nu,) and gains (nu, 2nv) of the reference at time t [s]."""
        r = self.reference
        k = int(np.clip(np.searchsorted(r.time, t, side="right") - 1, 0, len(r.time) - 1))
        if k == len(r.time) - 1 or t <= r.time[0]:
            return r.q[k], r.v[k], r.u[k], r.gains[k]
        s = (t - r.time[k]) / (r.time[k + 1] - r.time[k])
        q = self._dynamics.integrate(r.q[k], self._dynamics.difference(r.q[k], r.q[k + 1]), s)
        v, u, gains = (x[k] + s * (x[k + 1] - x[k]) for x in (r.v, r.u, r.gains))
        return q, v, u, gains

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        check_bound(self)
        q_ref, v_ref, u_ref, gains = self.sample(t)
        error = np.concatenate([self._dynamics.difference(q, q_ref), v_ref - v])
        return self._actuation.control(u_ref + gains @ error, q, v)
