"""Pages edited in a real browser, with a running server: typed text is saved as Markdown, and every other
byte of the file is kept."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from octavo.delivery.studio.serving import find_missing
from serving import Administrator, serving_new
from settled import PATIENCE, until
from tools import absent

from .conftest import wait_for_selection, wait_until_kept

pytestmark = pytest.mark.slow

PAGE = """# Page

First words with _emphasis_ and `code`.

Untouched *words*, on
two lines.

## Heading words

* dashed words
* others
  1. nested words

- untouched
+ other

* [ ] task words
* [x] done

> quoted words

Setext untouched
----------------

| Name             | Use |
| ---------------- | :-: |
| cell words       | `b` |
| a longer cell of |  d  |

|a|b|
|--|--|
|untouched|x|

{% hint style="info" %}
hint words
{% endhint %}

{% code title="x.py" %}
```python
code_words = 1
```
{% endcode %}

``` c
untouched
```

{% tabs %}
{% tab title="One" %}
tab words
{% endtab %}

{% tab title="Two" %}
other words
{% endtab %}
{% endtabs %}

<details>

<summary>summary words</summary>

details words

</details>

{% stepper %}
{% step %}
### step title

step words
{% endstep %}
{% endstepper %}

<figure><img src="https://example.com/a.png" alt="A"><figcaption><p>caption words</p></figcaption></figure>

{% columns %}
{% column %}
left words
{% endcolumn %}

{% column %}
right words
{% endcolumn %}
{% endcolumns %}

{% if visitor.claims.beta %}
condition words
{% endif %}

Last words\\
"""
KINDS = {
    "paragraph": "First words with",
    "heading": "Heading words",
    "list": "dashed words",
    "nested list": "nested words",
    "task": "task words",
    "quote": "quoted words",
    "table": "cell words",
    "hint": "hint words",
    "code": "code_words = 1",
    "tab": "tab words",
    "expandable title": "summary words",
    "expandable": "details words",
    "step title": "step title",
    "step": "step words",
    "caption": "caption words",
    "column": "left words",
    "condition": "condition words",
}


STEPS = "**/live/steps**"
"""Requests that say or ask what was written."""


class Desk:
    """One space with its pages, and a browser that is signed in."""

    def __init__(self, admin: Administrator, url: str, context: Any) -> None:
        self.admin, self.url, self.context = admin, url, context
        self.said: list[str] = []
        self.space = admin.create_space("Book")
        self.changes = f"/spaces/{self.space}/change-requests"

    def change(self, markdown: str = PAGE) -> int:
        """Create a change request with a page at ``page``, and return its number."""
        made = self.admin.call("POST", self.changes, {"subject": "Words"})
        page = {
            "operation": "insert_page",
            "slug": "page",
            "title": "Page",
            "document": {"markdown": markdown},
        }
        self.admin.call("POST", f"{self.changes}/{made['id']}/content", {"changes": [page]})
        return int(made["number"])

    def markdown(self, change: int, path: str = "page") -> str:
        found = self.admin.call("GET", f"{self.changes}/{change}/content/path/{path}?format=markdown")
        return str(found["markdown"])

    def open(self, change: int) -> Any:
        """Return the textbox of the page's text."""
        page = self.context.new_page()
        page.on("console", lambda told: self.said.append(told.text) if told.type == "error" else None)
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.goto(f"{self.url}/s/{self.space}/~/changes/{change}/page")
        text = page.get_by_role("textbox", name="Page content")
        text.wait_for()
        wait_for_selection(page)
        return text

    def is_saved(self, change: int, whole: str, tidy: Callable[[str], str] = str) -> None:
        """Wait until the page's Markdown is this. Texts are compared after ``tidy``."""
        found = self._wait(change, lambda found: tidy(found) == tidy(whole), "page")
        assert tidy(found) == tidy(whole)

    def has_saved(self, change: int, *parts: str | re.Pattern[str], path: str = "page") -> str:
        """Wait until a page's Markdown has all of these parts. Return it."""
        sought = [re.compile(re.escape(each)) if isinstance(each, str) else each for each in parts]
        found = self._wait(change, lambda found: all(each.search(found) for each in sought), path)
        assert [each.pattern for each in sought if not each.search(found)] == [], found
        return found

    def _wait(self, change: int, right: Callable[[str], bool], path: str) -> str:
        end = time.monotonic() + PATIENCE
        while not right(found := self.markdown(change, path)) and time.monotonic() < end:
            # Routes of the browser are handled in the meantime.
            self.context.pages[-1].wait_for_timeout(100)
        return found


@pytest.fixture(scope="module")
def desk(tmp_path_factory, browser):
    if find_missing() is not None:
        absent("the app, built by `make setup`")
    data = tmp_path_factory.mktemp("writing") / "data"
    with serving_new(data) as served:
        admin = Administrator(served)
        headers = {"authorization": admin.client.headers["authorization"]}
        context = browser.new_context(
            viewport={"width": 1440, "height": 900},
            extra_http_headers=headers,
            permissions=["clipboard-read", "clipboard-write"],
        )
        yield Desk(admin, served.url, context)
        context.close()


@pytest.fixture(scope="module")
def written(desk):
    return desk, (change := desk.change()), desk.open(change)


@pytest.mark.parametrize("kind", KINDS)
def test_typing_changes_only_the_bytes_of_the_edit(written, kind):
    desk, change, text = written
    before = desk.markdown(change)
    words = KINDS[kind]
    text.get_by_text(words, exact=False).first.click()
    text.page.keyboard.press("Home")
    text.page.keyboard.type("Zu")
    expected = before.replace(words, f"Zu{words}", 1)
    assert expected != before
    # The columns of a table are padded: one of them is as wide as before, with other blanks.
    desk.is_saved(change, expected, (lambda text: re.sub(" +", " ", text)) if kind == "table" else str)
    assert desk.said == []


def _written(desk: Desk, typed: Callable[[Any], None], expected: str) -> None:
    desk.said.clear()
    change = desk.change("# Page\n\nBefore.\n\nBehind.\n")
    text = desk.open(change)
    try:
        text.get_by_text("Before.").click()
        # Browsers report the position of the caret a moment after a click, and people type later than that.
        wait_for_selection(text.page)
        text.page.keyboard.press("End")
        wait_for_selection(text.page)
        text.page.keyboard.press("Enter")
        typed(text)
        whole = f"# Page\n\nBefore.\n\n{expected}\n\nBehind.\n"
        # All of it: the text is right in between, too, if something is typed and then undone.
        expect(_status(text)).to_have_text("Saved")
        desk.is_saved(change, whole)
        assert desk.said == []
    finally:
        # A page that stays open holds a connection, of which a browser has few.
        text.page.close()


