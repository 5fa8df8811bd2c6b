"""The rigid-body algorithms by themselves: inverse and forward dynamics, mass matrix, Jacobians, Delassus matrix."""

import numpy as np

import stickslip as ss

scene = ss.Scene()
scene.add_robot("solo12")
model = scene.compile()
dyn = ss.Dynamics(model)

rng = np.random.default_rng(0)
q = model.state().q  # the home configuration
v, a = rng.normal(size=(2, model.nv))

# τ = M(q) a + b(q, v): recursive Newton-Euler, checked with the composite-rigid-body mass matrix
tau = dyn.rnea(q, v, a)
M, b = dyn.crba(q), dyn.bias(q, v)
print(f"|M a + b - rnea|    {np.abs(M @ a + b - tau).max():.1e}")

# a = M⁻¹ (τ - b): articulated bodies, the inverse of the above
print(f"|aba(rnea(a)) - a|  {np.abs(dyn.aba(q, v, tau) - a).max():.1e}")

# The Jacobian of a foot, against a difference quotient along v
foot, h = "FL_FOOT", 1e-6
ahead, behind = (dyn.frame_pose(dyn.integrate(q, v, step), foot)[0] for step in (h, -h))
J = dyn.frame_jacobian(q, foot)
print(f"|J v - dp/dt|       {np.abs(J[:3] @ v - (ahead - behind) / (2 * h)).max():.1e}")

# W = J M⁻¹ Jᵀ of four feet on the ground, in contact frames (normal, tangent 1, tangent 2)
feet = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
link2 = [model.frames.link[model.frame(name)] for name in feet]
point = np.array([dyn.frame_pose(q, name)[0] for name in feet])
axes = np.tile([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]], (4, 1, 1))
W = dyn.delassus(q, [0] * 4, link2, point, axes)
stacked = np.vstack([axes[i] @ dyn.frame_jacobian(q, name)[:3] for i, name in enumerate(feet)])
print(f"|W - J M^-1 J'|     {np.abs(W - stacked @ np.linalg.solve(M, stacked.T)).max():.1e}")
print(f"W is {W.shape[0]} x {W.shape[1]}; eigenvalues {np.linalg.eigvalsh(W)[[0, -1]].round(3)} 1/kg")

# Joint torques that hold the robot still when each foot carries a quarter of the weight
weight = model.inertia.mass.sum() * 9.81
external = np.zeros((model.nlink, 6))
for link, p in zip(link2, point, strict=True):
    force = np.array([0.0, 0.0, weight / 4])
    external[link, :3] = force
    external[link, 3:] = np.cross(p - dyn.poses(q)[link, :3], force)  # the point is not the link's origin
hold = dyn.rnea(q, np.zeros(model.nv), np.zeros(model.nv), external)
print(f"force left on the base {np.abs(hold[:3]).max():.1e} N; largest joint torque {np.abs(hold[6:]).max():.3f} N m")
