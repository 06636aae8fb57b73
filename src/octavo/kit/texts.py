"""What texts in bodies must have, and how numbers of things and names in programs are said."""

import re

TWO_SIGNS = r"^\s*\S[\s\S]*\S\s*\Z"
"""The pattern of a text that has two characters at least, spaces around them left out."""


def counted(count: int, thing: str) -> str:
    """``1 file``, ``2 files``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


_ID_WORD = re.compile(
    r"[Vv]\d+(?:alpha|beta)\d+|[A-Z]{2,}s?(?![a-z])\d*|[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\dA-Z_]+\d*|[A-Z]+\d*|\d+|[^\W_]+"
)
_INNER_CAPITALS = re.compile(r"OpenAPI|OpenI[Dd]|OAuth|GitHub|GitLab|GraphQL")
_AS_WRITTEN = {"api": "API", "ai": "AI", "dns": "DNS", "mcp": "MCP", "mfa": "MFA", "pdf": "PDF", "saml": "SAML", "scim": "SCIM", "sso": "SSO",
               "ui": "UI", "uri": "URI", "url": "URL", "openapi": "OpenAPI", "openid": "OpenID", "oauth": "OAuth", "oauth2": "OAuth 2",
               "github": "GitHub", "gitlab": "GitLab", "graphql": "GraphQL", "id": "id"}  # fmt: skip
"""Words that are not written in small letters, but for ``id``, which is even where the name has ``ID``."""
_SHORTENED = re.compile(r"(?!V\d)[A-Z][A-Z\d]+s?")


def split_name(name: str) -> list[str]:
    """The words of a name in a program, as they are written there: ``getUserByID``, ``get_user-by.id/now``."""
    joined = _INNER_CAPITALS.sub(lambda found: found[0].capitalize(), name)
    return _ID_WORD.findall(joined if any(letter.islower() for letter in joined) else joined.lower())


def say_name(name: str) -> str:
    """A name in a program as people read it: ``getOpenAPISpecById`` is "Get OpenAPI spec by id". Empty where it has
    neither letters nor digits."""
    words = [
        _AS_WRITTEN.get(word.lower()) or (word if _SHORTENED.fullmatch(word) else word.lower())
        for word in split_name(name)
    ]
    title = " ".join(words)
    return title[:1].upper() + title[1:]