def _keys(*keys: str) -> Callable[[Any], None]:
    """Type texts; names in angle brackets are keys."""

    def run(text: Any) -> None:
        for key in keys:
            if key == "<wait>":
                # Text typed after a pause is a separate undo step.
                text.page.wait_for_timeout(800)
            elif key.startswith("<"):
                text.page.keyboard.press(key.strip("<>"))
            else:
                text.page.keyboard.type(key, delay=12)

    return run


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param(["one "], "one", id="blank at the end"),
        pytest.param(["- one", "<Enter>", "two "], "* one\n* two", id="blank at the end of a list"),
        pytest.param(["## Words"], "## Words", id="heading"),
        pytest.param(["### Words"], "### Words", id="second heading"),
        pytest.param(["#### Words"], "#### Words", id="third heading"),
        pytest.param(
            ["- one", "<Enter>", "two", "<Enter>", "<Tab>", "in"], "* one\n* two\n  * in", id="list"
        ),
        pytest.param(["1. one", "<Enter>", "two"], "1. one\n2. two", id="numbered list"),
        pytest.param(["[] one", "<Enter>", "two"], "* [ ] one\n* [ ] two", id="tasks"),
        pytest.param(["[x] one"], "* [x] one", id="done task"),
        pytest.param(["> one"], "> one", id="quote"),
        pytest.param(
            ["```python", "<Enter>", "a = 1", "<Enter>", "b = 2"], "```python\na = 1\nb = 2\n```", id="code"
        ),
        pytest.param(
            ["> [!TIP]", "<Enter>", "one"], '{% hint style="success" %}\none\n{% endhint %}', id="alert"
        ),
        pytest.param(
            ["| a | b |", "<Enter>", "c", "<Tab>", "d"],
            "| a   | b   |\n| --- | --- |\n| c   | d   |",
            id="typed table",
        ),
        pytest.param(["a **b** *c* `d` ~~e~~ f"], "a **b** _c_ `d` ~~e~~ f", id="marks"),
        pytest.param(["a [b](https://example.com/) c"], "a [b](https://example.com/) c", id="link"),
        pytest.param(["one", "<Shift+Enter>", "two"], "one\\\ntwo", id="break"),
        pytest.param(["/hint", "<Enter>", "one"], '{% hint style="info" %}\none\n{% endhint %}', id="hint"),
        pytest.param(
            ["/details", "<Enter>", "one", "<Enter>", "two"],
            "<details>\n\n<summary>one</summary>\n\ntwo\n\n</details>",
            id="details",
        ),
        pytest.param(
            ["/tabs", "<Enter>", "one"],
            (
                '{% tabs %}\n{% tab title="First" %}\none\n{% endtab %}\n\n{% tab title="Second" %}\n\n'
                "{% endtab %}\n{% endtabs %}"
            ),
            id="tabs",
        ),
        pytest.param(
            ["/columns", "<Enter>", "one"],
            "{% columns %}\n{% column %}\none\n{% endcolumn %}\n\n{% column %}\n\n{% endcolumn %}\n{% endcolumns %}",
            id="columns",
        ),
        pytest.param(
            ["/table", "<Enter>", "a", "<Tab>", "b", "<Tab>", "c", "<Tab>", "d"],
            "| a   | b   | c   |\n| --- | --- | --- |\n| d   |     |     |\n|     |     |     |",
            id="table",
        ),
        pytest.param(
            ["| a | b |", "<Enter>", "/hint", "<Enter>", "one"],
            '| a   | b   |\n| --- | --- |\n|     |     |\n\n{% hint style="info" %}\none\n{% endhint %}',
            id="hint from a cell",
        ),
        pytest.param(
            ["| a | b |", "<Enter>", "* ", "/table", "<Enter>", "c"],
            (
                "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td><ul><li></li></ul></"
                "td><td></td></tr></tbody></table>\n\n| c   |     |     |\n| --- | --- | --- |\n"
                "|     |     |     |\n|     |     |     |"
            ),
            id="table from a list in a cell",
        ),
        pytest.param(["a :smile: b"], "a :smile: b", id="emoji"),
        pytest.param(
            ["a {{ space.vars.b }} c"],
            'a <code class="expression">space\\.vars\\.b</code> c',
            id="expression",
        ),
        pytest.param(["<Control+b>", "a", "<Control+b>", " b"], "**a** b", id="keys"),
        pytest.param(["one", "<Enter>", "two", "<Alt+ArrowUp>"], "two\n\none", id="move"),
        pytest.param(["one", "<Control+d>", "!"], "one\n\none!", id="duplicate"),
        pytest.param(["one", "<Enter>", "two", "<Escape>", "<Delete>"], "one", id="delete"),
        pytest.param(["one", "<Control+Alt+1>", "!"], "## one!", id="turn"),
        pytest.param(
            ["/hint", "<Enter>", "one", "<Escape>", "<Escape>", "two"],
            '{% hint style="info" %}\none\n{% endhint %}\n\ntwo',
            id="typed while a block is chosen",
        ),
        pytest.param(["## ", "<Backspace>", "one"], "\\## one", id="as typed"),
        pytest.param(["one", "<wait>", " two", "<Control+z>"], "one", id="undo"),
        pytest.param(["`a` `b` end"], "`a` `b` end", id="code after code"),
        pytest.param(["`a`/`b` and `c` x"], "`a`/`b` and `c` x", id="code beside code"),
        pytest.param(["**a `b` c** d"], "**a `b` c** d", id="code within bold"),
        pytest.param(["_private_var x"], "\\_private_var x", id="a name with underscores"),
        pytest.param(["use $_SERVER_NAME now"], "use $\\_SERVER_NAME now", id="a variable with underscores"),
        pytest.param(["__dunder__name x"], "\\_\\_dunder\\_\\_name x", id="a name with double underscores"),
        pytest.param(["an _a b_ and __c__."], "an _a b_ and **c**.", id="emphasis by underscores"),
        pytest.param(["_a_", "<Enter>", "b"], "_a_\n\nb", id="emphasis at the end of a line"),
        pytest.param(["see https://e.example/a_b now"], "see <https://e.example/a_b> now", id="URL"),
        pytest.param(
            ["(https://e.example/x_(y)). So"], "(<https://e.example/x_(y)>). So", id="URL in a sentence"
        ),
        pytest.param(
            ["https://e.example/", "<Enter>", "b"], "<https://e.example/>\n\nb", id="URL at the end of a line"
        ),
        pytest.param(
            ["https://e.example/_a_/b_ c"], "<https://e.example/_a_/b_> c", id="URL with underscores"
        ),
        pytest.param(["`https://e.example/` b"], "`https://e.example/` b", id="URL as code"),
        pytest.param(
            ["![alt](https://e.example/i.png) z"],
            '<img src="https://e.example/i.png" alt="alt"> z',
            id="image",
        ),
        pytest.param(
            ["[w](https://e.example/x_(y)) z"], "[w](<https://e.example/x_(y)>) z", id="link with parentheses"
        ),
        pytest.param(
            ["/embed", "<Enter>", "https://e.example/page", "<Enter>"],
            '{% embed url="https://e.example/page" %}',
            id="embed",
        ),
        pytest.param(
            ["/image", "<Enter>", "https://e.example/i.png", "<Enter>"],
            '<figure><img src="https://e.example/i.png" alt=""><figcaption></figcaption></figure>',
            id="image by its URL",
        ),
        pytest.param(
            ["/file", "<Enter>", "https://e.example/a.zip", "<Enter>"],
            '{% file src="https://e.example/a.zip" %}',
            id="file by its URL",
        ),
    ],
)
def test_typed_content_equals_the_file(desk, keys, expected):
    _written(desk, _keys(*keys), expected)


def _status(text: Any) -> Any:
    return text.page.get_by_role("status").filter(
        has_text=re.compile("Saved|Saving|saved|Unsaved|saved locally|Updated")
    )


def _new(desk: Desk, *blocks: str) -> tuple[int, Any]:
    change = desk.change("# Page\n\n" + "".join(f"{block}\n\n" for block in blocks))
    return change, desk.open(change)


