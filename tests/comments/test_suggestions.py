"""Tests of suggested edits in a change request: presented, accepted, reopened, declined, and outdated."""

from __future__ import annotations

from typing import Any

import pytest

from changes.working import Space, update

from .talking import Talk, refused, words


class Suggesting(Talk):
    """Discussion of a change request that edits page A."""

    def __init__(self, space: Space) -> None:
        change = space.create()
        super().__init__(space, f"{space.path}/change-requests/{change}", change)
        self.id = change
        self.page = space.pages["A"]
        space.write(change, "A", "One paragraph.\n\nTwo paragraph.\n\n* an item\n* another item\n")

    def block(self, at: int) -> str:
        return str(self.nodes("A")[at]["key"])

    def suggest(self, at: int, markdown: str, who: str = "commenter", said: str = "") -> Any:
        suggestion = {"markdown": markdown}
        return self.post(said, who, page=self.page, node=self.block(at), suggestion=suggestion)

    def try_settle(self, comment: str, status: str, who: str = "editor") -> Any:
        return self.call(who, "PUT", f"/{comment}/suggestion", json={"status": status})

    def settle(self, comment: str, status: str, who: str = "editor") -> Any:
        answer = self.try_settle(comment, status, who)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def text(self) -> str:
        return self.space.text("A", self.id)


@pytest.fixture
def talk(space: Space) -> Suggesting:
    return Suggesting(space)


def test_a_suggestion_is_applied_and_undone(talk: Suggesting) -> None:
    made = talk.suggest(0, "One **good** paragraph.\n\nAnd one more.", said="Better so.")
    shown = made["suggestion"]
    assert shown["status"] == "open" and not shown["outdated"]
    assert words(shown["before"]) == "One paragraph."
    assert [words([node]) for node in shown["after"]] == ["One good paragraph.", "And one more."]
    assert shown["after"][0]["key"] == talk.block(0)
    assert "One paragraph." in talk.text()
    assert talk.list(suggestion="open")["count"] == 1

    talk.space.edit(talk.id, update(talk.page, title="A, renamed"))
    key = talk.block(0)
    taken = talk.settle(made["id"], "accepted")
    assert taken["status"] == "resolved" and taken["suggestion"]["status"] == "accepted"
    assert "One **good** paragraph.\n\nAnd one more.\n\nTwo paragraph." in talk.text()
    assert talk.block(0) == key
    assert talk.open_ones() == 0
    assert talk.list(suggestion="open")["count"] == 0
    # The author of the suggestion is in the history and among the contributors.
    commenter = made["postedBy"]["id"]
    with talk.world.context.db.read() as tx:
        author = tx.value("SELECT author FROM revisions WHERE id = :id", id=taken["suggestion"]["revision"])
    assert author == commenter
    path = f"{talk.place}/contributors"
    writers = [one for one in talk.world.get("reader", path)["items"] if one["actionType"] == "edit"]
    assert commenter in {one["user"]["id"] for one in writers}
    # Accepting it again changes nothing.
    before = talk.space.change(talk.id)["revision"]
    talk.settle(made["id"], "accepted")
    assert talk.space.change(talk.id)["revision"] == before
    refused(talk.try_settle(made["id"], "declined"), 409, "Reopen it before declining it")

    # Reopened, keeping what was written elsewhere in the meantime.
    talk.space.edit(talk.id, update(talk.page, description="Words."))
    opened = talk.settle(made["id"], "open")
    assert opened["status"] == "open" and "settledBy" not in opened["suggestion"]
    assert "One paragraph.\n\nTwo paragraph." in talk.text() and "And one more" not in talk.text()
    assert talk.space.page("A", talk.id)["description"] == "Words."
    declined = talk.settle(made["id"], "declined")
    assert declined["suggestion"]["settledBy"]["id"] != commenter
    assert talk.settle(made["id"], "accepted")["suggestion"]["status"] == "accepted"
    told = [payload for type, payload in talk.events() if type == "comment_updated"]
    assert [one["suggestion"] for one in told] == ["accepted", "open", "declined", "accepted"]


@pytest.mark.sqlite_first
def test_a_suggestion_survives_edits_around_it_or_is_outdated(talk: Suggesting) -> None:
    whole = talk.suggest(1, "Two other words.")["id"]
    gone = talk.suggest(0, "")["id"]
    items = talk.suggest(2, "* an item\n* one suggested")["id"]
    text = talk.text().replace("One paragraph.", "Another begin.").replace("an item", "the item")
    talk.space.write(talk.id, "A", text)
    assert not talk.get(whole)["suggestion"]["outdated"]
    assert talk.get(gone)["suggestion"]["outdated"]
    assert talk.get(items)["suggestion"]["outdated"]
    # Lists are merged by item.
    talk.settle(items, "accepted")
    assert "* the item\n* one suggested" in talk.text()
    talk.settle(whole, "accepted")
    before = talk.text()
    refused(talk.try_settle(gone, "accepted"), 409, "was edited after")
    assert talk.text() == before and "Two other words." in before
    assert talk.space.conflicts(talk.id) == []
    assert talk.get(gone)["status"] == "open"
    talk.settle(gone, "declined")
    # An accepted suggestion that was edited over can no longer be reverted.
    talk.space.write(talk.id, "A", talk.text().replace("Two other words.", "My words."))
    refused(talk.try_settle(whole, "open"), 409, "edited after")
    # Deleting the page deletes its suggestions.
    last = talk.suggest(0, "Gone soon.")["id"]
    talk.space.edit(talk.id, {"operation": "delete_page", "page": talk.page})
    assert talk.get(last)["suggestion"]["outdated"] and talk.get(last)["target"]["gone"]
    refused(talk.try_settle(last, "accepted"), 409, "edited after")


@pytest.mark.sqlite_first
def test_invalid_suggestions_are_refused(talk: Suggesting) -> None:
    page, node = talk.page, talk.block(0)
    ok = {"markdown": "Other."}

    def attempt(**given: Any) -> Any:
        return talk.try_post("", **given)

    refused(talk.try_post("", page=page, node=node), 400, "must not be empty")
    refused(attempt(page=page, suggestion=ok), 400, "suggestion: requires `page` and `node`")
    refused(attempt(page=page, node="nope", suggestion=ok), 404, "node: there is no block")
    refused(attempt(page="nope", node=node, suggestion=ok), 404, "page: there is no page")
    refused(attempt(page=page, node=node, suggestion={}), 400, "suggestion")
    refused(
        attempt(page=page, node=node, suggestion={"markdown": "One paragraph."}),
        400,
        "already has this content",
    )
    refused(
        attempt(page=page, node=node, suggestion={"document": [{"type": "x"}]}), 400, "suggestion.document[0]"
    )
    refused(attempt(page=page, node=node, suggestion={"markdown": "x" * 300_000}), 413, "suggestion")
    main = Talk(talk.space, talk.space.path)
    there = talk.space.page("A", None, "document")["document"]["nodes"][0]["key"]
    refused(main.try_post("", page=page, node=there, suggestion=ok), 400, "in a change request")
    plain = talk.post("Hm.")["id"]
    refused(talk.try_settle(plain, "accepted"), 404, "doesn't suggest an edit")
    made = talk.suggest(0, "Other.")["id"]
    refused(talk.try_settle(made, "accepted", "commenter"), 403)
    talk.space.merge(talk.id)
    refused(talk.try_settle(made, "accepted"), 409, "already merged")
    refused(attempt(page=page, node=talk.block(0), suggestion=ok), 409, "already merged")
    assert talk.get(made)["suggestion"]["status"] == "open"
