"""Read redirects from other platforms' files: tables, ``_redirects``, ``netlify.toml``, ``vercel.json`` and other
JSON, ``.gitbook.yaml``, ``mkdocs.yml``, ``.htaccess``, and configurations written in JavaScript.

Sources and destinations are returned in the same format: as a path without a trailing slash, or as a URL. ``*`` at
the end of a source matches all paths under it. Lines with another meaning, such as rewrites and conditions, are
reported."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator
from typing import Literal

from octavo.core.json_types import JsonObject
from octavo.core.redirects import Format, GivenRedirect
from octavo.core.sources import SourceError
from octavo.core.yaml_text import YamlError, read_yaml

from .markdown.literals import UNKNOWN, read_export
from .values import listing, mapping, text_of

_BY_NAME: tuple[tuple[str, Format], ...] = (
    (r"\.(?:csv|tsv)", "csv"),
    (r"(?:^|.*[/\\])_redirects(?:\.txt)?", "netlify"),
    (r"\.toml", "toml"),
    (r"\.jsonc?", "json"),
    (r"\.ya?ml", "yaml"),
    (r"\.[cm]?[jt]s", "javascript"),
    (r"\.htaccess", "htaccess"),
)
_BY_CONTENT: tuple[tuple[str, Format], ...] = (
    (
        r"(?i)\A[^\n]*\bsource\b[^\n]*\bdestination\b[^\n]*(?:\n|\Z)|\A[^\n]*\bdestination\b[^\n]*\bsource\b[^\n]*",
        "csv",
    ),
    (r"^\s*\[\[redirects\]\]", "toml"),
    (r"^\s*(?:export\s+default|module\.exports)\b", "javascript"),
    (r"(?i)^\s*(?:Redirect(?:Match|Permanent|Temp)?|RewriteRule)\s", "htaccess"),
    (r"^(?:redirects|plugins)\s*:", "yaml"),
    (r"^\s*/\S*[ \t]+(?:/|https?://)\S*", "netlify"),
)
_PERMANENT = (301, 308)
_TEMPORARY = (302, 303, 307)
_REST = re.compile(r"/(?::\w+(?:\*|\(\.\*\))|\(\.\*\)|\*)$|/:splat$")
"""Pattern for the suffixes of a source that match all paths under a path."""
_CARRIED = re.compile(r"/?(?::splat|:\w+\*?|\$1|\$\{?path\}?)$")
"""Pattern for the suffixes of a destination that stand for the rest of the matched path."""
_FILE_END = re.compile(r"(?:(?:^|/)(?:README|readme|index))?\.mdx?(?=$|#)")


def format_of(name: str, text: str) -> Format:
    """Return the format of a file, based on its name or, by default, on its content. Raises SourceError if the format
    is unknown."""
    for pattern, format in _BY_NAME:
        if re.search(f"{pattern}$", name, re.IGNORECASE):
            return format
    if text.lstrip().startswith(("{", "[")) and not text.lstrip().startswith("[["):
        return "json"
    for pattern, format in _BY_CONTENT:
        if re.search(pattern, text, re.MULTILINE):
            return format
    raise SourceError(
        "the format is unknown. Use a CSV file with the columns `source` and `destination`, or the redirects"
        " file of a supported platform."
    )


def read_redirects(format: Format, text: str) -> list[GivenRedirect]:
    """Return the redirects in a file. Raises SourceError if the file can't be read."""
    try:
        return list(_READERS[format](text.removeprefix("\ufeff")))
    except (csv.Error, tomllib.TOMLDecodeError, YamlError, ValueError, RecursionError) as error:
        raise SourceError(f"the file is invalid: {str(error)[:200]}") from None


# --- lines ---------------------------------------------------------------------------------------------


