"""Restricting a page in the app, and what others see of it."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from settled import until


@pytest.fixture(scope="module")
def space(app):
    return app.fill_space("People", ["Start", ("Salaries", ["Bands"])])


def test_a_page_is_restricted_to_chosen_people(app, space):
    ada, bob = app.colleague("Ada"), app.colleague("Bob")
    page = app.open(f"/s/{space}/salaries")
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Who can see this…").click()
    dialog = page.get_by_role("dialog", name="Who can see “Salaries”")
    dialog.get_by_role("button", name="Only people you choose").click()
    dialog.get_by_role("combobox", name="People, teams, and roles").fill("Ada")
    page.get_by_role("option", name="Ada").click()
    assert Axe().run(page).response["violations"] == []
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("treeitem", name="Salaries")).to_have_attribute("aria-description", "restricted")
    expect(page.get_by_text("restricted", exact=True)).to_be_visible()

    hers = app.open_as(ada, f"/s/{space}/salaries/bands")
    expect(hers.get_by_role("heading", name="Bands", level=1)).to_be_visible()
    his = app.open_as(bob, f"/s/{space}/salaries/bands")
    expect(his.get_by_role("heading", name="Page not found")).to_be_visible()
    expect(his.get_by_role("treeitem", name="Start")).to_be_visible()
    expect(his.get_by_role("treeitem", name="Salaries")).to_have_count(0)
    for one in (page, hers, his):
        one.context.close()


def path_of(app, space, *titles):
    """Return the page with these titles from the top of the space."""
    pages = app.call("GET", f"/spaces/{space}/content/pages")["pages"]
    for title in titles:
        (found,) = (page for page in pages if page["title"] == title)
        pages = found.get("pages", [])
    return found["id"]


def restrict(app, space, page, *people, change=None):
    grants = [{"kind": "user", "user": one.get("/user").json()["id"], "level": "read"} for one in people]
    where = f"/spaces/{space}" + (f"/change-requests/{change}" if change is not None else "")
    rule = {"operation": "update_page", "page": page, "visibleTo": grants or [{"kind": "administrators"}]}
    app.call("POST", f"{where}/content", {"changes": [rule]})


def test_a_review_says_who_loses_access_and_that_there_is_a_hidden_page(app):
    space = app.fill_space("Offers", ["Start", "Prices", "Terms"])
    cleo, dan = app.colleague("Cleo", role="review"), app.colleague("Dan", role="review")
    app.colleague("Ida", role="read")
    prices, terms = path_of(app, space, "Prices"), path_of(app, space, "Terms")
    number = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "New terms"})["number"]
    edits = [{"operation": "update_page", "page": id, "description": "New."} for id in (prices, terms)]
    app.call("POST", f"/spaces/{space}/change-requests/{number}/content", {"changes": edits})
    rules = {"type": "rules", "rules": [{"rule": "require_at_least_one_approved_review"}]}
    app.call("PATCH", f"/spaces/{space}", {"mergeRules": rules})
    restrict(app, space, prices, cleo)
    restrict(app, space, terms, cleo, dan, change=number)

    review = f"/s/{space}/~/changes/{number}/~/review/terms"
    hers = app.open_as(cleo, review)
    after = hers.get_by_role("region", name="Access after the merge")
    expect(after).to_contain_text("Terms")
    expect(after).to_contain_text("can no longer see this page or its subpages.")
    expect(after).to_contain_text("Ida")
    expect(after).not_to_contain_text("Dan")
    expect(hers.get_by_text("that you can't see")).to_have_count(0)

    dan.post(f"/spaces/{space}/change-requests/{number}/reviews", json={"status": "approved"})
    his = app.open_as(dan, review)
    expect(
        his.get_by_text(
            "This change request also changes 1 page that you can't see. Reviewers who can see all of these changes:"
        )
    ).to_contain_text("Cleo")
    panel = his.get_by_role("complementary", name="About this change request")
    expect(panel.get_by_text("The reviewers can't see all of the changed pages.")).to_be_visible()
    expect(his.get_by_text("Prices")).to_have_count(0)
    assert Axe().run(his).response["violations"] == []
    cleo.post(f"/spaces/{space}/change-requests/{number}/reviews", json={"status": "approved"})
    his.reload()
    expect(his.get_by_text("The latest version has been approved")).to_be_visible()
    for one in (hers, his):
        one.context.close()


def test_roles_are_chosen_and_the_dialog_lists_who_sees_the_page(app):
    space = app.fill_space("Runbooks", ["Start", "Keys"])
    eve, fay = app.colleague("Eve", role="edit"), app.colleague("Fay", role="read")
    page = app.open(f"/s/{space}/keys", viewport={"width": 390, "height": 844}, color_scheme="dark")
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Who can see this…").click()
    dialog = page.get_by_role("dialog", name="Who can see “Keys”")
    people = dialog.locator("summary", has_text="can see this page")
    before = int(people.inner_text().split()[0])
    dialog.get_by_role("button", name="Only people you choose").click()
    field = dialog.get_by_role("combobox", name="People, teams, and roles")
    field.fill("or higher")
    expect(page.get_by_role("option")).to_have_count(4)
    field.fill("editor or")
    expect(page.get_by_role("option")).to_have_count(1)
    field.press("Enter")
    dialog.get_by_label("Access for Editor or higher").select_option("Commenter")
    assert Axe().run(page).response["violations"] == []
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    hers, theirs = app.open_as(eve, f"/s/{space}/keys"), app.open_as(fay, f"/s/{space}/keys")
    expect(hers.get_by_role("heading", name="Keys", level=1)).to_be_visible()
    expect(theirs.get_by_role("heading", name="Page not found")).to_be_visible()

    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Who can see this…").click()
    expect(dialog.get_by_text("Restricted by Ines Okafor, just now")).to_be_visible()
    expect(people).not_to_contain_text(f"{before} people")
    people.press("Enter")
    expect(dialog.get_by_role("listitem").filter(has_text="Eve")).to_contain_text("Editor or higher")
    expect(dialog.get_by_role("listitem").filter(has_text="Fay")).to_have_count(0)
    for one in (page, hers, theirs):
        one.context.close()


def test_an_administrator_sees_pages_and_search_as_another_person(app):
    space = app.fill_space("Budgets", ["Start", ("Plans", ["Numbers"])])
    gus = app.colleague("Gus", role="read")
    restrict(app, space, path_of(app, space, "Plans"))
    user = gus.get("/user").json()["id"]
    shown = app.open(f"/o/{app.organization}/~/members/people/{user}/preview/{space}")
    pages = shown.get_by_role("navigation", name="Pages that Gus can see")
    expect(pages.get_by_role("link")).to_have_text(["Start"])
    pages.get_by_role("link", name="Start").press("Enter")
    expect(shown.get_by_role("article", name="Start")).to_contain_text("About Start.")
    assert Axe().run(shown).response["violations"] == []
    search = shown.get_by_role("searchbox", name="Search as Gus")
    search.fill("Numbers")
    expect(shown.get_by_text("No results for “Numbers”")).to_be_visible()
    search.fill("words")
    expect(pages.get_by_role("link")).to_have_text(["Start"])
    expect(shown.get_by_role("status").filter(has_text="1 page")).to_be_visible()
    restrict(app, space, path_of(app, space, "Plans"), gus)
    shown.reload()
    expect(pages.get_by_role("link")).to_have_text(["Start", "Plans", "Numbers"])
    expect(shown.get_by_role("article", name="Start")).to_be_visible()
    shown.set_viewport_size({"width": 390, "height": 844})
    shown.emulate_media(color_scheme="dark")
    shown.wait_for_function("document.documentElement.scrollWidth <= 390")
    shown.context.close()


def test_text_of_an_editor_who_loses_the_page_is_kept(app):
    space = app.fill_space("Recipes", ["Kitchen", "Soup"])
    hal = app.colleague("Hal")
    number = hal.post(f"/spaces/{space}/change-requests", json={"subject": "Taste"}).json()["number"]
    his = app.open_as(hal, f"/s/{space}/~/changes/{number}/soup", permissions=["clipboard-read"])
    his.get_by_text("About Soup.").click()
    his.keyboard.press("End")
    his.keyboard.type(" Salt.")
    expect(his.get_by_text("About Soup. Salt.")).to_be_visible()
    kitchen, soup = path_of(app, space, "Kitchen"), path_of(app, space, "Soup")
    restrict(app, space, kitchen)
    move = {"operation": "update_page", "page": soup, "into": kitchen}
    app.call("POST", f"/spaces/{space}/content", {"changes": [move]})
    his.keyboard.type(" Pepper.")
    alert = his.get_by_role("alert").filter(has_text="Your latest changes weren't saved")
    alert.wait_for()
    expect(his.get_by_text("Salt. Pepper.")).to_be_visible()
    expect(alert.get_by_role("button", name="Copy as Markdown")).to_be_visible()
    his.context.close()


def test_drafts_of_a_restricted_page_are_not_named_after_it(app):
    """Everyone who sees the space sees the subjects."""
    space = app.fill_space("Plans", ["Start", ("Salaries", ["Bands"]), "Prices"])

    def start(path):
        page = app.open(f"/s/{space}/{path}")
        page.get_by_role("button", name="Edit", exact=True).click()
        page.get_by_role("textbox", name="Page content").wait_for()
        subjects = [one["subject"] for one in list_drafts()]
        page.go_back()
        page.get_by_role("button", name="Edit").wait_for()
        until(lambda: not list_drafts())
        page.context.close()
        return subjects

    def list_drafts():
        return app.call("GET", f"/spaces/{space}/change-requests?status=draft")["items"]

    restrict(app, space, path_of(app, space, "Salaries"))
    assert start("prices") == ["Edit Prices"]
    assert start("salaries") == start("salaries/bands") == ["Edit page"]

    app.call("PATCH", f"/spaces/{space}", {"editMode": "locked"})
    page = app.open(f"/s/{space}/prices")
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Who can see this…").click()
    dialog = page.get_by_role("dialog", name="Who can see “Prices”")
    dialog.get_by_role("button", name="Only people you choose").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    assert [one["subject"] for one in list_drafts()] == ["Edit page"]
    page.context.close()


def test_the_copy_of_a_restricted_page_is_restricted(app):
    space = app.fill_space("Copies", ["Start", "Salaries"])
    app.call("PATCH", f"/spaces/{space}", {"editMode": "live"})
    restrict(app, space, path_of(app, space, "Salaries"))
    page = app.open(f"/s/{space}/salaries")
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Duplicate").click()
    copy = page.get_by_role("treeitem", name="Salaries (copy)")
    expect(copy).to_have_attribute("aria-description", "restricted")
    until(lambda: len(app.call("GET", f"/spaces/{space}/content/pages")["pages"]) == 3)
    pages = app.call("GET", f"/spaces/{space}/content/pages")["pages"]
    assert [one["visibleTo"] for one in pages[1:]] == [[{"kind": "administrators"}]] * 2
    page.context.close()


def test_restricted_pages_are_not_saved_as_templates(app):
    """Everyone in the space can use a template."""
    space = app.fill_space("Models", ["Start", ("Salaries", ["Bands"])])
    restrict(app, space, path_of(app, space, "Salaries"))
    for path, expected in (("start", 1), ("salaries", 0), ("salaries/bands", 0)):
        page = app.open(f"/s/{space}/{path}")
        page.get_by_role("button", name="Page actions").click()
        page.get_by_role("menuitem", name="Page options").wait_for()
        expect(page.get_by_role("menuitem", name="Save as template")).to_have_count(expected)
        page.context.close()


def open_menu(app, path):
    page = app.open(path)
    page.get_by_role("button", name="Page actions").click()
    return page


@pytest.mark.parametrize("moved", [False, True])
def test_copies_in_a_draft_from_before_a_rule_are_restricted(app, moved):
    """``moved``: whether the draft moves the page out of the page that main restricts."""
    space = app.fill_space(f"Older drafts {moved}", ["Start", ("Salaries", ["Bands"])])
    draft = f"/spaces/{space}/change-requests"
    number = app.call("POST", draft, {"subject": "Wages"})["number"]
    draft = f"{draft}/{number}/content"
    if moved:
        move = {"operation": "update_page", "page": path_of(app, space, "Salaries", "Bands"), "into": None}
        app.call("POST", draft, {"changes": [move]})
    restrict(app, space, path_of(app, space, "Salaries"))

    title = "Bands" if moved else "Salaries"
    path = f"/s/{space}/~/changes/{number}/{title.lower()}"
    page = open_menu(app, path)
    page.get_by_role("menuitem", name="Save as template").click()
    expect(page.get_by_text("can't contain text of restricted pages")).to_be_visible()
    page.context.close()
    page = open_menu(app, path)
    page.get_by_role("menuitem", name="Duplicate").click()
    page.get_by_role("treeitem", name=f"{title} (copy)").wait_for()
    until(lambda: any("copy" in one["title"] for one in app.call("GET", f"{draft}/pages")["pages"]))
    (made,) = (one for one in app.call("GET", f"{draft}/pages")["pages"] if "copy" in one["title"])
    assert made["visibleTo"] == [{"kind": "administrators"}]
    change = app.call("GET", f"/spaces/{space}/change-requests/{number}")
    assert app.call("GET", f"/spaces/{space}/revisions/{change['revision']}")["reusableContents"] == []
    page.context.close()


@pytest.mark.parametrize("subject", ["Edit prizes", "Edit Rates", "Spring"])
def test_drafts_are_not_named_after_pages_that_they_restrict(app, subject):
    space = app.fill_space(f"Bonuses for {subject}", ["Start", ("Prizes", ["Rates"])])
    number = app.call("POST", f"/spaces/{space}/change-requests", {"subject": subject})["number"]
    edit = {"operation": "update_page", "page": path_of(app, space, "Prizes", "Rates"), "description": "New."}
    app.call("POST", f"/spaces/{space}/change-requests/{number}/content", {"changes": [edit]})
    page = open_menu(app, f"/s/{space}/~/changes/{number}/prizes")
    page.get_by_role("menuitem", name="Who can see this…").click()
    dialog = page.get_by_role("dialog", name="Who can see “Prizes”")
    dialog.get_by_role("button", name="Only people you choose").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expected = "Spring" if subject == "Spring" else "Edit page"
    expect(page.get_by_role("textbox", name="Subject")).to_have_value(expected)
    page.context.close()
    assert app.call("GET", f"/spaces/{space}/change-requests/{number}")["subject"] == expected


def test_blocks_of_restricted_pages_do_not_become_reusable_content(app):
    """Everyone in the space can see reusable content."""
    space = app.fill_space("Blocks", ["Start", ("Salaries", ["Bands"])])
    restrict(app, space, path_of(app, space, "Salaries"))
    number = app.call("POST", f"/spaces/{space}/change-requests", {"subject": "Wages"})["number"]
    page = app.open(f"/s/{space}/~/changes/{number}/salaries/bands")
    text = page.get_by_text("About Bands.")
    text.click()
    text.hover()
    page.get_by_role("button", name="Block menu").click()
    page.get_by_role("menuitem", name="Convert to reusable content").click()
    expect(page.get_by_text("can't contain text of restricted pages")).to_be_visible()
    change = app.call("GET", f"/spaces/{space}/change-requests/{number}")
    assert app.call("GET", f"/spaces/{space}/revisions/{change['revision']}")["reusableContents"] == []
    page.context.close()


def test_drafts_are_not_named_after_words_that_are_replaced_on_a_restricted_page(app):
    space = app.fill_space("Takeovers", ["Start", "Offer"])

    def replace(words):
        page = open_menu(app, f"/s/{space}/start")
        page.get_by_role("menuitem", name="Find and replace in the space").click()
        dialog = page.get_by_role("dialog", name="Find and replace in the space")
        dialog.get_by_label("Find", exact=True).fill(words)
        dialog.get_by_label("Replace with").fill("Text")
        dialog.get_by_label("Replace with").press("Enter")
        dialog.get_by_role("button", name="Replace 1 match in my draft").click()
        expect(dialog).to_be_hidden()
        page.context.close()
        (draft,) = app.call("GET", f"/spaces/{space}/change-requests?status=draft")["items"]
        app.call("PATCH", f"/spaces/{space}/change-requests/{draft['number']}", {"status": "archived"})
        return draft["subject"]

    restrict(app, space, path_of(app, space, "Offer"))
    assert replace("About Start") == "Replace “About Start”"
    assert replace("About Offer") == "Edit page"
