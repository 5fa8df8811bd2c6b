"""The maps of trust: their closed forms, and the page that the bench writes."""

import numpy as np
import pytest

from stickslip.errors import InputError
from stickslip.lab.bench import trust
from stickslip.lab.bench.trust_maps import BY_NAME, MAPS, trust_run
from stickslip.lab.sweep import load_sweep


@pytest.mark.parametrize("case", MAPS, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
def test_a_rigid_method_finds_the_answer_where_the_scene_is_nearly_rigid(case):
    value = {"stiffness": 1e6, "friction": 0.3, "ratio": 1.0}[case.name]
    assert trust_run(case.name, "coulomb/pgs", 1e-3, value)["error"] < 2e-3


def test_the_block_stays_above_the_friction_angle():
    assert BY_NAME["friction"].truth(0.37) == 0.0
    assert BY_NAME["friction"].truth(0.0) == pytest.approx(0.5 * 9.81 * np.sin(np.deg2rad(20.0)) * 0.25)


@pytest.mark.filterwarnings("ignore::stickslip.errors.StickslipWarning")
def test_quick_maps_make_a_page_and_are_kept(tmp_path, capsys):
    assert trust.run_trust(True, tmp_path / "a.json", tmp_path, workers=1)
    said = capsys.readouterr().out
    assert "worst:" in said
    page = (tmp_path / "trust.md").read_text()
    for case in MAPS:
        assert (tmp_path / "images" / f"trust-{case.name}.png").stat().st_size > 5000
        assert f"images/trust-{case.name}.png" in page
    found = load_sweep(tmp_path / "trust-quick.h5")
    assert len(found) == 2 * 2 * 2 * len(MAPS)
    assert 0 < len(found.failed) < len(found)  # explicit steps on stiff springs
    before = found.column("seconds")
    assert trust.run_trust(True, None, tmp_path, keep=True, workers=1)
    np.testing.assert_array_equal(load_sweep(tmp_path / "trust-quick.h5").column("seconds"), before)


def test_keeping_needs_a_folder():
    with pytest.raises(InputError, match="--keep: expected a folder with earlier results"):
        trust.run_trust(keep=True)
