"""One step of a simulation as an FCLib file, solved by every solver of Coulomb's law, and judged by the same criteria.

Ten blocks stand on each other, and the lowest is struck. The file holds W, q and μ of u = W·r + q with
K ∋ r ⟂ u + (μ·|u_t|, 0, 0) ∈ K*; any other program that reads FCLib's files can solve it, too.
"""

import tempfile
from pathlib import Path

import stickslip as ss
from stickslip.solvers import SOLVERS, judge, solve

entry = ss.SCENES["block-stack"]
sim = ss.Simulation(entry.build(n=10).scene, method="coulomb/interior-point", dt=entry.dt)
sim.step(5)
sim.inputs.wrench[1, 0] = 200.0  # N on the lowest block, in the step that is captured

with tempfile.TemporaryDirectory() as folder:  # in a script of your own: ss.simulation.capture_fclib(sim, "step.hdf5")
    path = Path(folder) / "step.hdf5"
    ss.simulation.capture_fclib(sim, path)
    file = ss.problem_files.read_fclib(path)
    problem = file.friction
    print(f"{file.local.info.title}: {len(problem.friction)} contacts, {path.stat().st_size} bytes")

    print(f"{'solver':16} {'natural':>9} {'Signorini':>9} {'cone':>9} {'MERIT_1':>9} {'iterations':>10}  status")
    best = None
    for name, solver in SOLVERS.items():
        if "ncp" not in solver.solves:
            continue
        result = solve(problem, name)
        measures = judge(problem, result.z)  # from the solution alone, not from what the solver reports
        figures = f"{measures.natural:9.1e} {measures.signorini:9.1e} {measures.cone:9.1e} {measures.merit_1:9.1e}"
        print(f"{name:16} {figures} {result.iterations:10}  {result.status.name.lower()}")
        if best is None or measures.natural < judge(problem, best).natural:
            best = result.z

    ss.problem_files.write_fclib(path, file, solution=best)  # stored with the problem, as in FCLib
    stored = judge(problem, ss.problem_files.read_fclib(path).solution.r)
    print(f"stored solution: natural residual {stored.natural:.1e}, MERIT_1 {stored.merit_1:.1e}")
