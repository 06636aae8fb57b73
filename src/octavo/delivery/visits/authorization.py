"""Resolve a URL to its content: a visit to a site, a visit to one of its spaces, and the rest of the path.

A visit is proof that the visitor can see the location; every site route requires one.

A site is found by its own hostname, or by ``/{organization hostname}/{site basename}/`` on the sites domain. An owner's
proxy requests ``/~proxied/{site id}/`` on that domain, and all responses to it use the paths in the visitor's browser.
Within a site, the first path segment can select a section, and the next segment can select one of its variants. By
default, a site shows its default section, and a section shows its default variant. Content that a visitor can't see is
treated as missing."""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.references.viewing import SiteVisitor, SpaceView, load_view
from octavo.content.revisions.restrictions import shown_state
from octavo.core.hosts import host_name
from octavo.errors import NotFound
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.organization.orgs.store import find_organization_by_former_hostname, find_organization_by_hostname
from octavo.sites.insights.types import VisitorLocation
from octavo.sites.site.hostnames import is_released
from octavo.sites.site.previewing import PREVIEWED
from octavo.sites.site.published import own_url
from octavo.sites.site.redirects.resolving import resolve_redirect
from octavo.sites.site.store import (
    SiteRow,
    find_site,
    find_site_by_basename,
    find_site_by_former_name,
    find_site_by_hostname,
    find_version,
)
from octavo.sites.site.structure.outline import Outline
from octavo.sites.site.structure.store import SiteSpaceRow, find_empty_spaces, load_structure
from octavo.sites.site.wire import PROXIED

from .admission import Admission, RedirectBeforeVisit, VisitorRequest, admit, admit_framed

EMBEDDED = "~embed/"
"""Prefix of the paths of an embedded site."""


class ResponseDependencies(Struct):
    """Dependencies of a response, except its URL. If all of its dependencies are unchanged, the response is unchanged,
    too. ``revisions``: the revisions of the spaces that it used. ``empty``: the spaces that have no pages. ``more``:
    whether it has other dependencies. ``visitor``: the ``visitor`` value that conditions used. ``location``: the
    visitor's location, if the response counts as a page view."""

    site: SiteRow
    version: int | None
    visitor: dict[str, Any]
    empty: frozenset[str] = frozenset()
    revisions: dict[str, str] = {}
    more: bool = False
    location: VisitorLocation | None = None

    def depend_on_space(self, space_id: str, revision_id: str) -> None:
        self.revisions[space_id] = revision_id

    def depend_on_more(self, does: bool = True) -> None:
        """Record that the response has additional dependencies that aren't recorded here, so that it is never
        reused."""
        self.more = self.more or does

    def count_view(self, location: VisitorLocation) -> None:
        """Record that the response counts as a page view."""
        self.location = location

    def are_unchanged(self, tx: Transaction, host: str, path: str) -> bool:
        found = None if self.more else _find_by_host(tx, host, path) or _find_by_path(tx, path)
        if found is None or found.site != self.site:
            return False
        rows = tx.all(
            """SELECT '', version, '' FROM site_versions WHERE site_id = :site
               UNION ALL SELECT id, 0, main_revision FROM spaces WHERE id IN :spaces""",
            site=self.site.id,
            spaces=list(self.revisions),
        )
        now = {space_id: revision or version for space_id, version, revision in rows}
        return (
            now == {"": self.version, **self.revisions} and find_empty_spaces(tx, self.site.id) == self.empty
        )


class SiteVisit(Struct, frozen=True):
    """Visit to a site. ``path``: the requested path, decoded. ``rest``: the decoded part of the path after the base.
    ``base``: the site's path with slashes at both ends, escaped for use in URLs. All three are based on the URL in the
    visitor's browser. ``published``: the public URL of the site's start page.

    ``own_host``: whether the visitor uses the site's own hostname, which serves no other site. ``proxied``:
    whether the visit goes through the owner's proxy. ``embedded``: whether the site is shown in a frame on
    another website, with a separate base so that links stay in the frame."""

    site: SiteRow
    organization_id: str
    path: str
    base: str
    rest: str
    published: str
    admission: Admission
    outline: Outline
    dependencies: ResponseDependencies
    own_host: bool = False
    proxied: bool = False
    embedded: bool = False

    def is_below(self, base: str) -> bool:
        """Return whether the requested path starts with a base, in exactly the same spelling."""
        return self.path.startswith(unquote(base))

    @property
    def indexed(self) -> bool:
        """Return whether search engines can index the site."""
        return self.site.visibility == "public" and not self.admission.preview and not self.embedded

    def public(self, path: str) -> str:
        """Return the absolute public URL of a path that starts with ``base``."""
        return f"{self.published}{path.removeprefix(self.base)}"

    def host(self, asked: str) -> str:
        """Return the host that the visitor's browser uses. ``asked``: the host in the request, which the
        owner's proxy sets."""
        return (self.site.proxy_host or asked) if self.proxied else asked


