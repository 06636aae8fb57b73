"""Mask personal data and secrets in people's text before it is stored or sent.

Data is recognized only by its format, so a harmless number is occasionally masked. Data without a recognizable format,
such as a name or a postal address, isn't masked. Every pattern runs in time proportional to the length of the text.
"""

from __future__ import annotations

import re

EMAIL, PHONE, CARD, SECRET = "[email]", "[phone]", "[card]", "[secret]"

_EMAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_NUMBER = re.compile(r"(?<![\w.,:/-])(?:\+|\()?\d[\d ().\u00a0/-]{5,28}\d(?![\w-]|[.,:]\d)")
_DATE = re.compile(r"(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2\d{2,4})(?: \d{1,2})?")
_AMERICAN = re.compile(r"(?:1[-. ])?\d{3}([-. ])\d{3}\1\d{4}")
_SECRETS = re.compile(
    r"""
      -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY-----[\s\S]{0,10000}?-----END\ [A-Z ]{0,40}-----
    | (?<=://)[^/\s:@"']{1,100}:[^/\s"'@]{1,200}(?=@)                    # user:password@ in a URL
    | \b(?:Bearer|Basic)\ +[\w.~+/=-]{12,}
    | \beyJ[\w-]{8,}\.[\w-]+\.[\w-]*                                     # JSON Web Tokens
    | \b(?:sk|pk|rk|gh[opsur]|glpat|npm|pypi|xox[abeprs]|whsec|oct|ocs|AIza)[_-][\w-]{12,}
    | \bAIza[\w-]{30,}
    | \bA[KS]IA[0-9A-Z]{16}\b
    | (?:(?<=password\ )|(?<=password:)|(?<=password:\ )|(?<=password=)|(?<=passwd=)|(?<=password\ is\ )
        |(?<=api\ key:\ )|(?<=api_key=)|(?<=apikey=)|(?<=secret=)|(?<=secret:\ )|(?<=token=)|(?<=token:\ ))
      ["']?(?=[^\s"',;&]{0,100}[\d!$%&*#@^_-])[^\s"',;&]{6,200}
    """,
    re.X | re.I,
)
_RANDOM = re.compile(r"(?<![\w/.-])[A-Za-z0-9_+=-]{32,512}(?![\w/.-])")


def mask(text: str) -> str:
    """Return the text with email addresses, phone and card numbers, and the secrets that ``mask_secrets``
    finds masked.

    >>> mask("Write to ann@example.org or +49 30 1234567, card 4111 1111 1111 1111.")
    'Write to [email] or [phone], card [card].'
    """
    text = mask_secrets(text)
    text = _EMAIL.sub(EMAIL, text)
    return _NUMBER.sub(_hide_number, text)


def mask_secrets(text: str) -> str:
    """Return the text with keys, tokens, and passwords masked.

    >>> mask_secrets("Use sk-abcdefghijklmnopqrst for that")
    'Use [secret] for that'
    """
    return _RANDOM.sub(_hide_random, _SECRETS.sub(SECRET, text))


def _hide_random(match: re.Match[str]) -> str:
    """Mask a long run of digits and letters, because it is probably a key. Hyphenated words and lines of one repeated
    character aren't masked."""
    found = match[0]
    mixed = sum(char.isdigit() for char in found) >= 4 and any(char.isalpha() for char in found)
    is_key = mixed and max(len(part) for part in re.split(r"[-_=+]", found)) >= 20
    return SECRET if is_key else found


def _hide_number(match: re.Match[str]) -> str:
    found = match[0]
    digits = [int(char) for char in found if char.isdigit()]
    if 13 <= len(digits) <= 19 and _is_card(digits):
        return CARD
    if not 7 <= len(digits) <= 15 or _DATE.fullmatch(found):
        return found
    begun = found[0] in "+(" or (found[0] == "0" and not found.isdigit())
    return PHONE if begun or _AMERICAN.fullmatch(found) else found


def _is_card(digits: list[int]) -> bool:
    """Return whether the digits pass the Luhn check. Nine out of ten numbers that aren't card numbers fail this
    check."""
    doubled = [digit * 2 - 9 if digit > 4 else digit * 2 for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
