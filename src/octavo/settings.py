"""Settings: environment variables, defaults, and validation, including validation of combinations."""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import unquote

import msgspec
from msgspec import Meta, Struct

from octavo.core.url_parts import UrlParts, escape_address, own_address, read_address
from octavo.core.validation import describe_problem
from octavo.errors import OctavoError

PREFIX = "OCTAVO_"
_TESTS = f"{PREFIX}TEST_"
"""Prefix of variables that the test suite sets for itself."""
UNCHOSEN_EMAIL = "admin@octavo.local"
"""Placeholder email address of the first administrator. No email can be delivered to it."""
_ADDRESSES = "addresses.json"
_SECRET = {"secret": True}
_NOT_BLANK = r"\S"
_ORIGINS = r"^(\*|(https?://[\w.:*-]+( https?://[\w.:*-]+)*)?)\Z"
_NUMBER = r"^[0-9]*\Z"
_EXPECTED = {
    _NUMBER: "be a number",
    _NOT_BLANK: "contain at least one character other than spaces",
    _ORIGINS: "be *, or origins such as https://example.com, separated by spaces",
}
_POSTGRESQL = ("postgresql", "postgres")
_SEVERAL = re.compile(r"(postgres(?:ql)?://(?:[^/?#]*@)?)([^/?#@]+)([/?#].*)?", re.S)


class SettingsError(OctavoError):
    """Raised if a setting is invalid. The message contains its name."""


Network = IPv4Network | IPv6Network


def parse_networks(text: str) -> list[Network]:
    """Parse comma-separated addresses and networks. Raises ValueError if the text is invalid.

    >>> parse_networks("10.0.0.0/8, ::1")
    [IPv4Network('10.0.0.0/8'), IPv6Network('::1/128')]
    """
    return [ip_network(part.strip(), strict=False) for part in text.split(",") if part.strip()]


def parse_headers(text: str) -> frozenset[str]:
    """Parse comma-separated header names, and convert them to lowercase. Raises ValueError if the text is
    invalid.

    >>> sorted(parse_headers("X-Api-Version, x-tenant"))
    ['x-api-version', 'x-tenant']
    """
    names = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
    for name in names:
        if not re.fullmatch(r"[a-z0-9-]{1,100}", name) or name == "cookie":
            raise ValueError(f"{name!r} isn't a header that can be forwarded")
    return names


