"""Public endpoints, where an integration's script responds to requests from anyone, on the origin of sites.

All sites share this origin. Therefore, responses of scripts are shown in a sandbox without an origin, scripts can't
read or set cookies, and response headers that affect more than the response itself are removed."""

from __future__ import annotations

import re
from typing import cast
from urllib.parse import parse_qs, quote

from octavo.errors import Forbidden, NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.files import FileGrant, file_headers
from octavo.kit.http.edge import QUEUE_SECONDS, Action, Request, Route, in_thread
from octavo.kit.http.edge import Answer as HttpAnswer
from octavo.kit.runtime.process import ScriptAnswer
from octavo.kit.scheduling.shares import SharedThreads
from octavo.settings import parse_headers
from octavo.sites.site.hostnames import require_shared_host

from . import store
from .event_replies import ask
from .invoking import Subject
from .manifest import Manifest
from .on_sites import SCRIPT_FILE, SIGN_IN, SIGN_OUT, ask_for_sign_in, ask_for_sign_out, read_script
from .policies import policy_text
from .presenting import PUBLIC
from .publishing import BUILTIN_NAMES, copy_name
from .store import SCRIPT, InstallationRow, Kind

LARGEST = 5 * 1024 * 1024
"""Maximum size of a request body in bytes."""
_SANDBOX = "sandbox allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox"
_FORWARDED = re.compile(
    r"accept|accept-language|cache-control|content-(?:digest|encoding|language|type)|date|digest|idempotency-key"
    r"|if-(?:match|modified-since|none-match|range|unmodified-since)|origin|prefer|range|referer|user-agent"
    r"|x-requested-with"
    # Headers that services send with webhooks, including signatures.
    r"|[a-z0-9-]*(?:signature|webhook|hook|event|delivery|timestamp|topic|hmac)[a-z0-9-]*"
    r"|(?:x-)?(?:github|gitlab|gitea|slack|discord|telegram|twilio|shopify|atlassian|zendesk|intercom|linear|sentry"
    r"|svix)-[a-z0-9-]+"
    r"|x-goog-(?:channel|message|resource)-[a-z-]+"
)
"""Request headers that scripts receive. All other headers, such as ``Authorization``, ``Cookie``,
``X-Forwarded-User``, and unknown headers, are omitted, because browsers and proxies in front of this server may use
them to send the visitor's identity or credentials."""
_RESERVED = frozenset(
    {
        # Connection and transfer of the body.
        "connection",
        "content-length",
        "date",
        "keep-alive",
        "proxy-authenticate",
        "proxy-connection",
        "server",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
        "x-request-id",
        # Caching and use of the response.
        "content-security-policy",
        "content-security-policy-report-only",
        "x-content-type-options",
        # The entire origin, which hosts other sites as well.
        "accept-ch",
        "activate-storage-access",
        "alt-svc",
        "clear-site-data",
        "critical-ch",
        "expect-ct",
        "nel",
        "origin-agent-cluster",
        "public-key-pins",
        "public-key-pins-report-only",
        "report-to",
        "reporting-endpoints",
        "service-worker-allowed",
        "set-cookie",
        "set-cookie2",
        "set-login",
        "strict-transport-security",
        "use-as-dictionary",
        # Instructions to proxies in front of this server to send their own files instead.
        "x-lighttpd-send-file",
        "x-reproxy-url",
        "x-sendfile",
    }
)
"""Headers that scripts can't set. All other headers are sent unchanged."""
_OUR_PREFIXES = ("sec-", "x-accel-")
_CODE = frozenset(
    {"script", "worker", "sharedworker", "serviceworker", "audioworklet", "paintworklet", "xslt"}
)
"""Values of ``Sec-Fetch-Dest`` for requests whose responses would run as code. These requests are rejected, because
site pages trust code from their own origin."""
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]{0,8192}")
_NAME = re.compile(r"[a-z0-9-]{1,100}")


def public_routes(context: Context, pool: SharedThreads) -> list[Route]:
    """Return the routes under ``/~integrations``. ``pool``: the threads for reading."""
    endpoint = _Endpoint(context, pool)
    routes = []
    for path in (f"{PUBLIC}/{{name}}", f"{PUBLIC}/{{name}}/{{path*}}"):
        actions = {
            method: Action("askIntegration", endpoint.answer) for method in ("GET", "POST", "PUT", "DELETE")
        }
        routes.append(Route(path, actions))
    return routes


