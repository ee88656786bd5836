"""The film: frames that the page has drawn, as one GIF."""

from __future__ import annotations

import io
import struct
from typing import Any

MAX_FRAMES = 400
MAX_PIXELS = 4_000_000  # of a frame


def gif(body: bytes) -> bytes:
    """Return a GIF of frames that are sent one after the other, each a PNG after its length in four bytes."""
    frames = [_frame(part) for part in _parts(body)]
    first, *rest = [frame.quantize(128) for frame in frames]
    out = io.BytesIO()
    times = [250] * (len(frames) - 1) + [1500]
    first.save(out, "GIF", save_all=True, append_images=rest, duration=times, loop=0)
    return out.getvalue()


def _parts(body: bytes) -> list[bytes]:
    found, place = [], 0
    while place + 4 <= len(body):
        (size,) = struct.unpack(">I", body[place : place + 4])
        found.append(body[place + 4 : place + 4 + size])
        place += 4 + size
    if not 1 <= len(found) <= MAX_FRAMES or place != len(body):
        raise ValueError(f"a film has between 1 and {MAX_FRAMES} whole frames.")
    return found


def _frame(part: bytes) -> Any:
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(io.BytesIO(part), formats=["PNG"])
        if image.width * image.height > MAX_PIXELS:
            raise ValueError(f"a frame of a film has at most {MAX_PIXELS} pixels.")
        return image.convert("RGB")
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise ValueError(f"a frame of the film is no PNG picture ({error}).") from None
