"""Scaling of a single image."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import pytest
from PIL import Image, ImageCms

from octavo.content.images.scaling import scale
from octavo.content.images.widths import MAX_PIXELS, wanted_widths

RED, BLUE, CLEAR = (220, 20, 20), (20, 20, 220), (0, 0, 0, 0)


def saved(image: Image.Image, format: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def photo(size: tuple[int, int], mode: str = "RGB") -> Image.Image:
    """Left half red, right half blue, with noise that no format compresses well."""
    noise = Image.effect_noise(size, 40).convert("RGB")
    halves = Image.new("RGB", size, RED)
    halves.paste(BLUE, (size[0] // 2, 0, *size))
    return Image.blend(halves, noise, 0.2).convert(mode)


def opened(made: dict[tuple[int, int], bytes], width: int) -> Image.Image:
    [data] = [data for size, data in made.items() if size[0] == width]
    image = Image.open(io.BytesIO(data))
    assert (image.format, image.size) == ("WEBP", next(size for size in made if size[0] == width))
    return image


def is_near(pixel: Any, colour: tuple[int, ...], by: int = 60) -> bool:
    return all(abs(one - other) < by for one, other in zip(pixel, colour, strict=False))


@pytest.mark.parametrize(
    ("width", "widths"),
    [
        (480, []),
        (481, [481]),
        (600, [480, 600]),
        (1000, [480, 1000]),
        (1440, [480, 960, 1440]),
        (1601, [480, 960, 1600]),
        (9000, [480, 960, 1600]),
    ],
)
def test_widths_of_variants_depend_on_the_image(width: int, widths: list[int]) -> None:
    assert wanted_widths(width) == widths


@pytest.mark.parametrize(
    ("mode", "format"),
    [
        ("RGB", "PNG"),
        ("RGBA", "PNG"),
        ("P", "PNG"),
        ("LA", "PNG"),
        ("RGB", "JPEG"),
        ("CMYK", "JPEG"),
        ("RGB", "WEBP"),
    ],
)
def test_each_pixel_format_is_scaled(mode: str, format: str) -> None:
    options = {"lossless": True} if format == "WEBP" else {"quality": 98} if format == "JPEG" else {}
    found = scale(saved(photo((1000, 500), mode), format, **options))
    assert found is not None
    size, made = found
    # A palette image in its own size can't be compressed further.
    assert size == (1000, 500) and set(made) >= {(480, 240), *([(1000, 500)] if mode != "P" else [])}
    small = opened(made, 480).convert("RGB")
    if mode != "LA":
        assert is_near(small.getpixel((60, 120)), RED) and is_near(small.getpixel((420, 120)), BLUE)


def test_transparency_is_kept() -> None:
    image = photo((1000, 500), "RGBA")
    image.paste(CLEAR, (0, 0, 500, 500))
    found = scale(saved(image))
    assert found is not None
    small = opened(found[1], 480)
    assert small.mode == "RGBA" and small.getpixel((60, 120))[3] == 0 and small.getpixel((420, 120))[3] == 255  # type: ignore[index]


def test_a_photo_is_rotated_and_its_location_removed() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # rotated 90 degrees to the right: the left half is on top
    exif[0x010F] = "A camera"
    found = scale(saved(photo((1600, 800)), "JPEG", quality=98, exif=exif))
    assert found is not None
    size, made = found
    assert size == (800, 1600) and set(made) == {(480, 960), (800, 1600)}
    small = opened(made, 480)
    assert is_near(small.getpixel((240, 100)), RED) and is_near(small.getpixel((240, 860)), BLUE)
    assert not small.getexif() and b"A camera" not in b"".join(made.values())


def test_colors_are_converted_by_their_profile() -> None:
    """A Lab profile, in which the same numbers are other colors, and an invalid one."""
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    for profile in (srgb, lab, b"no profile"):
        found = scale(saved(photo((600, 300)), icc_profile=profile))
        assert found is not None
        small = opened(found[1], 480)
        assert "icc_profile" not in small.info and is_near(small.getpixel((60, 100)), RED)


def test_scaled_images_that_are_not_smaller_are_discarded() -> None:
    assert scale(saved(Image.new("RGB", (1000, 10), RED), "WEBP", quality=1)) == ((1000, 10), {})


def _bomb() -> bytes:
    """Return a PNG of a few hundred bytes that claims more pixels than allowed."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", MAX_PIXELS // 1000 + 1, 1000, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(bytes(99)))
        + chunk(b"IEND", b"")
    )


def test_unsupported_images_are_not_scaled() -> None:
    frames = [photo((600, 300)), photo((600, 300)).rotate(180)]
    moving = {"save_all": True, "append_images": frames[1:]}
    whole = saved(photo((600, 300)))
    for data in (
        saved(frames[0], "GIF", **moving),
        saved(frames[0], "GIF"),
        saved(frames[0], "WEBP", **moving),
        saved(frames[0], "PNG", **moving),
        saved(frames[0], "BMP"),
        saved(Image.new("I;16", (600, 300))),
        b'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300"/>',
        whole[:3000],
        whole[:40],
        b"\x89PNG\r\n\x1a\n" + b"?" * 99,
        b"",
        _bomb(),
    ):
        assert scale(data) is None
