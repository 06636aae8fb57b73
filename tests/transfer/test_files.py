"""Tests of uploaded files as pages: each format, archives, invalid files, and interruptions."""

import hashlib
import time

import pytest

from octavo.content.uploads import receiving
from octavo.interchange.transfer import runs, store, updating
from octavo.kit.work.jobs import list_jobs
from octavo.kit.work.worker import Worker
from octavo.operations.admin.import_export import preview
from octavo.organization.access.members import upsert_member
from transfer.bringing_in import PNG, archive, word

pytestmark = pytest.mark.sqlite_first


def problems(run):
    return {(problem["path"], problem["code"]) for problem in run["problems"]}


# --- formats ------------------------------------------------------------------------------------------


def test_markdown_html_and_word_are_imported_into_an_empty_space(imports):
    run = imports.files(
        ("guide.md", "# Guide\n\nAs it *is*.\n"),
        ("setup.html", "<body><h1>Set up</h1><p>Say <b>yes</b>.<ul><li>one<li>two</ul></body>"),
        ("letter.docx", word(("Heading1", "A letter"), ("Heading2", "Part"), ("Normal", "Dear &amp; near"))),
    )
    assert (run["status"], run.get("error"), run["problems"]) == ("completed", None, [])
    assert set(imports.tree()) == {"Guide", "Set up", "A letter"}
    assert imports.text("Guide") == "# Guide\n\nAs it *is*.\n"
    assert imports.text("Set up") == "# Set up\n\nSay **yes**.\n\n* one\n* two\n"
    assert imports.text("A letter") == "# A letter\n\n## Part\n\nDear & near\n"
    assert {page["path"] for page in run["pages"]} == {"guide.md", "setup.md", "letter.md"}
    assert run["progress"]["total"] >= 0


def test_images_of_a_word_document_become_files(imports):
    run = imports.files(("report.docx", word(("Heading1", "Report"), image=PNG)))
    assert run["problems"] == []
    (name,) = imports.stored_files()
    assert f'<img src=".gitbook/assets/{name}" alt="A picture">' in imports.text("Report")
    document = imports.page("Report", "document")["document"]
    (images,) = [node for node in document["nodes"] if node["type"] == "images"]
    assert images["nodes"][0]["data"]["ref"]["kind"] == "file"


def test_styles_of_a_word_document_are_converted(imports):
    styled = word(
        ("Title", "The title"),
        ("Subtitle", "Below it"),
        ("Heading1", "Part"),
        ("Heading2", "Section"),
        ("Quote", "Said"),
        ("IntenseQuote", "and said"),
        ("Normal", "Text"),
        image=PNG,
        caption="What it shows",
    )
    run = imports.files(("report.docx", styled))
    assert run["problems"] == []
    text = imports.text("The title")
    assert text.startswith(
        "# The title\n\n_Below it_\n\n## Part\n\n### Section\n\n> Said\n>\n> and said\n\nText\n"
    )
    assert "<figcaption><p>What it shows</p></figcaption>" in text


def test_a_word_document_with_a_doctype_is_not_read(imports):
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    run = imports.files(("bomb.docx", word(("Normal", "&b;"), head=bomb)))
    assert run["status"] == "failed"
    assert ("bomb.docx", "not_converted") in problems(run)


TREE = {
    "site/index.html": "<body><h1>Start</h1><p><a href='guide/install.html#linux'>Install</a>"
    " <a href='guide/'>Guide</a> <a href='files/terms.pdf'>Terms</a> <a href='https://example.org/x'>out</a>"
    " <a href='nowhere.html'>lost</a></p><p><img src='img/a.png' alt='A'></p></body>",
    "site/guide/index.html": "<body><h1>Guide</h1><p>Up: <a href='../index.html'>start</a></p></body>",
    "site/guide/install.html": "<body><h1>Install</h1><h2 id='linux'>On Linux</h2><p>Do."
    " <a href='/files/terms.pdf'>Terms</a> <a href='#linux'>above</a></p></body>",
    "site/img/a.png": PNG,
    "site/files/terms.pdf": b"%PDF-1.4 terms",
    "site/notes.md": "# Notes\n",
    "__MACOSX/site/._index.html": "x",
}


