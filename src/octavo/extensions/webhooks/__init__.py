"""Webhooks: URLs that receive an organization's events."""

from . import tables as tables
