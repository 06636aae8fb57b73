"""Specification, as an API reference shows it: operations by tag, with references resolved and internal parts
omitted. This module does no I/O."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Any

from msgspec import Struct

from octavo.core.document.anchors import slug
from octavo.core.free_names import free_name
from octavo.kit.texts import say_name, split_name

from .bundling import pointer_keys, resolve
from .validating import EARLY_WEBHOOKS, METHODS

Data = dict[str, Any]

_SCHEMAS = "#/components/schemas/"
UNTAGGED = ""
"""Tag of operations without one."""


def object_of(value: object) -> Data:
    return value if isinstance(value, dict) else {}


def list_of(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a string unchanged, a number as a string, and an empty string for any other value."""
    return value if isinstance(value, str) else str(value) if type(value) in (int, float) else ""


class DescribedOperation(Struct, frozen=True):
    """Operation or webhook. ``path``: the path in the API, or the name of a webhook. ``item``: the path item
    that contains ``data``."""

    path: str
    method: str
    item: Data
    data: Data
    webhook: bool = False

    @property
    def summary(self) -> str:
        return " ".join(text_of(self.data.get("summary")).split())

    @property
    def title(self) -> str:
        """Return a short title. If the summary is a paragraph, the title is its first sentence. Without a summary,
        the title consists of the words in the ID, unless these only repeat the method and path; in that case, the
        title is the first sentence of the description, if that sentence is short."""
        words = _strip_markup(self.summary)
        if self.webhook:
            # Long summaries of similar events nearly always start with the same words.
            if len(words) > _TITLE:
                return self.path
            return words or _first_sentence(text_of(self.data.get("description"))) or self.path
        if len(words) <= _TITLE:
            return words or self._make_title
        first = words[: _TITLE + 1].partition(". ")[0]
        return first if len(first) < _TITLE else self._split_id or _shorten_title(words)

    @property
    def _make_title(self) -> str:
        said, described = self._split_id, _first_sentence(text_of(self.data.get("description")))
        known = {word.lower() for word in split_name(f"{self.method} {self.path}")}
        repeats = all(word.lower() in known for word in split_name(said))
        return (described or said if repeats else said) or self.name

    @property
    def _split_id(self) -> str:
        said = say_name(text_of(self.data.get("operationId"))[:200])
        # A name equal to the method doesn't add any information.
        return "" if said.lower() == self.method else _shorten_title(said)

    @property
    def about(self) -> str:
        """Return the description in Markdown, preceded by the summary if the summary is longer than the title."""
        about, summary = text_of(self.data.get("description")), self.summary
        is_said = len(_strip_markup(summary)) <= _TITLE or " ".join(about.split()).startswith(summary)
        return about if is_said else f"{summary}\n\n{about}".strip()

    @property
    def name(self) -> str:
        return f"{self.method.upper()} {self.path}"

    @property
    def url_name(self) -> str:
        """Return the text for the last path segment of the page's URL: the title, if it comes from the summary."""
        return self.title if self.summary else self.path if self.webhook else self.name

    @property
    def called(self) -> str:
        """Return the name to show next to the title in lists."""
        return f"EVENT {self.path}" if self.webhook else self.name

    @property
    def identifiers(self) -> list[str]:
        """Return the identifiers that developers search for, spelled as in code."""
        named = text_of(self.data.get("operationId"))[:200]
        written = (named, self.path, self.path.strip("/"), self.name)
        return list(dict.fromkeys(one for one in written if one))

    @property
    def key(self) -> str:
        """Return the key that identifies the operation within its specification."""
        return f"{self.method} {self.path}"


