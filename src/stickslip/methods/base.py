"""What a method is: the checklist for writing a new one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass
from inspect import signature
from typing import Any, ClassVar, NamedTuple

import numpy as np

from stickslip._jit import kernel
from stickslip.collision.contacts import ContactList
from stickslip.constraints.joint_rows import JointRows, make_joint_rows
from stickslip.dynamics.data import Articulated, Kinematics, make_data
from stickslip.dynamics.drives import Drives, make_drives
from stickslip.dynamics.fluid_forces import Fluid, make_fluid
from stickslip.errors import deprecated
from stickslip.methods.handle import CompiledCall
from stickslip.methods.materials import Asked, asked_for, beyond, how_read
from stickslip.methods.moving import MovingParts
from stickslip.methods.options import Options
from stickslip.model.arrays import Inertia, JointForces, Support, Tree
from stickslip.model.model import Model, State

OK, DIVERGED, CONTACTS_FULL, STALLED = 0, 1, 2, 3
FASTEST = 1e9
"""[m/s or rad/s] a velocity beyond this (light makes 3e8 m/s) means that the simulation has diverged."""
STATUS = {
    OK: "the step succeeded",
    DIVERGED: f"a velocity is beyond {FASTEST:g} m/s or rad/s, or not a number",
    CONTACTS_FULL: "more contacts than the buffer holds; it is grown and the step repeated",
    STALLED: "the step size that the tolerance asks for is too small, or too many of them make a step",
}
"""What a step kernel returns, as sentences."""


@kernel
def bounded(acceleration, v, dt):
    """DIVERGED if the next velocity would not be a number, or absurd."""
    for d in range(v.shape[0]):
        if not abs(v[d] + dt * acceleration[d]) <= FASTEST:  # "not ≤" is also true of NaN
            return DIVERGED
    return OK


Stage = Callable[[Any], None]
"""A stage of a step: a function of the Simulation, which lives a layer above."""


@dataclass(frozen=True)
class Capabilities:
    """What a method declares of itself. Lists, help, colours, citations and tables are made from it.

    What a scene asks for and the method does not honour is a warning by name.
    """

    summary: str
    """One line for ``stickslip list``."""
    variants: tuple[str, ...] = ()
    """What may follow the name after a slash, the default first: contact models, cones or solvers."""
    honours: frozenset[str] = frozenset()
    """Those of friction, stiffness, damping, restitution and preload that act."""
    order: int = 1
    """Order of convergence in dt on smooth motion."""
    reference: str = ""
    """Where the method is described, with sections or equations."""
    bibtex: tuple[str, ...] = ()
    """What to cite: keys of ``references.bib``, or whole entries that begin with @."""
    page: str = ""
    """Its page below ``docs/``, unless that is ``methods/`` and the method's name."""
    stability: str = ""
    """What limits dt, in a few words."""
    colour: int | None = None
    """Its preferred hue in figures, 0 … 7."""
    loops: bool = False
    """Whether it holds the model's closed loops and welds (``model.loops``); else it refuses such a model."""
    stiff_loops: bool = True
    """Whether loops that it holds stay closed; else they give way as springs do."""
    laws: InitVar[tuple[str, ...] | None] = None
    """The old name of ``variants``."""

    def __post_init__(self, laws: tuple[str, ...] | None) -> None:
        if laws is not None:
            deprecated("Capabilities(laws=…)", "Capabilities(variants=…)")
            object.__setattr__(self, "variants", laws)


class World(NamedTuple):
    """The constant arrays that a step kernel needs."""

    tree: Tree
    support: Support
    inertia: Inertia
    passive: JointForces
    actuators: Drives
    fluid: Fluid
    rows: JointRows
    """Dry friction and couplings of joints."""


class Work(NamedTuple):
    """The scratch arrays of a step."""

    kin: Kinematics
    art: Articulated
    f_ext: np.ndarray
    """(nl, 6) external spatial forces at the reference points."""
    tau: np.ndarray
    """(nv,) joint forces."""
    acceleration: np.ndarray
    """(nv,) result of the solve stage."""


