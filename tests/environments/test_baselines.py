"""Environments behind the interface of stable-baselines3."""

import sys

import numpy as np
import pytest

from stickslip.errors import InputError

gymnasium = pytest.importorskip("gymnasium")

from stickslip.environments import for_stable_baselines  # noqa: E402

HOPPER = "stickslip/Hopper-v0"


def test_without_it_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    monkeypatch.delitem(sys.modules, "stickslip.environments.baselines", raising=False)
    with pytest.raises(InputError, match="pip install stable-baselines3"):
        for_stable_baselines(gymnasium.make_vec(HOPPER, num_envs=2))


def test_it_has_the_rewards_of_the_vector_environment_and_keeps_last_observations():
    pytest.importorskip("stable_baselines3")
    options = {"num_envs": 3, "autoreset_mode": "SameStep", "max_episode_steps": 4, "threads": 1}
    envs, twin = for_stable_baselines(gymnasium.make_vec(HOPPER, **options)), gymnasium.make_vec(HOPPER, **options)
    envs.seed(3)
    assert np.array_equal(envs.reset(), twin.reset(seed=3)[0])
    for k in range(4):
        action = np.full((3, 2), 0.1 * k, dtype=np.float32)
        seen, rewards, ends, infos = envs.step(action)
        wanted, gained, _, late, facts = twin.step(action)
        assert np.array_equal(seen, wanted)
        assert np.array_equal(rewards, gained)
        assert np.array_equal(ends, late)
    assert ends.all()
    assert [info["TimeLimit.truncated"] for info in infos] == [True] * 3
    assert np.array_equal(infos[1]["terminal_observation"], facts["final_obs"][1])
    with pytest.raises(InputError, match="autoreset_mode='SameStep'"):
        for_stable_baselines(gymnasium.make_vec(HOPPER, num_envs=2))
