"""u = u_ref + K_fb·(x_ref ⊖ x): against hand computations on the manifold, a closed-form oscillation, and bad input."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.control import LinearFeedback, Reference


def yaw(angle):
    return [np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2)]


@pytest.fixture(scope="module")
def solo12():
    scene = ss.Scene()
    scene.add_robot("solo12")
    return scene.compile()


def made_up(model, n=2, seed=0, **over):
    """A reference that turns from yaw 0 to yaw 1 in a second, everything else random."""
    rng = np.random.default_rng(seed)
    q = np.repeat(model.state().q[None], n, axis=0)
    q[:, 3:7] = [yaw(s) for s in np.linspace(0.0, 1.0, n)]
    q[:, 7:] = rng.normal(size=(n, model.nq - 7))
    fields = {
        "time": np.linspace(0.0, 1.0, n), "q": q, "v": rng.normal(size=(n, model.nv)),
        "u": rng.normal(size=(n, model.nu)), "gains": rng.normal(size=(n, model.nu, 2 * model.nv)),
    }  # fmt: skip
    return Reference(**(fields | over))


def bound(reference, model):
    controller = LinearFeedback(reference)
    controller.bind(model)
    return controller


def test_errors_are_taken_on_the_manifold(solo12):
    """The base is turned by 0.3 rad about an axis of its own: a rotation error of −0.3 about it, in body axes."""
    reference = made_up(solo12)
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    q = reference.q[0].copy()
    q[:3] += [0.1, -0.2, 0.3]
    q[3:7] = [np.cos(0.15), *(np.sin(0.15) * axis)]
    q[7:] += 0.4
    v = reference.v[0] + np.arange(18)
    error = np.concatenate([[-0.1, 0.2, -0.3], -0.3 * axis, np.full(12, -0.4), -np.arange(18.0)])
    u = bound(reference, solo12)(0.0, q, v)
    np.testing.assert_allclose(u, reference.u[0] + reference.gains[0] @ error, rtol=1e-12, atol=1e-12)


def test_between_instants_rotations_are_interpolated_and_ends_are_held(solo12):
    reference = made_up(solo12)
    controller = bound(reference, solo12)
    q, v, u, gains = controller.sample(0.25)
    np.testing.assert_allclose(q[3:7], yaw(0.25), atol=1e-12)
    np.testing.assert_allclose(q[7:], 0.75 * reference.q[0, 7:] + 0.25 * reference.q[1, 7:], atol=1e-12)
    np.testing.assert_allclose(v, 0.75 * reference.v[0] + 0.25 * reference.v[1], atol=1e-12)
    np.testing.assert_allclose(u, 0.75 * reference.u[0] + 0.25 * reference.u[1], atol=1e-12)
    np.testing.assert_allclose(gains, 0.75 * reference.gains[0] + 0.25 * reference.gains[1], atol=1e-12)
    for t, k in ((-1.0, 0), (0.0, 0), (1.0, 1), (50.0, 1)):
        for got, wanted in zip(
            controller.sample(t), (reference.q, reference.v, reference.u, reference.gains), strict=True
        ):
            np.testing.assert_array_equal(got, wanted[k])


def test_gear_gain_and_bias_of_actuators_are_taken_out():
    """Whatever the actuator is, its joint feels u_ref where the state is the reference's."""
    scene = ss.Scene.from_xml(
        "<mujoco><worldbody><body><joint name='a'/><geom size='0.1'/><body pos='1 0 0'><joint name='b'/>"
        "<geom size='0.1'/></body></body></worldbody><actuator><motor joint='b' gear='-3'/>"
        "<position joint='a' kp='7' kv='0.5' gear='2'/></actuator></mujoco>"
    )
    model = scene.compile()
    q, v, u = np.array([0.3, -0.2]), np.array([1.0, 2.0]), np.array([4.0, -5.0])
    controller = bound(Reference([0.0], [q], [v], [u], np.zeros((1, 2, 4))), model)
    tau = ss.Dynamics(model).actuator_forces(q, v, controller(0.0, q, v))[1]
    np.testing.assert_allclose(tau, [-5.0, 4.0], rtol=1e-12)