def test_a_tree_of_html_keeps_its_links_images_and_attachments(imports):
    run = imports.files(("export.zip", archive(TREE)))
    assert (run["status"], run["kind"]) == ("completed", "html")
    assert [(one["path"], one["code"]) for one in run["problems"]] == [("index.html", "broken_link")]
    assert imports.tree() == {"Start": {}, "Guide": {"Install": {}}, "Notes": {}}
    start = imports.text("Start")
    assert "[Install](guide/install.md#linux)" in start
    assert "[Guide](guide/README.md)" in start
    assert "[Terms](files/terms.pdf)" in start
    assert "(nowhere.html)" in start
    assert '<img src="img/a.png" alt="A">' in start
    assert "[Terms](../files/terms.pdf) [above](#linux)" in imports.text("Install")
    assert imports.stored_files() == ["a.png", "terms.pdf"]
    links = [
        inline["data"]["ref"]["kind"]
        for node in imports.page("Start", "document")["document"]["nodes"]
        for inline in node.get("nodes", [])
        if inline.get("type") == "link"
    ]
    assert links[:4] == ["anchor", "page", "file", "url"]


def test_a_repository_in_an_archive_is_imported_unchanged(imports):
    files = {
        "r/.gitbook.yaml": "root: ./docs/\n",
        "r/docs/SUMMARY.md": "# S\n\n* [Home](README.md)\n* [Two](b/two.md)\n",
        "r/docs/README.md": "# Home\n",
        "r/docs/b/two.md": "# Two\n\n[home](../README.md)\n",
        "r/docs/.gitbook/vars.yaml": "name: Octavo\n",
    }
    run = imports.files(("r.zip", archive(files)))
    assert run["status"] == "completed"
    assert imports.tree() == {"Home": {}, "Two": {}}
    from octavo.content.revisions.item_versions import list_items
    from octavo.content.revisions.states import main_state

    with imports.world.context.db.read() as tx:
        base = main_state(tx, imports.space)
        sources = {item.path for item in list_items(tx, base, "source")}
        variables = [item.name for item in list_items(tx, base, "variable")]
    assert sources == {".gitbook.yaml", "docs/SUMMARY.md", "docs/.gitbook/vars.yaml"}
    assert variables == ["name"]


def test_existing_pages_stay_and_new_pages_are_appended(imports):
    imports.files(("guide.md", "# Guide\n\nFirst.\n"))
    imports.files(("guide.md", "# Guide two\n\n[other](more.md)\n"), ("more.md", "# More\n"))
    assert imports.tree() == {"Guide": {}, "Guide two": {}, "More": {}}
    assert imports.text("Guide") == "# Guide\n\nFirst.\n"
    (paragraph,) = imports.page("Guide two", "document")["document"]["nodes"]
    (link,) = [inline for inline in paragraph["nodes"] if inline.get("type") == "link"]
    more = next(page for page in imports.pages() if page["title"] == "More")
    assert link["data"]["ref"] == {"kind": "page", "page": more["id"]}


def test_files_are_imported_under_a_page_of_a_change_request(imports):
    world = imports.world
    imports.files(("guide.md", "# Guide\n"))
    (guide,) = imports.pages()
    change = world.post("editor", f"/spaces/{imports.space}/change-requests", {"subject": "More"})["id"]
    run = imports.files(
        ("a.html", "<h1>A</h1>text"), ("b.md", "# B\n"), changeRequest=change, page=guide["id"]
    )
    assert run["status"] == "completed"
    assert run["target"] == {"space": imports.space, "changeRequest": change, "page": guide["id"]}
    assert imports.tree(change) == {"Guide": {"A": {}, "B": {}}}
    assert imports.tree() == {"Guide": {}}
    made = {page["id"] for page in imports.pages(change)[0]["pages"]}
    assert {page["id"] for page in run["pages"]} == made


# --- bad input ----------------------------------------------------------------------------------------


