"""Ten bodies over ten minutes: opened at once, any frame found without reading the others."""

import subprocess
import sys
from pathlib import Path

import long_recording as long
import matplotlib as mpl
import matplotlib.pyplot
import numpy as np
import pytest

import stickslip as ss
from stickslip.record.plot import COLUMNS

mpl.use("Agg")

MIB = 2**20
MOST = 80
"""[MiB] that opening and 300 frames here and there may add to a process; all arrays together are 250 MiB."""

SEEK = """
import sys
import numpy as np
import stickslip as ss


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096


ss.load(sys.argv[2]).close()  # HDF5 itself
before = resident()
log = ss.load(sys.argv[1])
for frame in np.random.default_rng(0).integers(0, len(log), 300):
    log.dataset("pose")[frame], log.contacts(int(frame))
print(resident() - before)
log.contact("force"), log.contact("point"), log.pose, log.contact("normal"), log.contact("velocity")
print(resident() - before)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return long.write(tmp_path_factory.mktemp("long") / "long.h5")


@pytest.fixture
def log(path):
    with ss.load(path) as log:
        yield log


def test_any_frame_is_found_and_nothing_else_is_read(log):
    assert len(log) == 60_000
    for frame in (0, 31_415, 59_999, -1):
        time = (frame % 60_000) / long.RATE
        contacts = log.contacts(frame)
        assert log.dataset("time")[frame % 60_000] == pytest.approx(time)
        resting = [k for k in range(10) if long.touching(k, np.array(time)) == 4]
        assert sorted(set(contacts.link2.tolist())) == [k + 1 for k in resting]
        assert contacts.point[:, 2] == pytest.approx(0.0, abs=1e-12)
        assert not contacts.force.flags.writeable
    assert set(log._cache) == {"contact/start"}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the resident size is read from /proc")
def test_seeking_does_not_fill_the_memory(path, tmp_path):
    short = long.write(tmp_path / "short.h5", frames=10)
    command = [sys.executable, "-c", SEEK, str(path), str(short)]
    output = subprocess.run(command, capture_output=True, text=True, check=True)
    seeking, whole = (int(line) / MIB for line in output.stdout.split())
    assert seeking < MOST
    assert whole > 1.5 * MOST  # else the test could not fail


@pytest.mark.parametrize("what", ["energy", "contact_force", "friction", "penetration", "height", "contacts"])
def test_plots_of_it_are_thinned(log, what):
    ax = log.plot(what)
    assert ax.lines
    for line in ax.lines:
        assert len(line.get_xdata()) <= 3 * COLUMNS + 60 * COLUMNS * (what == "friction")
    mpl.pyplot.close(ax.figure)


def test_a_picture_of_it_reads_little(log):
    log.image(30_000, size=(64, 36))
    assert set(log._cache) <= {"contact/start", "time"}
