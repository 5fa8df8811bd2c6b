"""``stickslip bench rigid``, short: what it measures, prints and writes; no times are asserted."""

import json

import numpy as np

from stickslip.lab.bench import rigid as bench

SOME = ("coulomb/pgs", "relaxed/pgs", "coulomb/interior-point", "stewart-trinkle/lemke")
TINY = bench.Sizes(rounds=2, bodies=(4, 8), pile_rounds=2, settling=0.3, methods=SOME)


def test_every_formulation_and_built_in_solver_is_timed():
    names = bench.every_method()
    assert names[:2] == list(SOME[:2])
    assert set(SOME) < set(names)
    assert len(names) > 40
    assert not any(name.endswith("/path") for name in names)


def test_report(tmp_path, capsys):
    met = bench.run_rigid(out=tmp_path, sizes=TINY)
    report = json.loads((tmp_path / "rigid.json").read_text())
    timings = {t["name"]: t for t in report["timings"]}
    peers = [name for name in timings if name.startswith("mj_step")]
    assert len(peers) == 6
    fastest = min(timings[name]["time"] for name in peers)
    for t in timings.values():
        assert t["ratio"] == t["time"] / fastest > 0
    aims = {name: (t["ratio"], t["target"]) for name, t in timings.items() if t["target"] is not None}
    assert {name: target for name, (_, target) in aims.items()} == dict(zip(SOME, (0.8, 0.8, 8.0, 6.0), strict=True))
    assert met is all(ratio <= target for ratio, target in aims.values())
    names = [g["name"] for g in report["growth"]]
    assert names[0] == "coulomb/pgs: pile"
    assert sum("mj_step" in name for name in names) == 3
    for g in report["growth"]:
        assert g["sizes"] == [4, 8]
        assert min(g["times"]) > 0
        assert not g["unconverged"]
    printed = capsys.readouterr().out
    assert all(name in printed for name in timings)
    assert (tmp_path / "rigid.png").read_bytes().startswith(b"\x89PNG")


def test_a_pile_is_inside_its_walls_and_at_rest():
    _, q, v = bench.pile(30, 1.0)
    centres = q.reshape(-1, 7)[:, :3]
    assert np.abs(centres[:, :2]).max() < 0.12 * 3
    assert centres[:, 2].min() > 0.07
    assert np.abs(v.reshape(-1, 6)[:, :3]).max() < 0.5
