"""The scripts that integrations give a site's pages: who knows them registers here."""

from __future__ import annotations

from collections.abc import Callable

from ..kit.context import Context
from ..kit.db import Transaction
from .profile_wire import IntegrationScript

Provider = Callable[[Transaction, Context, str], list[IntegrationScript]]
_providers: list[Provider] = []


def provide_scripts(provider: Provider) -> None:
    """Registers ``provider(tx, context, site_id)``."""
    _providers.append(provider)


def list_scripts(tx: Transaction, context: Context, site_id: str) -> list[IntegrationScript]:
    return [script for provider in _providers for script in provider(tx, context, site_id)]
