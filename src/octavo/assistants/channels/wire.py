"""Wire format of channels."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from octavo.errors import BadRequest
from octavo.kit.clock import iso
from octavo.kit.http.operation import Recipient
from octavo.kit.texts import pattern

from .store import ChannelRole, ChannelRow, ChannelType

WireType = Literal["builtin:slack", "builtin:discord", "builtin:linear", "builtin:github"]
_NAME = pattern(r"^[a-zA-Z0-9_*-]+\Z", "contain only letters, digits, hyphens, underscores, and asterisks")
_REPOSITORY = pattern(r"^[a-zA-Z0-9._*-]+/[a-zA-Z0-9._*-]+\Z", "be a repository, such as acme/docs or acme/*")
Names = Annotated[list[Annotated[str, Meta(max_length=200, pattern=_NAME)]], Meta(max_length=100)]
Repositories = Annotated[
    list[Annotated[str, Meta(max_length=200, pattern=_REPOSITORY)]], Meta(max_length=100)
]
_ALLOWED: dict[str, str] = {
    "slack": "allowed_channels",
    "discord": "allowed_channels",
    "linear": "allowed_teams",
    "github": "allowed_repositories",
}
_NAMES = {"slack": "Slack", "discord": "Discord", "linear": "Linear", "github": "GitHub"}
_REGISTER = {
    "slack": "https://api.slack.com/apps",
    "discord": "https://discord.com/developers/applications",
    "linear": "https://linear.app/settings/api/applications",
    "github": "https://github.com/settings/apps",
}


class ChannelSetup(Struct, rename="camel", kw_only=True):
    """Settings of a channel. ``allowedChannels`` applies to Slack and Discord, ``allowedTeams`` to Linear,
    and ``allowedRepositories`` to GitHub. ``*`` matches any text; an empty list allows all."""

    allowed_channels: Names | UnsetType = UNSET
    allowed_teams: Names | UnsetType = UNSET
    allowed_repositories: Repositories | UnsetType = UNSET


class CreateSiteChannel(Struct, rename="camel", kw_only=True):
    type: WireType
    setup_settings: ChannelSetup | UnsetType = UNSET
    role: ChannelRole = "collaborator"


class UpdateSiteChannel(Struct, rename="camel", kw_only=True):
    """Updated settings of a channel. ``type`` is optional and must be the channel's current type."""

    type: WireType | UnsetType = UNSET
    setup_settings: ChannelSetup | UnsetType = UNSET
    role: ChannelRole | UnsetType = UNSET


class ChannelUrls(Struct):
    location: str


class SiteChannel(Struct, rename="camel", kw_only=True):
    """Channel outside Octavo in which a site's assistant answers questions. ``status``: `active` once an
    integration named after the service is active on the site. ``message``: the remaining setup steps (an Octavo
    extension)."""

    id: str
    type: WireType
    setup_settings: ChannelSetup
    status: Literal["active", "pending"]
    role: ChannelRole
    answers: int
    created_at: str
    urls: ChannelUrls
    object: Literal["site-channel"] = "site-channel"
    message: str | UnsetType = UNSET


def type_of(type: WireType) -> ChannelType:
    return type.removeprefix("builtin:")  # type: ignore[return-value]


def name_of_type(type: str) -> WireType:
    return f"builtin:{type}"  # type: ignore[return-value]


def read_patterns(type: str, setup: ChannelSetup | UnsetType) -> list[str]:
    """Return the patterns for the channels, teams, or repositories in which the assistant answers. Raises
    BadRequest if a setting belongs to another type of channel."""
    if setup is UNSET:
        return []
    own = _ALLOWED[type]
    for name in _ALLOWED.values():
        if name != own and getattr(setup, name) is not UNSET:
            head, _, rest = name.partition("_")
            raise BadRequest(
                f"setupSettings.{head}{rest.title()}: isn't available for {_NAMES[type]} channels"
            )
    found = getattr(setup, own)
    return [] if found is UNSET else list(dict.fromkeys(found))


def present_channel(to: Recipient, organization_id: str, row: ChannelRow) -> SiteChannel:
    setup = ChannelSetup(**{_ALLOWED[row.type]: row.patterns}) if row.patterns else ChannelSetup()
    return SiteChannel(
        id=row.id,
        type=name_of_type(row.type),
        setup_settings=setup,
        status="active" if row.active else "pending",
        role=row.role,  # type: ignore[arg-type]
        answers=row.answers,
        created_at=iso(row.created_at),
        urls=ChannelUrls(to.url(f"/orgs/{organization_id}/sites/{row.site_id}/channels/{row.id}")),
        message=UNSET if row.active else _say_missing(row.type),
    )


def _say_missing(type: str) -> str:
    name = _NAMES[type]
    return (
        f"{name} requires an app registered at {_REGISTER[type]}, and an integration named `{type}` that uses"
        " the app. Publish or install the integration in the organization, then install it on this site."
    )
