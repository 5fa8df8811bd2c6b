"""The peg and the hole of Williams et al., Sec. 5.1, by the formulations and detectors that it tells apart."""

import pytest

import stickslip as ss


def height(scale: float, method: str, steps: int, **options) -> float:
    scene = ss.Scene()
    for pos in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        scene.add_box((1, 1, 1), pos=pos, joint="fixed", friction=0.5)
    scene.add_box((scale,) * 3, pos=(0, 0, 1.5), mass=1.0, friction=0.5)
    sim = ss.Simulation(scene, method=method, dt=0.01, margin=0.1, **options)
    sim.step(steps)
    return float(sim.state.q[2])


@pytest.mark.parametrize(
    ("scale", "method", "options", "steps", "z"),
    [
        (0.99999, "peg/lemke", {}, 100, 1.5 - 9.81e-4 * 5050),  # free fall
        (1.00001, "peg/lemke", {}, 60, 1.000005),
        (1.01, "peg/lemke", {}, 60, 1.005),
        (0.99999, "stewart-trinkle/lemke", {"detector": "peg"}, 60, 0.999995),  # anticipated, but not in groups
    ],
)
def test_peg(scale, method, options, steps, z):
    assert height(scale, method, steps, **options) == pytest.approx(z, abs=1e-6)
