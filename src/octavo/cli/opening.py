"""Open the server's data for commands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from octavo.kit.context import Context
    from octavo.settings import Settings


def load_settings(options: argparse.Namespace) -> Settings:
    """Load the settings for a command that doesn't run the server, including the URLs that the server used when
    it last started."""
    from octavo.settings import kept_addresses, load

    given = {"data": options.data}
    return load(given, options.config, defaults=kept_addresses(load(given, options.config)))


@contextmanager
def opened(options: argparse.Namespace, *, new: bool = False) -> Iterator[Context]:
    """Open the server's data. ``new``: whether to create the data if it doesn't exist. Raises Unavailable if ``new`` is
    false and there is no data."""
    from octavo.operations.installation import close_context, open_context, require_installation

    settings = load_settings(options)
    if not new:
        require_installation(settings)
    context = open_context(settings)
    try:
        yield context
    finally:
        close_context(context)


def find_organization(context: Context, given: str) -> str:
    """Return the ID of the organization with this ID, hostname, or title. Raises NotFound if no organization matches,
    or BadRequest with a list of the matches if more than one does."""
    from octavo.operations.admin.lookup import find_named

    return find_named(context, given, ["organization"]).id
