"""The same kernels on a GPU: one world per thread, world index last, equal to the CPU to round-off.

Skipped without numba-cuda and a CUDA device. ``python tests/gpu/test_cuda.py`` prints the time per world.
"""

import time
from pathlib import Path

import numpy as np
import pytest

cuda = pytest.importorskip("numba.cuda", reason="needs numba-cuda: pip install stickslip[gpu]")
if not cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

import mujoco

import stickslip.model
from stickslip.dynamics.aba import aba
from stickslip.dynamics.crba import crba
from stickslip.dynamics.data import Articulated, Kinematics, MassMatrix, make_data
from stickslip.dynamics.factor import ltdl_factor
from stickslip.dynamics.rnea import rnea
from stickslip.model.model import compile_model

pytestmark = pytest.mark.gpu
ROBOTS = Path(stickslip.model.__file__).parent / "robots"
TOLERANCE = 1e-12
WORLDS = 10_240


@cuda.jit
def dynamics_of_all_worlds(tree, support, inertia, q, v, tau, f_ext, kin, art, mass, a, force):
    """ABA, RNEA (with the velocities as accelerations), CRBA and its factor, in every world."""
    w = cuda.grid(1)
    if w < q.shape[1]:
        k = Kinematics(
            kin.pos[:, :, w], kin.rot[:, :, :, w], kin.origin[:, :, w], kin.S[:, :, w], kin.vel[:, :, w],
            kin.acc[:, :, w], kin.total[:, :, w], kin.inertia[:, :, w], kin.force[:, :, w], kin.path[:, w],
        )  # fmt: skip
        r = Articulated(art.inertia[:, :, :, w], art.U[:, :, w], art.D[:, w], art.u[:, w], art.acc[:, :, w])
        m = MassMatrix(mass.composite[:, :, w], mass.M[:, w], mass.L[:, w])
        aba(tree, support, inertia, q[:, w], v[:, w], tau[:, w], f_ext[:, :, w], k, r, a[:, w])
        rnea(tree, support, inertia, q[:, w], v[:, w], v[:, w], f_ext[:, :, w], k, force[:, w])
        crba(tree, support, inertia, q[:, w], k, m)
        ltdl_factor(support, m.M, m.L)


def to_device(arrays):
    return type(arrays)(*(cuda.to_device(np.ascontiguousarray(x)) for x in arrays))


def per_world(arrays, worlds):
    """Scratch for every world, the world index last, so that neighbouring threads read neighbouring memory."""
    return type(arrays)(*(cuda.to_device(np.repeat(x[..., None], worlds, axis=-1)) for x in arrays))


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
        self.model = compile_model(mujoco.MjModel.from_xml_path(str(ROBOTS / f"{name}.xml")))
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
