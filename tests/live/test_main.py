"""Pages of main that several people edit at the same time, in spaces with live editing."""

from __future__ import annotations

import pytest

from changes.working import update
from events.listening import listening
from octavo.content.live.retention import prune_live_pages
from octavo.content.live.saving import save_due

from .writing import Writing, delete, insert, texts


class MainWriting(Writing):
    """Page A of main of a fresh space."""

    def __init__(self, world):
        super().__init__(world)
        self.base = f"{self.space.path}/pages/{self.page}/live"

    @property
    def head(self):
        return self.world.get("reader", self.space.path)["revision"]

    def markdown(self):
        return self.space.text("A")

    def lock(self):
        answer = self.world.call("admin", "PATCH", self.space.path, json={"editMode": "locked"})
        assert answer.is_success, answer.text


@pytest.fixture
def main(world):
    return MainWriting(world)


def test_people_write_in_main_and_each_save_names_them(main):
    one, other = main.open("editor"), main.open("admin")
    one.type("Hello ", 1)
    answer = other.send(insert("!", 22))
    assert answer["batches"][1]["steps"] == [insert("!", 28)]
    before = main.head
    saved = main.save()
    assert saved["revision"] == main.head != before
    assert main.markdown().startswith("# A\n\nHello First paragraph of A.!\n")
    listed = main.world.get("reader", f"{main.space.path}/revisions")["items"][0]
    assert {person["id"] for person in listed["contributors"]} == {
        main.world.users["admin"],
        main.world.users["editor"],
    }
    assert listed["author"]["id"] == main.world.users["admin"]


def test_followers_of_main_get_steps_carets_and_live_saves(main):
    with listening(
        main.world, "admin", f"/user/events?space={main.space.id}&live={main.space.id}/{main.page}"
    ) as stream:
        client = main.open()
        client.send(insert("Typed. ", 1), caret={"anchor": 8, "head": 8})
        assert stream.hear("steps", version=1).data["batches"][0]["client"] == client.id
        assert stream.hear("caret", client=client.id).data["head"] == 8
        assert main.get("admin")["carets"][0]["client"] == client.id
        before = main.head
        save_due(main.world.context)
        assert main.head == before
        saved = main.save()
        assert stream.hear("revision", revisionId=saved["revision"]).data["live"]
        assert stream.hear("saved").data["revision"] == saved["revision"]


def test_pages_of_main_are_saved_when_they_are_due(main, monkeypatch):
    main.open().type("Words. ", 1)
    before = main.head
    main.later(2, monkeypatch)
    assert main.head == before
    main.later(3.5, monkeypatch)
    assert main.head != before
    assert "Words. First" in main.markdown()


def test_a_locked_space_accepts_nothing_and_keeps_what_was_accepted(main, monkeypatch):
    client = main.open()
    client.type("Accepted. ", 1)
    main.lock()
    refused = client.post(client.body(insert("Late. ", 1)))
    assert (refused.status_code, refused.json()["error"]["message"]) == (
        403,
        "This space is locked. Edit it through a change request.",
    )
    assert main.call("editor", "GET").status_code == 403
    # Their author can still read and delete what was set aside.
    assert main.call("editor", "GET", "/set-aside").json()["items"] == []
    main.later(4, monkeypatch)
    assert "Accepted. First" in main.markdown()


def test_someone_who_loses_access_to_main_is_refused_at_once(main):
    client = main.open()
    client.type("x", 1)
    path = main.world.home.path("/orgs/{organizationId}/members/") + main.world.users["editor"]
    assert main.world.call("admin", "PATCH", path, json={"role": "read"}).is_success
    assert client.post(client.body(insert("y", 1))).status_code == 403
    followed = main.world.call("editor", "GET", f"/user/events?seconds=0&live={main.space.id}/{main.page}")
    assert followed.status_code == 403


@pytest.mark.parametrize("who", ["reader", "stranger"])
def test_people_without_permission_write_nothing_in_main(main, who):
    client = main.open("editor")
    assert main.call(who, "GET").status_code in (403, 404)
    assert main.call(who, "POST", "/steps", json=client.body(insert("x", 1))).status_code in (403, 404)


def test_an_edit_through_the_api_contains_unsaved_text_and_becomes_steps(main, monkeypatch):
    client = main.open()
    client.type("Typed. ", 1)
    main.space.edit_main(update(main.page, title="Renamed"))
    assert "Typed. First" in main.markdown()
    main.space.write(None, "A", "# Renamed\n\nTyped. First paragraph of A.\n\nSecond paragraph of the API.\n")
    main.later(0, monkeypatch)
    assert texts(main.get()["document"]) == ["Typed. First paragraph of A.", "Second paragraph of the API."]
    # The page goes on from there.
    client.type("More. ", 1)
    main.save()
    assert "More. Typed. First paragraph of A.\n\nSecond paragraph of the API." in main.markdown()


def test_a_merge_and_an_update_contain_what_is_being_written_in_main(main, monkeypatch):
    client = main.open()
    client.type("Typed. ", 1)
    main.space.write(main.change, "A", "# A\n\nFirst paragraph of A.\n\nSecond paragraph of the change.\n")
    main.space.update(main.change)
    assert "Typed. First paragraph of A.\n\nSecond paragraph of the change." in main.space.text(
        "A", main.change
    )
    client.type("More. ", 1)
    main.space.merge(main.change)
    assert "More. Typed. First paragraph of A.\n\nSecond paragraph of the change." in main.markdown()
    main.later(0, monkeypatch)
    assert texts(main.get()["document"])[1] == "Second paragraph of the change."


def test_main_and_a_change_request_are_written_apart(main):
    main.open().type("Of main. ", 1)
    path = f"{main.space.path}/change-requests/{main.change}/pages/{main.page}/live"
    drafted = main.world.get("editor", path)
    assert texts(drafted["document"])[0] == "First paragraph of A."


def test_pages_of_main_that_no_one_edits_are_deleted_and_get_a_new_epoch(main, monkeypatch):
    client = main.open()
    client.type("Words. ", 1)
    idle = main.open("admin")
    client.type("x", 1)
    main.save()
    client.type("unsaved ", 1)
    with main.world.context.db.write() as tx:
        tx.run("UPDATE page_live SET touched_at = 1, save_at = NULL")
    prune_live_pages(main.world.context)
    client.type("and ", 1)
    main.save()
    with main.world.context.db.write() as tx:
        tx.run("""UPDATE page_live SET touched_at = 1, refused = '["unsavable"]'""")
    prune_live_pages(main.world.context)
    assert client.send(insert("z", 1), delete(1, 2))
    main.save()
    with main.world.context.db.write() as tx:
        tx.run("UPDATE page_live SET touched_at = 1")
    prune_live_pages(main.world.context)
    assert idle.post(idle.body(insert("y", 1))).status_code == 410
    assert client.post(client.body(insert("x", 1))).status_code == 410
    client.load()
    client.type("More. ", 1)
    assert texts(main.get()["document"])[0] == "More. and unsaved xWords. First paragraph of A."
