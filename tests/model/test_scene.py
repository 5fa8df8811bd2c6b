"""Building scenes: what is built by hand and what is loaded become the same model."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest

import stickslip as ss
from stickslip.collision.allowed import touching
from stickslip.model.builders import add_chain, add_cylinder_on_points, add_hopper
from stickslip.model.keyframes import read_keyframes
from stickslip.model.shape import Material, combine


def assert_same_model(a: ss.Model, b: ss.Model):
    for part in ("tree", "support", "inertia", "joint_forces", "actuators", "frames"):
        for name, x, y in zip(getattr(a, part)._fields, getattr(a, part), getattr(b, part), strict=True):
            # round-off only: MuJoCo computes the inertia of a mesh anew
            np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14, err_msg=f"{part}.{name}")
    assert a.link_names == b.link_names
    assert a.joint_names == b.joint_names
    assert a.actuator_names == b.actuator_names
    assert a.frame_index == b.frame_index
    np.testing.assert_array_equal(a.state().q, b.state().q)
    assert [(s.name, s.kind, s.link, s.material, s.group, s.mask) for s in a.shapes] == [
        (s.name, s.kind, s.link, s.material, s.group, s.mask) for s in b.shapes
    ]
    for x, y in zip(a.shapes, b.shapes, strict=True):
        np.testing.assert_array_equal(x.size, y.size)
        np.testing.assert_allclose(x.pos, y.pos, atol=1e-14)


def everything() -> ss.Scene:
    """Every shape, joint type, material property, contact point and frame."""
    scene = ss.Scene(gravity=(0.1, 0, -9.8))
    scene.add_plane(normal=(0.1, 0, 1), pos=(0, 0, -0.1), friction=0.7, stiffness=2e4, damping=0.0, restitution=0.2)
    scene.add_box((0.1, 0.2, 0.3), name="wall", pos=(2, 0, 0), joint="fixed")
    base = scene.add_box((0.4, 0.2, 0.1), name="base", pos=(0, 0, 1), mass=3.0, friction=0.0)
    joint = {"axis": (0, 1, 0), "range": (-1, 2), "armature": 0.01, "damping": 0.1, "stiffness": 5.0}
    arm = base.add_body("arm", joint="hinge", pos=(0.2, 0, 0), motor=True, max_force=7.0, **joint)
    arm.add_capsule(0.03, 0.2, density=500, pos=(0, 0, -0.1))
    tool = arm.add_body("tool", pos=(0, 0, -0.2), quat=(np.cos(0.3), np.sin(0.3), 0, 0))
    tool.add_cylinder(0.02, 0.1, mass=0.2).add_contact_point("tip", pos=(0, 0, 0.05)).add_frame("grip", pos=(0, 0.1, 0))
    arm.add_body("slider", joint="slide", axis=(1, 0, 0), pos=(0, 0.1, 0)).add_sphere(0.05, mass=0.3)
    ball = scene.add_body("wrist", joint="ball", pos=(0, 3, 1))
    ball.add_mesh(np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]), mass=0.5)
    wagon = scene.add_body("wagon", joint="slide", axis=(1, 0, 0), pos=(5, 0, 1))
    wagon.add_joint("hinge", axis=(0, 0, 1), pos=(0.1, 0, 0)).set_inertia(
        2.0, com=(0.1, 0, 0), inertia=(1, 2, 2.5, 0.1, 0, 0)
    )
    return scene


def test_saved_scene_is_the_same_scene(tmp_path):
    scene = everything()
    scene.save(tmp_path / "scene.xml")
    assert_same_model(scene.compile(), ss.Scene.from_file(tmp_path / "scene.xml").compile())


@pytest.mark.parametrize("name", sorted(ss.SCENES))
def test_bundled_scenes_survive_xml(name):
    scene = ss.SCENES[name].build().scene
    assert_same_model(scene.compile(), ss.Scene.from_xml(scene.to_xml()).compile())


def test_defaults_of_a_loaded_file_survive_saving(tmp_path):
    """The file's top-level defaults apply to its elements only, and are not lost in to_xml()."""
    path = tmp_path / "defaults.xml"
    path.write_text(
        "<mujoco><default><joint damping='3' armature='0.2'/><geom friction='0.123' density='50'/></default>"
        "<worldbody><body name='a' pos='0 0 1'><joint name='a'/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    scene = ss.Scene()
    scene.add_box((1, 1, 1), joint="hinge", name="mine")
    scene.load(path)
    model = scene.compile()
    np.testing.assert_array_equal(model.joint_forces.damping, [0.0, 3.0])
    assert [s.material.friction for s in model.shapes] == [None, 0.123]
    assert_same_model(model, ss.Scene.from_xml(scene.to_xml()).compile())


def test_hand_built_equals_mjcf(tmp_path):
    path = tmp_path / "pendulum.xml"
    path.write_text(
        "<mujoco model='pendulum'><compiler angle='radian'/><worldbody><body name='rod' pos='0 0 1'>"
        "<joint name='rod' type='hinge' axis='0 1 0' range='-1 1' damping='0.2' armature='0.1'/>"
        "<geom name='shape0' type='capsule' size='0.05 0.25' mass='1.5' pos='0 0 -0.25'/>"
        "<site name='end' pos='0 0 -0.5'/></body></worldbody></mujoco>"
    )
    scene = ss.Scene()
    rod = scene.add_body("rod", joint="hinge", axis=(0, 1, 0), pos=(0, 0, 1), range=(-1, 1), damping=0.2, armature=0.1)
    friction = {"friction": 1.0, "torsion": 0.005, "rolling": 0.0001, "condim": 3}  # MuJoCo's defaults
    rod.add_capsule(0.05, 0.5, mass=1.5, pos=(0, 0, -0.25), name="shape0", **friction).add_frame(
        "end", pos=(0, 0, -0.5)
    )
    assert_same_model(scene.compile(), ss.Scene.from_file(path).compile())


def test_fixed_bodies_are_merged_and_stay_frames():
    """Moving mass to a fixed child changes nothing but the names."""
    model = everything().compile()
    assert "tool" not in model.link_names
    assert model.link("tool") == model.link("arm")
    dyn = ss.Dynamics(model)
    q = model.state().q
    hand = dyn.frame_pose(q, "arm")[0] + [0, 0, -0.2]
    np.testing.assert_allclose(dyn.frame_pose(q, "tool")[0], hand, atol=1e-15)
    assert model.link("wall") == 0
    assert model.inertia.mass[model.link("arm")] == pytest.approx(500 * np.pi * (0.03**2 * 0.2 + 4 / 3 * 0.03**3) + 0.2)


def test_two_robots_need_names():
    scene = ss.Scene()
    scene.add_robot("solo12")
    with pytest.raises(ss.InputError, match="give this one a name"):
        scene.add_robot("solo12")
    second = scene.add_robot("solo12", name="second", pos=(1, 0, 0.5))
    model = scene.compile()
    assert second.joints[0] == "second/root"
    assert second.actuators[0] == "second/FL_HAA"
    assert model.nv == 36
    np.testing.assert_allclose(model.state().q[19:26], [1, 0, 0.5, 1, 0, 0, 0])
    np.testing.assert_allclose(model.state().q[26:], model.state().q[7:19])  # both stand in the same posture
    assert_same_model(model, ss.Scene.from_xml(scene.to_xml()).compile())


def test_home_of_a_robot_and_of_a_joint():
    scene = ss.Scene()
    scene.add_robot("solo12", pos=(1, 2, 3), quat=(0, 0, 0, 2))
    scene.set_home("FL_KFE", -1.0)
    model = scene.compile()
    np.testing.assert_allclose(model.state().q[:7], [1, 2, 3, 0, 0, 0, 1])
    assert model.state().q[model.tree.joint_q[model.joint("FL_KFE")]] == -1.0
    with pytest.raises(ss.InputError, match="unknown joint 'FL_KNEE'"):
        scene.set_home("FL_KNEE", 0.0)


def test_excluded_bodies_and_masks_do_not_touch():
    scene = ss.Scene()
    plate = scene.add_body("plate", joint="fixed")
    plate._shape(0, [0, 0, 0.1])  # a plane on a static body
    scene.add_sphere(0.1, name="a", pos=(0, 0, 1))
    scene.add_sphere(0.1, name="b", pos=(1, 0, 1))
    scene.add_sphere(0.1, name="ghost", pos=(2, 0, 1), collide=False)

    def pairs():
        model = scene.compile()
        return [tuple(model.link_names[shape.link] for shape in pair) for pair in touching(model)]

    assert sorted(pairs()) == [("a", "b"), ("world", "a"), ("world", "b")]
    scene.exclude("plate", "a")
    assert sorted(pairs()) == [("a", "b"), ("world", "b")]
    with pytest.raises(ss.InputError, match="unknown body 'c'"):
        scene.exclude("a", "c")


def test_material_combination():
    assert combine(Material(), Material()).friction == 1.0
    assert combine(Material(friction=0.2), Material()).friction == 0.2
    assert combine(Material(friction=0.2), Material(friction=0.5)).friction == 0.5
    assert combine(Material(stiffness=1e4), Material(stiffness=1e4)).stiffness == pytest.approx(5e3)
    assert combine(Material(stiffness=1e4), Material()).stiffness == 1e4
    assert combine(Material(damping=0.0), Material(damping=5.0)).damping == 0.0
    # the surface of higher priority dictates what it says
    dictates = combine(Material(friction=0.2, stiffness=1e4, priority=1), Material(friction=0.5, stiffness=1e3))
    assert (dictates.friction, dictates.stiffness) == (0.2, 1e4)
    assert combine(Material(priority=1), Material(friction=0.5)).friction == 0.5
    # the larger condim counts; a smaller one hides coefficients
    rough = Material(friction=0.5, torsion=0.1, rolling=0.01, condim=4)
    assert combine(rough, Material(friction=1.0, condim=1)) == combine(Material(friction=1.0, condim=1), rough)
    assert combine(rough, Material(friction=1.0, condim=1)).row[5:7] == (0.1, 0.0)
    assert combine(rough, Material(condim=1, priority=1)).friction == 0.0
    assert combine(Material(margin=0.01), Material(margin=0.02)).margin == pytest.approx(0.03)


def test_material_survives_mjcf_user_data():
    for material in (Material(), Material(0.0, 1e3, 0.0, 0.0), Material(0.4, None, 7.0, 1.0)):
        friction = 1.0 if material.friction is None else material.friction
        told = {} if material.friction is None else {"torsion": 0.1, "rolling": 0.2, "condim": 3}
        read = Material.from_user(np.array(material.to_user()), (friction, 0.1, 0.2), 3)
        assert read == replace(material, **told)


# -- builders -----------------------------------------------------------------------------------------------------


def test_chain():
    scene = ss.Scene()
    add_chain(scene, 5)
    model = scene.compile()
    assert (model.nlink, model.nv) == (6, 6 + 4 * 3)
    assert sum(s.kind == "point" for s in model.shapes) == 6
    np.testing.assert_allclose(model.inertia.mass[1:], 1.0)
    assert ss.Dynamics(model).center_of_mass(model.state().q)[0] == pytest.approx(2.5)
    assert ss.Dynamics(model).frame_pose(model.state().q, "link4_end")[0] == pytest.approx([5, 0, 1])


def test_cylinder_on_points():
    scene = ss.Scene()
    add_cylinder_on_points(scene, 12)
    model = scene.compile()
    points = [s.pos for s in model.shapes if s.kind == "point"]
    np.testing.assert_allclose(np.linalg.norm(np.array(points)[:, :2], axis=1), 0.5)
    np.testing.assert_allclose(model.inertia.inertia[1, :3], [(3 * 0.25 + 0.01) / 12, (3 * 0.25 + 0.01) / 12, 0.125])


def test_hopper():
    scene = ss.Scene()
    add_hopper(scene)
    model = scene.compile()
    assert (model.nv, model.nu) == (7, 1)
    np.testing.assert_allclose(model.inertia.mass[1:], [1.0, 0.2])
    assert ss.Dynamics(model).frame_pose(model.state().q, "hopper_foot")[0][2] == pytest.approx(0.0, abs=1e-12)


def _hinged(scene: ss.Scene) -> ss.Scene:
    scene.add_body("h", joint="hinge").add_sphere(0.1)
    return scene


# -- bad input ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s: s.add_box((1, -1, 1)), "size: expected positive lengths"),
        (lambda s: s.add_box((1, 1)), "size: expected 3 finite numbers"),
        (lambda s: s.add_sphere(0.1, mass=-1), "mass: expected a number ≥ 0, got -1"),
        (lambda s: s.add_sphere(0.1, mass=1, density=1), "expected one of the two"),
        (lambda s: s.add_sphere(0.1, friction=-0.1), "friction: expected a finite number ≥ 0"),
        (lambda s: s.add_sphere(0.1, stiffness=-1.0), "stiffness: expected a finite number ≥ 0"),
        (lambda s: s.add_sphere(0.1, stiffness=0.0, damping=0.0), "stiffness and damping: expected at least one"),
        (lambda s: s.add_sphere(0.1, stiffness=0.0, preload=1.0), "preload: expected 0 where the stiffness is 0"),
        (lambda s: s.add_sphere(0.1, restitution=1.5), "restitution: expected a number from 0 to 1"),
        (lambda s: s.add_body(joint="screw"), "unknown joint type 'screw'"),
        (lambda s: s.add_body(joint="hinge", axis=(0, 0, 0)), "axis: expected a direction"),
        (lambda s: s.add_body(joint="hinge", range=(1, -1)), "expected lower < upper"),
        (lambda s: s.add_body(joint="ball", motor=True), "motor: expected a hinge or slide joint"),
        (lambda s: s.add_plane(normal=(0, 0, 0)), "normal: expected a direction"),
        (lambda s: s.add_robot("solo13"), "unknown robot 'solo13': did you mean 'solo12'"),
        (lambda s: s.add_mesh([[0, 0, 0]]), "vertices: expected an array of at least 4 points"),
        (lambda s: s.add_body("x").set_inertia(0.0, inertia=(1, 1, 1)), "mass of body 'x': expected a number > 0"),
        (lambda s: (s.add_body("x"), s.add_body("x")), "body name 'x' is taken"),
        (lambda s: add_chain(s, 0), "links: expected a whole number ≥ 1"),
        (lambda s: s.add_sphere("0.1"), "radius: expected positive lengths"),
        (lambda s: s.add_sphere(None), "radius: expected positive lengths"),
        (lambda s: s.add_sphere(0.1, mass="1"), "mass: expected a number"),
        (lambda s: s.add_plane(friction="0.8"), "friction: expected a finite number"),
        (lambda s: s.add_box("abc"), "size: expected 3 finite numbers"),
        (lambda s: s.add_body("x", joint="hinge", max_force=3.0), "max_force: expected motor=True"),
        (lambda s: s.add_body("x", joint="hinge", motor="torque"), "unknown motor 'torque'"),
        (lambda s: s.add_body("x", joint="hinge", motor="position"), "kp: expected a gain for motor='position'"),
        (lambda s: s.add_body("x", joint="hinge", motor="velocity", kp=1.0, kv=1.0), "kp: expected a motor that has"),
        (lambda s: s.add_body("x", joint="hinge", motor="position", kp=-1.0), "kp: expected a number > 0"),
        (lambda s: s.add_body("x", joint="hinge", kv=1.0), "kv: expected motor=True or a servo"),
        (lambda s: s.add_tendon("t"), "tendon 't': expected either joints"),
        (
            lambda s: s.add_tendon("t", joints={"nobody": 1.0}),
            "unknown hinge or slide in joints of tendon 't' 'nobody'",
        ),
        (lambda s: s.add_tendon("t", path=["nowhere"]), "unknown frame in the path of tendon 't' 'nowhere'"),
        (
            lambda s: _hinged(s).add_tendon("t", joints={"h": 1.0}, stiffness=-1.0),
            "stiffness of tendon 't': expected a number ≥ 0",
        ),
        (lambda s: s.add_body("x", joint="free", range=(0, 1)), "range: expected a joint that is not free"),
        (lambda s: s.add_body("x", parent="world"), "parent: expected a body of this scene"),
        (lambda s: s.add_body("x").set_inertia(1.0, inertia=(1, 2)), "inertia of body 'x': expected 3 or 6 numbers"),
        (lambda s: s.add_body("x").add_frame("f").add_frame("f"), "add_frame: .*repeated name 'f'"),
        (lambda s: s.add_robot(None), "unknown robot 'None'"),
        (lambda s: ss.Scene(gravity=(0, np.nan, 0)), "gravity: expected 3 finite numbers"),
    ],
)
def test_bad_input_names_the_culprit(build, message):
    with pytest.raises(ss.InputError, match=message) as error:
        build(ss.Scene())
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("name", "usual"), [("revolute", "hinge"), ("prismatic", "slide"), ("spherical", "ball")])
def test_names_of_joints_in_robotics(name, usual):
    models = []
    for kind in (name, usual):
        scene = ss.Scene()
        more = {} if usual == "ball" else {"axis": (0, 1, 0), "range": (-1.0, 1.0), "motor": True}
        arm = scene.add_body("arm", joint=kind, **more).add_box((0.1, 0.1, 0.1), mass=1.0)
        arm.add_body("hand", pos=(0, 0, 1)).add_joint(kind, name="wrist").add_box((0.1, 0.1, 0.1), mass=1.0)
        models.append(scene.compile())
    assert models[0].joint_names == models[1].joint_names
    assert models[0].actuator_names == models[1].actuator_names
    np.testing.assert_array_equal(models[0].tree.joint_type, models[1].tree.joint_type)


