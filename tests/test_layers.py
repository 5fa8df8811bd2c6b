"""The data flows one way: import-linter holds the layers of docs/architecture.md."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_layers_are_kept():
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_every_package_is_in_a_layer():
    """A new package must be given its place."""
    contract = (ROOT / "pyproject.toml").read_text().split("[[tool.importlinter.contracts]]")[1]
    for path in (ROOT / "src" / "stickslip").iterdir():
        name = path.stem
        if path.suffix in ("", ".py") and name not in ("__init__", "__pycache__", "py"):
            assert f"stickslip.{name}" in contract, f"{name} has no layer in pyproject.toml"


def test_import_is_quick_and_leaves_out_what_is_not_needed():
    """Plotting, HDF5, meshes, Pinocchio and Gymnasium are loaded when they are used."""
    late = {"matplotlib", "h5py", "trimesh", "pinocchio", "gymnasium"}
    code = f"import sys, stickslip; print(sorted({late} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
