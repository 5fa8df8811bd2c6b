"""Draw the pictures of the documentation.

``MUJOCO_GL=egl python docs/make_images.py`` draws those of robots and motions (it needs a headless OpenGL),
``… tutorials`` those of the tutorials by running their snippets, ``… gallery`` the films of the gallery by running its
commands, ``… environments`` the environments for learning, and ``… screens`` the viewer and a report in a browser (it
needs Playwright and Chromium).
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path

import matplotlib
import mujoco
import numpy as np
from PIL import Image, ImageDraw

import stickslip as ss
from stickslip.episodes import TASKS, Episodes
from stickslip.record.overview import save_overview
from stickslip.viewer.open import make_viewer

IMAGES = Path(__file__).parent / "images"
README = Path(__file__).parents[1] / "README.md"
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


@contextmanager
def workshop(target: Path) -> Iterator[None]:
    """Work in an empty folder; the pictures that are made there go to the target."""
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        yield
        for picture in sorted(path for path in Path().iterdir() if path.suffix in (".png", ".gif")):
            shutil.copy(picture, target / picture.name)
            print(target / picture.name, picture.stat().st_size, "bytes")


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def tutorials() -> None:
    """Run the snippets of every tutorial, and keep the pictures that they save."""
    matplotlib.use("Agg")
    for page in sorted((IMAGES.parent / "tutorials").glob("*.md")):
        with workshop(IMAGES / "tutorials"):
            exec("\n".join(blocks(page, "python")), {})


def gallery() -> None:
    """Run the commands of the gallery, and keep the films that they write."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    for commands in blocks(IMAGES.parent / "gallery.md", "console"):
        with workshop(IMAGES / "gallery"):
            for command in commands.splitlines():
                subprocess.run(shlex.split(command), check=True, env=os.environ | {"PATH": path})


BROWSER = ("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-background-networking")


def screenshot(address: str, name: str, wait: float = 15.0, tab: str = "") -> None:
    """Save what a browser shows at an address, with a tab of the panel open.

    It waits so many seconds, which a renderer without a graphics card needs.
    """
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=BROWSER)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.goto(address)
        page.wait_for_timeout(1e3 * wait)
        if tab:
            page.get_by_role("tab", name=tab).click()
            page.wait_for_timeout(1e3 * wait)
        page.add_style_tag(content="[class*=Notifications-root] { display: none }")  # of the missing graphics card
        page.screenshot(path=IMAGES / name, timeout=120_000)
        browser.close()


def show(name: str, what: ss.Log, time: float, cones: bool = False, tab: str = "") -> None:
    """Save how the viewer shows a log at a time [s]."""
    viewer = make_viewer(what, paused=True)
    viewer.panel.cones.value = cones
    viewer.scrub(time)
    screenshot(viewer.url, name, 30.0, tab)
    viewer.close()


def screens() -> None:
    """The viewer with the robot of the page "Start" and with Solo12, and a report."""
    matplotlib.use("Agg")
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        namespace: dict = {}
        exec("\n".join(blocks(IMAGES.parent / "start.md", "python")).replace("ss.view(log)", ""), namespace)
        show("start.png", namespace["log"], 1.0)
        show("viewer.png", ss.Simulation("solo12-drop").run(2.0), 0.62, cones=True, tab="Plots")
        (command,) = (text for text in blocks(README, "console") if text.startswith("stickslip compare"))
        subprocess.run([*shlex.split(command), "--out", "report"], check=True)
        screenshot(Path("report/report.html").resolve().as_uri(), "report.png", 3.0)


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


ACTED = {"PushBox": (1, 0), "PegInHole": (0, 0, -0.3), "ArmReach": (0.3, 0.5, 0, 0, 0, 0)}
"""Actions of the pictures of environments; zeros for the others."""


def environments() -> None:
    """A picture of each environment after 0.6 s."""
    shown = []
    for name, task in TASKS.items():
        episodes = Episodes(task(), 1)
        episodes.seed([2])
        episodes.begin()
        for _ in range(30):
            episodes.step(np.array([ACTED.get(name, 0.0 * episodes.actions[0])]))
        picture = Image.fromarray(episodes.picture(size=(480, 360)))
        ImageDraw.Draw(picture).text((12, 8), name, fill="#333", font_size=22)
        shown.append(np.asarray(picture))
    rows = [np.concatenate(shown[k : k + 3], axis=1) for k in (0, 3)]
    Image.fromarray(np.concatenate(rows)).save(IMAGES / "environments.png", optimize=True)


if __name__ == "__main__":
    drawn = {"": main, "environments": environments, "tutorials": tutorials, "gallery": gallery, "screens": screens}
    drawn["".join(sys.argv[1:])]()