def test_a_refused_shape_leaves_nothing_behind():
    scene = ss.Scene()
    with pytest.raises(ss.InputError, match="unknown option of add_box 'frictoin': did you mean 'friction'"):
        scene.add_box((1, 1, 1), name="box", frictoin=1.0)
    with pytest.raises(ss.InputError, match="unknown joint type"):
        scene.add_body("box", joint="bal")
    with pytest.raises(ss.InputError):
        scene.add_box((1, 1, 1), name="box", mass=-1.0)
    scene.add_box((1, 1, 1), name="box")
    assert scene.compile().nlink == 2


def test_home_of_the_wrong_size():
    scene = ss.Scene()
    scene.add_box((1, 1, 1), name="box")
    for value in ([0, 0], np.zeros(9), [0, 0, np.nan, 1, 0, 0, 0]):
        with pytest.raises(ss.InputError, match="home of joint 'box': expected 7 finite numbers"):
            scene.set_home("box", value)


def test_a_shape_without_friction_takes_the_other_surfaces(tmp_path):
    """URDF says nothing of friction, and the bundled robots leave it to the floor."""
    urdf = tmp_path / "ball.urdf"
    urdf.write_text(
        "<robot name='ball'><link name='ball'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' "
        "ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='0.1'/></geometry></collision></link></robot>"
    )
    scene = ss.Scene()
    scene.add_plane(friction=0.6)
    scene.load(urdf, floating_base=True)
    with pytest.raises(ss.InputError, match=r"the name 'root' is taken \(joints\)"):
        scene.add_robot("a1")
    scene.add_robot("a1", pos=(1, 0, 0.5), name="a1")
    frictions = [combine(a.material, b.material).friction for a, b in touching(scene.compile()) if a.kind == "plane"]
    assert set(frictions) == {0.6}


