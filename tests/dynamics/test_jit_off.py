"""NUMBA_DISABLE_JIT=1 gives the same answers: it is how kernels are debugged and how coverage is measured."""

import json
import os
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np

import stickslip as ss
from stickslip.dynamics import Dynamics
from stickslip.model.model import compile_model

SOLO12 = Path(__file__).resolve().parents[2] / "src" / "stickslip" / "model" / "robots" / "solo12.xml"


def results():
    """One random state of Solo12 with a contact at each end of the machine and one between two legs."""
    model = compile_model(mujoco.MjModel.from_xml_path(str(SOLO12)))
    dyn, rng = Dynamics(model), np.random.default_rng(0)
    q, v, a = rng.normal(size=model.nq), rng.normal(size=model.nv), rng.normal(size=model.nv)
    q[3:7] /= np.linalg.norm(q[3:7])
    external = rng.normal(size=(model.nlink, 6))
    contacts = ([0, 0, 3], [3, 12, 6], rng.normal(size=(3, 3)), np.linalg.qr(rng.normal(size=(3, 3, 3)))[0])
    return {
        "rnea": dyn.rnea(q, v, a, external),
        "derivatives": np.stack(dyn.rnea_derivatives(q, v, a, external)),
        "forward derivatives": np.stack(dyn.aba_derivatives(q, v, a, external)),
        "crba": dyn.crba(q),
        "aba": dyn.aba(q, v, a, external),
        "delassus": dyn.delassus(q, *contacts),
        "delassus by blocks": dyn.delassus_sparse(q, *contacts).toarray(),
        **simulated(),
        **collided(),
    }


def simulated():
    """A few steps of Solo12 as it slides into the floor, and what was recorded of them."""
    scene = ss.Scene()
    scene.add_plane(friction=0.1)
    robot = scene.add_robot("solo12", pos=(0, 0, 0.222))
    sim = ss.Simulation(scene, dt=1e-4)
    sim.set_state(v=np.r_[1.0, 0.5, -0.5, np.zeros(15)])
    log = sim.run(4e-4, controller=ss.control.PD(robot, kp=10, kd=0.2), control_dt=2e-4, record_dt=1e-4)
    implicit = ss.Simulation(scene, "implicit-euler", dt=1e-3)
    implicit.set_state(v=np.r_[1.0, 0.5, -0.5, np.zeros(15)])
    implicit.step(3)
    return {
        "implicit v": implicit.state.v,
        "simulated q": log.q,
        "simulated v": log.v,
        "contact force": log.contact("force"),
        "energy": log.energy,
    }


def collided():
    """A ball between a box and a ball, in mid-blow."""
    scene = ss.Scene()
    scene.add_box((0.4, 0.4, 0.2), name="box", pos=(0, 0, 0), mass=1.0)
    scene.add_sphere(0.1, name="low", pos=(0.2597, 0.1, 0.1796), mass=1.0)
    scene.add_sphere(0.1, name="high", pos=(0.2597, 0.1, 0.3792), joint="fixed")
    sim = ss.Simulation(scene, dt=1e-4)
    sim.set_state(v=np.linspace(-0.5, 0.5, 12))
    log = sim.run(4e-4, record_dt=1e-4)
    c = sim.contacts.arrays
    return {"collided q": log.q, "blow": log.contact("force"), "spin": c.spin[:2], "drift": c.drift[:2]}


def test_plain_python_gives_the_compiled_results():
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    run = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    plain = json.loads(run.stdout)
    assert plain.pop("compiled") is False
    for name, compiled in results().items():
        difference = np.abs(np.array(plain[name]) - compiled).max()
        assert difference <= 1e-12 * np.abs(compiled).max(), name


if __name__ == "__main__":
    from stickslip.dynamics.rnea import rnea

    answers: dict = {name: value.tolist() for name, value in results().items()}
    print(json.dumps({**answers, "compiled": hasattr(rnea, "py_func")}))