HOSTILE = """<body onload=alert(1)><h1>Hostile<script>alert(1)</script></h1>
<p onclick=alert(1)>{% if true %} <a href="java&#9;script:alert(1)">x</a> <a href="vbscript:x">y</a>
<a href="data:text/html,<script>alert(1)</script>">z</a></p>
<img src="x.png" onerror="alert(1)"><svg onload=alert(1)></svg><iframe src="javascript:alert(1)"></iframe>
<math><mi xlink:href="javascript:alert(1)">m</mi></math><object data="x.swf"></object>\
<form action="javascript:x"><button>b</button></form>
<p>{% embed url="javascript:alert(1)" %}</p><p>&lt;img src=x onerror=alert(1)&gt;</p><p>[c](javascript:alert(1))</p>
<style>@import 'x'</style><meta http-equiv=refresh content="0;url=javascript:alert(1)"></body>"""


def test_hostile_html_becomes_inert_nodes(imports):
    run = imports.files(("hostile.html", HOSTILE))
    assert run["status"] == "completed"
    document = imports.page("Hostile", "document")["document"]
    kinds = {node["type"] for node in _walk(document) if "type" in node}
    assert kinds <= {"paragraph", "images", "image"}
    refs = [node["data"]["ref"] for node in _walk(document) if "ref" in node.get("data", {})]
    assert [ref["url"] for ref in refs] == ["x.png"]


def _walk(node):
    yield node
    for key in ("nodes", "fragments"):
        for child in node.get(key, []):
            yield from _walk(child)


@pytest.mark.parametrize(
    "piece",
    [
        "<ul><li>",
        "<table><tr><td>",
        *(
            pytest.param(one, marks=pytest.mark.slow)
            for one in ("<div>", "<b><i>", "<blockquote>", "<a href=x>")
        ),
    ],
)
def test_depth_and_breadth_are_limited(piece):
    from octavo.interchange.readers.formats.html import convert, parse_html

    began = time.process_time()
    deep = convert(parse_html(piece * 500 + "deep"), link=str, image=str)
    assert "deep" in deep.text
    convert(parse_html((piece + "wide") * 300 + "<p>x" * 5000), link=str, image=str)
    assert time.process_time() - began < 10


def test_archives_that_attack_are_refused_or_cleaned(imports):
    bomb = archive({"bomb.html": b"a" * 30_000_000})
    run = imports.files(("bomb.zip", bomb))
    assert run["status"] == "failed" and "compressed size" in run["reason"]
    slip = archive({"../../evil.md": "# Evil\n", "/abs.md": "# Abs\n", "good.html": "<h1>Good</h1>x"})
    run = imports.files(("slip.zip", slip))
    assert run["status"] == "completed"
    assert imports.tree() == {"Good": {}}
    assert problems(run) == {("../../evil.md", "unsafe_path"), ("/abs.md", "unsafe_path")}


def test_unreadable_files_are_reported(imports):
    run = imports.files(("a.md", "# A\n"), ("sheet.xlsx", b"PK\x03\x04"), ("broken.docx", b"not a zip"))
    assert run["status"] == "completed"
    assert problems(run) == {("sheet.xlsx", "unknown_format"), ("broken.docx", "not_converted")}
    run = imports.files(("broken.zip", b"not a zip"))
    assert (run["status"], imports.tree()) == ("failed", {"A": {}})
    assert "isn't a readable ZIP" in run["reason"]


# --- uploads ------------------------------------------------------------------------------------------


