"""Maximal coordinates: every link a free body, joints as bilateral constraints."""

from stickslip.maximal.constraints import Constraints
from stickslip.maximal.conversion import to_bodies, to_joints
from stickslip.maximal.cut import cut
from stickslip.maximal.joints import Joint
from stickslip.maximal.stabilisation import Stabilisation

__all__ = ["Constraints", "Joint", "Stabilisation", "cut", "to_bodies", "to_joints"]
