"""Scale images in a separate process: ``python -m octavo.content.images.scaling FOLDER NAME…``.

Images are untrusted input for decoders written in C, so this module runs in isolation (``kit.processes.subprocesses``)
and imports no other part of Octavo. In each named folder, it reads ``source`` and writes a file ``WIDTH.webp`` for each
width, then ``result.json``, which is null for an image without variants.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageCms, UnidentifiedImageError

from .widths import MAX_PIXELS, STEPS, wanted_widths

FORMATS = ("PNG", "JPEG", "WEBP")
_WORTH = 0.9
"""Maximum file size of a variant, as a fraction of the original's size."""
_QUALITY = 85
_EFFORT = 2
"""WebP compression effort, from 0 to 6. The library's default of 4 saves another 4% of the size but takes 50%
longer."""
_LONGEST = 16_383
"""Maximum dimension of a WebP image in pixels."""
_TURNS = {
    2: (Image.Transpose.FLIP_LEFT_RIGHT,),
    3: (Image.Transpose.ROTATE_180,),
    4: (Image.Transpose.FLIP_TOP_BOTTOM,),
    5: (Image.Transpose.TRANSPOSE,),
    6: (Image.Transpose.ROTATE_270,),
    7: (Image.Transpose.TRANSVERSE,),
    8: (Image.Transpose.ROTATE_90,),
}
"""Transformations for each EXIF orientation."""
_ORIENTATION = 0x0112
_SIDEWAYS = (5, 6, 7, 8)


def scale(data: bytes) -> tuple[tuple[int, int], dict[tuple[int, int], bytes]] | None:
    """Return the display size of an image, and its variants by size. Each variant has fewer bytes than the original.

    Return None if the image is animated, too large, or broken, or if it has more than eight bits per color
    channel.
    """
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            moves = image.format != "MPO" and getattr(image, "is_animated", False)
            if moves or image.width * image.height > MAX_PIXELS or image.mode.startswith(("I", "F")):
                return None
            turned = image.getexif().get(_ORIENTATION, 1)
            profile = image.info.get("icc_profile")
            size = image.size[::-1] if turned in _SIDEWAYS else image.size
            if image.format == "JPEG":
                # Decode at a fraction of the full size if that is enough.
                most = min(size[0], STEPS[-1]) * 2
                tall = most * size[1] // size[0]
                image.draft(None, (tall, most) if turned in _SIDEWAYS else (most, tall))
            plain = _plain(image)
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError):
        return None
    made = {}
    for width in wanted_widths(size[0]):
        height = max(1, round(size[1] * width / size[0]))
        if height <= _LONGEST:
            found = _encode(plain, (width, height), turned, profile)
            if len(found) <= len(data) * _WORTH:
                made[width, height] = found
    return size, made


def _plain(image: Image.Image) -> Image.Image:
    """Return the image in a mode that allows blending colors, which scaling requires."""
    image.load()
    if image.mode in ("RGB", "RGBA", "L", "CMYK"):
        return image.convert("RGBA") if "transparency" in image.info else image
    if image.mode == "1":
        return image.convert("L")
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _encode(image: Image.Image, size: tuple[int, int], turned: int, profile: bytes | None) -> bytes:
    stored = size[::-1] if turned in _SIDEWAYS else size
    small = image.resize(stored, Image.Resampling.LANCZOS, reducing_gap=3)
    for turn in _TURNS.get(turned, ()):
        small = small.transpose(turn)
    out = io.BytesIO()
    # Other metadata, such as the camera's location and time, is dropped for privacy.
    _in_srgb(small, profile).save(out, "WEBP", quality=_QUALITY, method=_EFFORT)
    return out.getvalue()


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert the image to sRGB. An unreadable profile is ignored."""
    mode = "RGBA" if image.mode == "RGBA" else "RGB"
    if profile:
        try:
            own = ImageCms.ImageCmsProfile(io.BytesIO(profile))
            found = ImageCms.profileToProfile(image, own, ImageCms.createProfile("sRGB"), outputMode=mode)
            if found is not None:
                return found
        except (ImageCms.PyCMSError, OSError, ValueError):
            pass
    return image.convert(mode)


def main(arguments: Sequence[str]) -> None:
    whole, *names = arguments
    for folder in (Path(whole, name) for name in names):
        scaled = scale((folder / "source").read_bytes())
        result = None
        if scaled is not None:
            size, made = scaled
            for (width, _), data in made.items():
                (folder / f"{width}.webp").write_bytes(data)
            result = {"size": size, "variants": sorted(made)}
        written = folder / "written.json"
        written.write_text(json.dumps(result))
        written.rename(folder / "result.json")


if __name__ == "__main__":
    main(sys.argv[1:])
