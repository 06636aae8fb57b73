"""Read and write style guide rules as Vale files, and report unsupported features."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from msgspec import Struct

from .style import Extends, StyleRule, load_yaml

_COMMON = frozenset("extends message description level scope link limit".split())
_KEYS: dict[Extends, frozenset[str]] = {
    "existence": frozenset("tokens raw append exceptions ignorecase nonword action".split()),
    "substitution": frozenset("swap exceptions ignorecase nonword capitalize action".split()),
    "occurrence": frozenset("token max min ignorecase".split()),
    "repetition": frozenset("tokens max alpha exceptions ignorecase".split()),
    "consistency": frozenset("either ignorecase nonword".split()),
    "conditional": frozenset("first second exceptions ignorecase".split()),
    "capitalization": frozenset("match exceptions".split()),
}
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DESCRIPTION = re.compile(r'description: ("(?:[^"\\]|\\.)*")\n')


class StyleFile(Struct, frozen=True):
    """Rule read from a file. ``notes``: the keys that have no effect in Octavo, each with the reason."""

    title: str
    why: str
    source: str
    notes: list[str]


def file_stem(title: str) -> str:
    """Return the name of a rule's file, without its extension.

    >>> file_stem("Don't use “and/or”")
    'DontUseAndOr'
    """
    words = re.findall(r"[\w-]+", re.sub(r"['’]", "", title))
    return "".join([*words[:1], *(word[:1].upper() + word[1:] for word in words[1:])]) or "Rule"


def title_of(stem: str) -> str:
    """Return the title of a rule from the name of its file, without the extension.

    >>> title_of("OxfordComma"), title_of("URLFormat"), title_of("we")
    ('Oxford comma', 'URL format', 'we')
    """
    first, *rest = _CASE_CHANGE.split(stem)
    return " ".join([first, *(word if word.isupper() and len(word) > 1 else word.lower() for word in rest)])


def read_style_file(stem: str, text: str) -> StyleFile:
    """Read a rule file. Raises StyleRuleError if the rule can't be checked.

    The title and the reason that ``write_style_file`` adds above a rule are removed.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").strip() + "\n"
    title, why = title_of(stem), ""
    comment, _, rest = text.partition("\n")
    if comment.startswith("# ") and file_stem(comment[2:]) == stem:
        title, text = comment[2:].strip(), rest
        if (line := _DESCRIPTION.match(text)) is not None:
            # A description that isn't JSON was written by a person, and stays in the rule.
            with suppress(ValueError):
                why, text = json.loads(line[1]), text[line.end() :]
    rule = StyleRule(title, text.strip(), why)
    data = load_yaml(text)
    return StyleFile(title, why or rule.given.description, text.strip(), [*_list_notes(rule, data, text)])


def write_style_file(title: str, why: str, source: str) -> str:
    """Return the text of a rule file, with its title as a comment and its reason as its description."""
    described = re.search(r"^description\s*:", source, re.M) is not None
    about = "" if described or not why else f"description: {json.dumps(why, ensure_ascii=False)}\n"
    return f"# {' '.join(title.split())}\n{about}{source.strip()}\n"


def _list_notes(rule: StyleRule, data: dict[str, object], text: str) -> Iterator[str]:
    given = rule.given
    for key in data:
        if key not in _COMMON | _KEYS[given.extends]:
            yield f"{key}: isn't supported and has no effect"
    name = given.action.name
    supported = {"existence": ("remove", "replace"), "substitution": ("replace",)}.get(given.extends, ())
    if "action" in _KEYS[given.extends] and name and name not in supported:
        yield f"action: {name} isn't supported, so violations aren't fixed automatically"
    elif given.extends == "existence" and name == "replace" and len(given.action.params) != 1:
        yield "action: `replace` is supported only with a single replacement"
    if any(re.search(r"[\\()\[\]|*+?^$]", word) for word in given.exceptions):
        yield "exceptions: words are compared literally; patterns aren't supported"
    for key in _list_repeated(text):
        yield f"{key}: is set more than once; only the last value is used"


def _list_repeated(text: str) -> Iterator[str]:
    """Yield the keys that occur more than once in a mapping."""
    import yaml

    nodes = [yaml.compose(text, Loader=yaml.CSafeLoader)]
    while nodes:
        node = nodes.pop()
        if isinstance(node, yaml.MappingNode):
            keys = Counter(key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode))
            yield from (key for key, count in keys.items() if count > 1)
            nodes += [value for _, value in node.value]
        elif isinstance(node, yaml.SequenceNode):
            nodes += node.value
