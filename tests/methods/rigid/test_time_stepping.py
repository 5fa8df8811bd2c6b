"""Time stepping in the loop: Python functions at every stage, snapshots, options, joints, divergence."""

import numpy as np
import pytest

import stickslip as ss
from stickslip.errors import DivergedError, InputError, UnconvergedWarning
from stickslip.methods.registry import METHODS
from stickslip.methods.rigid.formulations.registry import FORMULATIONS, make_formulation
from stickslip.methods.rigid.time_stepping import TimeStepping
from stickslip.solvers import LinearProblem, SolverResult, Status, solve

G = 9.81
STEPPING = [name for name, method in METHODS.items() if issubclass(method, TimeStepping)]
RIGID = [name for name in STEPPING if name != "relaxed"]
POLYGONAL = [name for name in STEPPING if "lcp" in FORMULATIONS[METHODS[name].formulation_name].forms]


def ball(height: float = 0.1, friction: float = 0.5, **material) -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=friction, **material)
    scene.add_sphere(0.1, pos=(0, 0, height), mass=1.0, friction=friction, **material)
    return scene


def block(mu: float = 0.3) -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(friction=mu)
    scene.add_box((0.2, 0.2, 0.1), pos=(0, 0, 0.05), mass=1.0, friction=mu)
    return scene


def pendulum() -> ss.Scene:
    """Two links over a floor that the second one hits."""
    return ss.Scene.from_xml(
        """<mujoco><compiler angle="radian"/><worldbody><geom type="plane" size="9 9 1" friction="0.5"/>
        <body pos="0 0 0.55"><joint name="one" type="hinge" axis="0 1 0"/>
          <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/>
          <body pos="0.3 0 0"><joint name="two" type="hinge" axis="0 1 0"/>
            <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1" contype="0" conaffinity="0"/>
            <geom type="sphere" size="0.05" pos="0.3 0 0" mass="0.2" friction="0.5"/></body></body>
        </worldbody></mujoco>"""
    )


