"""Every example runs, without a window and without a warning, and prints what it should."""

import re
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NUMBER = r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?"


def numbers(text):
    return [float(x) for x in re.findall(NUMBER, text)]


def line(out, start):
    """The numbers of the first line that begins like this, without those in its beginning."""
    found = next(row for row in out.splitlines() if row.startswith(start))
    return numbers(found.removeprefix(start))


def check_drop(out):
    carried, weight = line(out, "at the end")
    assert carried == pytest.approx(weight, rel=0.01)
    assert out.count("_LOWER_LEG") == 4


def check_incline(out):
    rows = [numbers(row) for row in out.splitlines() if row.endswith(("sticks", "slides"))]
    assert len(rows) == 8
    for degrees, acceleration, theory, distance in rows:
        assert acceleration == pytest.approx(theory, abs=2e-3)
        assert (distance > 1e-3) == (degrees > np.rad2deg(np.arctan(0.3)))


def check_urdf(out):
    assert "doctor: 0 errors, 0 warnings" in out
    assert "motors ('shoulder',)" in out
    carried, weight = line(out, "floor carries")
    assert carried == pytest.approx(weight, rel=0.01)


def check_collision(out):
    least, most, valley = line(out, "the ball swings between x =")
    assert least < valley < most
    speed, _, rolling = line(out, "fastest:")
    assert speed == pytest.approx(rolling, rel=1e-3)
    start, end = line(out, "energy")
    assert end == pytest.approx(start, rel=2e-3)


def check_inverse_dynamics(out):
    for start in ("|M a + b - rnea|", "|aba(rnea(a)) - a|", "|J v - dp/dt|", "|W - J M^-1 J'|"):
        assert line(out, start)[0] < 1e-8


def check_snapshot(out):
    assert "identical bits" in out
    assert line(out, "with a push of 5 N: base")[0] > 0.0


def check_long_steps(out):
    assert out.count("unstable") == 9  # three explicit methods at 1, 10 and 40 ms
    assert line(out, "expo")[-1] < 1e-2
    assert all(mine < other for mine, other in zip(line(out, "expo"), line(out, "implicit-euler"), strict=True))


def check_peg(out):
    """Both pegs by PEG, by Stewart–Trinkle with filtered contacts, and with all anticipated ones."""
    heights = [float(re.search(r"z = +(-?[\d.]+) m", row)[1]) for row in out.splitlines() if row.startswith("  ")]
    np.testing.assert_allclose(heights, [-3.45405, -3.45405, 1.0, 1.0, 1.0, 1.0], atol=1e-4)


def check_own_formulation(out):
    np.testing.assert_allclose(line(out, "after 1 s the ball"), [1.0, 0.1], atol=1e-6)
    np.testing.assert_allclose(line(out, "it slides at"), [1.0, 0.0], atol=1e-6)


def check_contact_models(out):
    """Rigid contacts neither sink, lift nor creep; springs sink and the relaxation lifts and creeps as computed."""
    depth, creep = line(out, "theory: soft and relaxed depth")
    soft, coulomb, relaxed = (line(out, name) for name in ("soft", "Coulomb", "relaxed"))
    np.testing.assert_allclose([soft[0], relaxed[0]], depth, rtol=1e-3)
    np.testing.assert_allclose(coulomb, 0.0, atol=1e-4)
    assert relaxed[1] > 1.0 > 0.0 > soft[1]
    assert relaxed[2] == pytest.approx(creep, rel=0.01)
    bilateral = next(row for row in out.splitlines() if row.startswith("bilateral"))
    assert "does not slide" in bilateral
    np.testing.assert_allclose(numbers(bilateral), 0.0, atol=1e-4)


def check_derivatives(out):
    for start in ("RNEA by q, v, a", "ABA by q, v, tau", "feet held, by q, v, tau"):
        assert line(out, start)[0] < 1e-6


def check_fclib(out):
    assert line(out, "stored solution: natural residual")[0] < 1e-8
    rows = {row.split()[0]: row for row in out.splitlines() if row.endswith(("converged", "stalled", "iterations"))}
    assert {"pgs", "admm", "fixed-point", "fischer-newton", "minmap-newton", "interior-point"} <= set(rows)
    assert rows["interior-point"].endswith(" converged")


def check_gradients(out):
    misses = [numbers(row)[-1] for row in out.splitlines() if re.match(r" +\d+  ", row)]
    assert misses[0] > 0.5
    assert misses[-1] < 1e-6
    assert line(out, "gradient against central differences of whole throws:")[0] < 1e-4


def check_event_selected(out):
    """Both legs land at once, and a tilt to either side has the same effect on the table's height."""
    fall = (2 * 0.5 / 9.81) ** 0.5
    times = [numbers(row)[1] for row in out.splitlines() if row.startswith("leg")]
    np.testing.assert_allclose(times, [fall, fall], atol=1e-6)
    left, right = line(out, "tilted left   B(dx) ="), line(out, "tilted right  B(dx) =")
    np.testing.assert_allclose(right[:4], np.multiply(left[:4], [1, -1, 1, -1]), atol=1e-3)
    assert abs(left[0]) > 0.1
    assert all(numbers(row)[-1] < 0.01 for row in out.splitlines() if "misses by" in row)


def check_training(out):
    assert line(out, "PPO,")[0] == 2000
    assert 0 < line(out, "random actions: return")[0] < 100


CHECKS = {
    "01_drop_solo12": check_drop,
    "02_box_on_incline": check_incline,
    "03_load_urdf": check_urdf,
    "04_custom_collision": check_collision,
    "05_inverse_dynamics": check_inverse_dynamics,
    "06_snapshot": check_snapshot,
    "07_long_steps": check_long_steps,
    "08_peg_in_hole": check_peg,
    "09_own_formulation": check_own_formulation,
    "10_contact_models": check_contact_models,
    "11_derivatives": check_derivatives,
    "12_fclib_problem": check_fclib,
    "13_gradients": check_gradients,
    "14_event_selected": check_event_selected,
    "train_hopper_sb3": check_training,
}
LONG = {"train_hopper_sb3": ("stable_baselines3", "2000")}
"""Examples that take minutes → what they need, and their argument for a short trial."""


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_prints_what_it_should(path, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    needs, *short = LONG.get(path.stem, (None,))
    if needs is not None:
        pytest.importorskip(needs)
    monkeypatch.setattr(sys, "argv", [str(path), *short])
    runpy.run_path(str(path), run_name="__main__")
    CHECKS[path.stem](capsys.readouterr().out)
    assert not list(tmp_path.iterdir()), "an example writes files only when it is asked to"


def test_figure_on_request(monkeypatch, tmp_path):
    figure = tmp_path / "drop.png"
    monkeypatch.setattr(sys, "argv", ["01_drop_solo12.py", str(figure)])
    runpy.run_path(str(EXAMPLES[0]), run_name="__main__")
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_examples_are_short():
    for path in EXAMPLES:
        assert len(path.read_text().splitlines()) <= 60, path.name
