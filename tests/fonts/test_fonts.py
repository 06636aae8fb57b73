"""Fonts made from uploaded files."""

import httpx
import pytest

from world import NOBODY

FONTS = "/orgs/{organizationId}/fonts"
WOFF2 = b"wOF2 a font"


def begin(world, data=WOFF2, kind="customization_font", who="admin", place=None):
    file = {"name": "regular.woff2", "type": "font/woff2", "size": len(data)}
    path = (place or world.home).path("/orgs/{organizationId}/storage/upload")
    return world.post(who, path, {"file": file, "kind": kind})


def uploaded(world, data=WOFF2, **options):
    upload = begin(world, data, **options)
    assert world.call(NOBODY, "PUT", upload["url"], content=data).is_success
    return upload["key"]


def make(world, faces, family="Playfair"):
    body = {"fontFamily": family, "fontFaces": [{"weight": w, "storageKey": key} for w, key in faces]}
    return world.call("admin", "PUT", world.home.path(FONTS), json=body)


def weights(font):
    return [face["weight"] for face in font["fontFaces"]]


def test_a_font_is_created_updated_and_deleted(world):
    regular, bold = uploaded(world), uploaded(world, b"wOFF bold")
    font = make(world, [(700, bold), (400, regular)]).json()
    assert (font["fontFamily"], font["custom"], weights(font)) == ("Playfair", True, [400, 700])
    assert [face["sources"][0]["format"] for face in font["fontFaces"]] == ["woff2", "woff"]
    url = httpx.URL(font["fontFaces"][0]["sources"][0]["url"])
    grant = world.context.files.verify("content", url.path.split("/")[2])
    assert world.context.files.read(grant.hash) == WOFF2
    path = f"{world.home.path(FONTS)}/{font['id']}"
    assert world.get("reader", path)["permissions"] == {"edit": False}
    black = uploaded(world, b"wOF2 black", who="creator")
    changes = [{"weight": 700, "storageKey": None}, {"weight": 900, "storageKey": black}]
    changed = world.call("creator", "POST", path, json={"fontFamily": "New", "fontFaces": changes})
    assert (changed.status_code, changed.json()["fontFamily"]) == (201, "New")
    assert weights(world.get("admin", path)) == [400, 900]
    assert world.call("admin", "DELETE", path).status_code == 205
    assert world.call("admin", "DELETE", path).status_code == 204
    with world.context.db.read() as tx:
        left = {row[0] for row in tx.all("SELECT hash FROM unused WHERE kind = 'file'")}
    assert grant.hash in left, "its bytes go when nobody else has them"


def test_the_regular_weight_is_required(world):
    assert make(world, [(700, uploaded(world))]).status_code == 412
    font = make(world, [(400, uploaded(world))]).json()
    path = f"{world.home.path(FONTS)}/{font['id']}"
    gone = {"fontFaces": [{"weight": 400, "storageKey": None}]}
    assert world.call("admin", "POST", path, json=gone).status_code == 412
    assert weights(world.get("admin", path)) == [400]


@pytest.mark.sqlite_first
def test_upload_keys_must_belong_to_the_caller_and_be_fonts(world):
    assert make(world, [(400, begin(world)["key"])]).status_code == 400
    assert make(world, [(400, uploaded(world, who="stranger", place=world.away))]).status_code == 404
    assert make(world, [(400, uploaded(world, who="creator"))]).status_code == 404
    assert make(world, [(400, uploaded(world, kind="import_file"))]).status_code == 404
    assert make(world, [(400, "../../secret")]).status_code == 404
    assert make(world, [(400, uploaded(world)), (400, uploaded(world))]).status_code == 412


@pytest.mark.parametrize("data", [b"<svg onload=alert(1)>", b"OTTO", b"\0\1\0\0", b"wOF"])
def test_only_fonts_are_fonts(world, data):
    before = world.get("admin", world.home.path(FONTS))
    assert make(world, [(400, uploaded(world, data))]).status_code == 412
    assert world.get("admin", world.home.path(FONTS)) == before
