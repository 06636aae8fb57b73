"""Parse the repository URLs that people enter, and build the URLs that Octavo shows."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from urllib.parse import quote, unquote

from msgspec import Struct

from octavo.core.paths import unsafe_path
from octavo.core.url_parts import read_address, write_authority
from octavo.errors import BadRequest

_SCP = re.compile(r"(?:([A-Za-z0-9._-]+)@)?([A-Za-z0-9][A-Za-z0-9.-]*):(?!//)(.+)")
_HOST = re.compile(r"[^\W_][\w.-]*|[0-9a-f:.]+", re.IGNORECASE)
_USUAL_PORTS = (None, 22, 80, 443)
_CONTROL = re.compile(r"[\x00-\x20\x7f]")
_WRONG_BRANCH = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|^[/.-]|/\.|\.lock(?:/|\Z)|[/.]\Z")
"""Pattern for text that Git doesn't allow in branch names."""


class Remote(Struct, frozen=True):
    """Remote repository. ``url``: the URL without credentials. ``path``: the repository's path on the server."""

    scheme: str
    host: str
    port: int | None
    user: str
    path: str
    url: str

    @property
    def name(self) -> str:
        """Return the owner and name of the repository, as providers write them."""
        parts = [part for part in unquote(self.path).removesuffix(".git").split("/") if part]
        return "/".join(parts[-2:] if self.scheme != "file" else parts[-1:]) or "repository"

    @property
    def place(self) -> tuple[str, int | None, str]:
        """Return a key that is the same for all HTTPS and SSH URLs of a repository."""
        path = unquote(self.path).strip("/").removesuffix(".git").rstrip("/")
        port = None if self.port in _USUAL_PORTS else self.port
        return self.host.lower(), port, path if self.scheme == "file" else path.lower()


def read_remote(text: str, *, local: bool) -> Remote:
    """Parse ``https://…``, ``ssh://…``, or ``git@host:path``. ``local``: whether to also accept
    ``file:///…``. Raises BadRequest if it is invalid."""
    if not text or len(text) > 2000 or _CONTROL.search(text):
        raise BadRequest("remote: must be a repository URL without spaces")
    if "://" not in text and (match := _SCP.fullmatch(text)):
        # Without a leading slash, the path is relative to the user's home directory.
        user = match[1] or "git"
        return Remote("ssh", match[2], None, user, match[3], f"{user}@{match[2]}:{match[3]}")
    parts = read_address(text)
    if parts is None or parts.query or parts.fragment:
        raise BadRequest("remote: must be a repository URL without a query string")
    if parts.scheme == "file" and local:
        if parts.authority not in ("", "localhost") or not parts.path.startswith("/"):
            raise BadRequest("remote: a file URL must not contain a host")
        return Remote("file", "", None, "", unquote(parts.path), f"file://{parts.path}")
    if not _HOST.fullmatch(parts.host):
        raise BadRequest("remote: must have a hostname")
    if parts.scheme in ("http", "https") and parts.path.strip("/"):
        if parts.username or parts.password:
            raise BadRequest("remote: must not contain credentials. Put them in `credential` instead.")
        authority = write_authority(parts.host, parts.port or None)
        path = parts.path.rstrip("/")
        return Remote(parts.scheme, parts.host, parts.port, "", path, f"{parts.scheme}://{authority}{path}")
    if parts.scheme == "ssh" and parts.path.strip("/") and not parts.password:
        user = unquote(parts.username) or "git"
        authority = write_authority(parts.host, parts.port or None)
        url = f"ssh://{quote(user)}@{authority}{parts.path}"
        return Remote("ssh", parts.host, parts.port, user, parts.path, url)
    kinds = "HTTPS, SSH, or file" if local else "HTTPS or SSH"
    raise BadRequest(f"remote: must be a repository URL ({kinds})")


def split_credential(text: str) -> tuple[str, str, str]:
    """Split an HTTPS URL with credentials, which older clients send, into the URL without credentials, the
    user, and the secret."""
    parts = read_address(text)
    if parts is None or parts.scheme not in ("http", "https") or not (parts.username or parts.password):
        return text, "", ""
    authority = write_authority(parts.host, parts.port or None)
    user, secret = unquote(parts.username), unquote(parts.password)
    if not secret:
        user, secret = "", user
    return f"{parts.scheme}://{authority}{parts.path}", user, secret


def read_branch(text: str, field: str = "branch") -> str:
    """Return a valid branch name, which can also be specified as ``refs/heads/NAME``. Raises BadRequest if it
    is invalid."""
    name = text.removeprefix("refs/heads/")
    if not name or len(name.encode("utf-8", "replace")) > 200 or _WRONG_BRANCH.search(name) or name == "@":
        raise BadRequest(f"{field}: must be a valid Git branch name")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise BadRequest(f"{field}: must be a valid Git branch name") from None
    return name


def fits(pattern: str | None, branch: str) -> bool:
    """Return whether a branch name matches a pattern, in which ``*`` matches any text."""
    return pattern is not None and fnmatchcase(branch, pattern.replace("[", "[[]").replace("?", "[?]"))


def read_folder(text: str, field: str = "folder") -> str:
    """Return a repository folder, either empty or ending in a slash. Raises BadRequest if it is invalid."""
    folder = re.sub(r"\A(?:\./|/)+", "", text.strip())
    folder = folder.strip("/")
    if folder in ("", "."):
        return ""
    if wrong := unsafe_path(folder):
        raise BadRequest(f"{field}: {wrong}")
    if any(part.lower() == ".git" for part in folder.split("/")):
        raise BadRequest(f"{field}: must not be inside a .git folder")
    return f"{folder}/"


def read_web_path(remote: Remote, branch: str, url: str) -> str | None:
    """Return the path of the file whose page on the Git provider's website has this URL; None if the URL leads to
    anything else, or to a fixed version of the file.

    >>> remote = read_remote("https://github.com/acme/shop", local=False)
    >>> read_web_path(remote, "main", "https://github.com/acme/shop/blob/main/src/cart.py?plain=1")
    'src/cart.py'
    >>> read_web_path(remote, "main", "https://github.com/acme/shop/blob/v1/src/cart.py")
    """
    parts = read_address(url)
    if parts is None or parts.host.lower() != remote.host.lower():
        return None
    above = f"/{unquote(remote.path).strip('/').removesuffix('.git')}/"
    path = unquote(parts.path)
    if not path.lower().startswith(above.lower()):
        return None
    shown = path[len(above) :]
    for kind in ("blob", "-/blob", "src/branch", "src"):
        if shown.startswith(f"{kind}/{branch}/"):
            return shown.removeprefix(f"{kind}/{branch}/") or None
    return None


def web_address(remote: Remote, provider: str, kind: str, what: str, path: str = "") -> str | None:
    """Return the URL of a tree's or commit's page on the Git provider's website; None if there is none."""
    if remote.scheme == "file":
        return None
    base = f"https://{remote.host}" if remote.scheme == "ssh" else remote.url.removesuffix(remote.path)
    base += "/" + quote(unquote(remote.path)).strip("/").removesuffix(".git")
    path = quote(path.strip("/"))
    what = quote(what)
    if provider == "gitlab":
        found = f"{base}/-/{kind}/{what}"
    elif provider == "bitbucket":
        found = f"{base}/{'commits' if kind == 'commit' else 'src'}/{what}"
    elif provider == "gitea" and kind == "tree":
        found = f"{base}/src/branch/{what}"
    else:
        found = f"{base}/{kind}/{what}"
    return f"{found}/{path}" if path else found