def test_mesh_file_that_is_missing():
    with pytest.raises(ss.ModelError, match="does not exist"):
        ss.Scene().add_mesh("nowhere.stl")


def test_body_without_mass_does_not_compile():
    scene = ss.Scene()
    scene.add_body("empty")
    with pytest.raises(ss.ModelError, match="empty"):
        scene.compile()


def test_pos_places_one_base_only(tmp_path):
    path = tmp_path / "two.xml"
    body = "<body name='{0}'><freejoint name='{0}'/><geom size='0.1'/></body>"
    path.write_text(f"<mujoco><worldbody>{body.format('a')}{body.format('b')}</worldbody></mujoco>")
    with pytest.raises(ss.InputError, match="one base to place, found 'a', 'b'"):
        ss.Scene().load(path, pos=(0, 0, 1))


def test_a_material_can_be_shared():
    rubber = ss.Material(friction=1.2, stiffness=1e4, damping=50.0)
    scene = ss.Scene()
    scene.add_sphere(0.1, material=rubber)
    scene.add_sphere(0.1, material=rubber, friction=0.5, pos=(1, 0, 0))
    materials = [shape.material for shape in scene.compile().shapes]
    assert materials == [replace(rubber, condim=3), ss.Material(0.5, 1e4, 50.0, condim=3)]


