"""Requests to SAML identity providers, and verification of their responses.

signxml verifies signatures. Known attacks exploit leniency in the code around such a library, so this module requires a
plain structure: one assertion in the expected position, each signature as a child of the only element that it signs,
strong algorithms, and all conditions present and correct. The assertion is read from the bytes whose signature signxml
verified, never from the received document.

The libraries are loaded on the first SAML sign-in, because loading them is slow, and most servers never need them."""

from __future__ import annotations

import base64
import binascii
import re
import secrets
import zlib
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

from octavo.errors import Unauthorized
from octavo.kit.clock import DAY, iso, now, parse_iso

from .certificates import parse_certificates
from .service import Service
from .store import ProviderRow

MAX_BYTES = 512 * 1024
_SKEW = 60_000
_MAX_LIFETIME = DAY

_P = "{urn:oasis:names:tc:SAML:2.0:protocol}"
_A = "{urn:oasis:names:tc:SAML:2.0:assertion}"
_DS = "{http://www.w3.org/2000/09/xmldsig#}"
_BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
_TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
_POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
_UNSPECIFIED = "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified"
_METADATA = "urn:oasis:names:tc:SAML:2.0:metadata"
_SUCCESS = "urn:oasis:names:tc:SAML:2.0:status:Success"

_MORE = "http://www.w3.org/2001/04/xmldsig-more#"
_SIGNATURES = {
    f"{_MORE}{kind}-{digest}" for kind in ("rsa", "ecdsa") for digest in ("sha256", "sha384", "sha512")
}
_DIGESTS = {
    "http://www.w3.org/2001/04/xmlenc#sha256",
    "http://www.w3.org/2001/04/xmldsig-more#sha384",
    "http://www.w3.org/2001/04/xmlenc#sha512",
}
# Comments are excluded. Some providers sign with inclusive C14N, which is safe here because the signed
# element is never moved to another document.
_CANONICAL = {"http://www.w3.org/2001/10/xml-exc-c14n#", "http://www.w3.org/TR/2001/REC-xml-c14n-20010315"}
_ENVELOPED = "http://www.w3.org/2000/09/xmldsig#enveloped-signature"

_DECLARATION = re.compile(rb"\s*<\?xml[^>]*\?>")
_ENCODING = re.compile(rb"encoding\s*=\s*[\"']([^\"']*)[\"']")

_EMAIL_NAMES = (
    "email",
    "mail",
    "emailaddress",
    "e-mail",
    "user.email",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
    "urn:oid:0.9.2342.19200300.100.1.3",
)
_DISPLAY_NAMES = (
    "displayname",
    "name",
    "cn",
    "http://schemas.microsoft.com/identity/claims/displayname",
    "urn:oid:2.16.840.1.113730.3.1.241",
    "urn:oid:2.5.4.3",
)
_GIVEN_NAMES = (
    "givenname",
    "firstname",
    "given_name",
    "first_name",
    "user.firstname",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname",
    "urn:oid:2.5.4.42",
)
_SURNAMES = (
    "surname",
    "lastname",
    "family_name",
    "last_name",
    "sn",
    "user.lastname",
    "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname",
    "urn:oid:2.5.4.4",
)


class RefusedResponse(Unauthorized):
    """Raised if a SAML response is invalid. The message contains the rule that was violated."""


class Assertion(Struct, frozen=True):
    """Verified contents of a response. ``in_response_to``: the ID of the request; None for an IdP-initiated
    sign-in. Times are in milliseconds."""

    id: str
    expires_at: int
    in_response_to: str | None
    subject: str
    email: str | None
    name: str | None


class AuthnRequest(Struct, frozen=True):
    id: str
    encoded: str
    """Request in deflated and base64-encoded form, for the query parameter ``SAMLRequest``."""


def make_request(provider: ProviderRow, service: Service) -> AuthnRequest:
    """Return an unsigned request to sign in."""
    id = f"_{secrets.token_hex(20)}"
    xml = (
        f'<samlp:AuthnRequest xmlns:samlp="{_P[1:-1]}" xmlns:saml="{_A[1:-1]}" ID="{id}" Version="2.0"'
        f' IssueInstant="{iso(now())}" Destination={quoteattr(provider.sso_url)} ProtocolBinding="{_POST}"'
        f" AssertionConsumerServiceURL={quoteattr(service.acs_url)}>"
        f"<saml:Issuer>{escape(service.entity_id)}</saml:Issuer>"
        f'<samlp:NameIDPolicy Format="{_UNSPECIFIED}" AllowCreate="true"/></samlp:AuthnRequest>'
    )
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return AuthnRequest(id, base64.b64encode(packer.compress(xml.encode()) + packer.flush()).decode())