def _type(text: Any, block: str, words: str) -> None:
    text.get_by_text(block, exact=False).first.click()
    wait_for_selection(text.page)
    text.page.keyboard.press("End")
    wait_for_selection(text.page)
    text.page.keyboard.type(words)


def test_the_ends_of_a_long_page_are_reached_with_one_key(desk):
    """They aren't laid out yet while the other end is visible, so the browser wouldn't find them."""
    many = [f"Paragraph {n} with [a link](https://example.com/{n})." for n in range(120)]
    change, text = _new(desk, *many)
    keyboard = text.page.keyboard
    text.get_by_text("Paragraph 0 ", exact=False).click()
    keyboard.press("Control+End")
    keyboard.type(" The end.")
    keyboard.press("Control+Home")
    keyboard.type("The start. ")
    start, end = (
        re.compile(r"\A# Page\n\nThe start\. Paragraph 0 with"),
        re.compile(r"/119\)\. The end\.\s*\Z"),
    )
    desk.has_saved(change, start, end)
    keyboard.press("Control+Shift+End")
    keyboard.type("Nothing is left.")
    desk.is_saved(change, "# Page\n\nThe start. Nothing is left.", str.strip)


def test_offline_edits_survive_closing_the_tab(desk):
    change, text = _new(desk, "One.", "Two.")
    desk.context.set_offline(True)
    try:
        _type(text, "One.", " Written offline.")
        text.page.get_by_text("Offline, saved locally").wait_for()
        wait_until_kept(text.page, "Written offline.")
        # As a crash: nothing that runs when a page is left.
        text.page.close(run_before_unload=False)
    finally:
        desk.context.set_offline(False)
    assert "offline" not in desk.markdown(change)
    text = desk.open(change)
    text.get_by_text("One. Written offline.").wait_for()
    desk.is_saved(change, "# Page\n\nOne. Written offline.\n\nTwo.\n\n")
    text.page.close()
    desk.said.clear()


def test_text_of_crashed_tabs_merges_with_edits_of_others(desk):
    change, first = _new(desk, "One of two.", "Two.", "Three.")
    second = desk.open(change)
    desk.context.set_offline(True)
    try:
        _type(first, "One of", " First.")
        _type(second, "Three.", " Second.")
        for text in (first, second):
            text.page.get_by_text("Offline, saved locally").wait_for()
            wait_until_kept(text.page, "First." if text is first else "Second.")
            text.page.close(run_before_unload=False)
    finally:
        desk.context.set_offline(False)
    _set(desk, change, "One of", "Zero, one of two.")
    text = desk.open(change)
    whole = "# Page\n\nZero, one of two. First.\n\nTwo.\n\nThree. Second.\n\n"
    desk.is_saved(change, whole)
    text.page.close()
    desk.said.clear()


def test_a_save_with_a_lost_response_is_not_repeated(desk):
    change, text = _new(desk, "One.", "Two.")
    lost = []

    def lose(route: Any) -> None:
        if route.request.method != "POST":
            return route.continue_()
        if not lost:
            lost.append(route.fetch().status)
        route.abort()

    text.page.route(STEPS, lose)
    _type(text, "One.", " Mine.")
    text.page.keyboard.press("Enter")
    while not lost:
        text.page.wait_for_timeout(50)
    text.page.keyboard.type("New.")
    text.page.get_by_text("Offline, saved locally").wait_for()
    text.page.keyboard.type(" More.")
    wait_until_kept(text.page, "More.")
    # Another tab continues it, and has to find out how much of it arrived.
    text.page.close(run_before_unload=False)
    assert lost == [200]
    text = desk.open(change)
    whole = "# Page\n\nOne. Mine.\n\nNew. More.\n\nTwo.\n\n"
    desk.is_saved(change, whole)
    text.page.get_by_text("Saved", exact=True).wait_for()
    # And the same tab.
    lost.clear()
    text.page.route(STEPS, lambda route: route.continue_() if lost else lose(route))
    _type(text, "Two.", " Also mine.")
    whole = whole.replace("Two.", "Two. Also mine.")
    text.page.get_by_text("Saved", exact=True).wait_for()
    desk.is_saved(change, whole)
    text.page.close()
    desk.said.clear()


def test_stored_text_does_not_block_leaving(desk):
    change, text = _new(desk, "One.")
    page = text.page
    page.route(STEPS, lambda route: None if route.request.method == "POST" else route.continue_())
    _type(text, "One.", " Mine.")
    page.get_by_text("Saving", exact=True).wait_for()
    page.get_by_role("link", name="My work").first.click()
    page.wait_for_url(f"{desk.url}/")
    page.get_by_text("The changes are kept in this browser").wait_for()
    page.close()
    # Without room in the browser nothing but the tab has it.
    text = desk.open(change)
    page = text.page
    desk.has_saved(change, "Mine")
    page.evaluate(
        "void (IDBObjectStore.prototype.put = () => { throw new DOMException('', 'QuotaExceededError') })"
    )
    page.route(STEPS, lambda route: route.fulfill(status=503, body="<h1>Not now</h1>"))
    _type(text, "One.", " Last.")
    page.get_by_text("Unsaved changes").wait_for()
    page.get_by_role("link", name="My work").first.click()
    page.get_by_text("your browser has no space left to keep the changes").wait_for()
    expect(text.get_by_text("Last.")).to_be_visible()
    page.unroute(STEPS)
    desk.has_saved(change, "Last.")
    page.close()
    desk.said.clear()


def test_a_restored_network_resumes_saving(desk):
    change, text = _new(desk, "One.")
    desk.context.set_offline(True)
    _type(text, "One.", " Two.")
    text.page.get_by_text("Offline, saved locally").wait_for()
    desk.context.set_offline(False)
    desk.has_saved(change, "One. Two.")
    text.page.get_by_text("Saved", exact=True).wait_for()
    text.page.close()
    desk.said.clear()


@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_text_is_saved_after_the_server_recovers(desk, status):
    change, text = _new(desk, "One.")
    failures = []

    def fail(route: Any) -> None:
        if route.request.method != "POST" or len(failures) >= 2:
            return route.continue_()
        failures.append(status)
        html = status == 502
        route.fulfill(
            status=status,
            headers={"retry-after": "1"} if status == 429 else {},
            content_type="text/html" if html else "application/json",
            body="<h1>Bad gateway</h1>" if html else '{"error": {"code": 500, "message": "Not now."}}',
        )

    text.page.route(STEPS, fail)
    _type(text, "One.", " Two.")
    desk.has_saved(change, "One. Two.")
    assert len(failures) == 2
    text.page.close()
    desk.said.clear()


def test_a_foreign_page_instead_of_a_response_is_an_error(desk):
    change, text = _new(desk, "One.")
    answered = []

    def answer(route: Any) -> None:
        if route.request.method != "POST" or answered:
            return route.continue_()
        answered.append(True)
        route.fulfill(status=200, content_type="text/html", body="<h1>Welcome to this network</h1>")

    text.page.route(STEPS, answer)
    _type(text, "One.", " Two.")
    expect(_status(text)).to_have_text("Unsaved changes")
    desk.is_saved(change, "# Page\n\nOne. Two.\n\n")
    expect(_status(text)).to_have_text("Saved")
    text.page.close()
    desk.said.clear()