def _read_csv(text: str) -> Iterator[GivenRedirect]:
    first = text.partition("\n")[0]
    delimiter = max((",", ";", "\t"), key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    names = [(name or "").strip().lower() for name in reader.fieldnames or []]
    if not {"source", "destination"} <= set(names):
        raise SourceError(
            "the columns `source` and `destination` are required; `intent`, `permanent`, and"
            " `captureWildcard` are optional"
        )
    reader.fieldnames = names
    for row in reader:
        source, destination, intent, permanent, capture = (
            (row.get(name) or "").strip()
            for name in ("source", "destination", "intent", "permanent", "capturewildcard")
        )
        if not source and not destination:
            continue
        switches = {name: _switch(value) for name, value in (("p", permanent), ("c", capture))}
        wrong = (
            "permanent, captureWildcard: must be `true`, `false`, or empty" if "" in switches.values() else ""
        )
        yield GivenRedirect(
            row=reader.line_num,
            source=_plain(source),
            destination=destination,
            intent=intent.lower(),
            capture=bool(switches["c"]),
            permanent=bool(switches["p"]) if switches["p"] is not None else None,
            problem=wrong,
        )


def _switch(text: str) -> bool | Literal[""] | None:
    """Return the boolean that the text represents: None if the text is empty, and "" if it isn't a boolean."""
    if not text:
        return None
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
        text.lower(), ""
    )


def _plain(source: str) -> str:
    return source.rstrip("/") if source.startswith("/") and source != "/" else source


def _read_netlify(text: str) -> Iterator[GivenRedirect]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split() if line.lstrip().startswith("#") else line.split()
        if "#" in words:
            words = words[: words.index("#")]
        if not words:
            continue
        source, rest = words[0], words[1:]
        conditions = [word for word in rest if re.fullmatch(r"[\w:]+=\S+", word)]
        rest = [word for word in rest if word not in conditions]
        if not rest:
            yield _wrong(number, source, "the redirect has no destination")
        elif conditions:
            yield _wrong(number, source, f"conditions such as {conditions[0]} aren't supported")
        else:
            yield _given(number, source, rest[0], rest[1] if len(rest) > 1 else "301")


def _read_htaccess(text: str) -> Iterator[GivenRedirect]:
    for number, line in enumerate(text.splitlines(), 1):
        if not re.match(r"(?i)\s*(?:Redirect|RewriteRule)", line):
            continue
        try:
            name, *words = shlex.split(line)
        except ValueError:
            yield _wrong(number, line.strip(), "the quotation mark is never closed")
            continue
        kind = name.lower()
        status = {"redirectpermanent": "301", "redirecttemp": "302"}.get(kind, "302")
        if (
            kind in ("redirect", "redirectmatch")
            and words
            and re.fullmatch(r"\d{3}|permanent|temp|gone", words[0])
        ):
            status = {"permanent": "301", "temp": "302", "gone": "410"}.get(words[0], words[0])
            words = words[1:]
        if kind == "rewriterule" or len(words) != 2:
            yield _wrong(number, line.strip(), "only `Redirect` and `RedirectMatch` lines are supported")
        elif kind == "redirectmatch":
            source = words[0].removeprefix("^").removesuffix("$").replace("\\.", ".")
            yield _given(number, source, words[1], status)
        else:
            # Apache also matches everything under a path and appends the rest to the target; only the path itself is
            # imported.
            yield _given(number, words[0], words[1], status)


# --- structures ------------------------------------------------------------------------------------------


def _read_toml(text: str) -> Iterator[GivenRedirect]:
    yield from _read_list(listing(tomllib.loads(text).get("redirects")), "301")


def _read_json(text: str) -> Iterator[GivenRedirect]:
    try:
        found = json.loads(text)
    except ValueError:
        # Many tools accept comments and trailing commas.
        found = read_export(f"export default {text}")
        if found is UNKNOWN:
            raise
    yield from _read_value(found)


def _read_javascript(text: str) -> Iterator[GivenRedirect]:
    found = read_export(text)
    if found is UNKNOWN:
        raise SourceError(
            "the redirects can't be read, because they are computed when this file runs. Paste them as JSON"
            " or CSV."
        )
    yield from _read_value(found)


def _read_yaml(text: str) -> Iterator[GivenRedirect]:
    # YAML tags that create application objects are dropped, so that only their values are read.
    yield from _read_value(read_yaml(re.sub(r"!!?[A-Za-z][\w./:-]*(?=\s|$)", "", text)).value)