# -- the step -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", STEPPING)
def test_free_flight_is_semi_implicit_euler(method):
    states = []
    for name, options in ((method, {"bias": "explicit"}), ("semi-implicit-euler/none", {})):
        sim = ss.Simulation(pendulum(), method=name, dt=1e-3, **options)
        sim.set_state(v=[1.0, -2.0])
        sim.step(20)
        states.append(np.concatenate([sim.state.q, sim.state.v]))
    np.testing.assert_allclose(*states, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", STEPPING)
def test_default_step_is_a_centisecond(method):
    assert ss.Simulation(ball(), method=method).dt == 0.01


@pytest.mark.parametrize("method", RIGID)
def test_rest_is_exact_and_forces_carry_the_weight(method):
    sim = ss.Simulation(block(), method=method)
    log = sim.run(0.2)
    np.testing.assert_allclose(sim.state.q[:3], [0, 0, 0.05], atol=1e-12 if method in POLYGONAL else 1e-9)
    assert log.contact("force")[-4:, 0].sum() == pytest.approx(G, rel=1e-9 if method in POLYGONAL else 1e-6)


@pytest.mark.parametrize("method", RIGID)
def test_a_ball_lands_without_a_dent(method):
    sim = ss.Simulation(ball(0.5), method=method)
    lowest = []
    for _ in range(100):
        sim.step(1)
        lowest.append(sim.state.q[2])
    assert min(lowest) > 0.1 - (1e-9 if method != "anitescu-potra" else 0.03)
    assert sim.state.q[2] == pytest.approx(lowest[-2], abs=1e-12)


def test_forms_and_coordinates_agree():
    """One step of a two-link arm from rest, its tip on the floor: the same velocities however it is written."""
    q = np.array([np.pi / 3, 0.0])
    q[1] = np.arcsin((0.5 - 0.3 * np.sin(q[0])) / 0.3) - q[0]
    ends = {}
    for coordinates in ("joint", "maximal"):
        unstabilised = {"stabilise": False} if coordinates == "maximal" else {}
        for form in ("lcp", "reduced", "mlcp"):
            sim = ss.Simulation(
                pendulum(), method="stewart-trinkle", coordinates=coordinates, form=form, **unstabilised,
                solver=lambda problem, z0: solve_any(problem),
            )  # fmt: skip
            sim.set_state(q=q)
            sim.step(1)
            assert sim.contacts.arrays.force[0, 0] > 1.0
            ends[coordinates, form] = np.concatenate([sim.state.v, sim.contacts.arrays.force[0]])
    for end in ends.values():
        np.testing.assert_allclose(end, ends["joint", "lcp"], atol=1e-9)


def solve_any(problem: LinearProblem, z0: np.ndarray | None = None) -> np.ndarray:
    """A mixed LCP with Lemke: free variables eliminated with a dense solve."""
    free = np.isinf(problem.lower)
    A, b = problem.dense(), problem.b
    if not free.any():
        return solve(problem).z
    X = np.linalg.solve(A[np.ix_(free, free)], np.column_stack([A[np.ix_(free, ~free)], b[free]]))
    reduced = LinearProblem(
        A[np.ix_(~free, ~free)] - A[np.ix_(~free, free)] @ X[:, :-1], b[~free] - A[np.ix_(~free, free)] @ X[:, -1]
    )
    z = np.zeros(problem.n)
    z[~free] = solve(reduced).z
    z[free] = -X[:, :-1] @ z[~free] - X[:, -1]
    return z


def test_joint_limits_are_never_passed():
    scene = ss.Scene.from_xml(
        """<mujoco><compiler angle="radian"/><worldbody><body><joint type="hinge" axis="0 1 0" range="-0.5 0.3"
        limited="true"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1"/></body>
        <body pos="0 1 0"><joint type="ball" range="0 0.4" limited="true"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="1"/></body></worldbody></mujoco>"""
    )
    for coordinates in ("joint", "maximal"):
        sim = ss.Simulation(scene, method="stewart-trinkle", coordinates=coordinates)
        sim.step(100)
        assert sim.state.q[0] == pytest.approx(0.3, abs=1e-4)
        assert 2 * np.arccos(sim.state.q[1]) == pytest.approx(0.4, abs=1e-3)
        assert np.abs(sim.state.v).max() < 1e-2


def test_stiff_servos_do_not_limit_the_step():
    scene = ss.Scene.from_xml(
        """<mujoco><worldbody><body><joint name="j" type="hinge" axis="0 1 0" stiffness="1e5" damping="100"/>
        <geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0" mass="0.1"/></body></worldbody>
        <actuator><position joint="j" kp="1e6" kv="1e3"/></actuator></mujoco>"""
    )
    sim = ss.Simulation(scene, method="stewart-trinkle")
    sim.set_control([0.5])
    sim.step(300)
    assert sim.state.q[0] == pytest.approx(0.5 * 1e6 / 1.1e6, abs=1e-3)


# -- Python functions at every stage ------------------------------------------------------------------------------


def python_collision(sim):
    sim.contacts.clear()
    z = sim.kinematics.pos[1, 2]
    sim.contacts.add(0, 1, sim.kinematics.pos[1] - [0, 0, 0.1], (0, 0, 1), z - 0.1, pair=0, friction=0.5)


def python_formulate(sim):
    """Frictionless contacts, with unknowns of its own: impulses over the time step."""
    m = sim.matrices
    normal = slice(m.bilateral, None, 3)
    W = m.delassus[normal, normal]
    sim.problem = LinearProblem(m.dt * W, m.free[normal] + m.gap / m.dt)

    def velocity_of(z):
        p = np.zeros(len(m.free))
        p[normal] = m.dt * z
        return m.new_velocity(p)

    sim.velocity_of = velocity_of


def python_solve(sim):
    sim.accept(solve(sim.problem).z)


def python_accelerations(sim):
    """A penalty method that needs no problem at all: Sec. 2.3 of Williams et al., alternative dynamics."""
    depth = max(0.0, 0.1 - sim.state.q[2])
    sim.acceleration[:] = 0.0
    sim.acceleration[2] = -G + 1e3 * depth - 20.0 * sim.state.v[2] * (depth > 0.0)


def gauss_seidel(problem, z0):
    z, A = z0.copy(), problem.dense()
    for _ in range(2000):
        for i in range(problem.n):
            z[i] = max(0.0, z[i] - (A[i] @ z + problem.b[i]) / (A[i, i] or 1.0))
    return z


def python_integrate(sim):
    sim.state.v[:] += sim.dt * sim.acceleration
    sim.state.q[:] = sim.dynamics.integrate(sim.state.q, sim.state.v, sim.dt)


STAGES = {
    "user": lambda sim: sim.inputs.applied.__setitem__(0, 0.0),
    "collision": python_collision,
    "formulate": python_formulate,
    "solve": python_solve,
    "integrate": python_integrate,
}


@pytest.mark.parametrize("method", POLYGONAL)
@pytest.mark.parametrize("names", [*([name] for name in STAGES), list(STAGES)], ids=lambda names: "+".join(names))
def test_python_stages(method, names):
    mu = 0.0 if "formulate" in names else 0.5
    sim = ss.Simulation(ball(0.3, friction=mu), method=method, **{name: STAGES[name] for name in names})
    reference = ss.Simulation(ball(0.3, friction=mu), method=method)
    for s in (sim, reference):
        s.set_state(v=[0.5, 0, 0, 0, 0, 0])
        s.step(60)
    if method == "anitescu-potra" and "formulate" in names:
        assert sim.state.q[2] == pytest.approx(0.1, abs=1e-9)  # the function formulates with gaps
        return
    np.testing.assert_allclose(sim.state.q, reference.state.q, atol=1e-9)
    np.testing.assert_allclose(sim.state.v, reference.state.v, atol=1e-9)


@pytest.mark.parametrize("method", POLYGONAL)
def test_a_python_solver(method):
    calls = []

    def mine(problem, z0):
        calls.append(problem.n)
        result = solve(problem)
        return result if len(calls) % 2 else result.z

    sims = [ss.Simulation(block(), method=method), ss.Simulation(block(), method=method, solver=mine)]
    for sim in sims:
        sim.set_state(v=[1.0, 0.3, 0, 0, 0, 2.0])
        sim.step(20)
    assert set(calls) == {40}
    np.testing.assert_allclose(sims[0].state.q, sims[1].state.q, rtol=0, atol=1e-12)  # compiled, and not
    assert isinstance(sims[1].result, SolverResult)
    assert sims[1].stepper.unconverged == 0


def test_a_python_solver_is_warm_started():
    sim = ss.Simulation(ball(friction=0.0), method="stewart-trinkle", solver=gauss_seidel)
    starts = []
    sim.stepper.solver.function = lambda problem, z0: starts.append(z0.copy()) or gauss_seidel(problem, z0)
    sim.step(3)
    np.testing.assert_allclose(starts[0], 0.0)
    np.testing.assert_allclose(starts[1], G * 0.01, rtol=1e-12)
    sim.observe()
    sim.step(1)
    np.testing.assert_allclose(starts[3], G * 0.01, rtol=1e-12)


def test_a_python_detector():
    def find(kin, contacts):
        contacts.clear()
        contacts.add(0, 1, kin.pos[1] - [0, 0, 0.1], (0, 0, 1), kin.pos[1, 2] - 0.1, pair=7, friction=0.5)

    sims = [ss.Simulation(ball(0.3), method="stewart-trinkle", detector=d) for d in (None, find, "convex")]
    for sim in sims:
        sim.step(60)
        np.testing.assert_allclose(sim.state.q, sims[0].state.q, atol=1e-12)


def test_margins_of_detectors():
    """A Detector keeps its own margin unless one is given; named ones follow the motion."""
    model = ball(0.3).compile()
    for margin, kept in ((None, 0.5), (0.02, 0.02)):
        detector = ss.extend.ConvexDetector(model, 0.5)
        sim = ss.Simulation(model, method="stewart-trinkle", detector=detector, margin=margin)
        sim.step(1)
        assert sim.stepper.detector.margin == kept
        assert len(sim.contacts) == (kept > 0.2)
    for detector in ("convex",):
        sim = ss.Simulation(model, method="stewart-trinkle", detector=detector, margin=0.25)
        sim.step(1)
        assert len(sim.contacts) == 1
        sim = ss.Simulation(model, method="stewart-trinkle", detector=detector)
        sim.step(10)
        assert sim.stepper.detector.margin == pytest.approx(2e-2 * 0.09 * G + 2e-4 * G + 1e-3)


@pytest.mark.parametrize("n", [2, 50])
def test_a_foreign_problem_needs_a_way_back(n):
    def formulate(sim):
        sim.problem = LinearProblem(np.eye(n), -np.ones(n))

    for own in ({}, {"solve": python_solve}, {"solver": gauss_seidel}):
        sim = ss.Simulation(block(), method="stewart-trinkle", formulate=formulate, **own)
        message = rf"expected the 40 unknowns of StewartTrinkle as \w+ \(LinearProblem\), got {n} .*sim.velocity_of = f"
        with pytest.raises(InputError, match=message):
            sim.step(1)


def test_foreign_problems_of_the_same_unknowns_are_read_alike():
    """Labels and layout are those of the method."""

    def formulate(sim):
        own = sim.problem
        sim.problem = LinearProblem(own.A, own.b, own.lower, own.upper)

    for form in ("lcp", "mlcp"):
        sims = [
            ss.Simulation(block(), method="stewart-trinkle/fischer-newton", form=form, formulate=f)
            for f in (None, formulate)
        ]
        for sim in sims:
            sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
            sim.step(3)
        np.testing.assert_allclose(sims[1].state.v, sims[0].state.v, atol=1e-8)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("problem", "x", "sim.problem: expected a LinearProblem, NonlinearProblem or FrictionProblem, got 'x'"),
        ("velocity_of", 3, "sim.velocity_of: expected a function"),
        ("velocity_of", lambda z: z[:2], r"sim.velocity_of: expected velocities of shape \(6,\), got \(2,\)"),
    ],
)
def test_wrong_things_from_a_formulate_function(name, value, message):
    sim = ss.Simulation(block(), method="stewart-trinkle", formulate=lambda sim: setattr(sim, name, value))
    with pytest.raises(InputError, match=message):
        sim.step(1)


