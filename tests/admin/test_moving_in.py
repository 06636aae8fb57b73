"""Import from another Octavo server over its API, page by page; rate limits, expired tokens, and resuming."""

from contextlib import ExitStack, contextmanager

import pytest
from msgspec.structs import replace

import recorded_platforms
from local_server import QuietHandler, local_server
from octavo.errors import BadRequest
from octavo.interchange.transfer import starting
from octavo.interchange.transfer.types import ApiLogin
from octavo.kit.work.worker import Worker
from octavo.operations.admin.api_import import import_from_api, import_spaces_from_api
from serving import octavo_here


class Elsewhere:
    """The API of home over a socket. ``answers``: what a path, without ``/v1``, is answered instead: (status, headers),
    each once."""

    def __init__(self, world, address):
        self.world, self.address = world, address
        self.answers = {}
        self.asked = []
        self.without = ()

    def answer(self, path, headers):
        place = path.removeprefix("/v1").partition("?")[0]
        self.asked.append(place)
        if place.endswith(self.without):
            return 404, {}, b"{}"
        if waiting := self.answers.get(place):
            status, said = waiting.pop(0)
            return status, said, b"{}"
        found = self.world.call(
            "nobody",
            "GET",
            path.removeprefix("/v1"),
            headers={"authorization": headers.get("authorization", "")},
        )
        return found.status_code, dict(found.headers), found.content


@pytest.fixture
def elsewhere(world):
    with serve(world) as found:
        yield found


@contextmanager
def serve(world):
    class Handler(QuietHandler):
        def do_GET(self):
            status, headers, body = found.answer(self.path, self.headers)
            self.send_response(status)
            for name in ("content-type", "retry-after"):
                if name in headers:
                    self.send_header(name, headers[name])
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with local_server(Handler) as server:
        found = Elsewhere(world, server.url)
        allowed = replace(world.context.settings, allow_private_fetch=server.host)
        before, world.context.settings = world.context.settings, allowed
        try:
            yield found
        finally:
            world.context.settings = before


def move(elsewhere, **options):
    world = elsewhere.world
    options.setdefault("source", world.home["organizationId"])
    return import_from_api(
        world.context,
        elsewhere.address,
        world.token("admin"),
        organization_id=world.away["organizationId"],
        wait=elsewhere.asked.append,
        **options,
    )


def texts(world, who, at):
    """Return the Markdown of every page, by its path."""
    found = {}
    waiting = world.get(who, f"{at}/content/pages")["pages"]
    while waiting:
        page = waiting.pop()
        waiting += page.get("pages", [])
        if page["type"] == "document":
            said = world.get(who, f"{at}/content/page/{page['id']}", params={"format": "markdown"})
            found[page["path"]] = said["markdown"]
    return found


def of_home(world, moved):
    return next(one for one in moved.spaces if one.source == world.home["spaceId"])


def test_imported_content_equals_the_original(elsewhere):
    world = elsewhere.world
    moved = move(elsewhere)
    assert moved.stopped == ""
    space = of_home(world, moved)
    assert not [one for one in space.problems if one.code == "missing_page"]
    there, here = f"/spaces/{world.home['spaceId']}", f"/spaces/{space.id}"
    assert texts(world, "admin", there) == texts(world, "stranger", here)
    names = [
        sorted((one["name"], one["size"]) for one in world.get(who, f"{at}/content/files")["items"])
        for who, at in (("admin", there), ("stranger", here))
    ]
    assert names[0] == names[1]
    # A repeated import fetches nothing that hasn't changed, and duplicates nothing.
    elsewhere.asked.clear()
    again = move(elsewhere)
    assert [one.id for one in again.spaces] == [one.id for one in moved.spaces]
    assert [one.id for one in again.sites] == [one.id for one in moved.sites]
    assert (
        not any(one.outcome for one in again.spaces) and sum(one.change_requests for one in again.spaces) == 0
    )
    assert not any(str(path).endswith("/archive") for path in elsewhere.asked)