class Settings(Struct, frozen=True, kw_only=True):
    """Settings of this server. To set a field, use ``OCTAVO_<FIELD>`` in the environment or ``<field>`` in
    octavo.toml."""

    data: Annotated[str, Meta(description="Data folder, with the embedded database and files")] = "data"
    database_url: Annotated[
        str,
        Meta(description="sqlite:////path or postgresql://... (default: a SQLite file in the data folder)"),
    ] = ""
    database_direct_url: Annotated[
        str,
        Meta(
            description=(
                "postgresql://... of the server itself, if database_url points to a connection pooler such"
                " as PgBouncer (optional)"
            )
        ),
    ] = ""
    database_replica_url: Annotated[
        str,
        Meta(
            description="postgresql://... of a streaming replica that answers reads once it is up to date (optional)"
        ),
    ] = ""
    files_url: Annotated[
        str, Meta(description="file:///folder or s3://bucket/prefix (default: a folder in the data folder)")
    ] = ""
    files_direct: Annotated[
        bool,
        Meta(
            description=(
                "Whether browsers download files from the bucket through signed links; false if only the server"
                " can reach the bucket"
            )
        ),
    ] = True
    backup_place: Annotated[
        str,
        Meta(
            description=(
                "Location for backups that server administrators start in the app: absolute path of a"
                " folder, or s3://bucket/prefix (optional)"
            )
        ),
    ] = ""
    url: Annotated[str, Meta(description="Public base URL of the API and the app")] = "http://127.0.0.1:8000"
    sites_url: Annotated[str, Meta(description="Public base URL of published sites")] = (
        "http://127.0.0.1:8001"
    )
    name: Annotated[
        str,
        Meta(description="Name of this server on the sign-in page", pattern=_NOT_BLANK, max_length=64),
    ] = "Octavo"
    admin_email: Annotated[
        str,
        Meta(
            description=(
                "Email address of the first administrator, whose account is created on the first start. Add other"
                " server administrators, separated by commas. If empty, the first administrator enters an email"
                " address in the browser"
            )
        ),
    ] = ""
    admin_token: Annotated[
        str,
        Meta(
            description=(
                "Access token of the first administrator, at least 32 characters (default: created on the"
                " first start)"
            ),
            extra=_SECRET,
        ),
    ] = ""
    secret_key: Annotated[
        str,
        Meta(
            description=(
                "Key that encrypts secrets in the database: 32 bytes as hex or base64, or a passphrase; older"
                " keys can follow, separated by commas (default: the file secret-key in the data folder)"
            ),
            extra=_SECRET,
        ),
    ] = ""
    workers: Annotated[int, Meta(ge=1, le=256, description="Number of processes that answer requests")] = 1
    threads: Annotated[
        int,
        Meta(
            ge=1,
            le=256,
            description=(
                "Number of read threads that one organization can use in a process; the process also has half as many"
                " write threads"
            ),
        ),
    ] = 8
    database_connections: Annotated[
        int, Meta(ge=3, le=1000, description="Maximum number of PostgreSQL connections per process")
    ] = 8
    event_days: Annotated[int, Meta(ge=1, le=3650, description="Days to keep events")] = 30
    integration_processes: Annotated[
        int, Meta(ge=1, le=1000, description="Maximum number of integration script processes per process")
    ] = 16
    insight_days: Annotated[int, Meta(ge=1, le=3650, description="Days to keep site visitor events")] = 400
    count_bots: Annotated[
        bool,
        Meta(
            description="Whether insights count bots and AI agents that read sites (separately from people)"
        ),
    ] = True
    allow_private_fetch: Annotated[
        str, Meta(description="Private addresses that outgoing requests can reach: comma-separated host:port")
    ] = ""
    check_links: Annotated[
        bool,
        Meta(description="Whether to check external links in the background, for site health"),
    ] = False
    allow_file_remotes: Annotated[
        bool,
        Meta(
            description="Whether spaces can be synced with repositories in folders on the server (file:///…)"
        ),
    ] = False
    integration_headers: Annotated[
        str,
        Meta(
            description=(
                "Additional request headers that public integration endpoints pass to scripts: comma-separated"
                " names"
            )
        ),
    ] = ""
    trusted_proxies: Annotated[
        str,
        Meta(
            description="Proxies whose X-Forwarded-For header is trusted: comma-separated addresses or networks"
        ),
    ] = ""
    trace_proxies: Annotated[
        str,
        Meta(
            description=(
                "Proxies whose traces are continued: comma-separated addresses or networks; traces from other"
                " callers become links"
            )
        ),
    ] = ""
    rate_limit: Annotated[int, Meta(ge=1, description="Requests per minute for each token or IP address")] = (
        600_000
    )
    reader_rate_limit: Annotated[
        int, Meta(ge=1, description="Requests per minute to sites for each IP address")
    ] = 600_000
    try_rate_limit: Annotated[
        int,
        Meta(ge=1, description="Test requests per minute from API references for each IP address"),
    ] = 60
    try_connections: Annotated[
        int,
        Meta(
            ge=1,
            le=256,
            description="Maximum number of test requests from API references that a process sends at the same time",
        ),
    ] = 8
    ask_rate_limit: Annotated[
        int, Meta(ge=1, description="Questions per minute on sites for each IP address")
    ] = 20
    ask_connections: Annotated[
        int,
        Meta(ge=1, le=256, description="Maximum number of questions that a process answers at the same time"),
    ] = 16
    connections: Annotated[
        int, Meta(ge=10, le=100_000, description="Maximum number of open connections per process")
    ] = 1000
    event_streams: Annotated[
        int,
        Meta(
            ge=0,
            le=100_000,
            description="Maximum number of event streams per process, in addition to its connections",
        ),
    ] = 4000
    backlog: Annotated[
        int,
        Meta(
            ge=16, le=65_535, description="Maximum number of connections waiting for a process to accept them"
        ),
    ] = 1024
    header_seconds: Annotated[
        int,
        Meta(
            ge=1,
            le=600,
            description="Maximum seconds to receive a request's head, or to keep an idle connection open",
        ),
    ] = 10
    header_limit: Annotated[
        int, Meta(ge=8 * 1024, le=1024 * 1024, description="Maximum size of the head of a request in bytes")
    ] = 32 * 1024
    query_limit: Annotated[int, Meta(ge=256, description="Maximum size of a query string in bytes")] = (
        8 * 1024
    )
    least_rate: Annotated[
        int,
        Meta(ge=1, description="Minimum transfer rate for request and response bodies in bytes per second"),
    ] = 8 * 1024
    cache_memory: Annotated[
        int,
        Meta(ge=16 * 1024 * 1024, description="Maximum total size in bytes of all caches in a process"),
    ] = 384 * 1024 * 1024
    dns_servers: Annotated[
        str,
        Meta(
            description=(
                "Name servers for looking up DNS records of email domains and site domains: comma-separated"
                " address:port (default: the system's)"
            )
        ),
    ] = ""
    trust_hosts: Annotated[
        bool,
        Meta(
            description=(
                "Whether all organizations can use domains and proxy paths for sites without verifying them;"
                " for servers with a single owner"
            )
        ),
    ] = False
    metrics_token: Annotated[
        str,
        Meta(description="Access token for /metrics, at least 32 characters (optional)", extra=_SECRET),
    ] = ""
    metrics_address: Annotated[
        str,
        Meta(
            description="host:port that serves only /metrics and the health checks, without authentication (optional)"
        ),
    ] = ""
    renderers: Annotated[
        str,
        Meta(description="External site renderers to notify of changes: comma-separated URLs"),
    ] = ""
    renderer_secret: Annotated[
        str, Meta(description="Key that signs notifications to external renderers", extra=_SECRET)
    ] = ""
    purge_url: Annotated[
        str,
        Meta(
            description="URL of a content delivery network that purges a site's cached pages; it receives"
            ' `{"prefixes": [...]}`'
        ),
    ] = ""
    purge_token: Annotated[str, Meta(description="Bearer token for the purge URL", extra=_SECRET)] = ""
    access_log: Annotated[bool, Meta(description="Whether to log each request")] = False
    log_level: Annotated[
        Literal["debug", "info", "warning", "error"], Meta(description="Minimum level of log lines")
    ] = "warning"
    slow_request: Annotated[
        float, Meta(ge=0, description="Seconds after which a request is logged as slow; 0: never")
    ] = 10.0
    slow_statement: Annotated[
        float,
        Meta(ge=0, description="Seconds after which a database statement is logged with its plan; 0: never"),
    ] = 0.0
    invitations_per_day: Annotated[
        int, Meta(ge=1, description="Maximum number of email addresses that one person can invite per day")
    ] = 500
    mails_per_day: Annotated[
        int, Meta(ge=1, description="Maximum number of emails to one address per day")
    ] = 50
    page_size: Annotated[
        int, Meta(ge=1000, le=20_000_000, description="Maximum size of a page's Markdown in bytes")
    ] = 1_000_000
    mask_conversations: Annotated[
        bool, Meta(description="Whether personal data in conversations is masked before it is stored")
    ] = True
    llm_url: Annotated[str, Meta(description="URL of an OpenAI-compatible endpoint (optional)")] = ""
    llm_key: Annotated[str, Meta(description="API key of the model endpoint", extra=_SECRET)] = ""
    llm_model: Annotated[str, Meta(description="Name of the language model")] = ""
    llm_embedding_model: Annotated[str, Meta(description="Name of the embedding model (optional)")] = ""
    llm_seconds: Annotated[
        int, Meta(ge=1, le=3600, description="Maximum seconds to wait for a model's response")
    ] = 60
    llm_daily_tokens: Annotated[
        int,
        Meta(ge=0, description="Maximum number of model tokens per day for one organization; 0: no limit"),
    ] = 2_000_000
    llm_input_price: Annotated[
        float, Meta(ge=0, description="Price of a million tokens sent to the model, in any currency")
    ] = 0.0
    llm_output_price: Annotated[
        float, Meta(ge=0, description="Price of a million tokens returned by the model")
    ] = 0.0
    llm_embedding_price: Annotated[
        float, Meta(ge=0, description="Price of a million tokens sent to the embedding model")
    ] = 0.0
    llm_log_content: Annotated[
        bool, Meta(description="Whether the model call log contains prompts and answers")
    ] = False
    llm_log_days: Annotated[int, Meta(ge=1, le=3650, description="Days to keep the model call log")] = 90
    smtp_url: Annotated[str, Meta(description="smtp://user:password@host:port (optional)")] = ""
    smtp_require_tls: Annotated[
        bool,
        Meta(
            description=(
                "Whether email is sent only over TLS; if so, sending fails when the mail server doesn't offer STARTTLS"
            )
        ),
    ] = False
    mail_from: Annotated[str, Meta(description="Sender address of emails")] = "octavo@localhost"
    oidc_issuer: Annotated[
        str, Meta(description="Issuer URL of an OpenID Connect provider for sign-in (optional)")
    ] = ""
    oidc_client_id: Annotated[str, Meta(description="Client ID for that provider")] = ""
    oidc_client_secret: Annotated[str, Meta(description="Client secret for that provider", extra=_SECRET)] = (
        ""
    )
    oidc_label: Annotated[str, Meta(description="Name of that provider on the sign-in page")] = (
        "OpenID Connect"
    )
    ldap_url: Annotated[
        str,
        Meta(description="Directory that checks passwords: ldaps://host:port or ldap://host:port (optional)"),
    ] = ""
    ldap_require_tls: Annotated[
        bool, Meta(description="Whether ldap:// connections are encrypted with StartTLS")
    ] = True
    ldap_user: Annotated[
        str, Meta(description="Distinguished name to search the directory as (default: anonymous)")
    ] = ""
    ldap_password: Annotated[str, Meta(description="Password of that user", extra=_SECRET)] = ""
    ldap_people: Annotated[str, Meta(description="Base DN for people")] = ""
    ldap_filter: Annotated[
        str,
        Meta(description="LDAP filter that finds a person by {email}, or by {name}, the part before the @"),
    ] = "(|(mail={email})(userPrincipalName={email}))"
    ldap_organization: Annotated[
        str,
        Meta(description="ID or hostname of the organization that people from the directory join (optional)"),
    ] = ""
    ldap_groups: Annotated[
        str,
        Meta(description="Base DN for the groups that become teams in that organization (optional)"),
    ] = ""
    ldap_group_filter: Annotated[
        str, Meta(description="LDAP filter that finds a person's groups by {dn} or {email}")
    ] = "(|(member={dn})(uniqueMember={dn}))"
    github_url: Annotated[
        str, Meta(description="URL of the GitHub server where the app for Git sync is registered")
    ] = "https://github.com"
    github_app_id: Annotated[
        str, Meta(description="ID of the GitHub App for Git sync (optional)", pattern=_NUMBER)
    ] = ""
    github_app_key_file: Annotated[str, Meta(description="File with the private key of that app (PEM)")] = ""
    github_app_client_secret: Annotated[str, Meta(description="Client secret of that app", extra=_SECRET)] = (
        ""
    )
    github_app_webhook_secret: Annotated[
        str, Meta(description="Webhook secret of that app; without it, webhooks are rejected", extra=_SECRET)
    ] = ""
    gitlab_url: Annotated[
        str, Meta(description="URL of the GitLab server where the application for Git sync is registered")
    ] = "https://gitlab.com"
    gitlab_app_id: Annotated[
        str, Meta(description="Application ID of the GitLab application for Git sync (optional)")
    ] = ""
    gitlab_app_secret: Annotated[str, Meta(description="Secret of that application", extra=_SECRET)] = ""
    pdf_fonts: Annotated[
        str,
        Meta(
            description="Folder with additional fonts for PDFs and page images, such as Noto Sans CJK (optional)"
        ),
    ] = ""
    embed_origins: Annotated[
        str,
        Meta(
            description=(
                "Origins whose pages can embed sites in a frame, separated by spaces; * allows all origins, and an"
                " empty value allows none"
            ),
            pattern=_ORIGINS,
        ),
    ] = "*"
    log_format: Annotated[Literal["text", "json"], Meta(description="text or json")] = "text"

    @property
    def data_folder(self) -> Path:
        return Path(self.data).resolve()

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.data_folder / 'octavo.db'}"

    @property
    def files(self) -> str:
        return self.files_url or f"file://{self.data_folder / 'files'}"

    @property
    def first_admin(self) -> str:
        """Return the email address of the administrator to create on the first start."""
        return self.admin_email.partition(",")[0].strip() or UNCHOSEN_EMAIL

    @property
    def operators(self) -> frozenset[str]:
        """Return the email addresses of the server administrators. If there are none, the first administrator is the
        server administrator."""
        return frozenset(filter(None, (part.strip().lower() for part in self.admin_email.split(","))))

    @property
    def address(self) -> UrlParts:
        return own_address(self.url)

    @property
    def sites_address(self) -> UrlParts:
        return own_address(self.sites_url)

    @property
    def secrets(self) -> list[str]:
        """Return all secret values: passwords, keys, and tokens, including the secrets inside URLs."""
        marked = [
            getattr(self, field.name)
            for field in msgspec.structs.fields(Settings)
            if (getattr(field.type, "__metadata__", None) or (Meta(),))[0].extra == _SECRET
        ]
        urls = (
            self.database_url,
            self.database_direct_url,
            self.database_replica_url,
            self.files_url,
            self.smtp_url,
            self.llm_url,
        )
        passwords = [unquote(own_address(_servers(url)[0]).password) for url in urls]
        keys = [
            os.environ.get(f"{whose}{name}", "")
            for whose in ("", "BACKUP_")
            for name in ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
        ]
        return [secret for secret in (*marked, *passwords, *keys, *_collector_secrets()) if secret]


