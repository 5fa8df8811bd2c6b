"""``python -m build`` makes a wheel with all that the package reads and nothing else, and a source archive to build it
from."""

import email
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import stickslip

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "stickslip"
NAME = f"stickslip-{stickslip.__version__}"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with both archives. The tools of the environment build them, so that nothing is downloaded; the wheel
    is built from the source archive."""
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(path.name for path in folder.iterdir()) == [f"{NAME}-py3-none-any.whl", f"{NAME}.tar.gz"]
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    with zipfile.ZipFile(built / f"{NAME}-py3-none-any.whl") as archive:
        yield archive


@pytest.fixture(scope="module")
def metadata(wheel):
    return email.message_from_bytes(wheel.read(f"{NAME}.dist-info/METADATA"))


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(wheel):
    files = {path for path in SOURCE.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    expected = {f"stickslip/{path.relative_to(SOURCE).as_posix()}" for path in files}
    assert {name for name in wheel.namelist() if ".dist-info/" not in name} == expected
    assert {"stickslip/py.typed", "stickslip/references.bib", "stickslip/model/robots/solo12.xml"} <= expected
    assert f"{NAME}.dist-info/licenses/LICENSE" in wheel.namelist()


def test_the_command_is_installed(wheel):
    assert "stickslip = stickslip.cli:main" in wheel.read(f"{NAME}.dist-info/entry_points.txt").decode()


def test_metadata(metadata):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert "# stickslip" in metadata.get_payload()
    required = [line for line in metadata.get_all("Requires-Dist") if "extra" not in line]
    assert sorted(required) == sorted(project["dependencies"])
    for version in ("3.11", "3.12", "3.13"):
        assert f"Programming Language :: Python :: {version}" in metadata.get_all("Classifier")
    assert "Typing :: Typed" in metadata.get_all("Classifier")


def test_the_version_is_written_once(metadata):
    """``stickslip.__version__`` is the source; the citation and the changelog name the same."""
    assert metadata["Version"] == stickslip.__version__
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]
    assert f"\nversion: {stickslip.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert f"\n## [{stickslip.__version__}]" in (ROOT / "CHANGELOG.md").read_text()


def test_the_source_archive_has_what_developers_need(built):
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        names = {name.removeprefix(f"{NAME}/") for name in archive.getnames()}
    wanted = {
        "README.md",
        "LICENSE",
        "CHANGELOG.md",
        "Makefile",
        "pyproject.toml",
        "docs/index.md",
        "tests/test_wheel.py",
    }
    assert wanted <= names
    unwanted = [
        name for name in names if name.split("/")[0] in ("out", ".venv", ".ci") or name.endswith((".h5", ".pyc"))
    ]
    assert not unwanted
