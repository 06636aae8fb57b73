"""Headers made from user content: no file name, redirect, title, or path splits a response."""

from __future__ import annotations

import re
from urllib.parse import quote, urlsplit

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from octavo.delivery.reader.answers import redirect
from octavo.kit.files import FileGrant, file_headers
from visiting import Visitor
from world import World

HOSTILE = [
    "a\r\nSet-Cookie: split=1\r\n\r\n<script>",
    "a\nSet-Cookie: split=1",
    "a\rSet-Cookie: split=1",
    "a\x00b",
    "a\u010d\u010aSet-Cookie: split=1",  # whose low bytes are CR and LF
    'a"; filename="b',
    "\u2028\x85\x0b\x7f",
]
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@given(st.text(min_size=1))
@example(HOSTILE[0])
@example(HOSTILE[4])
def test_the_name_of_a_file_is_one_header_parameter(name: str) -> None:
    if not name.isprintable() and any(0xD800 <= ord(letter) < 0xE000 for letter in name):
        return  # no such name can be stored
    grant = FileGrant(hash="k", name=name, content_type="text/plain", good_until=None)
    for value in file_headers(grant).values():
        assert not _CONTROL.search(value) and value.isascii()
    said = file_headers(grant)["Content-Disposition"]
    assert re.fullmatch(r"attachment; filename=\"[^\"\\\\]*\"; filename\*=UTF-8''[\w.%~-]*", said)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_stored_url_cannot_split_a_redirect(text: str) -> None:
    """Older stored URLs were not checked for such characters."""
    assert not _CONTROL.search(redirect(f"https://example.com/{text}").headers["location"])


@pytest.mark.sqlite_first
@pytest.mark.parametrize("text", HOSTILE)
def test_user_text_cannot_inject_response_headers(world: World, text: str) -> None:
    """The client of these tests refuses any header with a control character."""
    place = world.home
    site = place.path("/orgs/{organizationId}/sites/{siteId}")
    base = urlsplit(world.post("admin", f"{site}/publish")["urls"]["published"]).path
    visitor = Visitor(world.context)
    for source, url in (
        ("/hostile", f"https://example.com/{text}"),
        ("/query", f"https://example.com/?q={text}"),
        (f"/{text}", "https://example.com/"),
    ):
        body = {"source": source, "destination": {"kind": "url", "url": url}}
        made = world.call("admin", "POST", f"{site}/redirects", json=body)
        assert made.status_code in (201, 400), made.text
        answer = visitor.get(base + quote(source.lstrip("/")))
        assert "split" not in answer.cookies and answer.status_code in (307, 404)
        assert (answer.status_code == 307) <= (made.status_code == 201)
    space = place.path("/spaces/{spaceId}")
    renamed = world.call("admin", "PATCH", space, json={"title": text})
    assert renamed.status_code in (200, 400)
    archive = world.call("admin", "GET", f"{space}/archive")
    assert archive.status_code == 200 and re.fullmatch(
        r"attachment; filename\*=UTF-8''[\w.%~-]+", archive.headers["content-disposition"]
    )
    for path in (
        quote(text),
        f"{quote(text)}/",
        f"a/../{quote(text)}",
        f"?q={quote(text)}",
        f"a.md?q={quote(text)}",
    ):
        assert visitor.get(base + path).status_code < 500