def _read_value(found: object) -> Iterator[GivenRedirect]:
    """Read redirects from a list, from a map, or from a configuration that has them at the top level or in a plugin's
    settings."""
    if isinstance(found, list):
        yield from _read_list(found, "")
        return
    whole = mapping(found)
    plugins = [*listing(whole.get("plugins")), *listing(whole.get("presets"))]
    of_plugins = [value for plugin in plugins for value in _of_plugin(plugin)]
    is_map = bool(whole) and all(key.startswith("/") for key in whole)
    given = whole if is_map else whole.get("redirects") or whole.get("redirect_maps")
    values = [value for value in (given, *of_plugins) if value]
    if not values:
        raise SourceError("the file contains no redirects")
    for value in values:
        if isinstance(value, list):
            yield from _read_list(value, "308" if value is given else "")
        else:
            yield from _read_map(mapping(value))


def _of_plugin(plugin: object) -> Iterator[object]:
    """Yield the redirects in the settings of a plugin. The settings follow the plugin's name in a list, or are the
    value of its name in a map."""
    if isinstance(plugin, list) and len(plugin) > 1 and "redirects" in str(plugin[0]):
        yield mapping(plugin[1]).get("redirects")
    named = mapping(mapping(plugin).get("redirects")) if isinstance(plugin, dict) else {}
    yield named.get("redirect_maps")


def _read_map(found: JsonObject) -> Iterator[GivenRedirect]:
    for number, (source, value) in enumerate(found.items(), 1):
        within = mapping(value)
        target = text_of(within.get("destination") or within.get("to")) if within else text_of(value)
        yield _given(number, source, target, text_of(within.get("status")))


def _read_list(found: list[object], default: str) -> Iterator[GivenRedirect]:
    """Yield the redirects in a list. ``default``: the status for redirects that don't specify one."""
    number = 0
    for item in found:
        one = mapping(item)
        given = one.get("source") or one.get("from")
        target = text_of(one.get("destination") or one.get("to"))
        status = text_of(one.get("statusCode") or one.get("status")) or default
        if isinstance(one.get("permanent"), bool):
            status = "308" if one["permanent"] else "307"
        limits = [name for name in ("has", "missing", "conditions", "query") if one.get(name)]
        for source in given if isinstance(given, list) else [given]:
            number += 1
            if limits:
                yield _wrong(number, text_of(source), f"the condition `{limits[0]}` isn't supported")
            else:
                yield _given(number, text_of(source), target, status)


# --- one redirect ----------------------------------------------------------------------------------------


def _wrong(row: int, source: str, problem: str) -> GivenRedirect:
    return GivenRedirect(row=row, source=source[:512], destination="", problem=problem)


def _given(row: int, source: str, destination: str, status: str) -> GivenRedirect:
    """Convert another platform's redirect. ``status``: empty if the file doesn't specify it."""
    code = status.removesuffix("!")
    if code and (not code.isdigit() or int(code) not in (*_PERMANENT, *_TEMPORARY)):
        return _wrong(row, source, f"the status {status} isn't supported. Use 301, 302, 303, 307, or 308.")
    path = re.sub(r"\A/?\^", "", source).removesuffix("$")
    path = _FILE_END.sub("", path) if not path.startswith(("http://", "https://")) else path
    path = f"/{path.lstrip('/')}"
    is_below = _REST.search(path)
    if is_below is not None:
        path = f"{path[: is_below.start()]}/*"
    if not destination:
        return _wrong(row, source, "the redirect has no destination")
    carried = _CARRIED.search(destination)
    is_elsewhere = destination.startswith(("http://", "https://"))
    target = destination[: carried.start()] if carried is not None else destination
    if not is_elsewhere:
        target = f"/{_FILE_END.sub('', target).lstrip('/')}"
    if carried is not None and is_below is None or re.search(r"[:(\[$]|\*(?!$)", path):
        return _wrong(row, source, "the only supported pattern is a `*` at the end")
    return GivenRedirect(
        row=row,
        source=_plain(path),
        destination=target,
        capture=carried is not None,
        permanent=int(code) in _PERMANENT if code else None,
    )


_READERS: dict[Format, Callable[[str], Iterator[GivenRedirect]]] = {
    "csv": _read_csv,
    "netlify": _read_netlify,
    "toml": _read_toml,
    "json": _read_json,
    "yaml": _read_yaml,
    "javascript": _read_javascript,
    "htaccess": _read_htaccess,
}
