"""Every setting, its environment variable and its default."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from .errors import OctavoError
from .kit.proxies import parse_networks

PREFIX = "OCTAVO_"


class SettingsError(OctavoError):
    """A setting that cannot be understood; the message names it."""


class Settings(Struct, frozen=True, kw_only=True):
    """One field per setting; ``OCTAVO_<FIELD>`` in the environment, ``<field>`` in octavo.toml."""

    data: Annotated[str, Meta(description="Folder of the embedded database and files")] = "data"
    database_url: Annotated[
        str, Meta(description="sqlite:///path or postgresql://...; empty: a SQLite file in the data folder")
    ] = ""
    files_url: Annotated[
        str, Meta(description="file:///folder or s3://bucket/prefix; empty: a folder in the data folder")
    ] = ""
    url: Annotated[str, Meta(description="Public base URL of API and app")] = "http://127.0.0.1:8000"
    sites_url: Annotated[str, Meta(description="Public base URL of published sites")] = (
        "http://127.0.0.1:8001"
    )
    admin_email: Annotated[str, Meta(description="First administrator")] = "admin@octavo.local"
    admin_token: Annotated[
        str, Meta(description="Token (32 or more characters) of the first administrator; empty: one is made")
    ] = ""
    workers: Annotated[int, Meta(ge=1, le=256, description="Processes that answer requests")] = 1
    threads: Annotated[
        int, Meta(ge=1, le=256, description="Threads and database connections per process")
    ] = 8
    event_days: Annotated[int, Meta(ge=1, le=3650, description="Days for which events are kept")] = 30
    allow_private_fetch: Annotated[
        str, Meta(description="Comma-separated host:port that outgoing requests may reach although private")
    ] = ""
    trusted_proxies: Annotated[
        str,
        Meta(
            description="Comma-separated addresses or networks of proxies whose X-Forwarded-For tells who calls"
        ),
    ] = ""
    rate_limit: Annotated[int, Meta(ge=1, description="Requests a minute for each token or address")] = (
        600_000
    )
    llm_url: Annotated[str, Meta(description="OpenAI-compatible endpoint (optional)")] = ""
    llm_key: Annotated[str, Meta(description="Key for the model endpoint")] = ""
    llm_model: Annotated[str, Meta(description="Model name")] = ""
    smtp_url: Annotated[str, Meta(description="smtp://user:password@host:port (optional)")] = ""
    mail_from: Annotated[str, Meta(description="Sender of mails")] = "octavo@localhost"
    oidc_issuer: Annotated[
        str, Meta(description="Issuer URL of an OpenID Connect provider that people sign in with (optional)")
    ] = ""
    oidc_client_id: Annotated[str, Meta(description="Client id at that provider")] = ""
    oidc_client_secret: Annotated[str, Meta(description="Client secret at that provider")] = ""
    oidc_label: Annotated[str, Meta(description="Name of that provider on the sign-in page")] = (
        "OpenID Connect"
    )
    pdf_fonts: Annotated[
        str,
        Meta(description="Folder of further fonts for PDFs, such as Noto Sans CJK and Noto Emoji (optional)"),
    ] = ""
    log_format: Annotated[str, Meta(description="text or json", pattern="^(text|json)$")] = "text"

    @property
    def data_folder(self) -> Path:
        return Path(self.data).resolve()

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.data_folder / 'octavo.db'}"

    @property
    def files(self) -> str:
        return self.files_url or f"file://{self.data_folder / 'files'}"


def load(
    overrides: Mapping[str, Any] | None = None,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Settings:
    """Settings from defaults (``defaults`` before those of the fields), then the file, the environment, and
    ``overrides`` (None values are left out).

    Raises SettingsError naming the setting.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = dict(defaults or {})
    if config is not None:
        try:
            values.update(tomllib.loads(config.read_text()))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingsError(f"{config}: {error}") from None
    known = {field.name: field for field in msgspec.structs.fields(Settings)}
    if unknown := set(values) - set(known):
        raise SettingsError(f"{config}: unknown setting {sorted(unknown)[0]!r}")
    for name in known:
        if (PREFIX + name.upper()) in environ:
            values[name] = environ[PREFIX + name.upper()]
    values.update({k: v for k, v in (overrides or {}).items() if v is not None})
    try:
        found = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise SettingsError(f"settings: {error}") from None
    try:
        parse_networks(found.trusted_proxies)
    except ValueError as error:
        raise SettingsError(f"OCTAVO_TRUSTED_PROXIES: {error}") from None
    if found.admin_token and len(found.admin_token) < 32:
        raise SettingsError("OCTAVO_ADMIN_TOKEN: expected at least 32 characters")
    return found
