"""Why people are told of something, how, and what becomes of it."""

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
    "failed",
]
State = Literal["unread", "read", "done"]
Level = Literal["watching", "muted"]
Channel = Literal["app", "mail", "digest", "off"]
TOLD = "people_notified"
"""The event that says whose notifications are new: ``users``, each with the id of the notification and its reason."""
DEFAULTS: dict[Reason, Channel] = {
    "mentioned": "mail",
    "replied": "mail",
    "commented": "app",
    "reviewRequested": "mail",
    "reviewed": "mail",
    "merged": "app",
    "statusChanged": "app",
    "edited": "app",
    "failed": "mail",
}
"""How somebody is told who did not say anything else. Without a mail server, mail is the app alone."""
