"""Read and write ``docs.yaml``: the structure of a site and the repository folders of its spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, cast, get_args

from msgspec import Struct, field

from octavo.core.json_types import JsonObject

from .expression_syntax import parse
from .expression_values import ExpressionError
from .free_names import free_name
from .problems import Problem
from .summary import entry_path
from .yaml_text import YamlError, YamlText, read_yaml, write_yaml

DOCS_PATH = "docs.yaml"

EntryType = Literal["section", "section-group", "space"]

_KEYS: dict[str, tuple[str, ...]] = {
    "section": ("path", "description", "icon", "condition", "default", "draft", "children"),
    "section-group": ("icon", "draft", "children"),
    "space": ("path", "condition", "default", "draft", "content"),
}
"""Allowed fields of an entry of each type, in addition to type, key, and title."""
_OF_SECTION = ("description", "icon")
"""Fields that a space can have only if it forms its own section."""
_LOCALIZED = {"localizedTitle": "title", "localizedDescription": "description"}
"""Fields that contain translations of another field."""
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8}){0,3}")
_LANGUAGES_MAX = 100
_SITE_KEYS = ("title", "structure")
_MEANT_AS_CONDITION = re.compile(r"[\W_]*(?:if|conditions?)[\W_]*", re.IGNORECASE)
_LENGTHS = {"path": 100, "description": 256, "icon": 50, "condition": 1024}
_TITLES = {"section": (2, 128), "section-group": (1, 100), "space": (0, 50)}
_SITE_TITLE = (2, 128)
_KEY_MAX = 100


class DocsEntry(Struct, kw_only=True):
    """Entry of ``site.structure``. ``key``: its permanent name, unique among spaces or among sections and
    groups. ``directory``: the folder of a space's files, empty or ending in a slash; None if there is none.
    ``default``: whether it is the first section of the site, or the first space of a section. ``line``: its
    line, from 1."""

    type: EntryType
    key: str
    title: str
    path: str | None = None
    description: str | None = None
    icon: str | None = None
    condition: str | None = None
    default: bool = False
    draft: bool = False
    directory: str | None = None
    language: str | None = None
    localized: dict[str, dict[str, str]] = field(default_factory=dict)
    """Translations of ``title`` and ``description``, by field and language."""
    children: list[DocsEntry] = field(default_factory=list)
    line: int = 0
    way: tuple[str | int, ...] = ()
    """Path to the entry in the source, as keys and list indexes."""


class DocsConfig(Struct, kw_only=True):
    """Parsed ``docs.yaml``. ``structure``: sections, which contain spaces, and groups, which contain sections and
    groups; if there are no sections, a list of spaces, which are variants of each other."""

    title: str | None = None
    structure: list[DocsEntry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def spaces(self) -> list[DocsEntry]:
        """Return every space in the structure, in reading order."""
        return [entry for entry in walk_docs(self.structure) if entry.type == "space"]


def walk_docs(entries: Sequence[DocsEntry]) -> Iterator[DocsEntry]:
    """Yield these entries and all their descendants, in reading order."""
    for entry in entries:
        yield entry
        yield from walk_docs(entry.children)


def read_docs(text: str, *, max_depth: int, languages: Sequence[str]) -> DocsConfig:
    """Parse the site in a ``docs.yaml``; invalid parts are skipped and reported. ``max_depth``: the maximum
    nesting of groups. Raises YamlError if the text isn't valid YAML."""
    return _DocsReader(read_yaml(text), max_depth, languages).read()


