"""What a site's customization means for its pages: colours, fonts and classes of the style sheet, and what is shown.

Whatever comes from customization reaches CSS as numbers and names of ours alone: colours are parsed and computed anew,
fonts are looked up, everything else chooses among classes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from markupsafe import Markup
from msgspec import Struct

from ..core.colour import Oklch, Theme, parse_hex, readable
from ..fonts import (
    FONTS,
    CustomFont,
    Font,
    Kind,
    custom_faces,
    first_file,
    font_faces,
    font_stack,
)
from ..kit.locales import DEFAULT
from ..sites import Customization, site_theme
from . import locales
from .views import Labels, Picture


class Look(Struct, frozen=True):
    """How the pages of one space of a site look. ``locale`` is the language of
    the interface, ``language`` that of the text. ``theme`` is system where nobody chose one."""

    customization: Customization
    locale: str
    language: str
    colours: Theme
    theme_css: Markup
    font_file: str | None
    classes: tuple[str, ...]
    theme: Literal["system", "light", "dark"]

    @property
    def labels(self) -> Labels:
        return locales.catalogue()[self.locale]

    @property
    def asks(self) -> bool:
        """Whether visitors can ask questions."""
        return self.customization.ai.mode != "none"

    @property
    def new_tab(self) -> bool:
        return self.customization.external_links.target == "blank"


def read_look(
    chosen: Customization,
    language: str | None,
    fonts: tuple[CustomFont, ...],
    assets: str,
    theme_chosen: Literal["light", "dark"] | None = None,
) -> Look:
    """``language`` is the space's; ``fonts`` are those of the organization that are named, with addresses; ``assets``
    the path of our static files; ``theme_chosen`` None where visitors see what their system wants."""
    styling = chosen.styling
    colours = site_theme(styling)
    text, text_file = _font(styling.font, "sans", fonts, assets)
    mono, _ = _font(styling.monospace_font, "mono", fonts, assets)
    faces = text.faces + (mono.faces if mono != text else "")
    css = f"{faces}:root{{--sans:{text.stack};--mono:{mono.stack}}}{colours.css()}{_top(chosen, colours)}"
    # English is also what stays where nobody chose.
    locale = locales.find_locale(chosen.internationalization.locale) or DEFAULT
    if locale == DEFAULT:
        locale = locales.find_locale(language) or locale
    return Look(
        customization=chosen,
        locale=locale,
        language=language or locale,
        colours=colours,
        theme_css=Markup(css),  # noqa: S704 - numbers and names of ours
        font_file=text_file,
        classes=_classes(chosen),
        theme=theme_chosen or "system",
    )


# --- fonts ----------------------------------------------------------------------------------------------


class _Set(Struct, frozen=True):
    """The CSS of a font: what declares it, and the value of ``font-family``."""

    faces: str
    stack: str


def _font(chosen: object, kind: Kind, custom: tuple[CustomFont, ...], assets: str) -> tuple[_Set, str | None]:
    """The font, and its file that pages need first. One that there is not, any more or by its licence, is the font of
    the system."""
    if isinstance(chosen, str):
        font = FONTS.get(chosen)
        return _ours(font, kind, assets), f"{assets}/{first_file(font)}" if font is not None else None
    own = next((font for font in custom if font.id == getattr(chosen, "id", None)), None)
    if own is None:
        return _ours(None, kind, assets), None
    # A name of ours: what people call a font never reaches the style sheet.
    name = f"custom-{own.id}"
    faces = custom_faces(name, [(face.weight, face.url, face.format) for face in own.faces])
    return _Set(faces, f'"{name}",{font_stack(None, kind)}'), None


@lru_cache(maxsize=64)
def _ours(font: Font | None, kind: Kind, assets: str) -> _Set:
    faces = font_faces(font, f"{assets}/{{}}") if font is not None else ""
    return _Set(faces, font_stack(font, kind))


# --- the header's own colours -----------------------------------------------------------------------------


def _top(customization: Customization, colours: Theme) -> str:
    """A header in colours of its own: the words on it are readable, whatever was chosen."""
    header = customization.header
    preset = header.preset
    if preset == "default" and customization.styling.theme == "bold":
        preset = "bold"
    sides = []
    for side, at in ((colours.light, "light"), (colours.dark, "dark")):
        if preset == "bold":
            sides.append((side["fill"], side["on-fill"]))
        elif preset == "contrast":
            sides.append((side["strong"], readable(side["bg"], side["strong"])))
        elif preset == "custom":
            ground = parse_hex(getattr(header.background_color, at, "")) or side["bg"]
            words = parse_hex(getattr(header.link_color, at, "")) or side["strong"]
            sides.append((ground, readable(words, ground)))
    if not sides:
        return ""
    (ground_light, words_light), (ground_dark, words_dark) = sides
    return (
        f".top{{--top-bg:{_both(ground_light, ground_dark)};--top-text:{_both(words_light, words_dark)};"
        "--top-muted:var(--top-text);--top-hover:color-mix(in oklab,var(--top-bg) 90%,var(--top-text));"
        "--top-fill:var(--top-text);--top-on-fill:var(--top-bg)}"
    )


def _both(light: Oklch, dark: Oklch) -> str:
    return f"light-dark({light.css()},{dark.css()})"


# --- classes --------------------------------------------------------------------------------------------


def _classes(customization: Customization) -> tuple[str, ...]:
    """What differs from how the style sheet draws a page by itself."""
    styling = customization.styling
    chosen = (
        ("theme", styling.theme, "clean"),
        ("corners", styling.corners, "rounded"),
        ("depth", styling.depth, "subtle"),
        ("links", styling.links, "default"),
        ("icons", styling.icons, "regular"),
        ("sidebar", styling.sidebar.background, "default"),
        ("list", styling.sidebar.list, "default"),
        ("search", styling.search, "prominent"),
        ("header", customization.header.preset, "default"),
    )
    return tuple(f"{name}-{value}" for name, value, plain in chosen if value != plain)


def picture(themed: object) -> Picture | None:
    """A picture of customization for both themes; None where there is none."""
    light, dark = getattr(themed, "light", None), getattr(themed, "dark", None)
    if not isinstance(light, str):
        return None
    return Picture(light=light, dark=dark if dark != light else None)
