"""What objects print: a line as ``repr``, a few lines as ``str``, a table in notebooks."""

import pickle

import pytest

import stickslip as ss
from stickslip.errors import InputError


@pytest.fixture(scope="module")
def things():
    setup = ss.SCENES["romeo-drop"].build()
    ball = ss.Simulation("ball")
    log = ball.run(0.02)
    model = setup.scene.compile()
    compared = ss.compare("ball", ["expo", "coulomb"], time=0.05, runs=1, jobs=1, stability=False)
    return {
        "Scene 'romeo-drop'": setup.scene, "Model": model, "State": model.state(), "Robot 'romeo'": model.robots[0],
        "Simulation by semi-implicit-euler": ball, "Snapshot at t = 0.02 s": ball.snapshot(),
        "Log": log, "Setup": setup, "Comparison of 'ball': 2 methods": compared,
        "expo: 1 run": compared.candidate("expo"),
    }  # fmt: skip


def test_reprs_are_lines_and_prints_are_a_few(things):
    for begin, thing in things.items():
        assert repr(thing).startswith(f"<{begin}")
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 200
        assert len(str(thing)) < 1500
        assert len(str(thing).splitlines()) < 16


def test_they_say_what_matters(things):
    text = "\n".join(map(str, things.values()))
    for said in (
        "nq = 38, nv = 37",
        "links",
        "actuators",
        "dt = ",
        "t = 0.02 s",
        "contact",
        "complete",
        "plots",
        "× real time",
    ):
        assert said in text
    assert f"{things['Model'].mass:.4g} kg" in text


def test_notebooks_get_a_table_with_names_escaped(things):
    scene = ss.Scene(name="<b>")
    scene.add_sphere(0.1, name="a<b>" + "x" * 300)
    html = scene._repr_html_()
    assert html.startswith("<table>")
    assert "<b>" not in html.replace("<table>", "")
    assert len(html) < 2000
    assert "energy" in things["Log"]._repr_html_()


def test_bundled_scenes_print_a_line_each():
    assert repr(ss.SCENES).startswith(f"<{len(ss.SCENES)} bundled scenes: solo12-drop, ")
    assert len(repr(ss.SCENES)) < 120
    lines = str(ss.SCENES).splitlines()
    assert len(lines) == len(ss.SCENES)
    assert any(line.startswith("ball ") for line in lines)


def test_no_model_in_a_message(things):
    with pytest.raises(InputError) as caught:
        ss.Simulation("ball").controller = ss.control.PD(things["Model"], kp=1, kd=1)
    assert len(str(caught.value)) < 300
    assert repr(pickle.loads(pickle.dumps(things["Log"]))) == repr(things["Log"])
