"""Derive every color of a site's two themes from one primary and one tint color, with readable text.

Lightness and chroma are defined as in OKLCH (B. Ottosson, "A perceptual color space for image processing", 2020), and
contrast as in WCAG 2. The lightness of text is adjusted until its contrast is at least 4.5:1 on every surface that it
can appear on.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from markupsafe import Markup
from msgspec import Struct

TEXT_CONTRAST = 4.5
Pair = tuple[str, str]
"""A color as ``#rgb`` or ``#rrggbb``, for the light and the dark theme."""
DEFAULT_PRIMARY: Pair = ("#3056d3", "#3056d3")
_HEX = re.compile(r"#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


class Oklch(Struct, frozen=True):
    """Color in OKLCH: lightness (0 to 1), chroma (about 0 to 0.37 in sRGB), and hue (degrees)."""

    l: float  # noqa: E741 - the name of the axis
    c: float
    h: float

    def css(self) -> str:
        return f"oklch({self.l:.3f} {self.c:.3f} {self.h:.1f})"


Rgb = tuple[float, float, float]


def _to_linear(v: float) -> float:
    return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4


def parse_hex(text: str) -> Oklch | None:
    """Parse ``#rgb`` or ``#rrggbb`` as OKLCH; return None for other text."""
    match = _HEX.fullmatch(text.strip())
    if match is None:
        return None
    digits = match[1] if len(match[1]) == 6 else "".join(d * 2 for d in match[1])
    r, g, b = (_to_linear(int(digits[i : i + 2], 16) / 255) for i in (0, 2, 4))
    l = math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)  # noqa: E741
    m = math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
    s = math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
    lightness = 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s
    a = 1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s
    bb = 0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s
    return Oklch(min(max(lightness, 0.0), 1.0), math.hypot(a, bb), math.degrees(math.atan2(bb, a)) % 360)


