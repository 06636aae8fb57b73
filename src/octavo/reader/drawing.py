"""Views laid out as HTML, the static files beside it, and the header that keeps both honest."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from ..core.addresses import join_address
from ..core.document.urls import FRAME_HOSTS
from ..fonts import font_files, read_font
from ..openapi import templates
from .views import (
    Agreement,
    AnsweredView,
    Crumb,
    ElementView,
    Labels,
    MessageView,
    NavItem,
    PageView,
    SearchAnswer,
    SiteView,
)

# The only inline script that runs: it has to run before the first paint, or the wrong theme would flash.
_THEME_SCRIPT = Markup(
    'try{var t=localStorage.getItem("octavo-theme"),d=document.documentElement;'
    'if(t=="light"||t=="dark")d.dataset.theme=t;else if(t)delete d.dataset.theme}catch(e){}'
)
_ASSETS = (
    "octavo.css", "octavo.js", "reference.css", "reference.js", "together.css", "fields.js", "rows.css", "rows.js", "samples.js", "try.css", "access.css", "access.js", "changes.css", "changes.js", "signed-in.js", "try.js", "blocks.css", "blocks.js", "consent.css", "consent.js",
    "ask.css", "ask.js", "diagrams.js", "diagrams-frame.js", "diagrams.html", "embed.js",
)  # fmt: skip
_MERMAID = "mermaid.min.js"
"""Mermaid as its package publishes it, 11.17.2, with its licence beside it."""
_FRAME_POLICY = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; sandbox allow-scripts"
"""Of the frame in which Mermaid draws: it writes styles into what it draws, and has no origin to do anything with."""
_SCRIPT_SRC = re.compile(r'(?<=<script src=")([^"]+)')
# Pages of the site that a reader is about to open are fetched before; what begins with a tilde is no page.
_SPECULATION = Markup(
    '{"prefetch":[{"where":{"and":[{"href_matches":"/*"},{"not":{"href_matches":"/*~*"}},'
    '{"not":{"href_matches":"/*\\\\?*"}},{"not":{"selector_matches":"[download],[rel~=noopener]"}}]},'
    '"eagerness":"moderate"}]}'
)
_TYPES = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "woff2": "font/woff2",
}


class Static(Struct, frozen=True):
    """A static file. ``version`` is a hash of its content and is in its address (``?v=``), so that answers
    may be kept for ever. ``policy``: of a page, what it may load."""

    content: bytes
    media_type: str
    version: str
    policy: str = ""


def _squeeze(css: str) -> str:
    """Our own style sheet without comments and the spaces that only people need."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    css = re.sub(r"\s*\n\s*", "", css)
    css = re.sub(r" (\+ (?=[^\d(v])|~ |!(?=important))", lambda found: found[1].strip(), css)
    css = re.sub(r'="([A-Za-z][\w-]*)"\]', r"=\1]", css)
    return re.sub(r" ?([{};>]) ?|(:|,) ", r"\1\2", css).replace(";}", "}")


