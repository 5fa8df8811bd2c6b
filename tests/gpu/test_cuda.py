"""The same kernels on a GPU: one world per thread, world index last, equal to the CPU to round-off.

Skipped without numba-cuda and a CUDA device. ``python tests/gpu/test_cuda.py`` prints the time per world.
"""

import time
from typing import NamedTuple

import numpy as np
import pytest

cuda = pytest.importorskip("numba.cuda", reason="needs numba-cuda: pip install stickslip[gpu]")
if not cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

import stickslip as ss
from stickslip._jit import kernel
from stickslip.collision.contacts import Contacts
from stickslip.collision.convex.broad_phase import Candidates, Grid
from stickslip.collision.convex.epa import Polytope
from stickslip.collision.convex.find import Search
from stickslip.collision.convex.geometry import Found, Placed
from stickslip.collision.convex.gjk import Minkowski
from stickslip.collision.convex.placed_polyhedron import Work as ShapeWork
from stickslip.dynamics.aba import aba
from stickslip.dynamics.configuration import difference, integrate
from stickslip.dynamics.crba import crba
from stickslip.dynamics.data import Articulated, Kinematics, MassMatrix, make_data
from stickslip.dynamics.delassus import ContactRows, delassus_dense, delassus_sparse, make_contact_rows
from stickslip.dynamics.drives import Drives, LinkPoses
from stickslip.dynamics.energy import center_of_mass, gravity_energy, kinetic_energy, momentum
from stickslip.dynamics.factor import ltdl_factor, multiply, solve
from stickslip.dynamics.jacobian import frame_jacobian, point_acceleration, point_jacobian
from stickslip.dynamics.joint_forces import spring_energy
from stickslip.dynamics.kinematics import forward_velocities, path_kinematics
from stickslip.dynamics.rnea import rnea
from stickslip.math.eigen import Eigenbasis
from stickslip.methods.base import Work
from stickslip.methods.explicit.semi_implicit_euler import advance
from stickslip.methods.expo.contact_space import Islands
from stickslip.methods.expo.expo_step import ContactWork, JointWork
from stickslip.methods.expo.expo_step import advance as expo_advance
from stickslip.methods.expo.island import Averages, IslandWork
from stickslip.methods.expo.viscoelastic_pade import PadeWork
from stickslip.methods.soft.anchors import Anchors
from stickslip.methods.soft.limit_recovery import Limits
from stickslip.methods.soft.viscoelastic import SoftWorld
from stickslip.model.arrays import JointForces

pytestmark = pytest.mark.gpu
TOLERANCE = 1e-12
WORLDS = 10_240


@cuda.jit(device=True)
def kinematics_of(kin, w):
    """The scratch of one world: views, no copies."""
    return Kinematics(
        kin.pos[:, :, w], kin.rot[:, :, :, w], kin.origin[:, :, w], kin.S[:, :, w], kin.vel[:, :, w],
        kin.acc[:, :, w], kin.total[:, :, w], kin.inertia[:, :, w], kin.force[:, :, w], kin.path[:, w],
        kin.q[:, w], kin.v[:, w], kin.arm[:, w], kin.cable[:, w],
    )  # fmt: skip


@cuda.jit(device=True)
def articulated_of(art, w):
    return Articulated(art.inertia[:, :, :, w], art.U[:, :, w], art.D[:, w], art.u[:, w], art.acc[:, :, w])


@cuda.jit
def dynamics_of_all_worlds(tree, support, inertia, q, v, tau, f_ext, kin, art, mass, a, force):
    """ABA, RNEA (with the velocities as accelerations), CRBA and its factor, in every world."""
    w = cuda.grid(1)
    if w < q.shape[1]:
        k = kinematics_of(kin, w)
        r = articulated_of(art, w)
        m = MassMatrix(mass.composite[:, :, w], mass.M[:, w], mass.L[:, w])
        aba(tree, support, inertia, q[:, w], v[:, w], tau[:, w], f_ext[:, :, w], k, r, a[:, w])
        rnea(tree, support, inertia, q[:, w], v[:, w], v[:, w], f_ext[:, :, w], k, force[:, w])
        crba(tree, support, inertia, q[:, w], k, m)
        ltdl_factor(support, m.M, m.L)


