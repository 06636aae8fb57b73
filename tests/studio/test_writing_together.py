"""Several windows edit one page at random: no typed word is lost, and all of them end up equal.

The actions of a run depend on its seed, but not their timing; `OCTAVO_TEST_SEED` repeats a run, and
`OCTAVO_TEST_ROUNDS` sets its length.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from playwright.sync_api import expect

from firefox import Firefox, firefox
from octavo.delivery.studio.serving import find_missing
from seeds import seed
from serving import Administrator, Served, copy_first_start, octavo_here
from settled import PATIENCE, until
from tools import absent

from .conftest import wait_until_kept

if TYPE_CHECKING:
    from conftest import PostgresDatabases

PAGE = """# Page

Words that stand first.

## Heading here

* item one
* item two
  * item inside
* item three

Words in the middle, of which there are more.

| First      | Second    |
| ---------- | --------- |
| cell one   | cell two  |
| cell three | cell four |

{% hint style="info" %}
Words of a hint.
{% endhint %}

{% tabs %}
{% tab title="One" %}
Words of a tab.
{% endtab %}
{% endtabs %}

{% stepper %}
{% step %}
### Step here

Words of a step.
{% endstep %}
{% endstepper %}

Words that stand last.
"""
WORD = re.compile(r"q\d+z")
WHOLE = re.compile(r"(?<!\S)(?!q\d*(?!\S))\S+")
"""Not a word that another window is still writing: nobody could tell what is left of it."""
_BLOCKS = """() => [...document.querySelectorAll('.ProseMirror :is(p, h2, h3)')]
    .filter((one) => one.checkVisibility() && !one.querySelector('p'))"""
_LIST = f"() => ({_BLOCKS})().map((one) => one.textContent)"
_PUT = f"""([number, from, to, shown]) => {{
    const block = ({_BLOCKS})()[number];
    if (shown !== null && block?.textContent !== shown) return false;
    const at = (wanted) => {{
      const texts = document.createTreeWalker(block, NodeFilter.SHOW_TEXT);
      let left = wanted;
      for (let node = texts.nextNode(); node; node = texts.nextNode()) {{
        if (left <= node.length) return [node, left];
        left -= node.length;
      }}
      return [block, block.childNodes.length ? 1 : 0];
    }};
    document.querySelector('.ProseMirror').focus();
    const now = getSelection();
    const wanted = [...at(from), ...at(to)];
    const there = [now.anchorNode, now.anchorOffset, now.focusNode, now.focusOffset];
    window.isSelected = wanted.every((part, index) => part === there[index]);
    const tell = () => requestAnimationFrame(() => (window.isSelected = true));
    document.addEventListener('selectionchange', tell, {{ once: true }});
    now.setBaseAndExtent(...wanted);
    return true;
}}"""
_SELECTED = f"""([number, from, to]) => {{
    const block = ({_BLOCKS})()[number];
    const now = getSelection();
    const at = (node, offset) => {{
      const before = document.createRange();
      before.setStart(block, 0);
      before.setEnd(node, offset);
      return before.toString().length;
    }};
    return block?.contains(now.anchorNode) && block.contains(now.focusNode) &&
      at(now.anchorNode, now.anchorOffset) === from && at(now.focusNode, now.focusOffset) === to;
}}"""
_CARET = f"""() => {{
    const node = getSelection().focusNode;
    const block = ({_BLOCKS})().find((one) => one.contains(node));
    const place = [node?.nodeName, node?.className, node?.isConnected, document.activeElement.outerHTML.slice(0, 99)];
    return block?.textContent ?? place.join();
}}"""
_OFFERED = "() => document.querySelector('[role=toolbar][aria-label=Text]:not([hidden]) [aria-label=Comment]') !== null"
_KEPT = """() => new Promise((resolve) => {
    const opened = indexedDB.open('octavo', 1);
    opened.onerror = () => resolve('');
    opened.onsuccess = () => {
      const asked = opened.result.transaction('drafts').objectStore('drafts').getAll();
      asked.onsuccess = () => { opened.result.close(); resolve(JSON.stringify(asked.result)); };
    };
})"""

STEPS = re.compile("/live/steps$")
"""Address to which windows send the steps of a page."""


class Server:
    """Octavo on a database, which is killed and started again at its address. ``database``: the URL of a migrated
    PostgreSQL database; empty for SQLite."""

    def __init__(self, data: Path, database: str) -> None:
        self.data, self.settings = data, {"OCTAVO_RATE_LIMIT": "1000000"}
        if database:
            self.settings["OCTAVO_DATABASE_URL"] = database
        else:
            copy_first_start(data)
        self.served = self.start()
        self.admin = Administrator(self.served)

    def start(self, port: int = 0) -> Served:
        served = Served(self.data, port=port, **self.settings)
        served.wait_until_ready()
        return served

    def kill(self) -> None:
        port = int(self.served.url.rpartition(":")[2])
        self.served.kill()
        self.served = self.start(port)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        for _ in range(5):
            try:
                return self.admin.call(method, path, body)
            except httpx.TransportError:  # the connection was to the one that is gone
                continue
        return self.admin.call(method, path, body)

    def token(self, email: str, role: str = "edit") -> str:
        made = octavo_here(
            *("token", "create", "--email", email, "--org", self.admin.organization, "--role", role),
            OCTAVO_DATA=str(self.data),
            OCTAVO_URL=self.served.url,
            **self.settings,
        )
        assert made.returncode == 0, made.stderr
        return str(made.stdout.strip())


class Window:
    """One tab with the page in it. ``last``: the word typed last, while the caret is still behind it."""

    def __init__(self, name: str, context: Any, address: str, said: list[str]) -> None:
        self.name, self.context, self.address, self.said = name, context, address, said
        self.offline = False
        self.last: str | None = None
        self.open()

    def open(self) -> None:
        self.page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.said.append(f"{self.name}: {error.stack}"))
        self.page.goto(self.address)
        self.page.get_by_role("textbox", name="Page content").wait_for(timeout=60_000)
        self.last = None

    def run(self, script: str, argument: Any = None) -> Any:
        return self.page.evaluate(script, argument)

    def type(self, letter: str) -> None:
        self.page.keyboard.type(letter)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def pause(self, milliseconds: float) -> None:
        self.page.wait_for_timeout(milliseconds)

    def blocks(self) -> list[str]:
        found: list[str] = self.run(_LIST)
        return found

    def state(self) -> str:
        return str(self.run("() => document.querySelector('[role=status].state')?.className ?? ''"))

    def select(self, block: int, start: int, end: int, shown: str | None = None) -> bool:
        """Select a part of a block. Return False if the block no longer has the text ``shown``, in which the
        part was found: other windows edit it at any time."""
        if not self.run(_PUT, [block, start, end, shown]):
            return False
        # The editor reads the selection when the browser announces it; before that, keys act on the old one.
        until(lambda: self.run("() => window.isSelected"))
        self.pause(40)
        # An editor that was just focused, and a busy browser, can restore its previous selection.
        return shown is None or bool(self.run(_SELECTED, [block, start, end]))

    def cut(self, offline: bool) -> None:
        self.context.set_offline(offline)

    def close(self) -> None:
        self.page.close(run_before_unload=False)

    def comment(self, remark: str) -> None:
        """Comment on the selection."""
        self.page.get_by_role("toolbar", name="Text").get_by_role("button", name="Comment").click()
        self.page.get_by_role("textbox", name="Write a comment").fill(remark)
        self.page.get_by_role("button", name="Post").click()
        self.page.get_by_role("article").filter(has_text=remark).wait_for()


class FirefoxWindow(Window):
    """The same in Firefox."""

    def __init__(self, name: str, browser: Firefox, token: str, address: str, said: list[str]) -> None:
        self.browser = browser
        browser.send_header("authorization", token)
        super().__init__(name, None, address, said)

    def open(self) -> None:
        self.browser.open(self.address)
        self.browser.wait_for("[role=textbox][aria-label='Page content']")
        self.last = None

    def run(self, script: str, argument: Any = None) -> Any:
        found = self.browser.call(
            f"async () => JSON.stringify(await ({script})({json.dumps(argument)}) ?? null)"
        )
        return json.loads(found)

    def type(self, letter: str) -> None:
        self.browser.type(letter)

    def press(self, key: str) -> None:
        self.browser.press(key)

    def pause(self, milliseconds: float) -> None:
        time.sleep(milliseconds / 1000)

    def cut(self, offline: bool) -> None:
        self.browser.cut(offline)

    def close(self) -> None:
        """Leave the page. It is then opened again in the same window."""
        self.browser.open("about:blank")

    def comment(self, remark: str) -> None:
        self.browser.click_at(
            self.browser.wait_for("[role=toolbar][aria-label=Text]:not([hidden]) [aria-label=Comment]")
        )
        self.browser.click_at(self.browser.wait_for("[aria-label='Write a comment']"))
        self.browser.type(remark)
        # Searching by role takes minutes on a page with hundreds of words.
        post = "form:has([aria-label='Write a comment']) .button.primary"
        self.browser.click_at(self.browser.wait_for(post))
        said = "() => [...document.querySelectorAll('article')].map((one) => one.textContent).join()"
        until(lambda: remark in self.run(said))


class Desk:
    """Windows on one page, and what became of each word that was typed in them."""

    def __init__(self, server: Server, contexts: list[Any], seed: int) -> None:
        """``contexts``: from ``browser_contexts``."""
        self.server, self.random, self.seed = server, random.Random(seed), seed
        self._contexts = contexts
        self.typed: list[str] = []
        self.deleted: set[str] = set()
        self.begun: set[str] = set()
        """Beginnings of words that somebody deleted while the rest was typed."""
        self.done: list[str] = []
        self.said: list[str] = []
        self.space = server.admin.create_space("Together")
        made = server.call("POST", f"/spaces/{self.space}/change-requests", {"subject": "Words"})
        self.path = f"/spaces/{self.space}/change-requests/{made['number']}"
        page = {"operation": "insert_page", "slug": "page", "document": {"markdown": PAGE}}
        server.call("POST", f"{self.path}/content", {"changes": [page]})
        self.address = f"{server.served.url}/s/{self.space}/~/changes/{made['number']}/page"
        self.windows: list[Window] = []
        self.open_window("first", 0)
        self.open_window("second", 1)

    def open_window(self, name: str, person: int) -> Window:
        """Open the page in another window of a person."""
        opened = Window(name, self._contexts[person], self.address, self.said)
        self.windows.append(opened)
        return opened

    def close(self) -> None:
        """Close all pages; the contexts stay for the next desk."""
        for context in self._contexts:
            context.set_offline(False)
            for page in context.pages:
                page.close()

    # --- what windows do ---

    def run(self, rounds: int, kills: int) -> None:
        killed = {(number + 1) * rounds // (kills + 1) for number in range(kills)}
        for number in range(rounds):
            if number in killed:
                self.done.append("kill")
                self.server.kill()
            window = self.random.choice(self.windows)
            self.check_caret(window)
            act = self.random.choices(
                (self.type, self.go_on, self.split, self.join, self.delete, self.move, self.cut, self.crash),
                (40, 25, 7, 4, 8, 4, 6, 2),
            )[0]
            self.done.append(f"{number} {window.name}: {act.__name__}")
            act(window)
            if self.random.random() < 0.2:
                window.pause(self.random.choice((50, 300, 1000)))

    def put(self, window: Window, *, after: str | None = None) -> int | None:
        """Place the caret behind a word, at random or behind this one; return the number of its block."""
        wanted = WHOLE if after is None else re.escape(after) + r"(?!\S)"
        while True:
            blocks = window.blocks()
            places = [
                (number, found.end())
                for number, text in enumerate(blocks)
                for found in re.finditer(wanted, text)
            ]
            if not places:
                return None
            block, at = self.random.choice(places)
            if window.select(block, at, at, blocks[block]):
                return block

    def write(self, window: Window) -> None:
        word = f"q{len(self.typed)}z"
        self.typed.append(word)
        self.done[-1] += f" {word}"
        for letter in f" {word}":
            window.type(letter)
            if self.random.random() < 0.1:
                window.pause(self.random.choice((10, 100, 900)))
        window.last = word

    def type(self, window: Window) -> None:
        if self.put(window) is not None:
            self.write(window)

    def go_on(self, window: Window) -> None:
        """Write at the caret, like a person after a pause."""
        if window.last is None or window.last not in " ".join(window.blocks()):
            return self.type(window)
        self.write(window)

    def split(self, window: Window) -> None:
        if self.put(window) is not None:
            window.press("Enter")
            self.write(window)

    def join(self, window: Window) -> None:
        blocks = window.blocks()
        block = self.random.randrange(len(blocks))
        if not window.select(block, 0, 0, blocks[block]):
            return self.join(window)
        window.page.keyboard.press("Backspace")
        window.last = None

    def delete(self, window: Window) -> None:
        """Delete a few words that this window shows."""
        blocks = window.blocks()
        places = [
            (number, found.start(), found.end())
            for number, text in enumerate(blocks)
            for found in WORD.finditer(text)
        ]
        if not places:
            return
        block, start, end = self.random.choice(places)
        if not window.select(block, start, end, blocks[block]):
            return self.delete(window)
        selected = window.page.evaluate("getSelection().toString()")
        self.deleted.update(WORD.findall(selected))
        self.begun.update(re.findall(r"q\d+(?![\dz])", selected))
        window.page.keyboard.press("Backspace")
        window.last = None

    def move(self, window: Window) -> None:
        if self.put(window) is not None:
            window.page.keyboard.press(self.random.choice(("Alt+ArrowUp", "Alt+ArrowDown")))
            window.last = None

    def cut(self, window: Window) -> None:
        """Disconnect or reconnect the network of a browser."""
        offline = not window.offline
        window.cut(offline)
        for each in self.windows:
            if each.context is window.context:
                each.offline = offline

    def crash(self, window: Window) -> None:
        """Crash the tab and open the page again. Typed text is stored before that."""
        if window.offline:
            return
        self.until(lambda: not self.unsaved(window) or self.is_kept(window), "what was typed is kept")
        window.close()
        window.open()

    # --- what must be true ---

    def unsaved(self, window: Window) -> bool:
        return not {"saved", "changed"}.intersection(window.state().split())

    def is_kept(self, window: Window) -> bool:
        kept = window.run(_KEPT)
        # Letters are kept as they were typed, one by one.
        letters = "".join(json.loads(f'"{text}"') for text in re.findall(r'"text":"((?:[^"\\]|\\.)*)"', kept))
        known = kept + letters + self.markdown()
        return all(word in known for word in WORD.findall(" ".join(window.blocks())))

    def markdown(self) -> str:
        return str(self.server.call("GET", f"{self.path}/content/path/page?format=markdown")["markdown"])

    def until(self, right: Any, what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not right():
            assert time.monotonic() < end, self.tell(f"not within {PATIENCE} s: {what}")
            self.windows[0].pause(100)

    def check_caret(self, window: Window) -> None:
        """Check that the caret is in the block of the word that was typed last, regardless of edits by
        others."""
        if window.last is None:
            return
        caret = window.run(_CARET)
        if window.last in " ".join(window.blocks()):
            assert window.last in caret, self.tell(
                f"the caret of {window.name} left {window.last} for {caret!r}"
            )

    def check(self) -> None:
        """Check that all windows and the server show the same, and that each word exists or was deleted."""
        for window in self.windows:
            if window.offline:
                self.cut(window)
        for window in self.windows:
            window.run("() => dispatchEvent(new Event('online'))")
        self.until(self.equal, "all windows are equal")
        conflicts = self.server.call("GET", f"{self.path}/conflicts?format=markdown&limit=1000")
        somewhere = set(WORD.findall(self.markdown() + json.dumps(conflicts)))
        pieces = set(re.findall(r"\w+", self.markdown()))
        rests = {begun + rest for begun in self.begun for rest in pieces}
        lost = [word for word in self.typed if word not in somewhere | self.deleted | rests]
        assert lost == [], self.tell(f"lost: {lost}")
        assert self.said == [], self.tell("")

    def equal(self) -> bool:
        for window in self.windows:
            window.run("() => dispatchEvent(new Event('focus'))")
        if any(self.unsaved(window) for window in self.windows):
            return False
        first, *others = [
            [text.split() for text in window.blocks() if text.strip()] for window in self.windows
        ]
        shown = sorted(word for text in first for word in WORD.findall(" ".join(text)))
        return all(each == first for each in others) and shown == sorted(WORD.findall(self.markdown()))

    def tell(self, problem: str) -> str:
        shown = "\n".join(f"{each.name}, {each.state()}: {each.blocks()}" for each in self.windows)
        done = "\n".join(self.done[-40:])
        return f"{problem}\nseed {self.seed}\n{done}\n{shown}\n{self.markdown()}\n" + "\n".join(self.said)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def server(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    postgres_databases: PostgresDatabases,
) -> Iterator[Server]:
    """Yield a server on each engine; each test has its own space."""
    if find_missing() is not None:
        absent("the app, built by `make setup`")
    database = postgres_databases.create("together") if request.param == "postgresql" else ""
    found = Server(tmp_path_factory.mktemp("together") / "data", database)
    yield found
    found.served.kill()


@pytest.fixture(scope="module")
def browser_contexts(server: Server, browser: Any) -> list[Any]:
    """Return the browsers of two people: the administrator and Mei."""
    own = str(server.admin.client.headers["authorization"])
    return [
        browser.new_context(extra_http_headers={"authorization": token}, reduced_motion="reduce")
        for token in (own, f"Bearer {server.token('mei@example.com')}")
    ]


@pytest.fixture
def desk(server: Server, browser_contexts: list[Any]) -> Iterator[Desk]:
    found = Desk(server, browser_contexts, seed())
    yield found
    found.close()


def write_together(desk: Desk, rounds: int, kills: int) -> None:
    desk.open_window("second tab", 0)
    desk.run(rounds, kills)
    desk.check()


@pytest.mark.sqlite_first
def test_a_page_is_edited_in_three_windows_at_once(desk: Desk) -> None:
    write_together(desk, rounds=30, kills=1)


@pytest.mark.slow
def test_a_page_is_edited_in_three_windows_for_a_long_time(
    server: Server, browser_contexts: list[Any]
) -> None:
    rounds = int(os.environ.get("OCTAVO_TEST_ROUNDS") or 300)
    for number in range(0, rounds, 100):
        desk = Desk(server, browser_contexts, seed() + number)
        write_together(desk, rounds=100, kills=2)
        desk.close()


@pytest.mark.sqlite_first
def test_letters_and_carets_appear_on_the_other_screen_immediately(desk: Desk) -> None:
    first, second = desk.windows
    first.select(0, 5, 5)
    first.page.keyboard.type(" hello")
    desk.until(lambda: "Words hello that" in second.blocks()[0], "the letters are there")
    first.page.keyboard.type("!")
    caret = second.page.locator(".caret")
    expect(caret).to_have_attribute("data-name", "Admin")
    # Screen readers don't announce each key.
    expect(caret).to_have_attribute("aria-hidden", "true")
    # Nothing cuts off the name, which stands above the line.
    block = second.page.locator(".ProseMirror > *", has=caret)
    expect(block).to_have_css("content-visibility", "visible")


_MOVE_AT_NEWS = """(expected) => {
    const parse = JSON.parse;
    JSON.parse = (text, ...rest) => {
      const found = parse(text, ...rest);
      if (found?.kind && text.includes(expected)) {
        JSON.parse = parse;
        const texts = document.createTreeWalker(document.querySelector('.ProseMirror p'), NodeFilter.SHOW_TEXT);
        getSelection().collapse(texts.nextNode(), 5);
        window.moved = true;
      }
      return found;
    };
}"""
"""Move the caret behind the first word at the moment an event with this text arrives. The browser announces this only
after the editor has applied it."""


@pytest.mark.sqlite_first
def test_a_caret_that_moves_while_text_of_others_arrives_stays(desk: Desk) -> None:
    first, second = desk.windows
    first.select(0, 23, 23)
    first.run(_MOVE_AT_NEWS, '"text":"!"')
    second.select(1, 7, 7)
    second.type("!")
    until(lambda: first.blocks()[1] == "Heading! here")
    first.press("Backspace")
    first.type("k")
    assert first.blocks()[0] == "Wordk that stand first."
    # The same if only a caret arrives.
    first.select(0, 23, 23)
    first.run("() => (window.moved = false)")
    first.run(_MOVE_AT_NEWS, '"Mei"')
    second.select(2, 2, 2)
    until(lambda: first.run("() => window.moved"))
    first.press("Backspace")
    assert first.blocks()[0] == "Word that stand first."


@pytest.mark.sqlite_first
def test_fast_typing_appears_at_once_and_delays_no_toolbar_of_others(desk: Desk) -> None:
    """Like a key that is held down."""
    first, second = desk.windows
    second.select(6, 5, 5)
    typing = (
        "() => void (window.typing = setInterval(() => document.execCommand('insertText', false, 'x'), 30))"
    )
    second.run(typing)
    desk.until(lambda: "xxxx" in first.blocks()[6], "the letters are there")
    first.select(0, 0, 5)
    first.page.get_by_role("toolbar", name="Text").wait_for()
    second.run("() => clearInterval(window.typing)")
    desk.check()


@pytest.mark.sqlite_first
def test_undo_only_reverts_own_text(desk: Desk) -> None:
    first, second = desk.windows
    first.select(0, 5, 5)
    first.page.keyboard.type(" mine")
    desk.until(lambda: "mine" in second.blocks()[0], "the first word is there")
    second.select(0, 10, 10)
    second.page.keyboard.type(" yours")
    desk.until(lambda: "yours" in first.blocks()[0], "the second word is there")
    first.page.keyboard.press("Control+z")
    desk.until(lambda: "mine" not in second.blocks()[0], "the first word is gone")
    assert "yours" in first.blocks()[0] and "yours" in second.blocks()[0]
    desk.check()


@pytest.mark.sqlite_first
def test_a_deleted_paragraph_returns_with_text_typed_in_it_offline(desk: Desk) -> None:
    first, second = desk.windows
    desk.cut(first)
    first.select(6, 5, 5)
    first.page.keyboard.type(" kept")
    second.select(6, 0, 0)
    second.page.keyboard.press("Escape")
    second.page.locator("p.ProseMirror-selectednode").wait_for()
    second.page.keyboard.press("Delete")
    desk.until(lambda: "Words in the middle" not in desk.markdown(), "the paragraph is gone")
    first.page.locator(".state.offline").wait_for()
    desk.cut(first)
    desk.until(lambda: "Words kept in the middle" in " ".join(second.blocks()), "the paragraph is back")
    restored = first.page.locator(".restored")
    expect(restored).to_contain_text("deleted this paragraph while you were writing in it")
    restored.get_by_role("button", name="Delete paragraph").click()
    desk.until(lambda: "kept" not in " ".join(second.blocks()), "it is gone again")
    desk.check()


@pytest.mark.sqlite_first
def test_unsent_text_of_a_killed_tab_is_sent_by_the_next(desk: Desk) -> None:
    first, second = desk.windows
    desk.cut(first)
    first.select(0, 5, 5)
    first.page.keyboard.type(" unsent")
    first.page.locator(".state.offline").wait_for()
    wait_until_kept(first.page, "unsent")
    first.page.close(run_before_unload=False)
    desk.cut(first)
    first.open()
    desk.until(lambda: "Words unsent that" in second.blocks()[0], "the words are there")
    desk.check()


@pytest.mark.sqlite_first
def test_other_editors_are_shown_and_can_be_followed(desk: Desk) -> None:
    first, second = desk.windows
    second.select(15, 5, 5)
    second.page.keyboard.type(" far")
    here = first.page.get_by_role("group", name="Also editing")
    here.wait_for()
    # It's said once that someone joined, not with each key.
    said = first.page.get_by_role("status").filter(has_text="is editing this page")
    expect(said).to_have_text(["Mei is editing this page"])
    first.page.set_viewport_size({"width": 1200, "height": 400})
    first.page.locator(".caret").wait_for(state="attached")
    expect(here.get_by_role("img", name="Mei")).to_be_visible()
    here.get_by_role("button", name="Mei", exact=True).click()
    row = here.get_by_role("button", name="Go to Mei")
    row.filter(has_text="Step here").wait_for()
    row.click()
    row.wait_for(state="hidden")
    desk.until(lambda: in_view(first, ".caret"), "the caret is in view")
    second.select(0, 5, 5)
    second.page.keyboard.type(" near")
    desk.until(lambda: in_view(first, ".caret"), "it is followed")
    second.select(0, 0, 5)
    first.page.locator(".caret-range", has_text="Words").wait_for()
    here.get_by_role("button", name="Mei", exact=True).press("Enter")
    row.filter(has_text="Top of the page · selecting text").wait_for()
    first.page.keyboard.press("Escape")
    row.wait_for(state="hidden")
    expect(said).to_have_text(["Mei is editing this page"])


def in_view(window: Window, place: str) -> bool:
    found = window.page.locator(place).first.bounding_box()
    return found is not None and 0 < found["y"] < window.page.viewport_size["height"]


@pytest.mark.sqlite_first
def test_people_in_another_change_request_can_be_joined(desk: Desk, server: Server) -> None:
    server.call("POST", f"{desk.path}/merge")
    made = server.call("POST", f"/spaces/{desk.space}/change-requests", {"subject": "More words"})
    first, second = desk.windows
    page = f"{server.served.url}/s/{desk.space}"
    second.page.goto(f"{page}/page")
    first.page.goto(f"{page}/~/changes/{made['number']}/page")
    first.page.get_by_role("textbox", name="Page content").wait_for()
    told = second.page.get_by_text(f"Admin is editing this page in #{made['number']}.")
    told.wait_for()
    second.page.get_by_role("link", name="Join").click()
    second.page.wait_for_url(f"**/changes/{made['number']}/page")
    second.page.get_by_role("textbox", name="Page content").wait_for()


def open_main(server: Server, desk: Desk, *windows: Window) -> None:
    """Merge the change request, and open the page of main in these windows to edit it."""
    server.call("POST", f"{desk.path}/merge")
    desk.path = f"/spaces/{desk.space}"
    for window in windows:
        window.page.close()
        window.address = f"{server.served.url}/s/{desk.space}/~/edit/page"
        window.open()


@pytest.mark.sqlite_first
def test_main_is_written_together_where_the_space_allows_it(desk: Desk, server: Server) -> None:
    first, second = desk.windows
    third = desk.open_window("second tab", 0)
    open_main(server, desk, first, second)
    first.select(0, 5, 5)
    first.page.keyboard.type(" hello")
    desk.until(lambda: "Words hello that" in second.blocks()[0], "the letters are there")
    expect(second.page.locator(".caret")).to_have_attribute("data-name", "Admin")
    second.select(0, 5, 5)
    second.page.keyboard.type(" both")
    desk.until(lambda: "Words both hello that" in desk.markdown(), "it is saved in main")
    # Others see who is editing, and what was saved, without loading the page again.
    third.page.goto(f"{server.served.url}/s/{desk.space}/page")
    third.page.get_by_text("Words both hello that").wait_for()
    told = third.page.locator(".elsewhere", has_text="is editing this page")
    told.wait_for()
    first.page.keyboard.type(" more")
    third.page.get_by_text("hello more that").wait_for()
    told.get_by_role("link", name="Join").click()
    third.page.get_by_role("textbox", name="Page content").wait_for()
    third.page.get_by_role("textbox", name="Title").fill("A new title")
    expect(first.page.get_by_role("textbox", name="Title")).to_have_value("A new title")
    first.page.goto(f"{server.served.url}/s/{desk.space}/~/history")
    both = re.compile("Admin, Mei|Mei, Admin")
    listed = first.page.get_by_role("list", name="Revisions").get_by_role("listitem").filter(has_text=both)
    listed.first.get_by_role("link").click()
    expect(first.page.locator("p.by")).to_contain_text(both)
    third.page.get_by_role("link", name="Done").click()
    third.page.wait_for_url(lambda url: "/~/edit/" not in url)
    expect(third.page.get_by_role("button", name="Edit", exact=False).first).to_be_visible()


@pytest.mark.sqlite_first
def test_text_left_in_main_is_offered_to_its_author(desk: Desk, server: Server) -> None:
    first, second = desk.windows
    open_main(server, desk, first, second)
    reading = f"{server.served.url}/s/{desk.space}/page"
    desk.cut(first)
    first.select(0, 5, 5)
    first.page.keyboard.type(" early")
    first.page.locator(".state.offline").wait_for()
    wait_until_kept(first.page, "early")
    first.page.close(run_before_unload=False)
    desk.cut(first)
    page = server.call("GET", f"{desk.path}/content/pages")["pages"][0]["id"]
    lost = {"markdown": "Words without a place", "why": "place-gone"}
    server.call("POST", f"{desk.path}/pages/{page}/live/set-aside", lost)
    first.page = first.context.new_page()
    first.page.goto(reading)
    told = first.page.get_by_role("status").filter(has_text="Some of your text couldn't be placed")
    told.get_by_role("button", name="Show").click()
    first.page.get_by_role("dialog").get_by_text("Words without a place").wait_for()
    first.page.keyboard.press("Escape")
    left = first.page.get_by_role("status").filter(has_text="Your latest changes weren't saved")
    left.get_by_role("link", name="Keep editing").click()
    desk.until(lambda: "Words early that" in second.blocks()[0], "the first word is there")
    # These letters are on their way when the space is locked.
    first.select(0, 11, 11)
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    first.page.route(STEPS, hold)
    first.page.keyboard.type(" late")
    desk.until(lambda: bool(first.pause(20) or held), "the letters are sent")
    server.call("PATCH", desk.path, {"editMode": "locked"})
    for route in held:
        route.continue_()
    first.page.unroute(STEPS)
    going_on = first.page.get_by_role("button", name="Continue in a new change request")
    going_on.wait_for()
    first.page.goto(reading)
    going_on.click()
    first.page.wait_for_url("**/~/changes/**")
    number = first.page.url.split("/changes/")[1].split("/")[0]
    first.page.get_by_role("textbox", name="Page content").wait_for()
    # What was accepted before is in main, and the rest is in the change request.
    desk.until(lambda: "Words early that" in desk.markdown(), "what was accepted is saved")
    desk.path = f"/spaces/{desk.space}/change-requests/{number}"
    desk.until(lambda: "late that" in desk.markdown(), "the rest is in the change request")


def set_role(server: Server, desk: Desk, email: str, role: str) -> None:
    members = server.call("GET", f"/orgs/{server.admin.organization}/members?search={email}")["items"]
    users = [member["user"]["id"] for member in members]
    server.call("POST", f"/spaces/{desk.space}/permissions", {"role": role, "users": users})


@pytest.mark.sqlite_first
def test_text_that_its_author_can_no_longer_save_is_kept(desk: Desk, server: Server) -> None:
    first, second = desk.windows
    second.context.grant_permissions(["clipboard-read", "clipboard-write"])
    second.select(0, 5, 5)
    second.page.keyboard.type(" saved")
    desk.until(lambda: "Words saved that" in first.blocks()[0], "the first word is there")
    set_role(server, desk, "mei", "read")
    second.page.keyboard.type(" unsent")
    told = second.page.get_by_role("alert").filter(has_text="Your latest changes weren't saved")
    told.wait_for()
    expect(told.get_by_role("button", name="Continue in a new change request")).to_have_count(0)
    told.get_by_role("button", name="Copy as Markdown").click()
    second.page.get_by_text("Copied “Page” as Markdown").wait_for()
    assert "Words saved unsent that" in second.page.evaluate("navigator.clipboard.readText()")
    # Others don't see it, and people with permission continue.
    first.select(0, 0, 0)
    first.page.keyboard.type("New ")
    desk.until(lambda: "New Words saved that" in desk.markdown(), "others go on")
    set_role(server, desk, "mei", "edit")
    second.page.close()
    second.open()
    desk.until(lambda: "New Words saved unsent that" in first.blocks()[0], "the text is sent")
    desk.check()


@pytest.mark.sqlite_first
def test_titles_and_the_tree_update_live(desk: Desk, server: Server) -> None:
    first, second = desk.windows
    desk.open_window("second tab", 0)
    second.page.get_by_role("textbox", name="Title").fill("A new title")
    title = first.page.get_by_role("textbox", name="Title")
    expect(title).to_have_value("A new title")
    expect(first.page.get_by_role("treeitem", name="A new title")).to_be_visible()
    # Text typed in the meantime is kept, and saved last.
    desk.cut(first)
    title.fill("Title of the first")
    first.page.get_by_role("textbox", name="Description").press_sequentially("Words")
    second.page.get_by_role("textbox", name="Title").fill("Title of the second")
    desk.until(lambda: title_of(desk) == "Title of the second", "the second title is saved")
    desk.cut(first)
    desk.until(lambda: title_of(desk) == "Title of the first", "the first title is saved")
    expect(second.page.get_by_role("textbox", name="Title")).to_have_value("Title of the first")
    expect(second.page.get_by_role("textbox", name="Description")).to_have_value("Words")
    # A title that another person replaced can be restored.
    replaced = second.page.locator(".notice").filter(has_text="changed the title to “Title of the first”")
    replaced.get_by_role("button", name="Undo").click()
    desk.until(lambda: title_of(desk) == "Title of the second", "the second title is restored")
    # Pages and options of others arrive, and the caret stays in place.
    first.select(0, 5, 5)
    page = {
        "operation": "insert_page",
        "slug": "other",
        "title": "Other page",
        "document": {"markdown": "Words."},
    }
    server.call("POST", f"{desk.path}/content", {"changes": [page]})
    for window in desk.windows:
        expect(window.page.get_by_role("treeitem", name="Other page")).to_be_visible()
    first.page.keyboard.type(" here")
    desk.until(lambda: "Words here that" in second.blocks()[0], "the caret stayed")
    assert desk.said == []


def title_of(desk: Desk) -> str:
    pages = desk.server.call("GET", f"{desk.path}/content/pages")["pages"]
    return str(pages[0]["title"])


@pytest.mark.sqlite_first
@pytest.mark.parametrize("ends", ["merged", "archived"])
def test_text_after_a_merge_continues_in_a_new_change_request(desk: Desk, server: Server, ends: str) -> None:
    first, second = desk.windows
    if ends == "archived":
        # The page has to be on main, too.
        server.call("POST", f"{desk.path}/merge")
        made = server.call("POST", f"/spaces/{desk.space}/change-requests", {"subject": "More words"})
        desk.path = f"/spaces/{desk.space}/change-requests/{made['number']}"
        for window in desk.windows:
            window.page.close()
            window.address = f"{server.served.url}/s/{desk.space}/~/changes/{made['number']}/page"
            window.open()
    first.select(0, 5, 5)
    first.page.keyboard.type(" early")
    desk.until(lambda: "Words early that" in second.blocks()[0], "the first word is there")
    desk.cut(first)
    first.page.keyboard.type(" late")
    first.page.locator(".state.offline").wait_for()
    if ends == "merged":
        server.call("POST", f"{desk.path}/merge")
    else:
        server.call("PATCH", desk.path, {"status": "archived"})
    desk.cut(first)
    first.page.get_by_role("button", name="Continue in a new change request").click()
    first.page.wait_for_url(lambda url: url != first.address)
    number = first.page.url.split("/changes/")[1].split("/")[0]
    desk.path = f"/spaces/{desk.space}/change-requests/{number}"
    first.page.get_by_role("textbox", name="Page content").wait_for()
    words = "Words early late that" if ends == "merged" else "late that"
    desk.until(lambda: words in desk.markdown(), "what was not merged is in the new change request")


@pytest.mark.slow
def test_three_people_write_comment_and_review_a_page(
    server: Server, browser: Any, browser_contexts: list[Any], tmp_path: Path
) -> None:
    """Half a minute, or `OCTAVO_TEST_SECONDS`: each person writes, comments, and looks at the text of the
    others. The third uses Firefox. Meanwhile, networks fail, tabs are reloaded, and the server is killed. Someone
    else approves the page, because authors can't review."""
    with firefox(tmp_path / "profile") as third:
        desk = Desk(server, browser_contexts, seed())
        token = f"Bearer {server.token('tom@example.com')}"
        desk.windows.append(FirefoxWindow("third", third, token, desk.address, desk.said))
        write_and_comment(desk)
        assert [error for error in third.errors if not FAILED.search(error)] == []
        token = f"Bearer {server.token('ines@example.com', 'review')}"
        reviewer = browser.new_context(extra_http_headers={"authorization": token}, reduced_motion="reduce")
        shown = reviewer.new_page()
        shown.goto(f"{desk.address.removesuffix('/page')}/~/review/page")
        for word in desk.typed[-3:]:
            shown.get_by_text(word).first.wait_for()
        shown.get_by_role("button", name="Finish review").click()
        shown.get_by_role("menuitem", name="Approve").click()
        reviews = f"{desk.path}/reviews"
        desk.until(lambda: "approved" in str(server.call("GET", reviews)["items"]), "it is approved")
        reviewer.close()
        server.call("POST", f"{desk.path}/merge")
        merged = server.call("GET", f"/spaces/{desk.space}/content/path/page?format=markdown")["markdown"]
        assert [word for word in desk.typed if word not in merged] == []
        desk.close()


