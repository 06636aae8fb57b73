"""Declare customization settings. The list of settings is in `model.py`. The overrides of site spaces, the app's
screen, and the CSS classes of pages are derived from the declarations.

To add a setting, see "Add a setting to customization" in docs/architecture.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from operator import attrgetter
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import msgspec
from msgspec import UNSET, Struct, UnsetType

from octavo.core.json_types import JsonObject

Section = Literal[
    "main",
    "logoAndIcon",
    "headerAndLinks",
    "announcement",
    "footer",
    "pages",
    "moreStyles",
    "hintColors",
    "languageAndTheme",
    "other",
]
"""Sections of the app's customization screen, in order. Each is the key of the section's title in the app's
interface text."""
Control = Literal[
    "switch",
    "segments",
    "select",
    "text",
    "url",
    "colors",
    "text colors",
    "image",
    "theme",
    "tint",
    "font",
    "icon",
    "header links",
    "announcement",
    "footer groups",
    "link",
    "localized text",
]
"""Control for editing a setting in the app. ``segments``: a choice of a few values. ``text colors``: colors
with their contrast on a page. ``localized text``: the title, with its translations."""


class SettingsGroup(Struct):
    """Group of settings that site spaces can override individually. Any other value can be overridden only as a
    whole."""


class Setting(Struct, frozen=True, kw_only=True):
    """Properties of a setting, or of a group with one setting, for use by other code.

    ``label``, ``hint``: keys of the app's interface text. Without a label, the app doesn't offer the setting.
    ``section`` and ``control``: the section and the control for editing it in the app. ``options``: its values with
    the keys of their labels. ``names``: its values with labels that aren't translated. ``only``: another setting and
    a value; the app offers this setting only if the other setting has that value. ``initial``: the value that the
    app sets for this setting when it starts to offer the setting, unless the setting already has a value.
    ``site_only``: whether site spaces can't override the setting or its parts. ``css``: the prefix of its class in
    the site style sheet, before its value. The default has no class."""

    label: str = ""
    hint: str = ""
    section: Section = "main"
    control: Control = "switch"
    options: dict[str, str] = {}
    names: dict[str, str] = {}
    only: tuple[str, str] | None = None
    initial: JsonObject | None = None
    site_only: bool = False
    css: str | None = None


class Declared(NamedTuple):
    """Setting or group as declared in the table. ``name``: the name of the attribute, with dots after group names.
    ``path``: the same names in the API. ``types``: the types of its value, except the type of an unset value.
    ``optional``: whether it can be unset."""

    name: str
    path: tuple[str, ...]
    setting: Setting
    types: tuple[Any, ...]
    optional: bool
    default: object

    @property
    def group(self) -> type[SettingsGroup] | None:
        type_ = self.types[0]
        return type_ if isinstance(type_, type) and issubclass(type_, SettingsGroup) else None


Parts = dict[str, "Parts | None"]
"""Parts that site spaces can override, by name in the API: the parts of a group, or None for a complete
value."""


@lru_cache(maxsize=64)
def _members(group: type[SettingsGroup]) -> tuple[Declared, ...]:
    hints = get_type_hints(group, include_extras=True)
    found = []
    for field in msgspec.structs.fields(group):
        hint, setting = hints[field.name], Setting()
        if get_origin(hint) is Annotated:
            rules = [about for about in hint.__metadata__ if not isinstance(about, Setting)]
            setting = next((about for about in hint.__metadata__ if isinstance(about, Setting)), setting)
            hint = Annotated[(hint.__origin__, *rules)] if rules else hint.__origin__
        union = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
        types = tuple(one for one in union if one is not UnsetType)
        found.append(
            Declared(field.name, (field.encode_name,), setting, types, len(types) < len(union), field.default)
        )
    return tuple(found)


def list_settings(group: type[SettingsGroup]) -> Iterator[Declared]:
    """Yield the settings in a group and in its nested groups, in the order of the table."""
    for outer in _members(group):
        if outer.group is None:
            yield outer
            continue
        inside = list(list_settings(outer.group))
        for inner in inside:
            setting = outer.setting if len(inside) == 1 else inner.setting
            site_only = outer.setting.site_only or inner.setting.site_only
            yield inner._replace(
                name=f"{outer.name}.{inner.name}",
                path=outer.path + inner.path,
                setting=msgspec.structs.replace(setting, site_only=site_only),
            )


def list_parts(group: type[SettingsGroup]) -> Parts:
    """Return the parts of a group that site spaces can override."""
    return {
        member.path[0]: list_parts(member.group) if member.group is not None else None
        for member in _members(group)
        if not member.setting.site_only
    }


def override_types(group: type[SettingsGroup]) -> dict[str, object]:
    """Return the types of overrides for a group's members, by name. Null removes an override."""
    return {
        member.name: (
            override_of(member.group) | UnsetType
            if member.group is not None
            else Union[(*member.types, None, UnsetType)]
        )
        for member in _members(group)
        if not member.setting.site_only
    }


@lru_cache(maxsize=64)
def override_of(group: type[SettingsGroup]) -> type[Struct]:
    """Return the struct for the overrides of a group. Groups with different defaults but the same settings share a
    struct. In a group with one setting, the setting is required unless it can be unset."""
    own = group.__bases__[0]
    if own is not SettingsGroup:
        return override_of(own)
    (first, *more) = _members(group)
    if not more and not first.optional:
        fields: list[Any] = [(first.name, Union[(*first.types, None)])]
    else:
        fields = [(name, type_, UNSET) for name, type_ in override_types(group).items()]
    return msgspec.defstruct(f"{group.__name__}Override", fields, rename="camel", module=group.__module__)


@lru_cache(maxsize=64)
def _list_styled(group: type[SettingsGroup]) -> tuple[Declared, ...]:
    return tuple(declared for declared in list_settings(group) if declared.setting.css is not None)


def list_classes(customization: SettingsGroup) -> Iterator[str]:
    """Yield the classes in the site style sheet for settings that are different from their defaults."""
    for declared in _list_styled(type(customization)):
        value = attrgetter(declared.name)(customization)
        if value != declared.default:
            yield f"{declared.setting.css}-{value}"
