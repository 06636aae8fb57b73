"""Two SAML identity providers by different authors, each behind HTTP: pysaml2 signing with xmlsec, and
flask-saml2, which signs by itself. Also keys, certificates, and crafted responses that no honest provider
sends."""

from __future__ import annotations

import base64
import datetime
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import httpx
import werkzeug.serving
import xmlsec
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import NameOID
from lxml import etree

from settled import PATIENCE

POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"


class Keys:
    """A private key with its certificate, as PEM. Generated lazily, because generation is slow."""

    def __init__(self, name: str = "idp.test", bits: int = 2048, days: int = 30) -> None:
        """``days`` until the certificate expires."""
        self._name, self._bits, self._days = name, bits, days

    @property
    def key(self) -> str:
        return self._made[0]

    @property
    def certificate(self) -> str:
        return self._made[1]

    @cached_property
    def _made(self) -> tuple[str, str]:
        key = rsa.generate_private_key(65537, self._bits)
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self._name)])
        moment = datetime.datetime.now(datetime.UTC)
        certificate = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(moment - datetime.timedelta(days=90))
            .not_valid_after(moment + datetime.timedelta(days=self._days))
            .sign(key, hashes.SHA256())
        )
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        return pem.decode(), certificate.public_bytes(serialization.Encoding.PEM).decode()


@contextmanager
def served(app: Any) -> Iterator[str]:
    """Serve a WSGI application on a free port, and return its URL."""
    server = werkzeug.serving.make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join(PATIENCE)
        server.server_close()


def posted_form(page: str) -> tuple[str, dict[str, str]]:
    """Return the target and fields of the form on a page, as a browser submits it."""
    form = re.search(r"<form[^>]*>", page, re.I)
    assert form is not None, page
    action = re.search(r'action="([^"]*)"', form[0])
    fields = {}
    for tag in re.findall(r"<input[^>]*>", page, re.I):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        if name:
            fields[unescape(name[1])] = unescape(value[1]) if value else ""
    return unescape(action[1]) if action else "", fields


class Provider(NamedTuple):
    """Running identity provider: the data that Octavo needs, and functions. ``log_in(url)``: sign in there
    with a browser and return the form to submit to Octavo, as its target and fields. ``trust(metadata)``:
    tell the provider about Octavo. ``who``: the person whom pysaml2 asserts."""

    entity_id: str
    sso_url: str
    certificate: str
    log_in: Callable[[str], tuple[str, dict[str, str]]]
    trust: Callable[[bytes], None]
    who: dict[str, Any] | None = None


# --- pysaml2 ------------------------------------------------------------------------------------------


def _signed(statement: Any, key_file: str, node_id: str) -> str:
    root = etree.fromstring(statement if isinstance(statement, bytes) else str(statement).encode())
    xmlsec.tree.add_ids(root, ["ID"])
    signed = next(e for e in root.iter() if e.get("ID") == node_id)
    node = xmlsec.tree.find_child(signed, xmlsec.constants.NodeSignature)
    context = xmlsec.SignatureContext()
    context.key = xmlsec.Key.from_file(key_file, xmlsec.constants.KeyDataFormatPem)
    context.sign(node)
    return etree.tostring(root, encoding="unicode")


