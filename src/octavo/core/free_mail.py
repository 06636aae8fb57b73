"""Domains of public email providers, which no organization can claim.

The list contains large providers and isn't meant to be complete: claiming a domain always requires a DNS record or the
server administrator's confirmation. Lists with thousands of names also contain domains of companies and universities.
"""

from __future__ import annotations

import re

_FAMILIES = re.compile(
    r"(?:aol|gmx|hotmail|live|mail|msn|outlook|proton|protonmail|rocketmail|tuta|tutanota|windowslive|"
    r"yahoo|yandex|ymail)"
    r"\.(?:com|net|org|me|io|[a-z]{2}|com?\.[a-z]{2})"
)
"""Providers that have domains in many countries."""
_OTHERS = frozenset(
    {
        "126.com",
        "139.com",
        "163.com",
        "21cn.com",
        "aim.com",
        "aliyun.com",
        "aol.com",
        "att.net",
        "bellsouth.net",
        "bigpond.com",
        "bk.ru",
        "bluewin.ch",
        "btinternet.com",
        "caramail.com",
        "charter.net",
        "comcast.net",
        "cox.net",
        "daum.net",
        "disroot.org",
        "duck.com",
        "earthlink.net",
        "email.com",
        "email.cz",
        "fastmail.com",
        "fastmail.fm",
        "foxmail.com",
        "free.fr",
        "freemail.hu",
        "freenet.de",
        "gmail.com",
        "googlemail.com",
        "guerrillamail.com",
        "hanmail.net",
        "hey.com",
        "hushmail.com",
        "icloud.com",
        "inbox.com",
        "inbox.lv",
        "inbox.ru",
        "interia.pl",
        "laposte.net",
        "libero.it",
        "list.ru",
        "mac.com",
        "mailbox.org",
        "mailfence.com",
        "mailinator.com",
        "me.com",
        "my.com",
        "nate.com",
        "naver.com",
        "o2.pl",
        "onet.pl",
        "op.pl",
        "orange.fr",
        "pm.me",
        "posteo.de",
        "posteo.net",
        "qq.com",
        "rambler.ru",
        "rediffmail.com",
        "riseup.net",
        "runbox.com",
        "sapo.pt",
        "sbcglobal.net",
        "seznam.cz",
        "sfr.fr",
        "shaw.ca",
        "sina.com",
        "sky.com",
        "sohu.com",
        "t-online.de",
        "tiscali.it",
        "tutamail.com",
        "ukr.net",
        "uol.com.br",
        "usa.com",
        "vk.com",
        "verizon.net",
        "virgilio.it",
        "virginmedia.com",
        "vivaldi.net",
        "wanadoo.fr",
        "web.de",
        "wp.pl",
        "xs4all.nl",
        "ya.ru",
        "yeah.net",
        "zoho.com",
        "zoho.eu",
        "zohomail.com",
    }
)


def is_free_mail(domain: str) -> bool:
    """Return whether a lowercase domain belongs to a public email provider.

    >>> is_free_mail("gmail.com"), is_free_mail("yahoo.co.uk"), is_free_mail("example.com")
    (True, True, False)
    """
    return domain in _OTHERS or _FAMILIES.fullmatch(domain) is not None
