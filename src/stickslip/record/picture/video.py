"""A recording as numbered pictures or as a film (MP4 or GIF), at a constant rate."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from stickslip.errors import StickslipWarning, expected, number
from stickslip.files import check_writable, make_folder, unwritable, write_whole
from stickslip.progress import Progress
from stickslip.record.log import Log
from stickslip.record.picture.draw import Painter

GIF_RATES = (100.0, 50.0, 100 / 3, 25.0, 20.0, 100 / 6, 100 / 7, 12.5, 100 / 9, 10.0)
"""Frame rates [1/s] of GIFs, which count time in hundredths of a second."""
MOST_PICTURES = 100_000
"""Pictures of a film: an hour."""
Show = bool | Callable[[float], None] | None
"""Whether progress is shown, or who is told of it (``progress.Progress``)."""


def frames_at(log: Log, fps: float = 30.0, speed: float = 1.0) -> np.ndarray:
    """Indices of the recorded frames nearest to the times of a film; ``speed`` 0.1 is ten times slower."""
    fps = number("fps", fps, "pictures per second > 0", above=0.0)
    speed = number("speed", speed, "simulated seconds per second of film > 0", above=0.0)
    if not len(log):
        raise expected("frames", "a recording with frames", "none")
    time = log.time
    if (time[-1] - time[0]) * fps / speed > MOST_PICTURES:
        got = f"{(time[-1] - time[0]) * fps / speed:.2g}"
        raise expected("a film", f"at most {MOST_PICTURES} pictures", got, "lower fps, or raise speed")
    wanted = np.arange(time[0], time[-1] + 1e-9, speed / fps)
    after = np.clip(np.searchsorted(time, wanted), 1, max(len(time) - 1, 1))
    after = np.minimum(after, len(time) - 1)
    before = np.maximum(after - 1, 0)
    return np.where(wanted - time[before] <= time[after] - wanted, before, after)


def write_frames(
    log: Log, folder: str | Path, fps: float = 30.0, speed: float = 1.0, show: Show = None, **options: Any
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


def write_video(
    log: Log, path: str | Path, fps: float = 30.0, speed: float = 1.0, show: Show = None, **options: Any
) -> Path:
    """Write a film, whose name ends in .mp4 or .gif. Without FFmpeg, which makes MP4, a GIF is written instead, with a
    warning; returns the path of the film."""
    path = Path(path)
    if path.suffix.lower() == ".gif":
        return write_gif(log, path, fps, speed, show, **options)
    if path.suffix.lower() != ".mp4":
        raise expected("video", "a name that ends in .mp4 or .gif", str(path))
    encoder = find_ffmpeg()
    if encoder is None:
        path = path.with_suffix(".gif")
        warnings.warn(
            f"FFmpeg was not found, so that the video is a GIF, {str(path)!r}; for MP4 `pip install imageio-ffmpeg`",
            StickslipWarning,
            stacklevel=3,
        )
        return write_gif(log, path, fps, speed, show, **options)
    check_writable(path)
    numbers = frames_at(log, fps, speed)
    painter = Painter(log, **options)
    with write_whole(path) as part:
        _encode(encoder, part, _images(painter, numbers, show), painter, fps, path)
    return path


def find_ffmpeg() -> str | None:
    """The program FFmpeg: that in PATH, or else that of the package imageio-ffmpeg; None if there is neither."""
    found = shutil.which("ffmpeg")
    if found is None:
        try:
            from imageio_ffmpeg import get_ffmpeg_exe

            found = get_ffmpeg_exe()
        except (ImportError, RuntimeError):
            return None
    return found


def _encode(encoder: str, part: Path, images: Iterator[np.ndarray], painter: Painter, fps: float, target: Path) -> None:
    """Send pictures to FFmpeg; players ask for even sizes and for colours at half the resolution."""
    command = [
        encoder, "-y", "-loglevel", "error", "-xerror", "-f", "rawvideo", "-pix_fmt", "rgb24",
        "-s", f"{painter.width}x{painter.height}", "-r", f"{fps:.9g}", "-i", "-",
        "-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(part),
    ]  # fmt: skip
    with tempfile.TemporaryFile() as said:
        running = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, restore_signals=False
        )
        assert running.stdin is not None
        try:
            for image in images:
                running.stdin.write(image.tobytes())
            running.stdin.close()
        except BrokenPipeError:  # its reason follows
            pass
        except BaseException:
            running.kill()
            raise
        finally:
            status = running.wait()
        if status:
            said.seek(0)
            lines = said.read().decode(errors="replace").strip().splitlines() or [f"exit status {status}"]
            reason = next((line for line in lines if "space" in line or "large" in line), lines[-1])
            raise unwritable(target, OSError(reason.rpartition(": ")[2]))


def write_gif(
    log: Log, path: str | Path, fps: float = 25.0, speed: float = 1.0, show: Show = None, **options: Any
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


def _images(painter: Painter, numbers: np.ndarray, show: Show) -> Iterator[np.ndarray]:
    with Progress("drawing", len(numbers), "pictures", show=show) as bar:
        for k, frame in enumerate(numbers):
            yield painter.image(int(frame))
            bar.update(k + 1)
