"""Links to PDFs: who gets one, its target, and the printed content."""

from __future__ import annotations

import asyncio
import io
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from pypdf import PdfReader

from octavo.core.document import containing
from octavo.delivery.reader.app import reader_edge
from octavo.kit.clock import now
from octavo.kit.work.worker import Worker
from octavo.organization.spaces import garbage
from octavo.organization.spaces.garbage import release
from octavo.sites.printing import print_job, store
from octavo.sites.printing.order import ContainedFailure, PrintOrder, PrintResult
from set_clock import SetClock
from world import World

pytestmark = pytest.mark.sqlite_first


def fetch(world: World, url: str) -> httpx.Response:
    """Return what a browser gets at the link after the jobs have run."""

    async def both() -> httpx.Response:
        transport = httpx.ASGITransport(reader_edge(world.context).application)
        async with httpx.AsyncClient(transport=transport, base_url="http://sites.test", timeout=60) as client:
            path = url.removeprefix(world.context.settings.sites_url)
            asked = asyncio.ensure_future(client.get(path))
            while not asked.done():
                await asyncio.sleep(0.05)
                worker = Worker(world.context.db, world.context)
                await asyncio.get_running_loop().run_in_executor(None, worker.run_pending)
            return asked.result()

    return asyncio.run(both())


def link(world: World, who: str = "reader", what: str = "/spaces/{spaceId}/pdf", **query: Any) -> str:
    return str(world.get(who, world.home.path(what), params=query)["url"])


def count_prints(world: World) -> int:
    with world.context.db.read() as tx:
        return int(tx.value("SELECT count(*) FROM prints"))


def test_a_space_is_printed_once_for_each_state(world: World) -> None:
    made = fetch(world, link(world))
    assert made.status_code == 200, made.text
    assert made.headers["content-type"] == "application/pdf"
    assert 'filename="handbook.pdf"' in made.headers["content-disposition"]
    assert made.content.startswith(b"%PDF-")
    # Cached while the link is valid, only by the browser that opened it.
    scope, _, age = made.headers["cache-control"].partition(", max-age=")
    assert scope == "private" and 3000 < int(age) <= 3600
    assert len(re.findall(rb"/Type\s*/Page\b", made.content)) > 3
    # A single page has no cover and contents.
    one = fetch(world, link(world, page=world.home["pageId"], only=True))
    assert len(re.findall(rb"/Type\s*/Page\b", one.content)) == 1
    assert fetch(world, link(world)).content == made.content
    assert count_prints(world) == 2


def test_a_change_request_is_printed_with_its_changes(world: World) -> None:
    main = link(world)
    change = link(world, what="/spaces/{spaceId}/change-requests/{changeRequestId}/pdf")
    assert fetch(world, change).status_code == 200
    assert fetch(world, main).status_code == 200
    assert count_prints(world) == 2


def test_requesting_a_link_writes_nothing(world: World) -> None:
    before = world.digest()
    link(world)
    assert world.digest() == before


def test_a_link_expires_after_an_hour(world: World, clock: SetClock) -> None:
    url = link(world)
    clock.advance(3_600_001)
    assert fetch(world, url).status_code == 404
    assert count_prints(world) == 0


def test_a_forged_link_opens_nothing(world: World) -> None:
    url = link(world)
    head, token, name = url.rsplit("/", 2)
    for forged in (token[:-2] + "AA", token.partition(".")[0], "x"):
        assert fetch(world, f"{head}/{forged}/{name}").status_code == 404
    # A token for another purpose isn't valid for this.
    other = world.context.signer.sign("file:content", "{}", now() + 1000)
    assert fetch(world, f"{head}/{other}/{name}").status_code == 404
    assert count_prints(world) == 0


def test_missing_and_foreign_pages_are_not_found(world: World) -> None:
    for page in ("nosuchpage", world.away["pageId"]):
        answer = world.call("reader", "GET", world.home.path("/spaces/{spaceId}/pdf"), params={"page": page})
        assert answer.status_code == 404
    bad = world.call("reader", "GET", world.home.path("/spaces/{spaceId}/pdf"), params={"only": "perhaps"})
    assert bad.status_code == 400


