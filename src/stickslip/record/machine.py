"""The machine and the package versions of a measurement."""

from __future__ import annotations

import platform
from pathlib import Path

from stickslip.record.header import versions


def machine(*peers: str) -> dict[str, str]:
    """The processor's name, and the versions of packages that influence the speed; ``peers`` adds further ones."""
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        models = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    return {"cpu": cpu, **versions(("stickslip", "numba", "numpy", "mujoco", "pin", *peers))}
