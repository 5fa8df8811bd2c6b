"""Every figure of the scorecard once more, by plain loops over the HDF5 file and by MuJoCo's mechanics.

A sled slides and comes to rest while an arm on it swings, by a motor, a servo and a spring. Scored twice: with soft
contacts; and with rigid ones in maximal coordinates, where joints and a loop drift open.
"""

import json
import warnings
from itertools import product

import h5py
import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import stickslip as ss
from stickslip.lab.compare import METRICS, Timing, score

MU, GEAR, KP, KV, SPRING = 0.4, 3.0, 2.0, 0.05, 0.7
RANGE = (-0.5, 0.9)
FIELDS = ("normal", "tangent", "gap", "force", "velocity", "friction")
SLED = (0.2, 0.1, 0.05)  # half sizes [m]
LOOP = """
    <body name="crank" pos="1 0 1"><joint name="crank" type="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".3" contype="0" conaffinity="0"/>
      <body name="rod" pos=".3 0 0"><joint name="rod" type="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass=".4" contype="0" conaffinity="0"/>
        <body name="tip" pos=".4 0 0"><joint name="tip" type="hinge" axis="0 1 0"/>
          <geom type="capsule" fromto="0 0 0 .2 0 .1" size=".02" mass=".2" contype="0" conaffinity="0"/></body></body>
    </body>"""
EQUALITY = '<equality><connect name="pin" body1="tip" anchor=".2 0 .1"/></equality>'
XML = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 1" friction="{mu} 0 0"/>
    <body name="sled" pos="0 0 .05"><freejoint name="sled"/>
      <geom type="box" size=".2 .1 .05" mass="2" friction="{mu} 0 0"/>
      <body name="arm" pos="0 0 .05"><joint name="arm" type="hinge" axis="0 1 0" stiffness="{spring}" limited="true"
          range="{low} {high}"/>
        <geom type="box" size=".02 .03 .15" pos=".02 0 .15" mass=".4" contype="0" conaffinity="0"/></body></body>{loop}
  </worldbody>{equality}
  <actuator><motor name="motor" joint="arm" gear="{gear}"/>
    <position name="servo" joint="arm" kp="{kp}" kv="{kv}"/></actuator>
</mujoco>
"""


def drive(t, q, v):
    return np.array([0.4 * np.sin(12.0 * t), 0.5 * np.cos(7.0 * t)])


def run(path, method, dt, record_dt, loop, **options):
    text = XML.format(
        mu=MU, gear=GEAR, kp=KP, kv=KV, spring=SPRING, low=np.degrees(RANGE[0]), high=np.degrees(RANGE[1]),
        loop=LOOP if loop else "", equality=EQUALITY if loop else "",
    )  # fmt: skip
    sim = ss.Simulation(ss.Scene.from_xml(text), method, dt, **options)
    v = np.zeros(sim.model.nv)
    v[:2] = 1.0, 0.3
    sim.set_state(v=v)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ss.UnconvergedWarning)  # they are counted below
        sim.run(0.4, controller=drive, control_dt=2.5e-3, record=path, record_dt=record_dt, failures=False)


@pytest.fixture(scope="module")
def soft(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soft")
    run(folder / "run.h5", "semi-implicit-euler", 5e-4, 5e-4, False)
    run(folder / "reference.h5", "semi-implicit-euler", 2.5e-4, 5e-4, False)
    return folder


@pytest.fixture(scope="module")
def rigid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rigid")
    maximal = {"coordinates": "maximal", "stabilise": False}
    run(folder / "run.h5", "coulomb", 2.5e-3, 2.5e-3, True, **maximal)
    run(folder / "reference.h5", "coulomb", 1.25e-3, 3.75e-3, True)  # frames at other times
    return folder


class Hand:
    """A recording as h5py gives it, and MuJoCo's model of its scene."""

    def __init__(self, path):
        with h5py.File(path) as file:
            self.at = {}
            file.visititems(lambda name, item: self.at.update({name: item[()]} if hasattr(item, "shape") else {}))
            self.links = [str(name) for name in file.attrs["link_names"]]
            self.dt = json.loads(file.attrs["options"])["dt"]
        self.mj = mujoco.MjModel.from_xml_string(self.at["scene_xml"].decode())
        self.data = mujoco.MjData(self.mj)
        self.time, self.frames = self.at["time"], len(self.at["time"])

    def place(self, k):
        self.data.qpos[:], self.data.qvel[:] = self.at["q"][k], self.at["v"][k]
        mujoco.mj_forward(self.mj, self.data)
        return self.data

    def contacts(self, k):
        for c in range(self.at["contact/start"][k], self.at["contact/start"][k + 1]):
            yield {name: self.at[f"contact/{name}"][c] for name in FIELDS}

    def load(self, k):
        weight = 9.81 * self.mj.body_mass[1:].sum()
        return max(weight, sum(abs(c["force"][0]) for c in self.contacts(k)))

    def share(self, k):
        after = self.time[k + 1] - self.time[k] if k + 1 < self.frames else 0.0
        return 0.5 * (after + (self.time[k] - self.time[k - 1] if k else 0.0))