def to_device(arrays):
    if isinstance(arrays, tuple):
        return type(arrays)(*(to_device(x) for x in arrays))
    return cuda.to_device(np.ascontiguousarray(arrays))


def per_world(arrays, worlds):
    """Scratch for every world, the world index last, so that neighbouring threads read neighbouring memory."""
    if isinstance(arrays, tuple):
        return type(arrays)(*(per_world(x, worlds) for x in arrays))
    return cuda.to_device(np.repeat(arrays[..., None], worlds, axis=-1))


def random_worlds(model, worlds, seed=0):
    rng = np.random.default_rng(seed)
    q = np.repeat(model.state().q[:, None], worlds, axis=1) + 0.3 * rng.normal(size=(model.nq, worlds))
    for _, first in model.quaternions():
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4], axis=0)
    v, tau = rng.normal(size=(2, model.nv, worlds))
    f_ext = rng.normal(size=(model.nlink, 6, worlds))
    f_ext[0] = 0.0
    return q, v, tau, f_ext


class Batch:
    """A model and its worlds on the device."""

    def __init__(self, name, worlds):
        scene = ss.Scene()
        scene.add_robot(name)
        self.model = scene.compile()
        self.worlds = worlds
        self.inputs = random_worlds(self.model, worlds)
        data = make_data(self.model)
        zeros = np.zeros((self.model.nv, worlds))
        self.constants = [to_device(x) for x in (self.model.tree, self.model.support, self.model.inertia)]
        self.scratch = [per_world(x, worlds) for x in data]
        self.a, self.force = cuda.to_device(zeros), cuda.to_device(zeros)
        self.device_inputs = [cuda.to_device(x) for x in self.inputs]

    def launch(self, threads=64):
        blocks = (self.worlds + threads - 1) // threads
        dynamics_of_all_worlds[blocks, threads](*self.constants, *self.device_inputs, *self.scratch, self.a, self.force)
        cuda.synchronize()


@pytest.mark.parametrize("name", ["solo12", "a1", "romeo"])
def test_gpu_equals_cpu(name):
    batch = Batch(name, WORLDS)
    batch.launch()
    model, (q, v, tau, f_ext) = batch.model, batch.inputs
    a, force = batch.a.copy_to_host(), batch.force.copy_to_host()
    L = batch.scratch[2].L.copy_to_host()
    data = make_data(model)
    cpu_a, cpu_force = np.empty((2, model.nv))
    for w in range(WORLDS):
        state = [np.ascontiguousarray(x[..., w]) for x in (q, v, tau, f_ext)]
        aba(model.tree, model.support, model.inertia, *state, data.kin, data.art, cpu_a)
        rnea(model.tree, model.support, model.inertia, state[0], state[1], state[1], state[3], data.kin, cpu_force)
        crba(model.tree, model.support, model.inertia, state[0], data.kin, data.mass)
        ltdl_factor(model.support, data.mass.M, data.mass.L)
        for gpu, cpu in ((a[:, w], cpu_a), (force[:, w], cpu_force), (L[:, w], data.mass.L)):
            scale = max(1.0, np.abs(cpu).max())
            np.testing.assert_allclose(gpu, cpu, rtol=0, atol=TOLERANCE * scale)


@cuda.jit
def quantities_of_all_worlds(
    tree, support, inertia, frames, q, v, kin, mass, rows, link, point, axes, each, passive, J, W, out, dq, blocks
):
    """Jacobians, J̇v, Delassus, solves, energies, momentum, integrate and difference, in every world."""
    w = cuda.grid(1)
    if w < q.shape[1]:
        k = kinematics_of(kin, w)
        m = MassMatrix(mass.composite[:, :, w], mass.M[:, w], mass.L[:, w])
        r = ContactRows(rows.length[:, w], rows.dofs[:, :, w], rows.J[:, :, :, w], rows.Y[:, :, :, w], rows.x[:, :, w])
        all_quantities(
            tree, support, inertia, frames, q[:, w], v[:, w], k, m, r, link, point, axes, each, passive,
            J[:, :, w], W[:, :, w], out[:, w], dq[:, w], blocks[:, :, :, w],
        )  # fmt: skip


