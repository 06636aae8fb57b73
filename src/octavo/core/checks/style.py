"""Style guide rules in Vale's format, and the problems that they find in text.

RE2 runs every pattern in time proportional to the length of the text. Patterns that RE2 doesn't support, such as
lookaheads, are rejected when a rule is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta, Struct

from octavo.core.sentences import sentences, shorten
from octavo.core.validation import describe_problem

from .faults import QUOTE, Fault
from .fixes import text_fix

Extends = Literal[
    "existence", "substitution", "occurrence", "repetition", "consistency", "capitalization", "conditional"
]
Level = Literal["suggestion", "warning", "error"]
Scope = Literal["text", "heading", "sentence", "paragraph", "raw"]
_SEVERITIES: dict[Level, Literal["low", "medium", "high"]] = {
    "suggestion": "low",
    "warning": "low",
    "error": "medium",
}
_PATTERN_MEMORY = 1024 * 1024
"""Maximum memory in bytes of a compiled pattern, which limits large repetitions."""
_LONGEST = 2_000
_MOST_WORDS = 2_000
"""Maximum number of tokens or substitutions in one rule."""
_MOST_MATCHES = 20
"""Maximum number of matches that one rule can have on a page."""
_SMALL = frozenset("a an and as at but by en for from if in nor of on or per the to v via vs with".split())
_OPENING, _CLOSING = frozenset("\"'“‘„«"), frozenset("\"'”’“»")
_JOINTS = frozenset("-\N{NON-BREAKING HYPHEN}/")
"""Characters between the parts of a compound."""
_IN_CODE = re.compile(r"\w(?:\.|::|/|_)\w")
"""Pattern of names from code and of paths, such as "System.Text.Json". Such words keep their case."""
_WORD = re.compile(r"[^\W\d_][\w'’-]*")

Pattern = Annotated[str, Meta(min_length=1, max_length=_LONGEST)]


class StyleRuleError(ValueError):
    """Raised if a file isn't a valid rule. The message is the reason."""


class RuleAction(Struct, frozen=True):
    """Automatic fix that a rule specifies."""

    name: str = ""
    params: tuple[str, ...] = ()


class GivenRule(Struct, rename={"ignore_case": "ignorecase", "non_word": "nonword"}, kw_only=True):
    """Rule in the format of a rule file."""

    extends: Extends
    message: Annotated[str, Meta(max_length=500)]
    level: Level = "warning"
    scope: Scope | list[Scope] = "text"
    description: str = ""
    link: Annotated[str, Meta(max_length=2000)] = ""
    limit: Annotated[int, Meta(ge=0)] = 0
    action: RuleAction = RuleAction()
    ignore_case: bool = False
    non_word: bool = False
    tokens: Annotated[list[Pattern], Meta(max_length=_MOST_WORDS)] = []
    raw: Annotated[list[Pattern], Meta(max_length=_MOST_WORDS)] = []
    append: bool = False
    swap: dict[str, str] | list[dict[str, str]] = {}
    either: dict[str, str] = {}
    exceptions: Annotated[list[str], Meta(max_length=_MOST_WORDS)] = []
    token: Pattern = ""
    max: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    min: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    match: Pattern = "$sentence"
    alpha: bool = False
    first: Pattern = ""
    second: Pattern = ""