class _Endpoint:
    def __init__(self, context: Context, pool: SharedThreads) -> None:
        self._context = context
        self._pool = pool
        self._more = parse_headers(context.settings.integration_headers)

    async def answer(self, request: Request) -> HttpAnswer:
        if request.header(b"sec-fetch-dest") in _CODE and request.header(b"sec-fetch-site") == "same-origin":
            raise Forbidden("Sites can't load an integration's responses as code.")
        body = await request.read(LARGEST)
        found = await in_thread(self._pool, request.owner, self._find, request)
        if isinstance(found, HttpAnswer):
            return found
        subject, below = found
        owner = subject.installation or subject.integration
        return await self._context.endpoints.run(
            (owner.organization_id, owner.id), QUEUE_SECONDS, self._ask, request, body, subject, below
        )

    def _find(self, request: Request) -> HttpAnswer | tuple[Subject, list[str]]:
        """Return the recipient of a request and the rest of the path, or a response if no script is required."""
        path = request.segments[1:]
        require_shared_host(self._context, request.header(b"host"))
        with self._context.db.read() as tx:
            if path[1:2] == ["~assets"]:
                return self._asset(tx, path[0], path[2:])
            return find_subject_at(tx, path)

    def _ask(self, request: Request, body: bytes, subject: Subject, below: list[str]) -> HttpAnswer:
        manifest = subject.integration.manifest
        if below == [SIGN_IN]:
            location = parse_qs(request.query_string.decode("latin-1")).get("location", [""])[0]
            return _shown(ask_for_sign_in(self._context, subject, location), manifest)
        if below == [SIGN_OUT]:
            return _shown(ask_for_sign_out(self._context, subject), manifest)
        if below == [SCRIPT_FILE]:
            return _script(read_script(self._context, subject))
        event = {
            "request": {
                "method": request.method.lower(),
                "url": self._url(request),
                "headers": {
                    header.decode("latin-1"): value.decode("latin-1")
                    for header, value in request.headers.items()
                    if self._is_forwarded(header.decode("latin-1"))
                },
            }
        }
        got = ask(self._context, subject, "fetch", event, body or None)
        return _shown(got, manifest)

    def _is_forwarded(self, name: str) -> bool:
        return _FORWARDED.fullmatch(name) is not None or name in self._more

    def _url(self, request: Request) -> str:
        path = "/".join(quote(segment, safe="~!$&'()*+,;=:@") for segment in request.segments)
        url = f"{self._context.settings.sites_url.rstrip('/')}/{path}"
        url += "/" if request.ends_with_slash else ""
        return f"{url}?{request.query_string.decode('latin-1')}" if request.query_string else url

    def _asset(self, tx: Transaction, integration: str, path: list[str]) -> HttpAnswer:
        """Return an integration's icon or one of its preview images."""
        name = path[0].partition(".")[0] if len(path) == 1 else SCRIPT
        found = store.find_integration(tx, integration)
        file = store.find_file(tx, found.id, name) if found is not None and name != SCRIPT else None
        if file is None:
            raise _missing()
        grant = FileGrant(file.hash, name, file.content_type)
        headers = {key.lower(): value for key, value in file_headers(grant, public=True).items()}
        content_type = headers.pop("content-type")
        return HttpAnswer(200, self._context.files.read(file.hash), content_type, headers)


def _missing() -> NotFound:
    return NotFound("There is no page at this URL.")


def find_subject_at(tx: Transaction, path: list[str]) -> tuple[Subject, list[str]]:
    """Return the most specific installation for a path that starts with an integration's name, and the rest of the
    path.

    Raises NotFound if there is none."""
    name, *path = path
    if path[:1] != ["installations"]:
        integration = store.find_integration(tx, name)
        if integration is None:
            raise _missing()
        return Subject(integration), path
    installation = _find_installation(tx, name, path[1]) if len(path) > 1 else None
    if installation is None:
        raise _missing()
    integration = store.get_integration_by_id(tx, installation.integration_id)
    if len(path) > 3 and path[2] in ("spaces", "sites"):
        place = store.find_place(tx, installation.id, cast("Kind", path[2][:-1]), path[3])
        if place is None:
            raise _missing()
        return Subject(integration, installation, place), path[4:]
    return Subject(integration, installation), path[2:]


def _find_installation(tx: Transaction, name: str, installation_id: str) -> InstallationRow | None:
    """Return an installation of the integration ``name``. If the installed integration is a copy of a built-in
    integration, ``name`` can also be the name of the built-in integration, because providers still use endpoints
    from before organizations had copies."""
    found = store.find_installation_by_id(tx, installation_id)
    if found is None:
        return None
    by_bare_name = name in BUILTIN_NAMES and found.integration == copy_name(name, found.organization_id)
    return found if found.integration == name or by_bare_name else None


def _policy(manifest: Manifest) -> str:
    folded = policy_text(manifest) or ""
    kept = [part.strip() for part in folded.split(";") if not part.strip().lower().startswith("sandbox")]
    return "; ".join([*filter(None, kept), _SANDBOX]).encode("latin-1", "replace").decode("latin-1")


def _script(text: bytes) -> HttpAnswer:
    headers = {
        "cache-control": "public, max-age=300",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "cross-origin",
    }
    return HttpAnswer(200, text, "text/javascript; charset=utf-8", headers)


def _shown(answer: ScriptAnswer, manifest: Manifest) -> HttpAnswer:
    headers: dict[str, str] = {}
    for given, value in answer.headers:
        name = given.lower()
        ours = name in _RESERVED or name.startswith(_OUR_PREFIXES)
        if not ours and _NAME.fullmatch(name) and _VALUE.fullmatch(value):
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
    headers.setdefault("cache-control", "no-store")
    headers["content-security-policy"] = _policy(manifest)
    headers["x-content-type-options"] = "nosniff"
    content_type = headers.pop("content-type", "text/plain; charset=utf-8")
    return HttpAnswer(answer.status, answer.body, content_type, headers)
