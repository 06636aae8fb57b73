"""A served installation with the app, and a browser in which its first administrator is signed in."""

from __future__ import annotations

import fcntl
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from octavo.delivery.studio.serving import find_missing
from octavo.kit.clock import now
from serving import Administrator, Served, first_starts, free_ports, octavo_here, serving, serving_new
from tools import absent

PASSWORD = "correct horse battery"
ADMINISTRATOR = "ines.okafor@example.com"
_OPTIONS = {
    "viewport": {"width": 1440, "height": 900},
    "reduced_motion": "reduce",
    "service_workers": "block",
}
"""Options of contexts. The service worker, which matters offline, would load all files in each of them: tests
of it pass ``service_workers="allow"``."""


class App(Administrator):
    """The app at ``url``. ``first_address``: the URL at which its administrator set up their account; ``state``: the
    cookies and storage of the browser in which they did. ``trouble``: refused requests and errors of all its pages.
    ``elsewhere``: an unused port from which it can fetch."""

    def __init__(
        self,
        served: Served,
        browser: Any,
        settings: dict[str, str],
        elsewhere: int,
        signed_in: dict[str, Any],
    ) -> None:
        super().__init__(served)
        self.elsewhere = elsewhere
        self.settings = settings
        self.served = served
        self.url = served.url
        self.browser = browser
        self.trouble: list[str] = []
        self.first_address = signed_in["address"]
        self.state = signed_in["state"]

    def colleague(self, name: str, role: str = "edit", organization: str = "") -> httpx.Client:
        """Return the API client of another member of the organization, or of another one."""
        made = octavo_here(
            *("token", "create", "--email", f"{name.lower()}@example.com"),
            *("--org", organization or self.organization, "--role", role),
            OCTAVO_DATA=str(self.served.data),
            OCTAVO_URL=self.url,
            **self.settings,
        )
        assert made.returncode == 0, made.stderr
        headers = {"authorization": f"Bearer {made.stdout.strip()}"}
        return httpx.Client(base_url=f"{self.url}/v1", headers=headers, timeout=60)

    def watch(self, context: Any) -> Any:
        """Open a page in this context. Requests that a policy refuses and errors of scripts are added to
        ``trouble``."""
        page = context.new_page()
        page.on("pageerror", lambda error: self.trouble.append(f"{page.url}: {error.stack}"))
        page.on(
            "console",
            lambda message: (
                self.trouble.append(f"{page.url}: {message.text}")
                if message.type == "error" and "Failed to load resource" not in message.text
                else None
            ),
        )
        return page

    def _go(self, page: Any, path: str) -> Any:
        page.goto(f"{self.url}{path}")
        # At first, the pointer is at the left edge, where the navigation slides out.
        page.mouse.move(page.viewport_size["width"] - 2, page.viewport_size["height"] - 2)
        return page

    def open(self, path: str, **options: Any) -> Any:
        """Open the app at a path in a new context, signed in."""
        context = self.browser.new_context(storage_state=self.state, **{**_OPTIONS, **options})
        return self._go(self.watch(context), path)

    def open_as(self, colleague: httpx.Client, path: str, **options: Any) -> Any:
        """Open the app as another member of the organization."""
        who = {"authorization": colleague.headers["authorization"]}
        context = self.browser.new_context(extra_http_headers=who, **{**_OPTIONS, **options})
        return self._go(self.watch(context), path)

    def fill_space(self, title: str, pages: list[Any], **more: Any) -> str:
        """Create a space with these pages: a title, or a title and its subpages."""
        space = self.create_space(title, **more)
        for page in pages:
            self._insert(space, page, None)
        return space

    def _insert(self, space: str, page: Any, into: str | None) -> None:
        title, below = page if isinstance(page, tuple) else (page, [])
        change = {
            "operation": "insert_page",
            "title": title,
            "into": into,
            "document": {
                "markdown": f"About {title}.\n\n## First part\n\nWords.\n\n## Second part\n\nMore words.\n"
            },
        }
        made = self.call("POST", f"/spaces/{space}/content", {"changes": [change]})
        for one in below:
            self._insert(space, one, made["changes"][0]["page"]["id"])

    def titles(self, space: str, base: str = "content") -> list[Any]:
        """Return the titles of a space's pages, in the form of ``fill_space``."""

        def shown(pages: list[dict[str, Any]]) -> list[Any]:
            return [
                (page["title"], shown(page["pages"])) if page["pages"] else page["title"] for page in pages
            ]

        return shown(self.call("GET", f"/spaces/{space}/{base}/pages")["pages"])


