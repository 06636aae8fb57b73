"""Lines of a source, split so that each block tag starts on a separate line."""

from __future__ import annotations

import re
from array import array

from msgspec import Struct

from .markdown import TAG

_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_FENCE = re.compile(r"[ \t>]*(?:[*+-][ \t]+|\d+[.)][ \t]+)*(`{3,}|~{3,})")
_TAG_AND_MORE = re.compile(r"^[ \t]*\{%[^\n]*%\}[ \t]*[^\s]", re.MULTILINE)
_DETAILS = re.compile(r"([ \t]*)(<details(?:\s[^<>]*)?>)[ \t]*(?=\S)", re.IGNORECASE)
_END_TAG = re.compile(r"\{%-?[ \t]*end(@?[A-Za-z][\w/.:-]*?)[ \t]*-?%\}")
_SUMMARY_END = re.compile(r"</summary>[ \t]*(?=\S)", re.IGNORECASE)
_DETAILS_END = re.compile(r"(?<=\S)[ \t]*</details>[ \t]*$", re.IGNORECASE)


class Lines(Struct):
    """Normalized Markdown and the position of each of its lines in the source (excluding line ends)."""

    text: str
    begins: array[int]
    ends: array[int]


def lines_of(source: str) -> Lines:
    """Return the lines for the parser: CR and CRLF become LF, NUL becomes U+FFFD, a byte order mark is
    dropped, and a tag is moved to a separate line if its line contains other text."""
    at = 1 if source.startswith("\ufeff") else 0
    texts: list[str] = []
    begins, ends = array("Q"), array("Q")
    if "\r" in source:
        for match in _LINE.finditer(source, at):
            texts.append(match[1])
            begins.append(match.start())
            ends.append(match.end(1))
            if match.end() >= len(source):
                break
    else:
        for line in source[at:].split("\n"):
            texts.append(line)
            begins.append(at)
            at += len(line)
            ends.append(at)
            at += 1
    if "details>" in source or "<summary" in source or ("{%" in source and _TAG_AND_MORE.search(source)):
        texts, begins, ends = _split_lines(texts, begins, ends)
    return Lines("\n".join(texts).replace("\0", "\ufffd"), begins, ends)


def _split_lines(
    texts: list[str], begins: array[int], ends: array[int]
) -> tuple[list[str], array[int], array[int]]:
    out: tuple[list[str], array[int], array[int]] = ([], array("Q"), array("Q"))
    fence = ""
    for text, begin, end in zip(texts, begins, ends, strict=True):
        found = _FENCE.match(text)
        if found:
            if not fence:
                fence = found[1]
            elif found[1][0] == fence[0] and len(found[1]) >= len(fence) and not text[found.end() :].strip():
                fence = ""
        cuts = [] if fence or found else _cuts(text)
        indent = text[: len(text) - len(text.lstrip(" \t"))]
        at = 0
        for cut in [*cuts, len(text)]:
            out[0].append(indent + text[at:cut] if at else text[at:cut])
            out[1].append(begin + at)
            out[2].append(begin + cut if cut < len(text) else end)
            at = cut
    return out


def _cuts(text: str) -> list[int]:
    """Return the positions at which to split a line so that each tag at its start, and its end tag, are on
    their own lines."""
    cuts: list[int] = []
    start = len(text) - len(text.lstrip(" \t"))
    if text.startswith("{%", start):
        at, names = start, []
        while len(cuts) < 64:
            match = TAG.match(text, at)
            if match is None:
                break
            at = _past_space(text, match.end())
            if at >= len(text):
                break
            cuts.append(at)
            if not match["name"].startswith("end"):
                names.append(match["name"])
            if not text.startswith("{%", at):
                at = _end_of_any(text, names, at)
                if at < 0:
                    if len(names) == len(cuts):
                        return []
                    break
                cuts.append(at)
        return cuts
    if "<" in text:
        if match := _DETAILS.match(text):
            cuts.append(match.end())
        if match := _SUMMARY_END.search(text):
            cuts.append(match.end())
        if (cuts or text.startswith("<", start)) and (match := _DETAILS_END.search(text)):
            cuts.append(text.lower().rindex("</details>"))
    return sorted(set(cuts))


def _past_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t":
        at += 1
    return at


def _end_of_any(text: str, names: list[str], at: int) -> int:
    """Return the position of the first end tag with one of these names; -1 if there is none."""
    return next((match.start() for match in _END_TAG.finditer(text, at) if match[1] in names), -1)
