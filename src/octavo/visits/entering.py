"""From a URL to what it shows: a visit at a site, then at a space of it, and the path below.

A visit is the proof that whoever asks may see what it is at; every route of a site takes one.

A site is found by its own host name, or by ``/{organization hostname}/{site basename}/`` below the address of
sites. An owner's proxy asks for ``/~proxied/{site id}/`` there, and every answer to that names the paths that the
visitor's browser knows. Below a site the first part of a path may name a section, and the next one a variant of that;
the site begins with its default section, and a section with its default variant. What a visitor does not see is not
there.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from urllib.parse import quote, unquote

from msgspec import Struct
from msgspec.structs import replace

from ..content import shown_state
from ..core.hosts import host_name
from ..errors import NotFound
from ..insights import VisitorLocation
from ..kit.context import Context
from ..kit.db import Transaction
from ..orgs import find_organization_by_former_hostname, find_organization_by_hostname
from ..references import SiteVisitor, SpaceView, load_view
from ..sites import (
    PREVIEWED,
    PROXIED,
    Outline,
    SiteRow,
    SiteSpaceRow,
    find_empty_spaces,
    find_lead,
    find_site,
    find_site_by_basename,
    find_site_by_former_name,
    find_site_by_hostname,
    find_version,
    load_structure,
    own_url,
)
from .admitting import Admission, Coming, SendOn, admit, admit_framed

EMBEDDED = "~embed/"
"""What the path of an embedded site begins with."""


class MadeOf(Struct):
    """What an answer was made of, beside its address: the same, the same answer. ``revisions``: of the spaces that were
    looked into; ``empty``: those in which there was no page. ``more``: it was made of something else, too. ``visitor``:
    whom it was made for, as conditions ask for them; ``location``: where they are, if it is a page that is counted."""

    site: SiteRow
    version: int | None
    visitor: dict[str, Any]
    empty: frozenset[str] = frozenset()
    revisions: dict[str, str] = {}
    more: bool = False
    location: VisitorLocation | None = None

    def is_still_so(self, tx: Transaction, host: str, path: str) -> bool:
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
    """A visit at a site. ``path`` is what was asked for and ``rest`` what follows the base, both decoded; ``base`` is the
    site's path with slashes at both ends, escaped, so that addresses begin with it. All three are as the visitor's
    browser has them. ``published``: the public address of the site's start.
    ``own_host``: the visitor is at the site's own host name, where no other site is. ``proxied``: a proxy of the owner's
    is between. ``embedded``: it is shown in a frame of another site, below a base of its own so that links stay in the
    frame."""

    site: SiteRow
    organization_id: str
    path: str
    base: str
    rest: str
    published: str
    admission: Admission
    outline: Outline
    made_of: MadeOf
    own_host: bool = False
    proxied: bool = False
    embedded: bool = False

    def is_below(self, base: str) -> bool:
        """Whether what was asked for is spelled as addresses below a base are."""
        return self.path.startswith(unquote(base))

    @property
    def indexed(self) -> bool:
        """Whether search engines may list it."""
        return self.site.visibility == "public" and not self.admission.preview and not self.embedded

    def public(self, path: str) -> str:
        """The whole public address of what is at a path that begins with ``base``."""
        return f"{self.published}{path.removeprefix(self.base)}"

    def host(self, asked: str) -> str:
        """The host that the visitor's browser knows. ``asked``: that of the request, which the owner's proxy sets."""
        return (self.site.proxy_host or asked) if self.proxied else asked


class SpaceVisit(Struct, frozen=True):
    """A visit at one space of a site; ``base`` is where the space starts, escaped. ``site_spaces``: the variants beside it."""

    visit: SiteVisit
    site_space: SiteSpaceRow
    site_spaces: tuple[SiteSpaceRow, ...]
    base: str
    rest: str
    view: SpaceView


class _Place(NamedTuple):
    """The site that an address names; the path, its base, which is escaped, and what follows as browsers have them."""

    site: SiteRow
    path: str
    base: str
    rest: str
    proxied: bool = False
    framed: Admission | None = None


def _find_by_host(tx: Transaction, host: str, path: str) -> _Place | None:
    """The site whose own host name this is, where there is nothing else whatever the path says."""
    name = host_name(host)
    found = find_site_by_hostname(tx, name) if "." in name else None
    return _Place(found, path, "/", path.lstrip("/")) if found is not None else None


def _find_by_path(tx: Transaction, path: str) -> _Place | None:
    """The site that a path names at the host that sites share; a name that a site left counts as well."""
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
    """The site that an address names, whoever may see it, and what follows its base."""
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
    # Many proxies take the slash at the end away: sent on to it, visitors would go round in circles.
    seen = f"{base}{rest}" if rest.endswith("/") or not rest else f"{base}{rest}/"
    return _Place(site, seen, base, rest, proxied=True)


def enter_site(tx: Transaction, context: Context, host: str, path: str, coming: Coming) -> SiteVisit:
    """The visit at the site that an address names. ``path`` is decoded and begins with a slash. Raises NotFound where
    nobody else may know that there is one, and what ``audiences.admit`` raises."""
    found = _find_by_host(tx, host, path)
    if found is None:
        framed = path.startswith(PREVIEWED)
        found = _find_previewed(tx, context, path) if framed else _find_by_path(tx, path)
    if found is None:
        raise NotFound("There is no published site at this address.")
    site = found.site
    if found.proxied:
        # The path is its owner's word. On this origin another site may be there: so the cookies of both have other names.
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
        # Others' pages would show what somebody's cookies let them see.
        if not context.settings.embed_origins or site.visibility == "visitor-auth" or admission.preview:
            raise NotFound("This site is not shown in frames.")
        base, rest = f"{base}{EMBEDDED}", rest.removeprefix(EMBEDDED)
    structure = load_structure(tx, site.id)
    outline = Outline(structure, admission.claims, preview=admission.preview, drafted=admission.drafted)
    made_of = MadeOf(site, find_version(tx, site.id), admission.claims, structure.empty)
    return SiteVisit(
        site,
        site.organization_id,
        found.path,
        base,
        rest,
        f"{start}{admission.key}/" if admission.key else start,
        admission,
        outline,
        made_of,
        own_host=found.base == "/",
        proxied=found.proxied,
        embedded=embedded,
    )


def visit_space(tx: Transaction, visit: SiteVisit, shown: SiteSpaceRow, rest: str = "") -> SpaceVisit:
    """The visit at a space of the site that the visitor sees."""
    variants = visit.outline.variants(visit.outline.section(shown.section_id))
    base = f"{visit.base}{quote(visit.outline.base(shown))}"
    state = shown_state(tx, visit.admission.drafted, shown.space_id)
    view = load_view(tx, state, visit.admission.claims)
    visit.made_of.revisions[shown.space_id] = view.state.revision_id
    visit.made_of.more = visit.made_of.more or bool(view.computed)
    return SpaceVisit(visit, shown, variants, base, rest, view)


def list_spaces(tx: Transaction, visit: SiteVisit) -> list[SpaceVisit]:
    """Every space of the site that the visitor sees, as if each were visited at its start."""
    return [visit_space(tx, visit, shown) for shown in visit.outline.site_spaces()]


def enter_space(tx: Transaction, visit: SiteVisit) -> SpaceVisit | None:
    """The visit at the space that the rest of the path is in; None when the visitor sees none there. Raises SendOn
    where a section, or the site, begins with something that this visitor does not see."""
    shown, rest, begins_there = visit.outline.locate(visit.rest)
    if shown is None:
        return None
    if begins_there:
        raise SendOn(f"{visit.base}{quote(visit.outline.base(shown))}", keeps_query=True)
    return visit_space(tx, visit, shown, rest)


def find_redirect(tx: Transaction, visit: SiteVisit, sites_url: str) -> str | None:
    """Where a visitor who found nothing is sent. ``sites_url``: the public address of sites."""
    lead = find_lead(tx, visit.site, visit.outline, visit.admission.claims, visit.rest, sites_url)
    if lead is None:
        return None
    return lead.target if lead.is_elsewhere else f"{visit.base}{lead.target}"


class OtherSpaces:
    """The other spaces of a site, each as it is visited from a space: nearest in its own section."""

    def __init__(self, tx: Transaction, space: SpaceVisit) -> None:
        self._tx = tx
        self._space = space
        self._visits: dict[str, SpaceVisit | None] = {space.site_space.space_id: space}

    def find(self, space_id: str) -> SpaceVisit | None:
        """The start of a space; None when the visitor is not shown it."""
        if space_id not in self._visits:
            near = (*self._space.site_spaces, *self._space.visit.outline.site_spaces())
            shown = next((one for one in near if one.space_id == space_id), None)
            found = visit_space(self._tx, self._space.visit, shown) if shown is not None else None
            self._visits[space_id] = found
        return self._visits[space_id]

    def visitor(self) -> SiteVisitor:
        """Who visits, for references to what is in these spaces."""

        def view(space_id: str) -> SpaceView:
            there = self.find(space_id)
            assert there is not None, "asked for what they see alone"
            return there.view

        return SiteVisitor(self._tx, lambda space_id: self.find(space_id) is not None, view)
