"""Moment: the data that the viewer shows of one instant, from a simulation or a recording."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stickslip.record import Contacts

ENERGIES = ("kinetic", "gravity", "joint springs", "contact springs")


class Moment(NamedTuple):
    time: float
    """[s]."""
    pose: np.ndarray
    """(nl, 7) poses of the links: position [m], quaternion (w, x, y, z)."""
    contacts: Contacts
    energy: np.ndarray
    """(4,) energies in the order of ``ENERGIES`` [J]."""
    control: np.ndarray
    """(nu,) controls."""
    act: np.ndarray
    """(na,) activations of actuators."""
    sensor: np.ndarray
    """(ns,) values of all sensors, one sensor after another."""

    @property
    def normal_force(self) -> float:
        """Sum of the normal forces of all contacts [N]."""
        return float(self.contacts.force[:, 0].sum())


def world_force(contacts: Contacts) -> np.ndarray:
    """(n, 3) forces on bodies 2 in world axes [N]."""
    n, t, f = contacts.normal, contacts.tangent, contacts.force
    return f[:, :1] * n + f[:, 1:2] * t + f[:, 2:] * np.cross(n, t)


def between(first: np.ndarray, second: np.ndarray, share: float) -> np.ndarray:
    """(nl, 7) poses interpolated from ``first`` (share 0) to ``second`` (share 1)."""
    if share <= 0.0:
        return first
    pose = (1.0 - share) * first + share * second
    opposite = np.sum(first[:, 3:] * second[:, 3:], axis=1) < 0.0  # q and −q are the same rotation
    pose[opposite, 3:] = (1.0 - share) * first[opposite, 3:] - share * second[opposite, 3:]
    pose[:, 3:] /= np.linalg.norm(pose[:, 3:], axis=1, keepdims=True)
    return pose
