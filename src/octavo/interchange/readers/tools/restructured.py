"""Convert reStructuredText pages to HTML. docutils parses the pages, including the Sphinx directives and roles that
don't require the documented code. No code on a page is executed, and files are opened only through the page's
``Place``."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from urllib.parse import quote

from docutils import nodes
from docutils.core import publish_doctree, publish_from_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.transforms.frontmatter import DocTitle
from lxml import etree
from msgspec import Struct, field

from ..layout import Place
from ..markdown.directives import part_of
from ..markdown.lines import MISSING_PART
from ..names import Names, code_name, outside_link

MAX_TEXT = 1_000_000
"""Maximum number of characters in a page."""
MAX_LINE = 20_000
MAX_WORK = 100_000_000
"""Maximum number of characters to search in total for the ends of inline markup. For each start of inline markup,
docutils searches to the end of the paragraph."""
MAX_INCLUDES = 12
MAX_LINES = 50_000
"""Maximum number of lines on a page, including all files that it includes."""

_DIRECTIVE = re.compile(
    r"^[ \t]*(?:(?:[-*+]|(?:\d{1,9}|#)[.)])[ \t]+){0,9}(?:\.\.|\.\. \|[^|\n]*\|)[ \t]+([A-Za-z][\w:+.-]*)::",
    re.MULTILINE,
)
_ROLE = re.compile(r":([A-Za-z][\w:+.-]*):`")
_NAMED = re.compile(r"(?P<title>.*?)\s*<(?P<target>[^<>]+)>\s*\Z", re.DOTALL)
_SAID = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_SILENT = frozenset(
    """index toctree contents sectionauthor codeauthor currentmodule module py:module py:currentmodule tabularcolumns
    rst-class cssclass meta default-domain autosectionlabel""".split()
)
"""Directives without content for readers, or whose content is already in the page tree."""
_MADE_OF_CODE = re.compile(
    r"auto\w+|automethod|plot|argparse|click|program-output|jupyter-execute|ipython|graphviz"
)
_SHOWN_CODE = re.compile(r"\w+:(?:example|run)|testcode|testoutput|ipython|jupyter-execute|prompt|terminal")
"""Pattern for directives whose content is executed when the site is built, so that the site can show the output."""
_OBJECT = re.compile(
    r"(?:(?:py|c|cpp|js|rst|std):)?(?:function|class|method|classmethod|staticmethod|attribute|property|data|exception"
    r"|decorator|decoratormethod|option|cmdoption|envvar|confval|macro|type|struct|enum|enumerator|member|var|describe"
    r"|object|directive|role|setting|program)\Z"
)
_LITERAL = re.compile(
    r"(?:(?:py|c|cpp|js|rst|std):)?(?:func|class|meth|mod|attr|obj|exc|data|const|keyword|option|envvar|file|kbd|command|program"
    r"|samp|makevar|mimetype|regexp|token|confval|type|macro|member|var|enum|struct|dir|setting)\Z"
)
_EMPHASIZED = frozenset(
    ["term", "dfn", "abbr", "guilabel", "menuselection", "mailheader", "manpage", "newsgroup"]
)


class _Reading(Struct):
    """State of the conversion of a page to blocks."""

    place: Place
    names: Names
    chains: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """For each included file, the chain of files that lead to its inclusion."""
    left: int = MAX_LINES
    reported: set[tuple[str, str]] = field(default_factory=set)

    def report(self, line: int, code: str, message: str, key: str) -> None:
        if (code, key) not in self.reported:
            self.reported.add((code, key))
            self.place.problem(line, code, message)


_lock = threading.Lock()
"""Lock for docutils' table of directives and roles. The entire process shares this table, and pages can extend it."""
_now: ContextVar[_Reading] = ContextVar("page")