def test_uploads_are_limited_signed_and_bound(imports, clock):
    assert imports.ask_for_url("a.zip", receiving.LARGEST["import_file"] + 1).status_code == 400
    assert imports.ask_for_url("../a.zip", 5).status_code == 400
    given = imports.ask_for_url("a.md", 5).json()
    assert imports.put(given["url"], b"123456").status_code == 413
    assert imports.put(given["url"], b"1234").status_code == 400
    assert imports.put(given["url"], b"", "DELETE").status_code == 405
    assert imports.put(given["url"], b"", "GET").headers["upload-offset"] == "0"
    assert imports.put(given["url"][:-1] + "x", b"12345").status_code == 404
    # Nothing has been uploaded yet.
    assert imports.try_start({"type": "file", "files": [given["key"]]}).status_code == 400
    assert imports.put(given["url"], b"12345").status_code == 200
    assert imports.put(given["url"], b"12345").status_code == 200
    assert imports.put(given["url"], b"54321").status_code == 409
    # Other people can't use it, and it can't be used as anything else.
    source = {"type": "file", "files": [given["key"]]}
    assert imports.try_start(source, "admin").status_code == 404
    font = imports.ask_for_url("f.woff2", 5, kind="customization_font").json()
    imports.put(font["url"], b"wOF2x")
    assert imports.try_start({"type": "file", "files": [font["key"]]}).status_code == 404
    late = imports.ask_for_url("late.md", 5).json()
    clock.set(10**14)
    assert imports.put(late["url"], b"12345").status_code == 404


def test_old_uploads_are_deleted(imports, clock):
    key = imports.upload("a.md", "# A\n")
    clock.advance(receiving.KEPT_FOR + 1)
    assert imports.try_start({"type": "file", "files": [key]}).status_code == 404
    receiving.forget_uploads(imports.world.context)
    with imports.world.context.db.read() as tx:
        assert tx.value("SELECT count(*) FROM uploads") == 0
        # Its bytes are removed later, unless something uses them by then.
        left = tx.all("SELECT hash FROM unused WHERE kind = 'file'")
        assert hashlib.sha256(b"# A\n").hexdigest() in [row[0] for row in left]


# --- runs ---------------------------------------------------------------------------------------------


def test_import_permissions_by_role(imports):
    world = imports.world
    source = {"type": "file", "files": [imports.upload("a.md", "# A\n", "commenter")]}
    assert imports.try_start(source, "commenter").status_code == 403
    foreign = {"source": source, "target": {"space": world.away["spaceId"]}}
    assert world.call("commenter", "POST", imports.runs, json=foreign).status_code == 404
    world.call("admin", "PATCH", f"/spaces/{imports.space}", json={"editMode": "locked"})
    source = {"type": "file", "files": [imports.upload("a.md", "# A\n")]}
    locked = world.context.db
    with locked.write() as tx:
        tx.run("UPDATE spaces SET edit_mode = 'locked' WHERE id = :id", id=imports.space)
    assert imports.try_start(source).status_code == 403
    change = world.post("editor", f"/spaces/{imports.space}/change-requests", {})["id"]
    run = imports.start(source, changeRequest=change)
    assert world.call("commenter", "GET", f"{imports.runs}/{run}").status_code == 403
    assert world.call("stranger", "GET", f"{imports.runs}/{run}").status_code == 404
    listed = world.get("editor", imports.runs)
    assert [each["id"] for each in listed["items"]] == [run]
    assert world.get("commenter", imports.runs)["items"] == []
    assert run in [each["id"] for each in world.get("admin", imports.runs)["items"]]


def test_permissions_lost_during_an_import_stop_it(imports):
    world = imports.world
    run = imports.start({"type": "file", "files": [imports.upload("a.md", "# A\n")]})
    with world.context.db.write() as tx:
        tx.run("UPDATE members SET role = 'read' WHERE user_id = :user", user=world.users["editor"])
    imports.work()
    ended = imports.run(run, "admin")
    assert (ended["status"], imports.tree()) == ("failed", {})
    assert [item["id"] for item in world.get("admin", imports.runs)["items"]][0] == run
    listed = world.get("editor", imports.runs)
    assert (listed["items"], listed["count"]) == ([], 0)


def test_a_run_only_reaches_its_organization(imports):
    world, away = imports.world, imports.world.away["organizationId"]
    run = imports.start({"type": "file", "files": [imports.upload("a.md", "# A\n")]})
    with world.context.db.write() as tx:
        upsert_member(tx, away, world.users["editor"], "edit")
        upsert_member(tx, away, world.users["admin"], "admin")
    world.post("admin", f"/spaces/{imports.space}/transfer", {"organization": away})
    imports.work()
    with world.context.db.read() as tx:
        assert store.get_run(tx, run).status == "failed"
    assert imports.pages() == []