class SpaceVisit(Struct, frozen=True):
    """Visit to one space of a site. ``base``: the escaped path where the space starts. ``site_spaces``: all variants in
    the space's section."""

    visit: SiteVisit
    site_space: SiteSpaceRow
    site_spaces: tuple[SiteSpaceRow, ...]
    base: str
    rest: str
    view: SpaceView


class _Place(NamedTuple):
    """Site that a URL points to, with the path in the visitor's browser, its escaped base, and the rest of the path."""

    site: SiteRow
    path: str
    base: str
    rest: str
    proxied: bool = False
    framed: Admission | None = None


def _find_by_host(tx: Transaction, host: str, path: str) -> _Place | None:
    """Return the site with this hostname, regardless of the path."""
    name = host_name(host)
    found = find_site_by_hostname(tx, name) if "." in name else None
    return _Place(found, path, "/", path.lstrip("/")) if found is not None else None


def _find_by_path(tx: Transaction, path: str) -> _Place | None:
    """Return the site at a path on the shared host. The path can contain a former name of the site."""
    if path.startswith(PROXIED):
        return _find_proxied(tx, path)
    parts = path.lstrip("/").split("/", 2)
    if len(parts) < 2:
        return None
    name = parts[0].lower()
    org = find_organization_by_hostname(tx, name) or find_organization_by_former_hostname(tx, name)
    if org is None:
        return None
    basename = parts[1].lower()
    found = find_site_by_basename(tx, org.id, basename) or find_site_by_former_name(tx, org.id, basename)
    if found is None:
        return None
    base = quote(f"/{org.hostname}/{found.basename}/")
    return _Place(found, path, base, parts[2] if len(parts) > 2 else "")


def find_site_at(tx: Transaction, host: str, path: str) -> tuple[SiteRow, str] | None:
    """Return the site that a URL points to, regardless of access, and the rest of the path."""
    found = _find_by_host(tx, host, path) or _find_by_path(tx, path)
    return (found.site, found.rest) if found is not None else None


def _find_previewed(tx: Transaction, context: Context, path: str) -> _Place | None:
    token, _, rest = path.removeprefix(PREVIEWED).partition("/")
    found = admit_framed(tx, context, token)
    site = find_site(tx, found[0]) if found is not None else None
    if found is None or site is None:
        return None
    base = f"{PREVIEWED}{token}/"
    return _Place(site, path if path.endswith("/") or rest else f"{path}/", base, rest, framed=found[1])


def _find_proxied(tx: Transaction, path: str) -> _Place | None:
    site_id, _, rest = path.removeprefix(PROXIED).partition("/")
    site = find_site(tx, site_id)
    if site is None or site.proxy is None:
        return None
    base = f"{site.proxy_path}/"
    # Many proxies remove the trailing slash, so redirecting visitors to the URL with a slash would cause a
    # loop.
    seen = f"{base}{rest}" if rest.endswith("/") or not rest else f"{base}{rest}/"
    return _Place(site, seen, base, rest, proxied=True)


