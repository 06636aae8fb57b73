"""Appearance of a space's PDFs, based on the site that shows it. A package in a higher layer determines this
appearance."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.net.fetch import Fetcher, FetchError, Limits
from octavo.kit.processes.image_conversion import redraw
from octavo.sites.fonts.built_in import read_font

from .order import OrderLook, PrintFace

log = logging.getLogger(__name__)

_LOGO = (560, 96)
"""Size in points of the box that a logo is drawn in. The box is larger than the logo's place on the page, so that
the logo stays sharp on paper."""
_LOGO_LIMITS = Limits(size=2 * 1024 * 1024, seconds=5)


class FontFile(Struct, frozen=True):
    """Font file: a built-in file, identified by ``name``, or an organization's file, identified by ``content``.
    ``weights``: the weights to create from it. Files in the same ``group`` are faces of one family. Later groups supply
    characters that are missing in earlier groups."""

    name: str = ""
    content: str = ""
    weights: tuple[int, ...] = (400,)
    group: int = 0
    italic: bool = False


class PrintLook(Struct, frozen=True):
    """Appearance of a PDF. ``site``: the title of the site. ``logo``: the URL of the logo. ``colors``:
    lightness, chroma, and hue (OKLCH) by use: accent, info, success, warning, and danger."""

    site: str = ""
    address: str = ""
    logo: str | None = None
    colors: dict[str, tuple[float, float, float]] = {}
    text: tuple[FontFile, ...] = ()
    mono: tuple[FontFile, ...] = ()

    @property
    def version(self) -> str:
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:16]


FindLook = Callable[[Context, Transaction, str], PrintLook | None]
_finders: list[FindLook] = []


def register_look_finder(find: FindLook) -> None:
    """Register ``find``, which returns the appearance of a space's PDFs by space ID, or None if the space isn't on a
    site."""
    _finders.append(find)


def find_look(context: Context, tx: Transaction, space_id: str) -> PrintLook:
    """Return the appearance of a space's PDFs, or a plain appearance by default."""
    for find in _finders:
        look = find(context, tx, space_id)
        if look is not None:
            return look
    return PrintLook()


def write_look(context: Context, look: PrintLook, folder: Path) -> OrderLook:
    """Write the files of an appearance to a PDF's folder. This fetches the logo, so don't call it within a
    transaction."""
    return OrderLook(
        site=look.site,
        address=look.address,
        logo=_write_logo(context, look.logo, folder) if look.logo else None,
        colors=look.colors,
        text=_write_faces(context, look.text, folder, "text"),
        mono=_write_faces(context, look.mono, folder, "mono"),
    )


def _write_faces(context: Context, files: tuple[FontFile, ...], folder: Path, kind: str) -> list[PrintFace]:
    faces = []
    for number, file in enumerate(files):
        name = f"{kind}{number}.font"
        data = read_font(file.name) if file.name else context.files.read(file.content)
        (folder / name).write_bytes(data)
        family = f"{kind} {file.group}"
        faces.append(PrintFace(file=name, family=family, weights=list(file.weights), italic=file.italic))
    return faces


def _write_logo(context: Context, url: str, folder: Path) -> str | None:
    try:
        fetched = Fetcher(context.settings.allow_private_fetch).fetch(url, limits=_LOGO_LIMITS)
    except FetchError as error:
        log.info("couldn't fetch a logo", extra={"url": url, "error": str(error)})
        return None
    drawn = redraw(fetched.body, *_LOGO) if fetched.status == 200 else None
    if drawn is None:
        return None
    (folder / "logo.png").write_bytes(drawn)
    return "logo.png"
