"""Examples in docstrings run. They may use the names that ``given`` explains, and what their module has."""

import ast
import doctest
import importlib
from contextlib import suppress
from pathlib import Path

import matplotlib
import numpy as np
import pytest

import stickslip as ss
from stickslip.solvers.registry import SOLVERS

SOURCE = Path(ss.__file__).parent
FEET = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]


def found():
    """(module, name of the object, docstring) of every docstring with examples."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if ">>>" not in text:
            continue
        module = ".".join(("stickslip", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ">>>" in (
                ast.get_docstring(node) or ""
            ):
                yield module, getattr(node, "name", "module"), ast.get_docstring(node)


SKETCHES = "stickslip.constraints.bilateral"
"""Examples there leave arguments out."""
DOCSTRINGS = [(module, *rest) for module, *rest in found() if module != SKETCHES]


@pytest.fixture(scope="module")
def log():
    scene = ss.Scene()
    scene.add_plane(friction=0.8)
    robot = scene.add_robot("solo12")
    return ss.Simulation(scene, "semi-implicit-euler").run(0.02, controller=ss.control.PD(robot, kp=10, kd=0.2))


@pytest.fixture
def given(log, monkeypatch, tmp_path):
    """What examples may take for granted: Solo12 on a floor, its model, a simulation, a state, torques, a log, files of
    logs, a viewer that opens no window, and an empty folder."""
    monkeypatch.chdir(tmp_path)
    matplotlib.use("Agg")
    log.save("expo.h5")
    log.save("coulomb.h5")
    scene = ss.Scene()
    scene.add_plane(friction=0.8)
    robot = scene.add_robot("solo12")
    sim = ss.Simulation(scene, "semi-implicit-euler")
    view, viewers = ss.view, []

    def opens_no_window(what, **named):
        named |= {"browser": False, "block": False, "realtime": not isinstance(what, ss.Simulation)}
        viewers.append(view(what, **named))
        return viewers[-1]

    monkeypatch.setattr(ss, "view", opens_no_window)
    sim.run(0.1, controller=ss.control.PD(robot, kp=10, kd=0.2))  # on its feet
    q, v = sim.state.q.copy(), np.zeros(sim.model.nv)
    yield {
        "ss": ss, "np": np, "scene": scene, "robot": robot, "sim": sim, "model": sim.model, "log": log, "q": q, "v": v,
        "tau": 0 * v, "feet": FEET, "names": FEET,
    }  # fmt: skip
    for viewer in viewers:
        viewer.close()


@pytest.mark.parametrize(("module", "name", "text"), DOCSTRINGS, ids=[f"{m}:{n}" for m, n, _ in DOCSTRINGS])
def test_examples_run(module, name, text, given, monkeypatch):
    monkeypatch.setitem(SOLVERS, "mine", None)  # so that what an example registers is forgotten
    monkeypatch.delitem(SOLVERS, "mine")
    namespace = {**vars(ss.control), **vars(importlib.import_module(module)), **given}
    for example in doctest.DocTestParser().get_examples(text):
        value = None
        with suppress(SyntaxError):
            value = compile(example.source, f"{module}:{name}", "eval")
        if value is None:
            exec(compile(example.source, f"{module}:{name}", "exec"), namespace)
            continue
        result = eval(value, namespace)
        if example.want:
            assert repr(result) == example.want.strip()