@contextmanager
def _extended_tables(text: str) -> Iterator[None]:
    """Add all directives and roles that a source uses to docutils' tables, and restore the tables afterward."""
    before = dict(directives._directives), dict(roles._roles)
    try:
        for name in set(_DIRECTIVE.findall(text)):
            _know_directive(name.lower())
        for name in set(_ROLE.findall(text)):
            _know_role(name.lower())
        yield
    finally:
        for table, was in zip((directives._directives, roles._roles), before, strict=True):
            table.clear()
            table.update(was)


_OWN = frozenset(
    """code-block sourcecode code highlight literalinclude include seealso todo only ifconfig tabs tab-set tab
    tab-item dropdown details collapse rubric centered glossary math image figure""".split()
)


def _know_directive(name: str) -> None:
    if name in ("image", "figure", "math"):
        return
    if name in _OWN or name in _SAID or name in _SILENT or name not in _BUILT_IN:
        directives.register_directive(name, _Any)


def _know_role(name: str) -> None:
    if name not in _BUILT_IN_ROLES:
        roles.register_local_role(name, _role)


_BUILT_IN = frozenset(
    """attention caution danger error hint important note tip warning admonition topic sidebar line-block parsed-literal
    epigraph highlights pull-quote compound container table csv-table list-table header footer sectnum replace unicode
    date class role default-role title raw target-notes""".split()
) - {"code"}
_BUILT_IN_ROLES = frozenset(
    """emphasis literal strong subscript sub superscript sup title-reference title t math raw code
    pep-reference pep rfc-reference rfc""".split()
)


