"""The random machine with a collection or a site: several spaces in one repository, whose folders get other
names, whose pages go from one folder to another, and whose structure is changed on both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gitsync.developers import Developer, Synced, local_remotes
from gitsync.lfs_server import LfsServer
from gitsync.machine import ATTRIBUTES, ODD, Machine, large, marks_in
from gitsync.test_projects import Project, make_space
from octavo.core.docs_config import DocsEntry, read_docs
from octavo.core.docs_editing import edit_docs
from octavo.core.languages import LANGUAGES
from octavo.interchange.gitsync.project_running import run_project
from world import World

__all__ = ["large"]
DOCS = """\
# Whoever reads this: it stays.
owner: docs
site:
  title: The docs   # of all
  structure:
    # the first
    - {type: section, key: part0, title: Part 0, children: [{type: space, key: part0, title: Part 0, \
content: {directory: ./part0}}]}
    - title: Part 1
      key: part1
      type: section
      children:
        - type: space
          content: {directory: part1}
          key: part1
"""
COMMENTS = ("# Whoever reads this: it stays.\nowner: docs\n", "# of all")


class ProjectMachine(Machine):
    def __init__(
        self,
        world: World,
        folder: Path,
        seed: int,
        server: LfsServer,
        monkeypatch: pytest.MonkeyPatch,
        kind: str,
    ) -> None:
        super().__init__(world, Developer(folder), seed, server, monkeypatch)
        self.agreed: set[str] = set()
        """Marks that the repository had before its history was last written anew."""
        self.exports = False
        """Whether somebody decided for the spaces since both sides agreed."""
        files: dict[str, Any] = {
            f"part{n}/{path}": data for n in range(2) for path, data in self.begin(f"Part {n}").items()
        }
        self.is_site = kind == "site"
        self.developer.commit({**ATTRIBUTES, **files, **({"docs.yaml": DOCS} if self.is_site else {})})
        path = world.home.path(f"/orgs/{{organizationId}}/{kind}s")
        made = world.post("admin", path, {"title": "Docs", **({"spaces": []} if self.is_site else {})})
        self.project = Project(
            world, f"{path if self.is_site else '/collections'}/{made['id']}", self.developer
        )
        self.spaces: dict[str, Synced] = {}
        """Every one that was ever synced, by its id."""
        self.bare: set[str] = set()
        """Those that were made here, and never had the odd files."""
        assert run_project(world.context, self.project.id, "asked", "job") == "synced", self.project.state()
        self.choose()
        self.wire()

    def choose(self) -> bool:
        """Choose the space for the next steps. Return False if its folder doesn't exist."""
        found = self.project.spaces()
        for space in found.values():
            if space not in self.spaces:
                self.spaces[space] = synced = Synced.__new__(Synced)
                synced.world, synced.developer, synced.space = self.world, self.developer, space
        if not found:
            return False
        self.folder, space = self.random.choice(sorted(found.items()))
        self.synced = self.spaces[space]
        return any(path.startswith(self.folder) for path in self.developer.files)

    def in_spaces(self) -> set[str]:
        return set().union(*(marks_in(space.exported().values()) for space in self.spaces.values()))

    # --- what is done with spaces and folders -----------------------------------------------------------

    def new_folder(self) -> None:
        if len(self.project.spaces()) < 5:
            name = f"folder{self.marks}"
            files = {f"{name}/{path}": data for path, data in self.begin(f"Folder {self.marks}").items()}
            files[f"{name}/README.md"] = f"# Folder\n\n{self.mark()} home.\n"
            self.log.append(f"repository has a new folder {name}")
            if self.is_site:
                files |= self._docs(lambda entries: entries.append(_section(name)))
            self.developer.commit(files)

    def new_space(self) -> None:
        if len(self.project.spaces()) < 5:
            title = f"Space {self.marks}"
            self.log.append(f"{title} is made")
            space = make_space(self.world, title, None if self.is_site else self.project.id)
            if self.is_site:
                self.world.post("admin", f"{self.project.at}/sections", {"spaceId": space, "title": title})
            made = Synced.__new__(Synced)
            made.world, made.developer, made.space = self.world, self.developer, space
            text = f"{self.mark()} in it.\n"
            made.edit({"operation": "insert_page", "title": "First", "document": {"markdown": text}})
            self.spaces[space] = made
            self.bare.add(space)

    def rename_folder(self) -> None:
        """Move all files of a folder to another name."""
        old, new = self.folder, f"named{self.marks}-{self.random.randint(0, 99)}/"
        inside = {path: entry for path, entry in self.developer.entries().items() if path.startswith(old)}
        files: dict[str, Any] = {path: None for path in inside}
        files |= {f"{new}{path[len(old) :]}": entry for path, entry in inside.items()}
        if self.is_site:

            def rename(entries: list[DocsEntry]) -> None:
                for entry in _spaces(entries):
                    if entry.directory == old:
                        entry.directory = new

            files |= self._docs(rename)
        self.log.append(f"folder {old} becomes {new}")
        self.developer.commit(files)

    def move_between(self) -> None:
        """Move a page into the folder of another space."""
        others = [
            folder for folder in self.project.spaces() if folder != self.folder and self._is_there(folder)
        ]
        pages = self._pages()
        if others and pages:
            path, other = self.random.choice(sorted(pages)), self.random.choice(sorted(others))
            summary = self.files().get("SUMMARY.md", "")
            kept = "\n".join(line for line in summary.split("\n") if f"({path})" not in line)
            name = f"came{self.marks}-{self.random.randint(0, 999)}.md"
            there = self.developer.files.get(f"{other}SUMMARY.md")
            files: dict[str, Any] = {f"{self.folder}{path}": None, f"{other}{name}": pages[path]}
            if summary:
                files[f"{self.folder}SUMMARY.md"] = kept
            if there is not None:
                files[f"{other}SUMMARY.md"] = f"{there.rstrip()}\n* [Came {self.marks}]({name})\n"
            self.log.append(f"{self.folder}{path} goes to {other}{name}")
            self.developer.commit(files)

    def _is_there(self, folder: str) -> bool:
        return any(path.startswith(folder) for path in self.developer.files)

    # --- the structure of a site ------------------------------------------------------------------------

    def _docs(self, change: Any) -> dict[str, str]:
        """docs.yaml with other entries, as an editor that knows its form leaves it."""
        text = self.developer.files["docs.yaml"]
        config = read_docs(text, max_depth=9, languages=LANGUAGES)
        change(config.structure)
        return {"docs.yaml": edit_docs(text, config, max_depth=9, languages=LANGUAGES)}

    def structure_there(self) -> None:
        if self.is_site:

            def change(entries: list[DocsEntry]) -> None:
                if self.random.random() < 0.5:
                    entries.reverse()
                else:
                    self.random.choice(entries).title = f"There {self.marks} {self.random.randint(0, 99)}"

            self.log.append("docs.yaml is edited")
            self.developer.commit(self._docs(change))

    def structure_here(self) -> None:
        if self.is_site:
            sections = self.world.get("admin", f"{self.project.at}/structure")["structure"]
            section = self.random.choice([one for one in sections if one["object"] == "site-section"])
            self.log.append(f"section {section['title']} gets another title")
            title = f"Here {self.marks} {self.random.randint(0, 99)}"
            at = f"{self.project.at}/sections/{section['id']}"
            assert self.world.call("admin", "PATCH", at, json={"title": title}).is_success

    # --- syncing ----------------------------------------------------------------------------------------

    def force(self) -> None:
        """History is rewritten, and a page or none is gone."""
        # Earlier decisions are applied first: they would still be valid for the same files.
        for _ in range(10):
            if self.waits():
                self.sync()
        assert not self.waits(), self.project.state()
        before = self.agreed = self.in_repository()
        files: dict[str, Any] = dict(self.developer.read())
        pages = sorted(self._pages())
        if pages and self.random.random() < 0.5:
            files.pop(f"{self.folder}{self.random.choice(pages)}")
        self.log.append("force push")
        self.developer.commit(files, parents=[], anew=True)
        self.removed |= before - self.in_repository()
        assert self.sync() == "stopped", self.project.state()

    def waits(self) -> bool:
        state = self.project.state()
        return "first" in state or "stopped" in {state["status"], *(one["status"] for one in state["spaces"])}

    def decide(self) -> None:
        first, state = self.random.choice(["import", "export"]), self.project.state()
        about_pages = state.get("reason") != "structure_conflict" or "stopped" in self.project.statuses()
        if first == "export" and about_pages:
            self.removed |= self.in_repository() - self.in_spaces()
            self.exports = True
        elif self.exports:
            # Some spaces were exported before another decision was made for the rest: a page that was moved from
            # one of the former to one of the latter was removed from the repository, so it is deleted here, too.
            self.removed |= self.agreed & self.in_spaces() - self.in_repository()
        self.log.append(f"decided: {first}")
        self.world.post("admin", f"{self.project.at}/git/sync/run", {"first": first})

    def sync(self) -> str | None:
        found = run_project(self.world.context, self.project.id, "asked", "job")
        self.choose()
        state = self.project.state()
        each = [(one["folder"], one["status"], one.get("message")) for one in state["spaces"]]
        self.log.append(f"sync: {found}, {state.get('message')}, {each}")
        for status, said in ((found, state.get("message")), *(one[1:] for one in each)):
            was_cut = status == "failed" and said == "The connection was cut"
            assert status in ("synced", "stopped", "waiting", "running") or was_cut, state
        if "stopped" in (found, *(one[1] for one in each)):
            self.decide()
            return "stopped"
        return found

    def step(self) -> None:
        if not self.choose():
            self.sync()
            return
        steps = [
            self.space_edit,
            self.space_edit,
            self.space_edit,
            self.space_new,
            self.space_move,
            self.space_rename,
            self.space_delete,
            self.repository_edit,
            self.repository_edit,
            self.repository_edit,
            self.repository_new,
            self.repository_move,
            self.repository_delete,
            self.repository_reorder,
            self.repository_merge,
            self.repository_large,
            self.space_large,
            self.new_folder,
            self.new_space,
            self.rename_folder,
            self.move_between,
            self.move_between,
            self.structure_there,
            self.structure_here,
            self.sync,
            self.sync,
            self.sync,
            self.sync_and_die,
            self.sync_and_die,
            self.sync_and_cut,
        ]
        if self.random.random() < 0.02:
            self.force()
        else:
            self.random.choice(steps)()

    def check(self) -> None:
        self.log.append("check")
        for _ in range(3):
            while self.sync() == "stopped":
                pass
        head = self.developer.head
        assert self.sync() == "synced" and self.developer.head == head, "both sides agree after quiet"
        state = self.project.state()
        assert {one["status"] for one in state["spaces"]} == {"synced"}, state
        for folder, space in self.project.spaces().items():
            self.folder, self.synced = folder, self.spaces[space]
            # A folder with another name and other files in one push is another space, possibly for one created here.
            there = {path[len(folder) :] for path in self.developer.files if path.startswith(folder)}
            self.same(bare=bool(self.bare) and not ODD.keys() & there)
        self.exports = False
        known = self.in_spaces() | self.in_repository()
        missing = {f"mark{n}x" for n in range(1, self.marks + 1)} - self.removed - known
        for space in self.spaces.values() if missing else ():
            self.synced = space
            missing -= self.in_changes()
        assert not missing, f"lost: {sorted(missing)}"
        if self.is_site:
            docs = self.developer.files["docs.yaml"]
            assert all(comment in docs for comment in COMMENTS), docs
            titles = [entry.title for entry in read_docs(docs, max_depth=9, languages=LANGUAGES).structure]
            shown = self.world.get("admin", f"{self.project.at}/structure")["structure"]
            assert [one["title"] for one in shown] == titles


def _section(name: str) -> DocsEntry:
    space = DocsEntry(type="space", key=name, title=name, directory=f"{name}/")
    return DocsEntry(type="section", key=name, title=name, children=[space])


def _spaces(entries: list[DocsEntry]) -> list[DocsEntry]:
    return [
        space
        for entry in entries
        for space in ([entry] if entry.type == "space" else _spaces(entry.children))
    ]


KINDS = pytest.mark.parametrize("kind", ["collection", "site"])


@pytest.mark.sqlite_first
@KINDS
def test_nothing_is_lost(
    world: World,
    tmp_path: Path,
    kind: str,
    large: LfsServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with local_remotes(world):
        ProjectMachine(world, tmp_path / "repository", 1, large, monkeypatch, kind).run(30, 15)


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize("seed", range(100, 106))
def test_nothing_is_lost_in_long_runs(
    world: World,
    tmp_path: Path,
    seed: int,
    kind: str,
    large: LfsServer,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with local_remotes(world):
        ProjectMachine(world, tmp_path / "repository", seed, large, monkeypatch, kind).run(200, 25)
