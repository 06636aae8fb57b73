"""How much is in a body is known before it is decoded."""

import json

import pytest

from octavo.kit.http import dispatcher as http
from octavo.kit.http.json_bounds import has_more_values


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("1", 0),
        ("[]", 1),
        ("[1,2,3]", 3),
        ('{"a":[{},{}]}', 5),
        ('"a, b, [c], {d}"', 0),
        (r'["a\", b, [", "\\", 1]', 3),
        ('["never ended, [[[[', 1),
        (r'["ended by a backslash, [\\', 1),
    ],
)
def test_values_are_counted_outside_of_strings(text, count):
    assert not has_more_values(text.encode(), count)
    assert count == 0 or has_more_values(text.encode(), count - 1)


def test_a_body_with_too_many_values_is_not_decoded(sqlite_world, monkeypatch):
    monkeypatch.setattr(http, "MAX_VALUES", 1000)
    path = sqlite_world.home.path("/orgs/{organizationId}/spaces")
    decode, decoded = http.msgspec.json.decode, []
    monkeypatch.setattr(
        http.msgspec.json, "decode", lambda body, **how: decoded.append(body) or decode(body, **how)
    )
    bodies = ("[" * 2000, json.dumps({"title": "A", "more": [0] * 1001}), json.dumps([{}] * 600))
    for body in bodies:
        answer = sqlite_world.call("admin", "POST", path, content=body.encode())
        assert (answer.status_code, answer.json()["error"]["message"]) == (
            413,
            "body: must contain at most 1,000 values",
        )
    assert not {body.encode() for body in bodies} & {body for body in decoded if isinstance(body, bytes)}
    assert sqlite_world.call("admin", "POST", path, json={"title": "A" + "," * 40}).status_code == 201