WRONG_CLOCK = """
    const Right = Date;
    let wrong = 0;
    const now = () => Right.now() + wrong;
    globalThis.Date = class extends Right {
      constructor(...given) { super(...(given.length ? given : [now()])); }
      static now() { return now(); }
    };
    globalThis.wrongBy = (days) => (wrong = days * 86_400_000);
"""
"""Script that changes only the date. Playwright's clock also replaces timers and frames, and waits without a limit for
each page of the context, even for one that is closing."""


def test_wrong_clocks_lose_nothing(desk):
    context = desk.context.browser.new_context(
        extra_http_headers={"authorization": desk.admin.client.headers["authorization"]}
    )
    context.add_init_script(WRONG_CLOCK)
    desk = Desk(desk.admin, desk.url, context)
    change, text = _new(desk, "One.")
    page = text.page
    page.evaluate("wrongBy(-400)")
    _type(text, "One.", " Behind.")
    expect(_status(text)).to_have_text("Saved")
    page.evaluate("wrongBy(400)")
    page.keyboard.type(" Ahead.")
    expect(_status(text)).to_have_text("Saved")
    whole = "# Page\n\nOne. Behind. Ahead.\n\n"
    desk.is_saved(change, whole)
    # Text stored with a clock that is ahead is continued with one that is behind.
    desk.context.set_offline(True)
    page.keyboard.type(" Kept.")
    page.get_by_text("Offline, saved locally").wait_for()
    page.close(run_before_unload=False)
    desk.context.set_offline(False)
    context.add_init_script("wrongBy(-400)")
    text = desk.open(change)
    whole = whole.replace("Ahead.", "Ahead. Kept.")
    desk.is_saved(change, whole)
    context.close()


def test_a_page_deleted_while_editing_keeps_the_text(desk):
    change, text = _new(desk, "One.")
    page = text.page
    content = f"{desk.changes}/{change}/content"
    made = desk.admin.call("GET", f"{content}/path/page")["id"]
    _type(text, "One.", " Two.")
    expect(_status(text)).to_have_text("Saved")
    desk.admin.call("POST", content, {"changes": [{"operation": "delete_page", "page": made}]})
    page.keyboard.type(" Three.")
    # Text written since then is kept, and can be copied.
    expect(page.get_by_role("alert").filter(has_text="This page was deleted by someone else")).to_be_visible()
    left = page.get_by_role("alert").filter(has_text="Your latest changes")
    expect(left.get_by_role("button", name="Continue in a new change request")).to_have_count(0)
    left.get_by_role("button", name="Copy as Markdown").click()
    page.get_by_text("Copied “Page” as Markdown").wait_for()
    assert "One. Two. Three." in page.evaluate("navigator.clipboard.readText()")
    expect(text.get_by_text("One. Two. Three.")).to_be_visible()
    page.close()
    desk.said.clear()


def test_an_ended_session_keeps_the_text_until_the_next_sign_in(desk):
    change, text = _new(desk, "One.")
    ended = [True]

    def refuse(route: Any) -> None:
        if route.request.method == "POST" and ended[0]:
            return route.fulfill(
                status=401,
                content_type="application/json",
                body='{"error": {"code": 401, "message": "Sign in."}}',
            )
        route.continue_()

    text.page.route(STEPS, refuse)
    _type(text, "One.", " Two.")
    text.page.get_by_text("Unsaved changes").wait_for()
    assert "Two" not in desk.markdown(change)
    expect(text.get_by_text("One. Two.")).to_be_visible()
    ended[0] = False
    desk.has_saved(change, "One. Two.")
    text.page.close()
    desk.said.clear()


def test_two_editors_of_one_page_lose_nothing(desk):
    change, first = _new(desk, "One.", "Two.", "Three.")
    second = desk.open(change)
    _type(first, "One.", " First.")
    _type(second, "Three.", " Second.")
    desk.is_saved(change, "# Page\n\nOne. First.\n\nTwo.\n\nThree. Second.\n\n")
    # Each sees the text of the other, and continues after it.
    _type(second, "Two.", " Again.")
    second.get_by_text("One. First.").wait_for()
    first.page.evaluate("dispatchEvent(new Event('focus'))")
    first.get_by_text("Two. Again.").wait_for()
    first.get_by_text("Three. Second.").wait_for()
    first.page.close()
    second.page.close()
    assert desk.said == []


def test_edits_of_others_are_announced_immediately(desk):
    change, text = _new(desk, "One.", "Two.")
    page = text.page
    with page.expect_request(re.compile("/user/events")):
        page.reload()
    text.wait_for()
    _type(text, "Two.", " Mine.")
    page.get_by_text("Saved", exact=True).wait_for()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {request.url.split('/v1')[-1]}"))
    _set(desk, change, "One.", "One. Theirs.")
    text.get_by_text("One. Theirs.").wait_for(timeout=5_000)
    page.get_by_role("status").filter(has_text="Updated by").wait_for()
    expect(text).to_be_focused()
    page.keyboard.type(" Again.")
    desk.has_saved(change, "Two. Mine. Again.")
    page.wait_for_timeout(500)
    asked.clear()
    page.keyboard.type(" More.")
    desk.has_saved(change, "More.")
    page.wait_for_timeout(2_000)
    # Letters are sent, and nothing is loaded again.
    names = {re.sub(r".*/", "", each.partition("?")[0]) for each in asked}
    assert names - {"ping"} == {"steps"}, asked
    page.close()
    assert desk.said == []


def test_the_tree_marks_a_page_once_its_first_words_are_saved(desk):
    desk = Desk(desk.admin, desk.url, desk.context)
    desk.admin.merge_page(desk.space, "# Page\n\nOne.\n")
    change = desk.admin.call("POST", desk.changes, {"subject": "Words"})["number"]
    text = desk.open(change)
    page = text.page
    row = page.get_by_role("treeitem", name="Page")
    expect(row).not_to_have_attribute("aria-description", re.compile("."))
    _type(text, "One.", " Two.")
    # Without another key.
    expect(row).to_have_attribute("aria-description", "edited")
    assert "One. Two." in desk.markdown(change)
    page.close()
    assert desk.said == []


def _key(desk: Desk, change: int, words: str) -> str:
    found = desk.admin.call("GET", f"{desk.changes}/{change}/content/path/page")
    return next(str(node["key"]) for node in found["document"]["nodes"] if words in json.dumps(node))


def _set(desk: Desk, change: int, words: str, markdown: str) -> None:
    """Have another person rewrite the block with these words."""
    blocks = [{"block": _key(desk, change, words), "document": {"markdown": markdown}}]
    page = desk.admin.call("GET", f"{desk.changes}/{change}/content/path/page")["id"]
    edit = {"operation": "update_blocks", "page": page, "set": blocks}
    desk.admin.call("POST", f"{desk.changes}/{change}/content", {"changes": [edit]})


def test_two_editors_of_one_paragraph_lose_nothing(desk):
    change, first = _new(desk, "Some words at the beginning, and others at the end.")
    second = desk.open(change)
    first.get_by_text("Some words").click()
    first.page.keyboard.press("Home")
    first.page.keyboard.type("Here are. ")
    _type(second, "Some words", " Thus it ends.")
    desk.has_saved(change, "Here are. Some words", "at the end. Thus it ends.")
    first.page.close()
    second.page.close()
    assert desk.said == []


