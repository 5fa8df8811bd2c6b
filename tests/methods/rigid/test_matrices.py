"""The matrices of a time step against their definitions, with joints, limits and contacts; dense and sparse."""

import numpy as np
import pytest
import scipy.sparse as sp

import stickslip as ss
from stickslip.dynamics import Dynamics as Robot
from stickslip.methods.rigid.assembly import assembler as assembly
from stickslip.methods.rigid.assembly.assembler import Assembler, Dynamics
from stickslip.methods.rigid.assembly.matrices import Matrices

TREES = """
<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="9 9 1"/>
  <body name="a" pos="0 0 0.3"><freejoint/><inertial pos="0.1 0 0" mass="2" diaginertia="0.2 0.3 0.25"/>
    <geom type="sphere" size="0.3" mass="0"/>
    <body name="b" pos="0.4 0 0"><joint type="hinge" axis="0 1 0" range="-1 0.02" limited="true" damping="0.3"/>
      <inertial pos="0 0.1 0" mass="1" diaginertia="0.1 0.2 0.15"/><geom type="sphere" size="0.3" mass="0"/>
      <body name="c" pos="0 0.7 0"><joint type="ball"/>
        <inertial pos="0 0 0.1" mass="1" diaginertia="0.1 0.1 0.15"/><geom type="sphere" size="0.3" mass="0"/>
      </body></body></body>
  <body name="d" pos="3 0 0.3"><freejoint/><inertial pos="0 0.1 0" mass="2" diaginertia="0.1 0.2 0.15"/>
    <geom type="sphere" size="0.3" mass="0"/></body>
  <body name="e" pos="3 0.6 0.3"><freejoint/><inertial pos="0 0.1 0" mass="2" diaginertia="0.1 0.2 0.15"/>
    <geom type="sphere" size="0.3" mass="0"/></body>
</worldbody></mujoco>"""


def trees() -> ss.Simulation:
    sim = ss.Simulation(ss.Scene.from_xml(TREES), method="stewart-trinkle", margin=0.05)
    rng = np.random.default_rng(2)
    sim.set_state(v=rng.normal(size=sim.model.nv))
    sim.observe()
    return sim


def joint_rows(nv: int) -> sp.csr_array:
    """Any rows will do: here they tie velocities of the two trees together."""
    rows = np.zeros((2, nv))
    rows[0, [6, 12]] = 1.0, -1.0
    rows[1, [2, 9, 17]] = 0.5, 1.0, -2.0
    return sp.csr_array(rows)


@pytest.mark.parametrize("small", [1000, 0], ids=["dense", "sparse"])
def test_delassus_is_the_product_that_it_claims_to_be(small, monkeypatch):
    monkeypatch.setattr(assembly, "SMALL", small)
    monkeypatch.setattr(assembly, "FULL", 2.0)
    sim = trees()
    c = sim.stepper.coordinates
    bodies = Dynamics(c.support, c.kin, c.M, c.L, c.velocity, c.free_velocity)
    m = Assembler(c.support).assemble(bodies, sim.contacts, 0.01, (joint_rows(sim.model.nv), np.zeros(2)), c.limits())
    assert sp.issparse(m.delassus) == (small == 0)
    assert (m.bilateral, m.limits) == (2, 1)
    assert m.contacts == len(sim.contacts) + 1 >= 6
    M, G = m.mass.toarray(), m.rows.toarray()
    damping = 0.01 * np.diag(sim.model.joint_forces.damping)
    np.testing.assert_allclose(M, Robot(sim.model).crba(sim.state.q) + damping, rtol=0, atol=1e-13)
    W = m.delassus.toarray() if small == 0 else m.delassus
    np.testing.assert_allclose(W, G @ np.linalg.solve(M, G.T), rtol=0, atol=1e-11)
    np.testing.assert_allclose(m.approach, G @ sim.state.v, atol=1e-13)
    np.testing.assert_allclose(m.free, G @ c.free_velocity, atol=1e-13)
    p = np.random.default_rng(3).normal(size=len(G))
    v = c.free_velocity + np.linalg.solve(M, G.T @ p)
    np.testing.assert_allclose(m.new_velocity(p), v, atol=1e-12)
    from_arrays = Matrices(
        m.dt, m.mass, m.rows, bilateral=2, delassus=W, velocity=m.velocity, free_velocity=m.free_velocity,
        gap=m.gap, friction=m.friction, restitution=m.restitution,
    )  # fmt: skip
    np.testing.assert_allclose(from_arrays.new_velocity(p), v, atol=1e-11)
    np.testing.assert_allclose(from_arrays.free, m.free, atol=1e-13)


def test_rows_are_velocities_of_body_2_against_body_1():
    sim = trees()
    m, c = sim.matrices, sim.contacts.arrays
    for k in range(len(sim.contacts)):
        kin = sim.kinematics
        velocity = [
            kin.vel[b, :3] + np.cross(kin.vel[b, 3:], c.point[k] - kin.origin[b]) for b in (c.link1[k], c.link2[k])
        ]
        np.testing.assert_allclose(m.approach[3 * k : 3 * k + 3], c.axes[k] @ (velocity[1] - velocity[0]), atol=1e-13)


def test_a_limit_has_its_joint_s_row():
    sim = trees()
    m = sim.matrices
    row = m.rows.toarray()[-3:]
    assert m.gap[-1] == pytest.approx(0.02)
    assert row[0, 6] == -1.0
    assert np.count_nonzero(row) == 1


def test_cost_grows_with_contacts_not_with_their_square():
    """Separate bodies do not couple: the number of entries is in proportion to the contacts."""
    entries = []
    for n in (50, 100):
        scene = ss.Scene()
        scene.add_plane()
        for k in range(n):
            scene.add_sphere(0.1, pos=(k, 0, 0.1), mass=1.0)
        sim = ss.Simulation(scene, method="stewart-trinkle", directions=4)
        sim.observe()
        assert sp.issparse(sim.matrices.delassus)
        assert sp.issparse(sim.problem.A)
        entries.append((sim.matrices.delassus.nnz, sim.problem.A.nnz))
    assert entries[0] == (50 * 3, 50 * (1 + 4 + 4 * 5 + 4 + 5))
    np.testing.assert_array_equal(np.array(entries[1]), 2 * np.array(entries[0]))
