"""Running untrusted scripts, each in a process of its own without any permissions."""

from .host import SECONDS, Host
from .process import (
    Fetch,
    FetchRefused,
    Got,
    HostRequest,
    Log,
    ScriptAnswer,
    ScriptError,
    ScriptEvent,
    ScriptFailed,
    ScriptProcess,
    find_deno,
)

__all__ = [
    "ScriptAnswer", "ScriptEvent", "Fetch", "FetchRefused", "Got", "Host", "HostRequest", "Log", "SECONDS", "ScriptError",
    "ScriptFailed", "ScriptProcess", "find_deno",
]  # fmt: skip
