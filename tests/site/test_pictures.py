"""Tests of images that an organization uploads to customize its sites."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from visiting import Visitor
from world import NOBODY

PICTURES = "/orgs/{organizationId}/pictures"
PNG = b"\x89PNG\r\n\x1a\n and what a picture has"
SVG = b"<?xml version='1.0'?>\n<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"


def upload(world, data, name="logo.png", kind="customization_picture", who="admin"):
    file = {"name": name, "type": "text/html", "size": len(data)}
    given = world.post(
        who, world.home.path("/orgs/{organizationId}/storage/upload"), {"file": file, "kind": kind}
    )
    assert world.call(NOBODY, "PUT", given["url"], content=data).is_success
    return given["key"]


def make(world, key, who="admin"):
    return world.call(who, "POST", world.home.path(PICTURES), json={"storageKey": key})


@pytest.mark.parametrize(
    ("data", "name", "type"),
    [
        (PNG, "logo 1.png", "image/png"),
        (SVG, "logo.svg", "image/svg+xml"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "l.webp", "image/webp"),
    ],
)
def test_images_are_public_until_they_are_deleted(world, data, name, type):
    made = make(world, upload(world, data, name))
    assert made.status_code == 201, made.text
    picture = made.json()
    assert (picture["name"], picture["size"]) == (name, len(data))
    visitor = Visitor(world.context)
    path = urlsplit(picture["url"]).path
    shown = visitor.get(path)
    assert (shown.status_code, shown.content) == (200, data)
    assert shown.headers["content-type"] == type
    # Opened by itself, it cannot execute anything.
    assert "sandbox" in shown.headers["content-security-policy"]
    assert visitor.get(path.replace(picture["id"], "nothing")).status_code == 404
    assert visitor.get(f"{path}x").status_code == 404
    listed = world.get("reader", world.home.path(PICTURES))["items"]
    assert picture in listed
    one = f"{world.home.path(PICTURES)}/{picture['id']}"
    assert world.call("reader", "DELETE", one).status_code == 403
    assert world.call("creator", "DELETE", one).status_code == 205
    assert world.call("creator", "DELETE", one).status_code == 204
    assert visitor.get(path).status_code == 404


@pytest.mark.sqlite_first
def test_invalid_and_foreign_images_are_refused(world):
    for data in (b"<html><script></script>", b"MZ\x90", b"", b"%PDF-1.7"):
        if data:
            answer = make(world, upload(world, data))
            assert answer.status_code == 400, answer.text
            assert answer.json()["error"]["message"].startswith("storageKey: ")
    assert make(world, upload(world, PNG, kind="customization_font")).status_code == 404
    assert make(world, upload(world, PNG), who="creator").status_code == 404
    assert make(world, upload(world, PNG), who="editor").status_code == 403