class StyleRule:
    """Rule read from the YAML text ``source``. ``name``: the rule's title. ``why``: the reason for the rule, shown to
    people who break it."""

    def __init__(self, name: str, source: str, why: str = "") -> None:
        self.name, self.source, self.why = name, source, why
        self.given = _read(source)
        given = self.given
        self.swaps = _list_swaps(given.swap)
        self.exceptions = frozenset(word.casefold() for word in given.exceptions)
        self.names = [exception for exception in given.exceptions if " " in exception]
        self.scopes = {given.scope} if isinstance(given.scope, str) else set(given.scope)
        self.patterns: list[re.Pattern[str]] = []
        """Compiled patterns: one for all words together, or one for each word if the words must be distinguished."""
        self.replacements: list[str] = []
        if given.extends == "existence":
            if not given.tokens and not given.raw:
                raise StyleRuleError("tokens: is required")
            bounds = "" if given.non_word else r"\b"
            tokens = f"{bounds}(?:{'|'.join(given.tokens)}){bounds}" if given.tokens else ""
            raw = "".join(given.raw)
            pattern = tokens + raw if given.append else raw + tokens
            self.patterns = [_compile(pattern, given, [*given.tokens, *given.raw], bounded=False)]
        elif given.extends == "substitution":
            if not self.swaps:
                raise StyleRuleError("swap: is required")
            self.patterns = [_compile(f"(?:{old})", given) for old, _ in self.swaps]
            self.replacements = [new for _, new in self.swaps]
        elif given.extends == "occurrence":
            if not given.token or given.max is None and given.min is None:
                raise StyleRuleError("token: is required, together with `max` or `min`")
            self.patterns = [_compile(given.token, given, bounded=False)]
        elif given.extends == "consistency":
            if not given.either:
                raise StyleRuleError("either: is required")
            pairs = list(given.either.items())
            self.patterns = [_compile(f"(?:{word})", given) for pair in pairs for word in pair]
        elif given.extends == "repetition":
            words = given.tokens or [r"\pL+"]
            self.patterns = [_compile(f"(?:{'|'.join(words)})", given, words)]
        elif given.extends == "conditional":
            if not given.first or not given.second:
                raise StyleRuleError("`first` and `second` are required")
            self.patterns = [_compile(each, given, bounded=False) for each in (given.first, given.second)]
            if not self.patterns[1].groups:
                raise StyleRuleError("second: must contain a capture group, such as ([A-Z]+)")
        elif not given.match.startswith("$"):
            self.patterns = [_compile(given.match, given, bounded=False)]
        elif given.match not in ("$title", "$sentence", "$lower", "$upper"):
            raise StyleRuleError("match: must be a pattern, $title, $sentence, $lower, or $upper")

    @property
    def severity(self) -> Literal["low", "medium", "high"]:
        return _SEVERITIES[self.given.level]

    @property
    def compares(self) -> bool:
        """Return whether the rule compares parts of a page and therefore needs the whole page."""
        extends = self.given.extends
        return extends in ("consistency", "conditional") or (
            extends == "capitalization" and self.given.match == "$sentence"
        )

    def fits(self, *, heading: bool) -> bool:
        """If ``heading`` is set, return whether the rule applies to headings; otherwise, return whether it applies to
        other text."""
        if self.scopes & {"text", "raw"}:
            return True
        return "heading" in self.scopes if heading else bool(self.scopes - {"heading"})


def load_yaml(source: str) -> dict[str, object]:
    """Parse a rule's YAML, and return its keys and values. Raises StyleRuleError if the text isn't a
    mapping, is too long, or has aliases."""
    import yaml

    if len(source) > 200_000:
        raise StyleRuleError("the rule must be at most 200,000 characters long")
    try:
        # The safe loader builds aliases once, and the length of the text limits what they can build.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(source, Loader=yaml.CSafeLoader)):
            raise StyleRuleError("aliases aren't supported")
        data = yaml.load(source, Loader=yaml.CSafeLoader)  # noqa: S506
    except yaml.YAMLError as error:
        raise StyleRuleError(f"the YAML isn't valid: {getattr(error, 'problem', None) or error}") from None
    except (ValueError, RecursionError) as error:
        raise StyleRuleError(f"the YAML isn't valid: {error}") from None
    if not isinstance(data, dict):
        raise StyleRuleError("a rule must be a mapping with `extends` and `message`")
    return data


def _read(source: str) -> GivenRule:
    data = load_yaml(source)
    try:
        return msgspec.convert(data, GivenRule, strict=False)
    except msgspec.ValidationError as error:
        problem = describe_problem(error, GivenRule, {})
        where = f"{problem.field}: " if problem.field else ""
        raise StyleRuleError(f"{where}{problem.text}") from None


def is_rule(source: str) -> bool:
    """Return whether YAML text is meant to be a rule."""
    return re.search(r"^extends\s*:", source, re.M) is not None