def service_metadata(service: Service) -> bytes:
    """Return the metadata that identity providers import. It doesn't depend on the provider's setup."""
    return (
        f'<?xml version="1.0"?>\n<md:EntityDescriptor xmlns:md="{_METADATA}" entityID={quoteattr(service.entity_id)}>'
        '<md:SPSSODescriptor AuthnRequestsSigned="false" WantAssertionsSigned="false"'
        f' protocolSupportEnumeration="{_P[1:-1]}"><md:NameIDFormat>{_UNSPECIFIED}</md:NameIDFormat>'
        f'<md:AssertionConsumerService Binding="{_POST}" Location={quoteattr(service.acs_url)} index="1"/>'
        "</md:SPSSODescriptor></md:EntityDescriptor>\n"
    ).encode()


def read_response(encoded: str, provider: ProviderRow, service: Service, moment: int) -> Assertion:
    """Verify a SAMLResponse (base64, as posted) at ``moment``, and return its assertion. Raises
    RefusedResponse if it is invalid.

    The caller must check that ``in_response_to`` was requested and that ``id`` hasn't been used before."""
    from lxml import etree

    xml = _decode(encoded)
    try:
        root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.LxmlError as error:
        raise RefusedResponse(f"SAML response: {error}") from None
    assertion = _get_assertion(root)
    signatures = _require_sound_signatures(root, assertion)
    for signature in signatures:
        signed = signature.getparent()
        found = _verify(root, "./" if signed is root else f"./{_A}Assertion/", provider)
        if found.tag != signed.tag or found.get("ID") != signed.get("ID"):
            raise RefusedResponse("SAML response: each signature must cover its parent element")
        assertion = _get_assertion(found) if signed is root else found
    return _read(root, assertion, provider, service, moment)


def _verify(root: Any, location: str, provider: ProviderRow) -> Any:
    """Return the content that the signature at a location covers, parsed from the signed bytes. Raises RefusedResponse
    if none of the provider's certificates verifies the signature."""
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from lxml import etree
    from signxml.exceptions import SignXMLException
    from signxml.verifier import SignatureConfiguration, XMLVerifier

    problem: Exception | None = None
    for encoded in parse_certificates(provider.certificate):
        certificate = x509.load_der_x509_certificate(base64.b64decode(encoded))
        # Providers keep using certificates that have expired. Their key is trusted because it was configured.
        config = SignatureConfiguration(
            location=location,
            verification_time=certificate.not_valid_before_utc,
            ignore_ambiguous_key_info=True,
        )
        try:
            found = XMLVerifier().verify(root, x509_cert=certificate, id_attribute="ID", expect_config=config)
        except (
            SignXMLException,
            UnsupportedAlgorithm,
            etree.LxmlError,
            # Raised for elements without an expected text or attribute.
            AttributeError,
            TypeError,
            ValueError,
        ) as error:
            problem = error
        else:
            assert not isinstance(found, list)  # The signature has exactly one reference.
            return found.signed_xml
    raise RefusedResponse(f"SAML response: the signature isn't valid ({problem})")


def _decode(encoded: str) -> bytes:
    try:
        xml = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        raise RefusedResponse("SAML response: must be valid Base64") from None
    if len(xml) > MAX_BYTES:
        raise RefusedResponse("SAML response: is too large")
    declaration = _DECLARATION.match(xml)
    body = xml[declaration.end() :] if declaration else xml
    encoding = _ENCODING.search(declaration[0]) if declaration else None
    if b"\0" in xml or (encoding and encoding[1].lower() not in (b"utf-8", b"us-ascii")):
        raise RefusedResponse("SAML response: must be encoded in UTF-8")
    # No DTD, entities, CDATA, processing instructions, or comments, which could split a name.
    if b"<!" in body or b"<?" in body or not body.lstrip().startswith(b"<"):
        raise RefusedResponse(
            "SAML response: must contain only plain elements, without a DTD, comments, or CDATA"
        )
    return xml


