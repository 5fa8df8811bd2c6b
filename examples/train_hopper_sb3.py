"""PPO of stable-baselines3 (`pip install stable-baselines3`) learns to hop in 32 worlds at once, on one core."""

import sys
import time

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

import stickslip.environments

NAME, TARGET = "stickslip/Hopper-v0", 800.0
steps = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000


def mean_return(act, episodes=32):
    """Mean and standard deviation of the returns of 32 episodes with starts that training does not have."""
    envs = gymnasium.make_vec(NAME, num_envs=episodes, threads=1)
    (seen, _), total, alive = envs.reset(seed=10**6), np.zeros(episodes), np.ones(episodes, dtype=bool)
    while alive.any():
        seen, rewards, failed, late, _ = envs.step(act(seen))
        total, alive = total + rewards * alive, alive & ~(failed | late)
    return f"return {total.mean():.0f} ± {total.std():.0f}"


torch.set_num_threads(1)
rng = np.random.default_rng(0)
print("random actions:", mean_return(lambda seen: rng.uniform(-1, 1, (len(seen), 2))))
worlds = gymnasium.make_vec(NAME, num_envs=32, autoreset_mode="SameStep", threads=1)
envs = VecNormalize(VecMonitor(stickslip.environments.for_stable_baselines(worlds)))
model = PPO("MlpPolicy", envs, n_steps=128, batch_size=512, n_epochs=8, seed=0, device="cpu")
began = time.time()
model.learn(steps)
trained = mean_return(lambda seen: model.predict(envs.normalize_obs(seen), deterministic=True)[0])
print(f"PPO, {steps} actions in {time.time() - began:.0f} s: {trained}, target {TARGET:.0f}")
