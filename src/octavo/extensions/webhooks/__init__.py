"""Webhooks: URLs that receive the events of an organization."""

from . import tables as tables
