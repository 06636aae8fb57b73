"""Webhooks: addresses of an organization's own that are told what happens in it."""

from . import tables as tables