class Inputs(NamedTuple):
    """What acts on the system from outside, held constant between controller calls."""

    control: np.ndarray
    """(nu,) controls; for a step (``Simulation.acting``), activations in place of those that have one."""
    applied: np.ndarray
    """(nv,) joint forces [N or N m]."""
    wrench: np.ndarray
    """(nl, 6) force [N] and torque [N m] on each link, world axes, at the link's origin."""


def old_arguments(kind: type[Method]) -> tuple[None, ...]:
    """What methods from outside may still ask for after the variant: the argument ``pairs``."""
    asked = signature(kind.__init__).parameters.get("pairs")
    return (None,) if asked is not None and asked.default is asked.empty else ()


class Method(ABC):
    """A contact method with its time integrator. Subclass it in a folder of its own, add one line to
    ``registry.METHODS``, and lists, reports, benches and tests pick it up.

    Provide:

    * ``capabilities``: what the method declares of itself;
    * ``Options``: a dataclass with the keyword arguments of ``Simulation(..., name=value)``; a method finds their
      values in ``self.options``;
    * ``advance(state, inputs, n)``: n steps in one compiled call, returning (status, steps done). A step that does
      not end well leaves ``state`` as it was at the beginning of that step;
    * ``stages``: the same step as separate functions of a Simulation (collision, formulate, solve, integrate), which
      run when the user replaces one of them;
    * ``memory()``: the arrays that, besides q, v and time, make up the state (anchors, warm starts);
    * ``observing``: the stages after which contacts and forces at a state are known, for recordings;
    * ``replaceable``: the stages that may be Python functions, where not all of them may;
    * ``reads``: what each property of a material becomes, for reports.
    """

    capabilities: ClassVar[Capabilities]
    Options: ClassVar[type[Options]] = Options
    refused: ClassVar[Mapping[str, str]] = {}
    """Options of similar methods that would do nothing here, and why."""
    own_activations: ClassVar[bool] = False
    """Whether it advances ``state.act`` itself and is given the controls; else the simulation advances the activations
    between steps, and gives them in place of the controls."""
    by_tolerance: ClassVar[bool] = False
    """Whether tolerances decide its accuracy, not the time step."""
    default_dt: ClassVar[float] = 1e-3
    """Longest step that is chosen if the user gives none [s]."""
    file_steps: ClassVar[int] = 0
    """How many time steps of the model's file the default step may be as long as; 0: any number."""
    _failed: int = 0
    step: int = 0
    """The number of the step at hand, from 0; the simulation sets it before ``advance``, which may count on."""
    at_unconverged: ClassVar[str] = "choose a smaller dt, or allow more iterations"
    """What to do where steps do not converge, for the warning."""
    reads: ClassVar[Mapping[str, str]] = {}
    """How each property of a material acts; of one that is not honoured, what takes its place."""
    forces_midway: ClassVar[bool] = False
    """Whether contact forces act midway between two surfaces, and not at the contact point on body 2."""
    forces_at_end: ClassVar[bool] = False
    """Whether contact forces obey their law with the velocities at the end of the step, though the step leaves contacts
    with those at its beginning."""
    velocities_midway: ClassVar[bool] = False
    """Whether ``state.v`` belongs to the middle of the step that ended, so that energies of a state wave."""
    observes_acceleration: ClassVar[bool] = False
    """Whether the observing stages also give ``work.acceleration`` at the present state; else it is the last step's."""
    observing: ClassVar[tuple[str, ...]] = ("kinematics", "collision", "formulate")
    replaceable: ClassVar[frozenset[str]] = frozenset(
        {"user", "collision", "formulate", "solve", "integrate", "record"}
    )

    def __init__(self, model: Model, dt: float, variant: str, pairs: None = None, **options: Any) -> None:
        """``pairs`` has no meaning any more; it is there for methods that were written when it had one."""
        self.model, self.dt, self.variant = model, dt, variant
        self.options = self.Options(**options)
        data = make_data(model)  # its own arrays, since a user function may call sim.dynamics during a step
        self.joint_rows = make_joint_rows(model, self.couples)
        constants = (model.tree, model.support, model.inertia, model.joint_forces)
        self.world = World(*constants, make_drives(model), make_fluid(model), self.joint_rows)
        self.contacts = ContactList(data.kin)
        self.work = Work(
            kin=data.kin,
            art=data.art,
            f_ext=np.zeros((model.nlink, 6)),
            tau=np.zeros(model.nv),
            acceleration=np.zeros(model.nv),
        )

    @classmethod
    def option_help(cls) -> dict[str, str]:
        """Each option's name, and what it chooses, in one line."""
        return {name: text for name, text in cls.Options.help().items() if name not in cls.refused}

    @classmethod
    def longest_step(cls, model: Model) -> float:
        """[s] the default step, as far as stability allows it. An author who chose short steps had quick motion in
        mind, so that methods whose steps are long take no more than a few of them at once."""
        return min(cls.default_dt, cls.file_steps * float(model.mj.opt.timestep)) if cls.file_steps else cls.default_dt

    @classmethod
    def step_of_file(cls, model: Model) -> float | None:
        """The time step that the scene's file gives for this method [s]; None if it has none."""
        return None

    @abstractmethod
    def advance(self, state: State, inputs: Inputs, n: int) -> tuple[int, int]: ...

    @abstractmethod
    def stages(self) -> dict[str, Stage]: ...

    def compiled_call(self, state: State, inputs: Inputs) -> CompiledCall | None:
        """The compiled loop with its arguments, to run it in many worlds; None where Python takes the steps."""
        return None

    def why_stages(self) -> str:
        """Why Python takes the steps, one by one; empty if a compiled loop takes them."""
        return "its steps are taken by Python"

    why_double: ClassVar[str] = ""
    """Why its steps cannot be taken in single precision; empty if they can."""

    def cores_at_hand(self) -> list[tuple[int, Any]]:
        """(address, core) of the solvers that the compiled loop may call."""
        return []

    def fit_room(self, contacts: int) -> None:  # noqa: B027 - those with a compiled loop of their own have room to fit
        """Let the buffers have room for this number of contacts, also if that is less than now; the memory is lost."""

    def begin_world(self, state: State) -> None:  # noqa: B027 - few methods derive more from a state than a step does
        """Derive from a state that was set what the compiled loop expects in the memory."""

    @property
    def iterations(self) -> int:
        """Iterations of the last step's solver; 0 if the method has none."""
        return 0

    @property
    def residual(self) -> float:
        """Residual of the last step's solver, as the method defines it; 0 if the method has none."""
        return 0.0

    @property
    def unconverged(self) -> int:
        """Steps so far whose solver did not reach its tolerance."""
        return self._failed

    @property
    def constraint_names(self) -> tuple[str, ...]:
        """(nc,) of joints that are constraints: the model's loops, unless joints are constraints too."""
        return tuple(loop.name for loop in self.model.loops)

    def joint_error(self) -> np.ndarray:
        """(nc, 2) position [m or rad] and velocity [m/s or rad/s] error of these joints after the observing stages."""
        return np.zeros((0, 2))

    @property
    def at_overlap(self) -> str:
        """What becomes of bodies that start inside others, for the warning."""
        return "its contact springs will throw it out"

    @property
    def at_limits(self) -> str:
        """What becomes of joints that start outside their range, for the warning."""
        return "the springs of its limits will push it back"

    def bearable_depths(self) -> np.ndarray:
        """(nc,) depths of the contacts at hand that loads may explain [m]; deeper starts are warned of."""
        return np.zeros(len(self.contacts))

    def contact_energy(self) -> float:
        """Energy in contact springs after the observing stages [J]."""
        return 0.0

    @property
    def honours(self) -> frozenset[str]:
        """The material properties that act, with the variant and the options in force."""
        return self.capabilities.honours

    def reading(self) -> Mapping[str, str]:
        """``reads``, with the variant and the options in force."""
        return self.reads

    def materials(self) -> tuple[str, ...]:
        """How this method reads the materials of the scene's surfaces, a sentence each."""
        return how_read(self._asked(), self.honours, self.reading())

    def not_honoured(self, *only: str) -> tuple[str, ...]:
        """What surfaces ask for and this method cannot give, a sentence each; ``only`` of these properties."""
        found = beyond(self._asked(), self.honours, self.reading())
        return tuple(sentence for name, sentence in found.items() if not only or name in only)

    def _asked(self) -> dict[str, Asked]:
        if self.variant == "none":
            return {}
        return asked_for(self.model)

    geometry_ahead: ClassVar[bool] = False
    """Whether a step looks at contacts at its end, so that mocap bodies are placed there; else at its beginning."""
    loops_ahead: ClassVar[bool] = False
    """Whether a step closes loops at its end, so that mocap bodies take their frames there before it."""

    def moving_parts(self) -> MovingParts:
        """The arrays that mocap bodies move; a method that has others overrides ``move``, too."""
        return MovingParts((getattr(self, "detector", None),))

    def before_moving(self, state: State) -> None:  # noqa: B027 - only methods that check loops at a start need it
        """Look at a state that may be new, while the mocap bodies are still where they are at the beginning."""

    def move(self, poses: np.ndarray, twists: np.ndarray) -> None:  # noqa: B027 - only other engines need it
        """Take poses (nm, 7) and velocities (nm, 6) of the mocap bodies: at the world's origin [m/s] and angular
        [rad/s]. The arrays of ``moving_parts`` have been moved."""

    couples: ClassVar[bool] = True
    """Whether coupled joints are ``joint_rows``; else the method has its own rows for them."""
    solves_problems: ClassVar[bool] = False
    """Whether its steps solve complementarity problems, and it has the members of ``ComplementaritySteps``."""

    @property
    def grouped(self) -> bool:
        """Whether its contacts come in groups of subcontacts, which ``Detector.find_groups`` finds."""
        return False

    def contact_groups(self) -> np.ndarray | None:
        """(ng + 1,) where each group of the contacts at hand begins, and their number; None without groups. A group
        overlaps by its largest gap."""
        return None

    def memory(self) -> dict[str, np.ndarray]:
        return {}

    def make_room(self, contacts: int) -> None:  # noqa: B027 - only methods with a memory need it
        """Make room in the memory for this number of contacts, which a Python collision function may have found."""

    def grow(self) -> None:
        """Make room after CONTACTS_FULL."""
        self.contacts.grow()

    def remember(self, memory: Mapping[str, np.ndarray]) -> None:
        """Put back what ``memory()`` gave; the present arrays may be longer or shorter."""
        self.make_room(max((len(array) for array in memory.values()), default=0))
        self._write(memory)

    def _write(self, memory: Mapping[str, np.ndarray]) -> None:
        """Write into the present arrays, which have room."""
        for name, array in self.memory().items():
            array[:] = 0
            array[: len(memory[name])] = memory[name]

    lasting: ClassVar[tuple[str, ...]] = ("_failed", "totals", "report")
    """Attributes that outlive a change of the model's parameters, where a method has them: counts and reports."""
    memory_of_rows: ClassVar[tuple[str, ...]] = ("joint_forces",)
    """Parts of the memory that have a place per joint row. Their number depends on parameters; if it changes, they
    begin with zeros."""

    def remake(self, **options: Any) -> None:
        """Derive everything anew from the model, whose parameters have changed. Memory, counts and the accelerations of
        the last step stay; ``options`` are those of the beginning."""
        saved = {name: array.copy() for name, array in self.memory().items()}
        acceleration, com = self.work.acceleration, self.world.inertia.com
        kept = {name: vars(self)[name] for name in self.lasting if name in vars(self)}
        type(self).__init__(self, self.model, self.dt, self.variant, *old_arguments(type(self)), **options)
        vars(self).update(kept)
        self.work.acceleration[:] = acceleration
        fresh = self.memory()
        for name in set(self.memory_of_rows) & set(saved):
            if len(saved[name]) != len(fresh[name]):
                saved[name] = np.zeros_like(fresh[name])
        if not np.array_equal(com, self.model.inertia.com):
            self.forget_centres(saved)
        self.remember(saved)

    def forget_centres(self, memory: dict[str, np.ndarray]) -> None:  # noqa: B027 - few methods remember such places
        """Drop what ``memory`` has about centres of mass, because these have moved within their links."""

    def stable_dt(self, state: State) -> float:
        """An estimate of the largest stable step at this state [s]; inf where the method has no such limit."""
        return float("inf")