def test_wrong_solutions_are_refused():
    sim = ss.Simulation(block(), method="stewart-trinkle", solve=lambda sim: sim.accept(np.zeros(3)))
    with pytest.raises(InputError, match=r"z: expected the 40 unknowns of sim.problem, got \(3,\)"):
        sim.step(1)
    for answer in (np.zeros(3), SolverResult(np.zeros(3), Status.CONVERGED, 0, 0.0, 0.0)):
        sim = ss.Simulation(block(), method="stewart-trinkle", solver=lambda problem, z0, z=answer: z)
        with pytest.raises(
            InputError, match=r"solver .<lambda>.: expected z of shape \(40,\), \(z, iterations\) or a SolverResult"
        ):
            sim.step(1)


def test_stages_that_are_no_functions_are_refused_whenever_they_come():
    sim = ss.Simulation(block(), method="stewart-trinkle")
    for wrong, got in ((3, "3"), (lambda: None, r"'<lambda>', which takes \(\)")):
        with pytest.raises(InputError, match=rf"collision: expected a function f\(sim\), got {got}"):
            sim.stages.collision = wrong
        with pytest.raises(InputError, match="collision: expected a function"):
            ss.Simulation(block(), method="stewart-trinkle", collision=wrong)
    assert sim.stages.collision is None