def pose(row):
    return row[:3], Rotation.from_quat(np.roll(row[3:], -1))


def overlaps(hand):
    for k in range(hand.frames):
        x, R = pose(hand.at["pose"][k, hand.links.index("sled")])
        corners = [x + R.apply(np.multiply(SLED, signs)) for signs in product((-1, 1), repeat=3)]
        yield max(0.0, -min(corner[2] for corner in corners))


def drift(hand):
    """Places on parents against MuJoCo's for the same q, and the pin of the loop."""
    worst = 0.0
    for k in range(hand.frames):
        data = hand.place(k)
        for link, name in enumerate(hand.links[1:], 1):
            body = hand.mj.body(name).id
            up = hand.mj.body_parentid[body]
            parent = hand.links.index(hand.mj.body(up).name) if up else 0
            x1, R1 = pose(hand.at["pose"][k, parent])
            x2, R2 = pose(hand.at["pose"][k, link])
            y1, Q1 = pose(np.concatenate([data.xpos[up], data.xquat[up]]))
            y2, Q2 = pose(np.concatenate([data.xpos[body], data.xquat[body]]))
            shift = R1.inv().apply(x2 - x1) - Q1.inv().apply(y2 - y1)
            turn = (R1.inv() * R2) * (Q1.inv() * Q2).inv()
            worst = max(worst, np.linalg.norm(shift), turn.magnitude())
        if hand.mj.neq:
            x, R = pose(hand.at["pose"][k, hand.links.index("tip")])
            anchor = np.array([1.0 + 0.3 + 0.4 + 0.2, 0.0, 1.1])
            worst = max(worst, np.linalg.norm(x + R.apply([0.2, 0.0, 0.1]) - anchor))
    return worst


def arm_torque(q, v, control):
    return GEAR * control[0] + KP * (control[1] - q) - KV * v


def balance(hand):
    """T + V + U − work, step by step; the arm's coordinate is q[7], its rate v[6]."""
    hand.mj.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    limit = ss.Scene.from_xml(hand.at["scene_xml"].decode()).compile().joint_forces.limit_stiffness[1]
    work, found = 0.0, []
    for k in range(hand.frames):
        q, v, control = (hand.at[name] for name in ("q", "v", "control"))
        if k:
            first, last = arm_torque(q[k - 1, 7], v[k - 1, 6], control[k]), arm_torque(q[k, 7], v[k, 6], control[k])
            work += 0.5 * (first + last) * (q[k, 7] - q[k - 1, 7])
        beyond = max(0.0, RANGE[0] - q[k, 7], q[k, 7] - RANGE[1])
        springs = hand.at["contact_energy"][k] + 0.5 * limit * beyond**2
        found.append(sum(hand.place(k).energy) + springs - work)
    return found


def momentum_error(hand):
    """Of the sled with its arm; contacts are with the floor."""
    sled, weight = hand.mj.body("sled").id, np.array([0.0, 0.0, -9.81 * 2.4])
    p, f = [], []
    for k in range(hand.frames):
        data = hand.place(k)
        mujoco.mj_subtreeVel(hand.mj, data)
        p.append(hand.mj.body_subtreemass[sled] * data.subtree_linvel[sled])
        total = np.zeros(3)
        for c in hand.contacts(k):
            axes = np.array([c["normal"], c["tangent"], np.cross(c["normal"], c["tangent"])])
            total += axes.T @ c["force"]
        f.append(total)
    errors = []
    for first, last in ((1.0, 0.0), (0.0, 1.0), (0.5, 0.5)):
        expected, worst = p[0].copy(), 0.0
        for k in range(1, hand.frames):
            expected += (hand.time[k] - hand.time[k - 1]) * (first * f[k - 1] + last * f[k] + weight)
            worst = max(worst, np.linalg.norm(p[k] - expected))
        errors.append(worst)
    return min(errors)


