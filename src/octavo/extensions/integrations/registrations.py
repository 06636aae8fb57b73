"""Register the hooks that remove installations when a space is transferred, and those that provide integration
scripts to sites."""

from __future__ import annotations

from octavo.organization.spaces.hooks import on_transfer
from octavo.sites.site.scripts import provide_scripts

from .on_sites import list_scripts
from .store import forget_space

on_transfer(lambda tx, space_id, organization_id: forget_space(tx, space_id))
provide_scripts(list_scripts)
