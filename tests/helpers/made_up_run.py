"""A made-up run whose every number follows from the frame's index, so that any frame can be checked on its own.

Run as a script it records for ever to the file it is given, and says on stdout how many frames are flushed.
"""

import sys

import mujoco
import numpy as np

from stickslip.model.model import compile_model
from stickslip.record import Recorder

XML = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="box" pos="0 0 1"><freejoint name="box"/><geom type="box" size=".1 .1 .1"/></body>
    <body name="arm"><joint name="elbow" type="hinge"/><geom size=".1"/>
      <body name="hand"><joint name="reach" type="slide"/><geom size=".1"/></body></body>
  </worldbody>
  <actuator><motor name="motor" joint="elbow"/></actuator>
</mujoco>
"""
BARE = "<mujoco><worldbody><geom type='plane' size='1 1 1'/></worldbody></mujoco>"
OPTIONS = {"method": "expo", "dt": 0.01, "gravity": np.array([0.0, 0.0, -9.81]), "seed": np.int64(3)}
CONTACTS = (0, 3, 1, 0, 2)  # per frame, repeating


def made_up_model(xml=XML):
    return compile_model(mujoco.MjModel.from_xml_string(xml))


def number_of_contacts(i):
    return CONTACTS[i % len(CONTACTS)]


def frame(model, i, joints=0):
    pose = np.zeros((model.nlink, 7))
    pose[:, 3] = 1.0
    pose[1:, 2] = 1.0 + 0.5 * np.cos(0.01 * i)
    return {
        "time": 0.01 * i,
        "q": np.sin(0.01 * i + np.arange(model.nq)),
        "v": np.cos(0.01 * i + np.arange(model.nv)),
        "control": np.full(model.nu, 0.1 * i),
        "act": np.full(model.na, 0.2 * i),
        "pose": pose,
        "energy": np.array([1.0 + i, 2.0, 0.5]),
        "contact_energy": 0.25 * i,
        "steps": 10 * i,
        "wall": 1e-5 * i,
        "status": i % 3,
        "iterations": i % 7,
        "residual": 1e-9 * i,
        "unconverged": i // 4,
        "joint_error": np.full((joints, 2), 1e-6 * i) * (1.0 + np.arange(joints)[:, None]),
    }


def contacts(i):
    n = number_of_contacts(i)
    k = np.arange(n)
    normal, tangent = np.tile([0.0, 0.0, 1.0], (n, 1)), np.tile([1.0, 0.0, 0.0], (n, 1))
    return {
        "pair": k,
        "link1": np.zeros(n, dtype=int),
        "link2": 1 + k % 2,
        "point": i + np.outer(k, [1.0, 10.0, 100.0]),
        "normal": normal,
        "tangent": tangent,
        "gap": -1e-4 * (1 + k),
        "force": np.tile([10.0, 3.0, 4.0], (n, 1)) + i,
        "velocity": np.full((n, 3), 0.5 * i),
        "friction": np.full(n, 0.8),
    }


def record(recorder, model, frames):
    for i in frames:
        recorder.append(frame(model, i), contacts(i))


def check_log(log, model, frames):
    """Every frame of ``log`` is the made-up one, contacts included."""
    assert len(log) == frames
    total = sum(map(number_of_contacts, range(frames)))
    assert log.contact_start.shape == (frames + 1,)
    assert log.contact_start[-1] == total
    assert log.contact("force").shape == (total, 3)
    for i in range(frames):
        for name, value in frame(model, i).items():
            np.testing.assert_array_equal(getattr(log, name)[i], value)
        found = log.contacts(i)._asdict()
        for name, value in contacts(i).items():
            np.testing.assert_array_equal(found[name], value)


if __name__ == "__main__":
    made_up = made_up_model()
    recorder = Recorder(sys.argv[1], made_up, scene_xml=XML, options=OPTIONS, capacity=int(sys.argv[2]))
    reported = i = 0
    while True:
        recorder.append(frame(made_up, i), contacts(i))
        i += 1
        if recorder.flushed > reported:
            reported = recorder.flushed
            print(reported, flush=True)
