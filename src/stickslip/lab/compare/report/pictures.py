"""A few pictures of the reference, from its beginning to its end, as part of the page."""

from __future__ import annotations

import base64
from html import escape
from io import BytesIO

import numpy as np

from stickslip.errors import StickslipError
from stickslip.lab.compare.comparison import Comparison
from stickslip.lab.compare.report.traces import reference_run
from stickslip.record.picture import Painter

SIZE = (400, 240)
"""Width and height [pixels]."""


def pictures(comparison: Comparison, count: int) -> str:
    """HTML of ``count`` pictures, or "" without a recording."""
    run = reference_run(comparison)
    if count < 1 or run is None:
        return ""
    parts = []
    try:
        with run.log() as log:
            painter = Painter(log, size=SIZE)
            for frame in np.linspace(0, len(log) - 1, count).round().astype(int):
                time = f"{float(log.time[frame]):.3g} s"
                parts.append(
                    f'<figure class="picture"><img src="{_inline(painter.image(int(frame)))}" width="{SIZE[0]}" '
                    f'height="{SIZE[1]}" alt="{escape(comparison.scene)} at {time}"><figcaption>{time}</figcaption>'
                    "</figure>"
                )
    except StickslipError:
        return ""
    return f'<div class="pictures">{"".join(parts)}</div>'


def _inline(pixels: np.ndarray) -> str:
    """The picture as a data URL."""
    from PIL import Image

    file = BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", quality=88)
    return "data:image/webp;base64," + base64.b64encode(file.getvalue()).decode()
