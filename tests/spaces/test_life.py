"""Life cycle of spaces and collections, from creation to complete removal."""

from __future__ import annotations

from typing import Any

from octavo.kit.db.tables import content_columns
from octavo.kit.work.worker import Worker
from octavo.organization.access.members import upsert_member
from octavo.organization.spaces.garbage import release
from set_clock import SetClock
from world import Place, World

DAY = 24 * 3_600_000


def space_of(place: Place, space_id: str, path: str = "") -> str:
    return place.path("/spaces/{spaceId}", spaceId=space_id) + path


def rows_of(world: World, query: str, **parameters: Any) -> list[Any]:
    with world.context.db.read() as tx:
        return tx.all(query, **parameters)


def write(world: World, query: str, **parameters: Any) -> None:
    with world.context.db.write() as tx:
        tx.run(query, **parameters)


def run_jobs(world: World) -> None:
    Worker(world.context.db, world.context).run_pending()


# --- duplicating ----------------------------------------------------------------------------------------


def test_a_copy_contains_everything_and_shares_texts(world: World) -> None:
    home = world.home
    world.post(
        "admin", home.path("/spaces/{spaceId}/permissions"), {"role": "edit", "users": [home["scimUserId"]]}
    )
    bodies = rows_of(world, "SELECT count(*) FROM bodies")
    made = world.post("admin", home.path("/spaces/{spaceId}/duplicate"))
    assert made["title"] == "Handbook (copy)"
    assert made["changeRequests"] == 0
    for part in (
        "/content/pages",
        "/content/files",
        "/content/path/running-it/install/on-a-server?format=markdown",
    ):
        original = world.get("admin", space_of(home, home["spaceId"], part))
        copy = world.get("admin", space_of(home, made["id"], part))
        assert without_places(copy) == without_places(original), part
    assert rows_of(world, "SELECT count(*) FROM bodies") == bodies
    users = world.get("admin", space_of(home, made["id"], "/permissions/users"))["items"]
    # The only others are integrations that are installed in all spaces of the organization.
    assert [item["user"]["id"] for item in users if item["permission"] == "edit"] == [home["scimUserId"]]
    order = rows_of(
        world,
        "SELECT title FROM spaces WHERE organization_id = :o AND collection_id IS NULL ORDER BY rank",
        o=home["organizationId"],
    )
    assert order == [("Handbook",), ("Handbook (copy)",)]


def without_places(content: Any) -> Any:
    """Remove everything that identifies the space itself."""
    if isinstance(content, dict):
        return {
            key: without_places(value) for key, value in content.items() if key not in ("urls", "downloadURL")
        }
    return [without_places(item) for item in content] if isinstance(content, list) else content


def test_original_and_copy_are_edited_and_found_separately(world: World) -> None:
    home = world.home
    copy = world.post("admin", home.path("/spaces/{spaceId}/duplicate"))["id"]

    def found(space_id: str, word: str) -> int:
        return len(world.get("admin", space_of(home, space_id, "/search"), params={"query": word})["items"])

    assert found(copy, "server") == found(home["spaceId"], "server") > 0
    change = {
        "operation": "update_page",
        "page": home["pageId"],
        "document": {"markdown": "# On a server\n\nZanzibar.\n"},
    }
    world.post("admin", space_of(home, copy, "/content"), {"changes": [change]})
    assert found(copy, "zanzibar") == 1
    assert found(home["spaceId"], "zanzibar") == 0
    words = "SELECT word, pages FROM search_words WHERE space_id = :s ORDER BY word"
    world.post("admin", home.path("/spaces/{spaceId}/content"), {"changes": [change]})
    assert rows_of(world, words, s=copy) == rows_of(world, words, s=home["spaceId"])