@pytest.mark.sqlite_first
def test_importing_page_by_page_gives_the_same_result_as_an_archive(elsewhere):
    world = elsewhere.world
    elsewhere.without = ("/archive",)
    moved = move(elsewhere)
    space = of_home(world, moved)
    assert not [one for one in space.problems if one.code == "missing_page"], space.problems
    there, here = f"/spaces/{world.home['spaceId']}", f"/spaces/{space.id}"
    assert texts(world, "admin", there) == texts(world, "stranger", here)


@pytest.mark.sqlite_first
def test_open_change_requests_are_imported_with_their_edits(elsewhere):
    world = elsewhere.world
    there = f"/spaces/{world.home['spaceId']}"
    change = world.post("admin", f"{there}/change-requests", {"subject": "Better"})["id"]
    pages = world.get("admin", f"{there}/content/pages")["pages"]
    edits = [
        {
            "operation": "update_page",
            "page": pages[0]["id"],
            "document": {"markdown": "# Start\n\nBetter.\n"},
        },
        {
            "operation": "insert_page",
            "title": "New",
            "document": {"markdown": "Text.\n"},
            "into": pages[0]["id"],
        },
        {"operation": "delete_page", "page": pages[-1]["id"]},
    ]
    at = f"{there}/change-requests/{change}"
    answer = world.call("admin", "POST", f"{at}/content", json={"changes": edits})
    assert answer.status_code < 300, answer.text
    world.call("admin", "PATCH", at, json={"status": "open"})
    moved = move(elsewhere)
    space = of_home(world, moved)
    assert space.change_requests >= 1
    listed = world.get("stranger", f"/spaces/{space.id}/change-requests", params={"status": "open"})["items"]
    (made,) = [one for one in listed if one["subject"] == "Better"]
    assert texts(world, "stranger", f"/spaces/{space.id}/change-requests/{made['id']}") == texts(
        world, "admin", at
    )
    again = of_home(world, move(elsewhere))
    assert again.change_requests == 0


@pytest.mark.sqlite_first
def test_a_site_is_imported_with_structure_customization_and_redirects(elsewhere):
    world = elsewhere.world
    at = f"/orgs/{world.home['organizationId']}/sites"
    site = world.post("admin", at, {"title": "Handbook of all", "spaces": [world.home["spaceId"]]})["id"]
    at = f"{at}/{site}"
    section = world.post(
        "admin", f"{at}/sections", {"spaceId": world.home["spaceId"], "title": "Second part"}
    )
    look = world.get("admin", f"{at}/customization")
    look["title"] = "Our handbook"
    assert world.call("admin", "PUT", f"{at}/customization", json=look).status_code == 200
    shown = world.get("admin", f"{at}/site-spaces")["items"][0]["id"]
    page = world.get("admin", f"/spaces/{world.home['spaceId']}/content/pages")["pages"][0]["id"]
    for source, destination in (
        ("/old", {"kind": "site-page", "siteSpaceId": shown, "pageId": page}),
        ("/second", {"kind": "site-section", "siteSectionId": section["id"]}),
    ):
        world.post("admin", f"{at}/redirects", {"source": source, "destination": destination})
    moved = move(elsewhere)
    (one,) = [one for one in moved.sites if one.source == site]
    assert (one.redirects, one.problems) == (2, [])
    here = f"/orgs/{world.away['organizationId']}/sites/{one.id}"
    titles = [
        [section["title"] for section in world.get(who, f"{where}/sections")["items"]]
        for who, where in (("admin", at), ("stranger", here))
    ]
    assert titles[0] == titles[1] and "Second part" in titles[1]
    assert world.get("stranger", f"{here}/customization")["title"] == "Our handbook"
    redirects = world.get("stranger", f"{here}/redirects")["items"]
    assert sorted(redirect["source"] for redirect in redirects) == ["/old", "/second"]
    # What people set here since stays.
    look = world.get("stranger", f"{here}/customization")
    look["title"] = "Ours"
    world.call("stranger", "PUT", f"{here}/customization", json=look)
    (again,) = [one for one in move(elsewhere).sites if one.source == site]
    assert (again.id, again.redirects) == (one.id, 0)
    assert world.get("stranger", f"{here}/customization")["title"] == "Ours"