def _behind(text: Any, other: Any, words: str, theirs: str) -> None:
    """Make the next save of ``text`` arrive after the other window saved ``theirs``, which it hasn't seen
    then."""
    held: list[Any] = []

    def hold(route: Any) -> None:
        if route.request.method != "POST" or held:
            return route.continue_()
        held.append(route)

    text.page.route(STEPS, hold)
    text.page.keyboard.type(words)
    while not held:
        text.page.wait_for_timeout(50)
    with other.page.expect_response(re.compile("/live/steps$")):
        if theirs == "\b":
            other.page.keyboard.press("Escape")
            other.page.locator("p.ProseMirror-selectednode").wait_for()
            other.page.keyboard.press("Delete")
        else:
            other.page.keyboard.type(theirs)
    expect(_status(other)).to_have_text(re.compile("^ *(Saved|Updated by .*) *$"))
    held[0].continue_()
    text.page.unroute(STEPS)


def test_a_late_save_merges_newer_text_of_the_server(desk):
    change, first = _new(desk, "One.", "* two\n* three\n* four", "Last.")
    second = desk.open(change)
    for text, place in ((first, "two"), (second, "four")):
        text.get_by_text(place, exact=True).click()
        wait_for_selection(text.page)
        text.page.keyboard.press("End")
    _behind(first, second, " mine", " theirs")
    for text in (first, second):
        text.get_by_text("two mine").wait_for()
        text.get_by_text("four theirs").wait_for()
    # The carets are where they were, and the next saves delete nothing.
    first.page.keyboard.type(" again")
    second.page.keyboard.type(" also")
    whole = "# Page\n\nOne.\n\n* two mine again\n* three\n* four theirs also\n\nLast.\n\n"
    desk.is_saved(change, whole)
    first.page.close()
    second.page.close()
    assert desk.said == []


def test_a_late_save_keeps_both_versions_of_changed_text(desk):
    change, first = _new(desk, "Some words.", "Other words.")
    second = desk.open(change)
    _type(second, "Some", "")
    _type(first, "Some", "")
    _behind(first, second, " Mine.", " Theirs.")
    for text in (first, second):
        text.get_by_text("Some words. Theirs. Mine.").wait_for()
    first.page.keyboard.type(" Again.")
    whole = "# Page\n\nSome words. Theirs. Mine. Again.\n\nOther words.\n\n"
    desk.is_saved(change, whole)
    assert desk.admin.call("GET", f"{desk.changes}/{change}")["conflicts"] == 0
    # A paragraph that the other person deletes in the meantime returns with the text written in it.
    _type(first, "Other", "")
    second.get_by_text("Other").click()
    _behind(first, second, " Late.", "\b")
    for text in (first, second):
        text.get_by_text("Other words. Late.").wait_for()
    whole = whole.replace("Other words.", "Other words. Late.")
    desk.is_saved(change, whole)
    first.page.close()
    second.page.close()
    # A client that is behind gets the steps in between.
    assert [told for told in desk.said if "409" not in told] == []
    desk.said.clear()


def test_a_page_at_the_former_path_of_another_is_edited_itself(desk):
    change, text = _new(desk, "Words.")
    page = text.page
    title = page.get_by_role("textbox", name="Title")
    # At first, the pointer is at the left edge, where the navigation slides out.
    page.mouse.move(1438, 898)
    for name in ("First", "Second", "Third"):
        page.get_by_role("button", name="New page", exact=True).click()
        expect(title).to_have_value("Untitled")
        expect(title).to_be_focused()
        page.keyboard.type(f"{name} R")
        page.keyboard.press("Enter")
        page.keyboard.type(f"Words of {name}.")
        expect(_status(text)).to_have_text("Saved")
        # The path follows the title, so that the next page gets the one that this had.
        page.wait_for_url(re.compile(f"/{name.lower()}-r$"))
    for name in ("First", "Second", "Third"):
        words = f"Words of {name}."
        desk.has_saved(change, words, path=f"{name.lower()}-r")
        page.get_by_role("treeitem", name=re.compile(f"^{name} R")).click()
        text.get_by_text(f"Words of {name}.").wait_for()
    assert desk.admin.call("GET", f"{desk.changes}/{change}")["status"] == "draft"
    assert desk.said == []
    page.close()


