"""Fill in the shortcode templates of a Hugo site (`layouts/shortcodes`) that only add text around their parameters.
Nothing is executed: a template that computes anything else isn't filled in. This module doesn't do any I/O."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

from msgspec import Struct

_ACTION = re.compile(
    r"\{\{-?\s*(?P<said>/\*.*?\*/|(?:\"[^\"]*\"|`[^`]*`|[^}\"`]|\}(?!\})){0,500}?)\s*-?\}\}", re.DOTALL
)
_TERM = re.compile(
    r"\"(?P<text>[^\"]*)\"|`(?P<raw>[^`]*)`|(?P<number>\d+)(?![\w.])|(?P<word>[$.\w]+)|(?P<sign>[()])"
)
_AS_IT_IS = frozenset(
    "safeHTML safeURL safeHTMLAttr safeCSS safeJS plainify relURL absURL relLangURL htmlUnescape".split()
)
"""Functions that have no relevant effect on an Octavo page, and are treated as returning their argument unchanged."""
_LONGEST = 50_000
"""Maximum number of characters in a template, and in its output, not counting parameter values."""
_LONGEST_WHOLE = 400_000
_DEEPEST = 20


class _Computed(Exception):
    """Raised if the result could be determined only by running the template."""


class _Given(Struct, frozen=True):
    named: Mapping[str, str]
    placed: Sequence[str]
    inner: str

    def get(self, key: str) -> str:
        if key.isdigit():
            return escape(self.placed[int(key)]) if int(key) < len(self.placed) else ""
        return escape(self.named.get(key, ""))


def fill(
    template: str,
    named: Mapping[str, str],
    placed: Sequence[str],
    inner: str = "",
    render: Callable[[str], str] = lambda markdown: markdown,
) -> str | None:
    """Return the HTML of a shortcode for its named and positional parameters and for the content between its tags;
    None if the template computes values. ``render``: a function that converts Markdown in the template to HTML."""
    pieces = _pieces(template) if len(template) <= _LONGEST else None
    if pieces is None:
        return None
    filling = _Filling(pieces, _Given(named, placed, inner), render)
    try:
        made = filling.until_end("", 0)
    except _Computed:
        return None
    return made if filling.at >= len(filling.pieces) else None


def _pieces(template: str) -> list[str] | None:
    """Split a template into text and, at odd positions, actions. Return None if an action has no end."""
    pieces: list[str] = []
    at = 0
    while (begin := template.find("{{", at)) >= 0:
        found = _ACTION.match(template, begin)
        if found is None:
            return None
        pieces += [template[at:begin], found["said"]]
        at = found.end()
    return [*pieces, template[at:]]


class _Filling:
    def __init__(self, pieces: list[str], given: _Given, render: Callable[[str], str]) -> None:
        self.pieces = pieces
        self.given = given
        self.render = render
        self.at = 0
        self.variables: dict[str, str] = {}

    def until_end(self, dot: str, depth: int) -> str:
        """Return the output up to the end of a condition or of the template. ``dot``: the value of ``.``."""
        if depth > _DEEPEST:
            raise _Computed
        made = ""
        while self.at < len(self.pieces):
            piece, is_action = self.pieces[self.at], self.at % 2 == 1
            if is_action and (piece in ("end", "else") or piece.startswith("else ")):
                return made
            self.at += 1
            if not is_action:
                made += piece
            elif found := re.match(r"(if|with)\s+(.*)", piece, re.DOTALL):
                made += self._condition(found[1], found[2], dot, depth)
            elif found := re.match(r"(\$\w+)\s*:?=\s*(.*)", piece, re.DOTALL):
                self.variables[found[1]] = self._value(found[2], dot)
            elif not piece.startswith("/*"):
                made += self._value(piece, dot)
            if len(made) > min(_LONGEST + 2 * len(self.given.inner), _LONGEST_WHOLE):
                raise _Computed
        return made

    def _condition(self, kind: str, asked: str, dot: str, depth: int) -> str:
        value = self._value(asked, dot)
        made = self.until_end(value if kind == "with" else dot, depth + 1)
        other = ""
        if self.at < len(self.pieces) and self.pieces[self.at].startswith("else"):
            more = self.pieces[self.at].removeprefix("else").strip()
            self.at += 1
            if found := re.match(r"(if|with)\s+(.*)", more, re.DOTALL):
                return made if value else self._condition(found[1], found[2], dot, depth + 1)
            other = self.until_end(dot, depth + 1)
        if self.at >= len(self.pieces) or self.pieces[self.at] != "end":
            raise _Computed
        self.at += 1
        return made if value else other

    def _value(self, written: str, dot: str) -> str:
        value: str | None = None
        for step in re.split(r"\s*\|\s*(?=(?:[^\"`]|\"[^\"]*\"|`[^`]*`)*$)", written.strip()):
            value = self._step(self._terms(step, dot), value, dot)
        return value or ""

    def _terms(self, step: str, dot: str) -> list[tuple[bool, str]]:
        """Return the terms of an action. Each is a pair: whether the term is a string, and the term's text. An
        expression in parentheses is one term."""
        found = list(_TERM.finditer(step))
        if "".join(step.split()) != "".join("".join(one[0].split()) for one in found):
            raise _Computed
        terms: list[tuple[bool, str]] = []
        at = 0
        while at < len(found):
            one = found[at]
            if one["sign"] == "(":
                depth, end = 1, at + 1
                while end < len(found) and depth:
                    depth += {"(": 1, ")": -1}.get(found[end]["sign"] or "", 0)
                    end += 1
                if depth:
                    raise _Computed
                terms.append((True, self._value(step[one.end() : found[end - 1].start()], dot)))
                at = end
                continue
            is_text = one["text"] is not None or one["raw"] is not None or one["number"] is not None
            terms.append((is_text, one["text"] or one["raw"] or one["number"] or one["word"] or ""))
            at += 1
        return terms

    def _step(self, terms: list[tuple[bool, str]], before: str | None, dot: str) -> str:
        if not terms:
            raise _Computed
        (is_text, name), rest = terms[0], terms[1:]
        given = [text if quoted else self._word(text, dot) for quoted, text in rest]
        if is_text and not rest:
            return name
        if name in (".Get", "$.Get") and len(rest) == 1 and rest[0][0]:
            return self.given.get(rest[0][1])
        if name == "index" and len(rest) == 2 and rest[0] in ((False, ".Params"), (False, "$.Params")):
            return self.given.get(rest[1][1])
        if name in (".Page.RenderString", "$.Page.RenderString") and given:
            return self.render(given[-1])
        values = [*given, *([before] if before is not None else [])]
        if name == "markdownify" and len(values) == 1:
            return self.render(values[0])
        if name in _AS_IT_IS and len(values) == 1:
            return values[0]
        if name == "default" and len(values) == 2:
            return values[1] or values[0]
        if name == "not" and len(values) == 1:
            return "" if values[0] else "true"
        if name in ("eq", "ne") and len(values) == 2:
            return "true" if (values[0] == values[1]) == (name == "eq") else ""
        if name in ("or", "and") and values:
            found = [value for value in values if bool(value) == (name == "or")]
            return found[0] if found else values[-1]
        if not rest and before is None:
            return self._word(name, dot)
        raise _Computed

    def _word(self, name: str, dot: str) -> str:
        if name in (".Inner", "$.Inner"):
            return self.given.inner
        if name == ".":
            return dot
        if name in self.variables:
            return self.variables[name]
        if name in ("true", "false"):
            return "true" if name == "true" else ""
        if name in (".Params", "$.Params"):
            return ""
        raise _Computed