@kernel
def all_quantities(
    tree, support, inertia, frames, q, v, kin, mass, rows, link, point, axes, each, passive, J, W, out, dq, blocks
):
    crba(tree, support, inertia, q, kin, mass)
    ltdl_factor(support, mass.M, mass.L)
    forward_velocities(tree, v, kin)
    frame_jacobian(support, frames, kin, frames.link.shape[0] - 1, J)
    delassus_dense(support, mass.L, kin, link[0], link[1], point, axes, 2, rows, W)
    out[0] = kinetic_energy(support, inertia, kin, v)
    out[1] = gravity_energy(inertia, kin)
    out[2], out[3], out[4] = point_acceleration(kin, kin.acc, link[1, 0], point[0, 0], point[0, 1], point[0, 2])
    center_of_mass(inertia, kin, out[5:8])
    momentum(kin, out[5:8], out[8:14])
    integrate(tree, q, v, 0.1, out[14 : 14 + q.shape[0]])
    difference(tree, q, out[14 : 14 + q.shape[0]], dq)
    rest = 14 + q.shape[0]
    multiply(support, mass.M, v, out[rest : rest + v.shape[0]])
    solve(support, mass.L, out[rest : rest + v.shape[0]])  # v again
    path_kinematics(tree, link[1, 0], q, kin)
    point_jacobian(support, kin, link[1, 0], point[1, 0], point[1, 1], point[1, 2], J)
    delassus_sparse(support, mass.L, kin, link[0], link[1], point, axes, 2, each, each, rows, blocks)
    out[rest + v.shape[0]] = spring_energy(tree, passive, q)


@pytest.mark.parametrize("name", ["solo12", "romeo"])
def test_quantities_equal_cpu(name):
    batch = Batch(name, WORLDS)
    model, (q, v, _, _) = batch.model, batch.inputs
    link = np.array([[0, 3], [4, model.nlink - 1]])
    point, axes = np.array([[0.1, 0.2, 0.3], [-0.1, 0.1, 0.0]]), np.tile(np.eye(3), (2, 1, 1))
    rows, each = make_contact_rows(model.support, 2), np.arange(3)
    shapes = {
        "J": (6, model.nv),
        "W": (6, 6),
        "out": (15 + model.nq + model.nv,),
        "dq": (model.nv,),
        "blocks": (2, 3, 3),
    }
    results = {key: cuda.to_device(np.zeros((*shape, WORLDS))) for key, shape in shapes.items()}
    quantities_of_all_worlds[(WORLDS + 63) // 64, 64](
        *batch.constants, to_device(model.frames), *batch.device_inputs[:2], batch.scratch[0], batch.scratch[2],
        per_world(rows, WORLDS), *map(cuda.to_device, (link, point, axes, each)), to_device(model.joint_forces),
        *results.values(),
    )  # fmt: skip
    gpu = {key: value.copy_to_host() for key, value in results.items()}
    data = make_data(model)
    cpu = {key: np.zeros(shape) for key, shape in shapes.items()}
    for w in range(WORLDS):
        all_quantities(
            model.tree, model.support, model.inertia, model.frames, q[:, w].copy(), v[:, w].copy(), data.kin, data.mass,
            rows, link, point, axes, each, model.joint_forces, *cpu.values(),
        )  # fmt: skip
        for key, value in cpu.items():
            scale = max(1.0, np.abs(value).max())
            np.testing.assert_allclose(gpu[key][..., w], value, rtol=0, atol=TOLERANCE * scale, err_msg=key)


@cuda.jit(device=True)
def contacts_of(contacts, w):
    return Contacts(
        contacts.found[:, w], contacts.pair[:, w], contacts.link1[:, w], contacts.link2[:, w],
        contacts.point[:, :, w], contacts.axes[:, :, :, w], contacts.gap[:, w], contacts.rolling[:, w],
        contacts.radius[:, w], contacts.curvature[:, :, w], contacts.spin[:, :, w], contacts.drift[:, :, w],
        contacts.material[:, :, w], contacts.velocity[:, :, w], contacts.force[:, :, w], contacts.stretch[:, :, w],
    )  # fmt: skip


@cuda.jit(device=True)
def anchors_of(anchors, w):
    return Anchors(
        anchors.pair[:, w], anchors.anchor[:, :, w], anchors.point[:, :, w], anchors.rest[:, w],
        anchors.begun[:, w], anchors.place[:, w], anchors.seen[:, w], anchors.at_detection[:, w],
        anchors.speed[:, w], anchors.weight[:, w],
    )  # fmt: skip


