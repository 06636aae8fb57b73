"""Load whose acknowledged writes are all verified afterward.

The history is a file of lines that is written separately and survives every fault: first each request, then
its acknowledgment. Acknowledged writes must exist once. Requested but unacknowledged writes can exist once or
not at all. Nothing else may exist.
"""

from __future__ import annotations

import base64
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

Call = Callable[[str, str, Any], tuple[int, Any]]
"""Method, path below /v1 and body of a request; the status of its answer (0 where there was none) and the answer."""

COPY = " (copy)"
"""Suffix of the title of a copied space."""
TEXT_WORDS = 300
"""Number of words on a page: enough to fill several pages of the database."""


class Unexpected(AssertionError):
    """An answer that no fault excuses."""


class Step(NamedTuple):
    """A write: its kind, the name that nothing else has, and where (the id of a space, or nothing)."""

    kind: str
    name: str
    space: str


class History:
    """The requests sent and acknowledged, with the returned ids."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.asked: dict[str, Step] = {}
        self.acknowledged: dict[str, Any] = {}
        if file.exists():
            for line in file.read_text().splitlines():
                told = json.loads(line)
                if "ask" in told:
                    step = Step(*told["ask"])
                    self.asked[step.name] = step
                else:
                    self.acknowledged[told["acknowledged"]] = told["answer"]

    def _note(self, **told: Any) -> None:
        with self._file.open("a") as out:
            out.write(json.dumps(told) + "\n")

    def ask(self, step: Step) -> None:
        self.asked[step.name] = step
        self._note(ask=step)

    def acknowledge(self, step: Step, answer: Any) -> None:
        self.acknowledged[step.name] = answer
        self._note(acknowledged=step.name, answer=answer)

    def spaces(self) -> list[str]:
        """Return the ids of all known spaces."""
        return [
            answer["id"] for name, answer in self.acknowledged.items() if self.asked[name].kind == "space"
        ]


class Load:
    def __init__(self, call: Call, organization: str, history: History, chance: random.Random) -> None:
        self._call = call
        self._organization = organization
        self._history = history
        self._random = chance

    # --- writing ----------------------------------------------------------------------------------------

    def step(self) -> bool:
        """Do one write of some kind, and return whether it was acknowledged. Raises Unexpected."""
        spaces = self._history.spaces()
        name = f"n{len(self._history.asked)}x{self._random.randrange(16**6):06x}"
        if not spaces or len(spaces) < 4 and self._random.random() < 0.2:
            return self._ask(Step("space", name, ""), lambda: self._create_space(name))
        space = self._random.choice(spaces)
        kind = self._random.choice(["page", "merge", "comment", "file", "copy"])
        return self._ask(Step(kind, name, space), lambda: getattr(self, f"_{kind}")(space, name))

    def _ask(self, step: Step, do: Callable[[], Any]) -> bool:
        self._history.ask(step)
        answer = do()
        if answer is None:
            return False
        self._history.acknowledge(step, answer)
        return True

    def _sent(self, method: str, path: str, body: Any = None) -> Any:
        """Send a write, and return its response; None if it wasn't acknowledged for a reason that a fault can
        have."""
        status, answer = self._call(method, path, body)
        if status in (0, 503):
            return None
        if not 200 <= status < 300:
            raise Unexpected(f"{method} {path}: {status} {answer}")
        return {} if answer is None else answer

    def _create_space(self, name: str) -> Any:
        made = self._sent("POST", f"/orgs/{self._organization}/spaces", {"title": name})
        return made and {"id": made["id"]}

    def _text(self, name: str) -> str:
        words = " ".join(f"{self._random.randrange(16**8):08x}" for _ in range(TEXT_WORDS))
        return f"{name} {words}"

    def _new_page(self, name: str) -> dict[str, Any]:
        document = {"markdown": f"# {name}\n\n{self._text(name)}\n"}
        return {"operation": "insert_page", "title": name, "slug": name, "document": document}

    def _page(self, space: str, name: str) -> Any:
        made = self._sent("POST", f"/spaces/{space}/content", {"changes": [self._new_page(name)]})
        return made and {}

    def _file(self, space: str, name: str) -> Any:
        """Write a page and a file in one revision: both exist afterward, or neither."""
        file = {
            "name": f"{name}.txt",
            "base64": base64.b64encode(self._text(name).encode()).decode(),
            "contentType": "text/plain",
        }
        changes = [self._new_page(name), {"operation": "insert_files", "files": [file]}]
        made = self._sent("POST", f"/spaces/{space}/content", {"changes": changes})
        return made and {}

    def _merge(self, space: str, name: str) -> Any:
        changes = f"/spaces/{space}/change-requests"
        made = self._sent("POST", changes, {"subject": name})
        if made is None:
            return None
        change = f"{changes}/{made['id']}"
        if self._sent("POST", f"{change}/content", {"changes": [self._new_page(name)]}) is None:
            return None
        merged = self._sent("POST", f"{change}/merge")
        return merged and {}

    def _copy(self, space: str, name: str) -> Any:
        """Create a space with a page, and then a copy of it."""
        made = self._create_space(name)
        if made is None or self._page(made["id"], f"{name}p") is None:
            return None
        copied = self._sent("POST", f"/spaces/{made['id']}/duplicate")
        return copied and {}

    def _comment(self, space: str, name: str) -> Any:
        made = self._sent("POST", f"/spaces/{space}/comments", {"body": {"markdown": name}})
        return made and {"id": made["id"]}

    # --- looking ----------------------------------------------------------------------------------------

    def _all(self, path: str, more: str = "") -> Iterator[Any]:
        """Return the items of all pages of a list."""
        page = ""
        while True:
            status, answer = self._call("GET", f"{path}?limit=1000{more}{page}", None)
            if status != 200:
                raise Unexpected(f"GET {path}: {status} {answer}")
            yield from answer["items"]
            if "next" not in answer:
                return
            page = f"&page={answer['next']['page']}"

    def check(self) -> None:
        """Raise AssertionError with what is lost, duplicated, partial, or was never requested."""
        found: Counter[tuple[str, str]] = Counter()
        torn = []
        spaces = {space["title"]: space["id"] for space in self._spaces(found)}
        pages = {title: self._pages(id) for title, id in spaces.items()}
        for title, id in spaces.items():
            source = title.removesuffix(COPY)
            if source != title:
                found["copy", source] += 1
                torn += [title] if pages[title] != pages[source] else []
                continue
            found.update(("page", page) for page in pages[title])
            for file in self._all(f"/spaces/{id}/content/files"):
                found["file", file["name"].removesuffix(".txt")] += 1
            for comment in self._all(f"/spaces/{id}/comments", "&format=markdown"):
                found["comment", comment["body"]["markdown"].strip()] += 1
        wanted: dict[tuple[str, str], bool] = {}
        """Whether it was acknowledged."""
        for name, step in self._history.asked.items():
            for part in _parts(step):
                wanted[part] = name in self._history.acknowledged
            if step.kind == "file" and found["page", name] != found["file", name]:
                torn.append(name)
        lost = [part for part, sure in wanted.items() if sure and not found[part]]
        doubled = [part for part, times in found.items() if times > 1]
        strange = [part for part in found if part not in wanted]
        assert not (lost or doubled or strange or torn), (
            f"lost {lost}, doubled {doubled}, never asked {strange}, in part {torn}"
        )

    def _spaces(self, found: Counter[tuple[str, str]]) -> Iterator[Any]:
        for space in self._all(f"/orgs/{self._organization}/spaces"):
            if not space["title"].endswith(COPY):
                found["space", space["title"]] += 1
            yield space

    def _pages(self, space: str) -> list[str]:
        path = f"/spaces/{space}/content/pages"
        status, answer = self._call("GET", path, None)
        if status != 200:
            raise Unexpected(f"GET {path}: {status} {answer}")
        return sorted(page["title"] for page in answer["pages"])


def _parts(step: Step) -> list[tuple[str, str]]:
    """Return the parts that must exist after the step."""
    name = step.name
    if step.kind == "file":
        return [("page", name), ("file", name)]
    if step.kind == "copy":
        return [("space", name), ("page", f"{name}p"), ("copy", name)]
    return [("page" if step.kind == "merge" else step.kind, name)]
