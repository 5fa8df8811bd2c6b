"""The viewer in headless Chromium: elements are found, buttons are pressed, the picture changes."""

import http.client
import http.server
import socket
import sys
import threading
import time
from contextlib import contextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest
import viser
from browsing import PATIENCE, SMALL, box_scene, opened, picture, until, visiting

from stickslip.cli import main
from stickslip.viewer.guard import is_own_name
from stickslip.viewer.replay import Replay
from stickslip.viewer.share import html


def button(page, name):
    return page.get_by_role("button", name=name, exact=True)


def tab(page, name):
    page.get_by_role("tab", name=name).click()


def only_here(addresses):
    """Whether nothing was asked of other machines."""
    return all(url.startswith(("blob:", "data:")) or urlsplit(url).hostname == "127.0.0.1" for url in addresses)


@pytest.fixture(scope="module")
def watched(chromium):
    """A simulation and a page that shows it, for several tests: a page takes seconds to load."""
    with opened(box_scene(), method="coulomb", dt=1e-3) as viewer, visiting(chromium, viewer) as page:
        yield viewer, page


def test_elements_are_there(watched):
    _, page = watched
    for name in ("Method", "Show", "Plots", "Push", "Share"):
        assert page.get_by_role("tab", name=name).count() == 1
    for text in ("Time [s]", "Speed", "Friction μ", "log₁₀ stiffness", "Time step [s]", "falling"):
        assert page.get_by_text(text).count() >= 1, text


def test_play_pause_step_and_another_method(watched):
    viewer, page = watched
    before = picture(page)
    button(page, "Step").click()
    assert until(lambda: viewer.live.sim.steps == 1)
    button(page, "Play").click()
    assert until(lambda: viewer.live.time > 0.4)
    button(page, "Pause").click()
    assert until(lambda: not viewer.playing)
    button(page, "Play").wait_for()
    assert until(lambda: picture(page) != before)
    page.get_by_role("combobox", name="Method").click()
    page.get_by_role("option", name="stewart-trinkle/lemke", exact=True).click()
    assert until(lambda: viewer.live.sim.method == "stewart-trinkle")
    page.get_by_text("stewart-trinkle/lemke ·").wait_for()
    assert not viewer.trouble


def test_plots_and_a_push(watched):
    viewer, page = watched
    tab(page, "Plots")
    assert until(lambda: page.locator(".uplot canvas").count() == 2)
    tab(page, "Push")
    viewer.panel.push_force.value = 40.0  # more than friction holds
    button(page, "Push").click()
    assert until(lambda: viewer.live.sim.state.q[0] > 1e-4)
    viewer.post(viewer.restart)
    assert until(lambda: viewer.live.time == 0.0)
    assert not viewer.trouble


def test_two_browsers_and_one_that_leaves_in_mid_run(chromium, watched):
    viewer, stays = watched
    with visiting(chromium, viewer) as leaves:
        assert until(lambda: len(viewer.server.get_clients()) == 2)
        button(leaves, "Play").click()
        button(stays, "Pause").wait_for()  # what one does, the other sees
        assert until(lambda: viewer.live.time > 0.1)
    assert until(lambda: len(viewer.server.get_clients()) == 1)
    then = viewer.live.time
    assert until(lambda: viewer.live.time > then + 0.2)  # it goes on
    button(stays, "Pause").click()
    assert until(lambda: not viewer.playing)
    assert not viewer.trouble


def test_the_mouse_picks_and_pulls(watched):
    viewer, page = watched
    viewer.post(viewer.restart)
    assert until(lambda: viewer.live.time == 0.0)
    camera = next(iter(viewer.server.get_clients().values())).camera
    x, y = on_screen(camera, viewer.live.sim.state.q[:3])
    picked = []
    select = viewer.interaction.select
    viewer.interaction.select = lambda link: (picked.append(link), select(link))

    def click():
        page.mouse.click(x, y)
        return until(lambda: picked, 3.0)

    assert until(click)
    assert picked[0] == 1
    page.keyboard.down("Shift")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 40, y, steps=4)
    page.mouse.move(x - 80, y, steps=4)
    moved = until(lambda: np.linalg.norm(viewer.live.sim.state.q[:2]) > 0.01)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert moved
    assert until(lambda: not viewer.live.pushes.active)
    viewer.post(viewer.restart)
    assert until(lambda: not viewer.playing)
    assert not viewer.trouble


