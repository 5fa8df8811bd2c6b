"""Attributes that are assigned or read by mistake: ``scene.graviti = …`` is an error that names ``gravity``.

Python would take any name and nothing would come of it. ``Closed`` is the base of classes whose attributes people
assign. Names with a leading underscore, and the attributes of subclasses from outside the package, are free.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, TypeVar

from stickslip.errors import InputError, suggested

T = TypeVar("T")


class AssignmentError(InputError, AttributeError):
    """An attribute that does not exist or cannot be assigned."""


ELSEWHERE: Mapping[str, str] = {
    **dict.fromkeys(("q", "qpos", "configuration"), "state.q"),
    **dict.fromkeys(("v", "qvel", "velocity"), "state.v"),
    **dict.fromkeys(("qacc", "a", "accelerations"), "acceleration"),
    **dict.fromkeys(("ctrl", "u", "action"), "control"),
    "data": "state, inputs, contacts or body(name)",
    **dict.fromkeys(("xfrc_applied", "external_force", "apply_force"), "push(body, force)"),
    "qfrc_applied": "inputs.applied",
    **dict.fromkeys(("xpos", "xquat", "link", "get_body"), "body(name).pose"),
    **dict.fromkeys(("ncon", "contact", "get_contacts"), "contacts"),
    **dict.fromkeys(("render", "viewer", "visualize", "show"), "run(2.0) and log.video, or ss.view(sim)"),
    **dict.fromkeys(("forward", "mj_forward"), "observe()"),
    "simulate": "run(seconds)",
    "opt": "dt and options",
}
"""What other simulators call things → where a simulation has them."""
IN_MODEL: Mapping[str, str] = {
    **dict.fromkeys(("nbody", "nlinks", "num_bodies"), "nlink, which counts the world"),
    **dict.fromkeys(("njnt", "njoint", "njoints"), "joint_names, of which len() is the number"),
    **dict.fromkeys(("ngeom", "geoms", "geom"), "shapes"),
    **dict.fromkeys(("dof", "ndof"), "nv"),
    **dict.fromkeys(("body_names", "bodies", "links"), "link_names"),
    **dict.fromkeys(("body_mass", "mass", "masses"), "inertia.mass, and model.set_body(name, mass=…)"),
    **dict.fromkeys(("qpos0", "q0", "home"), 'keyframes["home"].q'),
    "gravity": "inertia.gravity, and model.set_gravity((x, y, z))",
    "opt": "inertia.gravity; dt belongs to the simulation",
}
"""What other simulators call things → where a model has them."""
IN_DYNAMICS: Mapping[str, str] = {
    **dict.fromkeys(("mass_matrix", "M", "inertia_matrix", "mj_fullM"), "crba(q)"),
    **dict.fromkeys(("inverse_dynamics", "id"), "rnea(q, v, a)"),
    **dict.fromkeys(("forward_dynamics", "fd"), "aba(q, v, tau)"),
    **dict.fromkeys(("nle", "coriolis", "nonlinear_effects"), "bias(q, v)"),
    **dict.fromkeys(("com", "centre_of_mass"), "center_of_mass(q)"),
    **dict.fromkeys(("forward_kinematics", "fk", "frame_placement"), "frame_pose(q, name)"),
    **dict.fromkeys(("jacobian", "J"), "frame_jacobian(q, name)"),
    "gravity": "bias(q, 0 * v), which is gravity alone",
}
"""What other libraries call things → where the dynamics has them."""
IN_FRAMES: Mapping[str, str] = {
    **dict.fromkeys(("qpos", "positions", "configuration"), "q"),
    **dict.fromkeys(("qvel", "velocity", "velocities"), "v"),
    **dict.fromkeys(("ctrl", "u", "action"), "control"),
    **dict.fromkeys(("t", "times"), "time"),
    **dict.fromkeys(("xpos", "xquat", "poses"), "pose"),
}
"""What other simulators call things → where states and logs have them."""
IN_BODY: Mapping[str, str] = {
    **dict.fromkeys(("position", "xpos", "translation", "location", "p"), "pos"),
    **dict.fromkeys(("orientation", "xquat", "quaternion"), "quat"),
    **dict.fromkeys(("xmat", "R", "rot", "rotation_matrix"), "rotation"),
    **dict.fromkeys(("vel", "linvel", "linear_velocity", "cvel"), "velocity"),
    **dict.fromkeys(("omega", "angvel", "rotational_velocity"), "angular_velocity"),
    **dict.fromkeys(("cacc", "acc", "linear_acceleration"), "acceleration"),
    **dict.fromkeys(("com", "xipos", "subtree_com", "centre_of_mass"), "center_of_mass"),
    **dict.fromkeys(("J", "jac", "jacp", "jacr"), "jacobian()"),
    **dict.fromkeys(("xfrc_applied", "force", "apply_force"), "sim.push(body, force)"),
    **dict.fromkeys(("inertia", "friction"), "sim.model.set_body or sim.model.set_shape"),
}
"""What other simulators call things → where the view of a body has them."""
IN_JOINT: Mapping[str, str] = {
    **dict.fromkeys(("qpos", "position", "pos", "angle"), "q"),
    **dict.fromkeys(("qvel", "velocity", "vel", "rate"), "v"),
    **dict.fromkeys(("qacc", "acc"), "acceleration"),
    **dict.fromkeys(("limits", "limit"), "range"),
    **dict.fromkeys(("torque", "force", "ctrl", "control", "target"), "sim.set_control({name: …})"),
    **dict.fromkeys(("damping", "stiffness", "friction", "armature"), "sim.model.set_joint(name, …)"),
}
"""What other simulators call things → where the view of a joint has them."""
IN_ROBOT: Mapping[str, str] = {
    **dict.fromkeys(("qpos", "positions", "configuration"), "q"),
    **dict.fromkeys(("qvel", "velocity", "velocities"), "v"),
    **dict.fromkeys(("qacc", "accelerations"), "acceleration"),
    **dict.fromkeys(("ctrl", "u", "action", "tau", "torque"), "control"),
    **dict.fromkeys(("M", "inertia_matrix"), "mass_matrix"),
    **dict.fromkeys(("h", "nle", "qfrc_bias"), "bias"),
    **dict.fromkeys(("pos", "quat", "pose"), "sim.body(name).pose"),
}
"""What other simulators call things → where the view of a robot has them."""
IN_CONTACT: Mapping[str, str] = {
    **dict.fromkeys(("pos", "position", "location", "points"), "point"),
    **dict.fromkeys(("dist", "distance", "depth", "penetration"), "gap"),
    **dict.fromkeys(("forces", "wrench"), "force"),
    **dict.fromkeys(("normal_force", "tangential_force", "local_force"), "frame_force"),
    **dict.fromkeys(("geom", "shape_names"), "geoms"),
    **dict.fromkeys(("body", "body_names", "links"), "bodies"),
    **dict.fromkeys(("tangent", "tangents"), "frame"),
    "normals": "normal",
    "mu": "friction",
}
"""What other simulators call things → where contacts have them."""
IN_PARTS: Mapping[str, str] = {
    **dict.fromkeys(("pos", "quat", "velocity", "position", "orientation"), "sim.body(name), once there is a sim"),
    **dict.fromkeys(("mass", "density", "inertia"), "mass= of its shapes, or sim.model.set_body(name, mass=…)"),
    **dict.fromkeys(
        ("friction", "restitution", "stiffness"), "{0}= of its shapes, or sim.model.set_shape(name, {0}=…)"
    ),
    **dict.fromkeys(("q", "v", "control", "qpos", "qvel", "mass_matrix", "jacobian"), "sim.robot(robot)"),
}
"""What people look for in the bodies and robots of a scene → where it is."""


class MissingError(InputError, AttributeError):
    """An attribute that does not exist."""


class Named:
    """An object that answers a mistyped name with the one that may be meant."""

    elsewhere: ClassVar[tuple[str, Mapping[str, str]]] = ("", {})
    """What such an object is called in examples, and what other simulators call things → where it has them."""

    if not TYPE_CHECKING:  # type checkers find mistyped names themselves

        def __getattr__(self, name: str) -> Any:  # Python calls it for names that do not exist
            kind = type(self)
            if name.startswith("_"):
                raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
            found = getattr(kind, name, None)
            if isinstance(found, property) and found.fget is not None:
                return found.fget(self)  # it exists, and something inside failed: this raises that error again
            known = {each for each in (*dir(kind), *self.__dict__) if not each.startswith("_")}
            place = self._known_elsewhere(name, known)
            near = [] if place else suggested(name, known, cutoff=0.7)
            hint = f"did you mean {' or '.join(map(repr, near))}?" if near else place or "help() lists what there is"
            raise MissingError(f"{kind.__name__} has no attribute {name!r}; {hint}")

    def _known_elsewhere(self, name: str, known: Collection[str]) -> str:
        """Where the object has what other simulators call ``name``; empty if nobody knows."""
        example, places = self.elsewhere
        place = places.get(name, "").replace("{0}", name)
        if not place or (place.isidentifier() and place not in known):
            return ""
        whole = not example or place.startswith("sim.")
        return f"here it is {place if whole else f'{example}.{place}'}"


class Closed(Named):
    """An object whose attributes are those that ``__init__`` gives it; that ends with ``self._complete = True``."""

    fixed: ClassVar[Mapping[str, str]] = {}
    """Names that cannot be assigned → what to do instead."""
    own_names: ClassVar[bool] = False
    """Whether users may add attributes of their own; then only names that resemble a known one are refused."""

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if name in own and name not in self.fixed:
            own[name] = value
            return
        if "_complete" in own:
            self._check(name)
        object.__setattr__(self, name, value)

    def _check(self, name: str) -> None:
        kind = type(self)
        if name in self.fixed:
            raise AssignmentError(f"{kind.__name__}.{name} cannot be assigned; {self.fixed[name]}")
        found = getattr(kind, name, None)
        if isinstance(found, property) and found.fset is None:
            raise AssignmentError(f"{kind.__name__}.{name} can be read, but not assigned")
        if callable(found):
            raise AssignmentError(f"{kind.__name__}.{name} is a method: call it, {name}(…)")
        inside = kind.__module__.startswith("stickslip.")
        if hasattr(kind, name) or name.startswith("_") or not inside:
            return
        known = {each for each in (*dir(kind), *self.__dict__, *self.fixed) if not each.startswith("_")}
        near = suggested(name, known, cutoff=0.8)
        if near or not self.own_names:
            place = "" if near and self.own_names else self._known_elsewhere(name, known)
            hint = place or (f"did you mean {' or '.join(map(repr, near))}?" if near else "help() lists what there is")
            remedy = f" {self.fixed[near[0]]}" if near and near[0] in self.fixed else ""
            raise AssignmentError(f"{kind.__name__} has no attribute {name!r} to assign; {hint}{remedy}")


class Guarded(Closed):
    """A closed object that is never copied in part."""

    def __copy__(self) -> Self:
        """A copy that shared a part of the original would be changed with it, so that all copies are deep."""
        return copy.deepcopy(self)


def changed_by_setters(kind: type[T]) -> type[T]:
    """Let a frozen dataclass with ``elsewhere`` say how to change it, where Python says only that one cannot."""

    def refuse(self: Any, name: str, value: Any) -> NoReturn:
        place = self._known_elsewhere(name, dir(kind)) or f"{self.elsewhere[0]}.set_… change what can be changed"
        raise AssignmentError(f"{kind.__name__}.{name} cannot be assigned; {place}")

    setattr(kind, "__setattr__", refuse)  # noqa: B010
    return kind
