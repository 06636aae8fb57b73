"""Registry of functions that provide the scripts that integrations add to a site's pages."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET, Struct, UnsetType

from octavo.kit.context import Context
from octavo.kit.db.database import Transaction


class IntegrationScript(Struct, rename="camel"):
    """Script that an integration adds to a site's pages. ``script``: its URL. ``cookies``: whether it can set
    cookies."""

    script: str
    cookies: bool
    content_security_policy: str | UnsetType = UNSET


Provider = Callable[[Transaction, Context, str], list[IntegrationScript]]
_providers: list[Provider] = []


def provide_scripts(provider: Provider) -> None:
    """Register ``provider(tx, context, site_id)``, which returns the scripts for a site."""
    _providers.append(provider)


def list_scripts(tx: Transaction, context: Context, site_id: str) -> list[IntegrationScript]:
    return [script for provider in _providers for script in provider(tx, context, site_id)]
