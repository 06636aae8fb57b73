"""Create, update, publish, and delete redirects, and resolve their targets.

A redirect never points to another redirect: destinations on the site are references, and a redirect that appends the
part matched by its wildcard applies only if there is a page at the resulting path. Redirects that would point to
themselves are rejected, because they could never apply."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from msgspec import UNSET, Struct, UnsetType

from octavo.content.pages.reading import ContentReader
from octavo.content.revisions.page_versions import find_page, list_ancestors
from octavo.content.revisions.restrictions import (
    hidden_from,
    main_seen_by,
    published_seen_by,
    shown_state,
)
from octavo.errors import BadRequest, Conflict, NotFound, require_found
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Actor, Recipient
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, find_space_access
from octavo.organization.access.roles import Can as Ability

from ..store import get_site
from ..structure.changing import (
    get_section,
    get_site_space,
    load_seen_structure,
    lock,
    require_live_edits,
)
from ..structure.store import SiteSpaceRow, Structure
from . import store
from .resolving import is_elsewhere, with_rest
from .store import RedirectRow
from .types import (
    WILDCARD,
    Destination,
    GivenDestination,
    ToExternal,
    ToPage,
    ToPath,
    ToSection,
    ToSiteSpace,
    ToUrl,
    columns_of,
)


class RedirectFields(Struct, frozen=True, kw_only=True):
    """Fields of a redirect to set."""

    source: str | UnsetType = UNSET
    destination: GivenDestination | UnsetType = UNSET
    draft: bool | UnsetType = UNSET
    capture: bool | UnsetType = UNSET
    permanent: bool | UnsetType = UNSET


def _get_redirect(tx: Transaction, site_id: str, redirect_id: str) -> RedirectRow:
    return require_found(
        store.find_redirect(tx, site_id, redirect_id),
        f"There is no redirect with the ID {redirect_id!r} on this site.",
    )


class RedirectEditor:
    """Editor of the redirects of one site. The site is locked until the transaction ends. Redirects to pages that
    restrictions hide from the caller are treated as missing, but no other redirect can have the same source."""

    def __init__(self, tx: Transaction, to: Recipient, site: SiteAccess) -> None:
        lock(tx, site.site_id)
        self._tx, self._to, self._site = tx, to, site
        self.structure = load_seen_structure(tx, site)
        self._hidden = hidden_from(tx, site.organization)
        self._count = store.count_redirects(tx, site.site_id)

    @property
    def is_full(self) -> bool:
        return self._count >= store.MAX_REDIRECTS

    def find(self, source: str, *, draft: bool) -> RedirectRow | None:
        """Return the redirect with exactly this source: the draft if ``draft`` is set, and otherwise the live redirect.
        Raises Conflict if its page is hidden."""
        found = store.find_by_key(self._tx, self._site.site_id, store.source_key(source), draft=draft)
        if found is not None and self._is_hidden(found):
            raise _taken(source, draft=draft)
        return found

    def find_by_id(self, redirect_id: str) -> RedirectRow | None:
        """Return a redirect; None if it doesn't exist or its page is hidden."""
        found = store.find_redirect(self._tx, self._site.site_id, redirect_id)
        return found if found is not None and not self._is_hidden(found) else None

    def get(self, redirect_id: str) -> RedirectRow:
        return require_found(
            self.find_by_id(redirect_id), f"There is no redirect with the ID {redirect_id!r} on this site."
        )

    def _is_hidden(self, row: RedirectRow) -> bool:
        shown = self.structure.site_spaces.get(row.site_space_id or "")
        return shown is not None and row.page_id in self._hidden.of(shown.space_id)

    def create(self, fields: RedirectFields) -> RedirectRow:
        """Create a redirect. Raises Conflict if the site already has a redirect from this source or has too
        many redirects, BadRequest if the redirect would point to itself, and NotFound if the destination
        isn't on the site."""
        assert fields.source is not UNSET and fields.destination is not UNSET, "both are required"
        source, draft = fields.source, bool(fields.draft)
        if not draft:
            require_live_edits(self._site)
        destination = self._resolve(fields.destination)
        if self.is_full:
            raise Conflict(
                f"A site can have at most {store.MAX_REDIRECTS} redirects. Delete one before adding another."
            )
        self._require_free(source, draft=draft)
        self._require_effect(source, destination, capture=bool(fields.capture), draft=draft)
        redirect_id = store.insert_redirect(
            self._tx,
            self._site.site_id,
            source,
            columns_of(destination),
            draft=draft,
            capture=bool(fields.capture),
            permanent=bool(fields.permanent),
        )
        self._count += 1
        made = _get_redirect(self._tx, self._site.site_id, redirect_id)
        self._note("created", made, after=_state_of(made))
        return made

    def update(self, before: RedirectRow, fields: RedirectFields) -> RedirectRow:
        """Update a redirect. If ``fields.draft`` is False, a draft becomes live. Raises the same errors as
        ``create``."""
        values: dict[str, object] = {}
        source = before.source
        draft = bool(before.draft) if fields.draft is UNSET else fields.draft
        if fields.source is not UNSET:
            source = fields.source
            values |= {"source": source, "source_key": store.source_key(source)}
        if not (before.draft and draft):
            require_live_edits(self._site)
        is_published = before.draft and not draft
        if store.source_key(source) != store.source_key(before.source) or (draft and not before.draft):
            self._require_free(source, draft=draft)
        destination = store.destination_of(before)
        if fields.destination is not UNSET:
            destination = self._resolve(fields.destination)
            values |= columns_of(destination)
        capture = bool(before.capture) if fields.capture is UNSET else fields.capture
        self._require_effect(source, destination, capture=capture, draft=draft, but=before.id)
        values |= {"draft": int(draft), "capture": int(capture)}
        if fields.permanent is not UNSET:
            values["permanent"] = int(fields.permanent)
        changed = {name: value for name, value in values.items() if value != getattr(before, name, None)}
        if not changed:
            return before
        replaced = self.find(source, draft=False) if is_published else None
        if replaced is not None:
            self.delete(replaced)
        store.update_redirect(self._tx, before.id, values)
        made = _get_redirect(self._tx, self._site.site_id, before.id)
        action = "published" if is_published else "updated"
        self._note(action, made, before=_state_of(before), after=_state_of(made))
        return made

    def delete(self, row: RedirectRow) -> None:
        """Delete a redirect."""
        if not row.draft:
            require_live_edits(self._site)
        store.delete_redirect(self._tx, row.id)
        self._count -= 1
        self._note("removed", row, before={"source": row.source})

    def _note(
        self,
        action: str,
        row: RedirectRow,
        before: Mapping[str, object] | None = None,
        after: Mapping[str, object] | None = None,
    ) -> None:
        site, target = self._site, ("siteRedirect", row.id)
        audit(
            self._tx,
            site.actor,
            f"siteRedirect.{action}",
            site.organization_id,
            target,
            before=before,
            after=after,
        )

    def _require_free(self, source: str, *, draft: bool) -> None:
        if self.find(source, draft=draft) is not None:
            raise _taken(source, draft=draft)

    # --- destinations ----------------------------------------------------------------------------------

    def _resolve(self, destination: GivenDestination) -> Destination:
        """Check that the parts of a destination are on the site, and return the destination. Raises NotFound if they
        aren't, and BadRequest if the destination is a URL on one of the server's sites."""
        match destination:
            case ToSection():
                get_section(self.structure, destination.site_section_id, "destination.siteSectionId")
            case ToSiteSpace():
                get_site_space(self.structure, destination.site_space_id, "destination.siteSpaceId")
            case ToPage():
                shown = get_site_space(self.structure, destination.site_space_id, "destination.siteSpaceId")
                missing = (
                    f"destination.pageId: there is no page with the ID {destination.page_id!r} in this space"
                )
                space = find_space_access(self._tx, self._site.actor, Ability.VIEW, shown.space_id)
                if space is None:
                    raise NotFound(missing)
                if find_page(self._tx, published_seen_by(self._tx, space), destination.page_id) is None:
                    raise NotFound(missing)
            case ToPath():
                return self._at_path(destination)
            case ToExternal() | ToUrl():
                # Such a redirect could point to itself. Destinations on the site are references, which follow
                # moved pages.
                row = get_site(self._tx, self._site.site_id)
                if not is_elsewhere(destination.url, row, self._to.settings.sites_url):
                    raise BadRequest(
                        "destination.url: must not be a URL of a site on this server. Choose a section,"
                        " space, or page as the destination instead."
                    )
                return ToExternal(destination.url)
        return destination

    def _at_path(self, destination: ToPath) -> Destination:
        shown = next(
            (one for one in self.structure.ordered_site_spaces() if one.space_id == destination.space_id),
            None,
        )
        if shown is None:
            raise NotFound(
                f"destination.spaceId: there is no space with the ID {destination.space_id!r} on this site"
            )
        found = self.page_at(shown, destination.path.strip("/"))
        if found is None:
            raise NotFound(f"destination.path: there is no page at {destination.path[:200]!r} in this space")
        return found

    def page_at(self, shown: SiteSpaceRow, path: str) -> ToSiteSpace | ToPage | None:
        """Return the destination at a path in a site space; None if there is no page that the caller can
        see."""
        space = find_space_access(self._tx, self._site.actor, Ability.VIEW, shown.space_id)
        if space is None:
            return None
        if not path:
            return ToSiteSpace(shown.id)
        page = ContentReader(self._to, self._tx, published_seen_by(self._tx, space)).found_at(path)
        return ToPage(shown.id, page.id) if page is not None else None

    # --- loops -----------------------------------------------------------------------------------------

    def _require_effect(
        self,
        source: str,
        destination: Destination,
        *,
        capture: bool,
        draft: bool,
        but: str | None = None,
    ) -> None:
        """Raise BadRequest if a redirect would point to itself, either directly or through other redirects. ``but``:
        the redirect that the new redirect replaces."""
        if capture and not source.endswith(WILDCARD):
            raise BadRequest("captureWildcard: requires a source that ends with `*`, such as /old/*")
        leads_to = self._path_of(destination)
        key = store.source_key(source)
        if leads_to is None:
            return
        if leads_to == key:
            raise BadRequest(f"destination: must not be the same as the source {source}")
        if not capture:
            return
        way, seen = [source], {key}
        while leads_to is not None:
            # The part after the destination can be anything; here, it is a name that no source starts with.
            reached = store.match(self._tx, self._site.site_id, f"{leads_to}/\ufffd", drafts=draft)
            own = f"{leads_to}/".startswith(key.removesuffix(WILDCARD))
            if own and (reached is None or len(store.source_key(reached.source)) <= len(key)):
                raise BadRequest(
                    f"captureWildcard: would cause a redirect loop ({' → '.join([*way, source])})"
                )
            if reached is None or not reached.capture or reached.id == but:
                return
            if store.source_key(reached.source) in seen:
                return
            if not self._is_hidden(reached):
                way.append(reached.source)
            seen.add(store.source_key(reached.source))
            leads_to = self._path_of(store.destination_of(reached))

    def _path_of(self, destination: Destination) -> str | None:
        """Return the path of a destination in the format of ``store.source_key``; None if the destination isn't on the
        site."""
        found = path_of(self._tx, self.structure, destination)
        return found.strip("/").lower() if found is not None else None


