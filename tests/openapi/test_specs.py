"""Specifications are stored unchanged, and the last valid version stays."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from octavo.content.revisions.bodies import get_body, put_bodies
from octavo.kit.clock import now
from octavo.kit.db.migrations import load_migrations
from octavo.kit.net.fetch import Fetcher, FetchTimeout
from octavo.sites.openapi import processing, publishing, store
from octavo.sites.openapi.problems import MOST
from octavo.sites.openapi.processing import check_specs, process_spec
from world import World

from .specs import SMALL, SPEC, content, processed, put, serving


@pytest.fixture
def reachable(world: World, monkeypatch: pytest.MonkeyPatch):
    """Allow the world to fetch from a host of the tests."""

    def allow(host: str) -> None:
        settings = msgspec.structs.replace if isinstance(world.context.settings, msgspec.Struct) else replace
        changed = settings(world.context.settings, allow_private_fetch=host)
        monkeypatch.setattr(world.context, "settings", changed)

    return allow


def _jobs(world: World) -> int:
    with world.context.db.read() as tx:
        return int(tx.value("SELECT count(*) FROM jobs WHERE kind = 'processSpec'"))


@pytest.mark.sqlite_first
def test_a_specification_is_processed_by_a_job(world: World) -> None:
    before = _jobs(world)
    answer = put(world, "small", {"text": SMALL})
    assert answer.status_code == 201
    assert answer.json()["processingState"] == "pending"
    assert "lastVersion" not in answer.json()
    assert _jobs(world) == before + 1
    spec = processed(world, "small")
    assert spec["processingState"] == "complete"
    assert "lastProcessErrorCode" not in spec and "lastProcessedErrors" not in spec
    assert spec["lastProcessedAt"] and spec["visibility"] == "private"
    found = content(world, "small")
    assert next(iter(found["filesystem"].values()))["specification"]["info"] == {
        "title": "Small",
        "version": "1",
    }
    assert found["url"].startswith("http")


@pytest.mark.sqlite_first
def test_the_same_content_is_the_same_version(world: World) -> None:
    first = processed(world, "small", {"text": SMALL})["lastVersion"]
    assert put(world, "small", {"text": SMALL}).status_code == 200
    assert processed(world, "small")["lastVersion"] == first
    second = processed(world, "small", {"text": SMALL.replace("Small", "Larger")})["lastVersion"]
    assert second != first
    versions = world.get("reader", world.home.path(SPEC, specSlug="small") + "/versions")
    assert [version["id"] for version in versions["items"]] == [second, first]
    page = world.get("reader", world.home.path(SPEC, specSlug="small") + "/versions?limit=1")
    assert page["count"] == 2
    path = world.home.path(SPEC, specSlug="small") + f"/versions?limit=1&page={page['next']['page']}"
    assert [version["id"] for version in world.get("reader", path)["items"]] == [first]


@pytest.mark.sqlite_first
def test_the_raw_text_is_returned_as_submitted(world: World) -> None:
    path = world.home.path(SPEC, specSlug="small") + "/versions/latest/content/raw"
    put(world, "small", {"text": SMALL})
    assert world.call("reader", "GET", path).status_code == 404, "there is no valid version yet"
    processed(world, "small", {"text": SMALL})
    assert world.get("reader", path) == {"text": SMALL, "format": "yaml"}
    other = msgspec.json.encode(
        {"openapi": "3.0.0", "info": {"title": "A", "version": "1"}, "paths": {}}
    ).decode()
    processed(world, "small", {"text": f"  {other}\n"})
    assert world.get("reader", path) == {"text": f"  {other}\n", "format": "json"}
    assert world.call("stranger", "GET", path).status_code == 404


@pytest.mark.sqlite_first
def test_invalid_versions_report_the_error_and_keep_the_last_valid_one(world: World) -> None:
    good = processed(world, "small", {"text": SMALL})["lastVersion"]
    wrong = SMALL + "components:\n  schemas:\n    A: {$ref: '#/components/schemas/B'}\n"
    spec = processed(world, "small", {"text": wrong})
    assert (spec["processingState"], spec["lastProcessErrorCode"]) == ("complete", "PARSE_ERROR")
    assert spec["lastVersion"] == good
    assert spec["lastProcessedErrors"] == [
        {
            "message": "`#/components/schemas/B`: there is nothing at this location. Correct the reference.",
            "code": "INVALID_REFERENCE",
            "pointer": "#/components/schemas/A/$ref",
            "line": 6,
        }
    ]
    assert spec["lastProcessedErrorCount"] == 1
    assert (
        next(iter(content(world, "small")["filesystem"].values()))["specification"]["info"]["title"]
        == "Small"
    )
    world.post("creator", world.home.path(SPEC, specSlug="small") + "/check")
    assert processed(world, "small")["lastProcessErrorCode"] == "PARSE_ERROR"
    fixed = processed(world, "small", {"text": SMALL})
    assert "lastProcessErrorCode" not in fixed and fixed["lastProcessedErrorCount"] == 0


@pytest.mark.sqlite_first
@pytest.mark.parametrize("number", [3, MOST + 7])
def test_all_errors_are_counted_but_only_the_first_kept(world: World, number: int) -> None:
    missing = "".join(f"    A{n}: {{$ref: '#/components/schemas/B{n}'}}\n" for n in range(number))
    invalid = "paths:\n" + "".join(f"  /p{n}: {{get: {{responses: 7}}}}\n" for n in range(number))
    for slug, text in (
        ("references", f"{SMALL}components:\n  schemas:\n{missing}"),
        ("schema", f"openapi: 3.1.0\ninfo: {{title: A, version: '1'}}\n{invalid}"),
    ):
        spec = processed(world, slug, {"text": text})
        assert spec["lastProcessedErrorCount"] == number
        assert len(spec["lastProcessedErrors"]) == min(number, MOST)


@pytest.mark.sqlite_first
def test_a_source_is_requested_again_conditionally(world: World, reachable) -> None:
    with serving() as source:
        reachable(source.host)
        spec = processed(world, "remote", {"url": source.url})
        assert (spec["sourceURL"], spec["processingState"]) == (source.url, "complete")
        assert "if-none-match" not in source.asked[0]
        path = world.home.path(SPEC, specSlug="remote")
        assert world.post("creator", f"{path}/check")["processingState"] == "pending"
        again = processed(world, "remote")
        assert source.asked[1]["if-none-match"]
        assert again["lastVersion"] == spec["lastVersion"]
        source.body = SMALL.replace("Small", "New").encode()
        world.post("creator", f"{path}/check")
        assert processed(world, "remote")["lastVersion"] != spec["lastVersion"]


@pytest.mark.sqlite_first
def test_sources_are_checked_every_six_hours(world: World, reachable, monkeypatch) -> None:
    with serving() as source:
        reachable(source.host)
        processed(world, "remote", {"url": source.url})
        before = _jobs(world)
        check_specs(world.context)
        assert _jobs(world) == before
        monkeypatch.setattr(processing, "now", lambda: now() + processing.EVERY + 1)
        check_specs(world.context)
        assert _jobs(world) == before + 1
        check_specs(world.context)
        assert world.get("reader", world.home.path(SPEC, specSlug="remote"))["processingState"] == "pending"


def test_interrupted_processing_starts_again(world: World, monkeypatch) -> None:
    put(world, "small", {"text": SMALL})
    monkeypatch.setattr(processing, "now", lambda: now() + publishing.PATIENCE + 1)
    check_specs(world.context)
    with world.context.db.read() as tx:
        spec = store.find_spec(tx, world.home["organizationId"], "small")
    assert spec is not None and spec.generation == 2
    process_spec(world.context, spec.id, 1)
    assert world.get("reader", world.home.path(SPEC, specSlug="small"))["processingState"] == "pending"
    assert processed(world, "small")["processingState"] == "complete"


@pytest.mark.sqlite_first
@pytest.mark.parametrize("status", [404, 500, 204])
def test_a_missing_source_is_reported(world: World, reachable, status: int) -> None:
    with serving() as source:
        reachable(source.host)
        good = processed(world, "remote", {"url": source.url})["lastVersion"]
        source.status, source.body = status, b""
        world.post("creator", world.home.path(SPEC, specSlug="remote") + "/check")
        spec = processed(world, "remote")
        assert (spec["lastProcessErrorCode"], spec["lastVersion"]) == ("FETCH_ERROR", good)
        assert str(status) in spec["lastProcessedErrors"][0]["message"]


def test_a_source_that_is_no_longer_a_specification_is_reported(world: World, reachable) -> None:
    with serving() as source:
        reachable(source.host)
        good = processed(world, "remote", {"url": source.url})["lastVersion"]
        for body in (b"<html>Sign in</html>", b"\x89PNG\r\n", b"[]", b"", b"PK\x03\x04nothing"):
            source.body = body
            world.post("creator", world.home.path(SPEC, specSlug="remote") + "/check")
            spec = processed(world, "remote")
            assert (spec["lastProcessErrorCode"], spec["lastVersion"]) == ("PARSE_ERROR", good), body
        source.body = b"#" * (17 * 1024 * 1024)
        world.post("creator", world.home.path(SPEC, specSlug="remote") + "/check")
        assert processed(world, "remote")["lastProcessErrorCode"] == "FETCH_ERROR"


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:9/openapi.json",
        "http://[::1]/",
        "http://169.254.169.254/latest/meta-data",
        "http://2130706433/",
        "http://0x7f.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://user:pass@example.org/",
        "http://localhost/openapi.json",
    ],
)
def test_sources_in_private_networks_are_refused(world: World, url: str) -> None:
    assert processed(world, "inside", {"url": url})["lastProcessErrorCode"] == "FETCH_ERROR"


@pytest.mark.sqlite_first
def test_a_redirect_into_a_private_network_is_refused(world: World, reachable) -> None:
    with serving() as source:
        reachable(source.host)
        source.status, source.headers = 302, {"Location": "http://127.0.0.1:9/secret"}
        assert processed(world, "inside", {"url": source.url})["lastProcessErrorCode"] == "FETCH_ERROR"


@pytest.mark.sqlite_first
def test_an_unresponsive_source_is_reported(world: World, monkeypatch) -> None:
    def never(*args, **options):
        raise FetchTimeout("api.example.org: no whole answer within 30 seconds")

    monkeypatch.setattr(Fetcher, "fetch", never)
    spec = processed(world, "slow", {"url": "https://api.example.org/openapi.json"})
    assert spec["lastProcessErrorCode"] == "FETCH_TIMEOUT"
    assert "lastVersion" not in spec
    path = world.home.path(SPEC, specSlug="slow")
    assert world.call("reader", "GET", f"{path}/versions/latest").status_code == 404
    assert world.call("reader", "GET", f"{path}/versions/latest/content").status_code == 404


@pytest.mark.sqlite_first
def test_several_files_form_one_specification(world: World, reachable) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(
            "api/openapi.yaml",
            SMALL + "components: {schemas: {Pet: {$ref: 'models/pet.yaml#/Pet'}}}\n",
        )
        archive.writestr("api/models/pet.yaml", "Pet: {type: array, items: {$ref: '#/Pet'}}\n")
        archive.writestr("README.md", "not read")
    with serving(packed.getvalue()) as source:
        reachable(source.host)
        spec = processed(world, "packed", {"url": source.url})
    assert "lastProcessErrorCode" not in spec, spec
    description, other = content(world, "packed")["filesystem"].values()
    # In the form that parsers load: references name files, wherever they are.
    path = "api/models/pet.yaml"
    shown = {"dir": "./", "filename": "api/openapi.yaml", "isEntrypoint": True, "references": [path]}
    assert description.items() >= shown.items()
    assert description["specification"]["components"]["schemas"]["Pet"] == {"$ref": f"{path}#/Pet"}
    assert other == {
        "dir": "./",
        "filename": path,
        "isEntrypoint": False,
        "references": [],
        "specification": {"Pet": {"type": "array", "items": {"$ref": "#/Pet"}}},
    }


def test_anyone_with_the_link_reads_a_public_specification(world: World) -> None:
    path = world.home.path(SPEC)
    spec = world.get("reader", path)
    published = world.home.path("/openapi/{specId}")
    assert "published" not in spec["urls"]
    assert world.call("nobody", "GET", published).status_code == 404
    changed = world.call("creator", "PATCH", path, json={"visibility": "public"}).json()
    assert changed["urls"]["published"].endswith(published)
    answer = world.call("nobody", "GET", changed["urls"]["published"])
    assert answer.json()["info"]["title"] == "Pets"
    world.call("creator", "PATCH", path, json={"visibility": "private"})
    assert world.call("nobody", "GET", published).status_code == 404


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    ("slug", "source", "named"),
    [
        ("-a", {"text": SMALL}, "specSlug"),
        ("a--b", {"text": SMALL}, "specSlug"),
        ("a" * 101, {"text": SMALL}, "specSlug"),
        ("a", {}, "source"),
        ("a", {"text": SMALL, "url": "https://example.org/"}, "source"),
        ("a", {"text": ""}, "source.text"),
        ("a", {"url": "ftp://example.org/"}, "source.url"),
        ("a", {"url": "https://example.org/" + "a" * 2048}, "source.url"),
        ("a", {"file": "x"}, "source"),
    ],
)
def test_invalid_sources_are_refused_immediately(world: World, slug: str, source, named: str) -> None:
    answer = put(world, slug, source)
    assert answer.status_code == 400
    assert named in answer.json()["error"]["message"]


@pytest.mark.sqlite_first
def test_slugs_can_have_both_cases_and_are_unique(world: World) -> None:
    path = world.home.path("/orgs/{organizationId}/openapi")
    body = {"slug": "Billing-V2", "source": {"text": SMALL}}
    assert world.post("creator", path, body)["slug"] == "Billing-V2"
    again = world.call("creator", "POST", path, json=body)
    assert again.status_code == 400 and "slug" in again.json()["error"]["message"]
    assert [spec["slug"] for spec in world.get("reader", path)["items"]] == ["Billing-V2", "pets"]


def test_deleting_a_specification_deletes_its_versions(world: World) -> None:
    path = world.home.path(SPEC)
    assert world.call("creator", "DELETE", path).status_code == 205
    assert world.call("creator", "DELETE", path).status_code == 204
    assert world.call("reader", "GET", f"{path}/versions").status_code == 404
    with world.context.db.read() as tx:
        here = "spec_id = :spec"
        assert tx.value(f"SELECT count(*) FROM openapi_versions WHERE {here}", spec=world.home["specId"]) == 0
        assert tx.value("SELECT count(*) FROM unused WHERE kind = 'text'") > 0
    process_spec(world.context, world.home["specId"], 1)


def test_old_versions_are_deleted(world: World, monkeypatch) -> None:
    monkeypatch.setattr(processing, "VERSIONS", 2)
    for number in range(4):
        last = processed(world, "small", {"text": SMALL.replace("'1'", f"'1.{number}'")})
    versions = world.get("reader", world.home.path(SPEC, specSlug="small") + "/versions")
    assert versions["count"] == 2
    assert versions["items"][0]["id"] == last["lastVersion"]


def test_a_source_replaced_in_the_meantime_wins(world: World, monkeypatch) -> None:
    put(world, "small", {"text": SMALL})
    with world.context.db.read() as tx:
        spec = store.find_spec(tx, world.home["organizationId"], "small")
    assert spec is not None
    compile_apart = processing.compile_apart

    def meanwhile(data: bytes):
        put(world, "small", {"text": SMALL.replace("Small", "Newer")})
        return compile_apart(data)

    monkeypatch.setattr(processing, "compile_apart", meanwhile)
    process_spec(world.context, spec.id, spec.generation)
    assert "lastVersion" not in world.get("reader", world.home.path(SPEC, specSlug="small"))
    monkeypatch.undo()
    processed(world, "small")
    assert (
        next(iter(content(world, "small")["filesystem"].values()))["specification"]["info"]["title"]
        == "Newer"
    )


@pytest.mark.sqlite_first
def test_an_organization_starts_with_a_specification(world: World) -> None:
    made = world.post("creator", "/orgs?openapiUrl=https://api.example.org/openapi.json", {"title": "Fresh"})
    spec = world.get("creator", f"/orgs/{made['id']}/openapi/api")
    assert (spec["sourceURL"], spec["processingState"]) == ("https://api.example.org/openapi.json", "pending")
    plain = world.post("creator", "/orgs", {"title": "Plain"})
    assert world.get("creator", f"/orgs/{plain['id']}/openapi")["items"] == []
    answer = world.call("creator", "POST", "/orgs?openapiUrl=file:///etc/passwd", json={"title": "Bad"})
    assert answer.status_code == 400 and "openapiUrl" in answer.json()["error"]["message"]


def test_references_to_specifications_are_valid_if_one_exists(world: World) -> None:
    blocks = "".join(
        f'{{% openapi-operation spec="{slug}" path="/pets" method="get" %}}\n{{% endopenapi-operation %}}\n\n'
        for slug in ("pets", "cats")
    )
    edit = {"operation": "insert_page", "document": {"markdown": f"# Calls\n\n{blocks}"}}
    world.post("admin", world.home.path("/spaces/{spaceId}/content"), {"changes": [edit]})
    links = world.get("reader", world.home.path("/spaces/{spaceId}/links?limit=1000"))["items"]
    targets = [
        (link["status"], link.get("targetReference")) for link in links if link["relation"] == "dependsOn"
    ]
    found = {status: it for status, it in targets if it is None or it["kind"] == "openapi"}
    assert found["broken"] is None and found["ok"]["kind"] == "openapi"
    # With the caller's own access to the specification.
    itself = world.get("reader", world.home.path(SPEC, specSlug="pets"))
    assert found["ok"]["openAPISpec"] == itself and not itself["permissions"]["edit"]
    assert found["ok"]["organization"]["id"] == world.home["organizationId"]
    guest = world.get("guest", "/user")["id"]
    path = world.home.path("/spaces/{spaceId}/permissions")
    world.post("admin", path, {"role": "read", "users": [guest]})
    seen = world.get("guest", world.home.path("/spaces/{spaceId}/links?limit=1000"))["items"]
    assert all(link.get("targetReference", {}).get("kind") != "openapi" for link in seen)


@pytest.mark.sqlite_first
def test_asyncapi_is_refused_with_an_explanation(world: World) -> None:
    processed(
        world, "events", {"text": "asyncapi: 3.0.0\ninfo: {title: Events, version: '1'}\nchannels: {}\n"}
    )
    found = world.get("admin", world.home.path("/orgs/{organizationId}/openapi/events"))
    assert "AsyncAPI" in str(found)


def test_content_contains_the_public_url_of_the_specification(world: World) -> None:
    processed(world, "shown", {"text": SMALL})
    urls = content(world, "shown")["urls"]
    assert urls["source"].startswith("http") and urls["public"] is None
    path = world.home.path("/orgs/{organizationId}/openapi/shown")
    changed = world.call("creator", "PATCH", path, json={"visibility": "public"}).json()
    assert content(world, "shown")["urls"]["public"] == changed["urls"]["published"]


EXACT = "openapi: 3.1.0\ninfo: {title: Exact, version: '1'}\npaths: {}\nx-largest: 9223372036854775807\n"


def test_specifications_parsed_by_an_older_version_are_parsed_again(world: World, reachable) -> None:
    """As an older version stored them, until the migration."""
    largest = 9223372036854775807

    def document(slug: str) -> Any:
        with world.context.db.read() as tx:
            spec = store.find_spec(tx, world.home["organizationId"], slug)
            assert spec is not None and spec.version_id is not None
            version = store.find_version(tx, spec.id, spec.version_id)
            assert version is not None
            return msgspec.json.decode(get_body(tx, version.document))

    with serving(EXACT.encode()) as source:
        reachable(source.host)
        processed(world, "text", {"text": EXACT})
        processed(world, "url", {"url": source.url})
        with world.context.db.write() as tx:
            (older,) = put_bodies(tx, ['{"x-largest": 9.223372036854776e18}'])
            for slug in ("text", "url"):
                spec = store.find_spec(tx, world.home["organizationId"], slug)
                assert spec is not None
                tx.run(
                    "UPDATE openapi_versions SET document = :older WHERE id = :id",
                    older=older,
                    id=spec.version_id,
                )
        migration = next(
            m for m in load_migrations("octavo.operations.migrations") if m.name.endswith("read_specs_again")
        )
        with world.context.db.write() as tx:
            for statement in migration.sql.split(";\n"):
                if statement.strip():
                    tx.run(statement)
        check_specs(world.context)
        for slug in ("text", "url"):
            assert processed(world, slug)["processingState"] == "complete"
            assert document(slug)["x-largest"] == largest
            assert content(world, slug)["filesystem"]["openapi.yaml"]["specification"]["x-largest"] == largest
