"""stickslip: one scene, every contact method. The public API is here; what is rarer lies one dot deeper.

>>> import stickslip as ss
>>> scene = ss.Scene()
>>> scene.add_plane(friction=0.8)
>>> robot = scene.add_robot("solo12", pos=(0, 0, 0.35))
>>> sim = ss.Simulation(scene)
>>> log = sim.run(2.0, controller=ss.control.PD(robot, kp=10, kd=0.2), record="drop.h5")
>>> log.plot("energy")
"""

from importlib import import_module
from typing import Any

from stickslip import constraints, control, ess, extend, lab, maximal, problem_files, solvers
from stickslip.constraints import inverse_kinematics
from stickslip.dynamics import Dynamics
from stickslip.errors import (
    ControlError,
    DivergedError,
    EnergyGainWarning,
    InputError,
    ModelError,
    NotHonouredWarning,
    PainleveWarning,
    RecordingError,
    StartWarning,
    StickslipError,
    StickslipWarning,
    UnconvergedError,
    UnconvergedWarning,
    UnstableStepWarning,
    UnsupportedFeatureError,
    deprecated,
    suggested,
)
from stickslip.ess import solve_ess
from stickslip.lab.compare import Candidate, Comparison, compare, load_comparison, score
from stickslip.lab.sweep import sweep
from stickslip.methods.registry import METHODS, method_names
from stickslip.model import builders
from stickslip.model.loops import Constraint
from stickslip.model.model import Model, State
from stickslip.model.scene import Body, Robot, Scene
from stickslip.model.shape import Material
from stickslip.record import Log, load
from stickslip.scenes import SCENES
from stickslip.simulation import Recorder, Simulation
from stickslip.viewer import view
from stickslip.worlds import Worlds

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "SCENES",
    "Body",
    "Candidate",
    "Comparison",
    "Constraint",
    "ControlError",
    "DivergedError",
    "Dynamics",
    "EnergyGainWarning",
    "InputError",
    "Log",
    "Material",
    "Model",
    "ModelError",
    "NotHonouredWarning",
    "PainleveWarning",
    "Recorder",
    "RecordingError",
    "Robot",
    "Scene",
    "Simulation",
    "StartWarning",
    "State",
    "StickslipError",
    "StickslipWarning",
    "UnconvergedError",
    "UnconvergedWarning",
    "UnstableStepWarning",
    "UnsupportedFeatureError",
    "Worlds",
    "builders",
    "compare",
    "constraints",
    "control",
    "ess",
    "extend",
    "inverse_kinematics",
    "lab",
    "load",
    "load_comparison",
    "maximal",
    "method_names",
    "problem_files",
    "score",
    "solve_ess",
    "solvers",
    "sweep",
    "view",
]

RENAMED = {
    "STEPPERS": "METHODS",
    "Contestant": "Candidate",
    "Stepper": "extend.Method",
    "PlainStepper": "extend.PlainMethod",
    "Capabilities": "extend.Capabilities",
    "ConvexDetector": "extend.ConvexDetector",
    "DETECTORS": "extend.DETECTORS",
    "Detector": "extend.Detector",
    "FORMULATIONS": "extend.FORMULATIONS",
    "Formulation": "extend.Formulation",
    "make_formulation": "extend.make_formulation",
    "kernel": "extend.kernel",
    "Baumgarte": "constraints.Baumgarte",
    "Bilateral": "constraints.Bilateral",
    "BilateralResult": "constraints.BilateralResult",
    "solve_bilateral": "constraints.solve_bilateral",
    "BDerivative": "ess.BDerivative",
    "Corner": "ess.Corner",
    "EssResult": "ess.EssResult",
    "b_derivative": "ess.b_derivative",
    "corner": "ess.corner",
    "ContactList": "extend.ContactList",
    "FCLibGlobal": "problem_files.FCLibGlobal",
    "FCLibInfo": "problem_files.FCLibInfo",
    "FCLibLocal": "problem_files.FCLibLocal",
    "FCLibProblem": "problem_files.FCLibProblem",
    "FCLibSolution": "problem_files.FCLibSolution",
    "ProblemFile": "problem_files.ProblemFile",
    "ProblemFrame": "problem_files.ProblemFrame",
    "ProblemWriter": "problem_files.ProblemWriter",
    "read_fclib": "problem_files.read_fclib",
    "write_fclib": "problem_files.write_fclib",
    "Joint": "maximal.Joint",
    "Setup": "scenes.Setup",
    "Snapshot": "simulation.Snapshot",
    "capture": "simulation.capture",
    "capture_fclib": "simulation.capture_fclib",
    "database": "lab.problems",
}
"""Names of earlier versions, and what to write instead."""


def __getattr__(name: str) -> Any:
    if name not in RENAMED:
        near = [] if name.startswith("_") else suggested(name, __all__, cutoff=0.6)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise AttributeError(f"module 'stickslip' has no attribute {name!r}{hint}")
    deprecated(f"ss.{name}", f"ss.{RENAMED[name]}")
    package, _, attribute = RENAMED[name].rpartition(".")
    return globals()[attribute] if not package else getattr(import_module(f"stickslip.{package}"), attribute)