def test_duplicating_requires_permission_to_create(world: World) -> None:
    home = world.home
    # They can administer the space, but not create content at the top level of the organization.
    world.post(
        "admin",
        home.path("/spaces/{spaceId}/permissions"),
        {"role": "create", "users": [world.users["editor"]]},
    )
    answer = world.call("editor", "POST", home.path("/spaces/{spaceId}/duplicate"))
    assert answer.status_code == 403


# --- order ----------------------------------------------------------------------------------------------


def listed(world: World, place: Place) -> list[str]:
    rows = rows_of(
        world,
        """SELECT rank, title FROM spaces WHERE organization_id = :o AND collection_id IS NULL UNION ALL
           SELECT rank, title FROM collections WHERE organization_id = :o AND parent_id IS NULL""",
        o=place["organizationId"],
    )
    return [title for _, title in sorted(rows)]


def test_spaces_and_collections_share_one_order(world: World) -> None:
    home = world.home
    assert listed(world, home) == ["Guides", "Handbook"]
    move = home.path("/spaces/{spaceId}/move")
    first = {"position": {"before": {"type": "collection", "collection": home["collectionId"]}}}
    world.post("admin", move, first)
    assert listed(world, home) == ["Handbook", "Guides"]
    assert world.call("admin", "POST", move, json=first).status_code == 409
    assert world.call("admin", "POST", move, json={"parent": None}).status_code == 409
    itself = {"position": {"before": {"type": "space", "space": home["spaceId"]}}}
    assert world.call("admin", "POST", move, json=itself).status_code == 400
    elsewhere = {"parent": home["collectionId"], **first}
    assert world.call("admin", "POST", move, json=elsewhere).status_code == 400
    inner = world.post(
        "admin", home.path("/orgs/{organizationId}/collections"), {"parent": home["collectionId"]}
    )
    around = world.call(
        "admin", "POST", home.path("/collections/{collectionId}/move"), json={"parent": inner["id"]}
    )
    assert around.status_code == 400
    moved = world.post("admin", move, {"parent": inner["id"]})
    assert moved["parent"] == inner["id"]


def test_equal_ranks_are_separated(world: World) -> None:
    home = world.home
    for title in ("One", "Two", "Three"):
        world.post("admin", home.path("/orgs/{organizationId}/spaces"), {"title": title})
    write(
        world,
        "UPDATE spaces SET rank = 'U' WHERE collection_id IS NULL AND organization_id = :o",
        o=home["organizationId"],
    )
    write(world, "UPDATE collections SET rank = 'U'")
    one, three = (
        rows_of(world, "SELECT id FROM spaces WHERE title = :t", t=title)[0][0] for title in ("One", "Three")
    )
    world.post(
        "admin", space_of(home, three, "/move"), {"position": {"after": {"type": "space", "space": one}}}
    )
    order = listed(world, home)
    assert order.index("Three") == order.index("One") + 1


# --- deleting and restoring -----------------------------------------------------------------------------


def test_a_deleted_space_is_hidden_and_can_be_restored(world: World) -> None:
    home = world.home
    path = home.path("/spaces/{spaceId}")
    assert world.call("admin", "DELETE", path).status_code == 205
    assert world.call("admin", "GET", path).status_code == 404
    assert world.call("admin", "DELETE", path).status_code == 204
    assert world.call("reader", "POST", f"{path}/restore").status_code == 403
    back = world.post("admin", f"{path}/restore")
    assert "deletedAt" not in back
    assert world.call("admin", "POST", f"{path}/restore").status_code == 409


def test_spaces_cannot_be_restored_after_seven_days(world: World) -> None:
    home = world.home
    world.call("admin", "DELETE", home.path("/spaces/{spaceId}"))
    write(
        world,
        "UPDATE spaces SET deleted_at = deleted_at - :w WHERE id = :s",
        w=7 * DAY + 1000,
        s=home["spaceId"],
    )
    assert world.call("admin", "POST", home.path("/spaces/{spaceId}/restore")).status_code == 404
    assert world.get("admin", home.path("/orgs/{organizationId}/trash/spaces"))["items"] == []