def _list_swaps(swap: Mapping[str, str] | Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    maps = [swap] if isinstance(swap, Mapping) else swap
    swaps = [(old, new) for each in maps for old, new in each.items() if old]
    if len(swaps) > _MOST_WORDS:
        raise StyleRuleError(f"swap: must have at most {_MOST_WORDS} entries")
    return swaps


def _compile(
    pattern: str, given: GivenRule, parts: Sequence[str] = (), *, bounded: bool = True
) -> re.Pattern[str]:
    """Compile a pattern. ``parts``: the patterns that it combines. An error names the invalid part."""
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _PATTERN_MEMORY
    options.case_sensitive = not given.ignore_case
    try:
        bounds = r"\b" if bounded and not given.non_word else ""
        compiled: re.Pattern[str] = re2.compile(f"{bounds}{pattern}{bounds}", options)
    except re2.error as error:
        for part in parts:
            _compile(part, given, bounded=False)
        reason = str(error.args[0], "utf-8", "replace") if isinstance(error.args[0], bytes) else str(error)
        raise StyleRuleError(f"the pattern {shorten(pattern, 60)} isn't supported: {reason}") from None
    if compiled.search("") is not None:
        raise StyleRuleError(f"the pattern {shorten(pattern, 60)} must not match an empty string")
    return compiled


class StyledText(Struct, frozen=True):
    """Paragraph or heading. ``text``: the original text. ``shown``: the text with code replaced by other characters, so
    that no rule matches code."""

    text: str
    shown: str
    heading: bool


class Replacement(NamedTuple):
    """Replacement for a range of text."""

    start: int
    end: int
    new: str


class StyleFault(Struct, frozen=True):
    """Range of text that breaks a rule. ``start`` and ``end``: the range. ``fix``: the correction; None if a person has
    to decide."""

    rule: StyleRule
    text: StyledText
    start: int
    end: int
    message: str
    fix: Replacement | None = None


def check_style(rules: Iterable[StyleRule], texts: Sequence[StyledText]) -> list[Fault]:
    """Return the problems that these rules find on a page."""
    return [_on_page(found) for rule in rules for found in find_style(rule, texts)]


def find_style(rule: StyleRule, texts: Sequence[StyledText]) -> Iterator[StyleFault]:
    """Yield the ranges of text on a page that break a rule, up to a maximum number."""
    fitting = [text for text in texts if rule.fits(heading=text.heading)]
    found = (
        _check_capitalization(rule, fitting, texts)
        if rule.given.extends == "capitalization"
        else _check(rule, fitting)
    )
    return islice(found, min(rule.given.limit or _MOST_MATCHES, _MOST_MATCHES))


def _check(rule: StyleRule, texts: Sequence[StyledText]) -> Iterator[StyleFault]:
    whole = {"consistency": _check_consistency, "conditional": _check_conditional}.get(rule.given.extends)
    if whole is not None:
        yield from whole(rule, texts)
        return
    check = {
        "existence": _check_existence,
        "substitution": _check_substitution,
        "occurrence": _check_occurrence,
        "repetition": _check_repetition,
    }[rule.given.extends]
    for text in texts:
        yield from check(rule, text)


def _fault(
    rule: StyleRule, text: StyledText, start: int, end: int, *words: str, new: str | None = None
) -> StyleFault:
    fix = _remove(text.text, start, end) if new == "" else Replacement(start, end, new) if new else None
    return StyleFault(rule, text, start, end, _message(rule.given.message, words), fix)


def _on_page(found: StyleFault) -> Fault:
    rule, text, start, end = found.rule, found.text.text, found.start, found.end
    # Other pages may link to a heading by its text, so only people change headings.
    fix = text_fix(text, *found.fix) if found.fix is not None and not found.text.heading else None
    return Fault(
        "style",
        rule.name,
        _quote(text, start, end),
        found.message,
        rule=rule.name,
        severity=rule.severity,
        fix=fix,
    )


def _message(message: str, words: Sequence[str]) -> str:
    left = list(words)
    return re.sub(r"%s", lambda _: left.pop(0) if left else "", message)


def _quote(text: str, start: int, end: int) -> str:
    """Return the part of a sentence around a match."""
    left = max(text.rfind(mark, 0, start) for mark in (". ", "! ", "? ", "\n"))
    ends = [at for mark in (". ", "! ", "? ", "\n") if (at := text.find(mark, end)) >= 0]
    return shorten(text[left + 1 : (min(ends) + 1) if ends else len(text)].strip(), QUOTE)


def _check_existence(rule: StyleRule, text: StyledText) -> Iterator[StyleFault]:
    for match in rule.patterns[0].finditer(text.shown):
        new = _replacement(rule.given.action)
        if match[0].casefold() not in rule.exceptions and not _is_mentioned(text.shown, match, new):
            yield _fault(rule, text, match.start(), match.end(), match[0], new=new)


def _replacement(action: RuleAction) -> str | None:
    """Return the replacement for a word to avoid: an empty string to remove the word, or None if the rule doesn't
    specify a replacement."""
    if action.name == "remove":
        return ""
    return action.params[0] if action.name == "replace" and len(action.params) == 1 else None


def _is_mentioned(text: str, match: re.Match[str], new: str | None) -> bool:
    """Return whether a text mentions the matched words instead of using them. This is the case if nothing else is
    between a pair of quotation marks, or if the fix would remove the words and they are the entire text, as in a list
    of words to avoid."""
    is_quoted = (
        text[match.start() - 1 : match.start()] in _OPENING
        and text[match.end() : match.end() + 1] in _CLOSING
    )
    return is_quoted or (new == "" and match[0] == text.strip())


def _check_substitution(rule: StyleRule, text: StyledText) -> Iterator[StyleFault]:
    for compiled, new in zip(rule.patterns, rule.replacements, strict=True):
        for match in compiled.finditer(text.shown):
            old = match[0]
            if old.casefold() in rule.exceptions or old == new or _is_mentioned(text.shown, match, new):
                continue
            # A person has to choose among alternatives, and a replacement can't refer to the pattern's groups.
            choice = None if "|" in new or "$" in new or _doubles(text.shown, match, new) else _like(old, new)
            words = new.replace("|", "’ or ‘"), old
            yield _fault(rule, text, match.start(), match.end(), *words, new=choice)


def _doubles(text: str, match: re.Match[str], new: str) -> bool:
    """Return whether a replacement would repeat the word before or after it. For example, replacing "in order to" with
    "to" in "converting to in order to" would produce "to to"."""
    words = new.casefold().split()
    before, after = text[: match.start()].casefold().split(), text[match.end() :].casefold().split()
    return bool(words) and (words[0] in before[-1:] or words[-1] in after[:1])


def _like(old: str, new: str) -> str:
    """Return a replacement with the same capitalization as the replaced text."""
    return new[:1].upper() + new[1:] if old[:1].isupper() and not old.isupper() else new


def _remove(text: str, start: int, end: int) -> Replacement:
    """Return the edit that removes a word along with the space and commas around it. If the removed word
    started the sentence, the next word is capitalized.

    >>> _remove("Obviously, you can.", 0, 9)
    Replacement(start=0, end=12, new='Y')
    >>> _remove("It is, of course, fine.", 7, 16)
    Replacement(start=5, end=17, new='')
    """
    before, after = text[:start], text[end:]
    if text[start].isupper() and (found := re.match(r",? (\S)", after)) is not None:
        return Replacement(start, end + found.end(), found[1].upper())
    if before.endswith(", ") and re.match(r"[,.;:!?)]|$", after):
        return Replacement(start - 2, end + after.startswith(","), "")
    if before.endswith(" ") and re.match(r"[,.;:!?)]|$", after):
        return Replacement(start - 1, end, "")
    return Replacement(start, end + after.startswith(" "), "")


def _check_occurrence(rule: StyleRule, text: StyledText) -> Iterator[StyleFault]:
    parts = sentences(text.shown) if "sentence" in rule.scopes else [text.shown]
    for part in parts:
        count = sum(1 for _ in rule.patterns[0].finditer(part))
        given = rule.given
        if given.max is not None and count > given.max or given.min is not None and count < given.min:
            start = max(text.shown.find(part), 0)
            yield _fault(rule, text, start, start + len(part), str(count))


def _check_repetition(rule: StyleRule, text: StyledText) -> Iterator[StyleFault]:
    before, count = None, 0
    for match in rule.patterns[0].finditer(text.shown):
        word = match[0].casefold()
        allowed = word in rule.exceptions or (rule.given.alpha and not word.isalpha())
        if before is None or before[0].casefold() != word:
            count = 0
        elif not allowed:
            between = text.shown[before.end() : match.start()]
            if between.isspace() and not _is_meant(text.shown, before, match):
                count += 1
                if count > (rule.given.max or 0):
                    count = 0
                    yield _fault(rule, text, before.start(), match.end(), match[0], new=before[0])
        before = match


def _is_meant(text: str, first: re.Match[str], second: re.Match[str]) -> bool:
    """Return whether a word is repeated on purpose: after a compound, as in "sign-in in"; before a colon, as in "type
    type: String"; or as a type and its value, as in "(Type type)"."""
    start, end = first.start(), second.end()
    if (
        text[max(start - 1, 0) : start] in _JOINTS
        or text[end : end + 1] in _JOINTS
        or text[end : end + 1] == ":"
    ):
        return True
    typed = first[0][0].isupper() and second[0][0].islower()
    return typed and re.search(r"(?:^|[.!?:]\s+)[\"'“‘„«(]*$", text[:start]) is None


def _check_consistency(rule: StyleRule, texts: Sequence[StyledText]) -> Iterator[StyleFault]:
    for number in range(0, len(rule.patterns), 2):
        seen: tuple[int, str] | None = None
        for text in texts:
            for side in (0, 1):
                match = rule.patterns[number + side].search(text.shown)
                if match is None:
                    continue
                if seen is None:
                    seen = (side, match[0])
                elif seen[0] != side:
                    yield _fault(rule, text, match.start(), match.end(), match[0], seen[1])
                    return


def _check_conditional(rule: StyleRule, texts: Sequence[StyledText]) -> Iterator[StyleFault]:
    """Yield a problem for each word, such as an abbreviation, that a page uses without first giving the text that the
    word requires, such as a definition."""
    first, second = rule.patterns
    known: set[str] = set()
    for text in texts:
        for match in second.finditer(text.shown):
            known.update(group for group in match.groups() if group)
        for match in first.finditer(text.shown):
            word = match[0]
            if word not in known and word.casefold() not in rule.exceptions:
                known.add(word)
                yield _fault(rule, text, match.start(), match.end(), word)


def _check_capitalization(
    rule: StyleRule, texts: Sequence[StyledText], page: Sequence[StyledText]
) -> Iterator[StyleFault]:
    """Yield a problem for each paragraph or heading with the wrong capitalization. ``page``: all paragraphs and
    headings of the page, which are used to recognize names."""
    names: frozenset[str] | None = None
    for text in texts:
        shown = text.shown.strip()
        if not shown or _is_capitalized(rule, shown):
            continue
        if rule.given.match == "$sentence":
            names = _list_names(page) if names is None else names
            if _is_capitalized(rule, shown, names):
                continue
        start = text.shown.find(shown)
        end = start + len(shown)
        yield _fault(rule, text, start, end, text.text[start:end])


def _list_names(texts: Sequence[StyledText]) -> frozenset[str]:
    """Return the words that are capitalized within sentences and never occur in lowercase."""
    names: set[str] = set()
    others: set[str] = set()
    for text in texts:
        if text.heading:
            continue
        for sentence in sentences(text.shown):
            words = [match[0] for match in _WORD.finditer(sentence)]
            names.update(word for word in words[1:] if word[0].isupper())
            others.update(word for word in words if word[0].islower())
    return frozenset(name for name in names if name.lower() not in others)


def _is_capitalized(rule: StyleRule, shown: str, names: frozenset[str] = frozenset()) -> bool:
    for name in rule.names:
        shown = shown.replace(name, " ")
    prose = " ".join(part for part in shown.split() if not _IN_CODE.search(part))
    words = [match[0] for match in _WORD.finditer(prose)]
    words = [word for word in words if word.casefold() not in rule.exceptions]
    match rule.given.match:
        case "$lower":
            return shown == shown.lower()
        case "$upper":
            return shown == shown.upper()
        case "$title":
            return all(
                word[0].isupper() or (at > 0 and word.lower() in _SMALL) or not word[0].isascii()
                for at, word in enumerate(words)
            )
        case "$sentence":
            # Names keep their capitals, so a heading is only wrong if most of its words have one.
            rest = [word for word in words[1:] if len(word) > 3 and not word.isupper() and word not in names]
            capitals = sum(word[0].isupper() and word[1:] == word[1:].lower() for word in rest)
            return len(rest) < 2 or capitals * 2 <= len(rest)
    return rule.patterns[0].search(shown) is not None
