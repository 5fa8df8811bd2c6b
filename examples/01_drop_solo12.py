"""Drop Solo12 on its feet: build a scene, hold the posture by PD control, look at the log.

python 01_drop_solo12.py [figure.png]
"""

import sys

import stickslip as ss

scene = ss.Scene()
scene.add_plane(friction=0.8)
robot = scene.add_robot("solo12", pos=(0, 0, 0.35))  # stands at a base height of 0.22 m

sim = ss.Simulation(scene)  # semi-implicit Euler with spring-damper contacts, at a stable time step
sim.warm_up()  # compile, or load from the cache, before the clock runs
log = sim.run(1.5, controller=ss.control.PD(robot, kp=10.0, kd=0.2))

weight = sim.model.inertia.mass.sum() * 9.81
touchdown = log.time[log.contact_count() > 0][0]
feet = sorted({log.names.links[b] for b in log.contacts(-1).link2})
print(f"{sim.method}/{sim.variant}, dt = {sim.dt:g} s, {sim.steps} steps in {log.wall[-1]:.2f} s")
print(f"first contact at    {touchdown:.2f} s")
print(f"hardest landing     {log.contact_force().max():.0f} N, {1e3 * log.penetration().max():.2f} mm deep")
print(f"at the end          {log.contact_force()[-1]:.2f} N carried by {', '.join(feet)}; weight {weight:.2f} N")
print(f"base height         {log.pose[0, 1, 2]:.3f} m -> {log.pose[-1, 1, 2]:.3f} m")

if len(sys.argv) > 1:
    from stickslip.record.overview import save_overview

    save_overview(log, sys.argv[1], title="Solo12 dropped")
    print(f"figure              {sys.argv[1]}")