class _Any(Directive):  # type: ignore[misc]
    """Directive that docutils doesn't support, or that Sphinx defines differently."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True

    class _Options(dict[str, Any]):
        def __missing__(self, key: str) -> Callable[[Any], Any]:
            return lambda value: value

        def __bool__(self) -> bool:
            return True

        def __contains__(self, key: object) -> bool:
            return True

    option_spec = _Options()

    def run(self) -> list[nodes.Node]:
        name, reading = self.name.lower(), _now.get()
        argument = " ".join(" ".join(self.arguments).split())
        if name in ("code-block", "sourcecode", "code"):
            return [_code("\n".join(self.content), argument, str(self.options.get("caption") or ""))]
        if name == "highlight":
            return [nodes.comment("", "", language=argument or "none")]
        if name == "literalinclude":
            return self._listing(reading, argument)
        if name == "include":
            return self._include(reading, argument)
        if name in _SILENT:
            return []
        if name in _SAID:
            version, _, more = argument.partition(" ")
            return [self._hint("info", f"{_SAID[name]} {version}", more)]
        if name == "seealso":
            return [self._hint("info", "See also", argument)]
        if name in ("rubric", "centered"):
            words, _ = self.state.inline_text(argument, self.lineno)
            return [nodes.paragraph("", "", nodes.strong("", "", *words))]
        if name in ("tabs", "tab-set"):
            return [nodes.container("", *self._inside(), classes=["rst-tabs"])]
        if name in ("tab", "tab-item", "group-tab", "dropdown", "details", "collapse"):
            named = nodes.paragraph("", argument or "Details", classes=["rst-name"])
            kind = "rst-tab" if "tab" in name else "rst-details"
            return [nodes.container("", named, *self._inside(), classes=[kind])]
        if name == "todo":
            reading.report(self._line(), "unknown_directive", "skipped: this is a note for writers", name)
            return []
        if _SHOWN_CODE.fullmatch(name):
            return [_code("\n".join(self.content), argument.partition(" ")[0], "")]
        if _MADE_OF_CODE.match(name):
            said = (
                f".. {name}:: {argument[:80]} is generated from code when the site is built; it was skipped"
            )
            reading.report(self._line(), "code_reference", said, name + argument)
            return self._inside()
        if _OBJECT.match(name):
            signatures = [row.strip() for row in "\n".join(self.arguments).split("\n") if row.strip()]
            terms = [nodes.term("", "", nodes.literal("", row)) for row in signatures or [name]]
            inside = self._inside() or [nodes.paragraph("", "")]
            return [
                nodes.definition_list(
                    "", nodes.definition_list_item("", *terms, nodes.definition("", *inside))
                )
            ]
        if name != "glossary":
            what = "the condition isn't supported" if name in ("only", "ifconfig") else "isn't supported"
            reading.report(
                self._line(), "unknown_directive", f".. {name}:: {what}; its contents were kept", name
            )
        above = (
            [nodes.paragraph("", argument)]
            if argument and name not in ("only", "ifconfig", "glossary")
            else []
        )
        return [*above, *self._inside()]

    def _line(self) -> int:
        """Return the line number of the directive in its own file. Includes shift the line numbers that docutils
        reports."""
        return int(self.state_machine.get_source_and_line(self.lineno)[1] or self.lineno)

    def _inside(self) -> list[nodes.Node]:
        held = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, held)
        return list(held.children)

    def _hint(self, kind: str, title: str, more: str) -> nodes.Node:
        words, _ = self.state.inline_text(more, self.lineno) if more else ([], [])
        above = [nodes.paragraph("", "", *words)] if words else []
        return nodes.admonition("", nodes.title("", title), *above, *self._inside(), classes=[kind])

    def _included(self, reading: _Reading, path: str) -> tuple[str, list[str]] | None:
        given = reading.place.include(path, self._line())
        if given is None:
            said = f"{path[:200]} doesn't exist; nothing is shown in its place"
            reading.report(self._line(), "missing_include", said, path)
            return None
        where, text = given
        rows = text.replace("\r\n", "\n").replace("\t", "        ").split("\n")
        reading.left -= len(rows)
        if reading.left < 0 or _is_too_much("\n".join(rows)):
            said = (
                f"{path[:200]} was skipped, because the included files have more than {MAX_LINES:,} lines "
                "or a line is"
                " too long"
            )
            reading.report(self._line(), "too_many_lines", said, path)
            return None
        return where, rows

    def _part(self, reading: _Reading, path: str, rows: list[str]) -> list[str]:
        part = part_of(rows, {name: str(value or "") for name, value in self.options.items()})
        if part.missing:
            said = MISSING_PART.format(path=path[:200], part=part.missing[:200])
            reading.report(self._line(), "missing_part", said, path)
        return part.rows

    def _listing(self, reading: _Reading, path: str) -> list[nodes.Node]:
        given = self._included(reading, path)
        if given is None:
            return []
        rows = self._part(reading, path, given[1])
        if "pyobject" in self.options:
            said = f"`:pyobject:` isn't supported; {path[:200]} is shown in full"
            reading.report(self._line(), "unknown_directive", said, path)
        language = str(self.options.get("language") or "")
        return [_code("\n".join(rows).strip("\n"), language, str(self.options.get("caption") or ""))]

    def _include(self, reading: _Reading, path: str) -> list[nodes.Node]:
        given = self._included(reading, path)
        if given is None:
            return []
        where, rows = given[0], self._part(reading, path, given[1])
        if "literal" in self.options or "code" in self.options:
            return [_code("\n".join(rows).strip("\n"), str(self.options.get("code") or ""), "")]
        source, _ = self.state_machine.get_source_and_line(self.lineno)
        chain = reading.chains.get(source or "", (reading.place.path,))
        if where in chain or len(chain) > MAX_INCLUDES:
            said = f"{path[:200]} includes itself or too many other files; nothing is shown in its place"
            reading.report(self._line(), "circular_include", said, path)
            return []
        for name in set(_DIRECTIVE.findall("\n".join(rows))):
            _know_directive(name.lower())
        for name in set(_ROLE.findall("\n".join(rows))):
            _know_role(name.lower())
        # The text is parsed as part of the page, so that its sections become sections of the page.
        reading.chains[where] = (*chain, where)
        self.state_machine.insert_input(rows, where)
        return []


def _code(text: str, language: str, title: str) -> nodes.Node:
    classes = ["code", *([language] if re.fullmatch(r"[\w+#.-]{1,30}", language) else [])]
    block = nodes.literal_block(text, text, classes=classes)
    if not title:
        return block
    return nodes.container(
        "", nodes.paragraph("", title, classes=["rst-name"]), block, classes=["rst-listing"]
    )


def _role(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, options: Any = None, content: Any = None
) -> tuple[list[nodes.Node], list[Any]]:
    """Return the nodes for a role that docutils doesn't support."""
    name, reading = name.lower(), _now.get()
    lineno = inliner.reporter.get_source_and_line(lineno)[1] or lineno
    text = nodes.unescape(text)
    named = _NAMED.match(text)
    words, target = (named["title"], named["target"]) if named else ("", text)
    if name in ("ref", "doc", "any", "numref", "std:ref", "std:doc", "download", "term") and not (
        name == "term" and not named
    ):
        return [_reference(reading, name.rpartition(":")[2], target.strip(), words, lineno)], []
    if name in reading.names.outside:
        url, said = outside_link(reading.names.outside[name], target)
        return [nodes.reference("", words or said, refuri=url)], []
    if _LITERAL.match(name):
        return [nodes.literal("", words or code_name(name, target))], []
    if name not in _EMPHASIZED:
        said = f":{name}: isn't supported; its text was kept"
        reading.report(lineno, "unknown_directive", said, f":{name}:")
        return [nodes.inline("", words or text)], []
    return [nodes.emphasis("", words or text)], []


