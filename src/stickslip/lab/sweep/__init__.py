"""Many runs of one function or scene over a grid of parameters, kept in one file that continues after a kill."""

from stickslip.lab.sweep.run_sweep import sweep
from stickslip.lab.sweep.sweep_file import load_sweep
from stickslip.lab.sweep.table import Sweep, SweepRun

__all__ = ["Sweep", "SweepRun", "load_sweep", "sweep"]
