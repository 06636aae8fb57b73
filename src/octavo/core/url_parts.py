"""Addresses taken apart. Nobody else does it, because the standard library raises on what anybody may write: odd
brackets, ports that are none, hosts that other characters would become."""

from __future__ import annotations

from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from .hosts import spell_host

_WRITTEN = "%/:=&?~#+!$,;'@()*[]"
"""Characters that mean something in an address, so that they stay as they are."""


class Address(Struct, frozen=True):
    """The parts of an address; one that is not there is empty, or None.

    ``authority``: all that is before the path, as it is written. ``host``: in lower case, without brackets.
    ``username`` and ``password``: as they are written, so still escaped.
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
        """Path, query and fragment, as they are written."""
        query = f"?{self.query}" if self.query else ""
        return f"{self.path}{query}{f'#{self.fragment}' if self.fragment else ''}"


def read_address(text: str) -> Address | None:
    """An address, absolute or relative, or None for what nobody can take apart.

    >>> read_address("https://Docs.example:8080/a?b#c").host
    'docs.example'
    >>> read_address("http://[x"), read_address("//docs.example:99999/")
    (None, None)
    """
    try:
        return own_address(text)
    except ValueError:
        return None


def own_address(text: str) -> Address:
    """``read_address`` for addresses from the settings and those that are made of them. Raises ValueError."""
    parts = urlsplit(text)
    return Address(
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


def path_of(text: str) -> str:
    address = read_address(text)
    return address.path if address is not None else ""


def join_address(base: str, href: str) -> str | None:
    """What ``href`` means on the page at ``base``; None where either is no address."""
    try:
        return urljoin(base, href)
    except ValueError:
        return None


def escape_address(text: str) -> str:
    """An address as headers and other programs take it: a host as DNS has it, and of all else escaped what is no
    character of addresses. What is escaped stays so.

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
    """A host and a port as addresses have them.

    >>> write_authority("::", 8000), write_authority("docs.example")
    ('[::]:8000', 'docs.example')
    """
    name = f"[{host}]" if ":" in host else host
    return name if port is None else f"{name}:{port}"