@pytest.mark.sqlite_first
def test_imports_wait_for_rate_limits(elsewhere):
    elsewhere.answers["/orgs"] = [(429, {"retry-after": "7"}), (503, {})]
    moved = move(elsewhere)
    assert moved.stopped == "" and moved.spaces
    assert [one for one in elsewhere.asked if not isinstance(one, str)] == [7.0, 2.0]


@pytest.mark.sqlite_first
def test_an_import_resumes_after_its_token_expired(elsewhere):
    world = elsewhere.world
    archive = f"/spaces/{world.home['spaceId']}/archive"
    elsewhere.answers[archive] = [(401, {})]
    stopped = move(elsewhere)
    assert "token" in stopped.stopped
    whole = [one.id for one in stopped.spaces]
    count = world.get("stranger", f"/orgs/{world.away['organizationId']}/spaces")["count"]
    elsewhere.asked.clear()
    moved = move(elsewhere)
    assert moved.stopped == "" and of_home(world, moved).outcome is not None
    # No space is duplicated, and complete spaces aren't fetched again.
    assert world.get("stranger", f"/orgs/{world.away['organizationId']}/spaces")["count"] == count
    brought = {one.id: one for one in moved.spaces}
    assert not any(brought[id].outcome for id in whole)
    fetched = [path for path in elsewhere.asked if str(path).endswith("/archive")]
    assert len(fetched) == len(moved.spaces) - len(whole)


@pytest.mark.sqlite_first
def test_local_edits_survive_a_repeated_import(elsewhere):
    world = elsewhere.world
    space = of_home(world, move(elsewhere))
    pages = world.get("stranger", f"/spaces/{space.id}/content/pages")["pages"]
    edit = {"operation": "insert_page", "title": "Ours", "document": {"markdown": "Here.\n"}}
    world.call("stranger", "POST", f"/spaces/{space.id}/content", json={"changes": [edit]})
    there = f"/spaces/{world.home['spaceId']}"
    added = {"operation": "insert_page", "title": "Theirs", "document": {"markdown": "There.\n"}}
    assert world.call("admin", "POST", f"{there}/content", json={"changes": [added]}).status_code < 300
    again = of_home(world, move(elsewhere))
    assert again.outcome is not None and again.outcome.changes.created == 1
    titles = [page["title"] for page in world.get("stranger", f"/spaces/{space.id}/content/pages")["pages"]]
    assert {"Ours", "Theirs"} < set(titles) and len(titles) == len(pages) + 2


@pytest.mark.sqlite_first
@pytest.mark.parametrize("status", [401, 404, 500])
def test_an_api_without_a_response_is_named(elsewhere, status):
    elsewhere.answers["/orgs"] = [(status, {})] * 6
    with pytest.raises(BadRequest, match="--from"):
        move(elsewhere)


@pytest.mark.sqlite_first
def test_private_addresses_are_refused(world):
    with pytest.raises(BadRequest, match="--from"):
        import_from_api(
            world.context, "http://127.0.0.1:9", "x", organization_id=world.away["organizationId"]
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--from", "https://docs.example.com"), "token"),
        (("--from", "https://docs.example.com", "--token-file", "/nowhere/at/all"), "--token-file"),
        (("--from", "https://docs.example.com", "--token-file", "-", "--space", "S"), "--space"),
        ((), "SOURCE"),
    ],
)
def test_the_command_names_missing_parts(tmp_path, arguments, said):
    ended = octavo_here("import", *arguments, "--data", str(tmp_path))
    assert ended.returncode != 0 and said in ended.stderr


