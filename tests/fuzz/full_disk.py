"""A full disk: commands that write files run with too little space, so that the disk fills at a random moment.

``python tests/fuzz/full_disk.py --seed 1 --count 100``. As root, a small file system in memory is mounted and filled so
far that a random share of what the command needs is free. Otherwise the size of files is limited in the child. The
command must end with its results or with one line of an error; files that were there before, and all others, must open,
and nothing unfinished may be left. The exit status is 1 if something was found.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from pathlib import Path

from kills import AGAIN, BALL, COMPARE, finished, start, troubles, unfinished

SIZE = 64 * 2**20
"""[bytes] of the file system."""
COMMANDS = {
    "record": [*BALL, "--time", "5", "--record", "run.h5"],
    "capture": [*BALL, "--time", "0.3", "--capture", "problems.h5"],
    "compare": [*COMPARE, "--time", "0.2", "--no-stability", "--jobs", "1", "--out", "compared"],
    "plot": ["plot", "../earlier.h5", "energy", "--out", "energy.png"],
    "table": ["export", "../earlier.h5", "--csv", "table.csv"],
    "gif": ["export", "../earlier.h5", "--gif", "run.gif", "--size", "64x48", "--fps", "5"],
}


def limited(size: int) -> None:
    """In the child: no file may grow beyond a size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def used(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}


def filled(name: str, folder: Path, need: int, share: float, mounted: bool) -> tuple[str, list[str]]:
    """Run a command with a share of the space that it needs; how it ended, and what is wrong."""
    ballast, options = folder.parent / "ballast", {}
    if mounted:
        free = os.statvfs(folder).f_bavail * os.statvfs(folder).f_frsize
        with ballast.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(1, free - int(share * need)))
    else:
        options = {"preexec_fn": partial(limited, int(share * need))}
    earlier = {path: path.read_bytes() for path in used(folder) if path.suffix not in (".h5",)}
    process = start(COMMANDS[name], folder, **options)
    said = finished(process)
    ballast.unlink(missing_ok=True)
    wrong = troubles(folder)
    wrong += [f"{path.name} is gone" for path in earlier if not path.exists()]
    wrong += [f"unfinished files: {left}"] if (left := unfinished(folder)) else []
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    if process.returncode not in (0, 1, 2) or "Traceback" in said or len(errors) != (process.returncode == 2):
        wrong.append(f"exit status {process.returncode}: {said[-600:]}")
    return {0: "written", 1: "in part", 2: "refused"}.get(process.returncode, "crash"), wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="fill the disk while commands write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--commands", default=",".join(COMMANDS), help="which commands, separated by commas")
    given = parser.parse_args()
    names = given.commands.split(",")
    rng, outcomes, found = random.Random(given.seed), Counter(), 0
    place = Path(tempfile.mkdtemp(prefix="stickslip-full-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True).returncode == 0
    print("a small file system is mounted" if mounted else "the size of files is limited", flush=True)
    try:
        finished(start([*BALL, "--time", "1", "--record", "earlier.h5"], place))
        need = {}
        for name in names:  # with short runs first, so that there are earlier files
            (place / name).mkdir()
            for words in (AGAIN.get(name, COMMANDS[name]), COMMANDS[name]):
                process = start(words, place / name)
                if (said := finished(process)) and process.returncode:
                    raise SystemExit(f"{name} does not work on an empty disk: {said[-500:]}")
            sizes = used(place / name).values()
            need[name] = 2 * sum(sizes) if mounted else max(sizes)
            print(f"{name}: {need[name]} bytes", flush=True)
        for k in range(given.count):
            name = names[k % len(names)]
            outcome, wrong = filled(name, place / name, need[name], rng.random(), mounted)
            outcomes[name, outcome] += 1
            for line in wrong:
                found += 1
                print(f"case {k}, {name}: {line}", flush=True)
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], check=False)
        shutil.rmtree(place, ignore_errors=True)
    for (name, outcome), count in sorted(outcomes.items()):
        print(f"{name:10}{outcome:16}{count:5}")
    print(f"{found} findings")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