def test_unprintable_content_returns_422(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(print_job, "_run", lambda folder, arguments: False)
    answer = fetch(world, link(world))
    assert answer.status_code == 422
    assert "requires more memory or time" in answer.text


def test_old_prints_are_deleted(world: World) -> None:
    url = link(world)
    fetch(world, url)
    with world.context.db.read() as tx:
        file = tx.value("SELECT file FROM prints")
    with world.context.db.write() as tx:
        tx.run("UPDATE prints SET created_at = :old", old=now() - print_job.KEPT - 1)
    print_job.forget_old_prints(world.context)
    assert count_prints(world) == 0
    sweep_a_day_later(world)
    assert not world.context.files.exists(file)


def test_a_print_keeps_the_uploaded_bytes(world: World) -> None:
    with world.context.db.read() as tx:
        held = tx.value("SELECT content FROM item_versions WHERE kind = 'file'")
    wanted = store.PrintSubject(world.home["spaceId"], world.home["revisionId"])
    with world.context.db.write() as tx:
        store.insert_print(tx, wanted.id_in(""), wanted)
        store.finish_print(tx, wanted.id_in(""), held, 1)
        store.forget_prints(tx, now() + 1)
    assert count_prints(world) == 0
    sweep_a_day_later(world)
    assert world.context.files.exists(held)


def test_the_sweep_keeps_files_used_by_a_print(world: World) -> None:
    fetch(world, link(world))
    with world.context.db.write() as tx:
        file = tx.value("SELECT file FROM prints")
        release(tx, "file", "SELECT file AS hash FROM prints")
    sweep_a_day_later(world)
    assert world.context.files.exists(file)


def sweep_a_day_later(world: World) -> None:
    with world.context.db.write() as tx:
        tx.run("UPDATE unused SET released_at = 0")
    garbage.remove_unused(world.context)


@pytest.mark.slow
def test_prints_are_recreated_when_an_api_specification_changes(world: World) -> None:
    url = link(world)
    assert fetch(world, url).status_code == 200 and count_prints(world) == 1
    path = world.home.path("/orgs/{organizationId}/openapi/prints")
    text = '{"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": {}}'
    assert world.call("creator", "PUT", path, json={"source": {"text": text}}).is_success
    Worker(world.context.db, world.context).run_pending()
    assert count_prints(world) == 0
    assert fetch(world, url).status_code == 200 and count_prints(world) == 1


def test_failed_blocks_of_a_print_are_reported(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str, int]] = []

    def compile_badly(order: PrintOrder, folder: Path) -> PrintResult:
        result = compile_order(order, folder)
        return replace(result, contained=[ContainedFailure("typst", "KeyError('colour')", 2)])

    compile_order = print_job.compile_order
    monkeypatch.setattr(print_job, "compile_order", compile_badly)
    monkeypatch.setattr(
        containing, "_reports", [lambda stage, error, count: told.append((stage, str(error), count))]
    )
    assert fetch(world, link(world)).status_code == 200
    assert told == [("typst", "KeyError('colour')", 2)]


@pytest.mark.slow
def test_a_print_has_the_style_of_the_site_of_its_space(world: World) -> None:
    site = world.home.path("/orgs/{organizationId}/sites/{siteId}")
    url = link(world)

    def first_font() -> str:
        made = fetch(world, url)
        assert made.status_code == 200, made.text
        page = PdfReader(io.BytesIO(made.content)).pages[0]
        fonts = page["/Resources"]["/Font"].values()  # type: ignore[index]
        return str(next(iter(fonts)).get_object()["/BaseFont"])

    plain = first_font()
    assert "text-0" not in plain
    assert world.call("admin", "POST", f"{site}/publish").is_success
    assert "text-0" in first_font()
    look = world.get("admin", f"{site}/customization")
    look["styling"]["font"] = "Lato"
    look["styling"]["primaryColor"] = {"light": "#0a7a4b", "dark": "#4fd6a0"}
    # If a logo can't be fetched, the site's title takes its place.
    look["header"]["logo"] = dict.fromkeys(("light", "dark"), "https://127.0.0.1:9/logo.svg")
    assert world.call("admin", "PUT", f"{site}/customization", json=look).is_success
    assert "text-0" in first_font()
    assert count_prints(world) == 3, "another look is another print"
    assert "text-0" in first_font() and count_prints(world) == 3