def test_nothing_came_from_other_machines(watched):
    """After all that the page has done above."""
    _, page = watched
    assert only_here(page.asked)
    assert not page.problems


def on_screen(camera, point):
    """Pixels of a point [m]; viser's cameras look along z, with y down."""
    w, v = camera.wxyz[0], -camera.wxyz[1:]
    local = point - camera.position
    twice = 2.0 * np.cross(v, local)
    x, y, z = local + w * twice + np.cross(v, twice)
    focus = 0.5 * SMALL["height"] / np.tan(0.5 * camera.fov)
    return 0.5 * SMALL["width"] + focus * x / z, 0.5 * SMALL["height"] + focus * y / z


def test_ghosts(chromium, recordings):
    with opened(recordings) as viewer, visiting(chromium, viewer) as page:
        assert [run.label for run in viewer.runs] == [
            "semi-implicit-euler/spring-damper",
            "stewart-trinkle/lemke",
        ]
        assert len({run.colour for run in viewer.runs}) == 2
        assert page.get_by_role("tab", name="Push").count() == 0  # the past cannot be pushed
        viewer.post(viewer.scrub, 0.5)
        assert until(lambda: viewer.cursor == 0.5)
        assert page.get_by_text("t = 0.500 s of 0.600 s").count() or page.get_by_text("t = 0.500 s").first
        time.sleep(1.0)
        both = picture(page)
        page.get_by_role("checkbox", name="semi-implicit-euler/spring-damper").click()
        assert until(lambda: not viewer.panel.ghosts[0].value)
        assert until(lambda: picture(page) != both)
        button(page, "Play").click()
        assert until(lambda: viewer.cursor >= 0.6 and not viewer.playing)
        assert not page.problems


def test_a_shared_page_plays_without_a_network(chromium, recordings, tmp_path):
    page_file = tmp_path / "shared.html"
    page_file.write_text(html([Replay.open(recordings[0])], shadows=False), encoding="utf-8")
    assert page_file.stat().st_size < 3_000_000
    context = chromium.new_context(viewport=SMALL, offline=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    asked, problems = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: problems.append(str(error)))
    try:
        page.goto(page_file.as_uri())
        clock = page.locator("input").first
        clock.wait_for()
        played = clock.input_value()
        assert until(lambda: clock.input_value() != played)  # it plays by itself
        page.keyboard.press("Space")
        clock.fill("0.1")
        first = picture(page)
        clock.fill("0.5")
        assert until(lambda: picture(page) != first)
        assert all(url.startswith(("file:", "blob:", "data:")) for url in asked)
        assert not problems
    finally:
        context.close()


