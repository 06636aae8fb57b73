"""An image in narrower widths, as a process of its own: ``python -m octavo.content.images.scaling FOLDER``.

An image may come from anybody, and decoders in C read it. So this runs apart (``kit.apart``), with nothing of the
service's but this code. It reads ``source`` and leaves ``result.json`` and a file ``WIDTH.webp`` for each width.
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
"""A variant is kept if it has at most this part of the bytes of the image."""
_QUALITY = 85
_LONGEST = 16_383
"""Pixels that WebP can have."""
_TURNS = {
    2: (Image.Transpose.FLIP_LEFT_RIGHT,),
    3: (Image.Transpose.ROTATE_180,),
    4: (Image.Transpose.FLIP_TOP_BOTTOM,),
    5: (Image.Transpose.TRANSPOSE,),
    6: (Image.Transpose.ROTATE_270,),
    7: (Image.Transpose.TRANSVERSE,),
    8: (Image.Transpose.ROTATE_90,),
}
"""What EXIF says of how an image is to be turned."""
_ORIENTATION = 0x0112
_SIDEWAYS = (5, 6, 7, 8)


def scale(data: bytes) -> tuple[tuple[int, int], dict[tuple[int, int], bytes]] | None:
    """The size of an image as it is shown, and its variants by their size, each smaller in bytes than itself. None for
    what moves, is too large, is broken, or has more than eight bits of a colour."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            moves = image.format != "MPO" and getattr(image, "is_animated", False)
            if moves or image.width * image.height > MAX_PIXELS or image.mode.startswith(("I", "F")):
                return None
            turned = image.getexif().get(_ORIENTATION, 1)
            profile = image.info.get("icc_profile")
            size = image.size[::-1] if turned in _SIDEWAYS else image.size
            if image.format == "JPEG":
                # Decoded at a fraction of its size where that is all that is needed.
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
    """With its pixels, in a mode whose colours can be mixed."""
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
    # Nothing else of the original goes along: what a camera notes of a place and a time is nobody's business.
    _in_srgb(small, profile).save(out, "WEBP", quality=_QUALITY, method=4)
    return out.getvalue()


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """In the colours that are meant where nothing is said. A profile that cannot be read is as none."""
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
    folder = Path(arguments[0])
    scaled = scale((folder / "source").read_bytes())
    if scaled is not None:
        size, made = scaled
        for (width, _), data in made.items():
            (folder / f"{width}.webp").write_bytes(data)
        (folder / "result.json").write_text(json.dumps({"size": size, "variants": sorted(made)}))


if __name__ == "__main__":
    main(sys.argv[1:])
