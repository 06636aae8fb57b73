"""Channels outside Octavo, such as Slack, in which a site's assistant answers questions."""

from . import tables as tables