def start(world, elsewhere, **source):
    given = {
        "type": "api",
        "url": elsewhere.address,
        "space": world.home["spaceId"],
        "token": world.token("admin"),
    }
    space = world.post("stranger", f"/orgs/{world.away['organizationId']}/spaces", {"title": "Here"})["id"]
    body = {"source": {**given, **source}, "target": {"space": space}}
    runs = f"/org/{world.away['organizationId']}/imports"
    answer = world.call("stranger", "POST", runs, json=body)
    return space, answer


def finish(world, answer):
    assert answer.status_code == 201, answer.text
    assert "token" not in answer.json()["source"]
    Worker(world.context.db, world.context).run_pending()
    run = world.get("stranger", f"/org/{world.away['organizationId']}/imports/{answer.json()['id']}")
    with world.context.db.read() as tx:
        (kept,) = tx.one("SELECT secret FROM import_runs WHERE id = :id", id=run["id"])
    return run, kept


def test_a_run_imports_a_space_over_an_api(elsewhere):
    world = elsewhere.world
    space, answer = start(world, elsewhere)
    with world.context.db.read() as tx:
        (kept,) = tx.one("SELECT secret FROM import_runs WHERE id = :id", id=answer.json()["id"])
    assert kept and world.token("admin") not in kept
    run, kept = finish(world, answer)
    assert (run["status"], kept) == ("completed", None)
    there = f"/spaces/{world.home['spaceId']}"
    assert texts(world, "admin", there) == texts(world, "stranger", f"/spaces/{space}")


def test_content_readable_by_a_token_is_listed_before_import(elsewhere):
    world = elsewhere.world

    def check():
        login = ApiLogin(world.token("admin"), None)
        return starting.check_api(world.context.settings, "octavo", f"{elsewhere.address}/v1/", login)

    found, problem = check()
    home = world.get("admin", f"/spaces/{world.home['spaceId']}")
    assert problem is None
    assert [one.title for one in found if one.id == home["id"]] == [home["title"]]
    assert all(one.organization for one in found)
    for said in (429, 503, 401):
        elsewhere.answers["/orgs"] = [(said, {"retry-after": "9"})]
        found, problem = check()
        assert found == [] and str(said) in problem


def test_a_check_requests_no_private_address(world):
    path = f"/org/{world.away['organizationId']}/imports/check"
    answer = world.call("stranger", "POST", path, json={"url": "http://127.0.0.1:1", "token": "x"})
    assert answer.status_code == 400 and "url:" in answer.json()["error"]["message"]


@pytest.mark.sqlite_first
def test_a_check_waits_in_threads_that_are_not_for_requests(world, monkeypatch):
    servers = world.context.servers

    def check(settings, service, url, login):
        assert servers.is_mine() and servers.held == 1
        return [], None

    monkeypatch.setattr(starting, "check_api", check)
    path = f"/org/{world.away['organizationId']}/imports/check"
    given = {"url": "https://docs.example.com", "token": "x"}
    assert world.post("stranger", path, given)["spaces"] == []
    assert servers.held == 0


@pytest.mark.sqlite_first
def test_a_run_with_a_refused_token_reports_it_and_deletes_the_token(elsewhere):
    world = elsewhere.world
    _, answer = start(world, elsewhere, token="oct_none")
    run, kept = finish(world, answer)
    assert (run["status"], kept) == ("failed", None) and "token" in run["reason"]


@pytest.mark.sqlite_first
@pytest.mark.parametrize(
    "source",
    [
        {"url": "http://127.0.0.1:9"},
        {"url": "file:///etc/passwd"},
        {"token": ""},
        {"token": "a\r\nb: c"},
        {"space": ""},
    ],
)
def test_an_impossible_run_is_refused(elsewhere, source):
    _, answer = start(elsewhere.world, elsewhere, **source)
    assert answer.status_code == 400 and next(iter(source)) in answer.text