def test_alternative_dynamics_in_the_solve_stage():
    sim = ss.Simulation(ball(0.15), method="stewart-trinkle", dt=1e-3, solve=python_accelerations)
    log = sim.run(2.0)
    assert sim.state.q[2] == pytest.approx(0.1 - G / 1e3, abs=1e-4)
    assert len(log.time) > 10


def test_problem_and_matrices_of_other_methods_are_refused():
    sim = ss.Simulation(ball())
    for name in ("problem", "matrices", "result"):
        with pytest.raises(InputError, match="solves no complementarity problem; those that do: stewart-trinkle"):
            getattr(sim, name)


def test_problem_after_observe_is_that_of_the_next_step():
    sim = ss.Simulation(block(), method="stewart-trinkle")
    sim.set_state(v=[1.0, 0, 0, 0, 0, 0])
    sim.observe()
    problem = sim.problem
    expected = make_formulation("stewart-trinkle").formulate(sim.matrices)
    np.testing.assert_array_equal(problem.A, expected.A)
    sim.step(1)
    np.testing.assert_array_equal(problem.b, sim.problem.b)
    assert sim.result.success


# -- memory, options, trouble -------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", [*STEPPING, "stewart-trinkle/fischer-newton"])
@pytest.mark.parametrize("coordinates", ["joint", "maximal"])
def test_restored_snapshot_continues_to_the_bit(method, coordinates):
    scene = pendulum()
    for k in range(30):
        scene.add_sphere(0.05, pos=(1 + 0.11 * k, 0, 0.06), mass=0.1)
    sim = ss.Simulation(scene, method=method, coordinates=coordinates)
    sim.step(20)
    snapshot = sim.snapshot()
    fresh = ss.Simulation(scene, method=method, coordinates=coordinates)
    ends = []
    for other in (sim, sim, fresh):
        other.restore(snapshot)
        other.observe()
        other.step(20)
        ends.append(np.concatenate([other.state.q, other.state.v]))
    assert np.array_equal(ends[0], ends[1])
    assert np.array_equal(ends[0], ends[2])