def wait_for_selection(page: Any) -> None:
    """Wait until the editor knows the selection: browsers announce a new one before they draw the next frame."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def wait_until_kept(page: Any, words: str) -> None:
    """Wait until the browser has stored these words, letter by letter, as they were typed."""
    page.wait_for_function(
        """(words) => new Promise((done) => {
          const opened = indexedDB.open("octavo", 1);
          opened.onsuccess = () => {
            const asked = opened.result.transaction("drafts").objectStore("drafts").getAll();
            asked.onsuccess = () => {
              opened.result.close();
              const texts = JSON.stringify(asked.result).matchAll(/"text":"([^"]*)"/g);
              done([...texts].map(([, text]) => text).join("").includes(words));
            };
          };
        })""",
        arg=words,
    )


def _sign_in(served: Served, browser: Any) -> dict[str, Any]:
    """Set up the account of the first administrator, and return what App needs."""
    found = re.search(r"^Open +(\S+)$", served.output.read_text(), re.M)
    assert found is not None
    page = browser.new_page()
    page.goto(found[1])
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Finish setup").click()
    page.get_by_role("navigation", name="Main").wait_for()
    signed_in = {"address": found[1], "state": page.context.storage_state()}
    page.context.close()
    return signed_in


def _copy_signed_in(data: Path, browser: Any) -> str:
    """Create a data folder in which the first administrator set up their account, once per run. Return what App needs
    as JSON, with ``{url}`` in place of the server's URL."""
    (starts,) = first_starts
    folder = starts / "signed-in"
    with (starts / "signed-in.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            with serving_new(starts / "signing-in", OCTAVO_ADMIN_EMAIL=ADMINISTRATOR) as served:
                signed_in = json.dumps(_sign_in(served, browser)).replace(served.url, "{url}")
            (served.data / "signed-in.json").write_text(signed_in)
            served.data.rename(folder)
    shutil.copytree(folder, data)
    with closing(sqlite3.connect(data / "octavo.db")) as connection, connection:
        # Who proved their identity does so again after some minutes.
        connection.execute("UPDATE sessions SET proved_at = ?", (now(),))
    return (data / "signed-in.json").read_text()


@contextmanager
def opened(folder: Path, browser: Any, **settings: str) -> Iterator[App]:
    """Yield the app of a new installation."""
    missing = find_missing()
    if missing is not None:
        absent(missing)
    (elsewhere,) = free_ports(1)
    given = {
        "OCTAVO_ADMIN_EMAIL": ADMINISTRATOR,
        "OCTAVO_ALLOW_PRIVATE_FETCH": f"127.0.0.1:9,127.0.0.1:{elsewhere}",
        **settings,
    }
    signed_in = "" if "OCTAVO_DATABASE_URL" in settings else _copy_signed_in(folder, browser)
    with serving(folder, **given) as served:
        state = json.loads(signed_in.replace("{url}", served.url)) if signed_in else _sign_in(served, browser)
        found = App(served, browser, settings, elsewhere, state)
        yield found
        assert found.trouble == []


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, browser: Any) -> Iterator[App]:
    with opened(tmp_path_factory.mktemp("studio") / "data", browser) as found:
        yield found
