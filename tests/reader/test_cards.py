"""Preview images of pages: what the visitor sees, in the style of the site, with any content."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import msgspec
import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from markupsafe import Markup

from octavo.delivery.reader import card_scripts
from octavo.delivery.reader.card_scripts import SCRIPTS, find_scripts
from octavo.delivery.reader.cards import Card, Cards, card_of
from octavo.delivery.reader.styling import read_look
from octavo.delivery.reader.views import Crumb, SitePageView, SiteView, ThemedImage
from octavo.kit.processes.image_conversion import redraw
from octavo.operations.admin.import_export import import_space
from octavo.sites.site.customization.model import Customization
from octavo.sites.site.store import find_site_of_space
from visiting import Visitor
from world import World

pytestmark = pytest.mark.sqlite_first

SVG = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 60"><rect width="200" height="60" fill="#c03"/></svg>'
FILES = {
    "SUMMARY.md": "* [Home](README.md)\n* [Guide](guide.md)\n* [Hidden](hidden.md)\n* [Members](members.md)\n",
    "README.md": "# Home\n",
    "guide.md": "---\ndescription: All of it\n---\n\n# Guide\n",
    "hidden.md": "---\nhidden: true\n---\n\n# Hidden\n",
    "members.md": "---\nif: visitor.claims.member\n---\n\n# Members\n",
}
IMAGE = re.compile(r'<meta property="og:image" content="([^"]*)">')


@pytest.fixture(scope="module")
def cards() -> Cards:
    return Cards("", "")


def a_card(
    title: str, *, about: str = "", language: str = "en", logo: str | None = None, **styling: object
) -> Card:
    look = read_look(msgspec.convert({"styling": styling}, Customization), language, (), "/~assets")
    site = SiteView(
        title="Docs",
        home="/",
        brand="/",
        base="/",
        assets="/~assets",
        language=language,
        direction="rtl" if language == "ar" else "ltr",
        logo=ThemedImage(light=logo) if logo else None,
    )
    page = SitePageView(title=title, body=Markup(""), description=about, crumbs=(Crumb(title="Guides"),))
    return card_of(page, site, look)


def size(png: bytes) -> tuple[int, int]:
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


HOSTILE = [
    "",
    "#panic(1) $ x ] ) } \\",
    '"); import sys #read("/etc/passwd")',
    "\x00\x01\ud800\u202e\ufffe".encode("utf-8", "replace").decode(),
    "x" * 5000,
    "long " * 5000,
    "🚀" * 300,
    "漢字" * 300,
    "a\u0300\u0301\u0302" * 500,
]


@pytest.mark.parametrize("title", HOSTILE)
def test_any_title_has_an_image(cards: Cards, title: str) -> None:
    card = a_card(title, about=title, language=title[:40] or "en")
    assert size(cards.draw(msgspec.structs.replace(card, site=title, above=title))) == (1200, 630)


@pytest.mark.parametrize(
    "theme",
    ["bold", *(pytest.param(theme, marks=pytest.mark.slow) for theme in ("clean", "muted", "gradient"))],
)
def test_each_style_has_a_different_image(cards: Cards, theme: str) -> None:
    plain = cards.draw(a_card("Publish", theme=theme))
    assert plain != cards.draw(a_card("Publish", theme=theme, primaryColor={"light": "#f00", "dark": "#f00"}))
    assert plain != cards.draw(a_card("Publish", theme=theme, font="Merriweather"))
    assert plain != cards.draw(a_card("Publish", theme=theme, language="ar"))


def a_font(folder: Path, text: str) -> None:
    """Return a font whose glyphs are all boxes."""
    builder = FontBuilder(1000, isTTF=True)
    names = {ord(character): f"u{ord(character):x}" for character in text}
    builder.setupGlyphOrder([".notdef", *names.values()])
    builder.setupCharacterMap(names)
    pen = TTGlyphPen(None)
    pen.moveTo((100, 0))
    for point in ((100, 700), (900, 700), (900, 0)):
        pen.lineTo(point)
    pen.closePath()
    glyph = pen.glyph()
    builder.setupGlyf({name: glyph for name in [".notdef", *names.values()]})
    builder.setupHorizontalMetrics({name: (1000, 100) for name in [".notdef", *names.values()]})
    builder.setupHorizontalHeader(ascent=800, descent=-200)
    builder.setupNameTable({"familyName": "Boxes", "styleName": "Regular"})
    builder.setupOS2(sTypoAscender=800, usWinAscent=800, usWinDescent=200)
    builder.setupPost()
    builder.save(folder / "boxes.ttf")


SPOKEN = {
    "zh": "如何發布網站",
    "zh-Hans": "如何发布网站",
    "ja": "サイトを公開する方法",
    "ko": "사이트를 게시하는 방법",
    "ar": "كيفية نشر الموقع",
    "he": "כיצד לפרסם אתר",
    "th": "วิธีเผยแพร่เว็บไซต์",
    "hi": "साइट कैसे प्रकाशित करें",
}


@pytest.mark.parametrize(("language", "title"), SPOKEN.items())
def test_titles_in_scripts_of_the_world_are_shown(cards: Cards, language: str, title: str) -> None:
    fonts = cards._load("Inter", find_scripts(title, language))
    assert [character for character in title if not fonts.have(character)] == []
    assert cards.draw(a_card(title, language=language)) != cards.draw(a_card("", language=language))


def test_each_language_has_its_own_letter_shapes() -> None:
    assert find_scripts("設定", "ja") == ("japanese", "chinese")
    assert find_scripts("設定", "zh") == find_scripts("設定", "en") == ("chinese", "japanese")
    assert find_scripts("設定する", "en") == ("japanese", "chinese")
    assert find_scripts("Settings, Настройки", "ja") == ()


def test_every_font_of_a_script_has_its_license() -> None:
    folder = Path(card_scripts.__file__).parent / "card_fonts"
    used = {name for script in SCRIPTS.values() for name in script.files}
    assert used == {path.name for path in folder.glob("*.woff*")}
    licenses = {path.stem for path in folder.glob("*.LICENSE")}
    assert all(any(name.startswith(one) for one in licenses) for name in used)


def test_letters_without_a_font_are_omitted(cards: Cards, tmp_path: Path) -> None:
    untitled, titled = a_card(""), a_card("ප්‍රකාශනය")
    assert cards.draw(titled) == cards.draw(untitled)
    # Symbols alone can't make a title misleading.
    assert cards.draw(a_card("Ship 🚀 it")) == cards.draw(a_card("Ship it"))
    a_font(tmp_path, "ප්‍රකාශනය")
    further = Cards(str(tmp_path), "")
    assert further.draw(titled) != further.draw(untitled) == cards.draw(untitled)


def test_a_logo_is_redrawn_in_a_separate_process() -> None:
    png = redraw(SVG, 520, 72)
    assert png is not None and size(png) == (480, 144)
    wide = redraw(SVG.replace(b"200 60", b"2000 60"), 520, 72)
    assert wide is not None and size(wide)[0] == 1040


BOMB = (
    b'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 9 9">'
    b'<g id="a0"><rect width="1" height="1"/></g>'
    + b"".join(b'<g id="a%d">%s</g>' % (n, b'<use xlink:href="#a%d"/>' % (n - 1) * 10) for n in range(1, 12))
    + b"</svg>"
)


@pytest.mark.parametrize(
    "given", [b"", b"nothing", b"<html></html>", b"\x89PNG\r\n\x1a\n" + bytes(50), BOMB], ids=range(5)
)
def test_invalid_images_are_not_used_as_a_logo(given: bytes) -> None:
    assert redraw(given, 520, 72) is None


def test_a_missing_logo_falls_back_to_the_title(cards: Cards) -> None:
    # The URL is on this machine, from which nothing is fetched.
    with_logo = a_card("Publish", logo="http://127.0.0.1:9/logo.png")
    assert cards.draw(with_logo) == cards.draw(a_card("Publish"))


class Site:
    def __init__(self, world: World, folder: Path) -> None:
        for name, content in FILES.items():
            (folder / name).write_text(content)
        organization = world.home["organizationId"]
        brought = import_space(
            world.context, str(folder), organization_id=organization, title="Docs", publish=True
        )
        with world.context.db.read() as tx:
            site = find_site_of_space(tx, brought.outcome.space)
        self.path = f"/orgs/{organization}/sites/{site}"
        self.url: str = world.get("admin", self.path)["urls"]["published"]
        pages = world.get("admin", f"/spaces/{brought.outcome.space}/content/pages")["pages"]
        self.pages = {page["title"]: page["id"] for page in pages}
        self.world, self._visitor = world, Visitor(world.context)

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self._visitor.get(urlsplit(self.url).path + path, **headers)


@pytest.fixture
def site(world: World, tmp_path: Path) -> Site:
    return Site(world, tmp_path)


def test_pages_name_their_image(site: Site) -> None:
    found = IMAGE.search(site.get("guide").text)
    assert found is not None and found[1].startswith(f"{site.url}~image/{site.pages['Guide']}.png?v=")
    answer = site.get(found[1].removeprefix(site.url))
    assert answer.status_code == 200 and answer.headers["content-type"] == "image/png"
    assert size(answer.content) == (1200, 630)
    assert answer.headers["cache-control"] == "public, max-age=3600"
    again = site.get(found[1].removeprefix(site.url), **{"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    # The URL changes with the content of the image.
    site.world.call("admin", "PUT", f"{site.path}/customization", json={"title": "Other"})
    other = IMAGE.search(site.get("guide").text)
    assert other is not None and other[1] != found[1]


def test_an_image_of_the_site_takes_precedence(site: Site) -> None:
    body = {"socialPreview": {"url": "https://example.com/social.png"}}
    assert site.world.call("admin", "PUT", f"{site.path}/customization", json=body).status_code == 200
    assert IMAGE.findall(site.get("guide").text) == ["https://example.com/social.png"]


def test_missing_pages_have_no_image(site: Site) -> None:
    for name in (site.pages["Members"], "nobody", "", ".", f"{site.pages['Guide']}.svg"):
        assert site.get(f"~image/{name}.png").status_code == 404, name
    assert site.get(f"~image/{site.pages['Guide']}").status_code == 404
    assert site.get(f"~image/{site.pages['Hidden']}.png").status_code == 200


def test_images_of_closed_sites_are_not_cached_by_proxies(site: Site) -> None:
    body = {"visibility": "visitor-auth"}
    assert site.world.call("admin", "PATCH", site.path, json=body).status_code == 200
    answer = site.get(f"~image/{site.pages['Guide']}.png")
    assert answer.status_code in (307, 404) and "public" not in answer.headers.get("cache-control", "")
