"""How methods read materials: every one says so, in numbers of the scene, and warnings say the same."""

import warnings
from typing import ClassVar

import pytest

import stickslip as ss
from stickslip.errors import NotHonouredWarning
from stickslip.methods.materials import NAMES
from stickslip.methods.registry import METHODS

PAIRED = [f"{name}/{kind.capabilities.variants[0]}" for name, kind in METHODS.items()]


ALL = {
    "stiffness": 2e4,
    "damping": 50.0,
    "restitution": 0.7,
    "preload": 3.0,
    "torsion": 0.02,
    "rolling": 0.003,
    "adhesion": 1.0,
    "tangent_stiffness": 3e3,
    "tangent_damping": 8.0,
}
SURPRISING = ("restitution", "preload", "torsion", "rolling", "adhesion")
ALONG = ("tangent_stiffness", "tangent_damping")


def scene(**asked) -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=0.5)
    scene.add_sphere(0.1, pos=(0, 0, 0.2), mass=1.0, friction=0.2, **asked)
    return scene


def made(method, scene, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sim = ss.Simulation(scene, method, **options)
    return sim.stepper, [str(w.message) for w in caught if w.category is NotHonouredWarning]


@pytest.mark.parametrize("method", PAIRED)
def test_every_method_says_what_it_makes_of_each_property(method):
    stepper, announced = made(method, scene(**ALL))
    said = stepper.materials()
    values = (
        "μ = 0.5",
        "K = 20000 N/m",
        "B = 50 N s/m",
        "e = 0.7",
        "P = 3 N",
        "μ_t = 0.02 m",
        "μ_r = 0.003 m",
        "A = 1 N",
        "K_t = 3000 N/m",
        "B_t = 8 N s/m",
    )
    assert len(said) == len(NAMES)
    for sentence, name, value in zip(said, NAMES, values, strict=True):
        assert sentence.startswith(f"{name} {value}: ")
        assert ("does not act" in sentence) == (name not in stepper.honours)
        assert len(sentence.split(": ", 1)[1]) > 10
    missing = [name for name in NAMES if name not in stepper.honours]
    assert [sentence.split()[0] for sentence in stepper.not_honoured()] == missing
    surprising = (*SURPRISING, *ALONG) if "stiffness" in stepper.honours else SURPRISING
    wanted = [f"{method.split('/')[0]} does not honour {s}." for s in stepper.not_honoured(*surprising)]
    assert announced == wanted


@pytest.mark.parametrize("method", PAIRED)
def test_defaults_are_read_but_not_asked_for(method):
    stepper, announced = made(method, scene())
    said = stepper.materials()
    assert [sentence.split()[0] for sentence in said] == ["friction", "stiffness", "damping"]
    assert "K = 100000 N/m" in said[1]
    assert [s.split()[0] for s in stepper.not_honoured()] == ([] if "friction" in stepper.honours else ["friction"])
    assert announced == []


@pytest.mark.parametrize("name", [name for name, kind in METHODS.items() if "none" in kind.capabilities.variants])
def test_without_contacts_nothing_is_read(name):
    stepper, announced = made(f"{name}/none", scene(restitution=0.7))
    assert stepper.materials() == ("nothing can touch: materials do not act",)
    assert stepper.not_honoured() == ()
    assert announced == []


def test_pairs_of_different_materials_are_a_range():
    world = ss.Scene()
    world.add_plane(friction=0.1)
    for k, mu in enumerate((0.2, 0.9)):
        world.add_sphere(0.1, pos=(k, 0, 0.1), mass=1.0, friction=mu, stiffness=10.0 ** (4 + k))
    for method in ("semi-implicit-euler", "coulomb", "mujoco"):
        said = made(method, world)[0].materials()
        assert said[0].startswith("friction μ = 0.2 … 0.9: ")  # the two balls touch each other too
        assert said[1].startswith("stiffness K = 9090.91 … 100000 N/m: ")


def test_only_shapes_that_may_touch_count():
    """Links that a joint connects do not touch each other, and what is for show touches nothing."""
    world = ss.Scene(gravity=(0, 0, 0))
    world.add_plane(friction=0.3)
    body = world.add_sphere(0.1, pos=(0, 0, 1), mass=1.0, friction=0.5, name="body")
    arm = body.add_body("arm", pos=(0, 0, 0.3), joint="hinge", axis=(0, 1, 0))
    arm.add_sphere(0.1, mass=1.0, friction=0.4)
    world.add_sphere(0.1, pos=(3, 0, 1), mass=1.0, friction=2.0, restitution=0.5, collide=False)
    assert made("coulomb", world)[0].materials()[0].startswith("friction μ = 0.4 … 0.5: ")
    assert made("mujoco", world)[1] == []


def test_options_change_what_is_read():
    plain, soft = scene(stiffness=2e4), {"solref": (0.01, 1.0)}
    assert "R_n = 1/(dt·(dt·K + B)), dt = 0.01 s" in made("relaxed", plain)[0].materials()[1]
    stepper = made("relaxed", plain, **soft)[0]
    assert stepper.honours == {"friction", "torsion", "rolling", "adhesion"}
    assert stepper.not_honoured() == (
        "stiffness K = 20000 N/m: solref 0.01 1 and solimp 0.9 0.95 0.001 0.5 2 take its place",
    )
    assert "8 directions" in made("stewart-trinkle", plain, directions=8)[0].materials()[0]
    assert "circular" in made("stewart-trinkle/pgs", plain, form="ncp")[0].materials()[0]
    assert "pyramid" in made("mujoco", plain, cone="pyramidal")[0].materials()[0]
    assert made("mujoco/spring-damper", plain)[0].not_honoured() == ()


def test_a_file_s_solref_is_named():
    stepper = made(
        "mujoco",
        ss.Scene.from_xml(
            """<mujoco><worldbody><geom type="plane" size="1 1 1" solref="0.004 1"/><body pos="0 0 1"><freejoint/>
            <geom size="0.1"/></body></worldbody></mujoco>"""
        ),
    )[0]
    assert "solref 0.004 1 or 0.02 1 and solimp 0.9 0.95 0.001 0.5 2 take its place" in stepper.materials()[1]


def test_a_stepper_from_outside_says_at_least_what_it_honours():
    class Mine(METHODS["semi-implicit-euler"]):
        reads: ClassVar = {}

    stepper, announced = made(Mine, scene(restitution=0.7, damping=5.0))  # the damping decides how it bounces
    said = stepper.materials()
    assert said[0] == "friction μ = 0.5: acts as the method defines it"
    assert said[-1] == "restitution e = 0.7: does not act"
    assert announced == ["Mine does not honour restitution e = 0.7: does not act."]
