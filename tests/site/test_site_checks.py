"""Tests of `octavo check-site`, with one of our sites and a hostile one."""

from __future__ import annotations

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from octavo.cli.main import main
from octavo.errors import BadRequest
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.site_checks import (
    CheckLimits,
    PageReport,
    Report,
    SiteProblem,
    check_site,
    check_url,
)
from octavo.operations.admin.site_reports import markdown_report, sarif_report
from octavo.sites.site.store import find_site_of_space
from world import World

pytestmark = pytest.mark.sqlite_first


SOUND = {
    "SUMMARY.md": "* [Home](README.md)\n* [Deep](guide/deep.md)\n* [Hidden](hidden.md)\n* [Members](members.md)\n",
    "README.md": "# Home\n\n[Deep](guide/deep.md#there)\n\n![A picture](.gitbook/assets/a.png)\n",
    "guide/deep.md": "# Deep\n\n## There\n\nWords.\n",
    "hidden.md": "---\nhidden: true\n---\n\n# Hidden\n\nStill here.\n",
    "members.md": "---\nif: visitor.claims.member\n---\n\n# Members\n\n[Nowhere](#nowhere)\n",
    ".gitbook/assets/a.png": "\x89PNG",
}


def site_of(world: World, source: Path, files: dict[str, str]) -> str:
    for name, content in files.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content.encode("latin-1"))
    organization = world.home["organizationId"]
    brought = import_space(
        world.context, str(source), organization_id=organization, title=source.name, publish=True
    )
    with world.context.db.read() as tx:
        site = find_site_of_space(tx, brought.outcome.space)
    assert site is not None
    return site


def rules(report: Report) -> dict[str, list[tuple[str, str]]]:
    return {
        page.page.removeprefix(report.site): [(found.rule, found.text) for found in page.problems]
        for page in report.found
    }


def test_a_sound_site_has_no_problems_until_a_page_breaks(world: World, tmp_path: Path) -> None:
    report = check_site(world.context, site_of(world, tmp_path / "sound", SOUND), CheckLimits())
    assert (rules(report), report.pages) == ({}, 3), "with the hidden page, without that for members"
    wrong = SOUND | {
        "guide/deep.md": "# Deep\n\n## There\n\n[A](../README.md#nothing) "
        "[B](https://nobody.invalid/x)\n\n"
        "![](../.gitbook/assets/a.png)\n",
    }
    report = check_site(world.context, site_of(world, tmp_path / "wrong", wrong), CheckLimits())
    found = rules(report)
    assert list(found) == ["deep"]
    assert sorted(rule for rule, _ in found["deep"]) == ["alternative-text", "anchor"]
    bounded = check_site(world.context, site_of(world, tmp_path / "again", SOUND), CheckLimits(addresses=3))
    assert [rule for rule, _ in rules(bounded)[""]] == ["bound"]
    assert report.external_left > 0 and bounded.problems == 1


def test_findings_are_reported_together_with_visible_problems(world: World, tmp_path: Path) -> None:
    files = SOUND | {"guide/deep.md": "# Deep\n\n## There\n\nTODO: write.\n"}
    report = check_site(world.context, site_of(world, tmp_path / "todo", files), CheckLimits())
    assert rules(report) == {
        "deep": [("placeholder", "Text is unfinished: TODO: write. This text is unfinished.")]
    }
    sarif = json.loads(sarif_report(report, "1.0"))
    (result,) = sarif["runs"][0]["results"]
    assert (result["ruleId"], result["level"]) == ("placeholder", "warning")
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].endswith("/deep")
    assert sarif["runs"][0]["tool"]["driver"]["rules"] == [{"id": "placeholder"}]
    hostile = Report(
        "https://x.test/", 1, 0, 0, 1, [PageReport("a|b", [SiteProblem("link", "[x](y) | <b>")])]
    )
    assert markdown_report(hostile).splitlines()[-1] == "| a\\|b | link | \\[x\\]\\(y\\) \\| \\<b\\> |"


