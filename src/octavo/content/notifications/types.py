"""Reasons, channels, and states of notifications."""

from __future__ import annotations

from typing import Literal

Reason = Literal[
    "mentioned",
    "replied",
    "commented",
    "reviewRequested",
    "reviewed",
    "merged",
    "statusChanged",
    "edited",
    "reviewDue",
    "assigned",
    "failed",
]
State = Literal["unread", "read", "done"]
Level = Literal["watching", "muted"]
Channel = Literal["app", "mail", "digest", "off"]
NOTIFIED = "people_notified"
"""Event that lists new notifications. ``users``: the recipients, each with the ID of the notification and
its reason."""
DEFAULTS: dict[Reason, Channel] = {
    "mentioned": "mail",
    "replied": "mail",
    "commented": "app",
    "reviewRequested": "mail",
    "reviewed": "mail",
    "merged": "app",
    "statusChanged": "app",
    "edited": "app",
    "reviewDue": "mail",
    "assigned": "mail",
    "failed": "mail",
}
"""Default channels. If there is no mail server, ``mail`` notifies people only in the app."""
