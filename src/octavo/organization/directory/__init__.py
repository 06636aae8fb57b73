"""SCIM 2.0: an organization's members and teams, kept by its directory."""

from . import tables as tables
