"""Worker processes: order, functions that cannot be pickled, workers that die."""

import os
import signal

import pytest

from stickslip.errors import StickslipError
from stickslip.lab.pool import Pool


def call(shared, number):
    return shared(number), os.getpid()


def die(shared, number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def lost(number):
    return f"lost {number}"


def fail(shared, number):
    raise StickslipError(f"no {number}")


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_keep_the_order_of_arguments(jobs):
    with Pool(lambda n: n * n, jobs) as pool:
        results = pool.map(call, [(k,) for k in range(20)], "squares", lost, False)
        again = pool.map(call, [(k,) for k in range(3)], "squares", lost, False)
    assert [value for value, _ in results] == [k * k for k in range(20)]
    assert [value for value, _ in again] == [0, 1, 4]
    assert (os.getpid() in {pid for _, pid in results}) == (jobs == 1)


@pytest.mark.parametrize("jobs", [1, 2])
def test_results_are_passed_on_when_they_arrive(jobs):
    seen = []
    with Pool(lambda n: n * n, jobs) as pool:
        results = pool.map(call, [(k,) for k in range(5)], "squares", lost, False, seen.append)
    assert sorted(seen) == sorted(results)


def test_dead_worker_loses_its_own_work_only():
    seen = []
    with Pool(None, 2) as pool:
        results = pool.map(die, [(k,) for k in range(6)], "squares", lost, False, seen.append)
        assert results == [0, 1, "lost 2", 9, 16, 25]
        assert sorted(seen, key=str) == sorted(results, key=str)
        assert pool.map(die, [(3,)], "squares", lost, False) == [9]


@pytest.mark.parametrize("jobs", [1, 2])
def test_errors_come_through(jobs):
    with pytest.raises(StickslipError, match="no 0"), Pool(None, jobs) as pool:
        pool.map(fail, [(0,)], "failures", lost, False)
