"""What the viewer does when people press buttons, without a browser."""

import contextlib
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np
import pytest
import trimesh
from browsing import box_scene, free_port, opened, until

import stickslip as ss
from stickslip.cli import main
from stickslip.errors import InputError, RecordingError
from stickslip.viewer.open import make_viewer
from stickslip.viewer.plots import Track
from stickslip.viewer.replay import Replay
from stickslip.viewer.watched import Settings

MADE_UP = Path(__file__).parents[1] / "helpers" / "made_up_run.py"


def do(viewer, action, *arguments):
    """Post, and wait until it is done."""
    done = []
    viewer.post(lambda: (action(*arguments), done.append(True)))
    assert until(lambda: done or viewer.trouble)


def test_replay_shows_the_recording(recordings):
    log = ss.load(recordings[0])
    replay = Replay(log)
    for k in (0, 17, len(log) - 1):
        moment = replay.moment(float(log.time[k]))
        assert np.allclose(moment.pose, log.pose[k], atol=1e-9)
        assert np.array_equal(moment.contacts.force, log.contacts(k).force)
        assert moment.energy[0] == log.energy[k, 0]
    halfway = replay.moment(0.5 * float(log.time[10] + log.time[11]))
    assert halfway.pose[1, 2] == pytest.approx(0.5 * (log.pose[10, 1, 2] + log.pose[11, 1, 2]))
    assert replay.moment(-1.0).time == 0.0
    assert replay.moment(99.0).time == pytest.approx(0.6)
    assert replay.typical_force() == pytest.approx(9.81, rel=0.2)


def test_curves_are_those_of_the_log(recordings):
    log = ss.load(recordings[0])
    track, replay = Track(), Replay(log)
    while track.extend(replay):
        pass
    values = track.sample(log.time)
    assert np.allclose(values[:, 4], log.contact_force())
    assert np.allclose(values[:, :3], log.energy)
    assert np.array_equal(track.sample(np.array([99.0]))[0], values[-1])


def test_a_recording_is_not_read_whole(recordings):
    """Only times and the starts of contacts are kept; poses and contacts are read as they are shown."""
    with opened(recordings[0]) as viewer:
        for moment in (0.1, 0.5, 0.3):
            do(viewer, viewer.scrub, moment)
        assert until(lambda: viewer.runs[0].track.size == len(viewer.replays[0].log))
        assert set(viewer.replays[0].log._cache) <= {"time", "contact/start"}


def test_playing_pausing_stepping_scrubbing_a_recording(recordings):
    with opened(recordings[0]) as viewer:
        do(viewer, viewer.set_speed, 0.25)
        do(viewer, viewer.toggle)
        assert until(lambda: viewer.cursor > 0.05)
        do(viewer, viewer.toggle)
        paused = viewer.cursor
        time.sleep(0.2)
        assert viewer.cursor == paused < 0.6
        do(viewer, viewer.scrub, 0.3)
        do(viewer, viewer.step)
        assert viewer.cursor == pytest.approx(0.31)
        do(viewer, viewer.scrub, 99.0)
        assert viewer.cursor == pytest.approx(0.6)
        do(viewer, viewer.toggle)  # at the end: from the beginning
        assert until(lambda: viewer.cursor >= 0.6 and not viewer.playing)
        do(viewer, viewer.restart)
        assert viewer.cursor == 0.0
        assert not viewer.trouble


def test_a_simulation_looks_back_and_goes_on():
    with opened(box_scene(), method="coulomb", dt=1e-3) as viewer:
        do(viewer, viewer.toggle)
        assert until(lambda: viewer.live.time > 0.3)
        do(viewer, viewer.scrub, 0.1)
        assert not viewer.playing
        assert viewer.looks_back
        assert viewer.cursor == pytest.approx(0.1)
        do(viewer, viewer.go_back)
        assert viewer.live.time == pytest.approx(0.1, abs=0.04)
        do(viewer, viewer.step)
        assert viewer.live.sim.dt == 1e-3
        do(viewer, viewer.restart)
        assert viewer.live.time == 0.0
        assert not viewer.trouble


def test_the_view_follows_a_body(recordings):
    with opened(recordings[0], follow="crate") as viewer:
        log = viewer.replays[0].log
        do(viewer, viewer.scrub, 0.3)
        fallen = log.pose[0, 1, :3] - log.pose[30, 1, :3]
        assert fallen[2] > 0.2
        assert until(lambda: np.allclose(viewer.following.offset, fallen, atol=1e-6))  # the scene comes up with it
        do(viewer, viewer.follow, None)
        assert until(lambda: not viewer.following.offset.any())
        assert viewer.panel.follow.value == "crate"
    with pytest.raises(InputError, match="unknown body 'tail'"):
        make_viewer(recordings[0], follow="tail", port=free_port())


def test_meshes_are_drawn_as_they_look():
    """A ring keeps its hole; its hull, by which it touches, is among the collision shapes."""
    ring = trimesh.creation.torus(0.3, 0.1)
    scene = ss.Scene.from_xml("""<mujoco><asset><material name="red" rgba="0.8 0.1 0.1 1"/></asset><worldbody>
      <body name="foot"><freejoint/>
      <geom type="box" size=".1 .1 .1" material="red" group="2" contype="0" conaffinity="0"/>
      <geom type="sphere" size=".1" group="3"/></body></worldbody></mujoco>""")
    scene.add_mesh(ring.vertices, faces=ring.faces, convex="hull", pos=(0, 0, 1), mass=1.0, name="ring")
    log = ss.Simulation(scene, "coulomb", 1e-3).run(0.0)
    with opened(log) as viewer:
        parts = {(part.hidden, part.node.faces.shape[0]) for part in viewer.runs[0].bodies._parts}
        assert (False, len(ring.faces)) in parts
        assert sum(hidden for hidden, _ in parts) == 2  # the hull, and the sphere of group 3
        shown = [part for part in viewer.runs[0].bodies._parts if part.node.visible]
        assert sum(len(part.link) for part in shown) == 2
        assert len(viewer.runs[0].bodies._parts) == 4
        viewer.panel.collision.value = True
        do(viewer, viewer.show_options)
        assert all(part.node.visible for part in viewer.runs[0].bodies._parts)
    assert [shape["hidden"] for shape in log.header.shapes] == [False, True, False]
    assert log.header.shapes[0]["rgba"] == pytest.approx([0.8, 0.1, 0.1, 1.0])


