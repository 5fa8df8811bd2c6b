"""Exact derivatives of Solo12's dynamics, checked against central differences along q ⊕ ε·e_k, v + ε·e_k, τ + ε·e_k.

Inverse dynamics τ = RNEA(q, v, a), forward dynamics a = ABA(q, v, τ), and forward dynamics with the four feet stuck to
the floor, whose accelerations and contact forces λ both have derivatives.
"""

import numpy as np

import stickslip as ss
from stickslip.constraints import bilateral_derivatives

scene = ss.Scene()
scene.add_robot("solo12")
model = scene.compile()
dyn = ss.Dynamics(model)
rng = np.random.default_rng(0)
q, (v, tau) = model.state().q, rng.normal(size=(2, model.nv))
a = dyn.aba(q, v, tau)

feet = []
for name in ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"):  # each fixed where it is
    pos2 = model.frames.pos[model.frame(name)]
    feet.append(ss.Constraint("connect", 0, model.link(name), pos1=dyn.frame_pose(q, name)[0], pos2=pos2))
held = ss.constraints.Bilateral(model, feet)


def differences(function, x, move=np.add, h=1e-5):
    """∂function/∂x by central differences: exact to about 1e-9 of its values, and 2 nv calls."""
    steps = h * np.eye(model.nv)
    return np.array([function(move(x, e)) - function(move(x, -e)) for e in steps]).T / (2 * h)


def report(label, exact, *by_differences):
    """The largest difference, relative to the largest entry of each matrix."""
    pairs = zip(exact, by_differences, strict=True)
    print(f"{label:24} {max(np.abs(x - d).max() / np.abs(d).max() for x, d in pairs):.1e}")


def stuck(q, v, tau):
    """(q̈, λ) with the feet on the floor."""
    result = held.solve(q, v, tau)
    return np.concatenate([result.acceleration, result.force])


print("largest relative difference between exact derivatives and central differences")
report("RNEA by q, v, a", dyn.rnea_derivatives(q, v, a), differences(lambda x: dyn.rnea(x, v, a), q, dyn.integrate),
       differences(lambda x: dyn.rnea(q, x, a), v), differences(lambda x: dyn.rnea(q, v, x), a))  # fmt: skip
report("ABA by q, v, tau", dyn.aba_derivatives(q, v, tau), differences(lambda x: dyn.aba(x, v, tau), q, dyn.integrate),
       differences(lambda x: dyn.aba(q, x, tau), v), differences(lambda x: dyn.aba(q, v, x), tau))  # fmt: skip
d = bilateral_derivatives(model, q, v, tau, feet)
exact = [np.vstack(pair) for pair in ((d.acceleration_q, d.force_q), (d.acceleration_v, d.force_v),
                                      (d.acceleration_tau, d.force_tau))]  # fmt: skip
report("feet held, by q, v, tau", exact, differences(lambda x: stuck(x, v, tau), q, dyn.integrate),
       differences(lambda x: stuck(q, x, tau), v), differences(lambda x: stuck(q, v, x), tau))  # fmt: skip