# --- Other platforms ----------------------------------------------------------------------------------


@pytest.fixture
def allowing(world):
    """Serve the responses of a platform at an address that can be fetched."""
    before = world.context.settings
    with ExitStack() as stack:

        def begin(answers):
            found = stack.enter_context(recorded_platforms.serve(dict(answers)))
            port = found.address.partition("://")[2]
            world.context.settings = replace(before, allow_private_fetch=port)
            return found

        yield begin
    world.context.settings = before


def of_confluence(world, serving, **options):
    return import_spaces_from_api(
        world.context,
        "confluence",
        f"{serving.address}/wiki",
        "mara@example.com",
        "t0ken",
        organization_id=world.away["organizationId"],
        wait=lambda seconds: None,
        **options,
    )


@pytest.mark.sqlite_first
def test_spaces_of_confluence_are_imported_repeatedly(world, allowing):
    serving = allowing(recorded_platforms.CLOUD)
    moved = of_confluence(world, serving, wanted=["DOC"])
    (space,) = moved.spaces
    assert (moved.stopped, space.source) == ("", "DOC") and space.outcome.changed
    told = texts(world, "stranger", f"/spaces/{space.id}")
    assert "Welcome, @Mara Lind." in told["handbook"]
    with pytest.raises(BadRequest, match=r"NONE.*DOC"):
        of_confluence(world, serving, wanted=["NONE"])
    # An unchanged space stays as it is; one whose token expired is completed when it is requested again.
    serving.instead["/wiki/api/v2/pages/2"] = [(401, {})]
    assert "token" in of_confluence(world, serving, wanted=["DOC"]).stopped
    (again,) = of_confluence(world, serving, wanted=["DOC"]).spaces
    assert (again.id, again.outcome.changed) == (space.id, 0)


@pytest.mark.sqlite_first
def test_versions_of_a_readme_project_become_a_site(world, allowing):
    more = {
        "/v2/branches/2.0/categories/guides": {"data": [{"title": "New"}]},
        "/v2/branches/2.0/categories/guides/New/pages": {
            "data": [{"slug": "hello", "parent": {"uri": None}}]
        },
        "/v2/branches/2.0/categories/reference": {"data": []},
        "/v2/branches/2.0/guides/hello": {"data": {"title": "Hello", "content": {"body": "Hi.\n"}}},
    }
    guide = "/v2/branches/1.0/guides/welcome"
    more[guide] = {"data": {**recorded_platforms.SECOND[guide]["data"], "content": {"body": "Words.\n"}}}
    serving = allowing(recorded_platforms.SECOND | more)

    def move_readme():
        return import_spaces_from_api(
            world.context,
            "readme",
            serving.address,
            None,
            "rdme",
            organization_id=world.away["organizationId"],
            wait=lambda seconds: None,
        )

    made = move_readme()
    assert len(made.spaces) == 2
    again = move_readme()
    assert (again.site, {key: one.outcome.space for key, one in again.spaces.items()}) == (
        made.site,
        {key: one.outcome.space for key, one in made.spaces.items()},
    )


@pytest.mark.sqlite_first
def test_a_run_imports_a_space_of_confluence(world, allowing, elsewhere):
    serving = allowing(recorded_platforms.CLOUD)
    given = {
        "service": "confluence",
        "url": f"{serving.address}/wiki",
        "user": "mara@example.com",
        "token": "t0ken",
    }
    checks = f"/org/{world.away['organizationId']}/imports/check"
    found = world.call("stranger", "POST", checks, json=given).json()
    assert [one["id"] for one in found["spaces"]] == ["DOC", "OPS", "~me"]
    space, answer = start(world, elsewhere, space="DOC", **given)
    assert "user" not in answer.json()["source"]
    run, kept = finish(world, answer)
    assert (run["status"], run["kind"], kept) == ("completed", "confluence", None)
    assert "setup-more" in texts(world, "stranger", f"/spaces/{space}")