def contact_laws(hand):
    signorini = cone = most = taken = pressed = 0.0
    sticking = []
    for k in range(hand.frames):
        for c in hand.contacts(k):
            fn, f1, f2 = c["force"]
            vn, v1, v2 = c["velocity"]
            gap = max(0.0, min(c["gap"], c["gap"] - hand.dt * vn))
            signorini = max(signorini, abs(min(fn / hand.load(k), gap)))
            limit, friction, slip = c["friction"] * max(fn, 0.0), (f1 * f1 + f2 * f2) ** 0.5, (v1 * v1 + v2 * v2) ** 0.5
            cone = max(cone, (friction - limit) / hand.load(k))
            taken -= hand.share(k) * (f1 * v1 + f2 * v2)
            most += hand.share(k) * limit * slip
            pressed += hand.share(k) * abs(fn)
            if friction < 0.99 * limit:
                sticking.append((slip, hand.share(k) * fn))
    half, creep = 0.5 * sum(load for _, load in sticking), 0.0
    for slip, load in sorted(sticking):
        if half > 0.0:
            half, creep = half - load, slip
    usual = max(9.81 * hand.mj.body_mass[1:].sum(), pressed / (hand.time[-1] - hand.time[0]))
    lacking = (most - taken) / max(most, 1e-3 * usual)
    return {"signorini": signorini, "cone": cone, "dissipation": lacking, "creep": creep}


def distances(hand, reference):
    """(frames, links) by the matter's principal axes: |Δc|² + Σ sₖ·|ΔR·eₖ|², sₖ = ∫ rₖ² dm/m."""
    found = []
    for k in range(hand.frames):
        j = max(i for i in range(reference.frames) if reference.time[i] <= hand.time[k] + 1e-9)
        part = 0.0
        if hand.time[k] > reference.time[j] + 1e-9:
            part = (hand.time[k] - reference.time[j]) / (reference.time[j + 1] - reference.time[j])
        row = []
        for link, name in enumerate(hand.links[1:], 1):
            body = hand.mj.body(name).id
            I, axes = hand.mj.body_inertia[body], Rotation.from_quat(np.roll(hand.mj.body_iquat[body], -1)).as_matrix()
            x, R = pose(hand.at["pose"][k, link])
            y, Q = pose(reference.at["pose"][j, link])
            Q = Q.as_matrix()
            if part:
                z, S = pose(reference.at["pose"][j + 1, link])
                y, Q = (1 - part) * y + part * z, (1 - part) * Q + part * S.as_matrix()
            turn, com = R.as_matrix() - Q, hand.mj.body_ipos[body]
            d2 = np.sum((x - y + turn @ com) ** 2)
            for e in range(3):
                d2 += (0.5 * I.sum() - I[e]) / hand.mj.body_mass[body] * np.sum((turn @ axes[:, e]) ** 2)
            row.append(d2**0.5)
        found.append(row)
    return np.array(found)


def by_hand(folder):
    hand, reference = Hand(folder / "run.h5"), Hand(folder / "reference.h5")
    depth, energy, d = list(overlaps(hand)), balance(hand), distances(hand, reference)
    mass = np.array([hand.mj.body(name).mass[0] for name in hand.links[1:]])
    square = (d**2 * mass).sum(1) / mass.sum()
    steps = hand.at["steps"][-1] - hand.at["steps"][0]
    return contact_laws(hand) | {
        "real_time_factor": 0.4 / 0.25,
        "us_per_step": 0.25 / 800 * 1e6,
        "penetration_max": max(depth),
        "penetration_mean": sum(depth) / len(depth),
        "joint_drift": drift(hand),
        "energy_gained": max(energy[t] - energy[s] for t in range(len(energy)) for s in range(t + 1)),
        "energy_lost": energy[0] - energy[-1],
        "momentum_error": momentum_error(hand),
        "unconverged": (hand.at["unconverged"][-1] - hand.at["unconverged"][0]) / steps,
        "error_max": d.max(),
        "error_rms": square.mean() ** 0.5,
        "error_final": square[-1] ** 0.5,
    }


@pytest.mark.parametrize("name", ["soft", "rigid"])
def test_every_figure_is_what_loops_over_the_file_give(name, request):
    folder = request.getfixturevalue(name)
    with ss.load(folder / "run.h5") as log, ss.load(folder / "reference.h5") as reference:
        scores = score(log, reference=reference, timing=Timing(wall=0.25, steps=800, span=0.4))
    expected = by_hand(folder)
    assert scores.keys() == expected.keys() == METRICS.keys()
    for metric, value in expected.items():
        assert scores[metric] == pytest.approx(value, rel=1e-9, abs=1e-12), metric
    meaningless = [metric for metric, value in scores.items() if not np.isfinite(value)]
    assert not meaningless
