"""Check whether code samples can be parsed.

Samples in documentation are often fragments that omit irrelevant parts. A sample is reported only if it
can't be parsed in any plausible way.
"""

from __future__ import annotations

import ast
import json
import re
import textwrap
import threading
import tomllib
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

_LONGEST = 20_000
"""Maximum length in characters of samples to check."""
_ELLIPSIS = re.compile(r"…|\.\.\.")
_SPREAD = re.compile(r"\.\.\.(?=[\w$\[{(])")
_PLACEHOLDER = re.compile(r"<[^\s<>=/!?][^<>\n]{0,60}>|\{\{|\{%|\$\{|<%|%\}|\[\[|\*\*\*|~~~")
_DIFF = re.compile(r"^[+-](?![+-])", re.M)
_JSON_COMMENT = re.compile(r"(?:^|[\s,{\[])(?://|#|/\*)")
_YAML_PROMPT = re.compile(r"^\s*[$>] ", re.M)
_PYTHON_PROMPT = re.compile(r"^\s*(?:>>>|In \[\d+\]:|\$ |%|!)", re.M)
_PYTHON_2 = re.compile(r"^\s*(?:print\s+[\"'\w]|exec\s+\"|raise\s+\w+,)|except\s+\w+,\s*\w+:", re.M)
_NAMELESS = re.compile(r"^\s*(?:-{3,}|={3,})\s*$", re.M)
_SIGNATURE = re.compile(r"[\w.$]+\([^()]*\)(?:\s*(?::|->|=>)\s*[\w.<>\[\]?| ]+)?[;,]?")
_COMMENT_AS_VALUE = re.compile(r"(?:(?<=[=(?:])|(?<=\bextends))\s*/\*+[^*]{0,200}\*+/")
"""Comments where an expression or type is expected."""
_OPTION = re.compile(r"^[A-Za-z_$][\w$]*: .*,$", re.M)
"""Members of an object at the beginning of a line."""
_SHELL = re.compile(r"\s*(?:use|show) \w+;?$", re.M)
"""Commands of database shells that accept JavaScript."""
_own = threading.local()


class _Broken(ValueError):
    """Raised if a sample can't be parsed. The message is the reason."""


def explain_broken_code(syntax: str, source: str) -> str | None:
    """Return the reason a sample can't be parsed; None if it can be parsed, or if its syntax can't be checked.

    >>> explain_broken_code("json", '{"a": 1,}')
    'JSON: Expecting property name enclosed in double quotes (line 1)'
    """
    check = _CHECKS.get(syntax.lower().strip())
    text = source.strip("\n")
    if check is None or not text.strip() or len(text) > _LONGEST:
        return None
    if _PLACEHOLDER.search(text) or len(_DIFF.findall(text)) > 1:
        return None
    if _ELLIPSIS.search(_SPREAD.sub("", text)):
        return None
    try:
        check(text)
    except _Broken as error:
        return str(error)
    except (RecursionError, MemoryError):
        return None
    return None


def _check_json(text: str) -> None:
    if _JSON_COMMENT.search(text) or _starts_with_request(text):
        return
    try:
        json.loads(text)
        return
    except json.JSONDecodeError as error:
        first = error
    except ValueError:
        return
    # Consecutive values, and object members without the surrounding braces, are common.
    for attempt in (f"{{{text.strip().rstrip(',')}}}", f"[{text.strip().rstrip(',')}]"):
        try:
            json.loads(attempt)
            return
        except ValueError:
            continue
    decoder, at = json.JSONDecoder(), 0
    try:
        while at < len(text):
            _, at = decoder.raw_decode(text, at)
            while at < len(text) and text[at].isspace():
                at += 1
        return
    except ValueError:
        pass
    raise _Broken(f"JSON: {first.msg} (line {first.lineno})")


def _starts_with_request(text: str) -> bool:
    """Return whether a sample is a request or response with headers rather than a JSON value."""
    return re.match(r"\s*(?:[A-Z]{3,7} /|HTTP/|[A-Za-z-]+: )", text) is not None


def _check_yaml(text: str) -> None:
    import yaml

    if _YAML_PROMPT.search(text) or "\t" in text:
        return
    try:
        # Only events are read, and no objects are built, so aliases can't multiply.
        for _ in yaml.parse(text, Loader=yaml.CSafeLoader):
            pass
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "can't be parsed"
        where = f" (line {mark.line + 1})" if mark is not None else ""
        raise _Broken(f"YAML: {problem}{where}") from None
    except ValueError:
        return


def _check_toml(text: str) -> None:
    try:
        tomllib.loads(text + "\n")
    except tomllib.TOMLDecodeError as error:
        raise _Broken(f"TOML: {error}") from None


