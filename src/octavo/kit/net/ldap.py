"""LDAP client that finds people and their groups in a directory, and checks passwords.

Referrals aren't followed, names and values are decoded as UTF-8, and all requests have a time limit. People are
identified by an ID that the directory never changes, because names and distinguished names can change.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from octavo.core.url_parts import own_address
from octavo.errors import Unavailable
from octavo.kit.tls import outgoing_tls

if TYPE_CHECKING:
    from ldap3 import Connection, Tls

log = logging.getLogger(__name__)

_CONNECT_SECONDS = 5
_ANSWER_SECONDS = 10
_PAGE = 200
MAX_GROUPS = 1000
"""Maximum number of groups per person. If a directory returns more, its response is rejected."""
_IDS = ("entryUUID", "objectGUID", "ipaUniqueID", "nsUniqueId", "GUID")
_PERSON = (*_IDS, "mail", "userPrincipalName", "displayName", "cn", "userAccountControl")
_GROUP = (*_IDS, "cn", "displayName")
_DISABLED = 2
"""Bit of ``userAccountControl`` that Active Directory sets for disabled accounts."""
_COMPLETE = {0, 10}
"""Result codes of a completed search: success and referral."""
_REFUSED = {19, 32, 34, 48, 49, 50, 53}
"""Result codes of a bind with a rejected password or account. All other codes indicate a problem with the
directory."""


class DirectoryUnavailable(Unavailable):
    """Raised if a directory can't be reached or returns an invalid response. The message is public, so only the log
    contains details."""

    def __init__(self, detail: str) -> None:
        super().__init__(
            "The directory that checks passwords can't be reached. Try again in a few minutes, or ask your server"
            " administrator."
        )
        self.detail = detail
        log.warning("The LDAP directory failed", extra={"detail": detail})


class _Entry(Struct, frozen=True):
    """Search result. ``values``: its values by attribute name in lowercase."""

    dn: str
    values: dict[str, list[bytes]]

    def texts(self, *names: str) -> list[str]:
        """Return the non-empty values of these attributes as text."""
        found = [
            value.decode("utf-8", "replace").strip()
            for name in names
            for value in self.values.get(name.lower(), ())
        ]
        return [value for value in found if value]

    def subject(self) -> str | None:
        """Return the person's permanent ID, as the name of its attribute and the value in hexadecimal."""
        for name in _IDS:
            for value in self.values.get(name.lower(), ()):
                if 0 < len(value) <= 100:
                    return f"{name}:{value.hex()}"
        log.warning("An LDAP directory entry has no permanent ID", extra={"dn": self.dn[:500]})
        return None


class DirectoryGroup(Struct, frozen=True):
    """Group in a directory. ``subject``: its permanent ID."""

    subject: str
    title: str


class DirectoryPerson(Struct, frozen=True):
    """Person in a directory. ``subject``: the permanent ID. ``disabled``: whether the person can't sign in."""

    subject: str
    dn: str
    email: str | None
    name: str | None
    disabled: bool


