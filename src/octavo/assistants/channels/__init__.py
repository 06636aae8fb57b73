"""Channels outside Octavo, such as Slack, in which a site's assistant answers."""

from . import tables as tables
