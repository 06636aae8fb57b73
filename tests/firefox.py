"""The system's Firefox, driven over WebDriver BiDi: Playwright would need a Firefox of its own."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from settled import PATIENCE
from tools import absent

_NAMES = ("firefox-esr", "firefox")
_SECONDS = PATIENCE
"""Maximum seconds for a command or for an awaited result."""
_LOST_SECONDS = 10
"""After how long a search is begun anew: one that a page is left beneath is never answered."""
_ENDED = re.compile("can’t establish a connection|was interrupted while the page was loading")
KEYS = {"Enter": "\ue007", "Escape": "\ue00c", "End": "\ue010"}
"""Keys that write nothing, as WebDriver names them."""


class Firefox:
    """One window of a new profile. ``errors``: what its pages threw and what the console called an error."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._number = 0
        self.errors: list[str] = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=["log.entryAdded"])
        self._window = self.ask("browsingContext.getTree")["contexts"][0]["context"]
        self.ask("browsingContext.setViewport", context=self._window, viewport={"width": 1440, "height": 900})

    def ask(self, method: str, seconds: float = _SECONDS, **parameters: Any) -> Any:
        """Return the result of a WebDriver BiDi command. Raises RuntimeError if Firefox refuses it, and
        TimeoutError."""
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        until = time.monotonic() + seconds
        while True:
            message = json.loads(self._socket.recv(timeout=max(0, until - time.monotonic())))
            if message.get("method") == "log.entryAdded":
                self._note(message["params"])
            elif message.get("id") == self._number:
                if message["type"] == "error":
                    raise RuntimeError(f"{method}: {message['error']}: {message['message']}")
                return message["result"]

    def _note(self, entry: dict[str, Any]) -> None:
        # A stream of events ends with its page, which Firefox calls an error of the connection.
        if entry["level"] == "error" and not _ENDED.search(str(entry["text"])):
            self.errors.append(str(entry["text"]))

    def open(self, address: str) -> None:
        self.ask("browsingContext.navigate", context=self._window, url=address, wait="complete")

    def forget_cookies(self) -> None:
        self.ask("storage.deleteCookies")

    @property
    def address(self) -> str:
        return str(self.ask("browsingContext.getTree")["contexts"][0]["url"])

    def _locate(self, kind: str, value: Any) -> list[dict[str, Any]]:
        locator = {"type": kind, "value": value}
        try:
            found = self.ask(
                "browsingContext.locateNodes", seconds=_LOST_SECONDS, context=self._window, locator=locator
            )
        except TimeoutError:
            return []
        nodes: list[dict[str, Any]] = found["nodes"]
        return nodes

    def send_header(self, name: str, value: str) -> None:
        """Send a header with each request from now on."""
        header = {"name": name, "value": {"type": "string", "value": value}}
        self.ask("network.setExtraHeaders", headers=[header])

    def cut(self, offline: bool) -> None:
        """Disconnect or reconnect the network."""
        conditions = {"type": "offline"} if offline else None
        self.ask("emulation.setNetworkConditions", networkConditions=conditions, contexts=[self._window])

    def wait_for(self, selector: str) -> dict[str, Any]:
        """Wait for an element, then return it like ``select``."""
        until = time.monotonic() + _SECONDS
        while not (found := self._locate("css", selector)):
            assert time.monotonic() < until, f"no {selector} at {self.address}: {self.text()}"
            time.sleep(0.05)
        return found[0]

    def select(self, selector: str) -> dict[str, Any]:
        """Return the first element of a CSS selector, for elements without a role, such as password fields."""
        return self._locate("css", selector)[0]

    def find(self, role: str, name: str | None = None) -> dict[str, Any] | None:
        """Return the first element with this role and exactly this accessible name."""
        found = self._locate("accessibility", {"role": role, **({"name": name} if name is not None else {})})
        return found[0] if found else None

    def wait(self, role: str, name: str | None = None) -> dict[str, Any]:
        """Wait for an element, then return it like ``find``."""
        until = time.monotonic() + _SECONDS
        while (found := self.find(role, name)) is None:
            assert time.monotonic() < until, f"no {role} {name!r} at {self.address}: {self.text()}"
            time.sleep(0.05)
        return found

    def wait_for_text(self, role: str, words: str) -> None:
        """Until an element of this role says these words."""
        until = time.monotonic() + _SECONDS
        while True:
            nodes = self._locate("accessibility", {"role": role})
            said = [self.call("node => node.textContent.trim()", node) for node in nodes]
            if words in said:
                return
            assert time.monotonic() < until, f"no {role} says {words!r} but {said}"
            time.sleep(0.05)

    def call(self, function: str, *nodes: dict[str, Any]) -> Any:
        """Call a JavaScript function on these elements and return its result: a string, number, or boolean."""
        result = self.ask(
            "script.callFunction",
            functionDeclaration=function,
            arguments=[{"sharedId": node["sharedId"]} for node in nodes],
            target={"context": self._window},
            awaitPromise=True,
        )
        assert result["type"] == "success", result
        return result["result"].get("value")

    def text(self) -> str:
        return re.sub(r"\s+", " ", str(self.call("() => document.body.innerText")))

    def click(self, role: str, name: str) -> None:
        self.click_at(self.wait(role, name))

    def click_at(self, node: dict[str, Any]) -> None:
        """Click in the middle of an element, with the pointer."""
        self.call("node => node.scrollIntoView({ block: 'center' })", node)
        origin = {"type": "element", "element": {"sharedId": node["sharedId"]}}
        actions = [
            {"type": "pointerMove", "x": 0, "y": 0, "origin": origin},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]
        self._act({"type": "pointer", "id": "mouse", "actions": actions})

    def type(self, words: str) -> None:
        """Press a key for each letter."""
        for letter in words:
            self._press(letter)

    def press(self, *keys: str) -> None:
        """Press keys: a letter, or a name in ``KEYS``."""
        for key in keys:
            self._press(KEYS.get(key, key))

    def _press(self, key: str) -> None:
        actions = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._act({"type": "key", "id": "keyboard", "actions": actions})

    def _act(self, source: dict[str, Any]) -> None:
        self.ask("input.performActions", context=self._window, actions=[source])

    def picture(self) -> bytes:
        """Take a screenshot as PNG."""
        found = self.ask("browsingContext.captureScreenshot", context=self._window)
        return base64.b64decode(found["data"])


@contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """Firefox with a new profile in this folder, until the end of the block."""
    executable = next(filter(None, map(shutil.which, _NAMES)), None)
    if executable is None:
        absent("Firefox")
    profile.mkdir()
    log = profile.with_suffix(".log")
    with log.open("w") as output:
        process = subprocess.Popen(
            [
                executable,
                "--headless",
                "--no-remote",
                "--profile",
                str(profile),
                "--remote-debugging-port",
                "0",
            ],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
    try:
        with connect(f"{_listening(process, log)}/session", max_size=None) as socket:
            yield Firefox(socket)
    finally:
        process.terminate()
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listening(process: subprocess.Popen[bytes], log: Path) -> str:
    """Return the address at which a browser that just started listens."""
    until = time.monotonic() + 2 * _SECONDS
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text())
        if found:
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"Firefox does not listen: {log.read_text()}")
