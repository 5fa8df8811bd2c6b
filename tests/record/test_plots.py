"""Every plot draws, with units on both axes, from any log."""

import matplotlib as mpl

mpl.use("Agg")

import pytest
from made_up_run import BARE, contacts, frame, made_up_model
from matplotlib import pyplot

from stickslip.errors import InputError
from stickslip.record import Recorder
from stickslip.record.plot import MOST_LINES, PLOTS


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def log(model):
    with Recorder(None, model, constraints=("elbow", "reach")) as recorder:
        for i in range(50):
            recorder.append(frame(model, i, joints=2), contacts(i))
    return recorder.log()


@pytest.mark.parametrize("what", PLOTS)
def test_plot_has_units_and_legend(log, what):
    ax = log.plot(what)
    assert ax.get_xlabel() == "time [s]"
    assert "[" in ax.get_ylabel()
    assert ax.get_legend().get_texts()
    ax.figure.canvas.draw()


@pytest.mark.parametrize("what", PLOTS)
@pytest.mark.parametrize("frames", [0, 1, 3])
def test_plot_of_a_log_with_nothing_in_it(what, frames):
    bare = made_up_model(BARE)
    recorder = Recorder(None, bare)
    for i in range(frames):
        recorder.append(frame(bare, i))
    ax = recorder.log().plot(what)
    ax.figure.canvas.draw()
    if what not in ("energy", "iterations", "residual") or not frames:
        assert ax.texts[0].get_text().startswith("no")


def test_plot_into_given_axes(log):
    figure, axes = pyplot.subplots(1, 2)
    assert log.plot("height", axes[1], links=["box", "hand"]) is axes[1]
    assert [line.get_label() for line in axes[1].lines] == ["box", "hand"]
    assert pyplot.get_fignums() == [figure.number]


def test_plot_chooses_joints(log):
    ax = log.plot("joint", joints=["reach"])
    assert ax.get_ylabel() == "joint coordinate [m]"
    assert log.plot("joint_velocity").get_ylabel() == "joint velocity [rad/s or m/s]"
    with pytest.raises(InputError, match="unknown hinge or slide joint 'box'"):
        log.plot("joint", joints=["box"])


def test_friction_is_drawn_against_mu(log):
    labels = log.plot("friction").get_legend_handles_labels()[1]
    assert labels == ["world – box", "world – arm", "μ = 0.8"]


@pytest.mark.parametrize("what", ["height", "contact_force", "friction"])
def test_many_curves_get_a_short_legend(what):
    bodies = "".join(f"<body name='b{k}'><freejoint/><geom size='.1'/></body>" for k in range(30))
    model = made_up_model(f"<mujoco><worldbody>{bodies}</worldbody></mujoco>")
    recorder = Recorder(None, model)
    for i in range(60):
        recorder.append(frame(model, i), contacts(1) | {"link2": [1 + i % 30, 1 + (i + 1) % 30, 1 + (i + 2) % 30]})
    labels = recorder.log().plot(what).get_legend_handles_labels()[1]
    assert sum("μ" not in label for label in labels) == MOST_LINES
    assert f"{30 - MOST_LINES + 1} others" in labels


def test_unknown_plot_lists_the_known_ones(log):
    with pytest.raises(InputError, match=r"unknown plot 'energie': did you mean 'energy'.* known: .*penetration"):
        log.plot("energie")
