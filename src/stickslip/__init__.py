"""stickslip: one scene, every contact method. The whole public API is here.

>>> import stickslip as ss
>>> scene = ss.Scene()
>>> scene.add_plane(friction=0.8)
>>> robot = scene.add_robot("solo12", pos=(0, 0, 0.35))
>>> sim = ss.Simulation(scene)
>>> log = sim.run(2.0, controller=ss.control.PD(robot, kp=10, kd=0.2), record="drop.h5")
>>> log.plot("energy")
"""

from stickslip import control, extend, maximal, solvers
from stickslip._jit import kernel
from stickslip.collision.contacts import ContactList
from stickslip.collision.convex.detect import ConvexDetector
from stickslip.collision.detector import Detector
from stickslip.collision.detectors import DETECTORS
from stickslip.constraints.bilateral import Baumgarte, Bilateral, BilateralResult, solve_bilateral
from stickslip.dynamics import Dynamics
from stickslip.errors import (
    ControlError,
    DivergedError,
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
)
from stickslip.ess import BDerivative, Corner, EssResult, b_derivative, corner, solve_ess
from stickslip.lab import problems as database
from stickslip.lab.compare import Comparison, Contestant, compare, load_comparison, score
from stickslip.maximal import Joint
from stickslip.methods.base import Capabilities, Method
from stickslip.methods.plain import PlainMethod
from stickslip.methods.registry import METHODS, methods
from stickslip.methods.rigid.formulations.formulation import Formulation
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, make_formulation
from stickslip.model import builders
from stickslip.model.loops import Constraint
from stickslip.model.model import Model, State
from stickslip.model.scene import Body, Robot, Scene
from stickslip.model.shape import Material
from stickslip.problem_files.fclib import read_fclib, write_fclib
from stickslip.problem_files.fclib_problem import FCLibGlobal, FCLibInfo, FCLibLocal, FCLibProblem, FCLibSolution
from stickslip.problem_files.problem_file import ProblemFile, ProblemWriter
from stickslip.problem_files.problem_frame import ProblemFrame
from stickslip.record import Log, load
from stickslip.scenes import SCENES, Setup
from stickslip.simulation import Simulation, Snapshot
from stickslip.simulation.capture import capture
from stickslip.simulation.capture_fclib import capture_fclib
from stickslip.viewer import view

__version__ = "0.1.0"

__all__ = [
    "DETECTORS",
    "FORMULATIONS",
    "METHODS",
    "SCENES",
    "BDerivative",
    "Baumgarte",
    "Bilateral",
    "BilateralResult",
    "Body",
    "Capabilities",
    "Comparison",
    "Constraint",
    "ContactList",
    "Contestant",
    "ControlError",
    "ConvexDetector",
    "Corner",
    "Detector",
    "DivergedError",
    "Dynamics",
    "EssResult",
    "FCLibGlobal",
    "FCLibInfo",
    "FCLibLocal",
    "FCLibProblem",
    "FCLibSolution",
    "Formulation",
    "InputError",
    "Joint",
    "Log",
    "Material",
    "Method",
    "Model",
    "ModelError",
    "NotHonouredWarning",
    "PainleveWarning",
    "PlainMethod",
    "ProblemFile",
    "ProblemFrame",
    "ProblemWriter",
    "RecordingError",
    "Robot",
    "Scene",
    "Setup",
    "Simulation",
    "Snapshot",
    "StartWarning",
    "State",
    "StickslipError",
    "StickslipWarning",
    "UnconvergedError",
    "UnconvergedWarning",
    "UnstableStepWarning",
    "UnsupportedFeatureError",
    "b_derivative",
    "builders",
    "capture",
    "capture_fclib",
    "compare",
    "control",
    "corner",
    "database",
    "extend",
    "kernel",
    "load",
    "load_comparison",
    "make_formulation",
    "maximal",
    "methods",
    "read_fclib",
    "score",
    "solve_bilateral",
    "solve_ess",
    "solvers",
    "view",
    "write_fclib",
]
