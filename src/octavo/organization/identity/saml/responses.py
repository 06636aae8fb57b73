"""Verification of SAML responses.

python3-saml checks schema, signatures, and conditions. It is lenient where identity providers differ, and
known attacks exploit leniency. So a response that it accepts must also have the plain shape required here:
one assertion in its place, each signature a child of the element that it signs and of nothing else, strong
algorithms, and every condition present, not only correct if present. Only that assertion is read afterwards.

The libraries are loaded at the first SAML sign-in: loading takes long, and most servers never need them.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from octavo.core.url_parts import own_address
from octavo.errors import Unauthorized
from octavo.kit.clock import parse_iso

from .certificates import parse_certificates
from .service import Service
from .store import ProviderRow

if TYPE_CHECKING:
    from onelogin.saml2.settings import OneLogin_Saml2_Settings

MAX_BYTES = 512 * 1024
_SKEW = 60_000
_MAX_LIFETIME = 24 * 3_600_000

_P = "{urn:oasis:names:tc:SAML:2.0:protocol}"
_A = "{urn:oasis:names:tc:SAML:2.0:assertion}"
_DS = "{http://www.w3.org/2000/09/xmldsig#}"
_BEARER = "urn:oasis:names:tc:SAML:2.0:cm:bearer"
_TRANSIENT = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"
_POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"
_REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"

_MORE = "http://www.w3.org/2001/04/xmldsig-more#"
_SIGNATURES = {
    f"{_MORE}{kind}-{digest}" for kind in ("rsa", "ecdsa") for digest in ("sha256", "sha384", "sha512")
}
_DIGESTS = {
    "http://www.w3.org/2001/04/xmlenc#sha256",
    "http://www.w3.org/2001/04/xmldsig-more#sha384",
    "http://www.w3.org/2001/04/xmlenc#sha512",
}
# Without comments. Some providers sign with inclusive C14N, which is safe here because the signed element is never
# moved into another document.
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
    """Invalid SAML response. The message names the rule it breaks."""


class Assertion(Struct, frozen=True):
    """Verified contents of a response. ``in_response_to`` is None for an IdP-initiated sign-in. Times in
    milliseconds."""

    id: str
    expires_at: int
    in_response_to: str | None
    subject: str
    email: str | None
    name: str | None


def _settings(provider: ProviderRow, service: Service) -> OneLogin_Saml2_Settings:
    from onelogin.saml2.settings import OneLogin_Saml2_Settings

    return OneLogin_Saml2_Settings(
        {
            "strict": True,
            "sp": {
                "entityId": service.entity_id,
                "assertionConsumerService": {"url": service.acs_url, "binding": _POST},
                "NameIDFormat": "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified",
            },
            "idp": {
                "entityId": provider.entity_id,
                "singleSignOnService": {"url": provider.sso_url, "binding": _REDIRECT},
                "x509certMulti": {"signing": parse_certificates(provider.certificate), "encryption": []},
            },
            "security": {
                "requestedAuthnContext": False,
                "wantAttributeStatement": False,
                "rejectDeprecatedAlgorithm": True,
                "allowSingleLabelDomains": True,
                "wantAssertionsSigned": False,
                "wantMessagesSigned": False,
            },
        }
    )


class AuthnRequest(Struct, frozen=True):
    id: str
    encoded: str
    """Deflated and base64-encoded, for the query parameter SAMLRequest."""


def make_request(provider: ProviderRow, service: Service) -> AuthnRequest:
    from onelogin.saml2.authn_request import OneLogin_Saml2_Authn_Request

    made = OneLogin_Saml2_Authn_Request(_settings(provider, service))
    return AuthnRequest(made.get_id(), made.get_request())


def service_metadata(service: Service) -> bytes:
    """Return the metadata that identity providers import, which doesn't depend on the provider's setup."""
    from onelogin.saml2.settings import OneLogin_Saml2_Settings

    sp = {
        "entityId": service.entity_id,
        "assertionConsumerService": {"url": service.acs_url, "binding": _POST},
    }
    shown = OneLogin_Saml2_Settings(
        {"strict": True, "sp": sp, "security": {"allowSingleLabelDomains": True}}, sp_validation_only=True
    )
    metadata = shown.get_sp_metadata()
    return metadata.encode() if isinstance(metadata, str) else bytes(metadata)


def read_response(encoded: str, provider: ProviderRow, service: Service, moment: int) -> Assertion:
    """Verify a SAMLResponse (base64, as posted) at ``moment`` and return its assertion. Raises
    RefusedResponse.

    The caller must check that ``in_response_to`` was requested and that ``id`` has not been used before.
    """
    import xmlsec
    from lxml import etree
    from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
    from onelogin.saml2.response import OneLogin_Saml2_Response

    xml = _decode(encoded)
    try:
        # Without comments, DTD, or instructions, this parser and python3-saml's own see the same elements.
        root = etree.fromstring(xml, etree.XMLParser(resolve_entities=False, no_network=True))
        assertion = _get_assertion(root)
        _require_sound_signatures(root, assertion)
        response = OneLogin_Saml2_Response(_settings(provider, service), base64.b64encode(xml).decode())
        response.is_valid(_request_data(service.acs_url), raise_exceptions=True)
    except (
        OneLogin_Saml2_Error,
        OneLogin_Saml2_ValidationError,
        etree.LxmlError,
        xmlsec.Error,
        ValueError,
    ) as error:
        raise RefusedResponse(f"SAML response: {error}") from None
    return _read(root, assertion, provider, service, moment)


def _decode(encoded: str) -> bytes:
    try:
        xml = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        raise RefusedResponse("SAML response: must be valid base64") from None
    if len(xml) > MAX_BYTES:
        raise RefusedResponse("SAML response: too large")
    declaration = _DECLARATION.match(xml)
    body = xml[declaration.end() :] if declaration else xml
    encoding = _ENCODING.search(declaration[0]) if declaration else None
    if b"\0" in xml or (encoding and encoding[1].lower() not in (b"utf-8", b"us-ascii")):
        raise RefusedResponse("SAML response: must be encoded in UTF-8")
    # No DTD, entities, CDATA, processing instructions, or comments that split a name.
    if b"<!" in body or b"<?" in body or not body.lstrip().startswith(b"<"):
        raise RefusedResponse(
            "SAML response: must contain plain elements only, without DTD, comments, or CDATA"
        )
    return xml


def _get_assertion(root: Any) -> object:
    """Return the single assertion of a response. Raises RefusedResponse when it is not in its place."""
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
        raise RefusedResponse("SAML response: two elements have the same ID")
    return assertions[0]


def _require_sound_signatures(root: Any, assertion: Any) -> None:
    signatures = list(root.iter(f"{_DS}Signature"))
    if not signatures:
        raise RefusedResponse("SAML response: must be signed")
    if len(signatures) > 2 or len({id(s.getparent()) for s in signatures}) != len(signatures):
        raise RefusedResponse("SAML response: has too many signatures")
    for signature in signatures:
        signed = signature.getparent()
        if signed is not root and signed is not assertion:
            raise RefusedResponse("SAML response: a signature is in the wrong place")
        if [child.tag for child in signature][:2] != [f"{_DS}SignedInfo", f"{_DS}SignatureValue"] or any(
            child.tag not in (f"{_DS}SignedInfo", f"{_DS}SignatureValue", f"{_DS}KeyInfo")
            for child in signature
        ):
            raise RefusedResponse("SAML response: a signature contains unexpected elements")
        info = signature[0]
        if [child.tag for child in info] != [
            f"{_DS}CanonicalizationMethod",
            f"{_DS}SignatureMethod",
            f"{_DS}Reference",
        ]:
            raise RefusedResponse("SAML response: a signature must cover exactly one element")
        canonical, method, reference = info
        transforms = [t.get("Algorithm") for t in reference.iter(f"{_DS}Transform")]
        digest = reference.find(f"{_DS}DigestMethod")
        if (
            canonical.get("Algorithm") not in _CANONICAL
            or method.get("Algorithm") not in _SIGNATURES
            or digest is None
            or digest.get("Algorithm") not in _DIGESTS
        ):
            raise RefusedResponse("SAML response: is signed with an unsupported algorithm")
        if transforms[:1] != [_ENVELOPED] or len(transforms) > 2 or not set(transforms[1:]) <= _CANONICAL:
            raise RefusedResponse("SAML response: is signed with an unsupported transform")
        if not signed.get("ID") or reference.get("URI") != f"#{signed.get('ID')}":
            raise RefusedResponse("SAML response: a signature covers another element than its parent")


def _request_data(acs_url: str) -> dict[str, str]:
    parts = own_address(acs_url)
    return {
        "https": "on" if parts.scheme == "https" else "off",
        "http_host": parts.authority,
        "script_name": parts.path,
    }


def _read(root: Any, assertion: Any, provider: ProviderRow, service: Service, moment: int) -> Assertion:
    issuers = [root.find(f"{_A}Issuer"), assertion.find(f"{_A}Issuer")]
    if issuers[1] is None or any(i is not None and _text(i) != provider.entity_id for i in issuers):
        raise RefusedResponse("SAML response: comes from another issuer")
    if root.get("Destination") not in (None, service.acs_url):
        raise RefusedResponse("SAML response: is intended for another destination")
    conditions = assertion.find(f"{_A}Conditions")
    restrictions = [] if conditions is None else conditions.findall(f"{_A}AudienceRestriction")
    if not restrictions or any(
        service.entity_id not in [_text(a) for a in restriction.findall(f"{_A}Audience")]
        for restriction in restrictions
    ):
        raise RefusedResponse("SAML response: is intended for another audience")
    _require_time(conditions, moment)
    confirmed = [
        data
        for confirmation in assertion.iterfind(f"{_A}Subject/{_A}SubjectConfirmation")
        if confirmation.get("Method") == _BEARER
        and (data := confirmation.find(f"{_A}SubjectConfirmationData")) is not None
        and data.get("Recipient") == service.acs_url
    ]
    if len(confirmed) != 1:
        raise RefusedResponse("SAML response: is intended for another recipient")
    expires_at = _require_time(confirmed[0], moment, needs_end=True)
    asked = {
        found for found in (root.get("InResponseTo"), confirmed[0].get("InResponseTo")) if found is not None
    }
    if len(asked) > 1 or (asked and confirmed[0].get("InResponseTo") is None):
        raise RefusedResponse("SAML response: belongs to another request")
    name_ids = assertion.findall(f"{_A}Subject/{_A}NameID")
    if len(name_ids) != 1:
        raise RefusedResponse("SAML response: names no one")
    name_id = _text(name_ids[0])
    email = _attribute(assertion, _EMAIL_NAMES) or (name_id if "@" in name_id else None)
    transient = name_ids[0].get("Format") == _TRANSIENT
    subject = f"email:{(email or '').lower()}" if transient else name_id
    if not name_id or len(subject) > 512 or (transient and email is None):
        raise RefusedResponse("SAML response: names no one")
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
    """Raise RefusedResponse outside NotBefore and NotOnOrAfter of ``element``. Return NotOnOrAfter, or a day
    from ``moment``."""
    begins, ends = _time(element.get("NotBefore")), _time(element.get("NotOnOrAfter"))
    if needs_end and ends is None:
        raise RefusedResponse("SAML response: has no expiration time")
    if (begins is not None and moment < begins - _SKEW) or (ends is not None and moment >= ends + _SKEW):
        raise RefusedResponse("SAML response: expired or not valid yet")
    if ends is not None and ends - moment > _MAX_LIFETIME:
        raise RefusedResponse("SAML response: is valid for longer than a day")
    return ends if ends is not None else moment + _MAX_LIFETIME


def _time(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_iso(text)
    except ValueError:
        raise RefusedResponse("SAML response: contains an invalid time") from None


def _text(element: Any) -> str:
    """Return the text of an element, or "" when it contains other elements."""
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
