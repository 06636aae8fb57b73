"""Resolve paths on a site that have no page for a visitor. The target can be the current location of a section or
variant that was previously at the path, or the target of a redirect on the site or in the space that contains the
path. Targets are always visible to the visitor.

The reader and external renderers use this module.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import quote, unquote

from msgspec import Struct

from octavo.content.references.viewing import SpaceView, load_view
from octavo.content.revisions.bodies import get_body
from octavo.content.revisions.item_versions import find_item_by_path
from octavo.content.revisions.restrictions import shown_state
from octavo.content.revisions.states import State
from octavo.core.document.urls import safe_url
from octavo.core.hosts import spell_host
from octavo.core.redirects import compare_key
from octavo.core.space_config import CONFIG_PATH, Config, read_config
from octavo.core.space_config import match_redirect as match_space_redirect
from octavo.core.summary import entry_path
from octavo.core.url_parts import escape_address, own_address, read_address
from octavo.kit.db.database import Transaction

from ..store import SiteRow
from ..structure.outline import Outline
from ..structure.store import SiteSpaceRow, find_former_paths
from . import store
from .store import RedirectRow


class ResolvedRedirect(Struct, frozen=True):
    """Target of a path. ``target``: a path relative to the site (quoted, without a leading slash), or a complete
    URL. ``redirect``: the site redirect that applies, if any. ``site_space``: if no site redirect applies, the site
    space that the URL points to or whose files contain the redirect."""

    target: str
    redirect: RedirectRow | None
    site_space: str | None = None

    @property
    def is_permanent(self) -> bool:
        return self.redirect is not None and bool(self.redirect.permanent)

    @property
    def is_elsewhere(self) -> bool:
        """Return whether the target is a complete URL."""
        return self.target.startswith(("http://", "https://"))


def resolve_redirect(
    tx: Transaction, site: SiteRow, outline: Outline, claims: Mapping[str, object], path: str, sites_url: str
) -> ResolvedRedirect | None:
    """Return the target of a path, or None. ``path``: the decoded path, relative to the site. ``sites_url``: the public
    URL of the sites. Redirects in spaces can't point to URLs under it."""
    plain = path.strip("/")
    parts = plain.lower().split("/")
    located = outline.locate(path)
    former = find_former_paths(tx, site.id, ["/".join(parts[:n]) for n in (0, 1, 2) if n <= len(parts)])
    for left, site_space_id in former:
        shown = outline.find(site_space_id)
        below = plain[len(left) :].lstrip("/")
        if shown is None or (
            located.shown is not None and (located.shown.id, located.rest) == (shown.id, below)
        ):
            continue
        if not _is_left(outline, left):
            # Another space now has this path. Redirect only to pages that it has.
            tree = _view_of(tx, outline, claims, shown).tree
            page = tree.find(below.removesuffix(".md")) if below else None
            if page is None or tree.first_document(page) is None:
                continue
        return ResolvedRedirect(quote(outline.base(shown) + below), None, shown.id)
    if located.shown is not None and not located.begins_there:
        target = _of_space(tx, site, outline, claims, located.shown, located.rest, sites_url)
        if target is not None:
            return ResolvedRedirect(target, None, located.shown.id)
    row = store.match(tx, site.id, quote(plain), drafts=outline.drafts)
    target = find_target(tx, outline, claims, row, plain) if row is not None else None
    return ResolvedRedirect(target, row) if target is not None else None


def _view_of(
    tx: Transaction, outline: Outline, claims: Mapping[str, object], shown: SiteSpaceRow
) -> SpaceView:
    return load_view(tx, shown_state(tx, outline.drafted, shown.space_id), claims, shown.page_id)


def _is_left(outline: Outline, path: str) -> bool:
    """Return whether there is no longer a site space at a former path."""
    return all(outline.base(shown).strip("/") != path for shown in outline.site_spaces())


def find_target(
    tx: Transaction, outline: Outline, claims: Mapping[str, object], row: RedirectRow, path: str
) -> str | None:
    """Return the target of a site's redirect for a path; None if the target is no longer shown or is hidden
    from this visitor."""
    rest = row.rest_of(path) if row.capture else ""
    if {".", ".."} & set(rest.split("/")):
        return None
    if row.url is not None:
        return with_rest(row.url, rest)
    if row.section_id is not None:
        section = next((one for one in outline.sections if one.id == row.section_id), None)
        shown = outline.start(section) if section is not None else None
    else:
        shown = outline.find(row.site_space_id or "")
    if shown is None:
        return None
    base, below = outline.base(shown), ""
    if row.page_id is not None:
        tree = _view_of(tx, outline, claims, shown).tree
        page = tree.page(row.page_id)
        if page is None:
            return None
        below = tree.url_path(page)
    return _page_below(tx, outline, claims, f"{base}{below}", rest) if rest else quote(f"{base}{below}")


