"""What one does with Brax, there and here."""

import numpy as np

import stickslip as ss

NAME, TRIED = "Brax", "0.14.2"
INTRODUCTION = """\
Brax runs thousands of worlds on an accelerator and differentiates through them. Here a scene runs by a method of
your choice, in one world or in many; [derivatives](../derivatives.md) of the dynamics and of single steps are
exact. [Many worlds](../worlds.md) run on processors and GPUs;
gradients of rollouts come with later versions.
"""
RUN = "was tried with this version"
GIVEN = "`pendulum.xml` is a pole on a cart with a motor.\n"


def given_there():
    import jax
    from brax.generalized import pipeline
    from brax.io import mjcf

    system = mjcf.load("pendulum.xml")
    state = jax.jit(pipeline.init)(system, system.init_q, jax.numpy.zeros(system.qd_size()))
    return locals()


def given_here():
    sim = ss.Simulation("pendulum.xml", "mujoco")
    return locals()


def simulate_there():
    """Load a file and take a hundred steps"""
    import jax
    from brax.generalized import pipeline
    from brax.io import mjcf

    system = mjcf.load("pendulum.xml")
    state = jax.jit(pipeline.init)(system, system.init_q, jax.numpy.zeros(system.qd_size()))
    step = jax.jit(pipeline.step)
    for _ in range(100):
        state = step(system, state, jax.numpy.zeros(system.act_size()))
    return np.asarray(state.q)


def simulate_here():
    sim = ss.Simulation("pendulum.xml")
    sim.step(100)
    return sim.state.q


def worlds_there(system):
    """Many worlds at once"""
    import jax
    from brax.generalized import pipeline

    starts = jax.numpy.tile(system.init_q, (16, 1))
    init = jax.jit(jax.vmap(pipeline.init, in_axes=(None, 0, 0)))
    states = init(system, starts, jax.numpy.zeros((16, system.qd_size())))
    return states.q.shape


def worlds_here(sim):
    """Worlds may have states, controls and parameters of their own."""
    worlds = ss.Worlds("pendulum.xml", 16, "coulomb/pgs")
    worlds.step(10)
    return worlds.q.shape


def gradient_there(system, state):
    """The derivative of a rollout by its controls"""
    import jax
    from brax.generalized import pipeline

    def height(control):
        return pipeline.step(system, state, control).x.pos[1, 2]

    return jax.jit(jax.grad(height))(jax.numpy.zeros(system.act_size()))


gradient_here = "later: gradients of rollouts"