HEAD = '<main><h1 id="a">Words</h1><a href="next#a">1</a>'
ANSWERS: dict[str, tuple[int, dict[str, str], bytes]] = {
    "/docs/": (
        200,
        {"Content-Type": "text/html"},
        f"{HEAD}<a href='next#b'>2</a><a href='gone'>3</a><a href='//[x'>4</a><a href='round'>5</a>"
        "<a href='huge'>6</a><a href='empty'>7</a><a href='http://127.0.0.1:1/private'>8</a>"
        "<a href='javascript:x'>9</a><a href='/else'>10</a><a href='\x1b[31m'>11</a>"
        "<img src='gone.png'><img src='next' alt='x'><figure><img src='data:,x' "
        "alt=''></figure><p>x <img src='data:,y' alt=''></p>".encode(),
    ),
    "/docs/next": (200, {"Content-Type": "text/html"}, HEAD.encode() + b"<div>" * 50_000),
    "/docs/next.md": (200, {"Content-Type": "text/markdown"}, b"# Words\n"),
    "/docs/round": (302, {"Location": "/docs/round2"}, b""),
    "/docs/round2": (302, {"Location": "/docs/round"}, b""),
    "/docs/huge": (200, {"Content-Type": "text/html"}, b"x" * (11 * 1024 * 1024)),
    "/docs/empty": (200, {"Content-Type": "text/html"}, b""),
    "/docs/llms.txt": (200, {"Content-Type": "text/plain"}, b"[A](next.md) [B](lost.md)"),
    "/docs/sitemap.xml": (200, {"Content-Type": "text/xml"}, b"<loc>[</loc><loc>/docs/unmapped</loc>"),
}


@pytest.fixture
def hostile() -> Iterator[str]:
    class Hostile(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = ANSWERS.get(self.path, (404, {}, b""))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    class Server(http.server.ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            pass  # The client disconnects from responses that are too large.

    server = Server(("127.0.0.1", 0), Hostile)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/docs"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_hostile_site_is_reported_by_page(
    hostile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            main(["check-site", hostile, "--quiet", "--data", str(tmp_path / "none"), *arguments])
        return int(ended.value.code or 0), capsys.readouterr().out

    code, out = run("--json", "--external", "1")
    report = json.loads(out)
    found = {page["page"].removeprefix(f"{hostile}/"): page["problems"] for page in report["found"]}
    told = {(name, problem["rule"], problem["text"]) for name, all_ in found.items() for problem in all_}
    for name, rule, text in (
        ("", "anchor", "next#b"),
        ("", "link", "/gone responded with status 404"),
        ("", "link", "//[x isn't a valid URL"),
        ("", "link", "round causes a redirect loop"),
        ("", "link", "huge didn't respond"),
        ("empty", "link", "no readable HTML"),
        ("", "image", "gone.png responded with status 404"),
        ("", "image", "text/html"),
        ("", "alternative-text", "gone.png"),
        ("", "alternative-text", "embedded in the page"),
        ("", "markdown", "index.md responded with status 404"),
        ("next", "accept", "text/html"),
        ("llms.txt", "llms", "lost.md responded with status 404"),
        ("sitemap.xml", "sitemap", "unmapped responded with status 404"),
        ("", "external", "hosts in private networks aren't allowed"),
    ):
        assert [1 for told_ in told if told_[:2] == (name, rule) and text in told_[2]], (name, rule, text)
    assert (code, report["externalLeft"]) == (1, 1)
    assert not any(text.endswith("next#a") for _, _, text in told)
    code, out = run()
    assert code == 1 and "\x1b" not in out and out.count("causes a redirect loop") == 1
    assert not (tmp_path / "none").exists()


def test_invalid_site_urls_are_refused(
    sqlite_world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for url in ("http://[x/", "https://", "http://a:b@c.example/", "http://c.example/?q"):
        with pytest.raises(BadRequest, match="must be a URL"):
            check_url(url, CheckLimits(), "")
    data = str(sqlite_world.install(tmp_path / "data"))
    for arguments in (("http://[x/",), ("nothing",), ("x", "--external", "-1")):
        with pytest.raises(SystemExit) as ended:
            main(["check-site", *arguments, "--quiet", "--data", data])
        assert ended.value.code == 2
    assert "Traceback" not in capsys.readouterr().err
