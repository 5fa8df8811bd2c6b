"""Environments of Gymnasium: its checker, seeds, many worlds beside single ones, methods, randomness, bad input."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

from stickslip.episodes import TASKS
from stickslip.errors import InputError

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402 - it needs Gymnasium
from gymnasium.vector import AutoresetMode  # noqa: E402

import stickslip.environments  # noqa: E402

NAMES = [f"stickslip/{name}-v0" for name in TASKS]
HOPPER = "stickslip/Hopper-v0"
BOTH = {"method": "semi-implicit-euler"}, {"method": "coulomb/pgs"}


def actions(envs, count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-1, 1, envs.action_space.shape).astype(np.float32) for _ in range(count)]


@pytest.mark.parametrize("name", NAMES)
def test_gymnasium_has_no_complaints(name):
    """But that observations are unbounded, as those of its own robots are."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*Box observation space (min|max)imum value")
        env = gymnasium.make(name, render_mode="rgb_array")
        check_env(env.unwrapped)
    task = TASKS[name[len("stickslip/") : -len("-v0")]]
    assert env.spec.max_episode_steps == round(task.seconds / task.control_dt)
    assert env.action_space.shape == (len(task.action_names),)
    counted = sum(int(words.rpartition("(")[2].rstrip(")")) for words in task.observed)
    assert env.observation_space.shape == (counted,)


@pytest.mark.parametrize("name", NAMES)
def test_many_worlds_have_the_bits_of_single_ones(name):
    """Starts, randomised frictions and masses, motions, rewards, ends, facts, and new episodes."""
    options = {"num_envs": 3, "randomise": True, "max_episode_steps": 12}
    many = gymnasium.make_vec(name, threads=2, **options)
    single = gymnasium.make_vec(name, vectorization_mode="sync", **options)
    assert many.metadata["autoreset_mode"] == single.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    found, wanted = [many.reset(seed=5)], [single.reset(seed=5)]
    for action in actions(many, 30):
        found.append(many.step(action))
        wanted.append(single.step(action))
    assert sum(step[3].sum() for step in found[1:]) == 6  # a world begins anew twice
    for a, b in zip(found, wanted, strict=True):
        for x, y in zip(a[:-1], b[:-1], strict=True):
            assert np.array_equal(x, y)
        assert a[-1].keys() == b[-1].keys()
        assert all(np.array_equal(a[-1][key], b[-1][key]) for key in a[-1])
        assert many.observation_space.contains(a[0])


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    env = gymnasium.make(HOPPER)
    runs = []
    for seed in (3, 3, 4):
        first = env.reset(seed=seed)[0]
        runs.append([first, *(env.step(action)[0] for action in actions(env, 20))])
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])


def test_a_method_is_chosen_by_keyword():
    ends = []
    for options in BOTH:
        env = gymnasium.make("stickslip/PushBox-v0", **options)
        env.reset(seed=0)
        for _ in range(60):
            seen, *_ = env.step(np.array([1.0, 0.0], dtype=np.float32))
        worlds = env.unwrapped.episodes.worlds
        assert f"{worlds.method}/{worlds.variant}".startswith(options["method"])
        ends.append(seen)
    assert not np.array_equal(*ends)
    np.testing.assert_allclose(*ends, atol=0.1)  # the box is pushed by both


def test_time_steps_divide_the_time_of_an_action():
    env = gymnasium.make(HOPPER, dt=1e-3, control_dt=0.01, warm_start=False).unwrapped
    assert (env.episodes.substeps, env.metadata["render_fps"]) == (10, 100)
    with pytest.raises(InputError, match=r"control_dt: expected a whole multiple of dt"):
        gymnasium.make(HOPPER, dt=3e-3)


def test_an_episode_begins_anew_in_the_same_step():
    same = gymnasium.make_vec(HOPPER, num_envs=2, max_episode_steps=3, autoreset_mode="SameStep", threads=1)
    late = gymnasium.make_vec(HOPPER, num_envs=2, max_episode_steps=3, threads=1)
    same.reset(seed=1)
    late.reset(seed=1)
    for k, action in enumerate(actions(same, 3)):
        a, b = same.step(action), late.step(action)
        assert a[3].tolist() == [k == 2] * 2
    assert np.array_equal(np.stack(a[4]["final_obs"]), b[0])
    assert np.array_equal(a[4]["final_info"]["distance"], b[4]["distance"])
    assert np.array_equal(a[0], late.step(action)[0])  # which ignores the action