@contextmanager
def pysaml2_provider(folder: Path) -> Iterator[Provider]:
    """Run a provider that asserts ``who``: ``name_id`` and ``attributes``."""
    # Takes a second to import, which only those who use it spend.
    from saml2 import sigver
    from saml2.config import IdPConfig
    from saml2.saml import NAMEID_FORMAT_PERSISTENT, NameID
    from saml2.server import Server
    from werkzeug.wrappers import Request, Response

    keys = Keys()
    (folder / "idp.key").write_text(keys.key)
    (folder / "idp.crt").write_text(keys.certificate)
    known: dict[str, Any] = {}
    who: dict[str, Any] = {}

    def app(environ: Any, start_response: Any) -> Any:
        request = Request(environ)
        server: Server = known["server"]
        if request.path == "/unsolicited":
            sp, acs, in_response_to = request.args["sp"], request.args["acs"], None
        else:
            asked = server.parse_authn_request(request.args["SAMLRequest"], REDIRECT).message
            sp, acs, in_response_to = asked.issuer.text, asked.assertion_consumer_service_url, asked.id
        answer = server.create_authn_response(
            who["attributes"],
            in_response_to,
            acs,
            sp,
            name_id=NameID(text=who["name_id"], format=NAMEID_FORMAT_PERSISTENT),
            authn={"class_ref": "urn:oasis:names:tc:SAML:2.0:ac:classes:Password", "authn_auth": "me"},
            sign_response=True,
            sign_assertion=True,
            sign_alg="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
            digest_alg="http://www.w3.org/2001/04/xmlenc#sha256",
        )
        page = server.apply_binding(POST, str(answer), acs, request.args.get("RelayState", ""), response=True)
        return Response(page["data"], mimetype="text/html")(environ, start_response)

    class Xmlsec(sigver.CryptoBackend):
        """pysaml2 signs through the xmlsec1 program; here through the same library in this process."""

        def sign_statement(self, statement: Any, node_name: str, key_file: str, node_id: str) -> str:
            return _signed(statement, key_file, node_id)

    original = sigver._get_xmlsec_cryptobackend
    sigver._get_xmlsec_cryptobackend = lambda *a, **k: Xmlsec()
    try:
        with served(app) as base:
            config = IdPConfig().load(
                {
                    "entityid": f"{base}/metadata",
                    "xmlsec_binary": "/bin/true",
                    "key_file": str(folder / "idp.key"),
                    "cert_file": str(folder / "idp.crt"),
                    "service": {
                        "idp": {
                            "endpoints": {"single_sign_on_service": [(f"{base}/sso", REDIRECT)]},
                            "want_authn_requests_signed": False,
                            "policy": {
                                "default": {"lifetime": {"minutes": 5}, "attribute_restrictions": None}
                            },
                        }
                    },
                }
            )
            known["server"] = Server(config=config)
            known["server"].metadata = config.load_metadata({"inline": []})

            def trust(metadata: bytes) -> None:
                known["server"].metadata.load("inline", metadata.decode())

            def log_in(url: str) -> tuple[str, dict[str, str]]:
                return posted_form(httpx.get(url).text)

            yield Provider(f"{base}/metadata", f"{base}/sso", keys.certificate, log_in, trust, who)
    finally:
        sigver._get_xmlsec_cryptobackend = original


# --- flask-saml2 --------------------------------------------------------------------------------------


@contextmanager
def flask_saml2_provider() -> Iterator[Provider]:
    """Run a provider with one user, ada@example.org, with a password."""
    import flask
    from flask_saml2.idp import IdentityProvider, SPHandler
    from flask_saml2.signing import RsaSha256Signer, Sha256Digester
    from flask_saml2.utils import certificate_from_string, private_key_from_string

    class Handler(SPHandler):
        def format_datetime(self, value: datetime.datetime) -> str:
            return value.strftime("%Y-%m-%dT%H:%M:%SZ")

    class Company(IdentityProvider):
        idp_digester_class = Sha256Digester
        idp_signer_class = RsaSha256Signer

        def get_sp_handlers(self) -> Iterator[SPHandler]:
            return (Handler(self, **options) for options in known)

        def login_required(self) -> None:
            if not self.is_user_logged_in():
                flask.abort(401)

        def is_user_logged_in(self) -> bool:
            return "user" in flask.session

        def get_current_user(self) -> str:
            return str(flask.session["user"])

        def get_user_nameid(self, user: str, attribute: str) -> str:
            return user

    keys = Keys()
    known: list[dict[str, str]] = []
    company = Company()
    app = flask.Flask("company")
    app.secret_key = "for tests"
    app.config["SAML2_IDP"] = {
        "certificate": certificate_from_string(keys.certificate),
        "private_key": private_key_from_string(keys.key),
    }
    app.register_blueprint(company.create_blueprint(), url_prefix="/saml")

    @app.post("/login")
    def log_in_here() -> str:
        if flask.request.form["password"] != "lovelace":
            flask.abort(401)
        flask.session["user"] = "ada@example.org"
        return "welcome"

    with served(app) as base:

        def log_in(url: str) -> tuple[str, dict[str, str]]:
            with httpx.Client(follow_redirects=True) as browser:
                browser.post(f"{base}/login", data={"password": "lovelace"}).raise_for_status()
                return posted_form(browser.get(url).text)

        def trust(metadata: bytes) -> None:
            root = etree.fromstring(metadata)
            service = root.find(".//{*}AssertionConsumerService")
            assert service is not None
            known.append({"entity_id": str(root.get("entityID")), "acs_url": str(service.get("Location"))})

        yield Provider(f"{base}/saml/metadata.xml", f"{base}/saml/login/", keys.certificate, log_in, trust)


