"""Deliver an event to an integration: to its script in a process on this server, or to its developer's tunnel.

The script receives all the data that it needs: the integration, the installation, its secrets, and tokens that are
valid for an hour. This server makes the script's requests to other hosts, according to the rules for all outgoing
requests."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple, cast

import msgspec

from octavo.core.json_types import JsonObject
from octavo.core.url_parts import own_address, write_authority
from octavo.errors import NotFound
from octavo.extensions.deliveries.store import LogLine
from octavo.kit.clock import iso, now
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.kit.net.fetch import Fetcher, FetchError, Limits
from octavo.kit.observability import tracing
from octavo.kit.runtime.host import SECONDS, Host
from octavo.kit.runtime.process import (
    Fetch,
    FetchRefused,
    HostRequest,
    HostResponse,
    Log,
    ScriptAnswer,
    ScriptEvent,
)
from octavo.organization.access.tokens import create_integration_token

from . import store
from .presenting import (
    present_installation,
    present_integration,
    present_site_installation,
    present_space_installation,
)
from .store import SCRIPT, InstallationRow, IntegrationRow, Kind, PlaceRow

_HIDDEN = "[secret]"
_SHORTEST = 6
"""Minimum length of secrets to remove from logs. Shorter secrets would match parts of ordinary words."""
_DROPPED = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_ANSWER = 10 * 1024 * 1024
"""Maximum size in bytes of another host's response to a script."""


class Subject(NamedTuple):
    """Recipient of an event: an integration with its installation in an organization, on a space, or on a site."""

    integration: IntegrationRow
    installation: InstallationRow | None = None
    place: PlaceRow | None = None


class ScriptOutcome(NamedTuple):
    """Log of a finished script, and its error, if any."""

    logs: list[LogLine]
    problem: str | None


def find_subject(
    tx: Transaction, integration_id: str, installation_id: str | None, kind: str, place_id: str
) -> Subject | None:
    """Return the recipient of an event; None if the integration was unpublished."""
    integration = store.find_integration_by_id(tx, integration_id)
    if integration is None:
        return None
    installation = store.find_installation(tx, integration.name, installation_id) if installation_id else None
    place = None
    if installation is not None and kind:
        place = store.find_place(tx, installation.id, cast("Kind", kind), place_id)
    return Subject(integration, installation, place)


# --- environment of scripts -----------------------------------------------------------------------------


def signing_secret(context: Context, integration: IntegrationRow, *of: str) -> str:
    """Return the signing secret of an integration or an installation. ``of``: for an installation, its ID; for an
    installation on a space or site, also the kind and ID of that space or site."""
    own = store.SIGNING_SECRET.open(context.sealer, integration.signing_secret, integration.id)
    return hmac.new(own.encode(), "\0".join(of).encode(), hashlib.sha256).hexdigest() if of else own


def environment(context: Context, tx: Transaction, subject: Subject) -> JsonObject:
    """Return the environment for a script. It contains secrets."""
    integration, installation, place = subject
    to, signer = Recipient(context=context), context.signer
    tokens = {"integration": create_integration_token(signer, integration.id)}
    signing = {"integration": signing_secret(context, integration)}
    found: JsonObject = {
        "apiEndpoint": context.settings.url,
        "integration": present_integration(to, tx, integration, None),
        "secrets": msgspec.json.decode(
            store.SECRETS.open(context.sealer, integration.secrets, integration.id)
        ),
    }
    if installation is not None:
        tokens["installation"] = create_integration_token(signer, integration.id, installation.id)
        signing["installation"] = signing_secret(context, integration, installation.id)
        found["installation"] = present_installation(to, tx, installation, whole=True)
    if place is not None:
        key = (place.installation_id, place.kind, place.place_id)
        signing[f"{place.kind}Installation"] = signing_secret(context, integration, *key)
        found[f"{place.kind}Installation"] = (
            present_space_installation(to, tx, place, integration.id, whole=True, actor=None)
            if place.kind == "space"
            else present_site_installation(to, tx, place, integration.id, whole=True, actor=None)
        )
    # Older scripts read the singular fields.
    last = list(signing.values())[-1]
    return {
        **found,
        "apiTokens": tokens,
        "authToken": tokens.get("installation", tokens["integration"]),
        "signingSecrets": signing,
        "signingSecret": last,
    }


def _secrets_of(environ: JsonObject) -> list[str]:
    values = [
        *environ["secrets"].values(),
        *environ["apiTokens"].values(),
        *environ["signingSecrets"].values(),
    ]
    return sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True)


# --- delivery of events ---------------------------------------------------------------------------------


