"""Types for requested imports and their targets."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .platforms import Service

SourceKind = Literal[
    "octavo",
    "markdown",
    "html",
    "docusaurus",
    "mkdocs",
    "mintlify",
    "vitepress",
    "starlight",
    "fumadocs",
    "nextra",
    "hugo",
    "jekyll",
    "github-wiki",
    "obsidian",
    "sphinx",
    "notion",
    "confluence",
    "confluence-xml",
    "antora",
    "asciidoc",
    "bookstack",
    "wikijs",
    "outline",
    "docmost",
    "readme",
]


class WebsiteSource(Struct, tag="website"):
    url: Annotated[str, Meta(min_length=1, max_length=2048)]


class FileSource(Struct, tag="file"):
    """Keys of uploaded files. ``kind``: the kind of source; detected by default."""

    files: Annotated[list[str], Meta(min_length=1, max_length=100)]
    kind: SourceKind | UnsetType = UNSET


class KeptApiSource(Struct, tag="api"):
    """Space on another platform to read through its API, as stored with a run. The token and its user aren't
    included."""

    url: str
    space: str
    service: Service = "octavo"


KeptSource = WebsiteSource | FileSource | KeptApiSource


class ApiLogin(Struct, frozen=True):
    """Credentials for an API. ``user``: the owner of the token, for APIs that require it."""

    token: str
    user: str | None


class Destination(Struct, frozen=True):
    """Target of an import. ``change_request``: the change request; None for the main version. ``page``: the
    parent of the imported pages, if any."""

    space_id: str
    change_request: str | None
    page: str | None


class RequestedImport(Struct, frozen=True):
    """Requested import. ``login``: the credentials for an API. ``update``: the earlier run that imported an
    older state of the source. ``variants``: whether to import all versions and languages of the source."""

    source: KeptSource
    login: ApiLogin | None
    into: Destination
    preview: bool
    update: str | None
    variants: bool
