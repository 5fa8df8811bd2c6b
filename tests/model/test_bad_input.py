"""Every attribute with a wrong size, sign, name, type or NaN: the error names it, in fewer than 300 characters."""

import pytest

import stickslip as ss

NAN, INF = float("nan"), float("inf")
WRONG = (NAN, INF, "x", [1.0, 2.0])
NEGATIVE = (-1.0, *WRONG)
TWO = {"joints": {"a": 1.0, "b": 1.0}}


def scene() -> ss.Scene:
    made = ss.Scene()
    made.add_plane(name="floor")
    made.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.5), name="box").add_frame("top", pos=(0, 0, 0.1))
    a = made.add_body("a", joint="hinge", axis=(0, 1, 0), pos=(1, 0, 1), motor=True)
    a.add_box((0.1, 0.1, 0.1), name="sa", mass=1.0).add_frame("tip")
    made.add_body("b", joint="hinge", pos=(2, 0, 1)).add_box((0.1, 0.1, 0.1), name="sb", mass=1.0)
    made.add_tendon("old", joints={"a": 1.0})
    return made


def joint(s, **options):
    s.body("b").add_joint("hinge", name="j9", **options)


def simulated(s):
    return ss.Simulation(s, "mujoco", dt=1e-3)


SERVO = {
    "motor": [{"motor": value} for value in ("servo", 3, [1], "Position")],
    "kp": [{"motor": "position", "kp": value} for value in (0.0, *NEGATIVE)],
    "kv": [{"motor": "velocity", "kv": value} for value in (0.0, *NEGATIVE)]
    + [{"motor": True, "kv": 1.0}, {"kv": 1.0}],
    "max_force": [{"motor": True, "max_force": value} for value in (0.0, *NEGATIVE)],
}
SURFACE = {
    **dict.fromkeys(("friction", "torsion", "rolling", "gap", "adhesion", "damping", "restitution"), NEGATIVE),
    **dict.fromkeys(("preload", "stiffness", "tangent_stiffness", "tangent_damping"), NEGATIVE),
    "margin": (*WRONG, [], {}), "condim": (2, 0, "4", 3.5, NAN, [4], True),
    "priority": (1.5, NAN, "x", [1], 2**40, []),
}  # fmt: skip
CASES = {
    "tendon": (
        lambda s, **o: s.add_tendon(**{"name": "new", **({} if "path" in o else TWO), **o}),
        {
            "stiffness": (*NEGATIVE, None), "damping": (*NEGATIVE, None), "rest": (NAN, "x", (1, 2, 3), (2, 1)),
            "range": (1.0, "x", (1, 2, 3), (2, 1), (NAN, 1), (1, 1)), "name": ("old", 3, ""),
            "joints": ({"a": NAN}, {"a": "x"}, {"c": 1.0}, {}, {"a": None}, ["a"], 3, {"box": 1.0}),
            "path": (["top"], ["top", "nix"], ["top", -1.0, "tip"], ["top", NAN, "tip"], "top", 3, [None, None]),
            **SERVO,
        },
    ),
    "joint": (
        joint,
        {**dict.fromkeys(("friction", "damping", "armature", "stiffness"), (*NEGATIVE, None)), **SERVO,
         "range": ((1, 0), (1, 1), (NAN, 1), "x", 3)},
    ),
    "keyframe": (
        lambda s, **o: s.add_keyframe(**{"name": "k", **o}),
        {
            "joints": ({"nix": 1.0}, {"a": NAN}, {"a": [1, 2]}, {"a": "x"}, {"box": [1, 2]}, {"box": [0] * 7}, 3),
            "velocities": ({"nix": 1.0}, {"a": NAN}, {"a": [1, 2]}, {"box": [1, 2, 3]}, 3, {"a": None}),
            "controls": ({"nix": 1.0}, {"a": NAN}, {"a": "x"}, {"a": [1, 2]}, 3), "name": (3, None, ""),
        },
    ),
    "contact pair": (
        lambda s, **o: s.add_contact_pair(o.pop("shape", "sa"), "sb", **o),
        {**dict.fromkeys(("friction", "torsion", "rolling", "gap", "adhesion"), (*NEGATIVE, None)),
         "margin": (*WRONG, None), "shape": ("nix", 3, "sb", None)},
    ),
    "couple": (
        lambda s, **o: s.couple(o.pop("slide", "a"), "b", **o),
        {"ratio": (*WRONG, None), "offset": (*WRONG, None), "slide": ("nix", "box", 3, None),
         "polynomial": ((), (1, 2, 3, 4, 5, 6), (NAN,), "abc", 3, [[1, 2]])},
    ),
    "shape": (lambda s, **o: s.add_box((0.1, 0.1, 0.1), **o), SURFACE),
    "ray": (
        lambda s, **o: s.ray(**{"origin": (0, 0, 1), "direction": (0, 0, -1), **o}),
        {"origin": ((0, 0), (NAN, 0, 0), "abc", 3, None), "direction": ((0, 0), (0, 0, INF), "abc", (0, 0, 0)),
         "exclude": ("nix", ["nix"], 3, [3])},
    ),
    "sim": (
        lambda s, **o: [getattr(simulated(s), {"keyframe": "reset"}.get(k, k))(v) for k, v in o.items()],
        {"sensor": ("nix", 3, None, ["t"]), "keyframe": ("nix", 3, None, ["t"])},
    ),
    "sensor": (
        lambda s, **o: s.add_sensor(**{"kind": "gyro", "site": "top", "name": "g", **o}),
        {"kind": ("nix", 3), "site": ("nix", 3, None), "cutoff": NEGATIVE, "other": ("tip", 3), "data": (["x"],),
         "reduce": ("x",), "count": (0, 1.5, "x", NAN)},
    ),
    "set_body": (
        lambda s, **o: s.compile().set_body(o.pop("body", "box"), **{"mass": 1.0, **o}),
        {"mass": (0.0, *NEGATIVE, True), "com": ((0, 0), (NAN, 0, 0), "x", 3), "body": ("nix", 3, None, "world"),
         "inertia": ((1, 1), (1, 1, NAN), (1, 1, 3), (-1, 1, 1), "x", [[1, 2, 0], [0, 1, 0], [0, 0, 1]])},
    ),
    "set_shape": (
        lambda s, **o: s.compile().set_shape(o.pop("shape", "sa"), **{"friction": 1.0, **o}),
        {**SURFACE, "shape": ("nix", 3, None)},
    ),
    "set_joint": (
        lambda s, **o: s.compile().set_joint(o.pop("joint", "a"), **{"damping": 1.0, **o}),
        {**dict.fromkeys(("friction", "damping", "armature", "stiffness"), NEGATIVE), "joint": ("nix", 3, None)},
    ),
    "set_actuator": (
        lambda s, **o: s.compile().set_actuator(o.pop("actuator", "a"), **{"gear": 1.0, **o}),
        {"kp": (1.0, -1.0, NAN), "kv": (1.0,), "gain": (NAN, "x", [1, 2], []), "bias": (NAN, "x", [1, 2, 3, 4]),
         "gear": (NAN, "x", [1] * 7, []), "control_range": ((1, 0), (1,), (NAN, 1), "x", (0, INF)),
         "force_range": ((1, 0), (1,), (NAN, 1), "x"), "actuator": ("nix", 3, None)},
    ),
    "set_gravity": (
        lambda s, gravity: s.compile().set_gravity(gravity), {"gravity": ((0, 0), (NAN, 0, 0), "x", 3, None)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", list(CASES))
def test_the_error_names_the_attribute(what):
    call, table = CASES[what]
    for attribute, values in table.items():
        for value in values:
            options = value if attribute in SERVO and what in ("tendon", "joint") else {attribute: value}
            made = scene()
            with pytest.raises(ss.InputError) as error:
                call(made, **options)
            message = str(error.value)
            assert attribute in message, (value, message)
            assert len(message) < 300, (value, message)
