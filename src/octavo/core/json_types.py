"""Type of parsed JSON."""

from __future__ import annotations

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""Object parsed from JSON, YAML, or TOML, or to be written in one of these formats. Its values are JSON, too. Their
types aren't checked."""
