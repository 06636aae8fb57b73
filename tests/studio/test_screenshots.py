"""Screenshots of the manual, each of a view that this test opens.

They are recorded with ``OCTAVO_TEST_RECORD=docs/.gitbook/assets pytest -n 0 tests/studio/test_screenshots.py``.
"""

from __future__ import annotations

import io
import os
import re
from pathlib import Path
from typing import Any

import pytest

from .conftest import App

pytestmark = pytest.mark.slow

ASSETS = Path(__file__).parents[2] / "docs/.gitbook/assets"
DESKTOP = {"width": 1440, "height": 900}
READING = {"width": 1280, "height": 760}
LARGEST = 118_000
"""Bytes of a screenshot; `tests/test_docs.py` allows no larger ones."""


def take(page: Any, name: str, width: int = 0) -> None:
    """Record a screenshot under a name, scaled to a width if one is given, or check that the manual has it."""
    page.evaluate("document.fonts.ready")
    # Icons and previews appear a moment after the text.
    page.wait_for_timeout(2000)
    size = page.viewport_size
    visible = page.evaluate("document.documentElement.clientWidth")
    clip = {"x": 0, "y": 0, "width": visible, "height": size["height"]}
    shot = page.screenshot(animations="disabled", clip=clip)
    folder = os.environ.get("OCTAVO_TEST_RECORD")
    if folder is None:
        assert (ASSETS / name).is_file()
        return
    from PIL import Image

    image = Image.open(io.BytesIO(shot)).convert("RGB")
    if width:
        image = image.resize((width, round(image.height * width / image.width)), Image.Resampling.LANCZOS)
    if name.endswith(".png"):
        image.quantize(256, Image.Quantize.MAXCOVERAGE).save(Path(folder) / name, optimize=True)
        return
    quality = 85
    while True:
        image.save(Path(folder) / name, quality=quality, optimize=True)
        if (Path(folder) / name).stat().st_size < LARGEST:
            return
        quality -= 5


@pytest.fixture(scope="module")
def manual(app: App) -> dict[str, str]:
    """Return the IDs of the space and site of the manual, and the URL of the site."""
    app.call("PATCH", f"/users/{app.call('GET', '/user')['id']}", {"displayName": "Ines Okafor"})
    sites = f"/orgs/{app.organization}/sites"
    (site,) = (each for each in app.call("GET", sites)["items"] if each["title"] == "Octavo manual")
    shown = app.call("GET", f"{sites}/{site['id']}/site-spaces")["items"][0]
    return {"site": site["id"], "space": shown["space"]["id"], "url": site["urls"]["published"]}


def read(app: App, url: str, viewport: dict[str, int], **options: Any) -> Any:
    """Open a page of a site as an anonymous visitor."""
    page = app.watch(app.browser.new_context(viewport=viewport, reduced_motion="reduce", **options))
    page.goto(url)
    return page


def close(page: Any) -> None:
    page.context.close()


def test_published_pages_and_search(app: App, manual: dict[str, str]) -> None:
    page = read(app, f"{manual['url']}quickstart", {"width": 1280, "height": 800})
    take(page, "page.png")
    page.set_viewport_size(READING)
    page.goto(manual["url"])
    page.keyboard.press("/")
    page.get_by_role("dialog").get_by_role("combobox").fill("invite people")
    page.get_by_role("dialog").get_by_text("Invitations", exact=True).first.wait_for()
    take(page, "search.jpg")
    close(page)


@pytest.mark.parametrize("theme", ["clean", "muted", "bold", "gradient"])
def test_themes(app: App, manual: dict[str, str], theme: str) -> None:
    path = f"/orgs/{app.organization}/sites/{manual['site']}/customization"
    link = {"kind": "url", "url": "https://example.com/"}
    header = {
        "preset": "default",
        "links": [
            {"title": "Guides", "to": link, "style": "link", "links": [{"title": "Tides", "to": link}]},
            {"title": "Blog", "to": link, "style": "link", "links": []},
            {"title": "Sign in", "to": link, "style": "button-secondary", "links": []},
            {"title": "Start", "to": link, "style": "button-primary", "links": []},
        ],
    }
    app.call("PUT", path, {"styling": {"theme": theme}, "header": header})
    page = read(app, f"{manual['url']}sites/structure", READING)
    page.get_by_role("link", name="Start", exact=True).first.wait_for()
    take(page, f"theme-{theme}.png", 884)
    close(page)
    app.call("PUT", path, {})


