"""What somebody asks to be brought in, and where it goes."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from .platforms import Service

SourceKind = Literal[
    "octavo", "markdown", "html", "docusaurus", "mkdocs", "mintlify", "vitepress", "starlight", "fumadocs", "nextra", "hugo", "jekyll",
    "github-wiki", "obsidian", "sphinx", "notion", "confluence", "confluence-xml", "antora", "asciidoc",
    "bookstack", "wikijs", "outline", "docmost", "readme",
]  # fmt: skip


class WebsiteSource(Struct, tag="website"):
    url: Annotated[str, Meta(min_length=1, max_length=2048)]


class FileSource(Struct, tag="file"):
    """Keys of uploaded files. ``kind``: what they are; without it, it is found out."""

    files: Annotated[list[str], Meta(min_length=1, max_length=100)]
    kind: SourceKind | UnsetType = UNSET


class KeptApiSource(Struct, tag="api"):
    """A space over the API of another platform, as its run keeps it: without the token, and without whose that is."""

    url: str
    space: str
    service: Service = "octavo"


KeptSource = WebsiteSource | FileSource | KeptApiSource


class ApiLogin(Struct, frozen=True):
    """How an API lets somebody in. ``user``: whose the token is, where it asks for that as well."""

    token: str
    user: str | None


class Destination(Struct, frozen=True):
    """``change_request``: None for main. ``page``: the one that the pages go below, if any."""

    space_id: str
    change_request: str | None
    page: str | None


class WantedImport(Struct, frozen=True):
    """``login``: of a source that is an API. ``update``: a run of which the source is a newer state. ``variants``: all
    versions and languages of the source are to come."""

    source: KeptSource
    login: ApiLogin | None
    into: Destination
    preview: bool
    update: str | None
    variants: bool