def _taken(source: str, *, draft: bool) -> Conflict:
    kind = "a draft redirect" if draft else "a redirect"
    return Conflict(f"source: {kind} from {source!r} already exists. Edit or delete it instead.")


def _state_of(row: RedirectRow) -> dict[str, object]:
    """Return the state of a redirect for the audit log."""
    names = (
        "source",
        "kind",
        "section_id",
        "site_space_id",
        "page_id",
        "url",
        "draft",
        "capture",
        "permanent",
    )
    return {name: getattr(row, name) for name in names}


def delete_redirect(tx: Transaction, to: Recipient, site: SiteAccess, redirect_id: str) -> bool:
    """Delete a redirect. Return False if it doesn't exist."""
    editor = RedirectEditor(tx, to, site)
    found = editor.find_by_id(redirect_id)
    if found is None:
        return False
    editor.delete(found)
    return True


def _start_of(structure: Structure, destination: Destination) -> SiteSpaceRow | None:
    match destination:
        case ToSection():
            return structure.default_site_space(destination.site_section_id)
        case ToSiteSpace() | ToPage():
            return structure.site_spaces.get(destination.site_space_id)
        case ToExternal():
            return None


def path_of(tx: Transaction, structure: Structure, destination: Destination) -> str | None:
    """Return the decoded path of a destination, relative to the site; None if the destination is no longer shown or is
    outside the site."""
    first = _start_of(structure, destination)
    if first is None:
        return None
    base = structure.base(first)
    if not isinstance(destination, ToPage):
        return base
    state = shown_state(tx, None, first.space_id)
    page = find_page(tx, state, destination.page_id)
    if page is None:
        return base
    slugs = [above.slug for above in list_ancestors(tx, state, page)] + [page.slug]
    return f"{base}{'/'.join(slugs)}"


def target_of(tx: Transaction, actor: Actor, structure: Structure, row: RedirectRow, path: str) -> str | None:
    """Return the target of a redirect from a path, for members: a path relative to the site (quoted, without a leading
    slash), or a complete URL. Return None if the target is no longer shown or if the member can't see its page or
    space."""
    destination = store.destination_of(row)
    rest = row.rest_of(path) if row.capture else ""
    if isinstance(destination, ToExternal):
        return with_rest(destination.url, rest)
    first = _start_of(structure, destination)
    space = find_space_access(tx, actor, Ability.VIEW, first.space_id) if first is not None else None
    if space is None:
        return None
    if isinstance(destination, ToPage) and destination.page_id in main_seen_by(tx, space).hidden:
        return None
    found = path_of(tx, structure, destination)
    return quote(f"{(found or '').rstrip('/')}/{rest}".lstrip("/")) if rest else quote(found or "")