class _DocsReader:
    def __init__(self, found: YamlText, max_depth: int, languages: Sequence[str]) -> None:
        self._found = found
        self._max_depth = max_depth
        self._languages = languages
        self._config = DocsConfig()
        self._keys: set[tuple[bool, str]] = set()
        """Keys in use, each with whether it belongs to a space."""
        self._said = {text for way, text in _texts(found.value) if way == "key"}

    def _complain(self, code: str, message: str, *way: str | int) -> None:
        self._config.problems.append(Problem(DOCS_PATH, self._found.line(*way), code, message))

    def read(self) -> DocsConfig:
        value = self._found.value
        site = value.get("site") if isinstance(value, dict) else None
        structure = site.get("structure") if isinstance(site, dict) else None
        if not isinstance(site, dict) or not isinstance(structure, list):
            self._complain("bad_value", "`site.structure`: must be a list", "site")
            return self._config
        for name in site:
            if name not in _SITE_KEYS:
                self._complain(
                    "unknown_key",
                    f"`{name}` isn't a known key; remove it or correct its spelling",
                    "site",
                    name,
                )
        title = site.get("title")
        if isinstance(title, str) and _SITE_TITLE[0] <= len(title) <= _SITE_TITLE[1]:
            self._config.title = title
        elif title is not None:
            self._complain("bad_value", "`title`: must have 2 to 128 characters", "site", "title")
        found = self._entries(structure, ("site", "structure"), 0)
        entries = list(walk_docs(found))
        if any(entry.type == "section" for entry in entries) or self._has_grouped_spaces(entries):
            for group in [entry for entry in entries if entry.type == "section-group"]:
                group.children = [self._as_section(entry) for entry in group.children]
            found = [self._as_section(entry) for entry in found]
        else:
            self._check_variants(found)
        self._config.structure = found
        return self._config

    def _entries(self, values: object, way: tuple[str | int, ...], depth: int) -> list[DocsEntry]:
        """Read the entries of a list nested in ``depth`` groups. An entry that isn't allowed inside another entry is
        placed after it instead."""
        found: list[DocsEntry] = []
        if values is not None and not isinstance(values, list):
            self._complain("bad_value", "`children`: must be a list", *way)
            return found
        for at, value in enumerate(values or ()):
            here = (*way, at)
            if not isinstance(value, dict):
                self._complain("bad_value", "each entry of `structure` must be a map", *here)
                continue
            found += self._entry(value, here, depth)
        return found

    def _entry(self, value: Mapping[str, object], way: tuple[str | int, ...], depth: int) -> list[DocsEntry]:
        type = self._type(value, way)
        if type == "section-group" and depth >= self._max_depth:
            self._complain(
                "too_deep",
                f"groups can be nested at most {self._max_depth} levels deep; this group is skipped",
                *way,
            )
            return self._entries(value.get("children"), (*way, "children"), depth)
        entry = self._plain(type, value, way)
        if entry is None:
            return []
        if type == "space":
            self._read_content(entry, value.get("content"), (*way, "content"))
            return [entry]
        inside = depth + 1 if type == "section-group" else depth
        children = self._entries(value.get("children"), (*way, "children"), inside)
        if type == "section-group":
            entry.children = children
            return [entry]
        entry.children = [child for child in children if child.type == "space"]
        self._check_variants(entry.children)
        outside = [child for child in children if child.type != "space"]
        for child in outside:
            message = f"{child.key} can't be inside a section; it is moved after {entry.key}"
            self._config.problems.append(Problem(DOCS_PATH, child.line, "misplaced", message))
        return [entry, *outside]

    def _type(self, value: Mapping[str, object], way: tuple[str | int, ...]) -> EntryType:
        """Return the type of an entry, inferred from its content if it isn't given."""
        given: Any = value.get("type")
        if given in get_args(EntryType):
            return cast("EntryType", given)
        if given is not None:
            self._complain("bad_value", "`type`: must be section, section-group, or space", *way, "type")
        if "children" not in value:
            return "space"
        children = value["children"] if isinstance(value["children"], list) else []
        below = [child for child in children if isinstance(child, dict)]
        is_group = any(
            "children" in child or child.get("type") in ("section", "section-group") for child in below
        )
        return "section-group" if is_group else "section"

    def _plain(
        self, type: EntryType, value: Mapping[str, object], way: tuple[str | int, ...]
    ) -> DocsEntry | None:
        """Read an entry without its content; return None if its key is already used."""
        key = value.get("key")
        if key is not None and not (isinstance(key, str) and 0 < len(key) <= _KEY_MAX):
            self._complain("bad_value", f"`key`: must have 1 to {_KEY_MAX} characters", *way, "key")
        if not isinstance(key, str) or not 0 < len(key) <= _KEY_MAX:
            key = self._free_key(type == "space", _name_of(value))
        elif (type == "space", key) in self._keys:
            self._complain("listed_twice", f"the key {key} is used twice; the second entry is skipped", *way)
            return None
        self._keys.add((type == "space", key))
        entry = DocsEntry(
            type=type, key=key, title=self._title(type, value, key, way), line=self._found.line(*way), way=way
        )
        known = (*_KEYS[type], *(_OF_SECTION if type == "space" else ()))
        for name, given in value.items():
            if name == "hidden" and given is True:
                message = "`hidden` isn't supported, so readers see this entry; use `draft: true` to hide it"
                self._complain("unknown_key", message, *way, name)
            elif name in _LOCALIZED and _LOCALIZED[name] in ("title", *known):
                self._read_localized(entry, name, given, way)
            elif name not in ("type", "key", "title", "hidden", *known) and not (
                "condition" in known and _MEANT_AS_CONDITION.fullmatch(name)
            ):
                self._complain(
                    "unknown_key",
                    f"`{name}` isn't a key of a {type}; remove it or correct its spelling",
                    *way,
                    name,
                )
        for name in sorted({"default", "draft"}.intersection(known, value)):
            if isinstance(value[name], bool):
                setattr(entry, name, value[name])
            elif value[name] is not None:
                self._complain("bad_value", f"`{name}`: must be true or false", *way, name)
                # An unclear value that was meant to mark a draft counts as true.
                entry.draft = entry.draft or name == "draft"
        for name in sorted(_LENGTHS.keys() & value.keys() & set(known)):
            given, most = value[name], _LENGTHS[name]
            if isinstance(given, str) and len(given) <= most:
                setattr(entry, name, given or None)
            elif given is not None:
                self._complain(
                    "bad_value", f"`{name}`: must be text of at most {most:,} characters", *way, name
                )
        if "condition" in known and value.get("condition") and not _holds_expression(entry.condition):
            # An entry meant to be restricted is hidden from everyone if its condition is unreadable.
            entry.condition = "false"
            self._complain(
                "bad_value",
                "`condition`: must be a valid expression; no one can see this entry until you fix it",
                *way,
                "condition",
            )
        for name in value:
            if "condition" in known and name != "condition" and _MEANT_AS_CONDITION.fullmatch(name):
                entry.condition = "false"
                message = (
                    f"`{name}`: must be named `condition`; no one can see this entry until you rename the key"
                )
                self._complain("unknown_key", message, *way, name)
        return entry

    def _read_localized(self, entry: DocsEntry, name: str, given: object, way: tuple[str | int, ...]) -> None:
        """Read the translations of a field; skip values that aren't text."""
        of = _LOCALIZED[name]
        most = _LENGTHS[of] if of in _LENGTHS else _TITLES[entry.type][1]
        texts = given if isinstance(given, dict) and len(given) <= _LANGUAGES_MAX else {}
        if texts is not given and given is not None:
            self._complain("bad_value", f"`{name}`: must map language tags to strings", *way, name)
        for language, text in texts.items():
            is_language = isinstance(language, str) and _LANGUAGE.fullmatch(language)
            if is_language and isinstance(text, str) and text.strip() and len(text) <= most:
                entry.localized.setdefault(of, {})[language] = text
            else:
                message = f"`{name}`: must map language tags to strings of 1 to {most:,} characters"
                self._complain("bad_value", message, *way, name, language)

    def _free_key(self, is_space: bool, wanted: str) -> str:
        """Return a key for an entry without one. No other entry uses the key, and it doesn't occur anywhere in the
        source."""
        return free_name(wanted, lambda key: (is_space, key) in self._keys or key in self._said)

    @staticmethod
    def _has_grouped_spaces(entries: Sequence[DocsEntry]) -> bool:
        groups = [entry for entry in entries if entry.type == "section-group"]
        return any(child.type == "space" for group in groups for child in group.children)

    def _as_section(self, entry: DocsEntry) -> DocsEntry:
        """Return the entry in the form that a list of sections requires: a space becomes its own section."""
        if entry.type != "space":
            return entry
        key = entry.key if (False, entry.key) not in self._keys else self._free_key(False, entry.key)
        self._keys.add((False, key))
        variant = DocsEntry(
            type="space",
            key=entry.key,
            title=entry.title,
            default=True,
            directory=entry.directory,
            language=entry.language,
            localized={"title": texts} if (texts := entry.localized.get("title")) else {},
            line=entry.line,
            way=entry.way,
        )
        return DocsEntry(
            type="section",
            key=key,
            title=entry.title if len(entry.title) >= _TITLES["section"][0] else "Section",
            path=entry.path,
            description=entry.description,
            icon=entry.icon,
            condition=entry.condition,
            default=entry.default,
            draft=entry.draft,
            localized=entry.localized,
            children=[variant],
            line=entry.line,
            way=entry.way,
        )

    def _title(
        self, type: EntryType, value: Mapping[str, object], key: str, way: tuple[str | int, ...]
    ) -> str:
        given = value.get("title")
        least, most = _TITLES[type]
        if isinstance(given, str) and least <= len(given):
            if len(given) > most:
                self._complain(
                    "bad_value",
                    f"`title`: must have at most {most} characters; the rest is ignored",
                    *way,
                    "title",
                )
            return given[:most]
        if given is not None:
            self._complain(
                "bad_value", f"`title`: must be text of {least} to {most} characters", *way, "title"
            )
        name = (_name_of(value) if type == "space" else key)[:most]
        return name if len(name) >= least else "Section"

    def _read_content(self, entry: DocsEntry, content: object, way: tuple[str | int, ...]) -> None:
        if content is not None and not isinstance(content, dict):
            self._complain("bad_value", "`content`: must be a map", *way)
        content = content if isinstance(content, dict) else {}
        for name in content:
            if name not in ("directory", "language"):
                self._complain(
                    "unknown_key",
                    f"`{name}` isn't a known key; remove it or correct its spelling",
                    *way,
                    name,
                )
        written, language = content.get("directory"), content.get("language")
        if written is not None:
            inside = entry_path(f"{written.lstrip('/')}/") if isinstance(written, str) else None
            if inside is None:
                self._complain("bad_path", "`directory`: must be a path within the repository", *way)
            else:
                entry.directory = inside.lstrip("/")
        if language in self._languages:
            entry.language = language
        elif language is not None:
            self._complain("bad_value", f"{language!r} isn't a supported language", *way, "language")

    def _check_variants(self, entries: list[DocsEntry]) -> None:
        """Remove duplicate spaces from a section, or from a site without sections. From the remaining spaces, remove
        fields that only sections have."""
        directories: set[str] = set()
        for entry in [entry for entry in entries if entry.type == "space"]:
            for name in _OF_SECTION:
                if getattr(entry, name):
                    message = f"`{name}`: is supported only for a space that forms its own section"
                    self._config.problems.append(Problem(DOCS_PATH, entry.line, "unknown_key", message))
            entry.description, entry.icon = None, None
            entry.localized.pop("description", None)
            if entry.directory is not None and entry.directory in directories:
                entries.remove(entry)
                message = f"the directory {entry.directory or './'} is used twice; {entry.key} is skipped"
                self._config.problems.append(Problem(DOCS_PATH, entry.line, "listed_twice", message))
            elif entry.directory is not None:
                directories.add(entry.directory)