class SearchScratch(NamedTuple):
    """The parts of a contact search, and the present ranges of joints, that every world needs for itself."""

    placed: Placed
    grid: Grid
    candidates: Candidates
    found: Found
    work: ShapeWork
    material: np.ndarray
    range: np.ndarray
    beyond: np.ndarray
    phase: np.ndarray
    drives: Drives
    """Of tendons and actuators; its constants are not used."""


def scratch_of(world):
    s, limits = world.search, world.limits
    search = (s.placed, s.grid, s.candidates, s.found, s.work, s.material)
    return SearchScratch(*search, world.passive.range, limits.beyond, limits.phase, world.actuators)


@cuda.jit(device=True)
def drives_of(drives, scratch, w):
    """The drives with the scratch of one world."""
    d, s, p = drives, scratch, scratch.poses
    return Drives(
        d.tree, d.tendons, d.actuators, d.links, d.link_dof, d.dof_parent, d.start, d.column, s.value[:, w],
        s.length[:, w], s.rate[:, w], s.force[:, w], s.stiffness[:, w], s.damping[:, w], s.by_control[:, w], d.shared,
        LinkPoses(p.pos[:, :, w], p.rot[:, :, :, w], p.origin[:, :, w], p.S[:, :, w]), s.arm[:, w], s.tau[:, w],
    )  # fmt: skip


@cuda.jit(device=True)
def world_of(world, scratch, w):
    """The world with the scratch of one world."""
    p, g, c, f, k = scratch.placed, scratch.grid, scratch.candidates, scratch.found, scratch.work
    m, t = k.minkowski, k.polytope
    search = Search(
        world.search.geometry, world.search.rules,
        Placed(p.pos[:, :, w], p.rot[:, :, :, w], p.link_pos[:, :, w], p.link_rot[:, :, :, w]),
        Grid(
            g.low[:, :, w], g.high[:, :, w], g.extent[:, w], g.cell[:, :, w], g.head[:, w], g.bits[:, w],
            g.following[:, w], g.large[:, w],
        ),
        Candidates(c.total[:, w], c.pair[:, :, w], c.sorted[:, :, w], c.start[:, w]),
        Found(
            f.total[:, w], f.first[:, w], f.second[:, w], f.feature[:, w], f.point[:, :, w], f.normal[:, :, w],
            f.gap[:, w], f.share[:, w], f.area[:, w],
        ),
        ShapeWork(
            k.vertex1[:, :, w], k.normal1[:, :, w], k.vertex2[:, :, w], k.normal2[:, :, w], k.polygon[:, :, :, w],
            k.label[:, :, :, w], k.starts[:, :, w],
            Minkowski(m.corner[:, :, w], m.name[:, :, w], m.weight[:, w], m.pose[:, :, w], m.core[:, w]),
            Polytope(t.face[:, :, w], t.plane[:, :, w], t.rim[:, :, w]),
            k.flood[:, :, w],
        ),
        world.search.shares, scratch.material[:, :, w],
    )  # fmt: skip
    f, r = world.passive, scratch.range[:, :, w]
    passive = JointForces(
        f.damping, f.damping_poly, f.stiffness, f.stiffness_poly, f.q_spring, f.limited, r, f.limit_stiffness,
        f.limit_damping,
    )  # fmt: skip
    limits = Limits(world.limits.range, world.limits.speed, scratch.beyond[:, :, w], scratch.phase[:, w])
    return SoftWorld(
        world.tree, world.support, world.inertia, passive, drives_of(world.actuators, scratch.drives, w), search,
        world.cell, world.loops, limits, world.radius,
    )  # fmt: skip


@cuda.jit
def steps_in_all_worlds(world, scratch, kin, art, force, contacts, anchors, inputs, armature, dt, q, v, status, n):
    """n steps of the simulation, contacts included, in every world."""
    w = cuda.grid(1)
    if w < q.shape[1]:
        k = kinematics_of(kin, w)
        r = articulated_of(art, w)
        work = Work(k, r, force.f_ext[:, :, w], force.tau[:, w], force.acceleration[:, w])
        c, a = contacts_of(contacts, w), anchors_of(anchors, w)
        status[w], _ = advance(world_of(world, scratch, w), work, c, a, inputs, armature, dt, q[:, w], v[:, w], n)