def _reference(reading: _Reading, kind: str, target: str, words: str, line: int) -> nodes.Node:
    names = reading.names
    label = (
        names.labels.get(" ".join(target.split()).casefold()) if kind in ("ref", "any", "numref") else None
    )
    if label is not None:
        path, place, title = label
        href = f"/{quote(path)}" + (f"#{quote(place)}" if place else "")
        return nodes.reference("", words or title, refuri=href)
    path_found = names.find(target, reading.place.path) if kind in ("doc", "any", "download") else None
    if path_found is not None:
        title = target.rpartition("/")[2] if kind == "download" else names.title(path_found)
        return nodes.reference("", words or title, refuri=f"/{quote(path_found)}")
    if kind != "term":
        said = f"{target[:200]} doesn't exist in the source"
        reading.report(line, "broken_link", said, target)
    return nodes.inline("", words or target)


_MARKS = re.compile(r"[*`|_\[+]")
_PARAGRAPHS = re.compile(r"\n[ \t]*\n")


def _is_too_much(text: str) -> bool:
    """Return whether a source is too long, or whether searching it would take too long."""
    if len(text) > MAX_TEXT or any(len(row) > MAX_LINE for row in text.split("\n")):
        return True
    return sum(len(one) * len(_MARKS.findall(one)) for one in _PARAGRAPHS.split(text)) > MAX_WORK


def html_of(text: str, place: Place, names: Names) -> str | None:
    """Return a page as HTML, in which references to pages are absolute paths in the source. If the page can't be
    read, report that and return None."""
    if _is_too_much(text):
        place.problem(
            0, "too_large", "the page or one of its paragraphs is too long; its source was kept as text"
        )
        return None
    reading = _Reading(place, names)
    settings = {
        "file_insertion_enabled": False,
        "raw_enabled": False,
        "_disable_config": True,
        "report_level": 5,
        "halt_level": 6,
        "warning_stream": io.StringIO(),
        "input_encoding": "unicode",
        "syntax_highlight": "none",
        "output_encoding": "unicode",
        "embed_stylesheet": False,
        "stylesheet_path": "",
        "math_output": "LaTeX",
        "smart_quotes": False,
        "doctitle_xform": False,
        "sectsubtitle_xform": False,
        "line_length_limit": MAX_LINE,
        "initial_header_level": 2,
        "toc_backlinks": False,
        "footnote_references": "brackets",
    }
    with _lock, _extended_tables(text):
        token = _now.set(reading)
        try:
            tree = publish_doctree(text, settings_overrides=settings)
            # docutils turns the only section of a page into its subtitle, which then isn't a heading.
            DocTitle(tree).promote_title(tree)
            _tell_messages(tree, reading)
            _name_languages(tree)
            return str(publish_from_doctree(tree, writer="html5", settings_overrides=settings))
        except Exception as error:  # The library can raise any exception for an unusual page.
            place.problem(
                0,
                "not_converted",
                f"this part can't be read ({type(error).__name__}); its source was kept as text",
            )
            return None
        finally:
            _now.reset(token)


