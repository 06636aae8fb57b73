"""Places outside of Octavo where the assistant of a site answers."""

from . import tables as tables
