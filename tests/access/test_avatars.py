"""Tests of the photos that people upload for their account."""

from __future__ import annotations

import base64
import io
from typing import Any
from urllib.parse import urlsplit

import pytest
from PIL import Image

from octavo.organization.access import avatars
from octavo.organization.access.accounts import erase_account, find_user
from visiting import Visitor
from world import World

OWN = "/user/avatar"


def photo(kind: str, size: tuple[int, int] = (600, 300), **options: Any) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, "teal").save(out, kind, **options)
    return out.getvalue()


def upload(world: World, image: bytes, who: str = "editor") -> Any:
    return world.call(who, "PUT", OWN, json={"image": base64.b64encode(image).decode()})


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_a_photo_is_stored_as_a_small_png(kind: str) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # displayed rotated by 90 degrees
    exif[0x010E] = "a secret place"
    data = photo(kind, **({"exif": exif} if kind == "JPEG" else {}))
    stored = avatars.read_avatar(base64.b64encode(data).decode())
    with Image.open(io.BytesIO(stored)) as image:
        assert (image.format, image.size) == ("PNG", (128, 256) if kind == "JPEG" else (256, 128))
    assert b"secret" not in stored


def test_a_photo_is_shown_until_it_is_replaced_or_removed(world: World) -> None:
    visitor = Visitor(world.context)
    urls = []
    for _ in range(2):
        answer = upload(world, photo("PNG"))
        assert answer.status_code == 200, answer.text
        urls.append(answer.json()["photoURL"])
    assert world.get("editor", "/user")["photoURL"] == urls[1] != urls[0]
    person = world.get("reader", f"/users/{world.users['editor']}")
    assert person["photoURL"] == urls[1] and urls[1].startswith(world.context.settings.sites_url)
    old, new = (urlsplit(url).path for url in urls)
    assert visitor.get(old).status_code == 404
    shown = visitor.get(new)
    assert (shown.status_code, shown.headers["content-type"]) == (200, "image/png")
    assert shown.headers["cross-origin-resource-policy"] == "cross-origin"
    # A new URL of all sites is a new URL of the photo.
    with world.context.db.write() as tx:
        avatars.update_photo_urls(tx, "https://docs.example.com/")
        moved = find_user(tx, world.users["editor"])
        assert moved is not None and moved.photo_url == f"https://docs.example.com{new}"
    assert world.call("reader", "DELETE", OWN).status_code == 204
    assert world.call("editor", "DELETE", OWN).status_code == 205
    assert "photoURL" not in world.get("editor", "/user") and visitor.get(new).status_code == 404
    # A photo elsewhere replaces the uploaded one, and a deleted account has none.
    path = urlsplit(upload(world, photo("PNG")).json()["photoURL"]).path
    elsewhere = {"photoURL": "https://photos.example.com/1.png"}
    person = world.call("editor", "PATCH", f"/users/{world.users['editor']}", json=elsewhere).json()
    assert person["photoURL"] == elsewhere["photoURL"] and visitor.get(path).status_code == 404
    path = urlsplit(upload(world, photo("PNG")).json()["photoURL"]).path
    with world.context.db.write() as tx:
        erase_account(tx, world.users["editor"])
        assert tx.value("SELECT count(*) FROM avatars") == 0
    assert visitor.get(path).status_code == 404


def test_other_files_are_refused(world: World) -> None:
    bomb = photo("PNG").replace((600).to_bytes(4, "big"), (60_000).to_bytes(4, "big"), 1)
    svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    for image, said in (
        (svg, "must be a PNG, JPEG, WebP, or GIF"),
        (b"", "must be a PNG"),
        (photo("PNG")[:60], "can't be read"),
        (bomb, "can't be read"),
        (b"GIF8" * 2_200_000, "at most 8 MB"),
    ):
        answer = upload(world, image)
        assert answer.status_code == 400 and said in answer.json()["error"]["message"], answer.text
    assert "Base64" in world.call("editor", "PUT", OWN, json={"image": "*"}).json()["error"]["message"]
    large = world.call("editor", "PUT", OWN, json={"image": "A" * avatars.MAX_AVATAR * 2})
    assert large.status_code == 413, large.text
    assert "photoURL" not in world.get("editor", "/user")


def test_the_picture_of_a_team_is_shown_until_it_is_removed(world: World) -> None:
    org = f"/orgs/{world.home['organizationId']}"
    team = world.call("admin", "PUT", f"{org}/teams", json={"title": "Writers"}).json()["id"]
    place = f"{org}/teams/{team}/picture"
    image = {"image": base64.b64encode(photo("PNG")).decode()}
    assert world.call("editor", "PUT", place, json=image).status_code == 403
    svg = base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg'/>").decode()
    assert world.call("admin", "PUT", place, json={"image": svg}).status_code == 400
    url = world.call("admin", "PUT", place, json=image).json()["picture"]
    assert world.get("admin", f"{org}/teams/{team}")["picture"] == url
    visitor = Visitor(world.context)
    assert visitor.get(urlsplit(url).path).headers["content-type"] == "image/png"
    assert world.call("admin", "DELETE", place).is_success
    assert "picture" not in world.get("admin", f"{org}/teams/{team}")
    assert visitor.get(urlsplit(url).path).status_code == 404
    # A deleted team takes its picture with it.
    url = world.call("admin", "PUT", place, json=image).json()["picture"]
    world.call("admin", "DELETE", f"{org}/teams/{team}")
    assert visitor.get(urlsplit(url).path).status_code == 404
