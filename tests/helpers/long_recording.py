"""A recording of ten bodies over ten minutes, 100 frames a second, made up in seconds: closed-form motions, and up to
eight contacts a body. Run as a script it writes to the file that it is given."""

import sys

import numpy as np

import stickslip as ss
from stickslip.record.header import describe
from stickslip.record.layout import table
from stickslip.record.store import FileStore

BODIES, FRAMES, RATE = 10, 60_000, 100.0
"""Bodies, frames, frames per second."""
BLOCK = 2000


def scene():
    made = ss.Scene()
    made.add_plane()
    for k in range(BODIES):
        made.add_box((0.2, 0.2, 0.2), name=f"box{k}", pos=(0.5 * k, 0, 0.1), mass=1.0)
    return made


def height(k, time):
    """[m] of body k's centre: it hops, and rests in between."""
    return 0.1 + np.maximum(0.0, 0.3 * np.sin(0.7 * time + k))


def touching(k, time):
    """How many contacts body k has."""
    return np.where(height(k, time) > 0.1, 0, 4)


def write(path, frames=FRAMES):
    """The file; returns its path."""
    model = scene().compile()
    store = FileStore(path, describe(model, model.to_xml(), {"method": "made-up", "variant": "none", "dt": 1 / RATE}))
    ended = 0
    for first in range(0, frames, BLOCK):
        time = np.arange(first, min(first + BLOCK, frames)) / RATE
        store.write(block(model, time, ended))
        ended += int(counts(time).sum())
    store.finish("complete")
    return path


def counts(time):
    """(frames,) contacts."""
    return sum(touching(k, time) for k in range(BODIES))


def block(model, time, ended):
    n = len(time)
    q = np.tile(model.state().q, (n, 1))
    v, pose = np.zeros((n, model.nv)), np.zeros((n, model.nlink, 7))
    pose[:, :, 3] = 1.0
    for k in range(BODIES):
        q[:, 7 * k] = 0.5 * k + 0.1 * np.sin(0.3 * time)
        q[:, 7 * k + 2] = height(k, time)
        v[:, 6 * k] = 0.03 * np.cos(0.3 * time)
        pose[:, k + 1] = q[:, 7 * k : 7 * k + 7]
    per_body = np.stack([touching(k, time) for k in range(BODIES)], axis=1)
    of = np.repeat(np.tile(np.arange(BODIES), n), per_body.ravel())
    at = np.repeat(np.repeat(np.arange(n), BODIES), per_body.ravel())
    m, corner = len(of), np.arange(len(of)) % 4
    point = pose[at, of + 1, :3] + 0.1 * np.stack([corner % 2 * 2 - 1, corner // 2 * 2 - 1, -np.ones(m)], axis=1)
    force = np.tile([9.81 / 4, 0.0, 0.0], (m, 1)) * (1.0 + 0.1 * np.sin(time[at]))[:, None]
    values = {
        "time": time, "q": q, "v": v, "pose": pose, "steps": np.round(time * RATE), "wall": 1e-3 * time,
        "energy": np.stack([np.sin(time) ** 2, np.cos(time) ** 2, 0 * time], axis=1),
        "contact/pair": 4 * of + corner, "contact/link2": of + 1, "contact/point": point,
        "contact/normal": np.tile([0.0, 0.0, 1.0], (m, 1)), "contact/tangent": np.tile([1.0, 0.0, 0.0], (m, 1)),
        "contact/gap": -1e-5 * (1.0 + np.cos(time[at])), "contact/force": force, "contact/friction": np.full(m, 0.5),
        "contact/start": ended + np.cumsum(per_body.sum(axis=1)),
    }  # fmt: skip
    found = {}
    for path, field in table().items():
        rows = m if path.startswith("contact/") and path != "contact/start" else n
        shape = field.shape(describe(model, "", {}).sizes)
        found[path] = np.asarray(values.get(path, np.zeros((rows, *shape))), dtype=field.dtype).reshape(rows, *shape)
    return found


if __name__ == "__main__":
    write(sys.argv[1])
