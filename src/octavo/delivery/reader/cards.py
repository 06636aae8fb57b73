"""Cards: the preview images that social networks show when someone shares a page, rendered with its title and
its site's appearance.

Typst typesets the text in this process, and receives user content only as data. The logo is the only external image; it
is first redrawn in a separate process (``kit.processes.image_conversion``)."""

from __future__ import annotations

import hashlib
import io
import logging
import struct
import threading
import unicodedata
from functools import cache
from importlib.resources import files
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from octavo.core.color import Oklch, readable
from octavo.core.json_types import JsonObject
from octavo.kit.clock import HOUR, now
from octavo.kit.db.cache import ByteCache, share
from octavo.kit.net.fetch import Fetcher, FetchError, Limits
from octavo.kit.processes.image_conversion import redraw
from octavo.kit.temporary import TemporaryFolder
from octavo.sites.fonts.built_in import FONTS, read_font, upright_files
from octavo.sites.printing.fonts import read_folder_coverage

from .card_scripts import SCRIPTS, find_scripts, read_script_font
from .styling import SiteLook
from .views import SitePageView, SiteView

log = logging.getLogger(__name__)

WIDTH, HEIGHT = 1200, 630
_DEFAULT = "Inter"
_TITLE, _ABOUT, _ABOVE, _SITE = 110, 110, 70, 50
"""Maximum line lengths, in columns; a Chinese character occupies two columns."""
_SIZES = ((24, 92), (48, 78), (80, 64), (_TITLE, 54))
"""Font sizes in points, by the maximum number of columns in a title."""
_LOGO = (520, 72)
_LOGO_LIMITS = Limits(size=2 * 1024 * 1024, seconds=5)
_LOGO_KEPT, _LOGO_FAILED = HOUR, 600_000
"""Milliseconds for which a logo is cached, and milliseconds before a missing logo is fetched again."""
_FONTS_KEPT = 32
"""Number of font sets kept in memory: one per customization font, combined with the fonts for the scripts
that a card needs."""


class Card(Struct, frozen=True):
    """Content of a card. ``above``: the titles of the page's ancestors. ``colors``: the colors, by use."""

    title: str
    about: str
    above: str
    site: str
    logo: str | None
    font: str
    colors: dict[str, tuple[float, float, float]]
    gradient: bool
    language: str
    rtl: bool

    @property
    def version(self) -> str:
        return hashlib.blake2b(msgspec.json.encode(self, order="deterministic"), digest_size=8).hexdigest()


def card_of(page: SitePageView, site: SiteView, look: SiteLook) -> Card:
    styling = look.customization.styling
    dark = look.theme == "dark"
    side = look.colors.dark if dark else look.colors.light
    chosen = {
        "ground": side["raised" if styling.theme == "muted" else "bg"],
        "glow": side["primary-soft"],
        "words": side["strong"],
        "quiet": side["muted"],
        "mark": side["strong"],
        "bar": side["primary"],
    }
    if styling.theme == "bold":
        on = side["on-fill"]
        chosen |= {
            "ground": side["fill"],
            "words": on,
            "mark": on,
            "bar": on,
            "quiet": readable(on, side["fill"]),
        }
    logo = site.logo or site.footer_logo
    return Card(
        title=page.title,
        about=page.description or "",
        above=" › ".join(crumb.title for crumb in page.crumbs),
        site=site.title,
        logo=((logo.dark if dark else None) or logo.light) if logo is not None else None,
        font=styling.font if isinstance(styling.font, str) and styling.font in FONTS else _DEFAULT,
        colors={name: _color_numbers(color) for name, color in chosen.items()},
        gradient=styling.theme == "gradient",
        language=site.language,
        rtl=site.direction == "rtl",
    )


def _color_numbers(color: Oklch) -> tuple[float, float, float]:
    return (round(color.l, 3), round(color.c, 3), round(color.h, 1))


class _Fonts(NamedTuple):
    """Typst's fonts, their families in lookup order, and the characters that they cover."""

    loaded: Any
    families: list[str]
    known: list[frozenset[int]]
    further: list[tuple[int, int]]

    def have(self, character: str) -> bool:
        point = ord(character)
        return any(point in known for known in self.known) or any(
            first <= point <= last for first, last in self.further
        )


_IMAGES, _LOGOS = share("social preview images", 16), share("logos", 4)