def _paste(text: Any, **kinds: str) -> None:
    """Paste what another app put on the clipboard, by type."""
    text.page.evaluate(
        """(kinds) => {
          const data = new DataTransfer();
          for (const [kind, value] of Object.entries(kinds)) data.setData(`text/${kind}`, value);
          document.querySelector(".ProseMirror").dispatchEvent(
            new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        kinds,
    )


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        pytest.param({"plain": "one\n\ntwo"}, "one\n\ntwo", id="plain"),
        pytest.param(
            {"plain": '## A\n\n* **b**\n* c\n\n{% hint style="info" %}\nd\n{% endhint %}'},
            '## A\n\n* **b**\n* c\n\n{% hint style="info" %}\nd\n{% endhint %}',
            id="Markdown",
        ),
        pytest.param(
            {
                "html": "<h2>A</h2><p>b <b>c</b> <a href='https://example.com/'>d</a></p><ul><li>e</li></ul>",
                "plain": "x",
            },
            "## A\n\nb **c** [d](https://example.com/)\n\n* e",
            id="HTML",
        ),
        pytest.param(
            {
                "html": "<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>",
                "plain": "x",
            },
            "| a   | b   |\n| --- | --- |\n| c   | d   |",
            id="table",
        ),
        pytest.param(
            {"html": "<pre class='language-python'><code>a = 1\nb = 2</code></pre>", "plain": "a"},
            "```python\na = 1\nb = 2\n```",
            id="code",
        ),
        pytest.param({"plain": "one line\n"}, "one line", id="line break at the end"),
        pytest.param({"plain": "- [ ] todo\n"}, "* [ ] todo", id="one task"),
        pytest.param(
            {
                "html": (
                    "<p>a</p><p><img src='https://e.example/a.png' alt='A' width='300'></p><p>b <img "
                    "src='https://e.example/b.png' alt='B'> c</p>"
                ),
                "plain": "a b c",
            },
            (
                'a\n\n<figure><img src="https://e.example/a.png" alt="A" '
                'width="300"><figcaption></figcaption></figure>\n\n'
                'b <img src="https://e.example/b.png" alt="B"> c'
            ),
            id="images",
        ),
        pytest.param(
            {
                "html": (
                    "<meta charset='utf-8'><div style=\"color:#d4d4d4;font-family:Consolas, 'Courier "
                    "New', monospace;white-space:pre;\"><div><span>def</span><span> "
                    "f(a):</span></div><div><span>    return a</span></div><br><div># end</div></div>"
                ),
                "plain": "def f(a):\n    return a\n\n# end",
            },
            "```\ndef f(a):\n    return a\n\n# end\n```",
            id="code of an editor",
        ),
        pytest.param(
            {
                "html": (
                    "<p>Formula <span class='katex'><span "
                    "class='katex-mathml'><math><semantics><mi>x</mi><annotation "
                    "encoding='application/x-tex'>x^2</annotation></semantics></math></span><span "
                    "class='katex-html'>x2</span></span> end</p>"
                ),
                "plain": "x",
            },
            "Formula $$x^2$$ end",
            id="formula",
        ),
        pytest.param(
            {
                "html": (
                    "<html xmlns:o='urn:schemas-microsoft-com:office:office'><body><p "
                    "class=MsoListParagraph style='mso-list:l0 level1 lfo1'><span "
                    "style='mso-list:Ignore'>5.<span>&nbsp;</span></span>Five</p></body></html>"
                ),
                "plain": "5. Five",
            },
            "5. Five",
            id="list of Word from five on",
        ),
        pytest.param(
            {
                "html": (
                    "<p>a<script>alert(1)</script><img src=x onerror=alert(1)><a "
                    "href='javascript:alert(1)'>b</a></p>"
                ),
                "plain": "x",
            },
            "ab",
            id="hostile",
        ),
        pytest.param(
            {
                "html": (
                    "<p style='font-weight:normal'><b style='font-weight:normal'><span "
                    "style='font-weight:700'>a</span> b</b></p>"
                ),
                "plain": "x",
            },
            "**a** b",
            id="Google",
        ),
        pytest.param(
            {
                "html": (
                    "<html xmlns:o='urn:schemas-microsoft-com:office:office'><head><style><!-- "
                    "p.MsoNormal {margin:0} --></style></head><body><!--StartFragment--><p "
                    "class=MsoListParagraphCxSpFirst style='text-indent:-18.0pt;mso-list:l0 level1 "
                    "lfo1'><![if !supportLists]><span style='font-family:Symbol'><span "
                    "style='mso-list:Ignore'>·<span style='font:7.0pt \"Times New "
                    "Roman\"'>&nbsp;&nbsp;&nbsp; </span></span></span><![endif]>a<o:p></o:p></p><p "
                    "class=MsoListParagraphCxSpLast style='text-indent:-18.0pt;mso-list:l0 level2 "
                    "lfo1'><![if !supportLists]><span style='mso-list:Ignore'>1.<span>&nbsp;&nbsp; "
                    "</span></span><![endif]><b>b</b><o:p></o:p></p><p "
                    "class=MsoNormal><o:p>&nbsp;</o:p></p><!--EndFragment--></body></html>"
                ),
                "plain": "x",
            },
            "* a\n  1. **b**",
            id="Word",
        ),
    ],
)
def test_pasted_content_equals_the_file(desk, kinds, expected):
    _written(desk, lambda text: _paste(text, **kinds), expected)


def _paste_from_vscode(text: Any, mode: str, code: str) -> None:
    text.page.evaluate(
        """([mode, code]) => {
          const data = new DataTransfer();
          data.setData("text/plain", code);
          data.setData("text/html", `<div style="font-family: monospace; white-space: pre;"><div>${code}</div></div>`);
          data.setData("vscode-editor-data", JSON.stringify({ version: 1, mode }));
          document.querySelector(".ProseMirror").dispatchEvent(
            new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        [mode, code],
    )


@pytest.mark.parametrize(
    ("mode", "code", "expected"),
    [
        ("python", "def f(a):\r\n    return a\r\n", "```python\ndef f(a):\n    return a\n```"),
        ("typescriptreact", "# a\n* b", "```tsx\n# a\n* b\n```"),
        ("python", "f(a)", "`f(a)`"),
        ("markdown", "## A\n\n* b", "## A\n\n* b"),
        ("plaintext", "one\ntwo\n", "one\\\ntwo"),
    ],
)
def test_code_from_vs_code_keeps_its_language(desk, mode, code, expected):
    _written(desk, lambda text: _paste_from_vscode(text, mode, code), expected)


def test_images_without_a_url_are_uploaded_or_reported(desk):
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
    change, text = _new(desk, "Before.")
    _type(text, "Before.", "")
    text.page.keyboard.press("Enter")
    _paste(
        text, html=f"<p>a<img src='data:image/png;base64,{pixel}'><img src='file:///c:/b.png'></p>", plain="a"
    )
    text.page.get_by_text("Some images couldn't be pasted").wait_for()
    desk.has_saved(change, re.compile(r"\na\n\n<figure><img src=\"[^\"]*image-1\.png"))
    text.page.close()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param(
            ["<Enter>"], '{% embed url="https://www.youtube.com/watch?v=abc_DEF-123" %}', id="embed"
        ),
        pytest.param(
            ["<ArrowUp>", "<Enter>", " b"], "<https://www.youtube.com/watch?v=abc_DEF-123> b", id="link"
        ),
        pytest.param(["1", " b"], "<https://www.youtube.com/watch?v=abc_DEF-123> b", id="number"),
        pytest.param(
            ["<Escape>", "<Enter>", "b"], "<https://www.youtube.com/watch?v=abc_DEF-123>\n\nb", id="escape"
        ),
        pytest.param([" b"], "<https://www.youtube.com/watch?v=abc_DEF-123> b", id="going on"),
    ],
)
def test_the_url_of_a_video_can_be_embedded(desk, keys, expected):
    def typed(text: Any) -> None:
        _paste(text, plain="https://www.youtube.com/watch?v=abc_DEF-123")
        text.page.get_by_role("option", name="Embed").wait_for()
        _keys(*keys)(text)

    _written(desk, typed, expected)


def test_pasting_a_url_over_selected_text_creates_a_link(desk):
    def typed(text: Any) -> None:
        text.page.keyboard.type("one two")
        text.page.keyboard.press("Control+Shift+ArrowLeft")
        text.page.get_by_role("toolbar", name="Text").wait_for()
        _paste(text, plain="https://example.com/a")

    _written(desk, typed, "one [two](https://example.com/a)")


def test_a_click_on_a_link_places_the_caret_in_it(desk):
    change = desk.change("# Page\n\nOne [linked](other.md) word.\n")
    other = {
        "operation": "insert_page",
        "slug": "other",
        "title": "Other",
        "document": {"markdown": "Words.\n"},
    }
    desk.admin.call("POST", f"{desk.changes}/{change}/content", {"changes": [other]})
    text = desk.open(change)
    before = text.page.url
    text.get_by_text("linked").click()
    text.page.keyboard.press("End")
    text.page.keyboard.type(" More.")
    desk.has_saved(change, "word. More.")
    expect(text.page).to_have_url(before)


def test_blocks_are_cut_and_pasted_unchanged(desk):
    def typed(text: Any) -> None:
        _keys("/hint", "<Enter>", "one", "<Escape>", "<Escape>", "<Control+x>")(text)
        text.get_by_text("Before.").click()
        _keys("<End>", "<Enter>", "<Control+v>")(text)

    _written(desk, typed, '{% hint style="info" %}\none\n{% endhint %}')