def _collector_secrets() -> Iterator[str]:
    """Yield credentials of the trace collector: values of headers, and a password in the URL."""
    for name in ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"):
        for pair in os.environ.get(name, "").split(","):
            yield unquote(pair.partition("=")[2].strip())
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"):
        address = read_address(os.environ.get(name, ""))
        yield unquote(address.password) if address is not None else ""


def load(
    overrides: Mapping[str, object] | None = None,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
    defaults: Mapping[str, object] | None = None,
) -> Settings:
    """Load settings from the file, the environment, and ``overrides``, in increasing order of precedence. Overrides
    that are None are ignored. Settings without a value are taken from ``defaults``, and then from the fields' own
    defaults.

    Raises SettingsError with the name of a setting if it is invalid.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = dict(defaults or {})
    if config is not None:
        try:
            values.update(tomllib.loads(config.read_text()))
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SettingsError(f"{config}: {error}") from None
    known = [field.name for field in msgspec.structs.fields(Settings)]
    for name in sorted(set(values) - set(known)):
        raise SettingsError(f"{config}: unknown setting {name!r}{_nearest(name, known)}")
    variables = [PREFIX + name.upper() for name in known]
    for name in sorted(environ):
        if name.startswith(PREFIX) and not name.startswith(_TESTS) and name not in variables:
            raise SettingsError(f"{name}: unknown setting{_nearest(name, variables)}")
    for name in known:
        if (PREFIX + name.upper()) in environ:
            values[name] = environ[PREFIX + name.upper()]
    values.update({k: v for k, v in (overrides or {}).items() if v is not None})
    try:
        found = msgspec.convert(values, Settings, strict=False)
    except msgspec.ValidationError as error:
        wrong = describe_problem(error, Settings, _EXPECTED)
        raise SettingsError(f"{PREFIX}{wrong.field.upper()}: {wrong.text}") from None
    for problem in _problems(found):
        raise SettingsError(problem)
    return msgspec.structs.replace(
        found, url=escape_address(found.url), sites_url=escape_address(found.sites_url)
    )


def keep_addresses(settings: Settings) -> None:
    """Store the URLs of the running server next to the data, for commands that print links."""
    addresses = {"url": settings.url, "sites_url": settings.sites_url}
    path = settings.data_folder / _ADDRESSES
    written = path.with_suffix(f".{os.getpid()}.new")
    written.write_bytes(msgspec.json.encode(addresses))
    written.replace(path)


def kept_addresses(settings: Settings) -> dict[str, str]:
    """Return the URLs that ``keep_addresses`` last stored; empty if there are none."""
    try:
        return msgspec.json.decode((settings.data_folder / _ADDRESSES).read_bytes(), type=dict[str, str])
    except (OSError, msgspec.MsgspecError):
        return {}


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 1, 0.6)
    return f"; did you mean {close[0]}?" if close else ""


def _problems(settings: Settings) -> Iterator[str]:
    """Yield a message for each unusable setting. Each message starts with the variable's name."""
    if settings.data_folder.exists() and not settings.data_folder.is_dir():
        yield f"OCTAVO_DATA: must be a folder, but {settings.data_folder} is a file"
    for name, url in (("OCTAVO_URL", settings.url), ("OCTAVO_SITES_URL", settings.sites_url)):
        yield from _web_address(name, url)
    if (parts := read_address(settings.url)) is not None and parts.path.strip("/"):
        yield (
            f"OCTAVO_URL: must not have a path, but it has /{parts.path.strip('/')}. Octavo serves its app"
            " and API at the root of a host. Use a separate hostname or port."
        )
    if _origin(settings.url) == _origin(settings.sites_url):
        yield (
            "OCTAVO_URL and OCTAVO_SITES_URL: must have different origins. Use another hostname or port"
            " for sites."
        )
    for name, url in (("OCTAVO_LLM_URL", settings.llm_url), ("OCTAVO_OIDC_ISSUER", settings.oidc_issuer)):
        if url:
            yield from _web_address(name, url)
    if settings.database_url:
        yield from _database_address(settings.database_url)
    for name, url in (
        ("OCTAVO_DATABASE_DIRECT_URL", settings.database_direct_url),
        ("OCTAVO_DATABASE_REPLICA_URL", settings.database_replica_url),
    ):
        if not url:
            continue
        if any(_split(name, each).scheme not in _POSTGRESQL for each in _servers(url)):
            yield f"{name}: must be postgresql://user:password@host/name"
        if not settings.database_url.startswith(_POSTGRESQL):
            yield f"{name}: can only be used with a postgresql:// URL in OCTAVO_DATABASE_URL"
    if settings.files_url:
        _split("OCTAVO_FILES_URL", settings.files_url)
    if settings.backup_place and not settings.backup_place.startswith(("/", "s3://")):
        yield "OCTAVO_BACKUP_PLACE: must be the absolute path of a folder, or s3://bucket/prefix"
    if settings.smtp_url:
        parts = _split("OCTAVO_SMTP_URL", settings.smtp_url)
        if parts.scheme not in ("smtp", "smtps") or not parts.host:
            yield "OCTAVO_SMTP_URL: must be smtp://user:password@host:port or smtps://..."
    if settings.ldap_url:
        parts = _split("OCTAVO_LDAP_URL", settings.ldap_url)
        if parts.scheme not in ("ldap", "ldaps") or not parts.host:
            yield "OCTAVO_LDAP_URL: must be ldaps://host:port or ldap://host:port"
        if not settings.ldap_people:
            yield "OCTAVO_LDAP_PEOPLE: is required with OCTAVO_LDAP_URL"
        if not any(placeholder in settings.ldap_filter for placeholder in ("{email}", "{name}")):
            yield "OCTAVO_LDAP_FILTER: must contain {email} or {name}"
        if not any(placeholder in settings.ldap_group_filter for placeholder in ("{dn}", "{email}")):
            yield "OCTAVO_LDAP_GROUP_FILTER: must contain {dn} or {email}"
        if settings.ldap_groups and not settings.ldap_organization:
            yield "OCTAVO_LDAP_ORGANIZATION: is required with OCTAVO_LDAP_GROUPS"
    yield from _git_app_problems(settings)
    if (authorities := os.environ.get("SSL_CERT_FILE")) and not Path(authorities).is_file():
        yield f"SSL_CERT_FILE: there is no file {authorities}"
    for name in ("admin_token", "metrics_token"):
        if 0 < len(getattr(settings, name)) < 32:
            yield f"{PREFIX}{name.upper()}: must have at least 32 characters"
    if settings.metrics_address:
        split_address("OCTAVO_METRICS_ADDRESS", settings.metrics_address)
    for part in settings.allow_private_fetch.split(","):
        if part.strip():
            split_address("OCTAVO_ALLOW_PRIVATE_FETCH", part.strip())
    parse_servers(settings.dns_servers)
    for name, parse in (
        ("trusted_proxies", parse_networks),
        ("trace_proxies", parse_networks),
        ("integration_headers", parse_headers),
    ):
        try:
            parse(getattr(settings, name))
        except ValueError as error:
            yield f"{PREFIX}{name.upper()}: {error}"