def _page_below(
    tx: Transaction, outline: Outline, claims: Mapping[str, object], start: str, rest: str
) -> str | None:
    """Return the URL of the page at a path under another path; None if there is no page that this visitor can see. Only
    pages are targets, so that redirects are never chained."""
    located = outline.locate(f"{start.rstrip('/')}/{rest}".lstrip("/"))
    if located.shown is None or located.begins_there:
        return None
    tree = _view_of(tx, outline, claims, located.shown).tree
    found = tree.find(located.rest.removesuffix(".md"))
    page = tree.first_document(found) if found is not None else None
    if page is None:
        return None
    base, as_markdown = outline.base(located.shown), located.rest.endswith(".md")
    return quote(f"{base}{tree.path(page)}.md" if as_markdown else f"{base}{tree.url_path(page)}")


def with_rest(url: str, rest: str) -> str:
    """Return a URL with a decoded path added after its own path, before its query and fragment."""
    if not rest:
        return url
    end = min(at for at in (url.find("?"), url.find("#"), len(url)) if at >= 0)
    # The slash also ends the host of a URL without a path.
    return f"{url[:end].rstrip('/')}/{quote(rest)}{url[end:]}"


@lru_cache(maxsize=64)
def _read_config(text: str) -> Config:
    return read_config(text)


def _config_of(tx: Transaction, state: State) -> Config:
    item = find_item_by_path(tx, state, CONFIG_PATH)
    known = item is not None and item.kind == "source"
    return _read_config(get_body(tx, item.content) if known and item.content else "")  # type: ignore[union-attr]


def list_space_redirects(tx: Transaction, view: SpaceView) -> list[str]:
    """List the decoded paths in a space that are redirected by its pages or by its ``.gitbook.yaml``. ``old/*``
    represents all paths under ``old``."""
    return [*view.redirects, *(unquote(source) for source in _config_of(tx, view.state).redirects)]


def _of_space(
    tx: Transaction,
    site: SiteRow,
    outline: Outline,
    claims: Mapping[str, object],
    shown: SiteSpaceRow,
    rest: str,
    sites_url: str,
) -> str | None:
    """Return the URL that a page or the ``.gitbook.yaml`` of a space redirects a visitor to: a page in the space that
    the visitor can see, or a URL on another host, so that redirects are never chained."""
    state = shown_state(tx, outline.drafted, shown.space_id)
    config = _config_of(tx, state)
    view = _view_of(tx, outline, claims, shown)
    page = view.redirects.get(compare_key(rest))
    if page is not None:
        first = view.tree.first_document(page)
        return quote(f"{outline.base(shown)}{view.tree.url_path(first)}") if first is not None else None
    target = match_space_redirect(config, rest)
    if target is None:
        return None
    if target.lower().startswith(("http://", "https://")):
        return _elsewhere(target, site, sites_url)
    path, _, anchor = target.partition("#")
    inside = entry_path(path.lstrip("/"))
    if inside is None:
        return None
    tree = view.tree
    found = view.page_of_file(f"{config.root}{inside}".strip("/"))
    page = tree.page(found) if found is not None else tree.find(unquote(inside).removesuffix(".md"))
    first = tree.first_document(page) if page is not None else None
    if first is None:
        return None
    address = quote(f"{outline.base(shown)}{tree.url_path(first)}")
    return f"{address}#{quote(anchor, safe='%')}" if anchor else address


def _elsewhere(url: str, site: SiteRow, sites_url: str) -> str | None:
    safe = safe_url(url)
    if safe is None or not is_elsewhere(safe, site, sites_url):
        return None
    return escape_address(safe)


def is_elsewhere(url: str, site: SiteRow, sites_url: str) -> bool:
    """Return whether a URL is outside the site and outside the server's other sites. On these sites, another
    redirect could point back to the site."""
    parts = read_address(url)
    if parts is None:
        return False
    host = spell_host(parts.host)
    # The owner has other pages outside the path where a proxy shows the site.
    below_proxy = f"{host}{parts.path}/".startswith(f"{site.proxy}/") if site.proxy else False
    return bool(host) and not below_proxy and host not in (site.hostname, own_address(sites_url).host)
