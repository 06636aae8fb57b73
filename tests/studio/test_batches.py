"""Several reads in one request: each part is answered as it is by itself, to each caller."""

from __future__ import annotations

import re

import pytest

from octavo.delivery.studio import batches
from octavo.kit.http.operation import TABLE
from octavo.operations.installation import load_packages
from world import CAST, NOBODY, STRANGER, URL

load_packages()

ADDRESS = f"{URL}{batches.PATH}"
READS = [
    operation
    for operation in TABLE.values()
    if batches._is_part(operation)
    and not re.search(r"\{(?!organizationId|spaceId|pageId)\w+\}", operation.path)
]


def ask(world, who, parts, **options):
    return world.call(who, "POST", ADDRESS, json={"parts": parts}, **options)


def read(answer):
    """The head and the body of each part."""
    assert answer.status_code == 200, answer.text
    lines = answer.text.split("\n")
    heads = [batches.msgspec.json.decode(line) for line in lines[:-1:2]]
    return list(zip(heads, lines[1::2], strict=True))


@pytest.mark.parametrize("who", CAST)
def test_parts_are_answered_as_by_themselves(world, who):
    paths = [world.home.path(operation.path) for operation in READS]
    paths += [world.away.path(operation.path) for operation in READS]
    for start in range(0, len(paths), batches.MOST):
        some = paths[start : start + batches.MOST]
        parts = read(ask(world, who, [{"path": path} for path in some]))
        for path, (head, _) in zip(some, parts, strict=True):
            assert (path, head.get("status", 200)) == (path, world.call(who, "GET", path).status_code)


def test_bodies_are_those_of_the_parts(world):
    paths = [
        world.home.path(path)
        for path in ("/user", "/spaces/{spaceId}", "/spaces/{spaceId}/content/path/{pagePath}?pages=false")
    ]
    for path, (head, body) in zip(
        paths, read(ask(world, "admin", [{"path": p} for p in paths])), strict=True
    ):
        alone = world.call("admin", "GET", path)
        assert body == alone.text
        assert f'"{head["etag"]}"' == alone.headers["etag"].removeprefix("W/")


def test_known_bodies_are_not_sent_again(world):
    path = world.home.path("/spaces/{spaceId}")
    [(head, body)] = read(ask(world, "admin", [{"path": path}]))
    assert body
    [(again, nothing)] = read(ask(world, "admin", [{"path": path, "etag": head["etag"]}]))
    assert (again["status"], nothing) == (304, "")
    # A tag opens nothing: others are refused as without it.
    [(refused, _)] = read(ask(world, STRANGER, [{"path": path, "etag": head["etag"]}]))
    assert refused["status"] == 404


def test_failures_stay_in_their_part(world):
    space = world.home.path("/spaces/{spaceId}")
    parts = read(
        ask(
            world,
            "admin",
            [{"path": p} for p in ("/user", "/spaces/nothing", f"{space}?limit=\0", "user", space)],
        )
    )
    assert [head.get("status", 200) for head, _ in parts] == [200, 404, 400, 400, 200]
    [(head, body)] = read(ask(world, NOBODY, [{"path": "/user"}]))
    assert head["status"] == 401 and '"error"' in body


@pytest.mark.parametrize(
    "path",
    [
        "/user/events",
        "/spaces/{spaceId}/archive",
        "/nowhere",
        "/../openapi.json",
        "/%2e%2e/healthz",
        "/~batch",
    ],
)
def test_streams_files_and_other_urls_are_asked_for_alone(world, path):
    [(head, body)] = read(ask(world, "admin", [{"path": world.home.path(path)}]))
    assert head.get("alone") and body == ""


def test_parts_only_read(world):
    before = world.digest()
    spaces = world.home.path("/orgs/{organizationId}/spaces")
    assert read(ask(world, "admin", [{"path": spaces}]))[0][0].get("status", 200) == 200
    assert world.digest() == before
    assert world.call("admin", "GET", ADDRESS).status_code == 405


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (b"", "body: isn't valid JSON"),
        (b"[]", "body: "),
        (b'{"parts":[]}', "parts: "),
        (b'{"parts":[{}]}', "path: this field is required"),
        (b'{"parts":[{"path":7}]}', "path: "),
        (b'{"parts":[{"path":"/user"}],"method":"DELETE"}', "method"),
        (b'{"parts":[%s]}' % b",".join([b'{"path":"/user"}'] * (batches.MOST + 1)), "parts: "),
        (b'{"parts":[{"path":"%s"}]}' % (b"/" * 70_000), "body: is too large"),
    ],
)
def test_invalid_batches_are_refused(world, body, told):
    answer = world.call("admin", "POST", ADDRESS, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 413) and told in answer.json()["error"]["message"]


def test_forms_of_other_sites_are_refused(world):
    answer = world.call(
        "admin",
        "POST",
        ADDRESS,
        content=b'{"parts":[{"path":"/user"}]}',
        headers={"content-type": "text/plain"},
    )
    assert answer.status_code == 400


def test_each_part_counts(world):
    left = [int(world.call("reader", "GET", "/user").headers["x-ratelimit-remaining"])]
    read(ask(world, "reader", [{"path": "/user"}] * 7))
    left.append(int(world.call("reader", "GET", "/user").headers["x-ratelimit-remaining"]))
    assert left[0] - left[1] == 8