def test_recording_does_not_disturb():
    ends = []
    for record_dt in (0.01, 0.1):
        sim = ss.Simulation(pendulum(), method="stewart-trinkle/fischer-newton")
        log = sim.run(0.5, record_dt=record_dt)
        ends.append(sim.state.q.copy())
    assert np.array_equal(*ends)
    assert np.all(np.isfinite(log.residual))


def test_unconverged_steps():
    lazy = {"solver": lambda problem, z0: np.zeros(problem.n)}
    with pytest.warns(UnconvergedWarning, match="3 of 3 steps"):
        ss.Simulation(block(), method="stewart-trinkle", **lazy).step(3)
    message = r"natural residual 0.098 with n = 40, expected at most 1e-06; .*unconverged='fallback'"
    with pytest.raises(ss.UnconvergedError, match=message):
        ss.Simulation(block(), method="stewart-trinkle", unconverged="raise", **lazy).step(3)
    sim = ss.Simulation(block(), method="stewart-trinkle", unconverged="fallback", **lazy)
    sim.step(3)
    assert sim.stepper.unconverged == 0
    assert sim.state.q[2] == pytest.approx(0.05, abs=1e-12)


def test_what_a_python_solver_says_of_itself_does_not_count():
    def sure(problem, z0):
        return SolverResult(np.zeros(problem.n), Status.CONVERGED, 7, 0.0, 0.0)

    sim = ss.Simulation(block(), method="stewart-trinkle", solver=sure, recovery_time=0)
    with pytest.warns(UnconvergedWarning, match="3 of 3 steps"):
        sim.step(3)
    assert sim.result.status is Status.INACCURATE
    assert sim.result.iterations == 7
    assert sim.result.residual == pytest.approx(6 * G * 0.01)  # speed and depth of two steps of fall

    def modest(problem, z0):
        return SolverResult(solve(problem).z, Status.MAX_ITERATIONS, 9, 1.0, 0.0)

    sim = ss.Simulation(block(), method="stewart-trinkle", solver=modest)
    sim.step(3)
    assert sim.result.success
    assert sim.result.residual < 1e-9


def test_the_fallback_decides_on_the_form():
    """Mixed LCPs are beyond Lemke's method, so that the first solver gets an LCP as well."""
    sim = ss.Simulation(
        pendulum(), method="stewart-trinkle/pgs", coordinates="maximal", unconverged="fallback", fallback="lemke"
    )
    assert sim.stepper.formulation.form == "lcp"
    sim = ss.Simulation(pendulum(), method="stewart-trinkle/pgs", coordinates="maximal")
    assert sim.stepper.formulation.form == "reduced"


