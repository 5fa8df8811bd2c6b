"""Sensors of a scene: their kinds and names, sensors from Python, and notes on those that are not read."""

from __future__ import annotations

import mujoco
import numpy as np

from stickslip.errors import expected, listed, number, unknown, whole

TYPES = {int(kind): name.partition("_")[2].lower() for name, kind in mujoco.mjtSensor.__members__.items()}
"""Names of MuJoCo's types of sensors: ``framepos``, ``jointactfrc``, …"""
NOT_READ = {
    "plugin": "code of MuJoCo's own",
    "user": "callbacks of MuJoCo's own",
}
"""Kinds of sensors that cannot be read, and what they are."""


def sensor_kind(mj: mujoco.MjModel, i: int) -> str:
    """The type of sensor i."""
    return TYPES[int(mj.sensor_type[i])]


def sensor_notes(mj: mujoco.MjModel) -> list[str]:
    """Notes on sensors that are not read, and on what is not simulated of the others."""
    notes, kinds = [], [sensor_kind(mj, i) for i in range(mj.nsensor)]
    for kind in sorted(set(kinds) & set(NOT_READ)):
        names = listed(repr(mj.sensor(i).name) for i in range(mj.nsensor) if kinds[i] == kind)
        notes.append(f"not read: {kind} sensor {names} ({NOT_READ[kind]})")
    for what, values in (
        ("noise", mj.sensor_noise),
        ("delay", mj.sensor_delay),
        ("interval", mj.sensor_interval[:, 0]),
    ):
        some = np.flatnonzero(values > 0.0)
        if len(some):
            notes.append(f"not simulated: {what} of sensor {listed(repr(mj.sensor(int(i)).name) for i in some)}")
    return notes


SITE, JOINT, TENDON = mujoco.mjtObj.mjOBJ_SITE, mujoco.mjtObj.mjOBJ_JOINT, mujoco.mjtObj.mjOBJ_TENDON
BODY, XBODY, GEOM = mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY, mujoco.mjtObj.mjOBJ_GEOM
ALIASES = {
    "jointactuatorfrc": "jointactfrc", "tendonactuatorfrc": "tendonactfrc", "distance": "geomdist",
    "normal": "geomnormal", "fromto": "geomfromto",
}  # fmt: skip
"""Names of MJCF → of MuJoCo's types."""
OF_SITES = ("touch", "accelerometer", "velocimeter", "gyro", "force", "torque", "magnetometer", "rangefinder")
OF_JOINTS = (
    "jointpos", "jointvel", "ballquat", "ballangvel", "jointlimitpos", "jointlimitvel", "jointlimitfrc", "jointactfrc",
)  # fmt: skip
OF_TENDONS = ("tendonpos", "tendonvel", "tendonactfrc", "tendonlimitpos", "tendonlimitvel", "tendonlimitfrc")
OF_FRAMES = (
    "framepos", "framequat", "framexaxis", "frameyaxis", "framezaxis", "framelinvel", "frameangvel", "framelinacc",
    "frameangacc", "insidesite",
)  # fmt: skip
OBJECTS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OF_SITES, ("site",)),
    **dict.fromkeys(OF_JOINTS, ("joint",)),
    **dict.fromkeys(OF_TENDONS, ("tendon",)),
    **dict.fromkeys(("actuatorpos", "actuatorvel", "actuatorfrc"), ("actuator",)),
    **dict.fromkeys(("subtreecom", "subtreelinvel", "subtreeangmom"), ("body",)),
    **dict.fromkeys(OF_FRAMES, ("site", "body", "shape")),
    **dict.fromkeys(("geomdist", "geomnormal", "geomfromto"), ("shape", "body")),
    "contact": ("shape", "body", "site"),
    **dict.fromkeys(("e_potential", "e_kinetic", "clock"), ()),
}
"""Kind of a sensor that Python can add → what it may be a sensor of."""
WITH_OTHER = {*OF_FRAMES, "geomdist", "geomnormal", "geomfromto", "contact"} - {"framelinacc", "frameangacc"}
"""Kinds that may name a second object; all but frames and contacts must."""
LISTS = {"site": "sites", "body": "bodies", "shape": "geoms", "joint": "joints", "tendon": "tendons"}
DATA = ("found", "force", "torque", "dist", "pos", "normal", "tangent", "linvel", "angvel")
REDUCE = ("none", "mindist", "maxforce", "netforce")


