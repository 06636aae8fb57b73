"""The scripts that integrations give a site's pages: who knows them registers here."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET, Struct, UnsetType

from octavo.kit.context import Context
from octavo.kit.db.database import Transaction


class IntegrationScript(Struct, rename="camel"):
    """A script that an integration puts into a site's pages: its address. ``cookies``: whether it may set any."""

    script: str
    cookies: bool
    content_security_policy: str | UnsetType = UNSET


Provider = Callable[[Transaction, Context, str], list[IntegrationScript]]
_providers: list[Provider] = []


def provide_scripts(provider: Provider) -> None:
    """Registers ``provider(tx, context, site_id)``."""
    _providers.append(provider)


def list_scripts(tx: Transaction, context: Context, site_id: str) -> list[IntegrationScript]:
    return [script for provider in _providers for script in provider(tx, context, site_id)]
