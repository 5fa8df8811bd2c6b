"""Which pairs touch, and with which coefficients: the same as MuJoCo's own contact list on random small models."""

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.allowed import touching
from stickslip.collision.contacts import ADHESION, FRICTION, ROLLING, TORSION, ContactList
from stickslip.collision.convex.broad_phase import allowed, list_pairs, pairs_of_kinds
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.convex.geometry import KIND, build_geometry
from stickslip.collision.detectors import make_detector
from stickslip.errors import InputError

COEFFICIENTS = (FRICTION, TORSION, ROLLING, ADHESION)


def surface(rng) -> str:
    """Random attributes of a geom, each present about half of the time."""
    maybe = [
        f'friction="{rng.uniform(0.01, 1):.3f} {rng.uniform(0, 0.1):.4f} {rng.uniform(0, 0.01):.5f}"',
        f'condim="{rng.choice([1, 3, 4, 6])}"',
        f'priority="{rng.integers(-1, 3)}"',
        f'margin="{rng.uniform(-0.01, 0.05):.4f}"',
        f'gap="{rng.uniform(0, 0.05):.4f}"',
        f'adhesion="{rng.uniform(0, 5):.4f}"',
        f'contype="{rng.integers(0, 4)}" conaffinity="{rng.integers(0, 4)}"',
    ]
    return " ".join(text for text in maybe if rng.random() < 0.5)


def vector(rng) -> str:
    return " ".join(f"{x:.3f}" for x in rng.uniform(-0.2, 0.2, 3))


@pytest.mark.parametrize("shapes", [8, 60])
def test_what_is_prepared_covers_what_may_touch(shapes):
    """A pair of kinds that is not compiled must not come up: few shapes and many, masks, explicit pairs."""
    for seed in range(5):
        rng, kinds = np.random.default_rng(seed), ["plane", "sphere", "box", "capsule", "cylinder", "ellipsoid"]
        geoms = []
        for k in range(shapes):
            kind = kinds[rng.integers(6)] if k else "plane"
            masks = rng.integers(0, 3, 2)
            text = f'<geom name="g{k}" type="{kind}" size=".1 .1 .1" contype="{masks[0]}" conaffinity="{masks[1]}"/>'
            free = kind != "plane" and rng.random() < 0.7
            geoms.append(f"<body>{'<freejoint/>' if free else ''}{text}</body>")
        pairs = '<pair geom1="g0" geom2="g5"/><pair geom1="g3" geom2="g6"/>' if seed % 2 else ""
        xml = f"<mujoco><worldbody>{''.join(geoms)}</worldbody><contact>{pairs}</contact></mujoco>"
        try:
            model = ss.Scene.from_xml(xml).compile()
        except InputError:  # an explicit pair of planes
            continue
        geometry, rules = build_geometry(model)
        rules = rules._replace(few=list_pairs(geometry.shapes, rules))
        kind, prepared = geometry.shapes.kind, pairs_of_kinds(geometry.shapes, rules)
        for a in range(len(kind)):
            for b in range(a):
                low, high = sorted((kind[a], kind[b]))
                if high > 0 and allowed(geometry.shapes, rules, a, b):
                    assert KIND * low + high in prepared


class RandomModel:
    """A floor and some trees of balls and capsules that overlap, with explicit pairs, excludes and flags."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = np.random.default_rng(seed)
        self.geoms, self.bodies = ["floor"], ["world"]
        floor = f'<geom name="floor" type="plane" size="1 1 1" pos="0 0 -0.2" {surface(rng)}/>'
        trees = "".join(self.body(0) for _ in range(rng.integers(1, 4)))
        override = 'o_margin="0.03" o_friction="0.3 0.3 0.02 0.01 0.01"'
        flag = rng.choice(["", "", "", 'filterparent="disable"', 'override="enable"', 'contact="disable"'])
        option = (
            f"<option {override if 'override' in flag else ''}>" + (f"<flag {flag}/>" if flag else "") + "</option>"
        )
        pairs = {tuple(sorted(rng.choice(self.geoms, 2, replace=False))) for _ in range(rng.integers(0, 3))}
        listed = "".join(self.pair(one, two) for one, two in sorted(pairs))
        if rng.random() < 0.5:
            one, two = rng.choice(self.bodies, 2, replace=False)
            listed += f'<exclude body1="{one}" body2="{two}"/>'
        self.xml = f"<mujoco>{option}<worldbody>{floor}{trees}</worldbody><contact>{listed}</contact></mujoco>"

    def body(self, depth: int) -> str:
        rng, name = self.rng, f"b{len(self.bodies)}"
        self.bodies.append(name)
        text = f'<body name="{name}" pos="{vector(rng)}">' + ('<joint axis="1 0 1"/>' if rng.random() < 0.7 else "")
        for _ in range(rng.integers(1, 3)):
            self.geoms.append(f"g{len(self.geoms)}")
            size = " ".join(f"{x:.3f}" for x in rng.uniform(0.05, 0.2, 2))
            kind = rng.choice(["sphere", "capsule"])
            text += f'<geom name="{self.geoms[-1]}" type="{kind}" size="{size}" pos="{vector(rng)}" {surface(rng)}/>'
        if depth < 3 and rng.random() < 0.7:
            text += self.body(depth + 1)
        return text + "</body>"

    def pair(self, one: str, two: str) -> str:
        rng = self.rng
        friction = f"{rng.uniform(0.01, 1):.3f} 0.3 0.01 0.002 0.001"
        return (
            f'<pair geom1="{one}" geom2="{two}" condim="{rng.choice([1, 3, 4, 6])}" friction="{friction}" '
            f'margin="{rng.uniform(0, 0.05):.4f}" gap="{rng.uniform(0, 0.05):.4f}" adhesion="{rng.choice([0, 2])}"/>'
        )


def expected_contacts(mj: mujoco.MjModel, data: mujoco.MjData) -> dict[tuple[int, int], list[float]]:
    """By geoms: the least gap beyond the margin, and the coefficients that act, of MuJoCo's contacts with forces."""
    found: dict[tuple[int, int], list[float]] = {}
    for contact in data.contact:
        a, b = sorted(map(int, contact.geom))
        gap, mu = contact.dist - contact.includemargin, contact.friction
        if gap >= 0.0 or mj.body_weldid[mj.geom_bodyid[a]] == mj.body_weldid[mj.geom_bodyid[b]]:
            continue
        act = [max(mu[:2]), mu[2], max(mu[3:])] * (contact.dim >= np.array([3, 4, 6]))
        if (a, b) not in found or gap < found[a, b][0]:
            found[a, b] = [gap, *act, contact.adhesion]
    return found