def find_object(spec: mujoco.MjSpec, what: str, name: str) -> str:
    """The name, if the specification has such an element."""
    known = [element.name for element in getattr(spec, LISTS.get(what, f"{what}s")) if element.name]
    if name not in known:
        raise unknown(what, str(name), known)
    return name


def add_sensor(
    spec: mujoco.MjSpec,
    kind: str,
    name: str,
    given: dict[str, str | None],
    other: str | None,
    cutoff: float,
    data: tuple[str, ...],
    reduce: str,
    count: int,
) -> None:
    """Add a sensor; ``given`` are the objects it may be a sensor of, of which one is not None."""
    kind = ALIASES.get(kind, kind)
    if kind not in OBJECTS:
        raise unknown("kind of sensor", str(kind), {*OBJECTS, *ALIASES})
    if name in [sensor.name for sensor in spec.sensors]:
        raise expected("name of a sensor", "one that is not taken", name)
    named = {what: value for what, value in given.items() if value is not None}
    wanted = " or ".join(f"{what}=…" for what in OBJECTS[kind])
    if set(named) - set(OBJECTS[kind]) or len(named) != min(1, len(OBJECTS[kind])):
        raise expected(f"{kind} sensor {name!r}", wanted or "no object", ", ".join(named) or "none")
    limit = number(f"cutoff of sensor {name!r}", cutoff, "a number ≥ 0", least=0.0)
    parts = [part for part in data if part not in DATA]
    if parts:
        raise unknown(f"data of sensor {name!r}", str(parts[0]), DATA)
    if reduce not in REDUCE:
        raise unknown(f"reduce of sensor {name!r}", str(reduce), REDUCE)
    slots = whole(f"count of sensor {name!r}", count, 1)
    types = {"site": SITE, "body": XBODY, "shape": GEOM, "joint": JOINT, "tendon": TENDON}
    types["actuator"] = mujoco.mjtObj.mjOBJ_ACTUATOR
    objects = []
    for what, value in named.items():
        objects.append((what, find_object(spec, what, value)))
    if other is not None:
        if kind not in WITH_OTHER:
            raise expected(f"other of sensor {name!r}", f"none for {kind}", other)
        kinds = ("site",) if kind == "insidesite" else ("shape", "body") if kind.startswith("geom") else LISTS
        places = [w for w in kinds if w in OBJECTS[kind] and other in [e.name for e in getattr(spec, LISTS[w])]]
        if not places:
            raise unknown(
                f"other of sensor {name!r}", str(other), {e.name for w in kinds for e in getattr(spec, LISTS[w])}
            )
        objects.append((places[0], other))
    elif kind in ("insidesite", "geomdist", "geomnormal", "geomfromto"):
        raise expected(f"other of sensor {name!r}", "the name of a second object", None)
    sensor = spec.add_sensor(name=name, type=mujoco.mjtSensor(_number(kind)), cutoff=limit)
    plain = BODY if kind in ("contact", "subtreecom", "subtreelinvel", "subtreeangmom") or kind[:4] == "geom" else XBODY
    fields = (("objtype", "objname"), ("reftype", "refname"))
    for (what, value), (kind_field, name_field) in zip(objects, fields, strict=False):
        setattr(sensor, kind_field, plain if what == "body" else types[what])
        setattr(sensor, name_field, value)
    if kind == "contact":
        sensor.intprm[:3] = sum(1 << DATA.index(part) for part in set(data)), REDUCE.index(reduce), slots
    elif kind == "rangefinder":
        sensor.intprm[0] = 1


def _number(kind: str) -> int:
    return next(i for i, name in TYPES.items() if name == kind)