@cuda.jit
def expo_in_all_worlds(
    world,
    scratch,
    kin,
    art,
    force,
    expo,
    joints,
    contacts,
    anchors,
    inputs,
    how,
    dt,
    q,
    v,
    status,
    n,
):
    """n steps of expo in every world."""
    w = cuda.grid(1)
    if w < q.shape[1]:
        work = Work(
            kinematics_of(kin, w), articulated_of(art, w),
            force.f_ext[:, :, w], force.tau[:, w], force.acceleration[:, w],
        )  # fmt: skip
        mass = MassMatrix(expo.mass.composite[:, :, w], expo.mass.M[:, w], expo.mass.L[:, w])
        r, i, e, b, p = expo.rows, expo.islands, expo.island, expo.island.basis, expo.island.pade
        rows = ContactRows(r.length[:, w], r.dofs[:, :, w], r.J[:, :, :, w], r.Y[:, :, :, w], r.x[:, :, w])
        islands = Islands(i.order[:, w], i.start[:, w], i.leader[:, w], i.head[:, w], i.following[:, w])
        basis = Eigenbasis(b.value[:, w], b.off[:, w], b.weight[:, w], b.place[:, w], b.cosine[:, w], b.sine[:, w])
        pade = PadeWork(
            p.real[:, :, w], p.complex[:, :, :, w], p.pivot[:, :, w], p.state[:, :, w],
            p.force[:, w], p.solution[:, w], p.solutions[:, w],
            p.dense[:, :, :, w], p.columns[:, :, :, w], p.scale[:, w],
        )  # fmt: skip
        island = IslandWork(
            basis, pade, e.W[:, :, w], e.full[:, :, w], e.row[:, w], e.S[:, :, w], e.y[:, w], e.w[:, w],
            e.c[:, w], e.beta[:, w], e.factor[:, :, :, w], e.small[:, :, w],
        )  # fmt: skip
        s = expo.averages
        averages = Averages(s.first[:, :, w], s.second[:, :, w], s.phase[:, w], s.slip[:, :, w], s.leaving[:, w])
        j = joints
        status[w], _ = expo_advance(
            world_of(world, scratch, w), work,
            ContactWork(mass, rows, islands, island, averages, contacts_of(expo.near, w), anchors_of(expo.kept, w)),
            JointWork(
                j.stiffness[:, w], j.damping[:, w], j.free[:, w], j.mean[:, w], j.middle[:, w], j.q[:, w], j.v[:, w],
                j.elapsed[:, w],
            ),
            contacts_of(contacts, w), anchors_of(anchors, w), inputs,
            how, dt, q[:, w], v[:, w], n,
        )  # fmt: skip


class Forces(NamedTuple):
    f_ext: np.ndarray
    tau: np.ndarray
    acceleration: np.ndarray


def touching_scene(name):
    """Solo12, a box on a box or a mesh on a mesh, on a floor."""
    scene = ss.Scene()
    scene.add_plane(friction=0.4)
    points = np.random.default_rng(1).normal(size=(40, 3))
    points *= 0.05 / np.linalg.norm(points, axis=1)[:, None]
    for height in (0.05, 0.148):
        if name == "boxes":
            scene.add_box((0.1, 0.1, 0.1), pos=(0.02 * height, 0, height), mass=0.5)
        elif name == "meshes":
            scene.add_mesh(points, pos=(0.02 * height, 0, height - 0.004), mass=0.5)
    if name == "solo12":
        scene.add_robot("solo12")
    return scene


