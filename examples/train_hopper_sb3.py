"""PPO of stable-baselines3 learns to hop: one `Worlds` of 32 hoppers behind its VecEnv, ten minutes of one core.

Needs `pip install 'stickslip[gym]' stable-baselines3`. `python examples/train_hopper_sb3.py 20000` is a short trial.
"""

import sys
import time

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv, VecMonitor, VecNormalize

import stickslip.environments  # noqa: F401 - registers them

NAME, WORLDS, TARGET = "stickslip/Hopper-v0", 32, 800.0


class Worlds(VecEnv):
    """A vector environment of Gymnasium as stable-baselines3 wants it."""

    def __init__(self, envs):
        self.envs = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self):
        return self.envs.reset(seed=self._seeds[0])[0]

    def step_async(self, actions):
        self.actions = actions

    def step_wait(self):
        seen, rewards, failed, late, infos = self.envs.step(self.actions)
        found = [{"TimeLimit.truncated": bool(late[w] and not failed[w])} for w in range(self.num_envs)]
        for w in np.flatnonzero(failed | late):
            found[w]["terminal_observation"] = infos["final_obs"][w]
        return seen, rewards, failed | late, found

    def close(self):
        self.envs.close()

    def get_attr(self, name, indices=None):
        return [getattr(self.envs, name, None)] * self.num_envs

    set_attr = env_method = None

    def env_is_wrapped(self, wrapper, indices=None):
        return [False] * self.num_envs


def mean_return(act, episodes=32):
    """Mean and standard deviation of the returns of 32 episodes that were not trained on."""
    envs = gymnasium.make_vec(NAME, num_envs=episodes, threads=1)
    seen, _ = envs.reset(seed=10**6)
    total, alive = np.zeros(episodes), np.ones(episodes, dtype=bool)
    while alive.any():
        seen, rewards, failed, late, _ = envs.step(act(seen))
        total += rewards * alive
        alive &= ~(failed | late)
    return total.mean(), total.std()


torch.set_num_threads(1)
torch.manual_seed(0)
rng, steps = np.random.default_rng(0), int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
print("random actions: return {:.0f} ± {:.0f}".format(*mean_return(lambda seen: rng.uniform(-1, 1, (len(seen), 2)))))
envs = Worlds(gymnasium.make_vec(NAME, num_envs=WORLDS, autoreset_mode="SameStep", threads=1))
envs = VecNormalize(VecMonitor(envs))
model = PPO("MlpPolicy", envs, n_steps=128, batch_size=512, n_epochs=8, ent_coef=0.0, seed=0, device="cpu", verbose=1)
began = time.time()
model.learn(steps)
print(f"{steps} actions in {time.time() - began:.0f} s")
trained = mean_return(lambda seen: model.predict(envs.normalize_obs(seen), deterministic=True)[0])
print("trained policy: return {:.0f} ± {:.0f}, target {:.0f}".format(*trained, TARGET))
model.save("hopper-ppo.zip")
