"""Convert inline Markdown: the text within lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from msgspec import Struct

from octavo.core.json_types import JsonObject

from ..layout import Dialect, Place
from .lines import MAX_LINES, MISSING_PART, Line, anchor, attributes_of, key_name, pointed, words
from .literals import UNKNOWN, read_literal

MAX_WORDS = 50_000
"""Maximum number of characters in a paragraph or a line that is searched for links and components."""
MAX_SEARCHED_LINES = 2_000_000
"""Maximum total number of lines on a page that are searched for missing closing markers."""
_LABELLED = re.compile(r"[ \t]+\([\w:.-]+\)(?=[ \t]*(?:\n|\Z))")
_PICTURE = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp)$", re.IGNORECASE)
_PIECES = re.compile(
    r"""(?P<spanning><!--|\$\$|\{/\*|\{\{[<%]|\\[(\[])
    |(?P<escape>\\[!-/:-@\[-`{-~])
    |(?P<role>\{(?P<role_name>[\w:.+-]+)\}(?P<role_ticks>`+)(?P<role_text>[^`].*?)(?P=role_ticks)(?!`))
    |(?P<code>(?<!`)(?P<ticks>`+)(?!`).*?(?<!`)(?P=ticks)(?!`))
    |(?P<embed>!\[\[(?P<embedded>[^\[\]\n]+)\]\])
    |(?P<wiki>\[\[(?P<named>[^\[\]\n]+)\]\](?:\((?P<wiki_href>[^()\s]*)\))?)
    |(?P<image>!\[(?P<alt>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\(\s*(?P<source><[^<>\n]*>|(?:[^\s()]|\([^\s()]*\))*)(?P<image_title>\s+(?:"[^"]*"|'[^']*'|\([^()]*\)|=\S*))?\s*\)(?P<image_attributes>\{:?[^{}\n]*\})?)
    |(?P<to>\]\(\s*(?P<href><[^<>\n]*>|(?:\{\{[^{}\n]*\}\}|\{%[^%{}\n]*%\}|[^\s()]|\([^\s()]*\))*)(?P<link_title>\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)(?P<link_attributes>\{:?[^{}\n]*\})?)
    |(?P<filled>(?<!<)<<(?P<filled_name>[\w:.][\w:. -]{0,99})>>)
    |(?P<auto><(?:https?|mailto|ftp|project):[^<>\s]*>)
    |(?P<component></?[A-Z][\w.]*(?=[\s/>]))
    |(?P<tag></?[a-z][\w-]*(?=[\s/>])(?:[^<>"'{]|"[^"]*"|'[^']*'|\{[^{}]*\}|\{\{[^{}]*\}\})*>)
    |(?P<liquid>\{\{-?\s*(?P<value>[^{}]*?)\s*-?\}\}|\{%-?\s*(?P<liquid_tag>[^%]*?)\s*-?%\})
    |(?P<braces>(?<!\\)\{[ \t]*(?P<braced>'[^'\n]*'|"[^"\n]*"|`[^`]*`|[A-Za-z_$][\w$.]*)[ \t]*\})
    |(?P<keys>\+\+(?P<pressed>[\w"'-]+(?:\+[\w"'-]+)*)\+\+)
    |(?P<mark>==(?P<marked>[^=\s](?:[^=\n]*[^=\s])?)==(?!=))
    |(?P<inserted>(?<!\^)\^\^(?=[^\s^])(?P<inserted_words>[^\n^]{1,500})(?<=\S)\^\^(?!\^))
    |(?P<small>(?<![~\\^])(?P<small_sign>[~^])(?![~^])(?P<small_words>[^\s~^\[\]]{1,100})(?P=small_sign)(?![~^]))
    |(?P<icon>:(?P<icon_name>(?:material|fontawesome|octicons|simple)-[\w-]+):[ ]?(?P<icon_attributes>\{[^{}\n]*\})?)
    |(?P<formula>(?<![\\$\w])\$(?![\s$\d][^$\n]*\$\d)(?P<inside>[^\s$](?:[^$\n]*[^\s\\$])?)\$(?![\w$]))
    |(?P<attributes>(?<=[*_`\])>])\{:?[ \t]*(?:[.#][\w-]+|[\w-]+=)[^{}\n]*\})
    """,
    re.VERBOSE | re.DOTALL,
)
_SIGNS = re.compile(r"[\[\]<{`+=:$\\~^]")
_SPANS = {
    "<!--": ("-->",),
    "$$": ("$$",),
    "\\(": ("\\)",),
    "\\[": ("\\]",),
    "{/*": ("*/}",),
    "{{<": (">}}", "%}}"),
    "{{%": (">}}", "%}}"),
}
"""Syntax that extends from an opening marker to the nearest closing marker, across any number of words and lines."""


AnyWriter = TypeVar("AnyWriter", bound="InlineWriter")
"""Writer that is passed to the handlers in a ``Vocabulary``."""


class Vocabulary(Struct, Generic[AnyWriter], frozen=True):
    """Handlers for names that aren't part of Markdown: components, directives and roles, shortcodes, and Liquid
    tags. Each handler returns lines or text, or None for an unknown name."""

    component: Callable[[AnyWriter, str, dict[str, Any], list[Line], int], list[Line] | None]
    component_inline: Callable[[AnyWriter, str, re.Match[str], int], tuple[str, int]]
    directive: Callable[[AnyWriter, str, str, list[Line], int], list[Line] | None]
    role: Callable[[AnyWriter, str, str, int], str]
    shortcode: Callable[[AnyWriter, list[Line], int], tuple[int, list[Line]]]
    shortcode_inline: Callable[[AnyWriter, str, int, int, int], tuple[str, int]]
    shortcodes_in_code: Callable[[AnyWriter, str, int], str]
    liquid: Callable[[AnyWriter, list[Line], int], tuple[int, list[Line]]]
    liquid_inline: Callable[[AnyWriter, re.Match[str], int], str]
    magic: Callable[[AnyWriter, list[Line], int], tuple[int, list[Line]] | None]
    magic_sign: Callable[[str], tuple[str, str] | None]
    magic_fences: Callable[[AnyWriter, list[Line], int], tuple[int, list[Line]] | None]


class SearchBudget(Struct):
    """Number of lines on a page that were searched without finding a closing marker, with a maximum."""

    lines: int = 0

    def take(self, lines: int) -> bool:
        """Count lines. Return False if the maximum is exceeded."""
        self.lines += lines
        return self.lines <= MAX_SEARCHED_LINES


class InlineWriter:
    """Converter for text within lines, with the state of a page. ``including``: the files being read, starting with
    the page."""

    def __init__(
        self, place: Place, dialect: Dialect, vocabulary: Vocabulary[Any], including: tuple[str, ...] = ()
    ) -> None:
        self.place = place
        self.dialect = dialect
        self.vocabulary = vocabulary
        self.including = including or (place.path,)
        self.jsx = place.path.lower().endswith(dialect.jsx) if dialect.jsx else False
        self.imports: dict[str, str] = {}
        self.constants: JsonObject = {}
        self.taken = 0
        self.left = MAX_LINES
        self.depth = 0
        self.reported: set[str] = set()
        self.assigned: dict[str, str] = {}
        self.unclosed: list[str] = []
        self.looked = SearchBudget()

    def report(self, line: int, code: str, message: str, key: str | None = None) -> None:
        """Report a problem. If there is a ``key``, a problem with the same key is reported only once."""
        if key is None or (code + key) not in self.reported:
            self.reported.add(code + (key or ""))
            self.place.problem(line, code, message)

    def report_missing_part(self, line: int, path: str, part: str) -> None:
        """Report that an included file doesn't contain the requested part, unless ``part`` is empty."""
        if part:
            self.report(line, "missing_part", MISSING_PART.format(path=path[:200], part=part[:200]))

    def evaluated(self, attributes: dict[str, str]) -> JsonObject:
        """Return the attributes of an element, with expressions evaluated. The value is `UNKNOWN` if it could be
        determined only by running the expression."""
        made: JsonObject = {}
        for name, written in attributes.items():
            made[name.lstrip(":@") if self.dialect.vue else name] = (
                self.expression(written[1:-1]) if written.startswith("{") else written.removeprefix("\0")
            )
        return made

    def expression(self, written: str) -> Any:
        written = written.strip()
        if written in self.constants:
            return self.constants[written]
        if written in self.imports:
            return self.imports[written]
        if found := re.fullmatch(
            r"(?:require|useBaseUrl|withBase)\(\s*['\"]([^'\"\n]+)['\"]\s*\)(?:\.default)?", written
        ):
            return found[1]
        if found := re.fullmatch(r"([\w$]+)\.([\w$.]+)", written):
            value = self.constants.get(found[1], UNKNOWN)
            if found[1] in self.imports and found[2] in ("src", "default", "default.src"):
                return self.imports[found[1]]
            for part in found[2].split("."):
                value = value.get(part, UNKNOWN) if isinstance(value, dict) else UNKNOWN
            return value
        return read_literal(written)

    def inline(self, text: str, number: int) -> str:
        """Convert links, images, and components in text. ``number``: the line number of the text's first line."""
        if not text or _SIGNS.search(text) is None:
            return text
        if len(text) > MAX_WORDS:
            message = f"this paragraph has more than {MAX_WORDS:,} characters; it was kept as written"
            self.report(number, "too_long", message)
            return text
        made: list[str] = []
        endless: set[str] = set()
        at = 0
        line_at, line = 0, number
        while found := _PIECES.search(text, at):
            if found.end() == found.start():
                break
            line += text.count("\n", line_at, found.start())
            line_at = found.start()
            made.append(text[at : found.start()])
            at = found.end()
            kind = (
                found.lastgroup
                if found.lastgroup in _HANDLERS
                else next(name for name in _KINDS if found[name] is not None)
            )
            if kind == "spanning":
                written, at = self._spanning(text, found, endless, line)
            elif kind == "component":
                written, at = self.vocabulary.component_inline(self, text, found, line)
            else:
                written = _HANDLERS[kind](self, found, line)
            made.append(written)
        made.append(text[at:])
        return "".join(made)

    def _code(self, found: re.Match[str], line: int) -> str:
        if self.dialect.shortcodes:
            return self.vocabulary.shortcodes_in_code(self, found[0], line)
        # MDX syntax for the language of inline code.
        return re.sub(r"\{:\.?[\w.-]+\}(?=`+$)", "", found[0]) if self.jsx else found[0]

    def _auto(self, found: re.Match[str], line: int) -> str:
        """Return an autolink. In MyST, it can refer to a location in the project."""
        if not self.dialect.roles or not found[0].startswith("<project:"):
            return found[0]
        href = found[0][len("<project:") : -1]
        place, title = self.place.wiki(f"\0any\0{href.removeprefix('#')}", line, may_be_missing=True)
        if place and not place.startswith("\0"):
            return f"[{title}]({pointed(place)})"
        return f"[{href.removeprefix('#')}]({pointed(self.place.link(href, line))})"

    def _role(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.roles:
            return found[0]
        return self.vocabulary.role(self, found["role_name"], found["role_text"], line)

    def _spanning(self, text: str, found: re.Match[str], endless: set[str], line: int) -> tuple[str, int]:
        """Return the replacement for a comment, formula, or shortcode, and the position where the text continues.
        ``endless`` collects opening markers that have no closing marker in the rest of the text."""
        sign, start = found[0], found.end() + (found[0] == "$$")
        if sign[0] == "\\" and not (self.dialect.dollars and self.dialect.indented):
            return sign, start  # An escaped literal character.
        ends = [
            (end, len(close))
            for close in (_SPANS[sign] if sign not in endless else ())
            if (end := text.find(close, start)) >= 0
        ]
        if not ends:
            endless.add(sign)
            return sign, found.end()
        end = sum(min(ends))
        written = text[found.start() : end]
        if sign == "$$" and self.dialect.roles and (label := _LABELLED.match(text, end)):
            end = label.end()
        if sign == "{/*" and self.jsx:
            written = ""
        elif sign.startswith("{{") and self.dialect.shortcodes:
            return self.vocabulary.shortcode_inline(self, text, found.start(), end, line)
        elif sign == "\\(":
            written = f"$${written[2:-2].strip()}$$"
        elif sign == "\\[":
            written = f"$${written[2:-2]}$$"
        return written, end

    def _embed(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.wiki:
            return found[0]
        name, _, more = found["embedded"].replace("\\|", "|").partition("|")
        href, _ = self.place.wiki(name, line)
        if _PICTURE.search(name.partition("#")[0].strip()):
            width = re.match(r"(\d+)", more)
            alt = "" if width else more
            tail = f' width="{width[1]}"' if width else ""
            return f'<img src="{href}" alt="{alt}"{tail}>' if width else f"![{alt}]({pointed(href)})"
        return f"[{more or name}]({pointed(href)})"

    def _wiki(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.wiki or found["wiki_href"] is not None:
            return found[0]
        named = found["named"].replace("\\|", "|")
        name, bar, said = named.partition("|")
        if not self.dialect.vault and _PICTURE.search(name.strip()):
            given = attributes_of(said.replace("|", " "))
            width = str(given.get("width", "")).removesuffix("px")
            source = self.place.link(name.strip(), line, shown=True)
            alt = words(str(given.get("alt", "")))
            tail = f' width="{width}"' if width.isdecimal() else ""
            return f'<img src="{source}" alt="{alt}"{tail}>' if tail else f"![{alt}]({pointed(source)})"
        href, title = self.place.wiki(name.strip(), line, may_be_missing=bool(bar))
        if bar and href.startswith("\0"):
            href, title = self.place.wiki(said.strip(), line)
            said = name
        return f"[{(said or title).strip()}]({pointed(href.lstrip(chr(0)))})"

    def _image(self, found: re.Match[str], line: int) -> str:
        href = self.place.link(found["source"].strip("<>"), line, shown=True)
        given = attributes_of((found["image_attributes"] or "").strip("{}: ").replace(".", " ."))
        width = str(given.get("width", "")).removesuffix("px")
        title = found["image_title"] or ""
        if sized := re.fullmatch(r"\s+[\"'][\w-]*\s*=(\d+)x\d*[\"']", title):
            width, title = sized[1], ""
        if title.strip().startswith("="):
            width, title = title.strip()[1:].partition("x")[0] or width, ""
        alt = self.inline(found["alt"], line) if "[" in found["alt"] else found["alt"]
        if re.fullmatch(r"\d+%?", width):
            return f'<img src="{href}" alt="{words(alt)}" width="{width}">'
        return f"![{alt}]({pointed(href)}{title})"

    def _target(self, written: str, line: int) -> tuple[str, bool]:
        """Return the target of a link, and whether a template created it from a reference to a page in the source.
        In that case, the target is already resolved."""
        href = written[1:-1] if written.startswith("<") and written.endswith(">") else written
        if not (self.dialect.liquid or self.dialect.shortcodes) or "{" not in href:
            return href, False
        done = re.search(r"\{%-?\s*(?:link|post_url)\b|\{\{[<%]\s*(?:rel)?ref\b", href) is not None
        return self.inline(href, line), done

    def _link_target(self, found: re.Match[str], line: int) -> str:
        href, done = self._target(found["href"], line)
        if done:
            return f"]({pointed(href)}{found['link_title'] or ''})"
        href = href.removeprefix("project:") if self.dialect.roles else href
        if self.dialect.roles and found.start() and found.string[found.start() - 1] == "[":
            # A link without text gets the title of its target.
            place, title = self.place.wiki(f"\0any\0{href.removeprefix('#')}", line, may_be_missing=True)
            if place and not place.startswith("\0"):
                return f"{title}]({pointed(place)})"
        kept = ""
        if (given := found["link_attributes"]) and not re.match(r"\{:?[ \t]*(?:[.#:]|[\w-]+=|target)", given):
            kept = given
        return f"]({pointed(self.place.link(href, line))}{found['link_title'] or ''}){kept}"

    def _filled(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.magic:
            return found[0]
        name = found["filled_name"].strip()
        if name.startswith("glossary:"):
            return name.removeprefix("glossary:")
        value = self.place.value(name)
        if value is None:
            self.report(
                line,
                "variable",
                f"{found[0]} is computed when the page is viewed, so it wasn't imported",
                name,
            )
            return f"\\<\\<{name}>>"
        return value

    def _tag(self, found: re.Match[str], line: int) -> str:
        written = found[0]
        name = re.match(r"</?([a-z][\w-]*)", written)
        if name and name[1] in ("script", "style") and (self.jsx or self.dialect.vue):
            return ""
        if "=" not in written:
            return written

        def attribute(match: re.Match[str]) -> str:
            key, value = match["key"], match["value"]
            if value.startswith("{"):
                given = self.expression(value[1:-1])
                if key in ("style", "ref", "key") or not isinstance(given, (str, int, float)):
                    if key in ("src", "href"):
                        self.report(
                            line,
                            "expression_left_out",
                            f"{key}={value} is computed when the page is viewed, so it wasn't imported",
                        )
                    return ""
                value = f'"{given}"'
            quote, inside = value[0], value[1:-1]
            if quote not in "\"'":
                quote, inside = '"', value
            key = {
                "className": "class",
                "srcSet": "srcset",
                "htmlFor": "for",
                "frameBorder": "frameborder",
                "allowFullScreen": "allowfullscreen",
            }.get(key, key)
            if key.lower() in ("href", "src", "poster", "data-src"):
                inside = self.inline(inside, line) if "{" in inside else inside
                inside = self.place.link(inside, line, shown=key.lower() != "href")
            elif key == "srcset" and "," not in inside and " " not in inside.strip():
                inside = self.place.link(inside, line, shown=True)
            return f" {key}={quote}{inside}{quote}"

        made = re.sub(
            r"\s(?P<key>[A-Za-z_:@][\w:.-]*)\s*=\s*(?P<value>\"[^\"]*\"|'[^']*'|\{\{[^{}]*\}\}|\{[^{}]*\}|[^\s\"'<>`=]+)",
            attribute,
            written,
        )
        if name and name[1] == "li" and (id := attributes_of(made[3:-1]).get("id")):
            # A list item has no id, so its text starts with an anchor.
            made += anchor(id)
        return made

    def _liquid(self, found: re.Match[str], line: int) -> str:
        if self.dialect.liquid:
            return self.vocabulary.liquid_inline(self, found, line)
        if self.dialect.indented and found["value"] is not None:
            value = self.place.value(found["value"])
            if value is not None:
                return value
            self.report(
                line,
                "variable",
                f"{found[0][:80]} is computed when the site is built, so it wasn't imported",
                found["value"][:60],
            )
        elif self.jsx and found["value"] is not None:
            if (value := self.place.value(found["value"])) is not None:
                return value
        elif self.dialect.roles and found["value"] is not None:
            return self.place.value(found["value"]) or found[0]
        elif self.dialect.vue and found["value"] is not None:
            if (value := self.place.value(found["value"])) is not None:
                return value
            self.report(
                line,
                "expression_left_out",
                f"{found[0][:80]} is computed when the site is built, so it wasn't imported",
                found["value"][:60],
            )
        return found[0]

    def _braces(self, found: re.Match[str], line: int) -> str:
        if not self.jsx:
            return found[0]
        value = self.expression(found["braced"])
        if isinstance(value, (str, int, float)) and not isinstance(value, bool):
            return str(value)
        self.report(
            line,
            "expression_left_out",
            f"{found[0][:80]} is computed when the site is built, so it wasn't imported",
            found[0][:60],
        )
        return found[0]

    def _small(self, found: re.Match[str], line: int) -> str:
        is_low = found["small_sign"] == "~"
        if not (self.dialect.lowered if is_low else self.dialect.raised):
            return found[0]
        name = "sub" if is_low else "sup"
        return f"<{name}>{self.inline(found['small_words'], line)}</{name}>"

    def _inserted(self, found: re.Match[str], line: int) -> str:
        return self.inline(found["inserted_words"], line) if self.dialect.raised else found[0]

    def _keys(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.indented:
            return found[0]
        return " + ".join(f"<kbd>{key_name(key)}</kbd>" for key in found["pressed"].split("+"))

    def _mark(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.marks:
            return found[0]
        return f'<mark style="background-color:yellow;">{self.inline(found["marked"], line)}</mark>'

    def _icon(self, found: re.Match[str], line: int) -> str:
        if not self.dialect.icons:
            return found[0]
        name = re.match(r"fontawesome-(?:solid|regular|brands)-([\w-]+)", found["icon_name"])
        return f'<i class="fa-{name[1]}">:{name[1]}:</i> ' if name else ""

    def _formula(self, found: re.Match[str], line: int) -> str:
        return f"$${found['inside']}$$" if self.dialect.dollars else found[0]

    def _attribute_list(self, found: re.Match[str], line: int) -> str:
        return "" if self.dialect.attributes else found[0]


_HANDLERS: dict[str, Callable[[InlineWriter, re.Match[str], int], str]] = {
    "escape": InlineWriter._code,
    "code": InlineWriter._code,
    "auto": InlineWriter._auto,
    "filled": InlineWriter._filled,
    "role": InlineWriter._role,
    "embed": InlineWriter._embed,
    "wiki": InlineWriter._wiki,
    "image": InlineWriter._image,
    "to": InlineWriter._link_target,
    "tag": InlineWriter._tag,
    "liquid": InlineWriter._liquid,
    "braces": InlineWriter._braces,
    "keys": InlineWriter._keys,
    "mark": InlineWriter._mark,
    "small": InlineWriter._small,
    "inserted": InlineWriter._inserted,
    "icon": InlineWriter._icon,
    "formula": InlineWriter._formula,
    "attributes": InlineWriter._attribute_list,
}
_KINDS = (*_HANDLERS, "component", "spanning")