def test_an_administrator_can_delete_a_space_permanently_before_seven_days(world: World) -> None:
    home = world.home
    path = home.path("/orgs/{organizationId}/trash/spaces/{spaceId}")
    assert world.call("admin", "DELETE", path).status_code == 204, "it is not in the trash"
    world.call("admin", "DELETE", home.path("/spaces/{spaceId}"))
    assert world.call("creator", "DELETE", path).status_code == 403
    assert world.call("admin", "DELETE", path).status_code == 205
    assert world.call("admin", "POST", home.path("/spaces/{spaceId}/restore")).status_code == 404
    assert world.get("admin", home.path("/orgs/{organizationId}/trash/spaces"))["items"] == []
    assert world.call("admin", "DELETE", path).status_code == 204
    run_jobs(world)
    assert rows_of(world, "SELECT id FROM spaces WHERE id = :id", id=home["spaceId"]) == []
    told = world.get("admin", home.path("/orgs/{organizationId}/audit-events"))["items"]
    assert [one["action"] for one in told[:2]] == ["space.purged", "space.given-up"]


def test_a_collection_with_protected_content_is_not_deleted(world: World) -> None:
    home = world.home
    secret = world.post(
        "admin", home.path("/orgs/{organizationId}/spaces"), {"parent": home["collectionId"]}
    )["id"]
    world.call("admin", "PATCH", space_of(home, secret), json={"defaultLevel": None})
    path = home.path("/collections/{collectionId}")
    before = world.digest()
    assert world.call("creator", "DELETE", path).status_code == 403
    assert world.digest() == before
    assert world.call("admin", "DELETE", path).status_code == 205
    world.post("admin", space_of(home, secret, "/restore"))
    assert world.call("creator", "GET", path).status_code == 200


# --- purging --------------------------------------------------------------------------------------------

KEPT = {"audit_events", "events", "unused", "jobs", "event_cursors"}
"""What says the past or of work to do: ids of what is gone may be there."""


def mentions(world: World, ids: set[str]) -> list[str]:
    """Return the cells of all tables that contain one of the IDs, alone or within text."""
    found = []
    with world.context.db.read() as tx:
        for table, names in world.tables().items():
            if table in KEPT or table.startswith("search_index_"):
                continue
            columns = ", ".join(f'"{name}"' for name in names)
            for row in tx.all(f'SELECT {columns} FROM "{table}"'):
                text = repr(row).lower()
                found += [f"{table}: {row!r:.200}" for id in ids if id.lower() in text]
    return found


