"""Validate text in request bodies, and format counts and identifiers for messages."""

import re

EXPECTED: dict[str, str] = {}
"""Requirements for strings, by the regular expression that the strings must match. They are worded to follow "must"
in error messages."""


def pattern(expression: str, expected: str) -> str:
    """Record the requirement that a regular expression enforces, for error messages, and return the expression.
    ``expected``: the requirement, worded to follow "must"."""
    EXPECTED[expression] = expected
    return expression


NOT_BLANK = pattern(r"\S", "contain at least one character other than spaces")
TWO_SIGNS = pattern(
    r"^\s*\S[\s\S]*\S\s*\Z", "contain at least two characters, not counting spaces at either end"
)


def counted(count: int, thing: str) -> str:
    """Return a count with its noun, such as ``1 file`` or ``2 files``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


_ID_WORD = re.compile(
    r"[Vv]\d+(?:alpha|beta)\d+|[A-Z]{2,}s?(?![a-z])\d*|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\dA-Z_]+\d*|[A-Z]+\d*|\d+|[^\W_]+"
)
_INNER_CAPITALS = re.compile(r"OpenAPI|OpenI[Dd]|OAuth|GitHub|GitLab|GraphQL")
_AS_WRITTEN = {
    "api": "API",
    "ai": "AI",
    "dns": "DNS",
    "mcp": "MCP",
    "mfa": "MFA",
    "pdf": "PDF",
    "saml": "SAML",
    "scim": "SCIM",
    "sso": "SSO",
    "ui": "UI",
    "uri": "URI",
    "url": "URL",
    "openapi": "OpenAPI",
    "openid": "OpenID",
    "oauth": "OAuth",
    "oauth2": "OAuth 2",
    "git": "Git",
    "github": "GitHub",
    "gitlab": "GitLab",
    "graphql": "GraphQL",
    "id": "id",
}
"""Spellings of words that aren't written in lowercase, and of ``id``, which is written in lowercase even if the
name contains ``ID``."""
_SHORTENED = re.compile(r"(?!V\d)[A-Z][A-Z\d]+s?")


def split_name(name: str) -> list[str]:
    """Split an identifier, such as ``getUserByID`` or ``get_user-by.id/now``, into its words in their original
    spelling."""
    joined = _INNER_CAPITALS.sub(lambda found: found[0].capitalize(), name)
    return _ID_WORD.findall(joined if any(letter.islower() for letter in joined) else joined.lower())


def say_name(name: str) -> str:
    """Return an identifier in readable form: ``getOpenAPISpecById`` becomes "Get OpenAPI spec by id". The result is
    empty if it has neither letters nor digits."""
    words = [
        _AS_WRITTEN.get(word.lower()) or (word if _SHORTENED.fullmatch(word) else word.lower())
        for word in split_name(name)
    ]
    title = " ".join(words)
    return title[:1].upper() + title[1:]
