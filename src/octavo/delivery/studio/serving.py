"""The app's URLs, the single page that they all return, and its Content-Security-Policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import msgspec

from octavo.core.icons import icon
from octavo.delivery.reader.drawing import DIAGRAM_FILES, find_asset
from octavo.errors import NotFound
from octavo.kit.http.edge import Action, Answer, Request, Route, accepts_page, etag_of, fixed
from octavo.kit.http.static_files import read_built, static_route
from octavo.settings import Settings

DIST = Path(__file__).parent / "dist"
SHELL = DIST / "index.html"
_ADDRESSES = ("/o/{path*}", "/s/{path*}", "/c/{path*}", "/~/{path*}")
"""Paths of screens, other than the root."""

_ICON = {
    "cache-control": "public, max-age=604800",
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
}


def find_missing() -> str | None:
    """Return the reason that the app can't be served and how to fix the problem; None if the app can be served."""
    if SHELL.exists():
        return None
    return "the app isn't built; run `make setup`, which builds it with packages from the npm registry"


def content_security_policy(sites_url: str) -> str:
    """Return the app's Content-Security-Policy. It allows the app's own files, and images and frames from
    sites. Scripts and markup can be added to the document only through named policies: for the library that
    renders screens, for the editor, and for the service worker."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self';"
        f" img-src 'self' data: blob: {sites_url}; media-src 'self' {sites_url}; connect-src 'self'; worker-src 'self';"
        f" frame-src 'self' {sites_url}; manifest-src 'self'; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'; require-trusted-types-for 'script';"
        " trusted-types svelte-trusted-html ProseMirrorClipboard octavo-worker"
    )


def _manifest(name: str) -> bytes:
    """Return the web app manifest, which browsers use to offer installation of the app."""
    icon_file = {"src": "/favicon.ico", "sizes": "any", "type": "image/svg+xml"}
    return msgspec.json.encode(
        {
            "id": "/",
            "name": name,
            "short_name": name[:12],
            "start_url": "/",
            "scope": "/",
            "display": "standalone",
            "background_color": "#f5f6f9",
            "theme_color": "#f5f6f9",
            "icons": [icon_file],
        }
    )


def studio_routes(
    settings: Settings, home: Callable[[Request], Answer], draw_missing: Callable[[str], Answer]
) -> list[Route]:
    """Return the routes of the app. At the root, browsers get the app, or ``home`` if the app hasn't been built; other
    clients always get ``home``. ``draw_missing``: a function that renders the page to show if the app hasn't been
    built."""
    headers = {
        "cache-control": "no-cache",
        "content-security-policy": content_security_policy(settings.sites_url),
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "same-origin",
        "vary": "accept",
    }

    @cache
    def read_shell(changed: int) -> Answer:
        return read_built(SHELL, headers)

    def shell() -> Answer:
        # Developers build the app while the server is running.
        return read_shell(SHELL.stat().st_mtime_ns)

    def missing(message: str) -> Answer:
        return draw_missing(message[0].upper() + message[1:] + ".")

    async def screen(request: Request) -> Answer:
        message = find_missing()
        return shell() if message is None else missing(message)

    async def root(request: Request) -> Answer:
        if accepts_page(request.headers) and find_missing() is None:
            return shell()
        return home(request)

    async def worker(request: Request) -> Answer:
        # Browsers check for a new version each time.
        headers = {"cache-control": "no-cache", "x-content-type-options": "nosniff"}
        try:
            return read_built(DIST / "service-worker.js", headers)
        except FileNotFoundError:
            raise NotFound("This URL doesn't exist. Check its path.") from None

    def page_icon(request: Request) -> Answer:
        found = icon(request.parameters["file"].removesuffix(".svg").replace(":", "/"))
        if found is None:
            raise NotFound("There is no icon with this name.")
        return Answer(200, found.encode(), "image/svg+xml", _ICON)

    async def diagram_file(request: Request) -> Answer:
        name = request.parameters["file"]
        found = find_asset(name) if name in DIAGRAM_FILES else None
        if found is None:
            raise NotFound("This URL doesn't exist. Check its path.")
        headers = {"cache-control": "no-cache", "x-content-type-options": "nosniff"}
        if found.policy:
            headers["content-security-policy"] = found.policy
        return Answer(200, found.content, found.media_type, headers, etag_of(found.content))

    return [
        Route("/service-worker.js", {"GET": Action("appWorker", worker)}),
        fixed(
            "/app.webmanifest", "appManifest", partial(_manifest, settings.name), "application/manifest+json"
        ),
        Route("/~diagrams/{file}", {"GET": Action("diagramFile", diagram_file)}),
        Route("/~icons/{file}", {"GET": Action("pageIcon", page_icon)}),
        Route("/", {"GET": Action("home", root)}),
        *(Route(path, {"GET": Action("app", screen)}) for path in _ADDRESSES),
        static_route("/assets", DIST / "assets", "appFile"),
    ]
