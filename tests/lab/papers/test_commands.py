"""The commands of ``stickslip reproduce`` say what the reproductions have."""

from importlib import import_module

import pytest

from stickslip.cli.reproduce import PAPERS


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.name)
def test_the_help_names_every_part(paper):
    module, _, kind = paper.where.partition(":")
    study = getattr(import_module(f"stickslip.lab.papers.{module}"), kind)
    assert (study.name, ",".join(study.parts())) == (paper.name, paper.parts)
