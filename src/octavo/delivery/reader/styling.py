"""How a site's customization affects its pages: colors, fonts, style sheet classes, and visible parts.

Values from customization are never copied into CSS: colors are parsed and recomputed, fonts are looked up, and all
other settings select among classes.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from markupsafe import Markup
from msgspec import Struct

from octavo.core.color import Oklch, Theme, parse_hex, readable
from octavo.kit.locales import DEFAULT
from octavo.sites.fonts.built_in import (
    FONTS,
    BuiltInFont,
    Kind,
    custom_faces,
    first_file,
    font_faces,
    font_stack,
)
from octavo.sites.fonts.serving import CustomFont
from octavo.sites.site.customization.colors import site_theme
from octavo.sites.site.customization.model import Customization, DefaultMode
from octavo.sites.site.customization.settings import list_classes

from . import locales
from .views import FrameLabels, ThemedImage


class SiteLook(Struct, frozen=True):
    """Appearance of the pages of one of a site's spaces. ``locale``: the language of the interface. ``language``:
    the language of the text. ``theme``: the selected theme; by default, the visitor's system theme."""

    customization: Customization
    locale: str
    language: str
    colors: Theme
    theme_css: Markup
    font_file: str | None
    classes: tuple[str, ...]
    theme: Literal["system", "light", "dark"]

    @property
    def labels(self) -> FrameLabels:
        return locales.read_catalog()[self.locale]

    @property
    def asks(self) -> bool:
        """Return whether visitors can ask the assistant questions."""
        return self.customization.ai.mode != "none"

    @property
    def new_tab(self) -> bool:
        return self.customization.external_links.target == "blank"


def read_look(
    chosen: Customization,
    language: str | None,
    fonts: tuple[CustomFont, ...],
    assets: str,
    theme_chosen: DefaultMode | None = None,
) -> SiteLook:
    """Return the appearance. ``language``: the language of the space. ``fonts``: the organization's fonts in
    use, with URLs. ``assets``: the path of static files. ``theme_chosen``: the selected theme; None to use
    the visitor's system theme."""
    styling = chosen.styling
    colors = site_theme(styling)
    text, text_file = _font(styling.font, "sans", fonts, assets)
    mono, _ = _font(styling.monospace_font, "mono", fonts, assets)
    headings, _ = _font(styling.heading_font or styling.font, "sans", fonts, assets)
    faces = "".join(dict.fromkeys(font.faces for font in (text, mono, headings)))
    stacks = f"--sans:{text.stack};--mono:{mono.stack};--headings:{headings.stack}"
    css = f"{faces}:root{{{stacks}}}{colors.css()}{_header_style(chosen, colors)}"
    # English is also the default of customization.
    locale = locales.find_locale(chosen.internationalization.locale) or DEFAULT
    if locale == DEFAULT:
        locale = locales.find_locale(language) or locale
    return SiteLook(
        customization=chosen,
        locale=locale,
        language=language or locale,
        colors=colors,
        theme_css=Markup(css),  # noqa: S704 - numbers and names of ours
        font_file=text_file,
        classes=tuple(list_classes(chosen)),
        theme=theme_chosen or "system",
    )


# --- fonts ----------------------------------------------------------------------------------------------


class _FontSet(Struct, frozen=True):
    """CSS for a font: its declaration and the value of ``font-family``."""

    faces: str
    stack: str


def _font(
    chosen: object, kind: Kind, custom: tuple[CustomFont, ...], assets: str
) -> tuple[_FontSet, str | None]:
    """Return the font, and the font file to preload. A missing or unlicensed font is replaced by the system font."""
    if isinstance(chosen, str):
        font = FONTS.get(chosen)
        return _built_in_set(font, kind, assets), f"{assets}/{first_file(font)}" if font is not None else None
    own = next((font for font in custom if font.id == getattr(chosen, "id", None)), None)
    if own is None:
        return _built_in_set(None, kind, assets), None
    # The name that people choose for a font never reaches the style sheet, which uses a name from Octavo.
    name = f"custom-{own.id}"
    faces = custom_faces(name, [(face.weight, face.url, face.format) for face in own.faces])
    return _FontSet(faces, f'"{name}",{font_stack(None, kind)}'), None


@lru_cache(maxsize=64)
def _built_in_set(font: BuiltInFont | None, kind: Kind, assets: str) -> _FontSet:
    faces = font_faces(font, f"{assets}/{{}}") if font is not None else ""
    return _FontSet(faces, font_stack(font, kind))


# --- header colors ---------------------------------------------------------------------------------------


def _header_style(customization: Customization, colors: Theme) -> str:
    """Return the style of a header with its own colors. Its text stays readable with any colors."""
    header = customization.header
    preset = header.preset
    if preset == "default" and customization.styling.theme == "bold":
        preset = "bold"
    sides = []
    for side, at in ((colors.light, "light"), (colors.dark, "dark")):
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
        f".top{{--top-bg:{_light_and_dark(ground_light, ground_dark)};"
        f"--top-text:{_light_and_dark(words_light, words_dark)};"
        "--top-muted:var(--top-text);--top-hover:color-mix(in oklab,var(--top-bg) 90%,var(--top-text));"
        "--top-fill:var(--top-text);--top-on-fill:var(--top-bg)}"
    )


def _light_and_dark(light: Oklch, dark: Oklch) -> str:
    return f"light-dark({light.css()},{dark.css()})"


def themed_image(themed: object) -> ThemedImage | None:
    """Return a customization image for both themes; None if there is none."""
    light, dark = getattr(themed, "light", None), getattr(themed, "dark", None)
    if not isinstance(light, str):
        return None
    return ThemedImage(light=light, dark=dark if dark != light else None)