_TITLE = 80
"""Maximum number of characters in a title."""
_MARKED = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)|(`|\*\*|__)(.+?)\2")


def _shorten_title(words: str) -> str:
    return words if len(words) <= _TITLE else f"{words[:_TITLE].rpartition(' ')[0] or words[:_TITLE]} …"


def _strip_markup(summary: str) -> str:
    """Return the words of a summary in Markdown or HTML."""
    words = _MARKED.sub(lambda found: found[1] or found[3] or "", summary[:1000])
    return " ".join(_TAGS.sub(" ", words).split())


_TAGS = re.compile(r"</?(?:p|br|div|span|b|i|strong|em)\b[^<>]*>")
_BREAK = re.compile(r"\n\s*\n|</p>")
_SENTENCE = re.compile(r"([A-Z][\w ,;:'()/-]{2,69})(?:\.(?=\s|$)|$)")


def _first_sentence(text: str) -> str:
    """Return the first sentence of a string if the sentence is short and has no markup. A paragraph without a period
    also counts as a sentence."""
    paragraph = _TAGS.sub(" ", _BREAK.split(text[:500].strip(), maxsplit=1)[0])
    found = _SENTENCE.match(" ".join(paragraph.split()))
    return found[1].strip() if found else ""


class ApiTag(Struct, frozen=True):
    name: str
    title: str
    description: str = ""
    page_description: str = ""
    icon: str = ""
    parent: str = ""
    group: str = ""
    """Heading that the tag is listed under (``x-tagGroups``)."""


class ApiDescription:
    """OpenAPI specification. ``data``: the compiled specification. Malformed parts that validation doesn't cover are
    treated as empty."""

    def __init__(self, data: Data) -> None:
        self.data = data
        self._found: Data = {}
        """Targets of references followed so far."""
        self.info = object_of(data.get("info"))
        components = object_of(data.get("components"))
        self.schemas = object_of(components.get("schemas"))
        self.security_schemes = object_of(components.get("securitySchemes"))
        self.operations = {each.key: each for each in self._operations("paths")}
        events = "webhooks" if "webhooks" in data else EARLY_WEBHOOKS
        self.webhooks = {each.key: each for each in self._operations(events, is_webhook=True)}
        self.by_id: dict[str, DescribedOperation] = {}
        """Operations by ID. If several operations have the same ID, the first operation is used."""
        for each in self.operations.values():
            self.by_id.setdefault(text_of(each.data.get("operationId")), each)
        self.by_id.pop("", None)

    @property
    def title(self) -> str:
        return " ".join(text_of(self.info.get("title")).split()) or "API"

    @cached_property
    def _anchors(self) -> dict[tuple[bool, str], str]:
        found: dict[tuple[bool, str], str] = {}
        taken: set[str] = set()
        for each in (*self.operations.values(), *self.webhooks.values()):
            named = slug(text_of(each.data.get("operationId")) or each.key)
            if named:
                named = free_name(named, taken.__contains__)
                taken.add(named)
            found[each.webhook, each.key] = named
        return found

    def anchor(self, operation: DescribedOperation) -> str:
        """Return the anchor of an operation or webhook on a page with other operations: its ID if it is unique;
        otherwise, its method and path. The anchor can be empty."""
        return self._anchors.get((operation.webhook, operation.key), "")

    def _operations(self, where: str, *, is_webhook: bool = False) -> Iterator[DescribedOperation]:
        for path, item in object_of(self.data.get(where)).items():
            item = self.follow(item)
            for method in METHODS:
                data = item.get(method)
                if isinstance(data, dict) and not (data.get("x-internal") or data.get("x-gitbook-ignore")):
                    yield DescribedOperation(path, method, item, data, is_webhook)

    # --- references ---------------------------------------------------------------------------------------

    def follow(self, value: object) -> Data:
        """Return a value if it is an object, the target if it is a reference to an object, or an empty object. Siblings
        of a reference, such as a description, override the target."""
        beside: Data = {}
        for _ in range(20):
            if not isinstance(value, dict):
                return {}
            reference = value.get("$ref")
            if not isinstance(reference, str):
                return {**value, **beside} if beside else value
            beside = {**{k: v for k, v in value.items() if k != "$ref"}, **beside}
            if reference not in self._found:
                try:
                    self._found[reference] = resolve(self.data, reference)
                except LookupError:
                    return beside
            value = self._found[reference]
        return {}

    def merge(self, value: object) -> Data:
        """Return a schema merged with its ``allOf``. Each reference is merged only once, even if it is repeated
        or circular."""
        schema = self.follow(value)
        if not list_of(schema.get("allOf")):
            return schema
        properties: Data = {}
        required: list[Any] = []
        merged: Data = {}
        seen: set[str] = set()
        stack = [(schema, False)]
        while stack:
            here, has_parts = stack.pop()
            if has_parts:
                properties |= object_of(here.get("properties"))
                required += list_of(here.get("required"))
                merged |= {
                    k: v for k, v in here.items() if k not in ("properties", "required", "allOf", "$ref")
                }
                continue
            stack.append((here, True))
            for part in reversed(list_of(here.get("allOf"))):
                reference = object_of(part).get("$ref")
                if isinstance(reference, str):
                    if reference in seen:
                        continue
                    seen.add(reference)
                stack.append((self.follow(part), False))
        return {**merged, **({"properties": properties} if properties else {}), "required": required}

    def subtypes(self, value: object) -> list[Data]:
        """Return references to the subtypes of a discriminator if the schema doesn't list them: the subtypes in its
        mapping or, if there are none, the schemas that extend the schema with ``allOf``."""
        mapping = object_of(object_of(self.follow(value).get("discriminator")).get("mapping"))
        targets = dict.fromkeys(target for target in mapping.values() if isinstance(target, str))
        if targets:
            return [{"$ref": one if "/" in one else f"{_SCHEMAS}{one}"} for one in targets]
        name = self.name_of(value)
        return [{"$ref": f"{_SCHEMAS}{each}"} for each in self._extended_by.get(name, ())] if name else []

    @cached_property
    def _extended_by(self) -> dict[str, list[str]]:
        """Return the names of the schemas that extend each schema, by the name of the extended schema."""
        found: dict[str, list[str]] = {}
        for name, schema in self.schemas.items():
            for part in list_of(object_of(schema).get("allOf")):
                base = self.name_of(part)
                if base:
                    found.setdefault(base, []).append(name)
        return found

    @staticmethod
    def name_of(value: object) -> str:
        """Return the schema name in a reference; an empty string if the schema isn't a reference.
        References always have a name, which is used to detect cycles."""
        reference = value.get("$ref") if isinstance(value, dict) else None
        if not isinstance(reference, str):
            return ""
        return _name_in(reference)

    # --- inputs of an operation --------------------------------------------------------------------------------

    def parameters(self, operation: DescribedOperation) -> list[Data]:
        """Return the parameters of the path and the operation, in order. Parameters of the operation override the
        parameters of the path."""
        found: dict[tuple[str, str], Data] = {}
        for value in [*list_of(operation.item.get("parameters")), *list_of(operation.data.get("parameters"))]:
            each = self.follow(value)
            if text_of(each.get("name")):
                found[text_of(each.get("in")), text_of(each["name"])] = each
        return list(found.values())

    def servers(self, operation: DescribedOperation | None = None) -> list[Data]:
        places = [operation.data, operation.item] if operation else []
        for place in [*places, self.data]:
            servers = [each for each in list_of(place.get("servers")) if isinstance(each, dict)]
            if servers:
                return servers
        return []

    def server_url(self, operation: DescribedOperation | None = None) -> str:
        """Return the URL of the first server, with the defaults of its variables."""
        servers = self.servers(operation)
        if not servers:
            return ""
        url = text_of(servers[0].get("url"))
        for name, variable in object_of(servers[0].get("variables")).items():
            given = object_of(variable).get("default")
            url = url.replace("{" + name + "}", name if given is None else text_of(given))
        return url.rstrip("/")

    def security(self, operation: DescribedOperation) -> list[dict[str, list[Any]]]:
        """Return the alternative authentication methods, each as the list of schemes to use together."""
        wanted = operation.data.get("security", self.data.get("security"))
        return [each for each in list_of(wanted) if isinstance(each, dict)]

    def setting(self, operation: DescribedOperation, name: str) -> bool:
        """Return the value of an extension that can be set for an operation or, for all operations, at the
        top level."""
        value = operation.data.get(name, self.data.get(name))
        return value is True

    # --- tags ---------------------------------------------------------------------------------------------

    def tags(self) -> list[ApiTag]:
        """Return the tags with operations, and their parent tags, in the order of the specification. If the
        specification has groups, tags are in the order of the groups, followed by the remaining tags."""
        declared: dict[str, Data] = {}
        for each in list_of(self.data.get("tags")):
            name = text_of(object_of(each).get("name"))
            if name:
                declared.setdefault(name, each)
        hidden = {n for n, each in declared.items() if each.get("x-internal") or each.get("x-gitbook-ignore")}
        used = dict.fromkeys(n for each in self.operations.values() for n in tags_of(each) if n not in hidden)
        wanted = set(used)
        for name in used:
            seen: set[str] = set()
            while name and name not in seen:
                seen.add(name)
                wanted.add(name)
                name = _parent(declared.get(name, {}))
        names = dict.fromkeys(name for name in (*self._groups, *declared, *used) if name in wanted)
        return [self._tag(name, declared, wanted) for name in names]

    @cached_property
    def _groups(self) -> dict[str, str]:
        """Return the groups by tag name. A tag belongs to the first group that lists it."""
        found: dict[str, str] = {}
        for group in list_of(self.data.get("x-tagGroups")):
            title = " ".join(text_of(object_of(group).get("name")).split())
            for name in list_of(object_of(group).get("tags")):
                if title and isinstance(name, str):
                    found.setdefault(name, title)
        return found

    def _tag(self, name: str, declared: dict[str, Data], wanted: set[str]) -> ApiTag:
        data = declared.get(name, {})
        title = (
            text_of(data.get("x-page-title"))
            or text_of(data.get("x-displayName"))
            or text_of(data.get("summary"))
        )
        parent = _parent(data)
        return ApiTag(
            name,
            " ".join(title.split()) or name or "Other",
            text_of(data.get("description")),
            " ".join(text_of(data.get("x-page-description")).split()),
            text_of(data.get("x-page-icon")),
            parent if parent in wanted and parent != name else "",
            self._groups.get(name, ""),
        )

    def count(self, tag: str) -> int:
        """Return the number of operations under a tag."""
        return self._counts.get(tag, 0)

    @cached_property
    def _counts(self) -> Counter[str]:
        return Counter(tag for each in self.operations.values() for tag in tags_of(each))

    def with_tag(self, name: str) -> list[DescribedOperation]:
        return [each for each in self.operations.values() if name in tags_of(each)]


@lru_cache(maxsize=4096)
def _name_in(reference: str) -> str:
    return next((step for step in reversed([*pointer_keys(reference)]) if step), reference or "#")


def tags_of(operation: DescribedOperation) -> list[str]:
    """Return the tag that an operation belongs to: the first tag that it lists."""
    names = [name for name in list_of(operation.data.get("tags")) if isinstance(name, str) and name]
    return names[:1] or [UNTAGGED]


def _parent(tag: Data) -> str:
    return text_of(tag.get("parent")) or text_of(tag.get("x-parent"))