def least_gaps(contacts: ContactList, geoms_of) -> dict[tuple[int, int], list[float]]:
    found: dict[tuple[int, int], list[float]] = {}
    x = contacts.arrays
    for c in range(len(contacts)):
        key = geoms_of(int(x.pair[c]))
        if x.gap[c] >= 0.0:
            continue  # adhesion at a distance
        if key not in found or x.gap[c] < found[key][0]:
            found[key] = [x.gap[c], *x.material[c, COEFFICIENTS]]
    return found


def test_pairs_and_coefficients_are_mujocos_on_random_models():
    compared = 0
    for seed in range(150):
        xml = RandomModel(seed).xml
        mj = mujoco.MjModel.from_xml_string(xml)
        if mj.nv == 0:
            continue
        data = mujoco.MjData(mj)
        data.qpos[:] = np.random.default_rng(seed).uniform(-0.5, 0.5, mj.nq)
        mujoco.mj_forward(mj, data)
        wanted = expected_contacts(mj, data)
        model = ss.Scene.from_xml(xml).compile()
        solid = [mj.geom(shape.name).id for shape in model.shapes if shape.solid]
        dynamics = ss.Dynamics(model)
        dynamics.poses(data.qpos)
        contacts = ContactList(dynamics.data.kin)
        ways = {"convex": lambda k, ids=solid: tuple(sorted((ids[(k >> 31) // len(ids)], ids[(k >> 31) % len(ids)])))}
        ways["mujoco"] = lambda k, n=mj.ngeom: tuple(sorted(divmod(k // 64, n)))
        for name, geoms_of in ways.items():
            make_detector(name, model, 0.0).find(dynamics.data.kin, contacts)
            got = least_gaps(contacts, geoms_of)
            assert got.keys() == wanted.keys(), (seed, name)
            for key, row in wanted.items():
                np.testing.assert_allclose(got[key], row, atol=2e-5, err_msg=f"{seed} {name} {key}")
        allowed = {tuple(sorted(mj.geom(s.name).id for s in pair)) for pair in touching(model)}
        assert wanted.keys() <= allowed
        compared += len(wanted)
    assert compared > 500


def test_a_margin_inflates_boxes_for_subcontacts_too():
    scene = ss.Scene()
    scene.add_box((1, 1, 0.2), joint="fixed", margin=0.01)
    scene.add_box((0.2, 0.2, 0.2), pos=(0, 0, 0.215), margin=0.02)
    model = scene.compile()
    dynamics = ss.Dynamics(model)
    dynamics.poses(model.state().q)
    for name in ("convex", "peg", "mujoco"):
        contacts = ContactList(dynamics.data.kin)
        make_detector(name, model, 0.02).find(dynamics.data.kin, contacts)
        assert min(contacts.arrays.gap[: len(contacts)]) == pytest.approx(0.015 - 0.03, abs=1e-9), name


def test_many_shapes_find_their_explicit_pairs():
    scene = ss.Scene()
    scene.add_plane(collide=False)
    for k in range(30):
        scene.add_sphere(0.1, pos=(0.3 * k, 0, 0.09), collide=False, name=f"ball{k}")
    names = [geom.name for geom in scene.spec.geoms]
    scene.add_contact_pair(names[0], names[7], friction=0.3, torsion=0.01)
    scene.add_contact_pair(names[8], names[0], friction=0.4)
    model = ss.Scene.from_xml(scene.to_xml()).compile()
    dynamics = ss.Dynamics(model)
    dynamics.poses(model.state().q)
    contacts = ContactList(dynamics.data.kin)
    ConvexDetector(model, 0.0).find(dynamics.data.kin, contacts)
    rows = contacts.arrays.material[: len(contacts), [FRICTION, TORSION]]
    assert sorted(map(tuple, rows)) == [(0.3, 0.01), (0.4, 0.0)]
    assert model.fingerprint == scene.compile().fingerprint
    with pytest.raises(InputError, match="shape"):
        scene.add_contact_pair("nobody", names[0])
    with pytest.raises(InputError, match="torsion"):
        scene.add_contact_pair(names[1], names[0], torsion=float("nan"))


@pytest.mark.parametrize("what", ["torsion", "rolling", "gap", "adhesion", "margin", "priority", "condim"])
def test_bad_numbers_of_a_surface_are_named(what):
    with pytest.raises(InputError, match=what):
        ss.Scene().add_sphere(0.1, **{what: float("nan")})
