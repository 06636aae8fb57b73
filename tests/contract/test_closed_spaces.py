"""Operations on many objects check permissions for each one.

A person can create and change sites and collections. A collection contains a space, and a site shows it, that
is closed to them: no operation reveals anything about that space or changes it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from gitsync.developers import Developer, local_remotes
from octavo.interchange.gitsync.project_running import run_project
from octavo.kit.http.operation import TABLE, Operation
from octavo.kit.ids import new_id
from octavo.operations.installation import load_packages
from world import World, _KeptSqlite

from .samples import TOLD_ELSEWHERE, sample_of, send

load_packages()

WHO = "creator"
SITE = "/orgs/{organizationId}/sites/{siteId}"
WORD = "zqclosed"
"""Prefix of every word that occurs only in the space."""
OF_THE_SPACE = {
    "spaces": "id",
    "grants": "object_id",
    "change_requests": "space_id",
    "git_syncs": "space_id",
    "site_spaces": "space_id",
    "integration_places": "space_id",
}
"""What is kept of a space, and by which column."""


class Closed:
    """An organization with a space that is closed to who manages the site and the collection it is in.
    ``synced``: which of the two is synced with a repository by an administrator."""

    def __init__(self, world: World, folder: Path, synced: str) -> None:
        self.world, self.place, self.synced = world, world.home, synced

        def call(method: str, path: str, body: Any = None) -> Any:
            answer = world.call(
                "admin", method, self.place.path(path), **({} if body is None else {"json": body})
            )
            assert answer.is_success, answer.text
            return answer.json() if answer.content else None

        given = {"title": f"{WORD} plans", "parent": self.place["collectionId"]}
        self.space = call("POST", "/orgs/{organizationId}/spaces", given)["id"]
        page = {
            "operation": "insert_page",
            "title": f"{WORD}page",
            "document": {"markdown": f"{WORD}words are secret.\n"},
        }
        call("POST", f"/spaces/{self.space}/content", {"changes": [page]})
        call("PATCH", f"/spaces/{self.space}", {"defaultLevel": None, "language": "de"})
        # Its section is hidden from visitors, who can see published content.
        section = {"spaceId": self.space, "title": f"{WORD} section", "draft": True}
        self.section = call("POST", f"{SITE}/sections", section)["id"]
        shown = call("GET", f"{SITE}/site-spaces?limit=100")["items"]
        self.site_space = next(one["id"] for one in shown if one["space"]["id"] == self.space)
        if synced:
            at = {"collection": "/collections/{collectionId}", "site": SITE}[synced]
            self._sync(self.place.path(at), folder)
        self._file = folder / "closed.db"
        self.keep()

    def keep(self) -> None:
        """Make the current state the one that each call starts from."""
        self._kept = _KeptSqlite(self.world._folder / "octavo.db", self._file, self.world.context.db)
        self._ids, self._seen = dict(self.place.ids), self.world.commits

    def _sync(self, at: str, folder: Path) -> None:
        developer = Developer(folder / "repository")
        body = {"remote": developer.url, "branch": "main", "first": "export"}
        with local_remotes(self.world):
            assert self.world.post("admin", f"{at}/git/sync", body)["type"]
            done = run_project(self.world.context, at.rpartition("/")[2], "asked", new_id())
        shown = self.world.get("admin", f"{at}/git/sync")
        assert done == "synced" and self.space in [one["space"] for one in shown["spaces"]]
        assert any(WORD in path for path in developer.files)

    def renew(self) -> None:
        """Restore the initial state, if anything was written since."""
        self.place.ids = dict(self._ids)
        if self.world.commits != self._seen:
            self._kept.restore(self.world.context.db)
            self._seen = self.world.commits = self.world.commits + 1

    def close(self) -> None:
        self._kept.close()

    def facts(self) -> dict[str, Any]:
        """Return everything that is stored about the space."""
        with self.world.context.db.read() as tx:
            tables = {
                table: tx.all(f"SELECT * FROM {table} WHERE {column} = :id ORDER BY 1", id=self.space)
                for table, column in OF_THE_SPACE.items()
            }
            sections = tx.all("SELECT * FROM site_sections WHERE id = :id", id=self.section)
        return {**tables, "site_sections": sections}

    def told(self, text: str) -> list[str]:
        """Return the parts of the closed space that a text reveals."""
        return [
            word
            for word in (WORD, self.space, self.section, self.site_space)
            if word in text.lower() or word in text
        ]


@pytest.fixture(
    params=["", "collection", "site"], ids=["alone", "in a synced collection", "on a synced site"]
)
def closed(request: pytest.FixtureRequest, sqlite_world: World, tmp_path: Path) -> Iterator[Closed]:
    made = Closed(sqlite_world, tmp_path, request.param)
    yield made
    made.renew()
    made.close()


def collective() -> list[Operation]:
    """Return the operations on a site or a collection, and on the organization that owns them."""
    return [
        operation
        for operation in TABLE.values()
        if operation.id not in TOLD_ELSEWHERE
        and any(name in operation.path for name in ("{siteId}", "{collectionId}", "{organizationId}"))
        and "{spaceId}" not in operation.path
    ]


MORE = {
    operation: [{"first": "import"}, {"first": "export"}]
    for operation in ("runCollectionGitSync", "runSiteGitSync")
}
"""Bodies beside those of the samples, by which an operation does something else."""
SEARCHING = {"query", "search", "question"}
"""Fields that contain words to search for."""
OWN = {"deleteSiteById"}
"""What is done to the site itself: it goes with its sync, and the space stays what it was."""


def calls_of(closed: Closed, operation: Operation) -> list[dict[str, Any]]:
    """Return the requests to send: the sample, each field of its body alone, and queries for words of the space."""
    sample = sample_of(operation)
    given, query = sample.body_for(closed.place), sample.query_for(closed.place)
    bodies = [given, *MORE.get(operation.id, [])]
    if isinstance(given, dict):
        bodies += [{name: value} for name, value in given.items() if len(given) > 1]
        bodies += [{**given, name: WORD} for name in SEARCHING & given.keys()]
    return [
        *({} if body is None else {"json": body} for body in bodies),
        *({"params": {**query, name: WORD}} for name in sorted(SEARCHING & asked_by(operation))),
    ]


def asked_by(operation: Operation) -> set[str]:
    fields = msgspec.structs.fields(operation.query) if operation.query is not None else ()
    return {field.encode_name for field in fields}


def changed_by_each(
    closed: Closed, operations: list[Operation], who: str = WHO
) -> Iterator[tuple[str, str, set[str]]]:
    """Return each call by ``who``, its response, and what it changed in the space."""
    as_made = closed.facts()
    assert all(as_made[name] for name in ("spaces", "site_spaces", "site_sections"))
    for operation in operations:
        sample, number, calls = sample_of(operation), 0, [dict[str, Any]()]
        while number < len(calls):
            closed.renew()
            if sample.before is not None:
                sample.before(closed.world, closed.place)
            before = closed.facts() if sample.before is not None else as_made
            calls = calls_of(closed, operation)
            answer = send(closed.world, who, operation, closed.place, **calls[number])
            after = closed.facts()
            changed = {name for name in before if before[name] != after[name]}
            told = answer.text.replace(f'"query":"{WORD}"', "")
            yield f"{operation.id} {json.dumps(calls[number])}: {answer.status_code}", told, changed
            number += 1


def test_closed_spaces_are_neither_shown_nor_modified(closed: Closed) -> None:
    wrong = []
    assert closed.world.call(WHO, "GET", f"/spaces/{closed.space}").status_code == 404
    search = closed.place.path("/orgs/{organizationId}/search")
    assert closed.told(closed.world.call("admin", "GET", search, params={"query": WORD}).text)
    for call, text, changed in changed_by_each(closed, collective()):
        if told := closed.told(text):
            wrong.append(f"{call} tells {told}")
        if changed and call.partition(" ")[0] not in OWN:
            wrong.append(f"{call} changes {changed}")
    assert not wrong, "\n".join(wrong)


def test_readers_of_a_space_only_change_its_place_on_the_site(closed: Closed) -> None:
    body = {"role": "read", "users": [closed.world.users[WHO]]}
    closed.world.post("admin", f"/spaces/{closed.space}/permissions", body)
    closed.close()
    closed.keep()
    of_the_site = {"site_spaces", "site_sections", "integration_places"}
    # Reading causes no sync, so it does the same whether or not there is one.
    operations = [op for op in collective() if not closed.synced or op.method != "GET"]
    wrong = [
        f"{call} changes {changed - of_the_site}"
        for call, _, changed in changed_by_each(closed, operations)
        if changed - of_the_site and call.partition(" ")[0] not in OWN
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("closed", [""], indirect=True, ids=["alone"])
def test_a_role_for_a_site_gives_no_access_to_its_spaces(closed: Closed) -> None:
    """A guest who manages the site, and has access to none of its spaces."""
    body = {"role": "create", "users": [closed.world.users["guest"]]}
    closed.world.post("admin", closed.place.path(f"{SITE}/permissions"), body)
    closed.close()
    closed.keep()
    of_sites = [operation for operation in collective() if "{siteId}" in operation.path]
    assert closed.world.call("guest", "GET", closed.place.path(SITE)).status_code == 200
    wrong = []
    for call, text, changed in changed_by_each(closed, of_sites, "guest"):
        if told := closed.told(text):
            wrong.append(f"{call} tells {told}")
        if changed and call.partition(" ")[0] not in OWN:
            wrong.append(f"{call} changes {changed}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("closed", [""], indirect=True, ids=["alone"])
def test_parts_of_a_site_with_closed_spaces_are_not_found_by_their_ids(closed: Closed) -> None:
    """The IDs can be known from earlier, from a log, or from someone who can see the space."""
    closed.place.ids |= {"siteSectionId": closed.section, "siteSpaceId": closed.site_space}
    closed.close()
    closed.keep()
    wrong = []
    for call, text, changed in changed_by_each(closed, collective()):
        if WORD in text.lower():
            wrong.append(f"{call} tells {text}")
        if changed and call.partition(" ")[0] not in OWN:
            wrong.append(f"{call} changes {changed}")
    assert not wrong, "\n".join(wrong)
