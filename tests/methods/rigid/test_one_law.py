"""The compiled loop and the stages state each law once: the same kernels, the same numbers, and one place to edit."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import stickslip as ss
from stickslip.collision.contacts import DAMPING, FRICTION, RESTITUTION, STIFFNESS, ContactList
from stickslip.dynamics.data import make_data
from stickslip.methods import recovery
from stickslip.methods.recovery import Recovery
from stickslip.methods.rigid import compiled_contacts, compiled_loop, impulse_memory
from stickslip.methods.rigid.assembly.matrices import Matrices
from stickslip.methods.rigid.compiled_arrays import COULOMB, RELAXED, StepOptions, make_space
from stickslip.methods.rigid.compiled_contacts import formulate
from stickslip.methods.rigid.compiled_stepping import law_of
from stickslip.methods.rigid.coordinates.joint_coordinates import Motion
from stickslip.methods.rigid.coordinates.joint_limits import make_limits
from stickslip.methods.rigid.coordinates.look_ahead import make_look_ahead
from stickslip.methods.rigid.formulations import anitescu_potra, coulomb, formulation, peg, relaxed
from stickslip.methods.rigid.formulations.coulomb import Coulomb
from stickslip.methods.rigid.formulations.registry import FORMULATIONS
from stickslip.methods.rigid.formulations.relaxed import Relaxed
from stickslip.methods.rigid.rigid_methods import CoulombMethod
from stickslip.solvers import ConeProblem

DT, FEEDBACK, REST_SPEED, RATIO = 5e-3, 0.3, 0.2, 3.0
RECOVERY = Recovery(0.15, 0.4, 2.0)
LAW = "(feedback if gap < 0.0 else 1.0) * gap / dt"


def test_the_compiled_loop_calls_the_kernels_of_the_formulations():
    for module, names in {
        coulomb: ("coulomb_offset",),
        anitescu_potra: ("touches",),
        peg: ("choose_primaries",),
        relaxed: ("relaxed_offset", "relaxation"),
        recovery: ("recover", "group_recoveries"),
        formulation: ("with_restitution", "meets_nothing"),
        impulse_memory: ("recall", "store", "write_forces"),
    }.items():
        for name in names:
            loop = compiled_loop if name in ("store", "write_forces") else compiled_contacts
            assert getattr(loop, name) is getattr(module, name)


def random_step(rng, nc=12, limits=5):
    """(arguments of the compiled ``formulate``, the same step as ``Matrices``); contacts first, then limits."""
    scene = ss.Scene()
    for k in range(4):
        scene.add_sphere(0.1, pos=(k, 0, 1), mass=1.0)
    model, n = scene.compile(), nc + limits
    nv, space = model.nv, make_space(model.support, n)
    G = np.zeros((3 * n, nv))
    for c in range(n):
        length = int(rng.integers(1, space.rows.dofs.shape[1] + 1))
        dofs = np.sort(rng.choice(nv, length, replace=False))[::-1]
        space.rows.length[c], space.rows.dofs[c, :length] = length, dofs
        space.rows.J[c, :length, : 3 if c < nc else 1] = rng.normal(size=(length, 3 if c < nc else 1))
        G[3 * c : 3 * c + 3, dofs] = space.rows.J[c, :length].T
    contacts = ContactList(make_data(model).kin, capacity=n)
    material, gap = contacts.arrays.material, rng.uniform(-5e-3, 5e-3, n)
    material[:nc, FRICTION], material[:nc, RESTITUTION] = rng.uniform(0, 1, nc), rng.choice([0.0, 0.5, 1.0], nc)
    material[:nc, STIFFNESS], material[:nc, DAMPING] = rng.uniform(1e3, 1e5, nc), rng.uniform(0, 1e2, nc)
    contacts.arrays.gap[:nc], contacts.arrays.found[0] = gap[:nc], nc
    velocity, free = rng.normal(size=(2, nv))
    none = np.zeros(0)
    ahead = make_look_ahead(model, model.support, "explicit")
    motion = Motion(none, none, none, free, velocity, none, none, ahead)
    angular = rng.random(limits) < 0.5
    rows = make_limits(ss.Scene().compile())._replace(gap=gap[nc:].copy(), angular=angular, bound=np.zeros(limits))
    space.cones.own[:, [0, 3, 5]] = 1.0

    def padded(column, value=0.0):
        return np.concatenate([material[:nc, column], np.full(limits, value)])

    matrices = Matrices(
        DT, sp.eye_array(nv, format="csr"), sp.csr_array(G), bilateral=0, delassus=np.eye(3 * n), velocity=velocity,
        free_velocity=free, gap=gap, friction=padded(FRICTION), restitution=padded(RESTITUTION),
        stiffness=padded(STIFFNESS, np.inf), damping=padded(DAMPING), limits=limits, angular=angular,
    )  # fmt: skip
    return (motion, rows, contacts.arrays, nc, n, space), matrices


@pytest.mark.parametrize("law", ["coulomb", "relaxed"])
def test_b_and_R_of_the_compiled_loop_are_those_of_the_stages(law):
    """With overlaps, shallow and deep, gaps, joint limits and restitution."""
    soft, options = law == "relaxed", StepOptions(
        RELAXED if law == "relaxed" else COULOMB, False, True, False, False, np.nan, DT, 0.0, 0.0, 1.0, FEEDBACK,
        REST_SPEED, *RECOVERY, RATIO, True, False, False,
    )  # fmt: skip
    shared = {"recovery": RECOVERY, "rest_speed": REST_SPEED}
    stated = Relaxed(friction_ratio=RATIO, **shared) if soft else Coulomb(feedback=FEEDBACK, **shared)
    bounced = yielding = 0
    for seed in range(20):
        given, matrices = random_step(np.random.default_rng(seed))
        formulate(options, *given, np.zeros(1, dtype=np.int64))
        problem, cones = stated.formulate(matrices), given[-1].cones
        np.testing.assert_allclose(cones.b, problem.b, rtol=0, atol=1e-13)
        np.testing.assert_array_equal(cones.friction, problem.friction)
        R = problem.regularisation if isinstance(problem, ConeProblem) else problem.W.diagonal() - 1.0
        np.testing.assert_allclose(cones.R, R, rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(cones.own[:, 0], 1.0 + R[::3], rtol=1e-14)
        without = Coulomb(feedback=FEEDBACK, recovery=RECOVERY, rest_speed=1e9).formulate(matrices).b
        bounced += np.count_nonzero(problem.b != without)
        yielding += np.count_nonzero(R[3 * given[3] if soft else 0 :] > 0.0)
    assert bounced > 20 or soft
    assert yielding > 20


def one_step(method, compiled=True):
    scene = ss.Scene()
    scene.add_plane()
    scene.add_sphere(0.1, pos=(0, 0, 0.099), mass=1.0)
    sim = ss.Simulation(scene, method, 1e-2, recovery_time=0.0)
    sim.stepper.compiled = compiled
    sim.step()
    return sim


@pytest.fixture
def toy_law(monkeypatch):
    """A class of Coulomb's with a method of its own, made for a formulation that is registered as "toy"."""

    def register(kind):
        monkeypatch.setitem(FORMULATIONS, "toy", kind)
        return type("ToyMethod", (CoulombMethod,), {"formulation_name": "toy"})

    return register


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
def test_a_subclass_that_overrides_an_offset_is_honoured(toy_law):
    class Half(Coulomb):
        def normal_offset(self, matrices):
            return 0.5 * matrices.gap / matrices.dt

    sim = one_step(toy_law(Half))
    assert law_of(type(sim.stepper.formulation)) is None
    assert sim.state.v[2] == pytest.approx(0.05, abs=1e-9)
    assert one_step("coulomb/pgs").state.v[2] == pytest.approx(0.02, abs=1e-9)  # a fifth of 1 mm in 10 ms


