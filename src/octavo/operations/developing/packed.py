"""Publish packaged integrations from a file, a folder, or a URL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, OctavoError, Unavailable

from .api import ApiClient, integration_path

_SUFFIX = ".integration.json"
_SECONDS = 60


class Added(NamedTuple):
    """Packed integration that was read. ``version``: the published version; None if ``problem`` prevented it from
    being published."""

    source: str
    name: str | None
    version: int | None
    problem: str | None


def add_packed(
    api: ApiClient, source: str, organization: str, secrets: Mapping[str, Mapping[str, str]], *, public: bool
) -> Iterator[Added]:
    """Publish each packaged integration in a source as its next version.

    ``source``: a packed file, a folder with packed files, the URL of a packed file, or the URL of a JSON list with
    the URLs of packed files. ``secrets``: the values of secrets, by integration and name. ``public``: whether to
    make the integrations public, regardless of the visibility in the files. Raises BadRequest or Unavailable if the
    source can't be read.
    """
    for place, data in _read(source):
        name = None
        try:
            body = _decode(place, data)
            name = str(body.pop("name", ""))
            if not name or not isinstance(body.get("script"), str):
                raise BadRequest(
                    "must be a packaged integration. Create one with `octavo integrations pack`."
                )
            body |= {
                "organization": organization,
                "secrets": _fill(body.get("secrets"), secrets.get(name, {})),
            }
            if public:
                body["visibility"] = "public"
            published = api.call("POST", integration_path(name), body)
            yield Added(place, name, published["version"], None)
        except OctavoError as error:
            yield Added(place, name, None, error.message)


def _read(source: str) -> Iterator[tuple[str, bytes]]:
    if source.startswith(("http://", "https://")):
        data = _fetch(source)
        listed = _decode_json(source, data)
        if not isinstance(listed, list):
            yield source, data
            return
        for url in listed:
            place = str(httpx.URL(source).join(str(url)))
            yield place, _fetch(place)
        return
    path = Path(source)
    paths = sorted(path.glob(f"*{_SUFFIX}")) if path.is_dir() else [path]
    if not paths:
        raise BadRequest(f"{path} doesn't contain any files named NAME{_SUFFIX}.")
    for one in paths:
        try:
            yield str(one), one.read_bytes()
        except OSError as error:
            raise BadRequest(f"{one}: {error.strerror}") from None


def _fetch(url: str) -> bytes:
    try:
        answer = httpx.get(url, timeout=_SECONDS, follow_redirects=True)
        answer.raise_for_status()
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise Unavailable(f"{url} couldn't be fetched: {error}") from None
    return answer.content


def _decode(place: str, data: bytes) -> JsonObject:
    body = _decode_json(place, data)
    if not isinstance(body, dict):
        raise BadRequest("must be a JSON object")
    return body


def _decode_json(place: str, data: bytes) -> object:
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError as error:
        raise BadRequest(f"{place} isn't valid JSON: {error}") from None


def _fill(names: object, values: Mapping[str, str]) -> dict[str, str]:
    """Return the values for the secrets that an integration needs."""
    needed = list(names) if isinstance(names, dict) else []
    if missing := [name for name in needed if not values.get(name)]:
        raise BadRequest(
            f"must have values for these secrets: {', '.join(missing)}. Add them with --secrets."
        )
    return {name: values[name] for name in needed}