def _get_assertion(root: Any) -> object:
    """Return the single assertion of a response. Raises RefusedResponse if it isn't in the expected position."""
    if root.tag != f"{_P}Response":
        raise RefusedResponse("SAML response: the root element must be a Response")
    assertions = list(root.iter(f"{_A}Assertion", f"{_A}EncryptedAssertion"))
    if len(assertions) != 1 or assertions[0].getparent() is not root or assertions[0].tag != f"{_A}Assertion":
        raise RefusedResponse(
            "SAML response: must contain exactly one unencrypted assertion, directly in the Response"
        )
    if len(list(root.iter(f"{_P}Response"))) != 1:
        raise RefusedResponse("SAML response: must contain exactly one Response")
    ids = [element.get(name) for element in root.iter() for name in ("ID", "Id", "id") if element.get(name)]
    if len(ids) != len(set(ids)):
        raise RefusedResponse("SAML response: each element must have its own ID")
    return assertions[0]


def _require_sound_signatures(root: Any, assertion: Any) -> list[Any]:
    """Return the signatures. The signature of the assertion comes last. Raises RefusedResponse if a signature is in an
    unexpected position or has unsupported properties."""
    signatures = list(root.iter(f"{_DS}Signature"))
    if not signatures:
        raise RefusedResponse("SAML response: must be signed")
    if len(signatures) > 2 or len({id(s.getparent()) for s in signatures}) != len(signatures):
        raise RefusedResponse("SAML response: contains too many signatures")
    for signature in signatures:
        signed = signature.getparent()
        if signed is not root and signed is not assertion:
            raise RefusedResponse("SAML response: contains a signature in the wrong place")
        if [child.tag for child in signature][:2] != [f"{_DS}SignedInfo", f"{_DS}SignatureValue"] or any(
            child.tag not in (f"{_DS}SignedInfo", f"{_DS}SignatureValue", f"{_DS}KeyInfo")
            for child in signature
        ):
            raise RefusedResponse("SAML response: a signature contains unsupported elements")
        info = signature[0]
        if [child.tag for child in info] != [
            f"{_DS}CanonicalizationMethod",
            f"{_DS}SignatureMethod",
            f"{_DS}Reference",
        ]:
            raise RefusedResponse("SAML response: each signature must cover exactly one element")
        canonical, method, reference = info
        transforms = [t.get("Algorithm") for t in reference.iter(f"{_DS}Transform")]
        digest = reference.find(f"{_DS}DigestMethod")
        if (
            canonical.get("Algorithm") not in _CANONICAL
            or method.get("Algorithm") not in _SIGNATURES
            or digest is None
            or digest.get("Algorithm") not in _DIGESTS
        ):
            raise RefusedResponse("SAML response: a signature uses an unsupported algorithm")
        if transforms[:1] != [_ENVELOPED] or len(transforms) > 2 or not set(transforms[1:]) <= _CANONICAL:
            raise RefusedResponse("SAML response: a signature uses an unsupported transform")
        if not signed.get("ID") or reference.get("URI") != f"#{signed.get('ID')}":
            raise RefusedResponse("SAML response: each signature must cover its parent element")
    return sorted(signatures, key=lambda signature: signature.getparent() is assertion)


def _require_once(parent: Any, name: str) -> Any:
    found = parent.findall(name)
    if len(found) != 1:
        raise RefusedResponse(f"SAML response: must have exactly one {name.rpartition('}')[2]}")
    return found[0]


def _require_success(root: Any) -> None:
    if any(element.get("Version") != "2.0" for element in (root, *root.iter(f"{_A}Assertion"))):
        raise RefusedResponse("SAML response: must have version 2.0")
    code = _require_once(_require_once(root, f"{_P}Status"), f"{_P}StatusCode").get("Value")
    if code != _SUCCESS:
        raise RefusedResponse(f"SAML response: the provider rejected the sign-in ({code})")