@pytest.mark.filterwarnings("ignore::stickslip.StartWarning")
def test_a_subclass_with_other_defaults_stays_compiled(toy_law):
    @dataclass
    class Stronger(Coulomb):
        feedback: float = 0.5

    sim = one_step(toy_law(Stronger))
    assert law_of(type(sim.stepper.formulation)) is Coulomb
    assert not sim.stepper.left_to_stages
    assert sim.state.v[2] == pytest.approx(0.05, abs=1e-9)


SCRIPT = """
import stickslip as ss
scene = ss.Scene()
scene.add_plane()
scene.add_sphere(0.1, pos=(0, 0, 0.099), mass=1.0)
for compiled in (True, False):
    sim = ss.Simulation(scene, "coulomb/pgs", 1e-2, recovery_time=0.0)
    sim.stepper.compiled = compiled
    sim.step()
    assert bool(sim.stepper.left_to_stages) != compiled
    print(sim.state.v[2])
"""


def test_editing_the_offset_changes_the_compiled_loop_and_the_stages(tmp_path):
    """A copy of the package with another line in ``coulomb.py``, as plain Python."""
    source = Path(ss.__file__).parent
    folders = shutil.ignore_patterns("__pycache__", "*.stl", "*.obj", "*.dae")
    shutil.copytree(source, tmp_path / "stickslip", ignore=folders)
    edited = tmp_path / "stickslip" / "methods" / "rigid" / "formulations" / "coulomb.py"
    text = edited.read_text()
    assert text.count(LAW) == 1
    edited.write_text(text.replace(LAW, "0.5 * gap / dt"))
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", SCRIPT]
    result = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [float(line) for line in result.stdout.split()] == pytest.approx([0.05, 0.05], abs=1e-9)