class Directory(Struct, frozen=True):
    """Directory from the settings. ``people`` and ``groups``: the base distinguished names for searches; ``groups``
    is empty if groups aren't used. ``filter`` and ``group_filter`` contain placeholders."""

    url: str
    user: str
    password: str
    people: str
    filter: str
    groups: str
    group_filter: str
    require_tls: bool

    def find_person(self, email: str) -> DirectoryPerson | None:
        """Return the person that the filter finds for an email address, if there is exactly one. Raises
        DirectoryUnavailable if the directory has a problem."""
        with self._connect(self.user, self.password) as connection:
            return self._find_person(connection, email)

    def authenticate(self, email: str, password: str) -> DirectoryPerson | None:
        """Return the person with this email address and password, or None if either is wrong.

        An unknown email address causes as many requests as a wrong password. Raises DirectoryUnavailable if the
        directory has a problem."""
        if not password:
            # A bind with an empty password succeeds without checking anything (RFC 4513, 5.1.2).
            return None
        with self._connect(self.user, self.password) as connection:
            person = self._find_person(connection, email)
        dn = person.dn if person is not None else f"cn={secrets.token_hex(16)},{self.people}"
        try:
            with self._connect(dn, password):
                return person
        except _BindRefused:
            return None

    def list_people(self, subjects: Iterable[str]) -> dict[str, DirectoryPerson]:
        """Return the people with these permanent IDs, keyed by ID, if the directory still contains them under the
        base name."""
        wanted = "".join(f"({_id_filter(subject)})" for subject in subjects)
        with self._connect(self.user, self.password) as connection:
            found = [_person(entry) for entry in _search(connection, self.people, f"(|{wanted})", _PERSON)]
        return {person.subject: person for person in found if person is not None}

    def list_groups(self, people: Iterable[DirectoryPerson]) -> dict[str, list[DirectoryGroup]]:
        """Return each person's groups, sorted by the groups' IDs and keyed by the person's permanent ID."""
        from ldap3.utils.conv import escape_filter_chars

        found = {}
        with self._connect(self.user, self.password) as connection:
            for person in people:
                condition = self.group_filter.replace("{dn}", escape_filter_chars(person.dn)).replace(
                    "{email}", escape_filter_chars(person.email or "")
                )
                entries = list(islice(_search(connection, self.groups, condition, _GROUP), MAX_GROUPS + 1))
                if len(entries) > MAX_GROUPS:
                    raise DirectoryUnavailable(f"{person.dn} is in more than {MAX_GROUPS:,} groups")
                groups = [group for entry in entries if (group := _group(entry)) is not None]
                found[person.subject] = sorted(groups, key=lambda group: group.subject)
        return found

    def _find_person(self, connection: Connection, email: str) -> DirectoryPerson | None:
        from ldap3.utils.conv import escape_filter_chars

        condition = self.filter.replace("{email}", escape_filter_chars(email)).replace(
            "{name}", escape_filter_chars(email.partition("@")[0])
        )
        found = list(islice(_search(connection, self.people, condition, _PERSON), 2))
        if len(found) > 1:
            log.warning("More than one LDAP directory entry matches an email address", extra={"email": email})
            return None
        return _person(found[0]) if found else None

    @contextmanager
    def _connect(self, user: str, password: str) -> Iterator[Connection]:
        """Yield a connection that is bound as ``user``. Raises _BindRefused if the directory rejects the user, and
        DirectoryUnavailable if the directory has a problem."""
        from ldap3 import NONE, Connection, Server
        from ldap3.core.exceptions import LDAPException

        parts = own_address(self.url)
        encrypted = parts.scheme == "ldaps"
        server = Server(
            parts.host,
            parts.port or (636 if encrypted else 389),
            use_ssl=encrypted,
            tls=_trusting_tls(),
            get_info=NONE,
            connect_timeout=_CONNECT_SECONDS,
        )
        connection = Connection(
            server,
            user or None,
            password or None,
            receive_timeout=_ANSWER_SECONDS,
            auto_referrals=False,
            check_names=False,
            read_only=True,
        )
        try:
            connection.open()
            if self.require_tls and not encrypted:
                connection.start_tls()
            if not connection.bind():
                self._refuse(connection, user)
            yield connection
        # The decoder can raise any exception for a malicious response.
        except (LDAPException, OSError, ValueError, TypeError, KeyError, IndexError) as error:
            raise DirectoryUnavailable(_describe(error)) from None
        finally:
            with suppress(LDAPException, OSError):
                connection.unbind()

    def _refuse(self, connection: Connection, user: str) -> None:
        code, said = connection.result["result"], connection.result["description"]
        if user == self.user or code not in _REFUSED:
            raise DirectoryUnavailable(f"binding as {user!r} failed: {said} ({code})")
        raise _BindRefused


def _describe(error: Exception) -> str:
    said = str(error)
    _, mark, reason = said.partition("certificate verify failed: ")
    if mark:
        return (
            f"the directory's certificate can't be verified: {reason.partition(' (')[0]}. Set SSL_CERT_FILE"
            " to a file that contains the issuer's certificate"
        )
    return f"{type(error).__name__}: {said}"


class _BindRefused(Exception):
    """Raised internally if a password is wrong or an account can't sign in."""


def _trusting_tls() -> Tls:
    """Return TLS settings with the certificate authorities that outgoing connections trust."""
    from ldap3 import Tls

    def wrap_socket(connection: Connection, do_handshake: bool = False) -> None:
        connection.socket = outgoing_tls().wrap_socket(
            connection.socket, server_hostname=connection.server.host, do_handshake_on_connect=do_handshake
        )

    tls = Tls()
    tls.wrap_socket = wrap_socket
    return tls


def _search(
    connection: Connection, base: str, condition: str, attributes: tuple[str, ...]
) -> Iterator[_Entry]:
    """Yield entries page by page. Raises DirectoryUnavailable if the search fails."""
    for entry in connection.extend.standard.paged_search(
        base, condition, attributes=list(attributes), paged_size=_PAGE, generator=True
    ):
        # The others are referrals, which are not followed.
        if entry["type"] == "searchResEntry":
            raw = entry["raw_attributes"]
            yield _Entry(
                str(entry["dn"]), {name.lower(): list(map(bytes, values)) for name, values in raw.items()}
            )
    if connection.result.get("result") not in _COMPLETE:
        raise DirectoryUnavailable(f"searching under {base!r} failed: {connection.result.get('description')}")


def _id_filter(subject: str) -> str:
    name, _, value = subject.partition(":")
    return name + "=" + "".join(f"\\{byte:02x}" for byte in bytes.fromhex(value))


def _person(entry: _Entry) -> DirectoryPerson | None:
    subject = entry.subject()
    if subject is None:
        return None
    emails = [text.lower() for text in entry.texts("mail", "userPrincipalName")]
    names = entry.texts("displayName", "cn")
    flags = entry.texts("userAccountControl")
    return DirectoryPerson(
        subject,
        entry.dn,
        next((email for email in emails if len(email) <= 320 and 0 < email.find("@") < len(email) - 1), None),
        names[0][:100] if names else None,
        bool(flags and flags[0].isdigit() and int(flags[0]) & _DISABLED),
    )


def _group(entry: _Entry) -> DirectoryGroup | None:
    subject, names = entry.subject(), entry.texts("displayName", "cn")
    return DirectoryGroup(subject, names[0][:100]) if subject is not None and names else None