def test_edits_during_a_merge_continue_in_another_change_request(desk):
    # In a space of its own, as the page is in main afterwards.
    desk = Desk(desk.admin, desk.url, desk.context)
    change, text = _new(desk, "One.", "Two.")
    page = text.page
    page.route(STEPS, lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    _type(text, "Two.", " Late.")
    expect(_status(text)).to_have_text("Offline, saved locally")
    wait_until_kept(page, "Late.")
    desk.admin.call("POST", f"{desk.changes}/{change}/merge")
    # Undo keeps changes that other people make to the space in the meantime.
    other = desk.admin.call("POST", desk.changes, {"subject": "Other words"})["number"]
    _set(desk, other, "Two.", "Two of theirs.")
    desk.admin.call("POST", f"{desk.changes}/{other}/merge")
    go_on = page.get_by_role("button", name="Continue in a new change request")
    go_on.wait_for()
    page.unroute(STEPS)
    go_on.click()
    page.wait_for_url(lambda url: f"/~/changes/{change}/" not in url)
    page.get_by_role("textbox", name="Page content").get_by_text("Two of theirs. Late.").wait_for()
    after = int(re.search(r"/~/changes/(\d+)/", page.url)[1])
    desk.has_saved(after, "Two of theirs. Late.")
    page.close()
    desk.said.clear()


def test_variables_and_reusable_contents_are_found_and_inserted(desk):
    change, text = _new(desk, "One.", "Two.", "Three.")
    page = text.page
    content = f"{desk.changes}/{change}/content"
    desk.admin.call("PATCH", f"{content}/variables", {"variables": {"version": "1.2"}})
    shared = {"title": "Notice", "document": {"markdown": "Shared words.\n"}}
    desk.admin.call("POST", f"{content}/reusable-contents", shared)
    _type(text, "One.", " {{vers")
    page.get_by_role("option", name="space.vars.version", exact=True).wait_for()
    page.keyboard.press("Enter")
    text.get_by_text("1.2").wait_for()
    _type(text, "Two.", "")
    page.keyboard.press("Enter")
    page.keyboard.type("/notice", delay=12)
    page.get_by_role("option", name="Notice", exact=True).wait_for()
    page.keyboard.press("Enter")
    text.get_by_text("Shared words.").wait_for()
    whole = (
        r"\A# Page\n\nOne\. <code class=\"expression\">space\\\.vars\\\.version</code>\n\n"
        r"Two\.\n\n\{% include \"[^\"]+\" %\}\n\nThree\.\n\n\Z"
    )
    desk.has_saved(change, re.compile(whole))
    text.get_by_text("Three.").click()
    page.keyboard.press("Escape")
    text.get_by_text("Three.").hover()
    page.get_by_role("button", name="Block menu").click()
    page.get_by_role("menuitem", name="Convert to reusable content").click()
    text.locator(".reusable").nth(1).get_by_text("Three.").last.wait_for()
    found = desk.has_saved(change, re.compile(r"(?s)\{% include.*\{% include"))
    assert "Three" not in found
    text.page.close()
    assert desk.said == []


def test_reusable_content_is_edited_in_place(desk):
    change, text = _new(desk, "One.", "Two.")
    page = text.page
    content = f"{desk.changes}/{change}/content"
    source = "- Shared  words.\n- other\n\nSetext\n------\n"
    shared = {"title": "Notice", "document": {"markdown": source}}
    made = desk.admin.call("POST", f"{content}/reusable-contents", shared)["id"]
    include = {
        "operation": "insert_page",
        "title": "Another",
        "document": {
            "document": [
                {
                    "object": "block",
                    "type": "reusable-content",
                    "isVoid": True,
                    "data": {"ref": {"kind": "reusable-content", "reusableContent": made}},
                }
            ]
        },
    }
    desk.admin.call("POST", content, {"changes": [include]})

    def shown() -> str:
        path = f"{content}/reusable-contents/{made}?format=markdown"
        return str(desk.admin.call("GET", path)["markdown"])

    source = shown()
    _type(text, "One.", "")
    page.keyboard.press("Enter")
    page.keyboard.type("/notice", delay=12)
    page.get_by_role("option", name="Notice", exact=True).wait_for()
    page.keyboard.press("Enter")
    block = text.locator(".reusable")
    block.get_by_role("button", name="Edit").click()
    inside = page.get_by_role("textbox", name="Notice")
    expect(block).to_contain_text("Changes here also affect 1 other page: Another")
    inside.get_by_text("Shared").click()
    page.keyboard.press("End")
    page.keyboard.type(" Now")
    expect(block.get_by_text("Unsaved changes")).to_be_visible()
    expect(block.get_by_text("Saved", exact=True)).to_be_visible()
    assert shown() == source.replace("words.", "words. Now")
    # Text written there while offline exists after the tab was closed, and the page itself is unchanged.
    desk.context.set_offline(True)
    page.keyboard.type(" later")
    expect(block.get_by_text("Offline, saved locally")).to_be_visible()
    page.close()
    desk.context.set_offline(False)
    text = desk.open(change)
    block = text.locator(".reusable")
    expect(block.get_by_role("textbox", name="Notice")).to_contain_text("words. Now later")
    block.get_by_role("button", name="Done").click()
    expect(block.get_by_role("textbox")).to_have_count(0)
    expect(block).to_contain_text("words. Now later")
    assert shown() == source.replace("words.", "words. Now later")
    assert desk.markdown(change).count("later") == 0
    text.page.close()
    desk.said.clear()


def test_an_empty_page_can_start_with_a_template(desk):
    change, text = _new(desk)
    page = text.page
    begin = text.get_by_role("group", name="Start with")
    expect(begin.get_by_role("button")).to_have_text(["Guide", "Reference", "Release notes", "Decision"])
    text.click()
    page.keyboard.press("Tab")
    expect(begin.get_by_role("button", name="Guide")).to_be_focused()
    page.keyboard.press("Enter")
    expect(begin).to_have_count(0)
    found = desk.has_saved(change, "Before you begin")
    assert re.findall(r"(?m)^#+ .+", found) == [
        "# Page",
        "## Before you begin",
        "## Steps",
        "### First step",
        "### Next step",
        "## Troubleshooting",
    ]
    # What a space keeps as a template is copied into a page, with links and all.
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Save as template").click()
    expect(page.get_by_text("New pages can start with “Page”.", exact=False)).to_be_visible()
    kept = desk.admin.call("GET", f"{desk.changes}/{change}/content")["reusableContents"]
    assert [one["title"] for one in kept] == ["Page"]
    text.click()
    for _ in range(3):
        page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    begin.get_by_role("button", name="From this space").click()
    page.get_by_role("menuitem", name="Page", exact=True).click()
    text.get_by_text("The most common problem").wait_for()
    desk.is_saved(change, found)
    page.close()
    assert desk.said == []


def test_the_markdown_of_a_page_can_be_edited(desk):
    change, text = _new(desk, "* One", "|a|b|\n|-|-|\n|c|d|")
    page = text.page
    before = desk.markdown(change)
    page.keyboard.press("Control+Shift+m")
    source = page.get_by_role("textbox", name="Markdown source of the page")
    expect(source).to_have_value(before)
    source.click()
    page.keyboard.press("Control+End")
    desk.context.set_offline(True)
    page.keyboard.type("{{ space.title }}  ", delay=12)
    page.get_by_text("Offline, saved locally").wait_for()
    page.close(run_before_unload=False)
    desk.context.set_offline(False)
    text = desk.open(change)
    text.page.keyboard.press("Control+Shift+m")
    whole = before + "{{ space.title }}  "
    desk.is_saved(change, whole)
    source = text.page.get_by_role("textbox", name="Markdown source of the page")
    expect(source).to_have_value(whole)
    text.page.keyboard.press("Control+Shift+m")
    text.get_by_text("One").first.wait_for()
    text.page.close()
    desk.said.clear()


def test_text_is_found_and_replaced_on_the_page(desk):
    def typed(text: Any) -> None:
        text.page.keyboard.type("One cat, two Cats.")
        text.page.keyboard.press("Control+f")
        text.page.get_by_role("searchbox", name="Find in page").fill("cat")
        text.page.get_by_text("1 / 2").wait_for()
        text.page.get_by_role("textbox", name="Replace with").fill("dog")
        text.page.get_by_role("button", name="Replace all").click()
        text.page.keyboard.press("Escape")

    _written(desk, typed, "One dog, two dogs.")


def test_text_can_have_an_annotation_which_can_be_edited(desk):
    change, text = _new(desk, "One two.", "Behind.")
    page = text.page
    text.get_by_text("One two.").click()
    wait_for_selection(page)
    page.keyboard.press("Home")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowRight")
    page.get_by_role("toolbar").get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Annotation").click()
    page.get_by_role("textbox", name="Annotation").fill("A *note*.")
    page.keyboard.press("Control+Enter")
    desk.has_saved(change, "[One](#user-content-fn-1)[^1] two.\n\nBehind.\n\n[^1]: A _note_.\n")
    text.locator(".noted").click()
    note = page.get_by_role("textbox", name="Annotation")
    expect(note).to_be_focused()
    expect(note).to_have_value("A _note_.")
    note.fill("Another.")
    page.keyboard.press("Control+Enter")
    assert "note" not in desk.has_saved(change, "[^1]: Another.\n")
    assert desk.said == []
    page.close()


def test_text_is_replaced_in_all_pages_of_a_space_and_restored(desk):
    desk.said.clear()
    change, text = _new(desk, "A **fox** and a Fox.", "Behind.")
    page = text.page
    page.keyboard.press("Control+Shift+F")
    dialog = page.get_by_role("dialog", name="Find and replace in the space")
    dialog.get_by_label("Find", exact=True).fill("fox")
    dialog.get_by_label("Replace with").fill("hare")
    dialog.get_by_label("Replace with").press("Enter")
    dialog.get_by_role("button", name="Replace 2 matches in my draft").click()
    desk.has_saved(change, "A **hare** and a hare.\n\nBehind.\n")
    page.get_by_role("region", name="Notifications").get_by_role("button", name="Undo").click()
    desk.has_saved(change, "A **fox** and a Fox.")
    assert desk.said == []
    page.close()


def test_a_page_icon_is_selected_by_name(desk):
    desk.said.clear()
    change, text = _new(desk, "Words.")
    page = text.page
    page.get_by_role("button", name="Page actions").click()
    page.get_by_role("menuitem", name="Change icon").click()
    dialog = page.get_by_role("dialog", name="Icon of “Page”")
    dialog.get_by_label("Find an emoji or an icon").fill("rocket")
    dialog.get_by_role("button", name="rocket", exact=True).first.wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    desk.has_saved(change, "icon: rocket")
    assert desk.said == []
    page.close()


def test_comments_are_next_to_their_text(desk):
    desk.said.clear()
    change, text = _new(desk, "First words.", *(f"Line {number}." for number in range(40)), "Last words.")
    at = f"{desk.changes}/{change}"
    nodes = desk.admin.call("GET", f"{at}/content/path/page?format=document")
    first, last = nodes["document"]["nodes"][0], nodes["document"]["nodes"][-1]
    for node, said in ((last, "Below"), (first, "Above")):
        body = {"page": nodes["id"], "node": node["key"], "body": {"markdown": said}}
        desk.admin.call("POST", f"{at}/comments", body)
    page = text.page
    page.reload()
    page.get_by_role("button", name="Comment", exact=True).click()
    thread = page.get_by_role("article").filter(has_text="Above")

    def apart(words: str) -> float:
        place = page.get_by_role("article").filter(has_text=words).bounding_box()
        about = text.get_by_text({"Above": "First words.", "Below": "Last words."}[words]).bounding_box()
        return abs(place["y"] - about["y"])

    thread.wait_for()
    until(lambda: apart("Above") < 12)
    text.get_by_text("Last words.").scroll_into_view_if_needed()
    until(lambda: apart("Below") < 12)
    assert desk.said == []
    page.close()


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param(["a -> b"], "a → b", id="arrow"),
        pytest.param(["a <- b and a <-> c"], "a ← b and a ↔ c", id="arrows"),
        pytest.param(["one -- two"], "one — two", id="dash"),
        pytest.param(["and so on... yes"], "and so on… yes", id="ellipsis"),
        pytest.param(["a -> ", "<Backspace>", "<Backspace>", "b"], "a b", id="deleted like a letter"),
        pytest.param(["a ->", "<Backspace>", " b"], "a -> b", id="undone by Backspace"),
        pytest.param(["a ->", "<Control+z>", " b"], "a -> b", id="undone by the shortcut"),
        pytest.param(["`a -> b` c"], "`a -> b` c", id="code"),
        pytest.param(
            ["p->next, --option, a--b, 1...10"], "p->next, --option, a--b, 1...10", id="signs within words"
        ),
        pytest.param(["```", " ", "a -> b... -- c"], "```\na -> b... -- c\n```", id="block of code"),
    ],
)
def test_signs_become_arrows_and_dashes_in_prose(desk, keys, expected):
    _written(desk, _keys(*keys), expected)


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param(["See /page", "<Enter>", "Set up SSO", "<Enter>"], id="with a box for the title"),
        pytest.param(["See /page Set up SSO", "<Enter>"], id="with the title"),
    ],
)
def test_a_subpage_is_created_and_linked_while_typing(desk, keys):
    desk.said.clear()
    change, text = _new(desk, "Before.")
    _type(text, "Before.", " ")
    for key in keys:
        if key.startswith("<"):
            text.page.keyboard.press(key.strip("<>"))
        else:
            text.page.keyboard.type(key, delay=12)
        text.page.wait_for_timeout(100)
    expect(text.get_by_text("Set up SSO")).to_be_visible()
    text.page.keyboard.type("first.")
    desk.has_saved(change, re.compile(r"Before\. See \[.*Set up SSO.*\]\(.*set-up-sso.*\).* first\."))
    assert desk.markdown(change, "page/set-up-sso").startswith("# Set up SSO")
    assert desk.said == []
    text.page.close()


