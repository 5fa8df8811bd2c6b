"""One squat by five methods: the error of each at time steps from 0.1 to 40 ms."""

import warnings

import numpy as np

import stickslip as ss

SECONDS = 1.2
setup = ss.SCENES["solo12-squat"].build()  # an inverse-dynamics controller, called every 40 ms


def end(method: str, dt: float) -> np.ndarray:
    """The state at the end, or NaN if the simulation blew up."""
    sim = ss.Simulation(setup.scene, method=method, dt=dt)
    try:
        sim.run(SECONDS, controller=setup.controller, control_dt=setup.control_dt, progress=False)
    except (ss.DivergedError, ss.ControlError):
        return np.full(sim.model.nq + sim.model.nv, np.nan)
    return np.concatenate([sim.state.q, sim.state.v])


warnings.simplefilter("ignore", ss.StickslipWarning)  # unstable steps are part of this comparison
truth = end("rk4", 5e-5)
steps = (1e-4, 1e-3, 1e-2, 4e-2)
print("largest error of q and v", *(f"{1e3 * dt:>8g} ms" for dt in steps))
for method in ("euler", "semi-implicit-euler", "rk4", "implicit-euler", "expo"):
    errors = [np.abs(end(method, dt) - truth).max() for dt in steps]
    words = [f"{error:11.1e}" if error < 1e2 else "    unstable" for error in errors]
    print(f"{method:24}", *words)
