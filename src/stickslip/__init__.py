"""stickslip: one scene, every contact method. The whole public API is here.

>>> import stickslip as ss
>>> scene = ss.Scene()
>>> scene.add_plane(friction=0.8)
>>> robot = scene.add_robot("solo12", pos=(0, 0, 0.35))
>>> sim = ss.Simulation(scene)
>>> log = sim.run(2.0, controller=ss.control.PD(robot, kp=10, kd=0.2), record="drop.h5")
>>> log.plot("energy")
"""

from stickslip import control
from stickslip._jit import kernel
from stickslip.dynamics import Dynamics
from stickslip.errors import (
    ControlError,
    DivergedError,
    InputError,
    ModelError,
    RecordingError,
    StickslipError,
    StickslipWarning,
)
from stickslip.model import builders
from stickslip.model.model import Model, State
from stickslip.model.scene import Body, Robot, Scene
from stickslip.model.shape import Material
from stickslip.record import Log, load
from stickslip.scenes import SCENES
from stickslip.simulation import Simulation, Snapshot
from stickslip.steppers.base import Capabilities, Stepper
from stickslip.steppers.registry import STEPPERS, methods

__version__ = "0.1.0"

__all__ = [
    "SCENES",
    "STEPPERS",
    "Body",
    "Capabilities",
    "ControlError",
    "DivergedError",
    "Dynamics",
    "InputError",
    "Log",
    "Material",
    "Model",
    "ModelError",
    "RecordingError",
    "Robot",
    "Scene",
    "Simulation",
    "Snapshot",
    "State",
    "Stepper",
    "StickslipError",
    "StickslipWarning",
    "builders",
    "control",
    "kernel",
    "load",
    "methods",
]