def _read(root: Any, assertion: Any, provider: ProviderRow, service: Service, moment: int) -> Assertion:
    _require_success(root)
    issuers = [*root.findall(f"{_A}Issuer"), _require_once(assertion, f"{_A}Issuer")]
    if any(_text(issuer) != provider.entity_id for issuer in issuers):
        raise RefusedResponse("SAML response: must come from the issuer in the provider's settings")
    if root.get("Destination") not in (None, service.acs_url):
        raise RefusedResponse("SAML response: must have this server's URL as its destination")
    conditions = _require_once(assertion, f"{_A}Conditions")
    restrictions = conditions.findall(f"{_A}AudienceRestriction")
    if not restrictions or any(
        service.entity_id not in [_text(a) for a in restriction.findall(f"{_A}Audience")]
        for restriction in restrictions
    ):
        raise RefusedResponse("SAML response: must have this server's entity ID as its audience")
    _require_time(conditions, moment)
    session_ends = _time(_require_once(assertion, f"{_A}AuthnStatement").get("SessionNotOnOrAfter"))
    if session_ends is not None and moment >= session_ends + _SKEW:
        raise RefusedResponse("SAML response: the provider's session has expired")
    subject_element = _require_once(assertion, f"{_A}Subject")
    confirmed = [
        data
        for confirmation in subject_element.iterfind(f"{_A}SubjectConfirmation")
        if confirmation.get("Method") == _BEARER
        and (data := confirmation.find(f"{_A}SubjectConfirmationData")) is not None
        and data.get("Recipient") == service.acs_url
    ]
    if len(confirmed) != 1:
        raise RefusedResponse("SAML response: must have this server's URL as its recipient")
    expires_at = _require_time(confirmed[0], moment, needs_end=True)
    asked = {
        found for found in (root.get("InResponseTo"), confirmed[0].get("InResponseTo")) if found is not None
    }
    if len(asked) > 1 or (asked and confirmed[0].get("InResponseTo") is None):
        raise RefusedResponse("SAML response: must belong to a single sign-in request")
    name_element = _require_once(subject_element, f"{_A}NameID")
    name_id = _text(name_element)
    email = _attribute(assertion, _EMAIL_NAMES) or (name_id if "@" in name_id else None)
    transient = name_element.get("Format") == _TRANSIENT
    subject = f"email:{(email or '').lower()}" if transient else name_id
    if not name_id or len(subject) > 512 or (transient and email is None):
        raise RefusedResponse("SAML response: must identify a person")
    return Assertion(
        id=assertion.get("ID"),
        expires_at=expires_at + _SKEW,
        in_response_to=next(iter(asked), None),
        subject=subject,
        email=email.lower()
        if email and re.fullmatch(r"[^\s@]+@[^\s@]+", email) and len(email) <= 320
        else None,
        name=_display_name(assertion),
    )


def _require_time(element: Any, moment: int, *, needs_end: bool = False) -> int:
    """Raise RefusedResponse if ``moment`` isn't between NotBefore and NotOnOrAfter of ``element``. Return NotOnOrAfter,
    or if it is missing, a day after ``moment``."""
    begins, ends = _time(element.get("NotBefore")), _time(element.get("NotOnOrAfter"))
    if needs_end and ends is None:
        raise RefusedResponse("SAML response: must have an expiration time")
    if (begins is not None and moment < begins - _SKEW) or (ends is not None and moment >= ends + _SKEW):
        raise RefusedResponse("SAML response: has expired or isn't valid yet")
    if ends is not None and ends - moment > _MAX_LIFETIME:
        raise RefusedResponse("SAML response: must not be valid for more than a day")
    return ends if ends is not None else moment + _MAX_LIFETIME


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_iso(text)
    except ValueError:
        raise RefusedResponse("SAML response: contains an invalid time") from None


def _text(element: Any) -> str:
    """Return the text of an element, or an empty string if it contains other elements."""
    return "" if len(element) else (element.text or "").strip()


def _attribute(assertion: Any, names: tuple[str, ...]) -> str | None:
    for attribute in assertion.iterfind(f"{_A}AttributeStatement/{_A}Attribute"):
        if (attribute.get("Name") or "").lower() in names:
            for value in attribute.findall(f"{_A}AttributeValue"):
                if text := _text(value):
                    return text
    return None


def _display_name(assertion: object) -> str | None:
    whole = _attribute(assertion, _DISPLAY_NAMES)
    parts = [part for names in (_GIVEN_NAMES, _SURNAMES) if (part := _attribute(assertion, names))]
    found = whole or " ".join(parts)
    return found[:100] if found else None