def test_unknown_names_suggest_the_nearest():
    model = everything().compile()
    with pytest.raises(ss.InputError, match="did you mean 'tip'"):
        model.frame("tipp")
    with pytest.raises(ss.InputError, match="unknown joint"):
        model.joint("elbow")


def test_keyframes_of_a_file_are_kept(tmp_path):
    path = tmp_path / "arm.xml"
    path.write_text(
        "<mujoco><worldbody><body name='a'><joint name='j'/><geom size='0.1'/></body></worldbody>"
        "<keyframe><key name='home' qpos='0.5'/><key name='up' qpos='1.5'/></keyframe></mujoco>"
    )
    scene = ss.Scene()
    scene.add_sphere(0.1, name="ball", pos=(0, 0, 1))
    scene.load(path)
    model = scene.compile()
    np.testing.assert_allclose(model.keyframes["up"].q, [0, 0, 1, 1, 0, 0, 0, 1.5])
    np.testing.assert_allclose(model.state().q[-1], 0.5)
    np.testing.assert_allclose(ss.Scene.from_xml(scene.to_xml()).compile().keyframes["up"].q, model.keyframes["up"].q)


KEYS = """<mujoco>
  <worldbody>
    <body name="ghost" mocap="true" pos="0 0 3"/>
    <body name="base" pos="0 0 1"><freejoint name="root"/><geom size="0.1"/>
      <body name="arm"><joint name="j" axis="0 1 0"/><geom size="0.1" pos="0.3 0 0"/></body></body>
  </worldbody>
  <actuator><position name="servo" joint="j" kp="5"/></actuator>
  <keyframe>
    <key name="home" qpos="0 0 2 1 0 0 0 0.5" qvel="1 2 3 4 5 6 7" ctrl="0.5"/>
    <key name="up" qpos="0 0 3 1 0 0 0 1.5" ctrl="-1" mpos="1 2 3" mquat="0 1 0 0"/>
  </keyframe>
</mujoco>"""