def _dedent(script: str) -> str:
    """Our own script without whole-line comments and the spaces its lines begin with."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def asset(name: str) -> Static | None:
    """The static file of that name (a style sheet, a script, a font, the frame of diagrams), or None."""
    return _load(name) if name in _ASSETS or name == _MERMAID or name in font_files() else None


@cache
def _load(name: str) -> Static:
    kind = name.rpartition(".")[2]
    if name in font_files():
        content = read_font(name)
    elif name == _MERMAID:
        content = (files(__package__) / "mermaid" / name).read_bytes()
    else:
        text = (files(__package__) / "static" / name).read_text()
        content = _SHORTENED[kind](text).encode()
        if name == "samples.js":
            content = content.replace(b'"%templates%"', msgspec.json.encode(templates()))
    policy = _FRAME_POLICY if kind == "html" else ""
    return Static(content, _TYPES[kind], hashlib.sha256(content).hexdigest()[:12], policy)


def _with_versions(page: str) -> str:
    """A page of ours whose scripts are named by their version."""
    return _SCRIPT_SRC.sub(lambda found: f"{found[1]}?v={_version(found[1])}", page)


_SHORTENED = {"css": _squeeze, "js": _dedent, "html": _with_versions}


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=512)
def content_security_policy(
    theme_css: str,
    connect: tuple[str, ...] = (),
    sources: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> str:
    """The Content-Security-Policy of every page of a site with these theme colours. ``connect``: hosts besides its own
    that the script of the page may speak to; ``sources``: what else is let through, by directive."""
    directives: dict[str, tuple[str, ...]] = {
        "default-src": ("'none'",),
        "script-src": ("'self'", _hash(_THEME_SCRIPT), _hash(_SPECULATION)),
        "style-src": ("'self'", _hash(theme_css)) if theme_css else ("'self'",),
        "img-src": ("'self'", "https:", "data:"),
        "media-src": ("'self'", "https:"),
        "font-src": ("'self'",),
        "connect-src": ("'self'", *connect),
        "frame-src": tuple(FRAME_HOSTS),
        "form-action": ("'self'",),
        "base-uri": ("'none'",),
        "frame-ancestors": ("'self'",),
    }
    for name, more in sources:
        directives[name] += more
    return "; ".join(" ".join((name, *dict.fromkeys(values))) for name, values in directives.items())


def _steps(items: Sequence[NavItem]) -> Iterator[tuple[str, NavItem | None]]:
    """A tree as the order its tags are written in: each item, then ``open``, its children, ``close``. A list
    instead of nested macros, so that no depth of a tree is too deep."""
    stack: list[tuple[str, NavItem | None]] = [("item", item) for item in reversed(items)]
    while stack:
        kind, item = stack.pop()
        yield kind, item
        if kind == "item" and item is not None and item.children:
            stack.append(("close", item))
            stack.extend(("item", child) for child in reversed(item.children))
            stack.append(("open", item))
        elif kind == "item" and item is not None:
            stack.append(("end", item))


def _entry(item: NavItem) -> str:
    """An entry of the tree without what is below it."""
    return _kept_entry(item) if not item.children else _drawn_entry(item)


def _drawn_entry(item: NavItem) -> str:
    drawn: str = _templates().get_template("parts.html").module.drawn_entry(item)  # type: ignore[attr-defined]
    return drawn


_kept_entry = lru_cache(maxsize=2048)(_drawn_entry)
"""Nearly all entries are the same beside every page."""


def _version(name: str) -> str:
    found = asset(name)
    return found.version if found else ""


_FORM = "try_form_"


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("octavo.reader", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals.update(
        theme_script=_THEME_SCRIPT,
        speculation=_SPECULATION,
        version=_version,
        steps=_steps,
        entry=_entry,
        form_words=_form_words,
    )
    return environment


def _form_words(labels: Labels) -> str:
    """The words of what scripts make of operations, as JSON."""
    names = [name for name in Labels.__struct_fields__ if name.startswith(_FORM)]
    words = {name.removeprefix(_FORM): getattr(labels, name) for name in names}
    words |= {
        name: getattr(labels, f"api_{name}")
        for name in ("path", "query", "header", "cookie", "body", "example")
    }
    words |= {
        name: getattr(labels, name)
        for name in (
            "copy",
            "copied",
            "close",
            "try_it",
            "expand_all",
            "fold_all",
            "find_field",
            "all_kinds",
            "changes_from",
            "changes_to",
            "find_model",
            "models_sent",
            "models_answered",
            "models_events",
            "found_inside",
            "found_field",
            "find_operation",
            "by_resource",
            "by_path",
            "as_written",
        )
    }
    return msgspec.json.encode(words).decode()


def embed_script(labels: Labels) -> Static:
    """The script that shows a site in a window of another one."""
    script = asset("embed.js")
    assert script is not None
    words = {"label": labels.embedded, "close": labels.close, "title": labels.embedded}
    content = script.content.replace(b'"%words%"', msgspec.json.encode(words))
    return msgspec.structs.replace(script, content=content)


def draw_page(site: SiteView, page: PageView) -> str:
    return _templates().get_template("page.html").render(site=site, page=page, facts=_facts(site, page))


def _facts(site: SiteView, page: PageView) -> dict[str, Any] | None:
    """What search engines are told of a page, as JSON-LD of schema.org; None for a page that they may not list."""
    here = page.canonical
    if here is None or site.no_index or page.no_index:
        return None
    article = {
        "@type": "TechArticle",
        "headline": page.title,
        "url": here,
        "inLanguage": site.language,
        "isPartOf": {"@type": "WebSite", "name": site.title, "url": join_address(here, site.home)},
    }
    if page.about:
        article["description"] = page.about
    if page.updated:
        article["dateModified"] = page.updated
    above = [Crumb(title=site.title, href=site.home), *page.crumbs]
    # Groups have no page of their own, and every step but the last needs one.
    steps = [(step.title, join_address(here, step.href)) for step in above if step.href is not None]
    trail = [
        {"@type": "ListItem", "position": position, "name": name, "item": item}
        for position, (name, item) in enumerate([step for step in steps if step[1] != here], 1)
    ]
    trail.append({"@type": "ListItem", "position": len(trail) + 1, "name": page.title, "item": here})
    breadcrumbs = {"@type": "BreadcrumbList", "itemListElement": trail}
    return {"@context": "https://schema.org", "@graph": [article, breadcrumbs]}


def draw_block(element: ElementView, labels: Labels, offer: str | None = None) -> str:
    """What a block of an integration shows, as a part of a page; with the offer that presses send back."""
    return _templates().get_template("block.html").render(root=element, labels=labels, offer=offer)


def draw_search(site: SiteView, answer: SearchAnswer, nav: tuple[NavItem, ...] = ()) -> str:
    """The results as a page of their own, for readers without JavaScript; an empty query shows the form."""
    return _templates().get_template("search.html").render(site=site, answer=answer, nav=nav)


def draw_ask(
    site: SiteView,
    nav: tuple[NavItem, ...],
    query: str,
    answered: AnsweredView | None = None,
    questions: Sequence[str] = (),
) -> str:
    """A question with its answer as a page of its own, for readers without JavaScript; before it is asked, the form
    with ``query`` and questions that could be asked."""
    template = _templates().get_template("ask.html")
    return template.render(site=site, nav=nav, query=query, answered=answered, questions=questions)


def draw_answer(site: SiteView, answered: AnsweredView) -> str:
    """An answer as a part of a page, for scripts."""
    return _templates().get_template("answer.html").render(site=site, answered=answered)


def draw_questions(site: SiteView, questions: Sequence[str]) -> str:
    """Questions that could be asked, as a part of a page."""
    return _templates().get_template("questions.html").render(site=site, questions=questions)


def draw_signed_in(labels: Labels, locale: str, direction: str, assets: str) -> str:
    """Where providers of OAuth send a reader back to, in a window of its own. ``assets``: the address of static files."""
    template = _templates().get_template("signed_in.html")
    return template.render(labels=labels, locale=locale, direction=direction, assets=assets)


def draw_not_found(site: SiteView, message: MessageView | None = None) -> str:
    labels = site.labels
    shown = message or MessageView(title=labels.not_found, text=labels.not_found_text)
    return _templates().get_template("not_found.html").render(site=site, message=shown)


def draw_home(site: SiteView, sites: Sequence[tuple[str, str]], more: str | None) -> str:
    """A list of sites by title and address; ``more`` is where it goes on."""
    return _templates().get_template("home.html").render(site=site, sites=sites, more=more)


def draw_agreement(site: SiteView, action: str, agreement: Agreement) -> str:
    """What a visitor is asked before an agent may read the site. ``action``: where the form is sent."""
    template = _templates().get_template("agreement.html")
    return template.render(site=site, action=action, agreement=agreement)


def draw_error(site: SiteView, message: MessageView) -> str:
    """An error, where it is not known which site was asked for."""
    return _templates().get_template("error.html").render(site=site, message=message)
