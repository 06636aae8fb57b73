"""Built-in fonts for customization, served from Octavo's own host: their files and CSS.

The files in ``files/`` are unmodified files from the Fontsource packages, with each font's license alongside. The
files are split by script, so that a page fetches only the scripts that it uses. Until a font has loaded, text is
shown in a system font with the same widths and heights, so that the layout doesn't shift."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Literal

from msgspec import Struct

Kind = Literal["sans", "serif", "mono"]

_LOCAL = {
    "sans": ("Arial", "Liberation Sans", "Arimo", "Helvetica Neue", "Helvetica"),
    "serif": ("Times New Roman", "Liberation Serif", "Tinos", "Times"),
    "mono": ("Courier New", "Liberation Mono", "Cousine", "Courier"),
}
"""System fonts to show until a font has loaded. All system fonts of a kind have the same character widths, and
nearly every system has one of them."""
_STACKS = {
    "sans": (
        'ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", '
        "Arial, sans-serif"
    ),
    "serif": 'ui-serif, Georgia, Cambria, "Noto Serif", "Times New Roman", serif',
    "mono": 'ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Noto Sans Mono", "DejaVu Sans Mono", monospace',
}
_RANGES = {
    "latin": "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,"
    "U+2122,U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD",
    "latin-ext": "U+0100-02BA,U+02BD-02C5,U+02C7-02CC,U+02CE-02D7,U+02DD-02FF,U+0304,U+0308,U+0329,U+1D00-1DBF,"
    "U+1E00-1E9F,U+1EF2-1EFF,U+2020,U+20A0-20AB,U+20AD-20C0,U+2113,U+2C60-2C7F,U+A720-A7FF",
    "cyrillic": "U+0301,U+0400-045F,U+0490-0491,U+04B0-04B1,U+2116",
    "greek": "U+0370-0377,U+037A-037F,U+0384-038A,U+038C,U+038E-03A1,U+03A3-03FF",
}
_ALL = ("latin", "latin-ext", "cyrillic", "greek")
_NO_GREEK = _ALL[:3]
_LATIN = _ALL[:2]


class BuiltInFont(Struct, frozen=True):
    """Built-in font. ``name``: the prefix of its file names. ``weights``: the lightest and heaviest weights of a
    variable font, or all weights of any other font. ``metrics``: the size, ascent, descent, and line gap of the
    fallback font, in percent."""

    family: str
    name: str
    kind: Kind
    metrics: tuple[float, float, float, float]
    weights: str | tuple[int, ...]
    scripts: tuple[str, ...] = _ALL
    italic: bool = False


FONTS = {
    "Inter": BuiltInFont("Inter", "inter", "sans", (107.46, 90.15, 22.45, 0), "100 900", italic=True),
    "Roboto": BuiltInFont("Roboto", "roboto", "sans", (100.48, 92.33, 24.3, 0), "100 900", italic=True),
    "RobotoSlab": BuiltInFont("Roboto Slab", "roboto-slab", "serif", (118.7, 88.27, 22.83, 0), "100 900"),
    "OpenSans": BuiltInFont(
        "Open Sans", "open-sans", "sans", (105.97, 100.87, 27.65, 0), "300 800", italic=True
    ),
    "SourceSansPro": BuiltInFont(
        "Source Sans 3", "source-sans-3", "sans", (94.62, 108.23, 42.28, 0), "200 900", italic=True
    ),
    "Lato": BuiltInFont("Lato", "lato", "sans", (97.95, 100.77, 21.75, 0), (400, 700), _LATIN, italic=True),
    "Ubuntu": BuiltInFont("Ubuntu", "ubuntu", "sans", (102.95, 90.53, 18.36, 2.72), (400, 700), italic=True),
    "Raleway": BuiltInFont(
        "Raleway", "raleway", "sans", (105.16, 89.38, 22.25, 0), "100 900", _NO_GREEK, italic=True
    ),
    "Merriweather": BuiltInFont(
        "Merriweather", "merriweather", "serif", (120.45, 81.69, 22.67, 0), "300 900", _NO_GREEK, italic=True
    ),
    "Overpass": BuiltInFont(
        "Overpass", "overpass", "sans", (101.08, 87.36, 37.89, 0), "100 900", _NO_GREEK, italic=True
    ),
    "NotoSans": BuiltInFont(
        "Noto Sans", "noto-sans", "sans", (107.09, 99.83, 27.36, 0), "100 900", italic=True
    ),
    "IBMPlexSerif": BuiltInFont(
        "IBM Plex Serif",
        "ibm-plex-serif",
        "serif",
        (117.37, 87.33, 23.43, 0),
        (400, 700),
        _NO_GREEK,
        italic=True,
    ),
    "Poppins": BuiltInFont(
        "Poppins", "poppins", "sans", (114.02, 92.09, 30.7, 8.77), (400, 700), _LATIN, italic=True
    ),
    "FiraSans": BuiltInFont(
        "Fira Sans", "fira-sans", "sans", (103.94, 89.96, 25.5, 0), (400, 700), italic=True
    ),
    "FiraCode": BuiltInFont("Fira Code", "fira-code", "mono", (100, 99, 32.2, 0), "300 700"),
    "IBMPlexMono": BuiltInFont(
        "IBM Plex Mono", "ibm-plex-mono", "mono", (100, 102.5, 27.5, 0), (400, 700), _NO_GREEK
    ),
    "JetBrainsMono": BuiltInFont("JetBrains Mono", "jetbrains-mono", "mono", (100, 102, 30, 0), "100 800"),
    "SourceCodePro": BuiltInFont(
        "Source Code Pro", "source-code-pro", "mono", (100, 98.4, 27.3, 0), "200 900"
    ),
    "RobotoMono": BuiltInFont("Roboto Mono", "roboto-mono", "mono", (100.02, 104.77, 27.1, 0), "100 700"),
    "SpaceMono": BuiltInFont("Space Mono", "space-mono", "mono", (102, 109.8, 35.39, 0), (400, 700), _LATIN),
    "DMMono": BuiltInFont("DM Mono", "dm-mono", "mono", (100, 99.2, 31, 0), (400, 500), _LATIN),
    "Inconsolata": BuiltInFont(
        "Inconsolata", "inconsolata", "mono", (83.33, 103.08, 22.8, 0), "200 900", _LATIN
    ),
}


@cache
def font_files() -> frozenset[str]:
    """Return the names of all font files."""
    return frozenset(
        file.name for file in (files(__package__) / "files").iterdir() if file.name.endswith(".woff2")
    )


def read_font(name: str) -> bytes:
    return (files(__package__) / "files" / name).read_bytes()


def upright_files(font: BuiltInFont) -> list[str]:
    """Return the files of all scripts and weights, without italics."""
    weights = (None,) if isinstance(font.weights, str) else font.weights
    named = [_file(font, script, weight) for script in font.scripts for weight in weights]
    return [name for name in named if name in font_files()]


def printed_files(font: BuiltInFont) -> list[tuple[str, tuple[int, ...], int, bool]]:
    """Return the files for print, each with its weights, a number shared by all files for the same script, and
    whether it is italic."""
    found: list[tuple[str, tuple[int, ...], int, bool]] = []
    weights = font.weights
    for number, script in enumerate(font.scripts):
        if isinstance(weights, str):
            found.append((_file(font, script, None), (400, 700), number, False))
        else:
            found += [(_file(font, script, weight), (weight,), number, False) for weight in weights]
    if font.italic:
        italic = _file(font, "latin", None if isinstance(weights, str) else weights[0], "italic")
        found.append((italic, (400,), 0, True))
    return [one for one in found if one[0] in font_files()]


def first_file(font: BuiltInFont) -> str:
    """Return the file that pages preload, because nearly every page uses it."""
    return _file(font, "latin", None if isinstance(font.weights, str) else font.weights[0])


def _file(font: BuiltInFont, script: str, weight: int | None, style: str = "normal") -> str:
    return f"{font.name}-{script}-{weight or 'wght'}-{style}.woff2"


def font_faces(font: BuiltInFont, address: str) -> str:
    """Return the CSS that declares a font, and the fallback to use until the font has loaded. ``address``: the URL
    of a file, with ``{}`` for its name."""
    weights: tuple[tuple[int | None, str], ...]
    if isinstance(font.weights, str):
        weights = ((None, font.weights),)
    else:
        # The lighter face is used for weights below bold, the heavier one for the rest.
        lighter, heavier = font.weights
        weights = ((lighter, "100 549"), (heavier, "550 900"))
    out = []
    for weight, described in weights:
        for script in font.scripts:
            if _file(font, script, weight) in font_files():
                out.append(_face(font, _file(font, script, weight), "normal", described, script, address))
    if font.italic:
        weight, described = weights[0]
        out.append(_face(font, _file(font, "latin", weight, "italic"), "italic", described, "latin", address))
    return "".join(out) + _fallback(font)


def _face(font: BuiltInFont, name: str, style: str, weights: str, script: str, address: str) -> str:
    return (
        f'@font-face{{font-family:"{font.family}";font-style:{style};font-weight:{weights};font-display:swap;'
        f'src:url("{address.format(name)}")format("woff2");unicode-range:{_RANGES[script]}}}'
    )


def _fallback(font: BuiltInFont) -> str:
    size, ascent, descent, gap = font.metrics
    local = ",".join(f'local("{name}")' for name in _LOCAL[font.kind])
    return (
        f'@font-face{{font-family:"{font.family} Fallback";src:{local};size-adjust:{size:g}%;'
        f"ascent-override:{ascent:g}%;descent-override:{descent:g}%;line-gap-override:{gap:g}%}}"
    )


def font_stack(font: BuiltInFont | None, kind: Kind) -> str:
    """Return the value of ``font-family``."""
    own = f'"{font.family}","{font.family} Fallback",' if font is not None else ""
    return own + _STACKS[font.kind if font is not None else kind]


def custom_faces(name: str, faces: list[tuple[int, str, str]]) -> str:
    """Return the CSS that declares an organization's font under ``name``, given the weight, URL, and format
    of each face."""
    return "".join(
        f'@font-face{{font-family:"{name}";font-weight:{weight};font-display:swap;src:url("{url}")format("{form}")}}'
        for weight, url, form in faces
    )