def enter_site(tx: Transaction, context: Context, host: str, path: str, coming: VisitorRequest) -> SiteVisit:
    """Return the visit to the site that a URL points to. ``path``: the decoded path, which starts with a
    slash. Raises NotFound if there is no site, and the errors of ``admission.admit``."""
    found = _find_by_host(tx, host, path)
    if found is None and not is_released(tx, context.settings, host_name(host)):
        framed = path.startswith(PREVIEWED)
        found = _find_previewed(tx, context, path) if framed else _find_by_path(tx, path)
    if found is None:
        raise NotFound("No site is published at this URL.")
    site = found.site
    if found.proxied:
        # The owner chooses the path, and another site may share this origin, so the sites' cookies need
        # different names.
        coming = replace(coming, site=site.id)
    if found.framed is not None:
        admission, base, rest = found.framed, found.base, found.rest
    else:
        admission, base, rest = admit(tx, context, site, coming, found.base, found.rest)
    if coming.agent:
        admission = admission.as_agent()
    sites_url = context.settings.sites_url
    elsewhere = own_url(sites_url, site) if found.framed is None else None
    start = elsewhere or f"{sites_url.rstrip('/')}{found.base}"
    embedded = rest.startswith(EMBEDDED) and rest != f"{EMBEDDED}script.js"
    if embedded:
        # Other websites' pages would show content that a visitor's cookies grant access to.
        if not context.settings.embed_origins or site.visibility == "visitor-auth" or admission.preview:
            raise NotFound("This site can't be embedded.")
        base, rest = f"{base}{EMBEDDED}", rest.removeprefix(EMBEDDED)
    structure = load_structure(tx, site.id)
    outline = Outline(
        structure,
        admission.claims,
        preview=admission.preview,
        drafts=admission.drafts,
        drafted=admission.drafted,
    )
    dependencies = ResponseDependencies(site, find_version(tx, site.id), admission.claims, structure.empty)
    return SiteVisit(
        site,
        site.organization_id,
        found.path,
        base,
        rest,
        f"{start}{admission.key}/" if admission.key else start,
        admission,
        outline,
        dependencies,
        own_host=found.base == "/",
        proxied=found.proxied,
        embedded=embedded,
    )


def visit_space(tx: Transaction, visit: SiteVisit, shown: SiteSpaceRow, rest: str = "") -> SpaceVisit:
    """Return the visit to one of the site's spaces. The visitor must be able to see the space."""
    variants = visit.outline.variants(visit.outline.section(shown.section_id))
    base = f"{visit.base}{quote(visit.outline.base(shown))}"
    state = shown_state(tx, visit.admission.drafted, shown.space_id)
    view = load_view(tx, state, visit.admission.claims, shown.page_id)
    visit.dependencies.depend_on_space(shown.space_id, view.state.key)
    visit.dependencies.depend_on_more(bool(view.computed))
    return SpaceVisit(visit, shown, variants, base, rest, view)


def list_spaces(tx: Transaction, visit: SiteVisit) -> list[SpaceVisit]:
    """Return visits to the start of each of the site's spaces that the visitor can see."""
    return [visit_space(tx, visit, shown) for shown in visit.outline.site_spaces()]


def enter_space(tx: Transaction, visit: SiteVisit) -> SpaceVisit | None:
    """Return the visit to the space that the rest of the path points to; None if the visitor can't see it.
    Raises RedirectBeforeVisit if this visitor can't see the default variant of a section, or the site's
    default section."""
    shown, rest, begins_there = visit.outline.locate(visit.rest)
    if shown is None:
        return None
    if begins_there:
        raise RedirectBeforeVisit(f"{visit.base}{quote(visit.outline.base(shown))}", keeps_query=True)
    return visit_space(tx, visit, shown, rest)


class VisitRedirect(NamedTuple):
    """Redirect for a visitor. ``permanent``: whether the redirect is permanent and applies to all visitors."""

    target: str
    permanent: bool = False


def find_redirect(tx: Transaction, visit: SiteVisit, sites_url: str) -> VisitRedirect | None:
    """Return the redirect for a visitor whose page wasn't found. ``sites_url``: the public base URL of
    sites."""
    lead = resolve_redirect(tx, visit.site, visit.outline, visit.admission.claims, visit.rest, sites_url)
    if lead is None:
        return None
    target = lead.target if lead.is_elsewhere else f"{visit.base}{lead.target}"
    return VisitRedirect(target, lead.is_permanent and visit.indexed and not visit.admission.personal)


class OtherSpaces:
    """Spaces of a site other than the visited space. Spaces in the same section come first."""

    def __init__(self, tx: Transaction, space: SpaceVisit) -> None:
        self._tx = tx
        self._space = space
        self._visits: dict[str, SpaceVisit | None] = {space.site_space.space_id: space}

    def find(self, space_id: str) -> SpaceVisit | None:
        """Return a visit to the start of one of these spaces; None if the visitor can't see the space."""
        if space_id not in self._visits:
            near = (*self._space.site_spaces, *self._space.visit.outline.site_spaces())
            shown = next((one for one in near if one.space_id == space_id), None)
            found = visit_space(self._tx, self._space.visit, shown) if shown is not None else None
            self._visits[space_id] = found
        return self._visits[space_id]

    def visitor(self) -> SiteVisitor:
        """Return the visitor, for references to content in these spaces."""

        def view(space_id: str) -> SpaceView:
            there = self.find(space_id)
            assert there is not None, "only visible spaces are looked up"
            return there.view

        return SiteVisitor(self._tx, lambda space_id: self.find(space_id) is not None, view)
