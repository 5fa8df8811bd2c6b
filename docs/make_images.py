"""Draw the pictures of the documentation: ``MUJOCO_GL=egl python docs/make_images.py`` (needs a headless OpenGL)."""

from pathlib import Path

import mujoco
import numpy as np
from PIL import Image

import stickslip as ss
from stickslip.record.overview import save_overview

IMAGES = Path(__file__).parent / "images"
VIEWS = {"solo12": (1.0, 0.12), "romeo": (3.0, 0.7), "a1": (1.3, 0.15)}  # camera distance, height looked at [m]
STRIPS = {"solo12-trot": (0.1, 0.96, 1.06, 1.16, 1.26, 1.36), "solo12-jump": (0.1, 0.7, 0.86, 1.05, 1.2, 1.4)}


def scene_with(robot: str) -> ss.Scene:
    scene = ss.Scene()
    scene.add_plane(rgba=(0.78, 0.82, 0.86, 1))
    scene.add_robot(robot)
    return lit(scene)


def lit(scene: ss.Scene) -> ss.Scene:
    scene.spec.worldbody.add_light(pos=(1, -1, 3), dir=(-0.3, 0.3, -1))
    scene.spec.visual.headlight.ambient = (0.45, 0.45, 0.45)
    scene.spec.add_texture(
        name="sky", type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_FLAT,
        rgb1=(1, 1, 1), rgb2=(1, 1, 1), width=64, height=384,
    )  # fmt: skip
    return scene


def photograph(
    model: ss.Model,
    q: np.ndarray,
    distance: float,
    height: float,
    size: int = 420,
    width: int = 420,
    x: float = 0.0,
    side: float = 130,
) -> np.ndarray:
    data = mujoco.MjData(model.mj)
    data.qpos[:] = q
    mujoco.mj_forward(model.mj, data)
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = (x, 0, height), distance, side, -15
    option = mujoco.MjvOption()
    option.geomgroup[3] = 0
    with mujoco.Renderer(model.mj, size, width) as renderer:
        renderer.update_scene(data, camera, option)
        return renderer.render()


def filmstrip(name: str, times: tuple[float, ...]) -> np.ndarray:
    """A bundled scene of Solo12 at some instants [s], side by side, seen from the side."""
    setup = ss.SCENES[name].build()
    log = ss.Simulation(setup.scene).run(
        max(times), controller=setup.controller, control_dt=setup.control_dt, record_dt=2e-3
    )
    model = scene_with("solo12").compile()
    frames = [log.q[np.argmin(np.abs(log.time - t))] for t in times]
    return np.concatenate([photograph(model, q, 0.95, 0.24, 220, 220, q[0], 100) for q in frames], axis=1)


def main() -> None:
    pictures = []
    for robot, view in VIEWS.items():
        model = scene_with(robot).compile()
        pictures.append(photograph(model, model.state().q, *view))
    Image.fromarray(np.concatenate(pictures, axis=1)).save(IMAGES / "robots.png", optimize=True)

    strips = [filmstrip(name, times) for name, times in STRIPS.items()]
    Image.fromarray(np.concatenate(strips)).save(IMAGES / "solo12-motions.png", optimize=True)

    setup = ss.SCENES["romeo-walk"].build()
    sim = ss.Simulation(setup.scene)
    log = sim.run(6.3, controller=setup.controller, control_dt=setup.control_dt)
    model = lit(setup.scene).compile()
    moments = [log.q[np.argmin(np.abs(log.time - t))] for t in (0.0, 1.4, 2.0, 2.8, 3.4, 6.3)]
    pictures = [photograph(model, q, 2.6, 0.6, width=240) for q in moments]
    Image.fromarray(np.concatenate(pictures, axis=1)).save(IMAGES / "romeo-walk.png", optimize=True)

    setup = ss.SCENES["solo12-drop"].build()
    sim = ss.Simulation(setup.scene)
    log = sim.run(1.0, controller=setup.controller, record_dt=2e-3)
    save_overview(log, IMAGES / "solo12-drop.png", title=f"solo12-drop, {sim.method}, dt = {sim.dt:g} s")


if __name__ == "__main__":
    main()
