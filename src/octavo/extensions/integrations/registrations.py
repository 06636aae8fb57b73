"""Register the removal of installations from transferred spaces, and the scripts that integrations provide for
sites."""

from __future__ import annotations

from octavo.organization.spaces.hooks import on_transfer
from octavo.sites.site.scripts import provide_scripts

from .on_sites import list_scripts
from .store import forget_space

on_transfer(lambda tx, space_id, organization_id: forget_space(tx, space_id))
provide_scripts(list_scripts)
