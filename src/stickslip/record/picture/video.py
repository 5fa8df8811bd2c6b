"""A recording as numbered pictures or an animated GIF, at a constant rate."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stickslip.errors import expected, number
from stickslip.files import check_writable, make_folder, write_whole
from stickslip.progress import Progress
from stickslip.record.log import Log
from stickslip.record.picture.draw import Painter

GIF_RATES = (100.0, 50.0, 100 / 3, 25.0, 20.0, 100 / 6, 100 / 7, 12.5, 100 / 9, 10.0)
"""Frame rates [1/s] of GIFs, which count time in hundredths of a second."""


def frames_at(log: Log, fps: float = 30.0, speed: float = 1.0) -> np.ndarray:
    """Indices of the recorded frames nearest to the times of a film; ``speed`` 0.1 is ten times slower."""
    fps = number("fps", fps, "pictures per second > 0", above=0.0)
    speed = number("speed", speed, "simulated seconds per second of film > 0", above=0.0)
    if not len(log):
        raise expected("frames", "a recording with frames", "none")
    time = log.time
    wanted = np.arange(time[0], time[-1] + 1e-9, speed / fps)
    after = np.clip(np.searchsorted(time, wanted), 1, max(len(time) - 1, 1))
    after = np.minimum(after, len(time) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(wanted - time[before] <= time[after] - wanted, before, after)


def write_frames(
    log: Log, folder: str | Path, fps: float = 30.0, speed: float = 1.0, show: bool | None = None, **options: Any
) -> list[Path]:
    """Write ``frame-00000.png`` and so on; ``options`` are those of ``Painter``."""
    from PIL import Image

    folder = Path(folder)
    numbers = frames_at(log, fps, speed)
    painter = Painter(log, **options)
    make_folder(folder)
    written = []
    for k, image in enumerate(_images(painter, numbers, show)):
        path = folder / f"frame-{k:05d}.png"
        with write_whole(path) as part:
            Image.fromarray(image).save(part)
        written.append(path)
    return written


def write_gif(
    log: Log, path: str | Path, fps: float = 25.0, speed: float = 1.0, show: bool | None = None, **options: Any
) -> Path:
    """Write an animated GIF that repeats, at the nearest rate that GIFs can have."""
    from PIL import Image

    path = Path(path)
    if path.suffix.lower() != ".gif":
        raise expected("gif", "a name that ends in .gif", str(path))
    check_writable(path)
    fps = min(GIF_RATES, key=lambda rate: abs(rate - number("fps", fps, "pictures per second > 0", above=0.0)))
    numbers = frames_at(log, fps, speed)
    painter = Painter(log, **options)
    plain = (Image.fromarray(image) for image in _images(painter, numbers, show))
    images = (image.quantize(256, dither=Image.Dither.NONE) for image in plain)
    with write_whole(path) as part:
        next(images).save(part, save_all=True, append_images=images, duration=round(1000 / fps), loop=0, optimize=False)
    return path


def _images(painter: Painter, numbers: np.ndarray, show: bool | None) -> Iterator[np.ndarray]:
    with Progress("drawing", len(numbers), "pictures", show=show) as bar:
        for k, frame in enumerate(numbers):
            yield painter.image(int(frame))
            bar.update(k + 1)