def _check_xml(text: str) -> None:
    from lxml import etree

    body = re.sub(r"^\s*<\?xml[^>]*\?>|<!DOCTYPE[^>\[]*>", "", text)
    if "<!" in body.replace("<!--", "").replace("<![CDATA[", ""):
        return
    parser = etree.XMLParser(resolve_entities=False, no_network=True, recover=True)
    try:
        etree.fromstring(f"<r>{body}</r>", parser)
    except etree.XMLSyntaxError:
        return
    for entry in parser.error_log:
        # Prefixes and entities are declared in the file that a sample comes from.
        if entry.type_name in (
            "NS_ERR_UNDEFINED_NAMESPACE",
            "ERR_UNDECLARED_ENTITY",
            "WAR_UNDECLARED_ENTITY",
        ):
            continue
        raise _Broken(f"XML: {entry.message.strip()} (line {entry.line})")


def _check_python(text: str) -> None:
    if _is_signature(text) or _PYTHON_PROMPT.search(text) or _PYTHON_2.search(text) or _NAMELESS.search(text):
        return
    first: SyntaxError | None = None
    plain = textwrap.dedent(text)
    for attempt in (
        plain,
        f"async def f():\n{textwrap.indent(plain, '  ')}",
        f"class C:\n{textwrap.indent(plain, '  ')}",
        f"f(\n{plain}\n)",
        f"{{\n{plain}\n}}",
        f"{plain}\n  pass",
    ):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(attempt)
            return
        except SyntaxError as error:
            first = first or error
        except ValueError:
            return
    assert first is not None
    raise _Broken(f"Python: {first.msg} (line {first.lineno or 1})")


def _is_signature(text: str) -> bool:
    """Return whether a sample is a function signature from a reference, or a list of signatures.

    >>> _is_signature("# Get it.\\nget(string, string?): object?\\n\\nlast_result() -> object")
    True
    >>> _is_signature("run(1);\\nconst = 2;")
    False
    """
    lines = [line.strip() for line in text.splitlines()]
    code = [line for line in lines if line and not line.startswith(("#", "//", "/*", "*"))]
    return len(code) < 2 or all(_SIGNATURE.fullmatch(line) for line in code)


def _check_script(text: str, *, tags: bool) -> None:
    if _is_signature(text) or _SHELL.match(text):
        return
    attempts = (
        text,
        f"async function* f() {{\n{text}\n}}",
        f"class C {{\n{text}\n}}",
        f"({text.strip().rstrip(';,')})",
        f"({{\n{text}\n}})",
        f"[\n{text}\n]",
    )
    if any(not _has_error(attempt, tags) for attempt in attempts):
        return
    # Some samples have comments in place of irrelevant values, or mix statements and options.
    for omitted in (_COMMENT_AS_VALUE, _OPTION):
        reduced = omitted.sub(" omitted", text)
        if reduced != text and not _has_error(reduced, tags):
            return
    raise _Broken(f"JavaScript or TypeScript: invalid syntax{_place_of(text, tags)}")


def _has_error(text: str, tags: bool) -> bool:
    return bool(_parse(text, tags).root_node.has_error)


def _place_of(text: str, tags: bool) -> str:
    for node in _walk(_parse(text, tags).root_node):
        if node.is_missing or node.type == "ERROR":
            return f" (line {node.start_point[0] + 1})"
    return ""


def _walk(root: Node) -> Iterator[Node]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed([child for child in node.children if child.has_error or child.is_missing]))


def _parse(text: str, tags: bool) -> Tree:
    import tree_sitter_typescript
    from tree_sitter import Language, Parser

    # A parser stores the text it works on, so each thread has its own parser.
    parsers: dict[bool, Parser] = getattr(_own, "parsers", {})
    if tags not in parsers:
        grammar = (
            tree_sitter_typescript.language_tsx() if tags else tree_sitter_typescript.language_typescript()
        )
        parsers[tags] = Parser(Language(grammar))
        _own.parsers = parsers
    return parsers[tags].parse(text.encode("utf-8", "replace"))


def _plain_script(text: str) -> None:
    _check_script(text, tags=False)


def _tagged_script(text: str) -> None:
    _check_script(text, tags=True)


_CHECKS: dict[str, Callable[[str], None]] = {
    "json": _check_json,
    "yaml": _check_yaml,
    "yml": _check_yaml,
    "toml": _check_toml,
    "xml": _check_xml,
    "python": _check_python,
    "py": _check_python,
    "python3": _check_python,
    "typescript": _plain_script,
    "ts": _plain_script,
    "javascript": _tagged_script,
    "js": _tagged_script,
    "jsx": _tagged_script,
    "tsx": _tagged_script,
}
