"""Learning by random search, and the judgement of a policy by other methods."""

import json

import numpy as np
import pytest
from rich.console import Console

from stickslip.episodes import TASKS, Episodes
from stickslip.errors import InputError
from stickslip.lab.learn import Policy, SearchSettings, judge, search
from stickslip.lab.learn.learn import Asked, run_learn
from stickslip.lab.learn.rollout import rollout
from stickslip.lab.learn.search import Seen, _direction

TASK = TASKS["Hopper"]
SHORT = {"threads": 1}


class ShortHopper(TASK):
    """Episodes of half a second."""

    seconds = 0.5


def made(n):
    return Episodes(ShortHopper(), n, **SHORT)


def still(observations=11, actions=2):
    return Policy(np.zeros((actions, observations + 1)), np.zeros(observations), np.ones(observations))


def test_the_direction_is_that_of_the_paper():
    """Two directions of one weight: the better one alone, by its difference over the deviation of its two returns."""
    delta = np.array([[[2.0]], [[1.0]]])
    found = _direction(np.array([3.0, 10.0, 1.0, 4.0]), delta, 1)
    assert found == pytest.approx((10.0 - 4.0) * 1.0 / 3.0)
    assert _direction(np.zeros(4), delta, 2) == 0.0


def test_mean_and_spread_of_all_that_was_seen():
    rows = np.random.default_rng(0).normal(3.0, 2.0, (500, 4))
    seen = Seen(4)
    for part in np.split(rows, [1, 7, 7, 200]):
        seen.add(part)
    np.testing.assert_allclose(seen.mean, rows.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(seen.spread, rows.std(axis=0), rtol=1e-12)


def test_a_search_is_repeatable_and_gets_better():
    settings = SearchSettings(iterations=12, directions=8, best=4, every=3)
    policy, curve = search(made, settings, show=False)
    again, _ = search(made, settings, show=False)
    assert np.array_equal(policy.weights, again.weights)
    returns = [point.mean for point in curve]
    assert [point.iteration for point in curve] == [0, 3, 6, 9, 12]
    assert max(returns) > returns[0] + 1.0
    judged = judge(ShortHopper, policy, ["coulomb/pgs"], episodes=8, options=SHORT, show=False)[0]
    before = judge(ShortHopper, still(), ["coulomb/pgs"], episodes=8, options=SHORT, show=False)[0]
    assert judged.mean > before.mean
    assert 0.4 < judged.seconds <= 0.5


def test_a_return_is_the_sum_of_rewards_until_the_end():
    episodes = Episodes(TASK(), 3, **SHORT)
    returns = rollout(episodes, still(), range(3))
    assert returns.failed.all()
    single = Episodes(TASK(), 1, **SHORT)
    single.seed([1])
    single.begin()
    total, failed, count = 0.0, False, 0
    while not failed:
        outcome = single.step(np.zeros((1, 2)))
        total, failed, count = total + outcome.reward[0], outcome.failed[0], count + 1
    assert (returns.total[1], returns.actions[1]) == (total, count)


def test_a_policy_comes_back_from_its_file(tmp_path):
    rng = np.random.default_rng(0)
    policy = Policy(rng.normal(size=(2, 12)), rng.normal(size=11), rng.uniform(1, 2, 11), {"task": "Hopper"})
    policy.save(tmp_path / "policy.npz")
    again = Policy.load(tmp_path / "policy.npz")
    seen = rng.normal(size=(5, 11))
    assert np.array_equal(policy(seen), again(seen))
    assert policy(seen[0]).shape == (2,)
    assert np.abs(policy(1e3 * seen)).max() <= 1.0
    assert again.facts == {"task": "Hopper"}


def test_a_wrong_policy_is_refused_by_name(tmp_path):
    (tmp_path / "text.npz").write_text("a = 1")
    np.savez(tmp_path / "other.npz", weights=np.zeros(3))
    for name, why in (("nothing.npz", "there is no such file"), ("text.npz", "it holds"), ("other.npz", "it holds")):
        with pytest.raises(InputError, match=f"policy: expected an .npz file that .*{why}"):
            Policy.load(tmp_path / name)
    with pytest.raises(InputError, match=r"observation: expected 11 numbers.*is it the same task"):
        still()(np.zeros(12))


def test_methods_that_cannot_run_a_task_say_why():
    class Impatient(ShortHopper):
        seconds = 1e5

    slow = judge(Impatient, still(), ["coulomb/pgs"], patience=1e-3, options=SHORT, show=False)[0]
    assert "exceed 0.001 s" in slow.why_not
    short = judge(ShortHopper, still(), ["stewart-trinkle/pgs"], longest=1e-3, options=SHORT, show=False)[0]
    assert short.dt == 1e-3  # its own is 10 ms
    wrong = judge(ShortHopper, still(), ["coulomb/pgs"], options={**SHORT, "dt": 3e-3}, show=False)[0]
    assert "a whole multiple of dt" in wrong.why_not


def test_learn_writes_policy_curve_and_returns_by_method(tmp_path):
    small = SearchSettings(iterations=2, directions=2, best=1)
    console = Console(width=100, record=True, file=(tmp_path / "said").open("w"))
    asked = Asked("stickslip/Hopper-v0", search=small, methods=("semi-implicit-euler",), episodes=4, shared=SHORT)
    learned = run_learn(asked, tmp_path, console)
    assert [each.method for each in learned.judged] == ["coulomb/pgs", "coulomb/pgs", "semi-implicit-euler"]
    assert [each.dt for each in learned.judged[:2]] == [2e-3, 0.5e-3]
    assert learned.judged[1].label == "coulomb/pgs, dt/4"
    assert all(np.isfinite(each.mean) for each in learned.judged)
    numbers = json.loads((tmp_path / "learn.json").read_text())
    assert [row["mean"] for row in numbers["judged"]] == [each.mean for each in learned.judged]
    assert numbers["curve"][-1]["iteration"] == 2
    assert (tmp_path / "learn.png").stat().st_size > 10_000
    text = console.export_text()
    assert "random actions" in text
    assert "distance" in text
    asked = Asked(policy=tmp_path / "policy.npz", methods=("coulomb",), episodes=4, shared=SHORT)
    again = run_learn(asked, tmp_path, console)
    assert [each.method for each in again.judged] == ["coulomb/pgs"] * 2
    assert again.judged[0].mean == learned.judged[0].mean


def test_what_learn_cannot_do_is_refused_by_name(tmp_path):
    console = Console(file=(tmp_path / "said").open("w"))
    with pytest.raises(InputError, match="unknown environment 'Hoper': did you mean 'Hopper'"):
        run_learn(Asked("Hoper"), tmp_path, console)
    with pytest.raises(InputError, match="unknown method 'colomb'"):
        run_learn(Asked(method="colomb"), tmp_path, console)
    with pytest.raises(InputError, match="iterations: expected a whole number ≥ 1"):
        run_learn(Asked(search=SearchSettings(iterations=0)), tmp_path, console)
    still().save(tmp_path / "hopper.npz")
    with pytest.raises(InputError, match="--policy: expected one of ArmReach"):
        run_learn(Asked("ArmReach", policy=tmp_path / "hopper.npz"), tmp_path, console)
