"""capture_fclib: the contact problem of a simulation's next step as a file of FCLib's, whatever the method.

Methods that solve complementarity problems give their own, with Coulomb's exact cone in the place of polygons. For
other methods it is the problem of ``formulations.coulomb`` with the contacts that they find, which penetrate.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stickslip.errors import InputError, expected
from stickslip.hdf5 import check_target
from stickslip.methods.complementarity import complementarity_of
from stickslip.methods.rigid.assembly.assembler import Assembler, Dynamics
from stickslip.methods.rigid.coordinates.coordinates import Coordinates
from stickslip.methods.rigid.coordinates.joint_coordinates import JointCoordinates
from stickslip.methods.rigid.formulations.coulomb import Coulomb
from stickslip.problem_files.fclib import write_fclib
from stickslip.problem_files.fclib_problem import FCLibInfo, FCLibProblem, from_friction
from stickslip.simulation.unsolved import WHAT
from stickslip.solvers.problem import FrictionProblem

if TYPE_CHECKING:
    from stickslip.simulation.simulation import Simulation


def capture_fclib(sim: Simulation, path: str | Path | None = None) -> FCLibProblem:
    """The problem that the next step of ``sim`` poses, and a file of it; changes nothing that this step depends on.

    >>> ss.simulation.capture_fclib(sim, "step.hdf5")
    """
    found = _problem(sim)
    if found is None:
        raise InputError(
            "capture_fclib: expected a step with contacts, got one without: FCLib's files have at least one"
        )
    if path is not None:
        write_fclib(path, found)
    return found


def coordinates_of(sim: Simulation) -> Coordinates:
    """The coordinates of the method, or joint coordinates if it has none; up to date after ``sim.observe()``."""
    steps = complementarity_of(sim.stepper)
    if steps is not None:
        return steps.coordinates
    coordinates = JointCoordinates(sim.model)
    coordinates.begin(sim.state, sim.acting, sim.dt)
    return coordinates


class FCLibFiles:
    """A file per captured step, ``NAME-000123.hdf5`` by the step's number; steps without contacts have none."""

    def __init__(self, sim: Simulation, path: str | Path) -> None:
        self.sim, self.path = sim, Path(path)
        if not self.path.name:
            raise expected("capture", "the beginning of the names of files", str(path), "for example 'run.hdf5'")
        check_target(self._name())

    def _name(self) -> Path:
        suffix = self.path.suffix or ".hdf5"
        return self.path.with_name(f"{self.path.stem}-{self.sim.steps:06d}{suffix}")

    def take(self) -> None:
        found = _problem(self.sim)
        if found is not None:
            write_fclib(self._name(), found)


def _problem(sim: Simulation) -> FCLibProblem | None:
    with sim.present():
        problem = _friction_problem(sim)
    if not len(problem.friction):
        return None
    spec = sim.model.spec
    info = FCLibInfo(
        title=f"{(spec.modelname if spec is not None else '') or 'scene'}, step {sim.steps}",
        description=f"{sim.method}, t = {sim.time:.9g} s, dt = {sim.dt:g} s. {WHAT}",
        math_info="W is symmetric and positive semidefinite",
        attributes={"step": sim.steps, "time": sim.time, "timestep": sim.dt},
    )
    return from_friction(problem, info)


def _friction_problem(sim: Simulation) -> FrictionProblem:
    steps = complementarity_of(sim.stepper)
    if steps is not None:
        return steps.friction_problem()[0]
    c = coordinates_of(sim)
    assembler = Assembler(c.support)
    bodies = Dynamics(c.support, c.kin, c.M, c.L, c.velocity, assembler.pulled(c, sim.contacts, sim.dt))
    found = assembler.assemble(bodies, sim.contacts, sim.dt, c.bilateral(), c.limits(), None, c.soft(), c.bound)
    return Coulomb().friction_problem(found)[0]
