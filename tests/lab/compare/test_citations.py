"""Citations: every method has one, and it is well-formed BibTeX."""

import re

import pytest

import stickslip as ss
from stickslip.lab.compare.citations import citation, entries
from stickslip.methods.base import Capabilities
from stickslip.methods.registry import METHODS, method_names
from stickslip.solvers.registry import SOLVERS


def keys(bibtex: str) -> list[str]:
    return re.findall(r"^@\w+\{([^,]+),$", bibtex, flags=re.MULTILINE)


def test_every_registered_method_and_solver_has_its_papers():
    for name, kind in METHODS.items():
        assert kind.capabilities.bibtex, name
    for name, kind in SOLVERS.items():
        assert kind.bibtex, name
    declared = [kind.capabilities.bibtex for kind in METHODS.values()] + [kind.bibtex for kind in SOLVERS.values()]
    assert {key for keys in declared for key in keys} == set(entries())


@pytest.mark.parametrize("method", method_names())
def test_bibtex_is_well_formed(method):
    text = citation(method)
    name, _, variant = method.partition("/")
    variant = variant or METHODS[name].capabilities.variants[0]
    solver = SOLVERS[variant].bibtex if variant in SOLVERS else ()
    assert keys(text) == list(dict.fromkeys((*METHODS[name].capabilities.bibtex, *solver)))
    for entry in text.strip().split("\n\n"):
        depth = 0
        for character in entry:
            depth += {"{": 1, "}": -1}.get(character, 0)
            assert depth >= 0
        assert depth == 0
        assert entry.endswith("\n}")
        assert re.search(r"^  title +=", entry, flags=re.MULTILINE)


def test_references_of_the_registries_are_those_papers():
    """The year and the first author's name in ``capabilities.reference`` stand in the entries."""
    for name, kind in METHODS.items():
        first = re.match(r"(?:contact law: )?(\w+)", kind.capabilities.reference).group(1)
        plain = re.sub(r"\{\\\W?(\w)\}|\{\\\W(\w)\}", r"\1\2", citation(name))
        assert first.replace("ü", "u") in plain.replace('{\\"u}', "u"), name


def test_a_stepper_of_a_simulation():
    scene = ss.SCENES["ball"].build().scene
    sim = ss.Simulation(scene, "coulomb/admm")
    assert citation(sim.stepper) == citation("coulomb/admm")
    assert citation(METHODS["expo"]) == citation("expo")


def test_methods_from_outside_are_cited_by_their_reference(monkeypatch):
    class Mine(METHODS["semi-implicit-euler"]):
        capabilities = Capabilities(
            summary="50 % {better}",
            variants=("spring-damper",),
            honours=frozenset(),
            order=1,
            reference="My thesis, 2026",
        )

    text = citation(Mine)
    assert text == "@misc{mine,\n  title = {Mine: 50 \\% better},\n  note  = {My thesis, 2026}\n}\n"
    monkeypatch.setitem(METHODS, "my own", Mine)
    assert citation("my own").startswith("@misc{my-own,\n")


def test_a_registered_name_with_another_class_is_not_its_paper(monkeypatch):
    class Mine(METHODS["expo"]):
        pass

    assert "hammoud2021" in citation("expo")
    assert "hammoud2021" not in citation(Mine)
