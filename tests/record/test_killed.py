"""A recording outlives its process, and can be read while it is written."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import h5py
import made_up_run
import pytest
from made_up_run import check_log, record

from stickslip.errors import RecordingError
from stickslip.record import Recorder, load


class Writer:
    """A process that appends frames for ever; ``read()`` waits for its next report of flushed frames."""

    def __init__(self, path, capacity):
        command = [sys.executable, made_up_run.__file__, str(path), str(capacity)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def wait_for(self, frames):
        while (reported := int(self.process.stdout.readline())) < frames:
            pass
        return reported

    def kill(self):
        """SIGKILL; the number of frames that it last said were flushed."""
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL
        lines = self.process.stdout.read().split("\n")[:-1]  # an unfinished line is no report
        return int(lines[-1]) if lines else 0


@pytest.fixture
def start(tmp_path):
    started = []

    def start(capacity=50):
        started.append(Writer(tmp_path / "run.h5", capacity))
        return started[-1], tmp_path / "run.h5"

    yield start
    for writer in started:
        writer.process.kill()
        writer.process.wait()


@pytest.mark.parametrize("capacity", [1, 7, 512])
@pytest.mark.parametrize("delay", [0.0, 0.013, 0.1])
def test_sigkill_loses_nothing_that_was_flushed(start, model, capacity, delay):
    writer, path = start(capacity)
    reported = writer.wait_for(60)
    time.sleep(delay)  # so that the kill hits different places
    reported = max(reported, writer.kill())
    with load(path) as log:
        assert log.outcome == "killed"
        assert len(log) >= reported
        check_log(log, model, len(log))
        assert "killed" in repr(log)


def test_a_killed_recording_can_be_cleaned_and_overwritten(start, model, tmp_path):
    writer, path = start()
    writer.wait_for(100)
    writer.kill()
    with pytest.raises(OSError, match="already open for write"):
        h5py.File(path, "r")  # what a plain reader meets, and why save() is worth having
    with load(path) as log:
        log.save(tmp_path / "clean.h5")
        frames = len(log)
    with h5py.File(tmp_path / "clean.h5", "r") as clean:
        assert len(clean["time"]) == frames
    with Recorder(path, model) as recorder:
        record(recorder, model, range(3))
    check_log(recorder.log(), model, 3)


def test_reading_while_it_is_written(start, model):
    writer, path = start()
    first = writer.wait_for(100)
    with load(path) as log:
        assert log.outcome == "running"
        seen = len(log)
        assert seen >= first
        check_log(log, model, seen)
        more = writer.wait_for(seen + 200)
        assert len(log) == seen, "a log stands still until it is refreshed"
        assert len(log.refresh()) >= more
        check_log(log, model, len(log))
        writer.kill()
        assert log.refresh().outcome == "killed"


def test_two_readers_at_once_agree_that_it_runs(start):
    writer, path = start()
    writer.wait_for(50)
    with load(path) as one, load(path) as two:
        assert one.outcome == two.outcome == "running"


def test_reading_in_the_process_that_writes(model, tmp_path):
    recorder = Recorder(tmp_path / "run.h5", model)
    record(recorder, model, range(10))
    early = recorder.log()
    assert early.outcome == "running"
    record(recorder, model, range(10, 30))
    recorder.close("complete")
    check_log(early, model, 10)
    check_log(recorder.log(), model, 30)
    assert recorder.log().outcome == "complete"


def test_a_file_that_is_being_written_is_not_overwritten(start, model):
    writer, path = start()
    writer.wait_for(50)
    with pytest.raises(RecordingError, match="being written"):
        Recorder(path, model)
    reported = writer.wait_for(500)
    writer.kill()
    with load(path) as log:
        assert len(log) >= reported
        check_log(log, model, len(log))


def test_a_forgotten_recorder_keeps_what_was_flushed(tmp_path, model):
    code = f"""
import sys
sys.path.insert(0, {str(Path(made_up_run.__file__).parent)!r})
import made_up_run
m = made_up_run.made_up_model()
r = made_up_run.Recorder({str(tmp_path / "run.h5")!r}, m)
made_up_run.record(r, m, range(20))
r.flush()
made_up_run.record(r, m, range(20, 30))
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ)
    with load(tmp_path / "run.h5") as log:
        check_log(log, model, 20)
        assert log.outcome == "killed"