def test_errors_are_said_and_the_viewer_lives():
    with opened(box_scene(), method="semi-implicit-euler", dt=1e-3) as viewer:
        viewer.panel.method.value = "stewart-trinkle/lemke"
        viewer.post(viewer.want, viewer.panel.wanted())
        assert until(lambda: viewer.live.sim.method == "stewart-trinkle")
        viewer.post(viewer.want, Settings("no-such-method"))
        assert until(lambda: viewer.trouble)
        assert "no-such-method" in viewer.trouble[0]
        assert viewer.live.sim.method == "stewart-trinkle"
        assert until(lambda: "no-such-method" in viewer.panel.message.content)
        viewer.live.pushes.add(1, np.array([1e15, 0, 0]), 9.0, viewer.live.moment().pose, None)
        do(viewer, viewer.toggle)
        assert until(lambda: any("beyond" in words for words in viewer.trouble))
        assert not viewer.playing
        do(viewer, viewer.restart)
        do(viewer, viewer.toggle)
        assert until(lambda: viewer.live.time > 0.05)


def test_a_recording_that_is_being_written_is_followed(tmp_path):
    path = tmp_path / "running.h5"
    writer = subprocess.Popen([sys.executable, str(MADE_UP), str(path), "10"], stdout=subprocess.PIPE, text=True)
    try:
        assert writer.stdout.readline()
        with opened(path) as viewer:
            first = viewer.end
            assert until(lambda: viewer.end > first)
            assert until(lambda: "running" in viewer.panel.message.content)
            do(viewer, viewer.to_end)
            writer.kill()
            writer.wait()
            assert until(lambda: "cut short" in viewer.panel.message.content)
            assert not viewer.trouble
    finally:
        writer.kill()
        writer.wait()


def test_a_truncated_file_is_one_sentence(recordings, tmp_path, monkeypatch, capsys):
    data = recordings[0].read_bytes()
    broken = tmp_path / "broken.h5"
    for size in (0, 100, len(data) // 2):
        broken.write_bytes(data[:size])
        command = ["stickslip", "view", str(broken), "--no-browser", "--port", str(free_port())]
        monkeypatch.setattr(sys, "argv", command)
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr().err
        assert ended.value.code == 2
        assert said.startswith("error: cannot read")
        assert len(said.splitlines()) == 1


def test_a_file_that_breaks_while_it_is_watched(recordings, tmp_path):
    path = tmp_path / "breaks.h5"
    path.write_bytes(recordings[0].read_bytes())
    with opened(path) as viewer:
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size // 3)
        for moment in (0.55, 0.3, 0.1):
            viewer.post(viewer.scrub, moment)
            time.sleep(0.1)
        assert until(lambda: viewer.trouble or viewer.cursor == 0.1)
        assert viewer._thread.is_alive()
        assert all("cannot read" in words for words in viewer.trouble)


@pytest.mark.parametrize(
    ("what", "options", "said"),
    [
        ("no-such-scene", {}, "unknown scene"),
        (3, {}, "view: expected"),
        ([], {}, "view: expected"),
        (["a.h5", "solo12-drop"], {}, "several at once"),
        ("ball", {"host": "no.such.host.invalid"}, "host: expected"),
        ("ball", {"port": -1}, "port: expected"),
    ],
)
def test_wrong_subjects_are_refused(what, options, said):
    with pytest.raises(InputError, match=said):
        make_viewer(what, **{"port": free_port(), **options})


def test_recordings_have_their_own_method(recordings):
    with pytest.raises(InputError, match="method"):
        make_viewer(recordings[0], method="expo", port=free_port())
    with pytest.raises(RecordingError):
        make_viewer("no-such-file.h5", port=free_port())


def test_view_listens_on_this_machine_only():
    viewer = ss.view(box_scene(), port=free_port(), browser=False, block=False)
    try:
        assert viewer.url.startswith("http://127.0.0.1:")
        assert viewer.server.get_host() == "127.0.0.1"
    finally:
        viewer.close()


def test_messages_that_are_none_end_their_connection_only(capfd):
    """Anybody on this machine can send bytes; no traceback fills the terminal, and the viewer lives."""
    import viser
    from websockets.sync.client import connect

    viewer = ss.view(box_scene(), port=free_port(), browser=False, block=False)
    try:
        for message in (b"", b"\xc0", b"\x81\xa4type\xa3abc", b"\x91" * 1000, "text"):
            with connect(viewer.url.replace("http", "ws"), subprotocols=[f"viser-v{viser.__version__}"]) as client:
                client.send(message)
                with contextlib.suppress(Exception):  # the connection ends
                    for _ in range(20):
                        client.recv(timeout=0.2)
        for request in (b"\0" * 300, b"POST / HTTP/1.1\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", viewer.server.get_port())) as client:
                client.sendall(request)
        with urllib.request.urlopen(viewer.url) as page:
            assert page.status == 200
    finally:
        viewer.close()
    assert "Traceback" not in capfd.readouterr().err