def _git_app_problems(settings: Settings) -> Iterator[str]:
    for name, url in (("OCTAVO_GITHUB_URL", settings.github_url), ("OCTAVO_GITLAB_URL", settings.gitlab_url)):
        yield from _web_address(name, url)
        parts = _split(name, url)
        if parts.username or parts.password or parts.path.strip("/"):
            yield f"{name}: must be the URL of a server, without credentials or a path"
    if settings.github_app_id:
        for field in ("github_app_key_file", "github_app_client_secret"):
            if not getattr(settings, field):
                yield f"{PREFIX}{field.upper()}: is required with OCTAVO_GITHUB_APP_ID"
        if settings.github_app_key_file:
            yield from _key_problems(Path(settings.github_app_key_file))
    if settings.gitlab_app_id and not settings.gitlab_app_secret:
        yield "OCTAVO_GITLAB_APP_SECRET: is required with OCTAVO_GITLAB_APP_ID"


def _key_problems(path: Path) -> Iterator[str]:
    # Imported here because only servers with a GitHub App need it at the start.
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        key = load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        yield f"OCTAVO_GITHUB_APP_KEY_FILE: {path}: {error.strerror}"
        return
    except (ValueError, TypeError):
        key = None
    if not isinstance(key, RSAPrivateKey):
        yield (
            f"OCTAVO_GITHUB_APP_KEY_FILE: {path} must be an RSA private key in PEM format without a"
            " passphrase"
        )


