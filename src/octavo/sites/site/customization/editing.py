"""Store customization: for a site, all settings; for a site space, only overrides."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from octavo.core.json_types import JsonObject
from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import iso, now
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess
from octavo.sites.fonts.serving import find_fonts

from ..structure.changing import get_site_space, load_seen_structure, lock
from ..structure.store import load_structure
from .model import (
    OVERRIDABLE,
    ContentRef,
    Customization,
    CustomizationSettings,
    DefaultMode,
    FontDefinition,
    Git,
    Override,
    PageAction,
    PageActions,
    PutCustomization,
    Switch,
    Themes,
)
from .settings import Parts

_customizations = msgspec.json.Decoder(Customization)
_plain = msgspec.json.Decoder(dict[str, Any])
_URL, _CONTROL = re.compile(r"https?:|mailto:|/"), re.compile(r"[\x00-\x1f\x7f-\x9f]")


class StoredCustomization(NamedTuple):
    """Stored customization. ``theme``: the selected theme; None if no theme was selected. In that case, visitors see
    their system's theme, but the API returns the default theme, as clients for version 0.146 expect."""

    customization: Customization
    theme: DefaultMode | None


def get_customization(tx: Transaction, site_id: str) -> Customization:
    """Return the customization of a site, or the defaults if it was never changed."""
    kept = tx.value("SELECT customization FROM sites WHERE id = :site", site=site_id)
    return _read(kept).customization


def put_customization(tx: Transaction, site: SiteAccess, body: PutCustomization) -> Customization:
    """Replace the customization of a site. Raises NotFound if a link points to a space that isn't on the
    site, or if a font belongs to another organization."""
    lock(tx, site.site_id)
    before, after = _put(tx, site, body)
    tx.run(
        "UPDATE sites SET customization = :customization WHERE id = :site",
        customization=_write(after),
        site=site.site_id,
    )
    _note(tx, site, ("site", site.site_id), before.customization, after.customization)
    return after.customization


def try_customization(
    tx: Transaction,
    site: SiteAccess,
    whole: PutCustomization,
    site_space_id: str | None,
    over: Override | None,
) -> None:
    """Store a customization for the caller's preview only. ``over``: the overrides of the site space in the preview.
    Raises the same errors as ``put_customization`` and ``override``."""
    _, tried = _put(tx, site, whole)
    kept = None
    if over is not None:
        if site_space_id is None:
            raise BadRequest("siteSpace: is required with `override`")
        _require_seen(tx, site, site_space_id)
        _require_links(tx, site, over)
        kept = msgspec.json.encode(_without_nulls(msgspec.to_builtins(over))).decode()
    tx.run(
        """INSERT INTO site_look_drafts (site_id, user_id, customization, site_space_id, override, changed_at)
           VALUES (:site, :user, :customization, :site_space, :override, :now)
           ON CONFLICT (site_id, user_id)
           DO UPDATE SET customization = excluded.customization, site_space_id = excluded.site_space_id,
                         override = excluded.override, changed_at = excluded.changed_at""",
        site=site.site_id,
        user=site.actor.user_id,
        customization=_write(tried),
        site_space=None if kept is None else site_space_id,
        override=kept,
        now=now(),
    )


def _put(
    tx: Transaction, site: SiteAccess, body: PutCustomization
) -> tuple[StoredCustomization, StoredCustomization]:
    """Return the customization of a site before and after applying a request body. Raises NotFound if a
    reference is invalid."""
    _require_links(tx, site, body)
    _require_fonts(tx, site, body)
    before = _read(tx.value("SELECT customization FROM sites WHERE id = :site", site=site.site_id))
    return before, _apply(before, body)


def _write(kept: StoredCustomization) -> str:
    stored = msgspec.to_builtins(kept.customization)
    if kept.theme is None:
        del stored["themes"]["default"]
    return msgspec.json.encode(stored).decode()


def _read(kept: str | None) -> StoredCustomization:
    """Decode a stored customization. If no default theme was selected, the result has no theme."""
    if not kept:
        return StoredCustomization(Customization(), None)
    plain = _plain.decode(kept)
    try:
        customization = _customizations.decode(kept)
    except msgspec.ValidationError:
        customization = _convert(plain)
    return StoredCustomization(customization, plain.get("themes", {}).get("default"))


def _convert(stored: Mapping[str, object]) -> Customization:
    """Return a stored customization. Control characters in URLs are replaced, because earlier versions
    accepted some of them."""
    try:
        return msgspec.convert(stored, Customization)
    except msgspec.ValidationError:
        return msgspec.convert(_without_controls(stored), Customization)