def _texts(value: object, way: str = "") -> Iterator[tuple[str, str]]:
    """Yield every string in a value, with its key."""
    if isinstance(value, str):
        yield way, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _texts(item, key)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, way)


def _name_of(value: Mapping[str, object]) -> str:
    """Return a name for an entry that has no key."""
    content = value.get("content")
    directory = content.get("directory") if isinstance(content, dict) else None
    folder = directory.strip("/").rpartition("/")[2] if isinstance(directory, str) else ""
    given = (folder.strip("."), value.get("path"), value.get("title"))
    return next((text for text in given if isinstance(text, str) and text.strip()), "Docs")[:_KEY_MAX]


def _holds_expression(text: str | None) -> bool:
    try:
        return text is not None and bool(parse(text))
    except ExpressionError:
        return False


def write_docs(config: DocsConfig) -> str:
    """Write a ``docs.yaml``. ``read_docs`` parses the result as the same config and reports no problems."""
    return write_yaml(
        {"site": {"title": config.title, "structure": [describe_entry(one) for one in config.structure]}}
    )


def describe_entry(entry: DocsEntry) -> JsonObject:
    """Return an entry with all its content as it is written in a ``docs.yaml``."""
    made: JsonObject = {"type": entry.type, "key": entry.key, "title": entry.title}
    for name in ("path", "description", "icon", "condition", "default", "draft"):
        if value := getattr(entry, name):
            made[name] = value
    for name, of in _LOCALIZED.items():
        if texts := entry.localized.get(of):
            made[name] = texts
    if entry.type == "space":
        content = {"directory": f"./{entry.directory}".rstrip("/") if entry.directory is not None else None}
        made["content"] = content | ({"language": entry.language} if entry.language else {})
    else:
        made["children"] = [describe_entry(child) for child in entry.children]
    return made


def read_map(text: str) -> dict[str, str]:
    """Read a mapping file: a flat map from space names, which links or ``docs.yaml`` use, to space IDs. Raises
    YamlError if the text isn't valid."""
    found = read_yaml(text)
    if not isinstance(found.value, dict) or not all(isinstance(id, str) for id in found.value.values()):
        raise YamlError("the file must contain a map of space names to space IDs")
    return {str(name): id for name, id in found.value.items()}
