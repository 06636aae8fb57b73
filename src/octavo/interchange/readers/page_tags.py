"""Tags of imported pages. In other tools, any text can be a tag; in Octavo, tags have a slug and a label."""

from __future__ import annotations

from collections.abc import Mapping

from octavo.core.pages import slugify
from octavo.core.tags import MAX_SLUG, Tag, write_tags
from octavo.core.yaml_text import YamlError, read_yaml

DEFINED_IN = ("tags.yml", "tags.yaml")
"""Possible names of the file in which Docusaurus defines tags. The file is in the folder that contains the pages."""


class PageTags:
    """Tags of one source's pages. ``verbatim``: whether the pages already refer to the tags by slug."""

    def __init__(self, verbatim: bool, defined: str | None) -> None:
        self._verbatim = verbatim
        self._stated = _read_labels(defined) if defined and not verbatim else {}
        self._found: dict[str, Tag] = {}

    def read(self, value: object) -> list[object]:
        """Return the tags of a page for its front matter."""
        if self._verbatim and isinstance(value, list):
            return value
        tags = dict.fromkeys(self._slug(name) for name in _names(value))
        return list(tags)

    def _slug(self, name: str) -> str:
        label = self._stated.get(name, name)
        # If a tag's slug equals its label, the tag doesn't need a definition.
        slug = slugify(name)
        self._found.setdefault(slug, Tag(slug, label[:MAX_SLUG]))
        return slug

    def definitions(self) -> str:
        """Return the text of the file that defines tags whose labels differ from their slugs; empty if all labels
        equal their slugs."""
        labeled = [tag for tag in self._found.values() if tag.label != tag.tag]
        return write_tags(sorted(labeled, key=lambda tag: tag.tag))


def _names(value: object) -> list[str]:
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    labels = [one.get("label") if isinstance(one, dict) else one for one in given]
    return [
        name for label in labels if isinstance(label, str | int) and (name := " ".join(str(label).split()))
    ]


def _read_labels(text: str) -> Mapping[str, str]:
    try:
        found = read_yaml(text).value
    except YamlError:
        return {}
    defined = found.items() if isinstance(found, dict) else ()
    return {
        name: label
        for name, about in defined
        if isinstance(about, dict) and isinstance(label := about.get("label"), str) and label.strip()
    }
