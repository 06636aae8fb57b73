"""What texts in bodies must have, and how numbers of things are said."""

TWO_SIGNS = r"^\s*\S[\s\S]*\S\s*\Z"
"""The pattern of a text that has two characters at least, spaces around them left out."""


def counted(count: int, thing: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