FAILED = re.compile("NetworkError|can’t establish|Cross-Origin|connection to the server")
"""Errors that Firefox reports while the server is down."""


def interrupt(desk: Desk) -> Iterator[str]:
    """Cause one problem after another, and name it."""
    first, second, third = desk.windows
    while True:
        for window in desk.windows:
            desk.cut(window)
            yield f"{window.name} is disconnected"
            desk.server.kill()
            yield "kill"
            desk.cut(window)
            yield f"{window.name} is connected again"
        desk.server.kill()
        # The server is not up for all of them at once.
        desk.crash(second)
        yield "kill and reload"
        desk.crash(third)
        yield "third is reloaded"
        desk.crash(first)
        yield "first is reloaded"


def write_and_comment(desk: Desk) -> None:
    remarks: list[str] = []
    interruptions = interrupt(desk)

    def comment(window: Window) -> None:
        word = next((word for word in reversed(desk.typed) if word in " ".join(window.blocks())), None)
        if word is None or window.offline:
            return
        # The text of another person can arrive before the editor knows of the selection, which is then gone.
        for _ in range(20):
            blocks = window.blocks()
            block = next(number for number, text in enumerate(blocks) if word in text)
            start = blocks[block].index(word)
            window.select(block, start, start + len(word))
            if window.run(_OFFERED):
                break
        remarks.append(f"About {word} by {window.name}")
        window.comment(remarks[-1])
        window.last = None

    began = time.monotonic()
    end = began + float(os.environ.get("OCTAVO_TEST_SECONDS") or 30)
    due = 0
    while time.monotonic() < end:
        if len(desk.done) >= due:
            desk.done.append(next(interruptions))
            due = len(desk.done) + 20
        window = desk.random.choice(desk.windows)
        act = desk.random.choices((desk.type, desk.go_on, desk.split, comment), (30, 50, 12, 8))[0]
        desk.done.append(f"{window.name}: {act.__name__}")
        act(window)
    desk.check()
    said = desk.server.call("GET", f"{desk.path}/comments?format=markdown&limit=1000")["items"]
    bodies = [each["body"]["markdown"] for each in said]
    assert all(any(remark in body for body in bodies) for remark in remarks)