def _tell_messages(tree: nodes.document, reading: _Reading) -> None:
    for message in [*tree.parse_messages, *tree.transform_messages]:
        if message["level"] >= 2:
            said = " ".join(message.astext().split())[:300]
            reading.report(int(message.get("line") or 0), "unclear_markup", said, said)


def _name_languages(tree: nodes.document) -> None:
    """Set the language of each code block that doesn't specify a language to the language that was last set above
    the block."""
    language = ""
    for node in tree.findall(lambda node: isinstance(node, (nodes.comment, nodes.literal_block))):
        if isinstance(node, nodes.comment):
            language = str(node.get("language") or language)
        elif node["classes"] in ([], ["code"]) and re.fullmatch(r"[\w+#.-]{1,30}", language):
            node["classes"] = ["code", language]


def prepare(tree: Any) -> None:
    """Rewrite the output of docutils as semantic HTML."""
    for element in list(tree.iter()):
        if not isinstance(element.tag, str):
            continue
        classes = (element.get("class") or "").split()
        if element.tag == "pre" and "code" in classes:
            language = next((name for name in classes if name not in ("code", "literal-block")), "")
            element.set(
                "class", f"language-{language}" if language not in ("", "none", "text", "default") else ""
            )
        elif element.tag == "span" and {"docutils", "literal"} <= set(classes):
            element.tag = "code"
            element.attrib.pop("class")
        elif element.tag == "title":
            element.text = ""  # docutils uses the file name for a page without a title.
        elif element.tag == "aside" and "footnote-list" in classes:
            element.tag = "div"
        elif element.tag == "aside" and {"footnote", "citation"} & set(classes):
            element.tag = "div"
            element.attrib.pop("class", None)
        elif "rst-listing" in classes:
            element.tag = "figure"
            element.attrib.pop("class", None)
            _named(element).tag = "figcaption"
        elif "rst-details" in classes:
            element.tag = "details"
            element.attrib.pop("class", None)
            _named(element).tag = "summary"
        elif "rst-tabs" in classes:
            _tabs(element)
        elif "admonition-title" in classes and "".join(element.itertext()).strip().lower() in _KINDS:
            # Drop a title that only repeats the kind of the hint.
            element.getparent().remove(element)


_KINDS = frozenset("attention caution danger error hint important note tip warning".split()) | {
    "caution!",
    "warning!",
}


def _named(element: Any) -> Any:
    return next(child for child in element.iter("p") if "rst-name" in (child.get("class") or "").split())


def _tabs(element: Any) -> None:
    bar = etree.Element("div", role="tablist")
    number = 0
    for panel in list(element):
        if "rst-tab" not in (panel.get("class") or "").split():
            continue
        number += 1
        name = _named(panel)
        button = etree.SubElement(bar, "button", role="tab", id=f"rst-tab-{number}")
        button.text = " ".join("".join(name.itertext()).split())
        name.getparent().remove(name)
        panel.set("role", "tabpanel")
        panel.set("aria-labelledby", f"rst-tab-{number}")
        panel.attrib.pop("class", None)
    element.attrib.pop("class", None)
    element.insert(0, bar)