def linear_rgb(color: Oklch) -> Rgb:
    """Convert a color to linear sRGB. If the color is outside sRGB, components are outside the range 0 to 1."""
    a = color.c * math.cos(math.radians(color.h))
    b = color.c * math.sin(math.radians(color.h))
    l = (color.l + 0.3963377774 * a + 0.2158037573 * b) ** 3  # noqa: E741
    m = (color.l - 0.1055613458 * a - 0.0638541728 * b) ** 3
    s = (color.l - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return (
        4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s,
    )


def in_gamut(color: Oklch) -> Oklch:
    """Return the color with its chroma reduced to the maximum that sRGB can represent at this lightness and hue."""
    if all(-1e-4 <= v <= 1 + 1e-4 for v in linear_rgb(color)):
        return color
    low, high = 0.0, color.c
    for _ in range(20):
        middle = (low + high) / 2
        if all(-1e-4 <= v <= 1 + 1e-4 for v in linear_rgb(Oklch(color.l, middle, color.h))):
            low = middle
        else:
            high = middle
    return Oklch(color.l, low, color.h)


def luminance(color: Oklch) -> float:
    r, g, b = (min(max(v, 0.0), 1.0) for v in linear_rgb(color))
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def contrast(one: Oklch, other: Oklch) -> float:
    """Return the WCAG 2 contrast ratio, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def readable(color: Oklch, *backgrounds: Oklch, ratio: float = TEXT_CONTRAST) -> Oklch:
    """Return the color with the nearest lightness that gives it a contrast of at least ``ratio`` with every
    background."""

    def enough(l: float) -> bool:  # noqa: E741
        tried = in_gamut(Oklch(l, color.c, color.h))
        # The target is slightly higher, because the written values are rounded.
        return all(contrast(tried, b) >= ratio + 0.05 for b in backgrounds)

    if enough(color.l):
        return in_gamut(color)
    light = sum(luminance(b) for b in backgrounds) / len(backgrounds) > 0.18
    near, far = color.l, 0.0 if light else 1.0
    for _ in range(16):
        middle = (near + far) / 2
        if enough(middle):
            far = middle
        else:
            near = middle
    return in_gamut(Oklch(far, color.c, color.h))


_SEMANTIC = {"info": "#2f6fd6", "success": "#1d8a4e", "warning": "#b7791f", "danger": "#cf3a3a"}
_NEUTRAL = 0.03
"""Chroma below which a color counts as gray."""
_NAMED = {
    "green": 150.0,
    "blue": 255.0,
    "red": 25.0,
    "orange": 55.0,
    "yellow": 95.0,
    "purple": 305.0,
    "pink": 350.0,
    "violet": 285.0,
    "cyan": 210.0,
}


class NeutralColors(Struct, frozen=True):
    """Parameters of the neutral colors of one theme: their hue, the chroma of a surface, the lightness of the
    page, and the share of the chroma on the page itself (0 to 1)."""

    hue: float
    chroma: float
    page: float
    share: float


def _ground(dark: bool, primary: Oklch, tint: Oklch | None, match: bool) -> NeutralColors:
    plain = 0.19 if dark else 1.0
    if tint is None:
        if match:
            return NeutralColors(
                primary.h, min(primary.c, 0.03 if dark else 0.02), 0.21 if dark else 0.975, 1.0
            )
        return NeutralColors(primary.h, min(primary.c, 0.012 if dark else 0.008), plain, 1.0 if dark else 0.0)
    if tint.c < _NEUTRAL and (tint.l <= 0.32 if dark else tint.l >= 0.93):
        # Nearly black or white: the color was chosen as the page's background.
        return NeutralColors(tint.h, tint.c, tint.l, 1.0)
    chroma = min(tint.c, 0.03 if dark else 0.02)
    if match:
        return NeutralColors(tint.h, chroma, 0.21 if dark else 0.975, 1.0)
    return NeutralColors(tint.h, chroma, 0.2 if dark else 0.99, 1.0 if dark else 0.4)


def _side(
    dark: bool, primary: Oklch, tint: Oklch | None, semantic: dict[str, Oklch], match: bool
) -> dict[str, Oklch]:
    ground = _ground(dark, primary, tint, match)
    hue, grey, page = ground.hue, ground.chroma, ground.page

    def neutral(l: float, c: float = 1.0) -> Oklch:  # noqa: E741
        return in_gamut(Oklch(min(max(l, 0.0), 1.0), grey * c, hue))

    if dark:
        out = {
            "bg": neutral(page, ground.share),
            "raised": neutral(page + 0.035),
            "sunken": neutral(page - 0.025),
            "hover": neutral(page + 0.07),
            "line": neutral(page + 0.1),
            "line-strong": neutral(page + 0.19),
            "text": neutral(0.90),
            "strong": neutral(0.97),
            "muted": neutral(0.71, 1.4),
        }
    else:
        share = 0.5 + ground.share / 2
        out = {
            "bg": neutral(page, ground.share),
            "raised": neutral(page - 0.016, share),
            "sunken": neutral(page - 0.033, 0.7 + 0.3 * ground.share),
            "hover": neutral(page - 0.04),
            "line": neutral(page - 0.078),
            "line-strong": neutral(page - 0.15),
            "text": neutral(0.34, 2.0),
            "strong": neutral(0.21, 2.0),
            "muted": neutral(0.53, 2.0),
        }
    edge_l, soft_l = (page + 0.18, page + 0.065) if dark else (page - 0.115, page - 0.032)

    def soft_of(base: Oklch) -> Oklch:
        return in_gamut(Oklch(soft_l, min(base.c, 0.16) * (0.2 if dark else 0.11), base.h))

    surfaces = (out["bg"], out["raised"], out["sunken"], out["hover"])
    # Text of every weight also appears on surfaces highlighted in the primary color.
    for name in ("text", "strong", "muted"):
        out[name] = readable(out[name], *surfaces, soft_of(primary))

    def family(name: str, base: Oklch) -> None:
        soft = soft_of(base)
        edge = in_gamut(Oklch(edge_l, min(base.c, 0.16) * (0.32 if dark else 0.28), base.h))
        start = Oklch(
            max(base.l, 0.72) if dark else min(base.l, 0.55), base.c * (0.85 if dark else 1), base.h
        )
        out[f"{name}-soft"] = soft
        out[f"{name}-edge"] = edge
        out[name] = readable(start, *surfaces, soft)

    family("primary", primary)
    # Filled buttons keep the customer's color wherever some text color is readable on it.
    fill = in_gamut(primary)
    white, black = Oklch(1.0, 0.0, 0.0), Oklch(0.16, 0.0, 0.0)
    # White looks calmer than black on a strong color; use black only where white would be unreadable.
    on = white if contrast(fill, white) >= 3.0 else black
    out["fill"] = readable(fill, on)
    out["on-fill"] = on
    for name, color in semantic.items():
        family(name, color)
    for name, angle in _NAMED.items():
        family(name, Oklch(0.62, 0.15, angle))
    # Code blocks: muted colors of fixed hues, readable on the surface of the block.
    surface = (out["raised"], out["primary-soft"])
    l = 0.78 if dark else 0.5  # noqa: E741
    for name, angle, c in (
        ("keyword", 300.0, 0.15),
        ("string", 150.0, 0.12),
        ("number", 50.0, 0.13),
        ("name", 255.0, 0.13),
        ("kind", 200.0, 0.1),
        ("tag", 20.0, 0.14),
    ):
        out[f"code-{name}"] = readable(Oklch(l, c * (0.8 if dark else 1), angle), *surface)
    out["code-comment"] = readable(Oklch(0.62 if dark else 0.56, grey * 2, hue), *surface)
    return out


class Theme(Struct, frozen=True):
    """Colors of both themes by token name, without the leading ``--``; both themes have the same names."""

    light: dict[str, Oklch]
    dark: dict[str, Oklch]

    def css(self) -> Markup:
        """Return one CSS rule that sets the tokens; ``color-scheme`` determines which theme applies."""
        pairs = "".join(
            f"--{name}:light-dark({color.css()},{self.dark[name].css()});"
            for name, color in self.light.items()
        )
        return Markup(f":root{{{pairs}}}")  # noqa: S704 - names of ours and numbers


def theme(
    primary: Pair = DEFAULT_PRIMARY,
    *,
    tint: Pair | None = None,
    semantic: Mapping[str, Pair] | None = None,
    match: bool = False,
) -> Theme:
    """Build both themes from hex colors. Invalid colors fall back to the default. ``tint``: the color that determines
    the hue of neutral surfaces and text (by default, the primary color). A tint that is nearly white or black is also
    the page's background. ``semantic``: the colors for info, success, warning, and danger. ``match``: whether the
    page's background has the primary color's hue."""

    def side(dark: bool) -> dict[str, Oklch]:
        own = parse_hex(primary[dark]) or parse_hex(DEFAULT_PRIMARY[dark])
        assert own is not None
        named = {
            name: parse_hex((semantic or {}).get(name, ("", ""))[dark]) or parse_hex(default) or own
            for name, default in _SEMANTIC.items()
        }
        return _side(dark, own, parse_hex(tint[dark]) if tint else None, named, match)

    return Theme(side(False), side(True))
