"""What ``docs.yaml`` says: which spaces a repository has, and in which folders."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from .problems import Problem
from .summary import entry_path
from .yaml_text import YamlError, read_yaml

DOCS_PATH = "docs.yaml"


class DocsSpace(Struct, frozen=True):
    """``key`` names the space for good; ``directory`` is where its files are, empty or ending in a slash."""

    key: str
    title: str
    directory: str
    language: str | None = None


class DocsConfig(Struct, kw_only=True):
    spaces: list[DocsSpace] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_docs(text: str) -> DocsConfig:
    """Every entry of ``site.structure`` that has a directory, however deep it is, in its order. A directory that
    two entries name is one space. Raises YamlError."""
    config = DocsConfig()
    found = read_yaml(text)
    site = found.value.get("site") if isinstance(found.value, dict) else None
    structure = site.get("structure") if isinstance(site, dict) else None
    keys: set[str] = set()
    directories: set[str] = set()

    def complain(code: str, message: str, way: tuple[str | int, ...]) -> None:
        config.problems.append(Problem(DOCS_PATH, found.line(*way), code, message))

    def visit(entries: Any, way: tuple[str | int, ...]) -> None:
        for at, entry in enumerate(entries if isinstance(entries, list) else ()):
            if not isinstance(entry, dict):
                complain("bad_value", "an entry of the structure must be a map", (*way, at))
                continue
            content = entry.get("content")
            if isinstance(content, dict) and content.get("directory") is not None:
                add(entry, content, (*way, at))
            visit(entry.get("children"), (*way, at, "children"))

    def add(entry: dict[str, Any], content: dict[str, Any], way: tuple[str | int, ...]) -> None:
        written = content["directory"]
        inside = entry_path(f"{written.lstrip('/')}/") if isinstance(written, str) else None
        if inside is None:
            complain("bad_path", "`directory` must be a path within the repository", (*way, "content"))
            return
        directory = inside.lstrip("/")
        title, key = entry.get("title"), entry.get("key")
        name = directory.strip("/").rpartition("/")[2] or "Docs"
        key = key if isinstance(key, str) and key else name
        if key in keys or directory in directories:
            complain("listed_twice", f"{key} in {directory or './'} is named twice", way)
            return
        keys.add(key)
        directories.add(directory)
        language = content.get("language")
        config.spaces.append(
            DocsSpace(
                key,
                title if isinstance(title, str) and title.strip() else name,
                directory,
                language if isinstance(language, str) else None,
            )
        )

    if not isinstance(structure, list):
        complain("bad_value", "`site.structure` must be a list", ("site",))
    visit(structure, ("site", "structure"))
    return config


def read_map(text: str) -> dict[str, str]:
    """A mapping file: a flat map from what links, or ``docs.yaml``, call a space to its id here. Raises YamlError."""
    found = read_yaml(text)
    if not isinstance(found.value, dict) or not all(isinstance(id, str) for id in found.value.values()):
        raise YamlError("a mapping file is a map from names of spaces to ids of spaces")
    return {str(name): id for name, id in found.value.items()}