def test_ghosts_and_a_simulation_can_be_shared(recordings, tmp_path, monkeypatch):
    monkeypatch.setattr(
        sys, "argv", ["stickslip", "view", *map(str, recordings), "--share", str(tmp_path / "both.html")]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert b"__VISER_EMBED_DATA__" in (tmp_path / "both.html").read_bytes()
    with opened(box_scene(), method="coulomb", dt=1e-3) as viewer:
        viewer.post(viewer.toggle)
        assert until(lambda: viewer.live.time > 0.1)
        client = Client()
        viewer.post(viewer.share, client)
        assert until(lambda: client.files)  # the simulation goes on meanwhile
        assert b"__VISER_EMBED_DATA__" in client.files["falling.html"]
        assert until(lambda: "the page is ready" in viewer.panel.message.content)
        assert viewer.playing


class Client:
    """Takes downloads, as a browser does."""

    def __init__(self):
        self.files = {}

    def send_file_download(self, name, content):
        self.files[name] = content


def test_sharing_does_not_stop_the_viewer(monkeypatch):
    """However long the page takes to be made, the simulation goes on, and its progress is said."""
    go_on = threading.Event()

    def slow(replays, *, progress, **_):
        progress(0.25)
        assert go_on.wait(30.0)
        return "page"

    monkeypatch.setattr("stickslip.viewer.app.html", slow)
    with opened(box_scene(), method="coulomb", dt=1e-3) as viewer:
        viewer.post(viewer.toggle)
        client = Client()
        viewer.post(viewer.share, client)
        assert until(lambda: "sharing: 25 %" in viewer.panel.message.content)
        then = viewer.live.time
        assert until(lambda: viewer.live.time > then + 0.1)
        go_on.set()
        assert until(lambda: client.files == {"falling.html": b"page"})


def test_recordings_and_simulations_begin_to_play(chromium, recordings):
    with opened(box_scene(), method="coulomb", dt=1e-3, paused=False) as viewer:
        assert not viewer.playing  # nobody watches yet
        with visiting(chromium, viewer):
            assert until(lambda: viewer.live.time > 0.1)
            viewer.post(viewer.toggle)
            with visiting(chromium, viewer):  # a second browser does not start it again
                assert until(lambda: len(viewer.server.get_clients()) == 2)
                assert until(lambda: not viewer.playing)
    with opened(recordings[0], paused=False) as viewer, visiting(chromium, viewer):
        assert until(lambda: viewer.cursor >= 0.6 and not viewer.playing)


def test_foreign_pages_are_refused(chromium, watched):
    """A page of another site cannot open the viewer's WebSocket, and a raw handshake with a foreign name fails."""
    viewer, own = watched
    port = viewer.server.get_port()
    tries = f"url => new Promise(done => {{ const s = new WebSocket(url, ['viser-v{viser.__version__}']);"
    tries += " s.onopen = () => done('open'); s.onerror = () => done('refused'); })"
    assert own.evaluate(tries, f"ws://127.0.0.1:{port}") == "open"
    with other_site() as address:
        page = chromium.new_page()
        page.goto(address)
        assert page.evaluate(tries, f"ws://127.0.0.1:{port}") == "refused"
        assert page.evaluate(tries, f"ws://localhost:{port}") == "refused"
        page.close()
    here, upgrade = f"127.0.0.1:{port}", {"Upgrade": "websocket", "Connection": "Upgrade"}
    upgrade |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    for extra, good in ((upgrade, 101), ({}, 200)):
        for headers, status in (
            ({"Host": here}, good),
            ({"Host": here, "Origin": f"http://{here}"}, good),
            ({"Host": f"localhost:{port}", "Origin": f"http://localhost:{port}"}, good),
            ({"Host": f"rebound.example:{port}"}, 403),
            ({"Host": f"rebound.example:{port}", "Origin": f"http://rebound.example:{port}"}, 403),
            ({"Host": here, "Origin": "http://foreign.example"}, 403),
            ({"Host": here, "Origin": f"http://127.0.0.1:{port + 1}"}, 403),
            ({"Host": here, "Origin": "null"}, 403),
        ):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("GET", "/", headers={**extra, **headers})
            assert connection.getresponse().status == status, (extra, headers)
            connection.close()


@pytest.mark.parametrize(
    ("name", "host", "own"),
    [
        ("localhost", "127.0.0.1", True), ("::1", "127.0.0.1", True), ("127.0.0.2", "127.0.0.1", True),
        ("192.0.2.7", "127.0.0.1", False), ("192.0.2.7", "192.0.2.7", True), ("192.0.2.7", "0.0.0.0", True),
        ("lab.example", "lab.example", True), ("foreign.example", "0.0.0.0", False), ("", "0.0.0.0", False),
        (socket.gethostname(), "0.0.0.0", True), ("localhost.foreign.example", "127.0.0.1", False),
    ],
)  # fmt: skip
def test_names_of_this_machine(name, host, own):
    assert is_own_name(name, host) is own


@contextmanager
def other_site():
    """A page on another port, which is another origin."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<html></html>")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
