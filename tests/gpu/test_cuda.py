"""Many worlds on a GPU: each equals that of the CPU to 1e-12.

Skipped without numba-cuda and a CUDA device. Each method compiles for a minute or more the first time.
"""

import numpy as np
import pytest

pytest.importorskip("numba_cuda", reason="needs numba-cuda: pip install stickslip[gpu]")
from numba import cuda

if not cuda.is_available():
    pytest.skip("needs a CUDA device", allow_module_level=True)

import stickslip as ss
from stickslip.errors import InputError

pytestmark = pytest.mark.gpu
DT = {
    "semi-implicit-euler": 1e-4,
    "coulomb/pgs": 1e-3,
    "relaxed/pgs": 1e-3,
    "implicit-euler": 1e-3,
    "variational": 2e-3,
}
WORLDS = 96


def servo_robot():
    """Solo12 on a plane, held by servos; returns the model and the controls of its posture."""
    model = ss.SCENES["solo12-stand"].build().scene.compile()
    for name in model.actuator_names:
        model.set_actuator(name, gain=10.0, bias=(0.0, -10.0, -0.2))
    joints = model.mj.actuator_trnid[:, 0]
    return model, model.state().q[model.mj.jnt_qposadr[joints]]


def begun(method, **options):
    model, home = servo_robot()
    worlds = ss.Worlds(model, WORLDS, method, DT[method], **options)
    worlds.control[:] = home
    worlds.set_state(v=0.3 * np.random.default_rng(0).normal(size=(WORLDS, model.nv)))
    return worlds


@pytest.mark.parametrize("method", sorted(DT))
def test_gpu_equals_cpu(method):
    gpu, cpu = begun(method, device="cuda"), begun(method)
    steps = round(0.02 / DT[method])
    for n in (1, steps):
        gpu.step(n)
        cpu.step(n)
    np.testing.assert_allclose(np.asarray(gpu.q), cpu.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(np.asarray(gpu.v), cpu.v, rtol=0, atol=1e-10)
    np.testing.assert_array_equal(gpu.contacts.count, cpu.contacts.count)
    assert not gpu.by_python.any()
    assert gpu.contacts.count.any()


def test_parameters_resets_and_worlds_that_diverge():
    gpu, cpu = begun("semi-implicit-euler", device="cuda"), begun("semi-implicit-euler")
    friction = np.linspace(0.1, 0.9, WORLDS)
    for worlds in (gpu, cpu):
        worlds.set_shape("shape0", friction=friction)
        worlds.step(100)
    np.testing.assert_allclose(np.asarray(gpu.q), cpu.q, rtol=0, atol=1e-12)
    for worlds in (gpu, cpu):
        worlds.v[5, 0] = 1e10
        worlds.step(3)
        assert list(np.flatnonzero(worlds.diverged)) == [5]
        worlds.reset(worlds.diverged)
        worlds.step(20)
    np.testing.assert_allclose(np.asarray(gpu.q), cpu.q, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(gpu.steps, cpu.steps)
    before = gpu.snapshot()
    gpu.step(10)
    after = np.asarray(gpu.q)
    gpu.restore(before)
    gpu.step(10)
    np.testing.assert_array_equal(np.asarray(gpu.q), after)


def test_an_overflow_is_counted_and_changes_no_other_world():
    few, enough = begun("semi-implicit-euler", device="cuda", contacts=2), begun("semi-implicit-euler", device="cuda")
    q = np.asarray(few.q)
    q[1:, 2] += 1.0  # all but the first fall freely
    for worlds in (few, enough):
        worlds.set_state(q=q)
        worlds.step(20)
    assert few.overflows[0] > 0
    assert not few.overflows[1:].any()
    np.testing.assert_array_equal(np.asarray(few.q)[1:], np.asarray(enough.q)[1:])
    np.testing.assert_allclose(np.asarray(few.q)[0], np.asarray(enough.q)[0], rtol=0, atol=1e-12)


def test_single_precision_is_near():
    gpu, cpu = begun("semi-implicit-euler", device="cuda", dtype=np.float32), begun("semi-implicit-euler")
    for worlds in (gpu, cpu):
        worlds.step(200)
    assert gpu.q.dtype == np.float32
    error = np.abs(np.asarray(gpu.q) - cpu.q).max()
    assert 1e-8 < error < 1e-4
    with pytest.raises(InputError, match="float64"):
        begun("variational", device="cuda", dtype=np.float32)


def test_other_libraries_write_into_the_rows():
    worlds = begun("semi-implicit-euler", device="cuda")
    torch_like = cuda.as_cuda_array(worlds.control)
    assert torch_like.shape == worlds.control.shape
    torch_like.copy_to_device(cuda.to_device(np.zeros(worlds.control.shape, order="F")))
    assert not np.asarray(worlds.control).any()
    assert worlds.q.__dlpack_device__() == (2, 0)
    assert "dltensor" in repr(worlds.q.__dlpack__())
    worlds.v[3] = 1.0
    np.testing.assert_array_equal(worlds.v[3], np.ones(worlds.model.nv))