def _split(name: str, url: str) -> UrlParts:
    try:
        return own_address(url)
    except ValueError as error:
        raise SettingsError(f"{name}: {str(error).lower()}") from None


def _web_address(name: str, url: str) -> Iterator[str]:
    parts = _split(name, url)
    if not parts.is_web:
        yield f"{name}: must be a URL such as https://docs.example.com, not {url!r}"
    elif parts.query or parts.fragment:
        yield f"{name}: must be a URL without ? and #, not {url!r}"


def _database_address(url: str) -> Iterator[str]:
    parts = [_split("OCTAVO_DATABASE_URL", each) for each in _servers(url)][0]
    if parts.scheme == "sqlite":
        if not url.startswith("sqlite:////") or not parts.path.strip("/"):
            yield (
                "OCTAVO_DATABASE_URL: must have an absolute file path after sqlite:///, such as"
                f" sqlite:////srv/octavo/octavo.db with four slashes, not {url!r}"
            )
    elif parts.scheme not in _POSTGRESQL:
        # The message omits the value, because it can contain a password.
        yield "OCTAVO_DATABASE_URL: must be sqlite:////path or postgresql://user:password@host/name"


def _servers(url: str) -> list[str]:
    """Return one URL for each server in a PostgreSQL URL with several servers.

    >>> _servers("postgresql://me:pw@a:5432,b/docs?target_session_attrs=read-write")[1]
    'postgresql://me:pw@b/docs?target_session_attrs=read-write'
    """
    found = _SEVERAL.fullmatch(url)
    if found is None:
        return [url]
    begin, servers, end = found.groups("")
    return [f"{begin}{server}{end}" for server in servers.split(",")]


