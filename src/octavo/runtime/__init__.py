"""Running scripts that we do not trust, each in a process of its own without any permission."""

from .host import AFTER, SECONDS, Host
from .process import (
    Answer,
    Event,
    Fetch,
    FetchRefused,
    Got,
    HostRequest,
    Log,
    ScriptError,
    ScriptFailed,
    ScriptProcess,
    command,
    find_deno,
)

__all__ = [
    "AFTER", "Answer", "Event", "Fetch", "FetchRefused", "Got", "Host", "Log", "SECONDS", "ScriptError",
    "ScriptFailed", "ScriptProcess", "HostRequest", "command", "find_deno",
]  # fmt: skip