def test_purging_leaves_no_orphan_and_no_file(world: World, clock: SetClock) -> None:
    home, away = world.home, world.away
    copy = world.post("admin", home.path("/spaces/{spaceId}/duplicate"))["id"]
    secret = {
        "changes": [
            {
                "operation": "update_page",
                "page": home["pageId"],
                "document": {"markdown": "# A\n\nOnly here.\n"},
            },
        ]
    }
    world.post("admin", space_of(home, copy, "/content"), secret)
    data = {"name": "only.txt", "base64": "b25seSBoZXJl", "contentType": "text/plain"}
    upload = {"changes": [{"operation": "insert_files", "files": [data]}]}
    answer = world.call("admin", "POST", space_of(home, copy, "/content"), json=upload)
    assert answer.is_success, answer.text
    change = world.post("admin", space_of(home, copy, "/change-requests"), {"subject": "S"})["id"]
    world.post("admin", space_of(home, copy, f"/change-requests/{change}/content"), secret)
    world.post(
        "admin",
        space_of(home, copy, f"/change-requests/{change}/requested-reviewers"),
        {"users": [world.users["reviewer"]]},
    )
    world.post("admin", space_of(home, copy, "/permissions"), {"role": "read", "users": [home["scimUserId"]]})
    for place in (copy, f"{copy}/change-requests/{change}"):
        comment = {"body": {"markdown": "Why?"}}
        world.post("admin", space_of(home, place, "/comments"), comment)
    site = world.post(
        "admin", home.path("/orgs/{organizationId}/sites"), {"title": "Copy", "spaces": [copy]}
    )["id"]

    ids = {copy, change}
    for table in ("branches", "change_requests"):
        ids |= {row[0] for row in rows_of(world, f"SELECT id FROM {table} WHERE space_id = :s", s=copy)}
    ids |= {
        row[0]
        for row in rows_of(
            world,
            "SELECT id FROM revisions WHERE branch_id IN (SELECT id FROM branches WHERE space_id = :s)",
            s=copy,
        )
    }
    lonely = rows_of(
        world,
        """SELECT DISTINCT i.content FROM item_versions i JOIN branches l ON l.id = i.branch_id
           WHERE l.space_id = :s AND i.kind = 'file' AND i.name = 'only.txt'""",
        s=copy,
    )[0][0]
    shared = {
        row[0]
        for row in rows_of(
            world,
            """SELECT i.content FROM item_versions i JOIN branches l ON l.id = i.branch_id
               WHERE l.space_id = :s AND i.kind = 'file'""",
            s=home["spaceId"],
        )
    }
    assert world.context.files.exists(lonely)
    assert mentions(world, ids)

    world.call("admin", "DELETE", space_of(home, copy))
    run_jobs(world)
    assert mentions(world, ids), "not before seven days"
    write(world, "UPDATE spaces SET deleted_at = deleted_at - :w WHERE id = :s", w=7 * DAY + 1000, s=copy)
    write(world, "UPDATE schedules SET next_at = 0")
    run_jobs(world)
    assert mentions(world, ids) == []
    assert (
        world.get("admin", home.path("/orgs/{organizationId}/sites/{siteId}", siteId=site))["title"] == "Copy"
    )

    assert world.context.files.exists(lonely), "a day passes first"
    # Data that expires in that time (prints, uploads) also leaves files, which are kept for another day.
    for _ in range(2):
        clock.advance(8 * DAY)
        write(world, "UPDATE schedules SET next_at = 0")
        run_jobs(world)
    assert rows_of(world, "SELECT * FROM unused") == []
    assert not world.context.files.exists(lonely)
    assert all(world.context.files.exists(hash) for hash in shared)
    assert unused_bodies(world) == []
    # The content of the original and of the other organization can still be read.
    for place, who in ((home, "admin"), (away, "stranger")):
        for page in world.get(who, place.path("/spaces/{spaceId}/content/pages"))["pages"]:
            if page["type"] == "document":
                world.get(who, place.path("/spaces/{spaceId}/content/page/") + page["id"])


def unused_bodies(world: World) -> list[Any]:
    named = [
        f"SELECT {column.name} FROM {table.name} WHERE {column.name} IS NOT NULL"
        for table, column in content_columns("text")
    ]
    return rows_of(world, f"SELECT hash FROM bodies WHERE hash NOT IN ({' UNION '.join(named)})")


def test_content_stored_again_is_marked_used(world: World) -> None:
    home = world.home
    with world.context.db.write() as tx:
        release(tx, "text", "SELECT hash AS hash FROM bodies WHERE hash <> :none", none="")
    page = {"operation": "update_page", "page": home["pageId"], "document": {"markdown": "# Anew\n"}}
    world.post("admin", home.path("/spaces/{spaceId}/content"), {"changes": [page]})
    body = rows_of(
        world,
        "SELECT body FROM page_versions WHERE page_id = :p ORDER BY from_seq DESC LIMIT 1",
        p=home["pageId"],
    )
    assert rows_of(world, "SELECT hash FROM unused WHERE hash = :h", h=body[0][0]) == []


# --- transferring ---------------------------------------------------------------------------------------


def both(world: World, role: str | None = "admin") -> None:
    """Give the administrator of home a role in away."""
    with world.context.db.write() as tx:
        upsert_member(tx, world.away["organizationId"], world.users["admin"], role)


