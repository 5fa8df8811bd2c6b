"""Viewers and pages of tests: opened, visited, and ended with the test."""

import socket
import time
from contextlib import contextmanager

import stickslip as ss
from stickslip.viewer.open import make_viewer

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--no-first-run",
)
SMALL = {"width": 640, "height": 360}
PICTURE = {"x": 0, "y": 140, "width": 310, "height": 220}
"""The part of the page that neither the panel nor a notice covers."""
PATIENCE = 60_000  # [ms] a software renderer on a busy machine


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def opened(what, **options):
    viewer = make_viewer(what, **{"port": free_port(), "shadows": False, "paused": True, **options})
    try:
        yield viewer
    finally:
        viewer.close()


@contextmanager
def visiting(chromium, viewer):
    """A page in a browser of its own, with its errors and the addresses that it asked for."""
    context = chromium.new_context(viewport=SMALL)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.problems, page.asked = [], []
    page.on("pageerror", lambda error: page.problems.append(str(error)))
    page.on("console", lambda line: page.problems.append(line.text) if is_problem(line) else None)
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(viewer.url)
    page.get_by_role("button", name="Play").or_(page.get_by_role("button", name="Pause")).first.wait_for()
    try:
        yield page
    finally:
        context.close()


def is_problem(line):
    """An error on the console, but for one of the client's own about scrolling."""
    return line.type == "error" and "preventDefault" not in line.text


def until(condition, seconds=40.0):
    """Wait for a condition; whether it came."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def picture(page):
    """The scene as PNG."""
    return page.screenshot(clip=PICTURE, timeout=PATIENCE)


ARM = """<mujoco model="arm"><compiler autolimits="true"/><worldbody>
<geom name="floor" type="plane" size="1 1 1"/><site name="back" pos="-0.06 0 0.7"/>
<body name="upper" pos="0 0 0.8"><joint name="shoulder" axis="0 1 0" damping="0.3"/>
  <geom type="capsule" size="0.03 0.14" pos="0 0 -0.2" mass="1"/><site name="imu" pos="0 -0.04 -0.2"/>
  <geom name="elbow" type="cylinder" size="0.05 0.03" pos="0 0 -0.4" euler="90 0 0" contype="0" conaffinity="0"/>
  <body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="0 1 0" damping="0.2"/>
    <geom type="ellipsoid" size="0.04 0.025 0.15" pos="0 0 -0.18" mass="0.6"/>
    <site name="hand" pos="-0.06 0 -0.2"/><site name="eye" pos="0 0 -0.33" euler="180 0 0"/></body></body></worldbody>
<tendon><spatial name="flexor" width="0.006" rgba="0.2 0.6 0.3 1">
  <site site="back"/><geom geom="elbow"/><site site="hand"/></spatial></tendon>
<actuator><motor name="pull" tendon="flexor" ctrlrange="-20 0"/>
  <motor name="jet" site="hand" gear="0 0 2 0 0 0" ctrlrange="0 3"/></actuator>
<sensor><gyro name="imu_gyro" site="imu"/><rangefinder name="range" site="eye"/></sensor>
<keyframe><key name="home" qpos="0.2 -0.5" ctrl="-10 3"/></keyframe></mujoco>"""


def arm_scene():
    """An arm with a tendon around its elbow, an ellipsoid, sensors and a thruster."""
    return ss.Scene.from_xml(ARM)


def box_scene():
    scene = ss.Scene(name="falling")
    scene.add_plane(friction=0.5)
    scene.add_box(size=(0.3, 0.3, 0.3), pos=(0, 0, 0.6), mass=1.0, name="crate")
    return scene