# --- responses made by hand ---------------------------------------------------------------------------

NS = {
    "p": "urn:oasis:names:tc:SAML:2.0:protocol",
    "a": "urn:oasis:names:tc:SAML:2.0:assertion",
    "ds": "http://www.w3.org/2000/09/xmldsig#",
}


def instant(seconds: int) -> str:
    moment = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def response_xml(
    *,
    issuer: str,
    audience: str,
    recipient: str,
    name_id: str = "ada",
    email: str = "ada@example.org",
    id: str = "_assertion",
    in_response_to: str | None = None,
    begins: int = -60,
    ends: int = 300,
    destination: str | None = None,
) -> str:
    asked = f' InResponseTo="{in_response_to}"' if in_response_to else ""
    return f"""<p:Response xmlns:p="{NS["p"]}" xmlns:a="{NS["a"]}" ID="_response" Version="2.0"
 IssueInstant="{instant(0)}" Destination="{destination or recipient}"{asked}><a:Issuer>{issuer}</a:Issuer><p:Status>
<p:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:Success"/></p:Status><a:Assertion ID="{id}" Version="2.0"
 IssueInstant="{instant(0)}"><a:Issuer>{issuer}</a:Issuer><a:Subject><a:NameID>{name_id}</a:NameID>
<a:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:bearer"><a:SubjectConfirmationData
 NotOnOrAfter="{instant(ends)}" Recipient="{recipient}"{asked}/></a:SubjectConfirmation></a:Subject><a:Conditions
 NotBefore="{instant(begins)}" NotOnOrAfter="{instant(ends)}"><a:AudienceRestriction><a:Audience>{audience}</a:Audience>
</a:AudienceRestriction></a:Conditions><a:AuthnStatement AuthnInstant="{instant(0)}"><a:AuthnContext>
<a:AuthnContextClassRef>urn:oasis:names:tc:SAML:2.0:ac:classes:Password</a:AuthnContextClassRef></a:AuthnContext>
</a:AuthnStatement><a:AttributeStatement><a:Attribute Name="email"><a:AttributeValue>{email}</a:AttributeValue>
</a:Attribute></a:AttributeStatement></a:Assertion></p:Response>"""


def sign(
    xml: str,
    keys: Keys,
    *,
    element: str = "a:Assertion",
    method: Any = xmlsec.constants.TransformRsaSha256,
    digest: Any = xmlsec.constants.TransformSha256,
    canonical: Any = xmlsec.constants.TransformExclC14N,
    secret: bytes | None = None,
) -> etree._Element:
    """Return the document with an enveloped signature of one element; ``secret``: use HMAC with these bytes
    as the key."""
    root = etree.fromstring(xml)
    signed = root if element == "p:Response" else root.find(element, NS)
    assert signed is not None
    node = xmlsec.template.create(signed, canonical, method, ns="ds")
    signed.insert(1, node)
    reference = xmlsec.template.add_reference(node, digest, uri=f"#{signed.get('ID')}")
    xmlsec.template.add_transform(reference, xmlsec.constants.TransformEnveloped)
    xmlsec.template.add_transform(reference, canonical)
    info = xmlsec.template.ensure_key_info(node)
    xmlsec.template.add_x509_data(info)
    xmlsec.tree.add_ids(root, ["ID"])
    context = xmlsec.SignatureContext()
    if secret is not None:
        context.key = xmlsec.Key.from_binary_data(xmlsec.constants.KeyDataHmac, secret)
    else:
        context.key = xmlsec.Key.from_memory(keys.key, xmlsec.constants.KeyDataFormatPem)
        context.key.load_cert_from_memory(keys.certificate, xmlsec.constants.KeyDataFormatPem)
    context.sign(node)
    return root


def encoded(document: Any) -> str:
    raw = document if isinstance(document, (str, bytes)) else etree.tostring(document)
    return base64.b64encode(raw.encode() if isinstance(raw, str) else raw).decode()


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
