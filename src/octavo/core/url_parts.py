"""Parse URLs. Only this module parses URLs, because the standard library raises exceptions for input that anyone can
type: unbalanced brackets, invalid ports, and hosts that Unicode normalization would change."""

from __future__ import annotations

from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from .hosts import spell_host

_WRITTEN = "%/:=&?~#+!$,;'@()*[]"
"""Characters that have a special meaning in URLs and therefore aren't escaped."""


class UrlParts(Struct, frozen=True):
    """Parts of a URL; a missing part is empty or None.

    ``authority``: the part before the path, unchanged. ``host``: the host in lowercase, without brackets. ``username``
    and ``password``: still escaped.
    """

    scheme: str
    authority: str
    path: str
    query: str
    fragment: str
    host: str
    port: int | None
    username: str
    password: str

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.authority}"

    @property
    def is_web(self) -> bool:
        return self.scheme in ("http", "https") and self.host != ""

    @property
    def rest(self) -> str:
        """Return the unchanged path, query, and fragment."""
        query = f"?{self.query}" if self.query else ""
        return f"{self.path}{query}{f'#{self.fragment}' if self.fragment else ''}"


def read_address(text: str) -> UrlParts | None:
    """Parse an absolute or relative URL; None if it is invalid.

    >>> read_address("https://Docs.example:8080/a?b#c").host
    'docs.example'
    >>> read_address("http://[x"), read_address("//docs.example:99999/")
    (None, None)
    """
    try:
        return own_address(text)
    except ValueError:
        return None


def own_address(text: str) -> UrlParts:
    """Parse a URL that comes from the settings or is derived from them. Raises ValueError if the URL is invalid."""
    parts = urlsplit(text)
    return UrlParts(
        parts.scheme,
        parts.netloc,
        parts.path,
        parts.query,
        parts.fragment,
        parts.hostname or "",
        parts.port,
        parts.username or "",
        parts.password or "",
    )


def host_of(text: str) -> str:
    address = read_address(text)
    return address.host if address is not None else ""


def origin_of(text: str) -> str:
    address = read_address(text)
    return f"{address.origin}/" if address is not None and address.is_web else ""


def path_of(text: str) -> str:
    address = read_address(text)
    return address.path if address is not None else ""


def join_address(base: str, href: str) -> str | None:
    """Resolve ``href`` on the page at ``base``; None if either isn't a valid URL."""
    try:
        return urljoin(base, href)
    except ValueError:
        return None


def escape_address(text: str) -> str:
    """Return a URL in the form that headers and other software accept: with the host encoded for DNS, and all
    characters that URLs can't contain escaped. Existing escapes are kept.

    >>> escape_address("https://bücher.example/größe?a=%20b c")
    'https://xn--bcher-kva.example/gr%C3%B6%C3%9Fe?a=%20b%20c'
    """
    address = read_address(text)
    if address is not None and not address.host.isascii():
        user, at, _ = address.authority.rpartition("@")
        host = write_authority(spell_host(address.host), address.port)
        text = text.replace(f"//{address.authority}", f"//{user}{at}{host}", 1)
    return quote(text, safe=_WRITTEN, errors="replace")


def write_authority(host: str, port: int | None = None) -> str:
    """Return a host and a port in the form used in URLs.

    >>> write_authority("::", 8000), write_authority("docs.example")
    ('[::]:8000', 'docs.example')
    """
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"
