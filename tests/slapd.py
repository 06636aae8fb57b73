"""An OpenLDAP server for tests, with people and groups."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

import pytest

from serving import free_ports
from settled import PATIENCE

BASE = "dc=example,dc=org"
PEOPLE, GROUPS = f"ou=people,{BASE}", f"ou=groups,{BASE}"
ADMIN, SECRET = f"cn=admin,{BASE}", "the secret of the directory"
_SCHEMAS = Path("/etc/ldap/schema")
_PATH = "/usr/sbin:/usr/lib/openldap:/usr/libexec:/usr/bin:/bin"


def _write_certificate(folder: Path) -> Path:
    """Write a certificate for localhost and its key to one file."""
    path = folder / "certificate.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
        + ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(folder / "key.pem"), "-out", str(path)],
        check=True,
        capture_output=True,
    )
    path.write_text(path.read_text() + (folder / "key.pem").read_text())
    return path


class Slapd:
    """A running server. It speaks StartTLS at ``url``. ``certificate``: its own, for localhost. ``people``: the number
    of people to start with, whose password is their name, all in the group ``everyone``."""

    def __init__(self, folder: Path, *, people: int = 0) -> None:
        program = shutil.which("slapd", path=f"{os.environ['PATH']}:{_PATH}")
        if program is None or not _SCHEMAS.exists():
            if os.environ.get("CI") == "true":
                raise RuntimeError("slapd is not installed")
            pytest.skip("slapd is not installed")
        (folder / "data").mkdir()
        modules = next(iter(Path("/usr/lib").glob("ldap/back_mdb*")), None)
        lines = [
            *(f"include {_SCHEMAS}/{name}.schema" for name in ("core", "cosine", "inetorgperson")),
            *([f"modulepath {modules.parent}", "moduleload back_mdb"] if modules else []),
            "sizelimit unlimited",
            "database mdb",
            f"directory {folder / 'data'}",
            "maxsize 4294967296",
            "index objectClass,uid,mail,member eq",
            f'suffix "{BASE}"',
            f'rootdn "{ADMIN}"',
            f'rootpw "{SECRET}"',
        ]
        self.certificate = _write_certificate(folder)
        lines[:0] = [f"TLSCertificateFile {self.certificate}", f"TLSCertificateKeyFile {self.certificate}"]
        (folder / "slapd.conf").write_text("\n".join(lines) + "\n")
        if people:
            self._add_offline(folder, people)
        plain, secure = free_ports(2)
        self.url, self.secure_url = f"ldap://localhost:{plain}", f"ldaps://localhost:{secure}"
        self._process = subprocess.Popen(
            [program, "-f", str(folder / "slapd.conf"), "-h", f"{self.url} {self.secure_url}", "-d", "0"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait_until_ready()
        if not people:
            self._add_base()

    def _add_offline(self, folder: Path, people: int) -> None:
        names = [f"person{number}" for number in range(people)]
        entries = [
            f"dn: {BASE}\nobjectClass: dcObject\nobjectClass: organization\ndc: example\no: Example",
            *(f"dn: {dn}\nobjectClass: organizationalUnit" for dn in (PEOPLE, GROUPS)),
            *(
                f"dn: uid={name},{PEOPLE}\nobjectClass: inetOrgPerson\nuid: {name}\ncn: {name}\nsn: {name}\n"
                f"mail: {name}@example.org\nuserPassword: {name}"
                for name in names
            ),
            f"dn: cn=everyone,{GROUPS}\nobjectClass: groupOfNames\ncn: everyone\n"
            + "\n".join(f"member: uid={name},{PEOPLE}" for name in names),
        ]
        program = shutil.which("slapadd", path=f"{os.environ['PATH']}:{_PATH}")
        assert program is not None
        subprocess.run(
            [program, "-q", "-f", str(folder / "slapd.conf")],
            input="\n\n".join(entries).encode(),
            check=True,
            capture_output=True,
        )

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + PATIENCE
        port = int(self.url.rpartition(":")[2])
        while True:
            try:
                socket.create_connection(("localhost", port)).close()
                return
            except OSError:
                assert time.monotonic() < deadline, "slapd does not answer"
                time.sleep(0.05)

    def _add_base(self) -> None:
        self.add(BASE, ["dcObject", "organization"], dc="example", o="Example")
        for name in ("people", "groups"):
            self.add(f"ou={name},{BASE}", ["organizationalUnit"], ou=name)

    def _do(self, action: str, *arguments: object, **named: object) -> None:
        from ldap3 import NONE, Connection, Server
        from ldap3.core.exceptions import LDAPException

        try:
            with Connection(
                Server(self.url, get_info=NONE), ADMIN, SECRET, raise_exceptions=True
            ) as connection:
                getattr(connection, action)(*arguments, **named)
        except LDAPException as error:
            raise OSError(str(error)) from error

    def add(self, dn: str, classes: list[str], **attributes: object) -> None:
        self._do("add", dn, classes, attributes)

    def add_person(self, name: str, password: str, *, email: str | None, cn: str | None = None) -> str:
        """Add a person and return their distinguished name."""
        dn = f"uid={name},{PEOPLE}"
        mail = {} if email is None else {"mail": email}
        self.add(dn, ["inetOrgPerson"], uid=name, cn=cn or name, sn=name, userPassword=password, **mail)
        return dn

    def add_group(self, name: str, *members: str) -> str:
        dn = f"cn={name},{GROUPS}"
        self.add(dn, ["groupOfNames"], cn=name, member=list(members))
        return dn

    def delete(self, dn: str) -> None:
        # A referral itself, not the entry to which it refers.
        self._do("delete", dn, controls=[("2.16.840.1.113730.3.4.2", True, None)])

    def rename(self, dn: str, relative: str) -> None:
        self._do("modify_dn", dn, relative)

    def change(self, dn: str, **attributes: list[str]) -> None:
        self._do("modify", dn, {name: [("MODIFY_REPLACE", values)] for name, values in attributes.items()})

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)
