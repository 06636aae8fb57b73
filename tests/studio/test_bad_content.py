"""Pages with broken content stay readable and can be edited."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import expect

from settled import PATIENCE

from .conftest import App

pytestmark = pytest.mark.slow


def test_a_page_with_240_broken_links_and_images_that_never_load_is_edited(app: App) -> None:
    space = app.create_space("Broken")
    links = [f"[Link {n}]({'README' if n % 5 < 2 else f'missing-{n}'}.md)" for n in range(400)]
    images = [f"![](https://images.example/{n}.png)" for n in range(10)]
    markdown = "# Page\n\n" + "\n\n".join([*links, *images]) + "\n\nEnd.\n"
    changes = f"/spaces/{space}/change-requests"
    made = app.call("POST", changes, {"subject": "Words"})
    page = {"operation": "insert_page", "slug": "page", "title": "Page", "document": {"markdown": markdown}}
    app.call("POST", f"{changes}/{made['id']}/content", {"changes": [page]})
    shown = app.open(f"/s/{space}/~/changes/{made['number']}/page")
    text = shown.get_by_role("textbox", name="Page content")
    text.get_by_text("End.").click()
    shown.keyboard.press("End")
    shown.keyboard.type(" Typed.")
    saved = f"{changes}/{made['number']}/content/path/page?format=markdown"
    end = time.monotonic() + PATIENCE
    while "End. Typed." not in str(app.call("GET", saved)["markdown"]) and time.monotonic() < end:
        time.sleep(0.1)
    # Nothing else in the file has changed.
    assert app.call("GET", saved)["markdown"] == markdown.replace("End.", "End. Typed.")
    expect(text.locator(".broken")).to_have_count(240)
    shown.context.close()
