"""Kills: commands that write files are ended by SIGKILL at random instants, or started twice on one target.

``python tests/fuzz/kills.py --seed 1 --count 100`` kills COUNT commands; ``--pairs 20`` starts 20 pairs instead. After
each kill every file must open, or be the earlier one; a recording or capture may lack at most 1.2 s before the kill; no
process of the command may go on; and the next start on the same target must leave no unfinished file. Of a pair on one
target, one must be refused and the other one must complete. The exit status is 1 if something was found.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from stickslip.errors import RecordingError
from stickslip.lab.compare import load_comparison
from stickslip.problem_files import ProblemFile
from stickslip.record import load

LOST = 1.2
"""[s] of work that a kill may cost."""
PATIENCE = 600.0
"""[s] for a whole command, on a busy machine."""
BALL = ["run", "ball", "--method", "coulomb/pgs"]
COMPARE = ["compare", "ball", "--methods", "coulomb/pgs,semi-implicit-euler", "--runs", "1", "--dt", "1e-3"]
COMMANDS = {
    "record": [*BALL, "--time", "300", "--record", "run.h5"],
    "capture": [*BALL, "--time", "10", "--capture", "problems.h5"],
    "compare": [*COMPARE, "--time", "2", "--no-stability", "--jobs", "1", "--out", "compared"],
}
"""Commands that take some seconds each."""
AGAIN = {name: [*words, "--time", "0.02"] for name, words in COMMANDS.items()}
"""The same with a short run: the last of two times counts."""


def start(words: list[str], folder: Path, **options) -> subprocess.Popen:
    """``stickslip WORDS`` in a folder, as the leader of a group of processes."""
    return subprocess.Popen(
        [sys.executable, "-m", "stickslip", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, start_new_session=True, **options,
    )  # fmt: skip


def finished(process: subprocess.Popen) -> str:
    """What a command printed until its end."""
    try:
        return process.communicate(timeout=PATIENCE)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0] + f"\nhang: more than {PATIENCE:g} s"


def unfinished(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".stickslip-*"))


def troubles(folder: Path) -> list[str]:
    """What is wrong with the files of a folder: each must open, and pictures and texts must be whole."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_dir() or path.name.startswith(".stickslip-"):
            continue
        try:
            if not opens(path):
                found.append(f"{path.name} is not whole")
        except (RecordingError, ValueError) as error:
            found.append(f"{path.name}: {error}")
    return found


def opens(path: Path) -> bool:
    """Whether a file is whole; raises what its reader raises."""
    data = path.read_bytes()
    if path.name == "problems.h5":
        with ProblemFile(path) as file:
            return sum(1 for _ in file) == len(file)
    if path.suffix == ".h5":
        with load(path) as log:
            return len(log.time) == len(log)
    if path.name == "comparison.json":
        load_comparison(path)
    elif path.suffix == ".json":
        json.loads(data)
    endings = {".html": b"</html>", ".png": b"IEND\xaeB`\x82", ".gif": b";", ".csv": b"\n", ".md": b"\n"}
    return data.rstrip(b"\n" if path.suffix == ".html" else b"").endswith(endings.get(path.suffix, b""))


def left_running(group: int) -> list[int]:
    """Processes of a group that have not ended."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == group and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def killed(name: str, folder: Path, seconds: float, before: dict[Path, int]) -> tuple[str, list[str]]:
    """Kill a command after some seconds; what became of its files, and what is wrong."""
    process = start(COMMANDS[name], folder)
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
    instant = time.time()
    process.communicate()
    end = time.monotonic() + 10.0
    while (running := left_running(process.pid)) and time.monotonic() < end:
        time.sleep(0.1)
    wrong = [f"processes {running} go on after the kill"] if running else []
    if running:
        os.killpg(process.pid, signal.SIGKILL)
    wrong += troubles(folder)
    outcome = "ended before" if process.returncode >= 0 else "killed"
    lost = 0.0
    for path in folder.rglob("*.h5") if outcome == "killed" else ():
        if path.name.startswith(".stickslip-") or before.get(path) == path.stat().st_ino:
            continue
        lost = max(lost, instant - path.stat().st_mtime) if grows(path) else lost
    if lost > LOST:
        wrong.append(f"{lost:.2f} s of work are lost")
    if outcome == "killed" and {path: path.stat().st_ino for path in folder.rglob("*.h5")} == before:
        outcome = "earlier file"
    again = start(AGAIN[name], folder)
    said = finished(again)
    if again.returncode:
        wrong.append(f"the next start ended with {again.returncode}: {said[-300:]}")
    wrong += [f"unfinished files after the next start: {left}"] if (left := unfinished(folder)) else []
    return outcome, wrong


def grows(path: Path) -> bool:
    """Whether a file was still being written when its process was killed."""
    if path.name == "problems.h5":
        return True
    try:
        with load(path) as log:
            return log.outcome == "killed"
    except RecordingError:
        return False


def paired(name: str, folder: Path) -> tuple[str, list[str]]:
    """Start a command twice; one of them must be refused, and the other one must complete."""
    processes = [start(COMMANDS[name], folder) for _ in range(2)]
    said = [finished(process) for process in processes]
    codes = sorted(process.returncode for process in processes)
    wrong = troubles(folder)
    refused = [text for text in said if "error: " in text]
    if codes != [0, 2] or len(refused) != 1 or "Traceback" in "".join(said):
        wrong.append(f"exit statuses {codes}: {[text[-200:] for text in said]}")
    wrong += [f"unfinished files: {left}"] if (left := unfinished(folder)) else []
    return "one is refused" if not wrong else "other", wrong


def main() -> int:
    parser = argparse.ArgumentParser(description="kill commands at random instants")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100, help="kills in all")
    parser.add_argument("--pairs", type=int, default=0, help="start so many pairs on one target instead")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="which commands, separated by commas")
    given = parser.parse_args()
    names = given.commands.split(",")
    rng, outcomes, found = random.Random(given.seed), Counter(), 0
    place = Path(tempfile.mkdtemp(prefix="stickslip-kills-"))
    lasts = {}
    for name in names:  # once as a whole, which also compiles, and once more for the time that it takes
        (place / name).mkdir()
        for words in (AGAIN[name], COMMANDS[name]):
            began = time.monotonic()
            process = start(words, place / name)
            if (said := finished(process)) and process.returncode:
                raise SystemExit(f"{name} does not work without a kill: {said[-500:]}")
            lasts[name] = time.monotonic() - began
        print(f"{name}: {lasts[name]:.1f} s", flush=True)
    for k in range(given.pairs or given.count):
        name = names[k % len(names)]
        folder = place / name
        if given.pairs:
            outcome, wrong = paired(name, folder)
        else:
            before = {path: path.stat().st_ino for path in folder.rglob("*.h5")}
            outcome, wrong = killed(name, folder, rng.uniform(0.0, lasts[name]), before)
        outcomes[name, outcome] += 1
        for line in wrong:
            found += 1
            print(f"case {k}, {name}: {line}", flush=True)
    for (name, outcome), count in sorted(outcomes.items()):
        print(f"{name:10}{outcome:16}{count:5}")
    print(f"{found} findings" + (f", files in {place}" if found else ""))
    if not found:
        shutil.rmtree(place)
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
