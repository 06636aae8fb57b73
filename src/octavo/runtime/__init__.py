"""Running untrusted scripts, each in a process of its own without any permissions."""

from .host import SECONDS, Host
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
    find_deno,
)

__all__ = [
    "Answer", "Event", "Fetch", "FetchRefused", "Got", "Host", "HostRequest", "Log", "SECONDS", "ScriptError",
    "ScriptFailed", "ScriptProcess", "find_deno",
]  # fmt: skip