def test_a_simulation_is_reset_to_any_keyframe_with_velocities_and_controls(tmp_path):
    (tmp_path / "keys.xml").write_text(KEYS)
    scene = ss.Scene()
    robot = scene.load(tmp_path / "keys.xml", name="r")
    assert [note for note in robot.notes if "keyframe" in note] == []
    scene.add_keyframe("away", joints={"r/j": 0.2}, velocities={"r/j": -1.0}, controls={"r/servo": 0.3})
    sim = ss.Simulation(scene)
    np.testing.assert_array_equal(sim.state.v, np.arange(1, 8))
    for _ in range(2):
        assert sim.control == 0.5
        assert sim.state.q[7] == 0.5
        sim.step(3)
        sim.reset("r/up")
        np.testing.assert_array_equal(sim.state.q, [0, 0, 3, 1, 0, 0, 0, 1.5])
        assert not sim.state.v.any()
        assert sim.control == -1.0
        assert sim.time == 0.0
        np.testing.assert_array_equal(sim.outside.poses, [[1, 2, 3, 0, 1, 0, 0]])
        sim.reset("away")
        np.testing.assert_array_equal(sim.state.q, [0, 0, 2, 1, 0, 0, 0, 0.2])
        assert sim.state.v[6] == -1.0
        assert sim.control == 0.3
        sim.reset()
    with pytest.raises(ss.InputError, match="unknown keyframe 'r/upp': did you mean 'r/up'"):
        sim.reset("r/upp")
    again = ss.Scene.from_xml(scene.to_xml()).compile()
    for name, key in scene.compile().keyframes.items():
        for part, other in zip(key, again.keyframes[name], strict=True):
            np.testing.assert_array_equal(part, other)
    for wrong, message in (
        ({"joints": {"r/k": 0.0}}, "unknown joint in joints 'r/k'"),
        ({"joints": {"r/j": (0.0, 1.0)}}, r"joints\['r/j'\]"),
        ({"velocities": {"r/root": 0.0}}, r"velocities\['r/root'\]"),
        ({"controls": {"r/j": 0.0}}, "unknown actuator in controls 'r/j'"),
        ({"controls": {"r/servo": np.nan}}, r"controls\['r/servo'\]"),
    ):
        with pytest.raises(ss.InputError, match=message):
            scene.add_keyframe("bad", **wrong)