def _origin(url: str) -> tuple[str, str, int]:
    parts = own_address(url)
    return parts.scheme, parts.host, parts.port or (443 if parts.scheme == "https" else 80)


def split_address(name: str, text: str) -> tuple[str, int]:
    """Split ``host:port``, with an IPv6 address in brackets. Raises SettingsError with the name of the
    variable if it is invalid.

    >>> split_address("OCTAVO_METRICS_ADDRESS", "[::1]:9000")
    ('::1', 9000)
    """
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65_536:
        raise SettingsError(f"{name}: must be host:port, not {text!r}")
    return host.removeprefix("[").removesuffix("]"), int(port)


def parse_servers(text: str) -> list[tuple[str, int]]:
    """Parse the name servers of ``OCTAVO_DNS_SERVERS``. Raises SettingsError if the text is invalid.

    >>> parse_servers("192.0.2.1:53, [::1]:5353")
    [('192.0.2.1', 53), ('::1', 5353)]
    """
    name = "OCTAVO_DNS_SERVERS"
    servers = [split_address(name, part.strip()) for part in text.split(",") if part.strip()]
    for host, _ in servers:
        try:
            ip_address(host)
        except ValueError:
            raise SettingsError(f"{name}: must be the IP address of a name server, not {host!r}") from None
    return servers
