"""Read logos, icons, and colors from each tool's configuration, using a table of their locations."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from octavo.core.json_types import JsonObject
from octavo.core.problems import Problem
from octavo.core.sources import LOOK_LEFT_OUT, Brand

from .markdown.literals import UNKNOWN
from .source_files import Heads

MAX_STYLES = 50
"""Maximum number of style sheets to search for a color."""


class _Where(NamedTuple):
    """Keys of each branding value in a tool's configuration, with dots between levels. The first key that has a
    value is used. ``variable``: the CSS variable that contains the color if no key does. ``dark`` and
    ``dark_color``: the variable and the color for dark pages."""

    logo: tuple[str, ...] = ()
    dark: tuple[str, ...] = ()
    favicon: tuple[str, ...] = ()
    color: tuple[str, ...] = ()
    dark_color: tuple[str, ...] = ()
    variable: str = ""


_STATED = {
    "docusaurus": _Where(
        ("themeConfig.navbar.logo.src", "headerIcon"),
        ("themeConfig.navbar.logo.srcDark",),
        ("favicon",),
        ("colors.primaryColor",),
        variable="--ifm-color-primary",
    ),
    "hugo": _Where(
        ("params.navbar.logo.path", "params.logo", "params.BookLogo"),
        ("params.navbar.logo.dark",),
        ("params.favicon",),
        ("params.primaryColor", "params.themeColor"),
    ),
    "jekyll": _Where(("logo",), favicon=("favicon_ico", "favicon")),
    "mintlify": _Where(
        ("logo.light", "logo"),
        ("logo.dark",),
        ("favicon.light", "favicon"),
        ("colors.primary",),
        ("colors.light",),
    ),
    "mkdocs": _Where(
        ("theme.logo",),
        favicon=("theme.favicon",),
        color=("theme.palette.primary", "theme.palette.0.primary"),
        dark_color=("theme.palette.1.primary",),
        variable="--md-primary-fg-color",
    ),
    "sphinx": _Where(
        ("html_logo", "html_theme_options.light_logo", "html_theme_options.logo.image_light"),
        ("html_theme_options.dark_logo", "html_theme_options.logo.image_dark"),
        ("html_favicon",),
        ("html_theme_options.light_css_variables.color-brand-primary",),
        ("html_theme_options.dark_css_variables.color-brand-primary",),
    ),
    "starlight": _Where(
        ("logo.light", "logo.src"), ("logo.dark",), ("favicon",), variable="--sl-color-accent"
    ),
    "vitepress": _Where(
        ("themeConfig.logo.light", "themeConfig.logo.src", "themeConfig.logo"),
        ("themeConfig.logo.dark",),
        variable="--vp-c-brand-1",
    ),
}
_NAMED = {
    "red": "#ef5552",
    "pink": "#e92063",
    "purple": "#ab47bd",
    "deep purple": "#7e56c2",
    "indigo": "#4051b5",
    "blue": "#2094f3",
    "light blue": "#02a6f2",
    "cyan": "#00bdd6",
    "teal": "#009485",
    "green": "#4cae4f",
    "light green": "#8bc34b",
    "lime": "#cbdc38",
    "yellow": "#ffec3d",
    "amber": "#ffc105",
    "orange": "#ffa724",
    "deep orange": "#ff6e42",
    "brown": "#795649",
    "grey": "#757575",
    "blue grey": "#546d78",
}
"""Named colors of the Material theme for MkDocs."""
_ICON = re.compile(r"(?:shortcut )?icon")
_RULE = re.compile(r"([^{}]{0,500})\{([^{}]*)\}")


def brand_of(files: Heads, project: str, kind: str, config: JsonObject, problems: list[Problem]) -> Brand:
    """Return the branding defined in a project's configuration. ``problems`` collects unusable values."""
    where = _STATED[kind]

    def stated(keys: tuple[str, ...]) -> str:
        for key in keys:
            value: Any = config
            for part in key.split("."):
                if isinstance(value, list) and part.isdecimal():
                    value = value[int(part)] if int(part) < len(value) else None
                else:
                    value = value.get(part) if isinstance(value, dict) else None
            if value is UNKNOWN:
                problems.append(
                    Problem(
                        project,
                        0,
                        LOOK_LEFT_OUT,
                        f"{key} is computed when the site is built, so it wasn't imported",
                    )
                )
            elif isinstance(value, str) and value.strip():
                return value.strip()
        return ""

    def hex_of(value: str) -> str:
        value = _NAMED.get(value, value)
        if found := re.fullmatch(r"(#(?:[0-9a-fA-F]{3}){1,2})(?:[0-9a-fA-F]{2})?", value):
            return found[1].lower()
        if value not in ("", "custom"):
            problems.append(
                Problem(project, 0, LOOK_LEFT_OUT, f"the color {value[:50]} must be in the format #rrggbb")
            )
        return ""

    color, dark = stated(where.color), stated(where.dark_color)
    if color in ("", "custom") and where.variable:
        color, dark = _in_styles(files, project, where.variable)
    color, dark = hex_of(color), hex_of(dark) if dark != color else ""
    icons = (
        [
            one[1].get("href")
            for one in config.get("head") or ()
            if isinstance(one, list)
            and len(one) > 1
            and isinstance(one[1], dict)
            and _ICON.match(str(one[1].get("rel")))
        ]
        if isinstance(config.get("head"), list)
        else []
    )
    favicon = stated(where.favicon) or next((one for one in icons if isinstance(one, str)), "")
    return Brand(color or dark, dark or color, stated(where.logo), stated(where.dark), favicon)


def _in_styles(files: Heads, project: str, variable: str) -> tuple[str, str]:
    """Return the values of a CSS variable on light and on dark pages."""
    found: dict[str, str] = {}
    styles = [path for path in files.below(project) if path.endswith(".css") and "node_modules/" not in path]
    for path in styles[:MAX_STYLES]:
        for rule in _RULE.finditer((files.text(path) or "") if files.source.size(path) < 256_000 else ""):
            value = re.search(rf"(?<![\w-]){variable}\s*:\s*([^;]{{1,100}})", rule[2])
            if value is not None:
                mode = next((mode for mode in ("dark", "light") if mode in rule[1]), "")
                found.setdefault(mode, value[1].strip())
    return found.get("light") or found.get("", ""), found.get("dark") or found.get("", "")