@cache
def _host(processes: int) -> Host:
    return Host(processes)


def invoke(
    context: Context,
    subject: Subject,
    event: Mapping[str, object],
    finished: Callable[[ScriptOutcome], None],
    *,
    body: bytes | None = None,
    seconds: float = SECONDS,
    wait: bool = False,
) -> ScriptAnswer:
    """Return an integration's response to an event.

    ``finished``: a function that is called after the script and its background work have ended. ``wait``: whether
    to wait for that before returning. Raises ScriptFailed if the script fails, FetchError if a tunnel can't be
    reached, and Unavailable if no process is available."""
    integration, installation, _ = subject
    with context.db.read() as tx:
        environ = environment(context, tx, subject)
        tunnel = store.find_tunnel(tx, integration.id)
    hidden, began = _secrets_of(environ), now()
    handed = ScriptEvent(msgspec.json.encode(event).decode(), msgspec.json.encode(environ).decode(), body)

    def done(logs: list[Log], problem: str | None) -> None:
        lines = [LogLine(_redacted(line.message, hidden), iso(began + line.at), line.level) for line in logs]
        finished(ScriptOutcome(lines, None if problem is None else _redacted(problem, hidden)))

    organization_id = installation.organization_id if installation else integration.organization_id
    if tunnel is not None and (tunnel.all or organization_id == integration.organization_id):
        return _through_tunnel(context, tunnel.url, handed, done, seconds)
    key = f"{integration.id}:{integration.version}:{installation.id if installation else ''}"
    with tracing.part("run script", attributes={"octavo.integration.id": integration.id}):
        return _host(context.settings.integration_processes).run(
            key,
            lambda: _read_script(context, integration),
            handed,
            fetch_for(context.settings.url, context.settings.allow_private_fetch),
            done,
            owner=(organization_id, key),
            seconds=seconds,
            wait=wait,
        )


def _redacted(text: str, hidden: list[str]) -> str:
    for secret in hidden:
        text = text.replace(secret, _HIDDEN)
    return text


def _read_script(context: Context, integration: IntegrationRow) -> str:
    with context.db.read() as tx:
        file = store.find_file(tx, integration.id, SCRIPT)
    if file is None:
        raise NotFound(f"There is no longer an integration named {integration.name!r}.")
    return context.files.read(file.hash).decode()


def fetch_for(api_url: str, allowed: str) -> Fetch:
    """Return a function that makes requests on behalf of scripts.

    Requests to the API go directly to the API. All other requests follow the rules for outgoing requests.
    ``allowed``: the value of the setting ``allow_private_fetch``."""
    api = own_address(api_url)
    port = api.port or {"http": 80, "https": 443}[api.scheme]
    inside, outside = Fetcher(write_authority(api.host, port)), Fetcher(allowed)

    def fetch(wanted: HostRequest) -> HostResponse:
        to_api = wanted.url.startswith(f"{api_url}/v1/")
        follow = wanted.redirect == "follow" and not to_api
        limits = Limits(size=_ANSWER, seconds=SECONDS, follow=follow)
        try:
            got = (inside if to_api else outside).fetch(
                wanted.url, wanted.method, dict(wanted.headers), wanted.body, limits
            )
        except FetchError as error:
            raise FetchRefused(error.message) from None
        if wanted.redirect == "error" and got.status in _REDIRECTS and "location" in got.headers:
            raise FetchRefused(
                f"the server returned a redirect ({got.status}), which this request doesn't allow"
            )
        headers = [(name, value) for name, value in got.headers.multi_items() if name not in _DROPPED]
        return HostResponse(got.url, got.status, headers, got.body)

    return fetch


def _through_tunnel(
    context: Context,
    url: str,
    event: ScriptEvent,
    done: Callable[[list[Log], str | None], None],
    seconds: float,
) -> ScriptAnswer:
    boundary = secrets.token_hex(16)
    parts = {"event": event.event.encode(), "environment": event.environment.encode()}
    if event.body is not None:
        parts["fetch-body"] = event.body
    body = b"".join(
        f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n'.encode() + value + b"\r\n"
        for name, value in parts.items()
    )
    headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
    try:
        got = Fetcher(context.settings.allow_private_fetch).fetch(
            url,
            "POST",
            headers,
            body + f"--{boundary}--\r\n".encode(),
            Limits(size=_ANSWER, seconds=seconds, follow=False),
        )
    except FetchError as error:
        done([], f"The tunnel failed: {error.message}")
        raise
    done([], None)
    kept = [(name, value) for name, value in got.headers.multi_items() if name not in _DROPPED]
    return ScriptAnswer(got.status, kept, got.body)
