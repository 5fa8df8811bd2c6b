"""What a measurement was made on and with."""

from __future__ import annotations

import importlib.metadata
import platform
from pathlib import Path


def machine() -> dict[str, str]:
    """Versions and the processor's name."""
    versions = {"python": platform.python_version()}
    for package in ("stickslip", "numba", "numpy", "mujoco", "pin"):
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = "not installed as a package"
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        models = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    return {"cpu": cpu, **versions}
