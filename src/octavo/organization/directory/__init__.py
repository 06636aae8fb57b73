"""SCIM 2.0: an organization's members and teams, managed by its directory."""

from . import tables as tables