def test_worlds_are_reset_by_a_mask():
    envs = gymnasium.make_vec(HOPPER, num_envs=3, max_episode_steps=2, autoreset_mode="Disabled", threads=1)
    envs.reset(seed=[7, None, 9])
    for action in actions(envs, 2):
        envs.step(action)
    with pytest.raises(InputError, match="reset them with reset_mask"):
        envs.step(action)
    before = envs.episodes.worlds.q[1].copy()
    envs.reset(options={"reset_mask": np.array([True, False, True])})
    assert np.array_equal(envs.episodes.worlds.q[1], before)
    assert envs.episodes.taken.tolist() == [0, 2, 0]
    envs.reset(seed=7, options={"reset_mask": np.ones(3, dtype=bool)})
    assert envs.step(action)[3].tolist() == [False] * 3


def test_a_picture_shows_each_world():
    envs = gymnasium.make_vec("stickslip/ArmReach-v0", num_envs=2, render_mode="rgb_array", threads=1)
    envs.reset(seed=0)
    one, other = envs.render()
    assert one.shape == other.shape == (360, 480, 3)
    assert one.dtype == np.uint8
    assert np.abs(one.astype(float) - other).max() > 50  # another posture, another place
    assert gymnasium.make(HOPPER).unwrapped.render() is None
    film = gymnasium.make(HOPPER, render_mode="rgb_array_list")
    film.reset(seed=0)
    film.step(film.action_space.sample())
    assert len(film.render()) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "coulom"}, "unknown method 'coulom': did you mean 'coulomb'"),
        ({"render_mode": "ansi"}, "render_mode: expected 'rgb_array' or None, got 'ansi'"),
        ({"randomise": "yes"}, "randomise: expected True or False"),
        ({"randomise": {"frictoin": (0.1, 1)}}, "did you mean 'friction'"),
        ({"randomise": {"friction": (1.0, 0.1)}}, r"randomise\['friction'\]: expected a range \(low, high\)"),
        ({"warm_strat": False}, "warm_start"),
        ({"control_dt": -1}, "control_dt: expected seconds > 0"),
    ],
)
def test_a_wrong_keyword_is_refused_by_name(options, message):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Gymnasium warns of a render_mode, too
        with pytest.raises(InputError, match=message) as error:
            gymnasium.make(HOPPER, **options)
    assert len(str(error.value)) < 300


def test_a_wrong_keyword_of_many_worlds_is_refused_by_name():
    with pytest.raises(InputError, match="autoreset_mode: expected one of 'NextStep'"):
        gymnasium.make_vec(HOPPER, autoreset_mode="never")
    with pytest.raises(InputError, match="num_envs: expected a whole number ≥ 1"):
        gymnasium.make_vec(HOPPER, num_envs=0)
    envs = gymnasium.make_vec(HOPPER, num_envs=2)
    with pytest.raises(InputError, match="seed: expected a number, or 2 of them"):
        envs.reset(seed=[1])
    with pytest.raises(InputError, match="reset_mask: expected an array of booleans"):
        envs.reset(options={"reset_mask": [1]})


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (np.zeros(3), r"action: expected an array of shape \(2,\), got \(3,\)"),
        (0.5, r"action: expected an array of shape \(2,\), got \(\)"),
        ([0.0, np.nan], r"action: expected finite numbers from -1 to 1, got '\[0.0, nan\] in world 0'"),
        (["left", "right"], "action: expected an array"),
    ],
)
def test_a_wrong_action_is_refused_by_name(action, message):
    env = gymnasium.make(HOPPER).unwrapped
    env.reset(seed=0)
    with pytest.raises(InputError, match=message):
        env.step(action)
    many = gymnasium.make_vec(HOPPER, num_envs=2, threads=1)
    many.reset(seed=0)
    with pytest.raises(InputError, match="action: expected"):
        many.step(action)


def test_only_gymnasium_needs_to_be_imported():
    code = 'import gymnasium; print(gymnasium.make("stickslip.environments:stickslip/Hopper-v0").spec.id)'
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == HOPPER


def test_without_gymnasium_the_message_says_how_to_get_it():
    code = "import sys; sys.modules['gymnasium'] = None; import stickslip.environments"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "pip install 'stickslip[gym]'" in result.stderr.splitlines()[-1]


def test_a_task_of_ones_own_is_registered(monkeypatch):
    class Slower(TASKS["Hopper"]):
        name, seconds = "SlowerHopper", 1.0

    name = stickslip.environments.register(Slower)
    try:
        env = gymnasium.make(name)
        env.reset(seed=0)
        assert env.spec.max_episode_steps == 50
    finally:
        del gymnasium.registry[name]