@pytest.mark.filterwarnings("ignore::stickslip.errors.StartWarning")
@pytest.mark.parametrize(("name", "worlds"), [("solo12", WORLDS), ("boxes", 512), ("meshes", 512)])
def test_steps_equal_cpu(name, worlds):
    """Bodies that hit the floor and each other at random: detection, friction, actuators and integration on the GPU."""
    sim = ss.Simulation(touching_scene(name), dt=1e-4)
    sim.step(1)  # buffers grow
    sim.reset()
    model, stepper, steps = sim.model, sim.stepper, 20
    rng = np.random.default_rng(0)
    q = np.repeat(model.state().q[:, None], worlds, axis=1)
    q[2] -= rng.uniform(-2e-3, 2e-3, worlds)
    v = 0.3 * rng.normal(size=(model.nv, worlds))
    device_q, device_v, status = cuda.to_device(q), cuda.to_device(v), cuda.to_device(np.zeros(worlds, np.int64))
    work = stepper.work
    steps_in_all_worlds[(worlds + 63) // 64, 64](
        to_device(stepper.world), per_world(scratch_of(stepper.world), worlds),
        per_world(work.kin, worlds), per_world(work.art, worlds),
        per_world(Forces(work.f_ext, work.tau, work.acceleration), worlds),
        per_world(stepper.contacts.arrays, worlds), per_world(stepper.anchors, worlds), to_device(sim.inputs),
        cuda.to_device(stepper.armature), sim.dt, device_q, device_v, status, steps,
    )  # fmt: skip
    gpu_q, gpu_v = device_q.copy_to_host(), device_v.copy_to_host()
    assert not status.copy_to_host().any()
    touched = 0
    for w in range(worlds):
        sim.set_state(q[:, w], v[:, w])
        sim.step(steps)
        touched += len(sim.contacts) > 0
        np.testing.assert_allclose(gpu_q[:, w], sim.state.q, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(
            gpu_v[:, w], sim.state.v, rtol=0, atol=TOLERANCE * max(1.0, np.abs(sim.state.v).max())
        )
    assert touched > 0.2 * worlds


@pytest.mark.parametrize("matmuls", ["auto", "pade"])
def test_expo_equals_cpu(matmuls):
    """Solo12 on the floor, sticking and slipping: the contact dynamics and its modes, or Padé, on the GPU."""
    worlds, steps = 1024, 10
    scene = ss.Scene()
    scene.add_plane(friction=0.4)
    scene.add_robot("solo12")
    sim = ss.Simulation(scene, method="expo", dt=2e-3, matmuls=matmuls)
    model, stepper, work = sim.model, sim.stepper, sim.stepper.work
    rng = np.random.default_rng(0)
    q = np.repeat(model.state().q[:, None], worlds, axis=1)
    q[2] -= rng.uniform(-2e-3, 2e-3, worlds)
    v = 0.3 * rng.normal(size=(model.nv, worlds))
    device_q, device_v, status = cuda.to_device(q), cuda.to_device(v), cuda.to_device(np.zeros(worlds, np.int64))
    expo_in_all_worlds[(worlds + 63) // 64, 64](
        to_device(stepper.world), per_world(scratch_of(stepper.world), worlds),
        per_world(work.kin, worlds), per_world(work.art, worlds),
        per_world(Forces(work.f_ext, work.tau, work.acceleration), worlds),
        per_world(stepper.expo, worlds), per_world(stepper.joints, worlds),
        per_world(stepper.contacts.arrays, worlds), per_world(stepper.anchors, worlds), to_device(sim.inputs),
        stepper.settings, sim.dt, device_q, device_v, status, steps,
    )  # fmt: skip
    assert not status.copy_to_host().any()
    gpu_q, gpu_v = device_q.copy_to_host(), device_v.copy_to_host()
    touched = 0
    for w in range(worlds):
        sim.set_state(q[:, w], v[:, w])
        sim.step(steps)
        touched += len(sim.contacts) > 0
        np.testing.assert_allclose(gpu_q[:, w], sim.state.q, rtol=0, atol=1e-9)
        np.testing.assert_allclose(gpu_v[:, w], sim.state.v, rtol=0, atol=1e-7 * max(1.0, np.abs(sim.state.v).max()))
    assert touched > 0.2 * worlds


if __name__ == "__main__":
    for name in ("solo12", "a1", "romeo"):
        for worlds in (10_240, 102_400):
            batch = Batch(name, worlds)
            batch.launch()
            times = []
            for _ in range(20):
                start = time.perf_counter()
                batch.launch()
                times.append(time.perf_counter() - start)
            per = np.median(times) / worlds * 1e9
            print(f"{name}: {worlds} worlds, ABA + RNEA + CRBA + factor: {per:.1f} ns per world")
