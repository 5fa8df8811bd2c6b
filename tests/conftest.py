"""Kernels are compiled once, side by side, before the tests begin, so that no two test processes compile the same."""

import os


def pytest_sessionstart(session):
    """Warm the cache where all tests are about to run: not for a few files, nor in the worker processes."""
    whole = not session.config.option.keyword and list(session.config.args) in ([], ["tests"])
    if whole and not hasattr(session.config, "workerinput") and not os.environ.get("NUMBA_DISABLE_JIT"):
        from stickslip.lab.warm import warm

        warm()