def _without_controls(stored: object) -> object:
    """Return the stored value with each control character in URLs replaced."""
    if isinstance(stored, dict):
        return {name: _without_controls(value) for name, value in stored.items()}
    if isinstance(stored, list):
        return [_without_controls(value) for value in stored]
    return _CONTROL.sub("_", stored) if isinstance(stored, str) and _URL.match(stored) else stored


def _apply(before: StoredCustomization, body: PutCustomization) -> StoredCustomization:
    """Return the customization after applying a request body. A theme that only repeats the value in the current
    response doesn't count as selected."""
    themes, answered = body.themes, before.customization.themes
    if (themes.default, themes.toggeable) == (answered.default, answered.toggeable):
        theme = before.theme
    else:
        theme = themes.default or None
    made = Themes()
    settings = {name: getattr(body, name) for name in CustomizationSettings.__struct_fields__}
    chosen = Themes(theme or made.default, made.toggeable if themes.toggeable is UNSET else themes.toggeable)
    was = before.customization
    after = Customization(**settings, themes=chosen, **_page_actions(was, body), updated_at=was.updated_at)
    if after != was or theme != before.theme:
        after.updated_at = iso(now())
    return StoredCustomization(after, theme)


def _page_actions(before: Customization, body: PutCustomization) -> JsonObject:
    """Reconcile the page action switches with the list of page actions. Older clients set the switches, and newer
    clients set the list; both send back unsupported fields unchanged. Raises BadRequest if the switches and the list
    were both changed and disagree."""
    listed = body.page_actions.items

    def on(name: str, given: bool | UnsetType, was: bool, default: bool, item: PageAction) -> bool:
        if listed is UNSET:
            return default if given is UNSET else given
        if listed == before.page_actions.items:
            return was if given is UNSET else given
        if given not in (UNSET, was, item in listed):
            raise BadRequest(
                f"{name}: conflicts with `pageActions.items`. Set only one of them, or set both to the same"
                " value."
            )
        return item in listed

    acts, were, made = body.page_actions, before.page_actions, Customization()
    pdf = body.pdf if body.pdf is UNSET else body.pdf.enabled
    link = body.git if body.git is UNSET else body.git.show_edit_link
    return {
        "page_actions": PageActions(
            external_ai=on("pageActions.externalAI", acts.external_ai, were.external_ai, True, "external-ai"),
            markdown=on("pageActions.markdown", acts.markdown, were.markdown, True, "markdown"),
            mcp=on("pageActions.mcp", acts.mcp, were.mcp, True, "mcp"),
            items=made.page_actions.items if listed is UNSET else listed,
        ),
        "pdf": Switch(on("pdf.enabled", pdf, before.pdf.enabled, made.pdf.enabled, "pdf")),
        "git": Git(on("git.showEditLink", link, before.git.show_edit_link, made.git.show_edit_link, "git")),
    }


def find_customization(
    tx: Transaction, site_space_id: str, tried_by: str | None = None
) -> StoredCustomization:
    """Return the customization of a site space, including any customization that a person is previewing."""
    row = tx.one(
        """SELECT sites.customization, site_spaces.customization, sites.id FROM site_spaces
           JOIN sites ON sites.id = site_spaces.site_id WHERE site_spaces.id = :id""",
        id=site_space_id,
    )
    whole, override, site_id = row or (None, None, "")
    if tried_by is not None:
        # This is a separate query, because the shared result is cached and must not depend on a person's
        # preview.
        tried = tx.one(
            """SELECT customization, site_space_id, override FROM site_look_drafts
               WHERE site_id = :site AND user_id = :by""",
            site=site_id,
            by=tried_by,
        )
        if tried is not None:
            whole = tried[0]
            override = tried[2] if tried[1] == site_space_id else override
    kept = _read(whole)
    if not override:
        return kept
    plain = _plain.decode(override)
    return StoredCustomization(
        _merged(kept.customization, plain), plain.get("themes", {}).get("default") or kept.theme
    )


def list_customizations(tx: Transaction, site_id: str) -> dict[str, Customization]:
    """Return the customizations of site spaces that override a setting, by ID."""
    whole = get_customization(tx, site_id)
    rows = tx.all(
        "SELECT id, customization FROM site_spaces WHERE site_id = :site AND customization IS NOT NULL",
        site=site_id,
    )
    return {row[0]: _merged(whole, _plain.decode(row[1])) for row in rows}


def look_of(tx: Transaction, site_id: str, site_space_id: str) -> Customization:
    """Return the customization of a site space: its site's customization with the site space's overrides."""
    override = _find_override(tx, site_space_id)
    whole = get_customization(tx, site_id)
    return _merged(whole, override) if override else whole


def _require_seen(tx: Transaction, site: SiteAccess, site_space_id: str) -> None:
    """Raise NotFound if the site space doesn't exist or the caller can't see its space."""
    get_site_space(load_seen_structure(tx, site), site_space_id)


