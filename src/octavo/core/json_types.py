"""Type of parsed JSON."""

from __future__ import annotations

from typing import Any, TypeAlias

JsonObject: TypeAlias = dict[str, Any]
"""Object of parsed JSON, YAML, or TOML, or one to write in such a format. Its values are JSON as well; their
types are unchecked."""
