"""Load a URDF: write a small one, let the doctor look at it, free its base, drop it."""

import tempfile
from pathlib import Path

import stickslip as ss
from stickslip.model.doctor import examine

URDF = """
<robot name="two_balls">
  <link name="trunk">
    <inertial><mass value="2"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><sphere radius="0.1"/></geometry></collision>
  </link>
  <link name="arm">
    <inertial>
      <origin xyz="0 0 0.3"/><mass value="0.5"/>
      <inertia ixx="0.002" iyy="0.002" izz="0.002" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision><origin xyz="0 0 0.3"/><geometry><sphere radius="0.05"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="trunk"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-2" upper="2" effort="5" velocity="10"/>
  </joint>
</robot>
"""

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "two_balls.urdf"
    path.write_text(URDF)

    report = examine(path, floating_base=True)
    for finding in report.findings:
        print(f"{finding.severity}: {finding.where}: {finding.message}")
    print(f"doctor: {len(report.of('error'))} errors, {len(report.of('warning'))} warnings; {report.summary}")

    scene = ss.Scene()
    scene.add_plane(friction=0.6)
    robot = scene.load(path, floating_base=True, pos=(0, 0, 0.3))

scene.set_home("shoulder", 0.5)
print(f"joints {robot.joints}, motors {robot.actuators}, notes {robot.notes}")

sim = ss.Simulation(scene)
log = sim.run(2.0, controller=ss.control.PD(robot, kp=5.0, kd=0.5))
print(f"dt = {sim.dt:g} s; trunk at {log.pose[-1, log.link('trunk'), :3].round(3)} m after {log.time[-1]:g} s")
print(f"floor carries {log.contact_force()[-1]:.2f} N, weight {2.5 * 9.81:.2f} N")
