"""Places outside Octavo where a site's assistant answers."""

from . import tables as tables