def test_a_space_in_a_site_is_not_transferred(world: World) -> None:
    both(world)
    body = {"organization": world.away["organizationId"]}
    before = world.digest()
    path = world.home.path("/spaces/{spaceId}/transfer")
    assert world.call("admin", "POST", path, json=body).status_code == 412
    here = {"organization": world.home["organizationId"]}
    assert world.call("admin", "POST", path, json=here).status_code == 409
    assert world.digest() == before


def test_a_transfer_moves_everything_and_removes_all_grants(world: World) -> None:
    both(world)
    home, away = world.home, world.away
    copy = world.post("admin", home.path("/spaces/{spaceId}/duplicate"))["id"]
    reviewers = {"rule": "require_specific_reviewers", "users": [home["scimUserId"], world.users["admin"]]}
    alone = {"rule": "allow_bypass", "users": [home["scimUserId"]]}
    rules = {"type": "rules", "rules": [reviewers, alone, {"rule": "require_at_least_one_review"}]}
    world.call("admin", "PATCH", space_of(home, copy), json={"mergeRules": rules})
    world.post("admin", space_of(home, copy, "/move"), {"parent": home["collectionId"]})
    world.post(
        "admin",
        space_of(home, copy, "/permissions"),
        {"role": "edit", "users": [world.users["reader"]], "teams": [home["teamId"]]},
    )
    change = world.post("admin", space_of(home, copy, "/change-requests"), {"subject": "S"})["id"]
    requested = {"users": [world.users["reviewer"]]}
    world.post("admin", space_of(home, copy, f"/change-requests/{change}/requested-reviewers"), requested)
    pages = world.get("admin", space_of(home, copy, "/content/pages"))

    body = {"organization": away["organizationId"]}
    world.call("admin", "DELETE", home.path("/orgs/{organizationId}/sites/{siteId}"))
    answer = world.post("admin", home.path("/collections/{collectionId}/transfer"), body)
    assert answer["organization"] == away["organizationId"]
    space = world.get("admin", space_of(home, copy))
    assert (space["organization"], space["parent"]) == (away["organizationId"], home["collectionId"])
    assert space["mergeRules"]["rules"] == [
        {"rule": "require_specific_reviewers", "users": [world.users["admin"]]},
        {"rule": "require_at_least_one_review"},
    ]
    assert without_places(world.get("admin", space_of(home, copy, "/content/pages"))) == without_places(pages)
    assert world.get("stranger", space_of(home, copy))["id"] == copy
    for who in ("creator", "reader"):
        assert world.call(who, "GET", space_of(home, copy)).status_code == 404
    assert rows_of(world, "SELECT * FROM grants WHERE object_id = :s", s=copy) == []
    assert rows_of(world, "SELECT * FROM change_reviewers WHERE change_id = :c", c=change) == []
    listed = {
        place["organizationId"]: world.get("admin", place.path("/orgs/{organizationId}/change-requests"))
        for place in (home, away)
    }
    assert change in {item["id"] for item in listed[away["organizationId"]]["items"]}
    assert change not in {item["id"] for item in listed[home["organizationId"]]["items"]}


def test_closed_spaces_stay_closed_except_for_the_caller(world: World) -> None:
    both(world, "create")
    home, away = world.home, world.away
    world.call("admin", "PATCH", home.path("/collections/{collectionId}"), json={"defaultLevel": None})
    space = world.post("admin", home.path("/orgs/{organizationId}/spaces"), {"parent": home["collectionId"]})[
        "id"
    ]
    moved = world.post("admin", space_of(home, space, "/transfer"), {"organization": away["organizationId"]})
    assert moved["defaultLevel"] is None
    assert moved["permissions"]["admin"]
    with world.context.db.write() as tx:
        upsert_member(tx, away["organizationId"], world.users["reader"], "edit")
    assert world.call("reader", "GET", space_of(home, space)).status_code == 404