def get_site_space_customization(tx: Transaction, site: SiteAccess, site_space_id: str) -> Customization:
    """Return the customization of a site space: its site's customization with the site space's overrides. Raises
    NotFound if the caller can't see the site space."""
    _require_seen(tx, site, site_space_id)
    return look_of(tx, site.site_id, site_space_id)


def _find_override(tx: Transaction, site_space_id: str) -> JsonObject:
    kept = tx.value("SELECT customization FROM site_spaces WHERE id = :id", id=site_space_id)
    return _plain.decode(kept) if kept else {}


def _merged(whole: Customization, override: JsonObject) -> Customization:
    return _convert(_merge_over(msgspec.to_builtins(whole), override))


def override(tx: Transaction, site: SiteAccess, site_space_id: str, body: Override) -> Customization:
    """Set overrides of a site space; null removes an override. Raises NotFound if the caller can't see the site
    space."""
    lock(tx, site.site_id)
    _require_seen(tx, site, site_space_id)
    _require_links(tx, site, body)
    before = _find_override(tx, site_space_id)
    after = _without_nulls(_merge_over(before, msgspec.to_builtins(body)))
    tx.run(
        "UPDATE site_spaces SET customization = :customization WHERE id = :id",
        customization=msgspec.json.encode(after).decode() if after else None,
        id=site_space_id,
    )
    _note(tx, site, ("siteSpace", site_space_id), before, after)
    return _merged(get_customization(tx, site.site_id), after)


def delete_override(tx: Transaction, site: SiteAccess, site_space_id: str) -> bool:
    """Remove all overrides of a site space. Return False if it has none or doesn't exist."""
    lock(tx, site.site_id)
    if load_seen_structure(tx, site).find(site_space_id) is None:
        return False
    before = _find_override(tx, site_space_id)
    if not before:
        return False
    tx.run("UPDATE site_spaces SET customization = NULL WHERE id = :id", id=site_space_id)
    _note(tx, site, ("siteSpace", site_space_id), before, None)
    return True


def list_differences(whole: JsonObject, own: JsonObject, parts: Parts = OVERRIDABLE) -> JsonObject:
    """Return the overrides of a site space, given the customization of its site and the resulting
    customization of the site space."""
    found: JsonObject = {}
    for name, inside in parts.items():
        if (value := own.get(name)) != (before := whole.get(name)):
            found[name] = value if inside is None else list_differences(before or {}, value or {}, inside)
    return found


def _merge_over(below: JsonObject, above: JsonObject, parts: Parts = OVERRIDABLE) -> JsonObject:
    """Return ``below`` with the overrides in ``above``. Groups are merged setting by setting, and all other values are
    replaced entirely."""
    found = dict(below)
    for name, value in above.items():
        inside = parts.get(name)
        found[name] = value if inside is None else _merge_over(found.get(name) or {}, value, inside)
    return found


def _without_nulls(overrides: JsonObject, parts: Parts = OVERRIDABLE) -> JsonObject:
    """Return the overrides, except null overrides and groups that become empty."""
    found = {}
    for name, value in overrides.items():
        inside = parts.get(name)
        kept = value if inside is None else _without_nulls(value, inside) or None
        if kept is not None:
            found[name] = kept
    return found


def _require_links(tx: Transaction, site: SiteAccess, body: PutCustomization | Override) -> None:
    """Raise NotFound if a link in the header or footer points to a space that isn't on the site."""
    shown = {one.space_id for one in load_structure(tx, site.site_id).site_spaces.values()}
    for ref in _list_refs(body):
        space = getattr(ref, "space", None)
        if isinstance(space, str) and space not in shown:
            raise NotFound(f"space: there is no space with the ID {space!r} on this site")


def _require_fonts(tx: Transaction, site: SiteAccess, body: PutCustomization) -> None:
    for name in ("font", "heading_font", "monospace_font"):
        font = getattr(body.styling, name)
        if isinstance(font, FontDefinition) and not find_fonts(tx, site.organization_id, [font.id], ""):
            raise NotFound(f"styling.{name}: there is no font with the ID {font.id!r} in this organization")


def _list_refs(body: PutCustomization | Override) -> list[ContentRef]:
    found: list[ContentRef] = []

    def walk(value: object) -> None:
        if isinstance(value, ContentRef):
            found.append(value)
        elif isinstance(value, list):
            for item in value:
                walk(item)
        elif isinstance(value, msgspec.Struct):
            for name in value.__struct_fields__:
                walk(getattr(value, name))

    walk(body)
    return found


def _note(tx: Transaction, site: SiteAccess, target: tuple[str, str], before: object, after: object) -> None:
    audit(tx, site.actor, f"{target[0]}.customized", site.organization_id, target, before=before, after=after)
