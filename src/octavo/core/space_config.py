"""Read the configuration files of a space: ``.gitbook.yaml`` and ``vars.yaml``; ``tags.py`` reads ``tags.yaml``."""

from __future__ import annotations

import re
from urllib.parse import unquote

from msgspec import Struct, field

from .problems import Problem
from .summary import INVISIBLE, SUMMARY_PATH, entry_path
from .yaml_text import YamlError, YamlText, read_yaml

CONFIG_PATH = ".gitbook.yaml"
VARIABLES_PATH = ".gitbook/vars.yaml"
TAGS_PATH = ".gitbook/tags.yaml"
INCLUDES_FOLDER = ".gitbook/includes/"
ASSETS = ".gitbook/assets"
"""Folder for images that an import adds."""

_KEYS = ("root", "structure", "redirects")
_VARIABLE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,99}\Z")
MAX_VARIABLE = 256


class Config(Struct, kw_only=True):
    """Contents of ``.gitbook.yaml``. ``root``: a folder that ends in a slash, or empty; every other path is
    relative to it. ``redirects``: a map from a site path without leading slash to a file of the space or a
    URL, in its original form."""

    root: str = ""
    readme: str = "README.md"
    summary: str = SUMMARY_PATH
    redirects: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read_config(text: str, path: str = CONFIG_PATH) -> Config:
    """Read a configuration from any text. Errors are listed in ``problems``, and invalid values are replaced with
    defaults."""
    config = Config()
    # Invisible characters are included if such a file is copied from a web page.
    found = _read_map(INVISIBLE.sub("", text), path, config.problems)
    value = found.value if found else {}

    def complain(code: str, message: str, *way: str | int) -> None:
        config.problems.append(Problem(path, found.line(*way) if found else 0, code, message))

    def path_of(given: object, default: str, *way: str) -> str:
        if given is None:
            return default
        inside = entry_path(given.lstrip("/")) if isinstance(given, str) else None
        if inside is None or inside == "/" and way != ("root",):
            complain("bad_path", f"`{'.'.join(way)}`: must be a path within the repository", *way)
            return default
        return inside

    for key in value:
        if key not in _KEYS:
            complain("unknown_key", f"`{key}` isn't a known key; remove it or correct its spelling", key)
    root = path_of(value.get("root"), "", "root").strip("/")
    config.root = f"{root}/" if root else ""
    structure = value.get("structure")
    if isinstance(structure, dict):
        config.readme = path_of(structure.get("readme"), config.readme, "structure", "readme")
        config.summary = path_of(structure.get("summary"), config.summary, "structure", "summary")
    elif structure is not None:
        complain("bad_value", "`structure`: must be a map", "structure")
    redirects = value.get("redirects")
    if isinstance(redirects, dict):
        for source, target in redirects.items():
            if isinstance(target, str) and target and source.strip("/"):
                config.redirects[source.strip("/")] = target
            else:
                complain("bad_redirect", f"the redirect {source!r} has no valid target", "redirects", source)
    elif redirects is not None:
        complain("bad_value", "`redirects`: must be a map", "redirects")
    return config


def match_redirect(config: Config, path: str) -> str | None:
    """Return the target of the redirect for a site path. A redirect with this exact path takes precedence, followed by
    the ``old/*`` redirect with the longest matching prefix. Case is ignored."""
    redirects = {unquote(source).lower(): target for source, target in reversed(config.redirects.items())}
    parts = path.strip("/").lower().split("/")
    names = ["/".join(parts), *("/".join(parts[:n]) + "/*" for n in range(len(parts) - 1, 0, -1))]
    return next((redirects[name] for name in names if name in redirects), None)


def read_variables(
    text: str, path: str = VARIABLES_PATH
) -> tuple[dict[str, str | int | float | bool], list[Problem]]:
    """Read a flat map from names (a letter, then letters, digits, or ``_``) to strings of up to 256 characters,
    numbers, or booleans."""
    problems: list[Problem] = []
    found = _read_map(text, path, problems)
    variables: dict[str, str | int | float | bool] = {}
    for name, value in found.value.items() if found else ():
        if not _VARIABLE_NAME.match(name):
            message = (
                f"{name!r} isn't a valid variable name; use a letter, then letters, digits, and underscores"
            )
        elif not isinstance(value, (str, int, float)):
            message = f"{name!r} must be text, a number, true, or false"
        elif isinstance(value, str) and len(value) > MAX_VARIABLE:
            message = f"{name!r} must be at most {MAX_VARIABLE:,} characters long"
        else:
            variables[name] = value
            continue
        problems.append(Problem(path, found.line(name) if found else 0, "bad_variable", message))
    return variables, problems


def _read_map(text: str, path: str, problems: list[Problem]) -> YamlText | None:
    try:
        found = read_yaml(text)
    except YamlError as error:
        problems.append(Problem(path, error.line, "invalid_yaml", str(error)))
        return None
    if isinstance(found.value, dict):
        return found
    if found.value is not None:
        problems.append(Problem(path, found.line(), "bad_value", "the file must contain a YAML mapping"))
    return None
