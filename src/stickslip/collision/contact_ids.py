"""Looking up contacts by their ids, which persist from step to step."""

from __future__ import annotations

from stickslip._jit import kernel


@kernel
def find_id(ids, size, wanted, at):
    """Index of ``wanted`` among the first ``size`` ids, or −1.

    The search begins at index ``at`` and wraps around. Contacts mostly keep their order, so that a search that begins
    after the last find ends at once.
    """
    for k in range(at, size):
        if ids[k] == wanted:
            return k
    for k in range(min(at, size)):
        if ids[k] == wanted:
            return k
    return -1
