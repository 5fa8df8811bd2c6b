"""Signatures say what they take: help, editors and type checkers see every keyword."""

import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest

import stickslip as ss
from stickslip.errors import SYNONYMS, suggested, unknown
from stickslip.methods.names import MethodName
from stickslip.model import keywords
from stickslip.model.body import Body

SHAPES = ("add_box", "add_sphere", "add_capsule", "add_cylinder", "add_ellipsoid", "add_mesh")
SIZES = {
    "add_box": ((0.1, 0.1, 0.1),), "add_sphere": (0.1,), "add_capsule": (0.1, 0.2), "add_cylinder": (0.1, 0.2),
    "add_ellipsoid": ((0.1, 0.2, 0.1),), "add_mesh": ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],),
}  # fmt: skip


@pytest.mark.parametrize("owner", [ss.Scene, ss.Body])
@pytest.mark.parametrize("method", [*SHAPES, "add_terrain", "add_body", "add_plane"])
def test_signature_and_docstring_list_every_keyword(owner, method):
    if not hasattr(owner, method):
        return
    function = getattr(owner, method)
    parameters = inspect.signature(function).parameters
    assert not any(p.kind == p.VAR_KEYWORD for p in parameters.values())
    if method != "add_body":
        assert {"mass", "friction", "stiffness", "restitution", "pos", "rgba", "name"} <= set(parameters)
    added = set(parameters) - set(inspect.signature(inspect.unwrap(function)).parameters)
    for name in added:
        assert f"    {name} = {parameters[name].default!r}: " in function.__doc__


@pytest.mark.parametrize("method", SHAPES)
def test_defaults_that_help_shows_change_nothing(method):
    """A shape with every keyword written out as help shows it is the shape without keywords."""
    parameters = inspect.signature(getattr(ss.Scene, method)).parameters.values()
    written = {p.name: p.default for p in parameters if p.default is not p.empty}
    plain, full = ss.Scene(), ss.Scene()
    for scene, options in ((plain, {}), (full, written)):
        getattr(scene, method)(*SIZES[method], **options)
    assert plain.to_xml() == full.to_xml()


def test_keywords_are_those_that_the_functions_take():
    """The TypedDicts that editors read, against the parameters of the functions that take the values."""
    shape = set(inspect.signature(Body._shape).parameters) - {"self", "kind", "size", "meshname", "hfieldname"}
    joint = set(inspect.signature(Body.add_joint).parameters) - {"self", "kind", "name", "pos"}
    body = {"name", "joint", "pos", "quat", "parent", "mocap"}
    assert set(keywords.ShapeOptions.__annotations__) == shape
    assert set(keywords.JointOptions.__annotations__) == joint
    assert set(keywords.BodyOptions.__annotations__) == shape | joint | body


def test_type_checkers_know_the_keywords(tmp_path):
    """Mypy, as editors do, refuses a keyword and a type that are wrong, and takes right ones."""
    file = tmp_path / "program.py"
    file.write_text(
        "import stickslip as ss\n"
        "scene = ss.Scene()\n"
        "scene.add_box((1, 1, 1), pos=(0, 0, 1), mass=2.0, friction=0.5, joint='hinge', axis=(0, 1, 0))\n"
        "scene.add_box((1, 1, 1), mu=0.5)\n"
        "scene.add_sphere(0.1, mass='heavy')\n"
        "ss.Simulation(scene, 'coulomb/pgs', 1e-3)\n"
    )
    command = [sys.executable, "-m", "mypy", "--follow-imports=silent", "--ignore-missing-imports", str(file)]
    root = Path(ss.__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    lines = [line for line in done.stdout.splitlines() if "program.py" in line and ": error:" in line]
    assert [line.split(":")[1] for line in lines] == ["4", "5"], done.stdout + done.stderr
    assert "mu" in lines[0]


def test_editors_complete_the_names_of_methods():
    assert list(typing.get_args(MethodName)) == [name for name in ss.METHODS if name in typing.get_args(MethodName)]
    builtin = {name for name, kind in ss.METHODS.items() if kind.__module__.startswith("stickslip.methods.")}
    assert set(typing.get_args(MethodName)) == builtin


def test_help_lists_the_options_of_methods():
    text = ss.Simulation.__doc__
    for name, method in ss.METHODS.items():
        if name in typing.get_args(MethodName):
            for option, line in method.option_help().items():
                assert f"    {option}: {line} [" in text


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("mu", "friction"), ("position", "pos"), ("rho", "density"), ("color", "rgba"), ("orientation", "quat"),
     ("limits", "range"), ("e", "restitution"), ("frictoin", "friction"), ("k", "stiffness"), ("static", "joint")],
)  # fmt: skip
def test_words_of_others_are_understood(wrong, right):
    scene = ss.Scene()
    with pytest.raises(ss.InputError, match=f"unknown option of add_box '{wrong}': did you mean '{right}'"):
        scene.add_box((1, 1, 1), **{wrong: 0.5})
    assert len(scene.spec.bodies) == 1  # nothing was left behind


def test_words_of_others_for_simulations():
    scene = ss.Scene()
    scene.add_sphere(0.1)
    for options, right in (({"timestep": 1e-3}, "dt"), ({"integrator": "rk4"}, "method")):
        with pytest.raises(ss.InputError, match=f"did you mean '{right}'"):
            ss.Simulation(scene, "coulomb", **options)
    for wrong, right in (("lcp", "stewart-trinkle"), ("runge-kutta", "rk4"), ("Dojo", "variational")):
        with pytest.raises(ss.InputError, match=f"did you mean '{right}'"):
            ss.Simulation(scene, wrong)


def test_synonyms_are_not_names_of_their_own_targets():
    for name, words in SYNONYMS.items():
        assert name not in words
        for word in words:
            assert word == word.lower().replace("-", "_")
            assert name in suggested(word, [name])
    assert len(str(unknown("option", "mu", [f"friction{k}" for k in range(500)]))) <= 300
