"""Notifications: in the app, as live events, and by email."""

from . import tables as tables