@pytest.mark.parametrize("losing", ["members", "users"])
def test_deactivation_during_an_import_stops_it(imports, monkeypatch, losing):
    world, column = imports.world, "user_id" if losing == "members" else "id"
    run = imports.start({"type": "file", "files": [imports.upload("a.md", "# A\n")]})
    copy_material = updating.copy_material

    def lose_then_copy(*arguments):
        # The earlier check has passed by now.
        with world.context.db.write() as tx:
            tx.run(f"UPDATE {losing} SET disabled = 1 WHERE {column} = :id", id=world.users["editor"])
        return copy_material(*arguments)

    monkeypatch.setattr(updating, "copy_material", lose_then_copy)
    imports.work()
    with world.context.db.read() as tx:
        assert store.get_run(tx, run).status == "failed"
    assert world.get("admin", f"/spaces/{imports.space}/content/pages")["pages"] == []


def test_a_canceled_run_leaves_nothing(imports):
    world = imports.world
    run = imports.start({"type": "file", "files": [imports.upload("a.md", "# A\n")]})
    answer = world.call("editor", "POST", f"{imports.runs}/{run}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (201, "cancelled")
    assert world.call("editor", "POST", f"{imports.runs}/{run}/cancel").status_code == 201
    imports.work()
    assert (imports.run(run)["status"], imports.tree()) == ("cancelled", {})
    done = imports.files(("a.md", "# A\n"))
    assert world.call("editor", "POST", f"{imports.runs}/{done['id']}/cancel").status_code == 400


def test_canceling_at_the_last_moment_wins(imports, monkeypatch):
    world = imports.world
    run = imports.start({"type": "file", "files": [imports.upload("a.md", "# A\n")]})
    copy_material = updating.copy_material

    def late(*given):
        # The response to a request to cancel that arrives between read and write.
        with world.context.db.write() as tx:
            assert store.end_run(tx, run, "cancelled")
        return copy_material(*given)

    monkeypatch.setattr(updating, "copy_material", late)
    imports.work()
    assert (imports.run(run)["status"], imports.tree()) == ("cancelled", {})
    with world.context.db.read() as tx:
        assert "runImport" not in {job.kind for job in list_jobs(tx, state="parked")[0]}


def test_a_run_of_a_dead_worker_is_retried_and_finally_fails(imports, monkeypatch):
    world = imports.world
    run = imports.start({"type": "file", "files": [imports.upload("a.md", "# A\n")]})
    with world.context.db.write() as tx:
        # The state that a killed worker leaves: started, and its lease expired.
        assert store.begin_run(tx, run) is not None
        tx.run("UPDATE jobs SET attempts = 1, lease = 'dead', lease_until = 1 WHERE kind = 'runImport'")
    assert imports.run(run)["status"] == "in-progress"
    imports.work()
    assert (imports.run(run)["status"], imports.tree()) == ("completed", {"A": {}})
    run = imports.start({"type": "file", "files": [imports.upload("b.md", "# B\n")]})
    with world.context.db.write() as tx:
        for _ in range(runs.ATTEMPTS):
            store.begin_run(tx, run)
    imports.work()
    assert (imports.run(run)["status"], imports.tree()) == ("failed", {"A": {}})


def test_an_internal_failure_is_retried_and_then_reported(imports, monkeypatch):
    world = imports.world
    run = imports.start({"type": "file", "files": [imports.upload("a.md", "# A\n")]})

    def broken(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr(runs, "stage_files", broken)
    for _ in range(runs.ATTEMPTS):
        with world.context.db.write() as tx:
            tx.run("UPDATE jobs SET run_at = 0")
        Worker(world.context.db, world.context).run_pending()
    ended = imports.run(run)
    assert ended["status"] == "failed"
    assert "bug" not in ended["reason"]


def test_runs_are_filtered_by_target_and_status(world):
    home = world.home
    runs = home.path("/org/{organizationId}/imports")
    source = {"type": "website", "url": "http://9.9.9.9/docs"}
    target = {"space": home["spaceId"], "changeRequest": home["changeRequestId"]}
    run = world.post("admin", runs, {"source": source, "target": target})
    assert run["object"] == "import-run" and run["createdBy"] == world.users["admin"]
    assert world.get("admin", run["urls"]["location"]) == run

    def listed(**query):
        found = world.get("admin", runs, params=query)
        assert found["count"] == len(found["items"])
        return run in found["items"]

    assert listed() and listed(status="active") and listed(status="pending") and listed(**target)
    assert not listed(status="completed")
    assert not listed(space=world.away["spaceId"])
    assert not listed(changeRequest="none")
    world.post("admin", f"{runs}/{run['id']}/cancel")
    assert not listed(status="active")
    assert world.get("admin", runs, params={"status": "cancelled"})["items"][0]["id"] == run["id"]


def test_a_preview_imports_nothing(imports):
    project = {
        "p/mkdocs.yml": "nav: [Home: index.md, More: [a.md]]\n",
        "p/docs/index.md": "# Hi\n\n![x](no.png)\n",
    }
    key = imports.upload("p.zip", archive({**project, "p/docs/a.md": "# A\n\n[gone](gone.md)\n"}))
    run = imports.start({"type": "file", "files": [key]}, **{})
    assert "kind" not in imports.run(run)
    answer = imports.world.call(
        "editor",
        "POST",
        imports.runs,
        json={
            "source": {"type": "file", "files": [key]},
            "target": {"space": imports.space},
            "preview": True,
        },
    )
    imports.world.call("editor", "POST", f"{imports.runs}/{run}/cancel")
    imports.work()
    told = imports.run(answer.json()["id"])
    assert (told["status"], told["kind"], told["preview"], told["pages"]) == ("completed", "mkdocs", True, [])
    assert told["plan"] == {
        "pages": [
            {"type": "document", "title": "Hi", "path": "docs/index.md"},
            {
                "type": "group",
                "title": "More",
                "pages": [{"type": "document", "title": "A", "path": "docs/a.md"}],
            },
        ],
        "pageCount": 2,
        "fileCount": 0,
        "redirectCount": 1,
    }
    assert [(one["path"], one["line"], one["code"]) for one in told["problems"]] == [
        ("docs/a.md", 3, "broken_link"),
        ("docs/index.md", 3, "missing_file"),
    ]
    assert imports.pages() == []


def test_parts_of_an_export_are_imported_together(imports, tmp_path):
    """Notion puts archives inside an archive. Archives inside these stay closed."""
    name = "1f0e2b3c4d5e6f708192a3b4c5d6e7f8"
    first = archive({f"Top {name}.md": f"# Top\n\n[Sub](Top%20{name}/Sub%20b{name[1:]}.md)\n"})
    second = archive(
        {f"Top {name}/Sub b{name[1:]}.md": "# Sub\n", f"Top {name}/deep.zip": archive({"x.md": "# X\n"})}
    )
    whole = archive({"Export-Part-1.zip": first, "Export-Part-2.zip": second})
    run = imports.files(("Export.zip", whole))
    assert (run["status"], run["kind"], run["problems"]) == ("completed", "notion", [])
    assert imports.tree() == {"Top": {"Sub": {}}}
    assert imports.stored_files() == ["deep.zip"]
    assert {page["path"] for page in run["pages"]} == {f"Top {name}.md", f"Top {name}/Sub b{name[1:]}.md"}
    # The command does the same.
    (tmp_path / "Export.zip").write_bytes(whole)
    looked = preview(imports.world.context, str(tmp_path / "Export.zip"))
    assert (looked.kind, looked.plan.page_count) == ("notion", 2)
    # An archive within an archive that would grow too large isn't unpacked either.
    run = imports.files(("Export.zip", archive({"Export-Part-1.zip": archive({"a.md": "a" * 8_000_000})})))
    assert run["status"] == "failed" and "200 times" in str(run)