def test_the_note_below_the_slash_menu_is_not_clipped(desk):
    _, text = _new(desk, "Before.")
    _type(text, "Before.", " /tabl")
    note = text.page.locator(".completion-hint:visible")
    expect(note).to_contain_text("keep “/tabl”")
    fits = "node => node.scrollWidth <= node.clientWidth && node.scrollHeight <= node.clientHeight"
    until(lambda: note.evaluate(fits))
    text.page.close()


def test_blocks_are_put_side_by_side_by_keyboard_and_by_dragging(desk):
    desk.said.clear()
    change, text = _new(desk, "one words", "two words", "three words")
    page = text.page
    text.get_by_text("two words").hover()
    page.get_by_role("button", name="Block menu").click()
    page.get_by_role("menuitem", name="Place beside the block above").click()
    expected = (
        "{% columns %}\n{% column %}\none words\n{% endcolumn %}\n\n"
        "{% column %}\ntwo words\n{% endcolumn %}\n{% endcolumns %}\n\nthree words"
    )
    desk.has_saved(change, expected)

    # A third column by dragging to the side at the end of the lines.
    text.get_by_text("three words").hover()
    box = text.get_by_text("two words").bounding_box()
    grip = page.get_by_role("button", name="Block menu").bounding_box()
    page.mouse.move(grip["x"] + 8, grip["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 5, steps=5)
    expect(page.locator(".drop-side")).to_be_hidden()
    page.mouse.move(box["x"] + box["width"] - 10, box["y"] + 8, steps=5)
    expect(page.locator(".drop-side")).to_be_visible()
    page.mouse.up()
    expect(page.locator(".drop-side")).to_be_hidden()
    three = "{% column %}\nthree words\n{% endcolumn %}\n{% endcolumns %}"
    desk.has_saved(change, three)

    # By keyboard, the block leaves its column again.
    text.get_by_text("three words").click()
    wait_for_selection(page)
    page.keyboard.press("Alt+ArrowDown")
    desk.has_saved(change, expected)
    assert desk.said == []
    page.close()
