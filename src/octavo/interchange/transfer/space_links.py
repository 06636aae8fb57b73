"""Links between imported spaces: the IDs in these links, and the local spaces that the IDs refer to."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import IO
from urllib.parse import unquote

from octavo.core.import_plan import SPACE_LINK, SPACE_NAME, plan_import
from octavo.core.sources import Source, SourceFiles
from octavo.core.summary import is_markdown

from .exporting import Exported


def with_ids(source: Source, ids: Mapping[str, str], hosts: tuple[str, ...]) -> Source:
    """Return the source with the links in its Markdown files rewritten to the IDs of local spaces. All other bytes
    stay the same. ``hosts``: the hosts whose URLs lead to content."""
    made = SourceFiles(source.name)
    for path in source.paths():
        text = _text(source, path) if ids and is_markdown(path) else None
        changed = SPACE_LINK.sub(lambda found: _renamed(found, ids, hosts), text) if text else text
        if changed == text:
            made.add(path, source.size(path), source.opening(path))
        else:
            # Rewritten when it is read, so that a source with many pages isn't held in memory.
            made.add(path, len((changed or "").encode()), partial(_opened, source, path, ids, hosts))
    return source.with_files(made)


def with_names(exported: Exported, names: Mapping[str, str], hosts: tuple[str, ...]) -> Exported:
    """Return an exported file in which the space IDs in Markdown links are replaced with these names, wherever the
    link format allows names."""
    names = {id: name for id, name in names.items() if SPACE_NAME.fullmatch(name)}
    if not names or not is_markdown(exported.path):
        return exported
    data = b"".join(exported.pieces)
    with suppress(UnicodeDecodeError):
        data = SPACE_LINK.sub(lambda found: _renamed(found, names, hosts), data.decode("utf-8")).encode()
    return Exported(exported.path, iter((data,)))


def _renamed(found: re.Match[str], ids: Mapping[str, str], hosts: tuple[str, ...]) -> str:
    new = ids.get(found[2]) if found[1].lower() in hosts else None
    start, end = found.start(2) - found.start(), found.end(2) - found.start()
    return f"{found[0][:start]}{new}{found[0][end:]}" if new else found[0]


def _opened(source: Source, path: str, ids: Mapping[str, str], hosts: tuple[str, ...]) -> IO[bytes]:
    text = _text(source, path) or ""
    return io.BytesIO(SPACE_LINK.sub(lambda found: _renamed(found, ids, hosts), text).encode())


def _text(source: Source, path: str) -> str | None:
    try:
        return source.read(path).decode("utf-8")
    except UnicodeDecodeError:
        return None


def guess_ids(
    parts: Mapping[str, Source], known: Callable[[str], bool], hosts: tuple[str, ...]
) -> dict[str, str]:
    """Guess which spaces the IDs in links refer to. For each ID that isn't ``known``, return the name of the source
    that contains the targets of all links with this ID, if exactly one source does."""
    wanted: dict[str, set[str]] = {}
    for source in parts.values():
        for path in source.paths():
            for found in SPACE_LINK.finditer((_text(source, path) if is_markdown(path) else None) or ""):
                if found[1].lower() in hosts and not known(found[2]):
                    page = unquote(re.sub(r"\\(.)", r"\1", found[3] or "")).strip("/")
                    wanted.setdefault(found[2], set()).update([page] if page else [])
    pages = {
        name: {page.path for page in plan_import(source).pages if page.kind == "document"}
        for name, source in (parts.items() if wanted else ())
    }
    guessed = {}
    for id, paths in wanted.items():
        having = [name for name, there in pages.items() if paths and paths <= there]
        if len(having) == 1:
            guessed[id] = having[0]
    return guessed
