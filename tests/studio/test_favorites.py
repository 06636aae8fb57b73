"""Favorites in the app: added with the star, the keyboard, and menus, sorted, and shown in the navigation."""

from __future__ import annotations

from playwright.sync_api import expect

from settled import until

from .conftest import App


def test_favorites_are_added_sorted_and_removed(app: App) -> None:
    space = app.fill_space("Turbines", ["Start", "Blades"])
    page = app.open(f"/s/{space}/blades")
    star = page.get_by_role("button", name="Favorite", exact=True)
    star.click()
    page.get_by_text("Added to favorites").wait_for()
    expect(star).to_have_attribute("aria-pressed", "true")
    page.get_by_role("treeitem", name="Start").click()
    page.get_by_role("heading", name="Start", level=1).wait_for()
    page.locator(".sheet [aria-pressed=false][aria-label=Favorite]").wait_for()
    page.get_by_role("heading", name="Start", level=1).click()
    page.keyboard.press("s")
    page.locator(".sheet [aria-pressed=true][aria-label=Favorite]").wait_for()
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search or jump to").fill("add space to fav")
    page.get_by_role("option", name="Add space to favorites").wait_for()
    page.keyboard.press("Enter")
    page.get_by_role("button", name="More in this space").click()
    page.get_by_role("menuitem", name="Remove space from favorites").wait_for()
    page.keyboard.press("Escape")
    page.goto(app.url)
    rows = (
        page.get_by_role("navigation", name="Main").get_by_role("list", name="Favorites").get_by_role("link")
    )
    expect(rows).to_have_text(["Blades", "Start", "Turbines"])
    rows.nth(2).focus()
    page.keyboard.press("Alt+Shift+ArrowUp")
    page.keyboard.press("Alt+Shift+ArrowUp")
    home = page.get_by_role("complementary", name="Favorites and recent pages").get_by_role(
        "list", name="Favorites"
    )
    home.locator("li:first-child", has_text="Turbines").wait_for()
    # The new order is shown before it is saved.
    saved = ["Turbines", "Blades", "Start"]
    until(lambda: [one["title"] for one in app.call("GET", "/user/favorites")["items"]] == saved)
    page.reload()
    expect(rows).to_have_text(saved)
    page.keyboard.press("Control+k")
    page.get_by_role("listbox", name="Results").get_by_role("option", name="Blades").first.wait_for()
    page.keyboard.press("Escape")
    rows.nth(1).hover()
    page.get_by_role("navigation", name="Main").get_by_role("button", name="Actions for Blades").click()
    page.get_by_role("menuitem", name="Remove from favorites").click()
    rows.nth(2).wait_for(state="detached")
    page.get_by_role("button", name="Undo").click()
    expect(rows).to_have_text(saved)
    app.call("DELETE", f"/spaces/{space}")
    page.reload()
    page.get_by_role("navigation", name="Main").wait_for()
    page.wait_for_load_state("networkidle")
    expect(rows).to_have_count(0)
    page.context.close()
