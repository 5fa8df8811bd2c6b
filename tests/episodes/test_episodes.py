"""Episodes of tasks: what is randomised, worlds that diverge, and that nothing grows."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.episodes import TASKS, Episodes
from stickslip.episodes.episodes import LEVELS, PENALTY
from stickslip.errors import InputError

GRAVITY = 9.81


def test_randomised_frictions_slow_boxes_as_coulomb_says():
    """Each box slides alone with 1 m/s: it loses μ·g·t; on four contacts it weighs m·g."""
    episodes = Episodes(TASKS["PushBox"](), 24, randomise={"friction": (0.2, 0.8), "mass": (0.5, 2.0)}, threads=1)
    episodes.seed(range(24))
    episodes.begin()
    worlds, task, friction = episodes.worlds, episodes.task, episodes.values["friction"]
    assert len(np.unique(friction)) > 4
    assert 0.2 <= friction.min() < 0.4 < 0.6 < friction.max() <= 0.8
    worlds.q[:, task.pusher] -= (1.0, 0.0)  # out of the way
    for _ in range(5):
        episodes.step(episodes.actions)
    worlds.v[:, task.v_box] = (1.0, 0, 0, 0, 0, 0)
    for _ in range(5):
        episodes.step(episodes.actions)
    lost = 1.0 - worlds.v[:, task.v_box][:, 0]
    np.testing.assert_allclose(lost, np.minimum(friction * GRAVITY * 0.1, 1.0), rtol=0.03)
    mass = 1.001 * episodes.values["mass"]
    np.testing.assert_allclose(worlds.contacts.force_on("box")[:, 2], mass * GRAVITY, rtol=0.02)


def test_every_episode_draws_anew_and_no_memory_grows():
    episodes = Episodes(TASKS["Hopper"](), 1, randomise=True, threads=1)
    episodes.seed([0])
    drawn = []
    for _ in range(300):
        episodes.begin()
        episodes.step(episodes.actions)
        drawn.append((episodes.values["friction"][0], episodes.values["mass"][0]))
    assert len(set(drawn)) > 0.9 * LEVELS**2
    assert episodes.worlds._parameters.version <= LEVELS**2 + 3
    fixed = Episodes(TASKS["Hopper"](), 2, threads=1)
    assert fixed.facts().keys() == {"diverged", "distance"}


def test_what_is_never_randomised_is_the_scene_itself():
    """A range of one value changes no bit beside a floor that has it."""
    ends = []
    for randomise in (False, {"friction": (0.8, 0.8)}):
        episodes = Episodes(TASKS["Hopper"](), 1, randomise=randomise, threads=1)
        episodes.seed([0])
        episodes.begin()
        q, v = episodes.task.home, np.zeros(5)
        episodes.worlds.set_state(q, v)
        for _ in range(20):
            seen = episodes.step(episodes.actions).observation
        ends.append(seen)
    assert np.array_equal(*ends)


def test_a_world_that_diverges_ends_with_a_penalty_and_the_others_go_on():
    episodes = Episodes(TASKS["Hopper"](), 3, threads=1)
    twin = Episodes(TASKS["Hopper"](), 3, threads=1)
    for each in (episodes, twin):
        each.seed(range(3))
        each.begin()
    episodes.worlds.v[1] = 1e200
    outcome, wanted = episodes.step(episodes.actions), twin.step(twin.actions)
    assert episodes.facts()["diverged"].tolist() == [False, True, False]
    assert outcome.reward[1] == -PENALTY
    assert outcome.failed.tolist() == [False, True, False]
    assert np.isfinite(outcome.observation).all()
    assert np.array_equal(outcome.observation[::2], wanted.observation[::2])
    episodes.begin(np.array([False, True, False]))
    assert not episodes.step(episodes.actions).failed.any()


def test_worlds_that_are_left_out_do_not_move():
    episodes = Episodes(TASKS["Hopper"](), 3, threads=1)
    episodes.seed(range(3))
    episodes.begin()
    before = episodes.worlds.q.copy()
    episodes.step(np.ones((3, 2)), np.array([True, False, True]))
    assert (episodes.worlds.q != before).any(axis=1).tolist() == [True, False, True]
    assert episodes.taken.tolist() == [1, 0, 1]
    assert episodes.worlds.steps.tolist() == [episodes.substeps, 0, episodes.substeps]


def test_actions_beyond_one_count_as_one():
    ends = []
    for size in (1.0, 7.0):
        episodes = Episodes(TASKS["Hopper"](), 1, threads=1)
        episodes.seed([0])
        episodes.begin()
        ends.append(episodes.step(np.full((1, 2), size)).observation)
    assert np.array_equal(*ends)


def test_messages():
    with pytest.raises(InputError, match=r"task: expected one of stickslip.episodes.TASKS, made"):
        Episodes(TASKS["Hopper"])
    with pytest.raises(InputError, match="unknown option"):
        Episodes(TASKS["Hopper"](), 1, method="coulomb", banana=3)
    episodes = Episodes(TASKS["Hopper"](), 2, threads=1)
    with pytest.raises(InputError, match="seeds: expected 2, one for each world, got 3"):
        episodes.seed(range(3))
    assert "Hopper in 2 worlds" in str(episodes)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_says_what_it_is(name):
    task = TASKS[name]
    assert task.name == name
    assert set(task.variations) == {"friction", "mass"}
    model = task().scene()
    model = model.compile() if isinstance(model, ss.Scene) else model
    assert model.nu >= 2