def test_keyframes_keep_mocap_poses():
    mj = mujoco.MjModel.from_xml_string(KEYS)
    keys = {name: named.arrays(mj) for name, named in read_keyframes(mj).items()}
    np.testing.assert_array_equal(keys["up"].mocap, [[1, 2, 3, 0, 1, 0, 0]])
    np.testing.assert_array_equal(keys["home"].mocap, [[0, 0, 3, 1, 0, 0, 0]])


def test_servos_and_tendons_from_python():
    """A position servo at a joint, a velocity servo, and a cable with a spring and a motor; they survive saving."""
    scene = ss.Scene()
    arm = scene.add_body("arm", joint="hinge", axis=(0, 1, 0), motor="position", kp=20.0, kv=1.0, max_force=5.0)
    arm.add_box((0.1, 0.1, 0.5), pos=(0, 0, -0.25), mass=1.0)
    arm.add_frame("hook", pos=(0, 0, -0.4))
    hand = arm.add_body("hand", joint="slide", axis=(0, 0, 1), pos=(0, 0, -0.5), motor="velocity", kv=3.0)
    hand.add_sphere(0.05, mass=0.1)
    scene.world.add_frame("wall", pos=(0.3, 0, 0))
    scene.add_tendon(
        "cable", path=["wall", "hook"], stiffness=50.0, damping=2.0, rest=0.4, range=(0.1, 0.6), motor=True
    )
    scene.add_tendon("sum", joints={"arm": 1.0, "hand": -2.0}, motor="position", kp=4.0)
    for model in (scene.compile(), ss.Scene.from_xml(scene.to_xml()).compile()):
        dyn, q, v = ss.Dynamics(model), np.array([0.2, 0.03]), np.array([0.5, -1.0])
        lengths, arms = dyn.tendon_lengths(q)
        hook = 0.4 * np.array([-np.sin(0.2), 0.0, -np.cos(0.2)])
        np.testing.assert_allclose(lengths, [np.linalg.norm(hook - [0.3, 0, 0]), 0.14], rtol=1e-12)
        force, _ = dyn.actuator_forces(q, v, [1.0, 2.0, -7.0, 0.5])
        np.testing.assert_allclose(force, [5.0, 3.0 * (2.0 + 1.0), -7.0, 4.0 * (0.5 - 0.14)])
        tension = -50.0 * (lengths[0] - 0.4) - 2.0 * (arms[0] @ v)
        np.testing.assert_allclose(dyn.tendon_forces(q, v), [tension, 0.0])