def test_divergence_is_reported_with_the_last_good_state():
    sim = ss.Simulation(ball(1.0), method="stewart-trinkle")
    sim.inputs.applied[2] = 1e300
    with pytest.raises(DivergedError, match="beyond 1e\\+09") as caught:
        sim.step(5)
    assert np.all(np.isfinite(caught.value.snapshot.state.q))
    sim = ss.Simulation(ball(1.0), method="stewart-trinkle", solver=lambda problem, z0: np.full(problem.n, np.nan))
    sim.step(1)  # nothing touches
    sim.set_state(q=[0, 0, 0.1, 1, 0, 0, 0])
    with pytest.raises(DivergedError):
        sim.step(1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coordinates": "minimal"}, "unknown coordinates 'minimal'"),
        ({"directions": 2}, "directions: expected a whole number ≥ 3"),
        ({"margin": -1.0}, "margin"),
        ({"form": "ncp"}, "form: lemke solves lcp of stewart-trinkle"),
        ({"detector": "bullet"}, "unknown detector 'bullet'"),
        ({"detector": 3}, "detector: expected a name"),
        ({"solver": "pgs"}, "solver: expected a function"),
        ({"solver_options": {"omega": 1.0}}, "unknown option of lemke 'omega'"),
        ({"unconverged": "ignore"}, "unknown unconverged 'ignore'"),
        ({"stabilise": True}, "stabilise: joint coordinates keep joints exactly; use coordinates='maximal'"),
        ({"stabilise": False}, "stabilise: joint coordinates"),
        ({"fallback": "pgs"}, "fallback: expected unconverged='fallback' with it, got 'warn'"),
        ({"fallback": "pg"}, "unknown fallback 'pg': did you mean 'pgs'"),
        ({"fallback": "pg", "unconverged": "fallback"}, "unknown fallback 'pg'"),
        ({"solver": solve_any, "solver_options": {"tolerance": 1.0}}, "solver_options: expected a named solver"),
        ({"solver": solve_any, "form": "ncp", "directions": 8}, "directions: expected none with form 'ncp'"),
        ({"solver": solve_any, "form": "cone", "unconverged": "fallback"}, "the fallback interior-point both solve"),
        ({"solver": solve_any, "form": "mlcp", "unconverged": "fallback", "fallback": "lemke"}, "lemke both solve lcp"),
        ({"detector": lambda kin, contacts: None, "margin": 0.1}, "margin: expected a named detector or a Detector"),
        ({"touch": 1.0}, "unknown option of stewart-trinkle 'touch'"),
        ({"rest_speed": -1.0}, "rest_speed"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(InputError, match=message):
        ss.Simulation(ball(), method="stewart-trinkle", **options)


def test_methods_are_spelled_formulation_solver():
    assert "stewart-trinkle/lemke" in ss.method_names()
    sim = ss.Simulation(ball(), method="peg/minmap-newton", solver_options={"tolerance": 1e-7})
    assert (sim.method, sim.variant) == ("peg", "minmap-newton")
    assert sim.stepper.solver.named.tolerance == 1e-7
    with pytest.raises(InputError, match="possible: peg/lemke"):
        ss.Simulation(ball(), method="peg/spring-damper")


@pytest.mark.parametrize(
    ("method", "option", "value", "why"),
    [
        ("coulomb", "directions", 8, "its cone is circular"),
        ("coulomb", "working_set", False, "pivoting"),
        ("relaxed", "directions", 8, "its cone is circular"),
        ("relaxed", "working_set", False, "pivoting"),
        ("relaxed", "rest_speed", 0.1, "bounce by stiffness"),
    ],
)
def test_options_that_would_do_nothing_are_refused(method, option, value, why):
    with pytest.raises(ss.InputError, match=f"{option}: {method} has no such option: .*{why}"):
        ss.Simulation(block(), method=method, **{option: value})
    assert option not in ss.METHODS[method].option_help()