def test_a_slider_swings_as_a_damped_oscillator():
    """m·ẍ = −k·x − d·ẋ has the closed form e^(−δt)(cos ωt + δ/ω·sin ωt) from x = 1 at rest."""
    scene = ss.Scene.from_xml(
        "<mujoco><worldbody><body><joint name='x' type='slide' axis='1 0 0'/><geom size='0.1' mass='2'/></body>"
        "</worldbody><actuator><motor joint='x'/></actuator></mujoco>"
    )
    k, d, m = 50.0, 4.0, 2.0
    sim = ss.Simulation(scene, dt=1e-4)
    sim.set_state(q=[1.0])
    reference = Reference([0.0], [[0.0]], [[0.0]], [[0.0]], [[[k, d]]])
    log = sim.run(1.0, controller=LinearFeedback(reference), control_dt=1e-4, record_dt=0.1)
    rate = d / (2 * m)
    omega = np.sqrt(k / m - rate**2)
    t = log.time
    exact = np.exp(-rate * t) * (np.cos(omega * t) + rate / omega * np.sin(omega * t))
    np.testing.assert_allclose(log.q[:, 0], exact, atol=1e-3)


def test_saved_references_come_back(solo12, tmp_path):
    reference = made_up(solo12, n=5)
    reference.save(tmp_path / "reference")
    again = Reference.load(tmp_path / "reference")
    for name in ("time", "q", "v", "u", "gains"):
        np.testing.assert_array_equal(getattr(again, name), getattr(reference, name))
    assert again.duration == 1.0


def test_references_are_shown_in_a_line(solo12):
    assert repr(made_up(solo12, n=5)) == "Reference(5 instants from 0 to 1 s, nq = 19, nv = 18, nu = 12)"


def cut(content):
    return content[: len(content) // 2]


def spoilt(content):
    """Bytes changed in the middle of the compressed arrays."""
    middle = len(content) // 2
    return content[:middle] + bytes(64) + content[middle + 64 :]


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda path, good: path.write_text("not an archive"), "got another one .not an archive of NumPy arrays"),
        (lambda path, good: path.write_bytes(b""), "got a damaged one"),
        (lambda path, good: path.write_bytes(cut(good)), "got a damaged one .* save the reference again"),
        (lambda path, good: path.write_bytes(spoilt(good)), "got a damaged one .* save the reference again"),
        (lambda path, good: path.mkdir(), "got Is a directory; give the path"),
        (lambda path, good: np.save(path.open("wb"), np.zeros(3)), "got another one .a single array"),
        (lambda path, good: np.savez(path, time=[0.0], q=[[0.0]]), "got another one .an archive without v, u, gains"),
        (
            lambda path, good: np.savez(path, time=[1.0, 0.0], q=[], v=[], u=[], gains=[]),
            "got another one .reference time: expected one or more instants",
        ),
        (lambda path, good: None, r"got no such file; check the name, and the folder '/.*'"),
    ],
    ids=["text", "empty", "half", "spoilt", "folder", "array", "parts", "unordered", "missing"],
)
def test_files_that_are_no_references_are_refused(solo12, tmp_path, write, message):
    made_up(solo12, n=5).save(tmp_path / "good.npz")
    path = tmp_path / "other.npz"
    write(path, (tmp_path / "good.npz").read_bytes())
    wanted = r"cannot load '.*other\.npz': expected a file that Reference\.save wrote, "
    with pytest.raises(ss.InputError, match=wanted + message):
        Reference.load(path)


def test_paths_that_are_none_are_refused(solo12, tmp_path):
    with pytest.raises(ss.InputError, match=r"load: expected the path of a file that Reference\.save wrote, got 3"):
        Reference.load(3)
    with pytest.raises(ss.RecordingError, match=r"the folder '.*nowhere' does not exist; create it"):
        made_up(solo12).save(tmp_path / "nowhere" / "reference.npz")


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({"time": [0.0, 0.0]}, "reference time: expected .* increasing"),
        ({"time": []}, "reference time: expected one or more"),
        ({"q": np.zeros((3, 19))}, r"reference q: expected an array of shape \(2, …\)"),
        ({"u": np.zeros(12)}, "reference u: expected an array of shape"),
        ({"gains": np.zeros((2, 12, 18))}, r"reference gains: expected an array of shape \(2, 12, 36\)"),
        ({"v": np.full((2, 18), np.nan)}, "reference v: expected finite numbers"),
        ({"v": "fast"}, "reference v: expected an array of numbers"),
    ],
)
def test_bad_references_are_refused(solo12, over, message):
    with pytest.raises(ss.InputError, match=message):
        made_up(solo12, **over)


def test_references_of_another_model_are_refused(solo12):
    with pytest.raises(ss.InputError, match="reference: expected a Reference"):
        LinearFeedback("trot.npz")
    other = ss.Scene()
    other.add_box((1, 1, 1))
    with pytest.raises(ss.InputError, match="reference q: expected 7 columns"):
        bound(made_up(solo12), other.compile())
    q = made_up(solo12).q.copy()
    q[1, 3:7] = 2.0
    with pytest.raises(ss.InputError, match="unit length"):
        bound(made_up(solo12, q=q), solo12)
