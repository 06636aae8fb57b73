"""What the description of the API says beyond the types: meanings of names, and real examples."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import msgspec

from .kit.description import Example, Meanings


def load_meanings() -> Meanings:
    return msgspec.convert(tomllib.loads((files(__package__) / "meanings.toml").read_text()), Meanings)


def load_examples() -> dict[str, Example]:
    """By operation id: calls that the tests made of their samples, shortened."""
    return msgspec.json.decode((files(__package__) / "examples.json").read_bytes(), type=dict[str, Example])
