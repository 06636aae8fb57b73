"""Table of this server's connectors."""

from __future__ import annotations

from typing import Literal, get_args

from octavo.kit.context import Context
from octavo.kit.net.fetch import Fetcher

from ..types import Connector
from .freshdesk import Freshdesk
from .front import Front
from .github import GitHubDiscussions, GitHubIssues
from .hubspot import HubSpot
from .intercom import Intercom
from .jira import Jira
from .linear import Linear
from .pylon import Pylon
from .website import Website
from .youtube import YouTube
from .zendesk import Zendesk
from .zoho import ZohoDesk

PushedName = Literal["builtin:api", "builtin:email"]
PUSHED: tuple[PushedName, ...] = get_args(PushedName)
"""Names of sources that send their records to Octavo."""
_CONNECTORS = (
    Website,
    GitHubIssues,
    GitHubDiscussions,
    Zendesk,
    Intercom,
    Jira,
    Linear,
    HubSpot,
    Freshdesk,
    Front,
    Pylon,
    ZohoDesk,
    YouTube,
)
PULLED = tuple(kind.name for kind in _CONNECTORS)
"""Names of sources from which Octavo fetches records."""


def find_connector(context: Context, name: str) -> Connector | None:
    """Return the connector with this name; None for sources that send their records."""
    fetcher = Fetcher(context.settings.allow_private_fetch)
    return next((kind(fetcher) for kind in _CONNECTORS if kind.name == name), None)


def list_fields(name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a connector's settings, and of its secret settings."""
    kind = next((kind for kind in _CONNECTORS if kind.name == name), None)
    return (kind.fields, kind.secrets) if kind is not None else ((), ())
