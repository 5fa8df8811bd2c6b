"""Kernels are compiled once, side by side, before the tests begin, so that no two test processes compile the same."""

import os
from collections import Counter
from pathlib import Path

LONG = (
    "lab/papers",
    "lab/bench",
    "lab/compare",
    "test_docs.py",
    "test_examples.py",
    "test_cli.py",
    "test_stale_cache.py",
)
"""Files and folders whose single tests take long. They come first, so that two processes end at about the same time."""


def pytest_sessionstart(session):
    """Warm the cache where all tests are about to run: not for a few files, nor in the worker processes."""
    whole = not session.config.option.keyword and list(session.config.args) in ([], ["tests"])
    if whole and not hasattr(session.config, "workerinput") and not os.environ.get("NUMBA_DISABLE_JIT"):
        from stickslip.lab.warm import warm

        warm()


def pytest_collection_modifyitems(items):
    """Order files for ``make test``: those of ``LONG``, then those with more tests. The order within a file stays."""
    here, size = Path(__file__).parent, Counter(item.path for item in items)
    items.sort(key=lambda item: (not item.path.relative_to(here).as_posix().startswith(LONG), -size[item.path]))