def test_structure_of_a_site(app: App, manual: dict[str, str]) -> None:
    org = f"/orgs/{app.organization}"
    site = app.call("POST", f"{org}/sites", {"title": "Handbook", "spaces": [manual["space"]]})["id"]
    path = f"{org}/sites/{site}"
    made: dict[str, str] = {}
    for title, icon, description in (
        ("Guides", "book", ""),
        ("Payments", "credit-card", "Take payments online"),
        ("Identity", "fingerprint", "Verify your customers"),
        ("Developers", "code", ""),
        ("Changelog", "clock", ""),
    ):
        space = app.fill_space(title, ["Start"])
        section = {"spaceId": space, "title": title, "icon": icon}
        made[title] = app.call("POST", f"{path}/sections", section)["id"]
        app.call("PATCH", f"{path}/sections/{made[title]}", {"description": description or None})
    products = [made["Payments"], made["Identity"]]
    app.call(
        "POST", f"{path}/section-groups", {"title": "Products", "icon": "bag-shopping", "sections": products}
    )
    shown = app.call("GET", f"{path}/site-spaces")["items"]
    (first,) = (one for one in shown if one["space"]["id"] == manual["space"])
    app.call("PATCH", f"{path}/site-spaces/{first['id']}", {"title": "English"})
    norwegian = app.fill_space("Norsk", ["Start"])
    app.call("POST", f"{path}/site-spaces", {"spaceId": norwegian, "sectionId": first["section"]})
    page = read(app, f"{app.call('POST', f'{path}/publish')['urls']['published']}sites/structure", READING)
    page.locator(".sections details").filter(has_text="Products").first.evaluate("one => (one.open = true)")
    take(page, "structure.png", 884)
    close(page)


def test_editing_reviewing_and_customizing(app: App, manual: dict[str, str]) -> None:
    changes = f"/spaces/{manual['space']}/change-requests"
    page = app.open(f"/o/{app.organization}/sites/{manual['site']}/~/look", viewport=DESKTOP)
    page.get_by_text("Gradient").first.click()
    page.get_by_text("Unsaved changes").first.wait_for()
    take(page, "look.jpg")
    close(page)

    change = app.call("POST", changes, {"subject": "Explain what make serve prints"})["number"]
    pages = app.call("GET", f"/spaces/{manual['space']}/content/pages")["pages"]
    (quickstart,) = (one for one in pages if one["title"] == "Quickstart")
    source = app.call("GET", f"/spaces/{manual['space']}/content/page/{quickstart['id']}?format=markdown")
    text = source["markdown"].replace("about a minute.", "about a minute, later ones a second or two.")
    text = text.replace(
        "prints the URLs and the token.", "prints the URLs, the token, and a link that signs you in."
    )
    update = {"operation": "update_page", "page": quickstart["id"], "document": {"markdown": text}}
    app.call("POST", f"{changes}/{change}/content", {"changes": [update]})
    app.call("PATCH", f"{changes}/{change}", {"status": "open"})
    comment = {"body": {"markdown": "Is that true on a small server, too?"}}
    app.call("POST", f"{changes}/{change}/comments", comment)
    page = app.open(f"/s/{manual['space']}/~/changes/{change}/~/review", viewport=READING)
    page.get_by_text("later ones a second or two").first.wait_for()
    take(page, "review.jpg")
    close(page)

    draft = app.call("POST", changes, {"subject": "Publish in five steps"})["number"]
    page = app.open(f"/s/{manual['space']}/~/changes/{draft}/sites/publishing", viewport=DESKTOP)
    page.get_by_role("textbox", name="Page content", exact=True).get_by_text(
        re.compile("^A site")
    ).first.click()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    page.keyboard.type("/ta")
    page.get_by_role("listbox", name="Insert", exact=True).wait_for()
    take(page, "app.jpg")
    close(page)