class Cards:
    """Renderer and cache of cards. ``further_fonts``: the path of a folder with additional fonts; empty if
    there is none. ``allowed``: the private IP addresses from which logos can be fetched."""

    def __init__(self, further_fonts: str, allowed: str) -> None:
        self._kept: ByteCache[bytes] = ByteCache(_IMAGES)
        self._logos: ByteCache[tuple[int, bytes | None]] = ByteCache(_LOGOS)
        self._further_fonts = further_fonts
        self._fetcher = Fetcher(allowed)
        self._fonts: dict[tuple[str, ...], _Fonts] = {}
        self._unpacked: dict[str, frozenset[int]] = {}
        # Typst reads a font the first time it is used.
        self._folder = TemporaryFolder("fonts")
        self._lock = threading.Lock()

    def draw(self, card: Card) -> bytes:
        """Return the card as PNG, ``WIDTH`` by ``HEIGHT`` pixels."""
        drawn = self._kept.get(card.version)
        if drawn is None:
            drawn = self._draw(card)
            self._kept.put(card.version, drawn, len(drawn))
        return drawn

    def _draw(self, card: Card) -> bytes:
        import typst

        text = f"{card.title}{card.about}{card.above}{card.site}"
        fonts = self._load(card.font, find_scripts(text, card.language))
        logo = self._logo(card.logo) if card.logo else None
        with TemporaryFolder("card") as name:
            folder = Path(name)
            if logo is not None:
                (folder / "logo.png").write_bytes(logo)
            written = msgspec.json.encode(_lines(card, fonts, logo)).decode()
            empty = str(folder / "packages")
            compiler = typst.Compiler(
                input=_template(),
                root=name,
                font_paths=fonts.loaded,
                sys_inputs={"card": written},
                package_path=empty,
                package_cache_path=empty,
            )
            made = compiler.compile(format="png", ppi=72)
        assert isinstance(made, bytes), "a card is one page"
        return made

    # --- fonts ------------------------------------------------------------------------------------------

    def _load(self, name: str, scripts: tuple[str, ...]) -> _Fonts:
        wanted = (name, *scripts)
        with self._lock:
            if wanted not in self._fonts:
                if len(self._fonts) >= _FONTS_KEPT:
                    self._fonts.clear()
                self._fonts[wanted] = self._read(name, scripts)
            return self._fonts[wanted]

    def _read(self, name: str, scripts: tuple[str, ...]) -> _Fonts:
        import typst

        folders: list[str] = []
        families: dict[str, None] = {}
        known: list[frozenset[int]] = []
        parts = {
            font.name: [(file, read_font) for file in upright_files(font)]
            for font in (FONTS[name], FONTS[_DEFAULT])
        }
        parts |= {script: [(file, read_script_font) for file in SCRIPTS[script].files] for script in scripts}
        for part, packed in parts.items():
            folder = Path(self._folder.name) / part
            if part not in self._unpacked:
                self._unpacked[part] = _unpack({file: read(file) for file, read in packed}, folder)
            known.append(self._unpacked[part])
            folders.append(str(folder))
            families |= dict.fromkeys(one.family for one in typst.Fonts(False, False, [str(folder)]).fonts())
        if self._further_fonts:
            folders.append(self._further_fonts)
        loaded = typst.Fonts(False, False, folders)
        return _Fonts(loaded, list(families), known, list(read_folder_coverage(self._further_fonts)))

    # --- logos ------------------------------------------------------------------------------------------

    def _logo(self, url: str) -> bytes | None:
        kept = self._logos.get(url)
        if kept is None or kept[0] <= now():
            logo = self._fetch(url)
            kept = (now() + (_LOGO_KEPT if logo is not None else _LOGO_FAILED), logo)
            self._logos.put(url, kept, 500 + len(logo or b""))
        return kept[1]

    def _fetch(self, url: str) -> bytes | None:
        try:
            fetched = self._fetcher.fetch(url, limits=_LOGO_LIMITS)
        except FetchError as error:
            log.info("couldn't fetch a logo", extra={"url": url, "error": str(error)})
            return None
        return redraw(fetched.body, *_LOGO) if fetched.status == 200 else None


# --- lines ----------------------------------------------------------------------------------------------


def _lines(card: Card, fonts: _Fonts, logo: bytes | None) -> JsonObject:
    """Return a card's data for the template, with truncated lines."""
    title = _truncate(_replace_missing(card.title, fonts), _TITLE)
    language = card.language.lower().replace("_", "-").partition("-")[0]
    return {
        "title": title,
        "size": next(size for columns, size in _SIZES if _count_columns(title) <= columns),
        "about": _truncate(_replace_missing(card.about, fonts), _ABOUT),
        "above": _truncate(_replace_missing(card.above, fonts), _ABOVE),
        "site": _truncate(_replace_missing(card.site, fonts), _SITE),
        "logo": "logo.png" if logo is not None else None,
        "height": struct.unpack(">I", logo[20:24])[0] / 2 if logo is not None else 0,
        "fonts": fonts.families,
        "colors": card.colors,
        "gradient": card.gradient,
        "language": language
        if len(language) in (2, 3) and language.isascii() and language.isalpha()
        else "en",
        "rtl": card.rtl,
    }


def _replace_missing(text: str, fonts: _Fonts) -> str:
    """Return the text without symbols that the fonts don't support, or an empty string if they don't support all of its
    letters."""
    kept = []
    for character in " ".join(text.split()):
        if character == " " or fonts.have(character):
            kept.append(character)
        elif unicodedata.category(character)[0] in "LMN":
            return ""
    return " ".join("".join(kept).split())


def _count_columns(text: str) -> int:
    return sum(1 + (unicodedata.east_asian_width(character) in "WF") for character in text)


def _truncate(text: str, columns: int) -> str:
    taken = accumulate(_count_columns(character) for character in text)
    fitting = sum(1 for _ in takewhile(lambda so_far: so_far <= columns, taken))
    return text if fitting == len(text) else f"{text[: fitting - 1].rstrip()}…"


@cache
def _template() -> bytes:
    return (files(__package__) / "card.typ").read_bytes()


def _unpack(packed: dict[str, bytes], folder: Path) -> frozenset[int]:
    """Write font files in a format that Typst can read, and return the characters that they cover."""
    from fontTools.ttLib import TTFont

    folder.mkdir(exist_ok=True)
    known: set[int] = set()
    for name, data in packed.items():
        with TTFont(io.BytesIO(data), recalcTimestamp=False) as font:
            font.flavor = None
            font.save(folder / f"{name}.ttf", reorderTables=False)
            known |= font.getBestCmap().keys()
    return frozenset(known)
