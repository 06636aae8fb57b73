"""Folders of built files. Each file is read once, named after a hash of its content, and compressed before the
first request."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from mimetypes import guess_type
from pathlib import Path

from octavo.errors import NotFound

from .edge import Action, Answer, Request, Route, etag_of

_CODINGS = {"br": ".br", "gzip": ".gz"}
_TYPES = {".js": "text/javascript", ".css": "text/css", ".woff2": "font/woff2", ".svg": "image/svg+xml"}
_IMMUTABLE = {"cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff"}


def content_type(name: str) -> str:
    """Return the media type of a file, based on its name. For text, it includes the encoding."""
    kind = _TYPES.get(Path(name).suffix) or guess_type(name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def read_built(path: Path, headers: Mapping[str, str]) -> Answer:
    """Return a response with this file and its compressed versions, which are in the same folder. Raises
    FileNotFoundError if the file doesn't exist."""
    body = path.read_bytes()
    forms = {coding: path.with_name(path.name + ending) for coding, ending in _CODINGS.items()}
    coded = {coding: form.read_bytes() for coding, form in forms.items() if form.exists()}
    return Answer(200, body, content_type(path.name), headers, etag_of(body), again=True, coded=coded)


def static_route(path: str, folder: Path, name: str) -> Route:
    """Return a route to the files directly in ``folder``, each at ``path`` followed by the file's name. The name of
    each file contains a hash of its content, so that clients can cache the file forever."""

    @cache
    def read(file: str) -> Answer:
        return read_built(folder / file, _IMMUTABLE)

    async def answer(request: Request) -> Answer:
        file = request.parameters["file"]
        try:
            # A segment of a path may contain an escaped slash.
            return read(Path(file).name if Path(file).name == file else "")
        except (OSError, ValueError):
            raise NotFound("This URL doesn't exist. Check its path.") from None

    return Route(f"{path}/{{file}}", {"GET": Action(name, answer)})
