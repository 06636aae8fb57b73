"""Keeping customization: of a site the whole, of a site space only what it has otherwise."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET, UnsetType

from octavo.errors import BadRequest, NotFound
from octavo.kit.clock import now
from octavo.kit.db.database import Transaction
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, find_space_access
from octavo.organization.access.roles import Can
from octavo.sites.fonts.serving import find_fonts

from ..structure.changing import get_site_space, lock
from ..structure.store import load_structure
from .model import (
    ContentRef,
    Customization,
    FontDefinition,
    Git,
    Mode,
    Override,
    PageAction,
    PageActions,
    PutCustomization,
    Settings,
    Switch,
    Themes,
)

_customizations = msgspec.json.Decoder(Customization)
_plain = msgspec.json.Decoder(dict[str, Any])
_WHOLE = {"favicon", "announcement", "logo", "tint", "font", "monospaceFont", "codeTheme"}
"""Objects that are set as one; those besides are overridden field by field."""


class Kept(NamedTuple):
    """``theme`` is the one that somebody chose. None: visitors see what their system wants, and answers say the default,
    as they have no word for that."""

    customization: Customization
    theme: Mode | None


def get_customization(tx: Transaction, site_id: str) -> Customization:
    """How a site looks; the defaults where nobody changed anything."""
    kept = tx.value("SELECT customization FROM sites WHERE id = :site", site=site_id)
    return _read(kept).customization


def put_customization(tx: Transaction, site: SiteAccess, body: PutCustomization) -> Customization:
    """Raises NotFound for a link into a space that the site does not show, or a font that its organization has not."""
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
    """Keeps a look that the caller tries, and nobody else sees; ``over``: with what the site space would override.
    Raises what ``put_customization`` and ``override`` do."""
    _, tried = _put(tx, site, whole)
    kept = None
    if over is not None:
        if site_space_id is None:
            raise BadRequest("siteSpace: an override is one of a site space; name it.")
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


def _put(tx: Transaction, site: SiteAccess, body: PutCustomization) -> tuple[Kept, Kept]:
    """What a site has before and after the body. Raises NotFound for what it may not name."""
    _require_links(tx, site, body)
    _require_fonts(tx, site, body)
    before = _read(tx.value("SELECT customization FROM sites WHERE id = :site", site=site.site_id))
    return before, _put_over(before, body)


def _write(kept: Kept) -> str:
    stored = msgspec.to_builtins(kept.customization)
    if kept.theme is None:
        del stored["themes"]["default"]
    return msgspec.json.encode(stored).decode()


def _read(kept: str | None) -> Kept:
    """What is stored has no default theme where nobody chose one."""
    if not kept:
        return Kept(Customization(), None)
    return Kept(_customizations.decode(kept), _plain.decode(kept).get("themes", {}).get("default"))


def _put_over(before: Kept, body: PutCustomization) -> Kept:
    """What a site has after the body. Themes as they were answered are no choice."""
    themes, answered = body.themes, before.customization.themes
    if (themes.default, themes.toggeable) == (answered.default, answered.toggeable):
        theme = before.theme
    else:
        theme = themes.default or None
    made = Themes()
    settings = {name: getattr(body, name) for name in Settings.__struct_fields__}
    chosen = Themes(theme or made.default, made.toggeable if themes.toggeable is UNSET else themes.toggeable)
    return Kept(Customization(**settings, themes=chosen, **_page_actions(before.customization, body)), theme)


def _page_actions(before: Customization, body: PutCustomization) -> dict[str, Any]:
    """Resolve the switches of page actions and their list. Older clients set the switches, newer ones the list; each
    puts back what it does not know as it was answered. Raises BadRequest where both were changed and disagree."""
    listed = body.page_actions.items

    def on(name: str, given: bool | UnsetType, was: bool, default: bool, item: PageAction) -> bool:
        if listed is UNSET:
            return default if given is UNSET else given
        if listed == before.page_actions.items:
            return was if given is UNSET else given
        if given not in (UNSET, was, item in listed):
            raise BadRequest(f"{name}: disagrees with `pageActions.items`. Set one of them, or both alike.")
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


def find_customization(tx: Transaction, site_space_id: str, tried_by: str | None = None) -> Kept:
    """How a site space looks, or would with the look of its site that somebody tries."""
    row = tx.one(
        """SELECT sites.customization, site_spaces.customization, sites.id FROM site_spaces
           JOIN sites ON sites.id = site_spaces.site_id WHERE site_spaces.id = :id""",
        id=site_space_id,
    )
    whole, override, site_id = row or (None, None, "")
    if tried_by is not None:
        # Apart, since what everybody sees is kept, and is made of nothing that only one person tries.
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
    return Kept(_merged(kept.customization, plain), plain.get("themes", {}).get("default") or kept.theme)


def list_customizations(tx: Transaction, site_id: str) -> dict[str, Customization]:
    """What the site spaces that override something look like, by their ids."""
    whole = get_customization(tx, site_id)
    rows = tx.all(
        "SELECT id, customization FROM site_spaces WHERE site_id = :site AND customization IS NOT NULL",
        site=site_id,
    )
    return {row[0]: _merged(whole, _plain.decode(row[1])) for row in rows}


def look_of(tx: Transaction, site_id: str, site_space_id: str) -> Customization:
    """How a site space of this site looks: as its site, with what it overrides."""
    override = _find_override(tx, site_space_id)
    whole = get_customization(tx, site_id)
    return _merged(whole, override) if override else whole


def _require_seen(tx: Transaction, site: SiteAccess, site_space_id: str) -> None:
    """Raises NotFound for a site space that is not there, or whose space the caller does not see."""
    shown = get_site_space(load_structure(tx, site.site_id), site_space_id)
    if find_space_access(tx, site.actor, Can.VIEW, shown.space_id) is None:
        raise NotFound(f"There is no site space {site_space_id!r} in this site.")


def get_site_space_customization(tx: Transaction, site: SiteAccess, site_space_id: str) -> Customization:
    """How a site space looks: as its site, with what it overrides. Raises NotFound."""
    _require_seen(tx, site, site_space_id)
    return look_of(tx, site.site_id, site_space_id)


def _find_override(tx: Transaction, site_space_id: str) -> dict[str, Any]:
    kept = tx.value("SELECT customization FROM site_spaces WHERE id = :id", id=site_space_id)
    return _plain.decode(kept) if kept else {}


def _merged(whole: Customization, override: dict[str, Any]) -> Customization:
    return msgspec.convert(_overlaid(msgspec.to_builtins(whole), override), Customization)


def override(tx: Transaction, site: SiteAccess, site_space_id: str, body: Override) -> Customization:
    """Sets what a site space has otherwise; null takes an override back. Raises NotFound."""
    lock(tx, site.site_id)
    _require_seen(tx, site, site_space_id)
    _require_links(tx, site, body)
    before = _find_override(tx, site_space_id)
    after = _without_nulls(_overlaid(before, msgspec.to_builtins(body)))
    tx.run(
        "UPDATE site_spaces SET customization = :customization WHERE id = :id",
        customization=msgspec.json.encode(after).decode() if after else None,
        id=site_space_id,
    )
    _note(tx, site, ("siteSpace", site_space_id), before, after)
    return _merged(get_customization(tx, site.site_id), after)


def delete_override(tx: Transaction, site: SiteAccess, site_space_id: str) -> bool:
    """Lets a site space look as its site does. False when it does, or is not there."""
    lock(tx, site.site_id)
    if site_space_id not in load_structure(tx, site.site_id).site_spaces:
        return False
    before = _find_override(tx, site_space_id)
    if not before:
        return False
    tx.run("UPDATE site_spaces SET customization = NULL WHERE id = :id", id=site_space_id)
    _note(tx, site, ("siteSpace", site_space_id), before, None)
    return True


def _overlaid(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """``below`` with the values of ``above``, objects field by field."""
    found = dict(below)
    for name, value in above.items():
        if isinstance(value, dict) and name not in _WHOLE and "light" not in value:
            found[name] = _overlaid(found.get(name) or {}, value)
        else:
            found[name] = value
    return found


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """Without nulls, but for links that lead nowhere, and without the objects that are then empty."""
    found = {}
    for name, value in values.items():
        kept = _without_nulls(value) if isinstance(value, dict) and name not in _WHOLE else value
        if kept is not None and kept != {}:
            found[name] = kept
    return found


def _require_links(tx: Transaction, site: SiteAccess, body: PutCustomization | Override) -> None:
    """Header and footer are for visitors: what they link to is shown by the site, or is on the web."""
    shown = {one.space_id for one in load_structure(tx, site.site_id).site_spaces.values()}
    for ref in _list_refs(body):
        space = getattr(ref, "space", None)
        if isinstance(space, str) and space not in shown:
            raise NotFound(f"space: there is no space {space!r} in this site.")


def _require_fonts(tx: Transaction, site: SiteAccess, body: PutCustomization) -> None:
    for name in ("font", "monospace_font"):
        font = getattr(body.styling, name)
        if isinstance(font, FontDefinition) and not find_fonts(tx, site.organization_id, [font.id], ""):
            raise NotFound(f"styling.{name}: there is no font {font.id!r} in this organization.")


def _list_refs(body: PutCustomization | Override) -> list[ContentRef]:
    found: list[ContentRef] = []

    def walk(value: Any) -> None:
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


def _note(tx: Transaction, site: SiteAccess, target: tuple[str, str], before: Any, after: Any) -> None:
    audit(tx, site.actor, f"{target[0]}.customized", site.organization_id, target, before=before, after=after)
