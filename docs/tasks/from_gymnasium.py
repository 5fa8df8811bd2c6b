"""What one does with Gymnasium's MuJoCo environments, there and here."""

import numpy as np

import stickslip as ss

NAME, TRIED = "Gymnasium", "1.4.0"
INTRODUCTION = """\
Six tasks are [environments of Gymnasium](../environments.md) themselves, for libraries that train with it:
`gymnasium.make("stickslip/Hopper-v0", method="coulomb/pgs")`. Without an environment, an episode is a loop that you
write: set controls, step, look at the state. The loop is as short, and reward, end and observation are expressions.
"""
RUN = "was tried with this version"
GIVEN = "`robot.xml` is an arm with two motors over a floor with a box.\n"


def given_there():
    import gymnasium as gym

    env = gym.make("InvertedPendulum-v5")
    observation, info = env.reset(seed=1)
    return locals()


def given_here():
    sim = ss.Simulation("robot.xml", "mujoco")
    rng = np.random.default_rng(1)
    return locals()


def episode_there(env):
    """An episode with random actions, until a joint is out of bounds or the time is over"""
    env.reset(seed=1)
    done = False
    while not done:
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        done = terminated or truncated


def episode_here(sim, rng):
    sim.reset()
    while sim.time < 1.0 and abs(sim.joint("shoulder").q) < 1.5:
        sim.set_control(rng.uniform(-1, 1, sim.model.nu))
        sim.step()


def observation_there(env):
    """The observation: joint positions and velocities"""
    observation, *_ = env.step(env.action_space.sample())
    return observation


def observation_here(sim):
    sim.step()
    return np.concatenate([sim.state.q, sim.state.v])


def reward_there(env):
    """A reward of one's own: speed less effort"""
    import gymnasium as gym

    class Reward(gym.Wrapper):
        def step(self, action):
            observation, _, terminated, truncated, info = self.env.step(action)
            reward = self.unwrapped.data.body("pole").cvel[3] - 0.1 * np.square(action).sum()
            return observation, reward, terminated, truncated, info

    env = Reward(env)
    env.step(env.action_space.sample())


def reward_here(sim):
    sim.set_control([0.5, 0.5])
    sim.step()
    return sim.body("tip").velocity[0] - 0.1 * np.square(sim.control).sum()


def noise_there(env):
    """Start from a random state near the initial one"""
    env.reset(seed=2)
    low, high = -0.01, 0.01
    noise = env.np_random.uniform(low, high, env.unwrapped.model.nq)
    env.unwrapped.set_state(env.unwrapped.init_qpos + noise, env.unwrapped.init_qvel)


def noise_here(sim, rng):
    sim.reset()
    sim.set_state(q=sim.dynamics.integrate(sim.state.q, rng.uniform(-0.01, 0.01, sim.model.nv)))


def skip_there():
    """Hold an action for five time steps"""
    import gymnasium as gym

    env = gym.make("InvertedPendulum-v5", frame_skip=5)
    env.reset(seed=1)
    env.step(env.action_space.sample())


def skip_here(sim, rng):
    sim.set_control(rng.uniform(-1, 1, sim.model.nu))
    sim.step(5)


def limit_there():
    """End episodes after two hundred actions"""
    import gymnasium as gym

    env = gym.make("InvertedPendulum-v5", max_episode_steps=200)
    env.reset(seed=1)
    done = False
    while not done:
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        done = terminated or truncated


def limit_here(sim, rng):
    for _ in range(200):
        sim.set_control(rng.uniform(-1, 1, sim.model.nu))
        sim.step()


def robot_there():
    """An environment with one's own robot"""
    import gymnasium as gym

    env = gym.make("InvertedPendulum-v5", xml_file="./pendulum.xml")
    env.reset(seed=1)


def robot_here():
    sim = ss.Simulation("robot.xml")
    sim.step()


def state_there(env):
    """Save the state, and go back to it"""
    qpos, qvel = env.unwrapped.data.qpos.copy(), env.unwrapped.data.qvel.copy()
    env.step(env.action_space.sample())
    env.unwrapped.set_state(qpos, qvel)


def state_here(sim):
    snapshot = sim.snapshot()
    sim.step()
    sim.restore(snapshot)


def video_there():
    """A video of an episode"""
    import gymnasium as gym

    env = gym.make("InvertedPendulum-v5", render_mode="rgb_array")
    env = gym.wrappers.RecordVideo(env, "videos")
    env.reset(seed=1)
    for _ in range(50):
        *_, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            break
    env.close()


def video_here(sim):
    sim.run(0.2).gif("episode.gif", size=(160, 90), fps=10)


def vector_there():
    """Several worlds at once"""
    import gymnasium as gym

    envs = gym.make_vec("InvertedPendulum-v5", num_envs=4)
    envs.reset(seed=1)
    envs.step(envs.action_space.sample())


def vector_here(sim):
    worlds = ss.Worlds("robot.xml", 4, "mujoco")
    worlds.control[:] = np.random.default_rng(1).uniform(-1, 1, worlds.control.shape)
    worlds.step()
