"""Render views as HTML, provide static files, and define the Content-Security-Policy for both pages and files."""

from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from octavo.core.document.urls import FRAME_HOSTS
from octavo.core.json_types import JsonObject
from octavo.core.url_parts import join_address
from octavo.sites.fonts.built_in import font_files, read_font
from octavo.sites.openapi.code_samples import templates

from .views import (
    Agreement,
    AnsweredView,
    Crumb,
    ElementView,
    FrameLabels,
    LinkView,
    MessageView,
    NavItem,
    SearchAnswer,
    SitePageView,
    SiteView,
    TaggedPage,
    TagView,
)

# The only inline script: it must run before the first paint, or the wrong theme would flash.
_THEME_SCRIPT = Markup(
    'try{var t=localStorage.getItem("octavo-theme"),d=document.documentElement;'
    'if(t=="light"||t=="dark")d.dataset.theme=t;else if(t)delete d.dataset.theme}catch(e){}'
)
_ASSETS = (
    "octavo.css",
    "octavo.js",
    "reference.css",
    "reference.js",
    "together.css",
    "fields.js",
    "rows.css",
    "rows.js",
    "samples.js",
    "try.css",
    "access.css",
    "access.js",
    "changes.css",
    "changes.js",
    "signed-in.js",
    "try.js",
    "blocks.css",
    "blocks.js",
    "consent.css",
    "consent.js",
    "ask.css",
    "ask.js",
    "cover.css",
    "tables.js",
    "diagrams.js",
    "diagrams-frame.js",
    "diagrams.html",
    "embed.js",
)
_MERMAID = "mermaid.min.js"
"""Mermaid 11.17.2, as published in its package, together with its license."""
DIAGRAM_FILES = frozenset(["diagrams.html", "diagrams-frame.js", _MERMAID])
"""Files of the frame in which diagrams are drawn; the app uses the same frame."""
_FRAME_POLICY = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; sandbox allow-scripts"
"""Policy of the frame in which Mermaid draws. Mermaid adds styles to its drawings, so the policy allows styles. The
frame has no origin, and can't perform any other actions."""
_SCRIPT_SRC = re.compile(r'(?<=<script src=")([^"]+)')
# Prefetch pages that a reader is about to open. Paths that start with a tilde aren't pages.
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
    """Static file. ``version``: a hash of its content, which is part of its URL (``?v=``) so that caches
    can keep it forever. ``policy``: the Content-Security-Policy, if the file is a page."""

    content: bytes
    media_type: str
    version: str
    policy: str = ""


def _minify_css(css: str) -> str:
    """Return Octavo's style sheet without comments and unneeded whitespace."""
    css = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    css = re.sub(r"\s*\n\s*", "", css)
    css = re.sub(r" (\+ (?=[^\d(v])|~ |!(?=important))", lambda found: found[1].strip(), css)
    css = re.sub(r'="([A-Za-z][\w-]*)"\]', r"=\1]", css)
    return re.sub(r" ?([{};>]) ?|(:|,) ", r"\1\2", css).replace(";}", "}")


def _minify_script(script: str) -> str:
    """Return an Octavo script without whole-line comments and indentation."""
    lines = (line.strip() for line in script.splitlines())
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def find_asset(name: str) -> Static | None:
    """Return the static file with this name (style sheet, script, font, or frame for diagrams), or None."""
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


def _add_versions(page: str) -> str:
    """Return a static page with versions added to its script URLs."""
    return _SCRIPT_SRC.sub(lambda found: f"{found[1]}?v={_version(found[1])}", page)


_SHORTENED = {"css": _minify_css, "js": _minify_script, "html": _add_versions}


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@lru_cache(maxsize=512)
def content_security_policy(
    theme_css: str,
    connect: tuple[str, ...] = (),
    sources: tuple[tuple[str, tuple[str, ...]], ...] = (),
) -> str:
    """Return the Content-Security-Policy for all pages of a site with these theme colors. ``connect``: other
    hosts that the page's scripts can connect to. ``sources``: additional allowed sources, by directive."""
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


def _flatten_tree(items: Sequence[NavItem]) -> Iterator[tuple[str, NavItem | None]]:
    """Yield the tags of a tree in writing order: each item, followed by ``open``, its children, and ``close``. The list
    is flat rather than built by nested macros, so there is no limit on the depth."""
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
    """Return the HTML of a tree entry without its children."""
    return _kept_entry(item) if not item.children else _drawn_entry(item)


def _drawn_entry(item: NavItem) -> str:
    drawn: str = _templates().get_template("parts.html").module.drawn_entry(item)  # type: ignore[attr-defined]
    return drawn


_kept_entry = lru_cache(maxsize=2048)(_drawn_entry)
"""Cache of navigation entries, nearly all of which are the same on every page."""


def _version(name: str) -> str:
    found = find_asset(name)
    return found.version if found else ""


_FORM = "try_form_"


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("octavo.delivery.reader", "templates"),
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
        steps=_flatten_tree,
        entry=_entry,
        form_words=_form_words,
    )
    return environment


def _form_words(labels: FrameLabels) -> str:
    """Return, as JSON, the labels for scripts that show operations."""
    names = [name for name in FrameLabels.__struct_fields__ if name.startswith(_FORM)]
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


def embed_script(labels: FrameLabels) -> Static:
    """Return the script that shows a site in a window on another website."""
    script = find_asset("embed.js")
    assert script is not None
    words = {"label": labels.embedded, "close": labels.close, "title": labels.embedded}
    content = script.content.replace(b'"%words%"', msgspec.json.encode(words))
    return msgspec.structs.replace(script, content=content)


def draw_page(site: SiteView, page: SitePageView) -> str:
    return (
        _templates()
        .get_template("page.html")
        .render(site=site, page=page, facts=_structured_data(site, page))
    )


def _structured_data(site: SiteView, page: SitePageView) -> JsonObject | None:
    """Return a page's structured data for search engines (JSON-LD of schema.org); None if search engines
    must not index the page."""
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
    # Groups have no page, but every step except the last needs one.
    steps = [(step.title, join_address(here, step.href)) for step in above if step.href is not None]
    trail = [
        {"@type": "ListItem", "position": position, "name": name, "item": item}
        for position, (name, item) in enumerate([step for step in steps if step[1] != here], 1)
    ]
    trail.append({"@type": "ListItem", "position": len(trail) + 1, "name": page.title, "item": here})
    breadcrumbs = {"@type": "BreadcrumbList", "itemListElement": trail}
    return {"@context": "https://schema.org", "@graph": [article, breadcrumbs]}


def draw_block(element: ElementView, labels: FrameLabels, offer: str | None = None) -> str:
    """Return an integration's block as part of a page, including the offer that interactions send back."""
    return _templates().get_template("block.html").render(root=element, labels=labels, offer=offer)


def draw_search(site: SiteView, answer: SearchAnswer, nav: tuple[NavItem, ...] = ()) -> str:
    """Return the search results as a page, for readers without JavaScript. An empty query shows the form."""
    return _templates().get_template("search.html").render(site=site, answer=answer, nav=nav)


def draw_tag(
    site: SiteView, tag: TagView, pages: Sequence[TaggedPage], feed: LinkView, nav: tuple[NavItem, ...]
) -> str:
    """Return a page that lists the pages with a tag."""
    return _templates().get_template("tag.html").render(site=site, tag=tag, pages=pages, feed=feed, nav=nav)


def draw_ask(
    site: SiteView,
    nav: tuple[NavItem, ...],
    query: str,
    answered: AnsweredView | None = None,
    questions: Sequence[str] = (),
) -> str:
    """Return a question and its answer as a page, for readers without JavaScript. Before a question is asked,
    return the form with ``query`` and suggested questions."""
    template = _templates().get_template("ask.html")
    return template.render(site=site, nav=nav, query=query, answered=answered, questions=questions)


def draw_answer(site: SiteView, answered: AnsweredView) -> str:
    """Return an answer as part of a page, for scripts."""
    return _templates().get_template("answer.html").render(site=site, answered=answered)


def draw_questions(site: SiteView, questions: Sequence[str]) -> str:
    """Return suggested questions as part of a page."""
    return _templates().get_template("questions.html").render(site=site, questions=questions)


def draw_signed_in(labels: FrameLabels, locale: str, direction: str, assets: str) -> str:
    """Return the page that OAuth providers redirect a reader to, in a separate window. ``assets``: the base
    URL of static files."""
    template = _templates().get_template("signed_in.html")
    return template.render(labels=labels, locale=locale, direction=direction, assets=assets)


def draw_not_found(site: SiteView, message: MessageView | None = None) -> str:
    labels = site.labels
    shown = message or MessageView(title=labels.not_found, text=labels.not_found_text)
    return _templates().get_template("not_found.html").render(site=site, message=shown)


def draw_home(site: SiteView, sites: Sequence[tuple[str, str]], more: str | None) -> str:
    """Return a page that lists sites by title and URL. ``more``: the URL of the list's next page."""
    return _templates().get_template("home.html").render(site=site, sites=sites, more=more)


def draw_agreement(site: SiteView, action: str, agreement: Agreement) -> str:
    """Return the page that asks a visitor to let an agent read the site. ``action``: the URL that the form is
    submitted to."""
    template = _templates().get_template("agreement.html")
    return template.render(site=site, action=action, agreement=agreement)


def draw_error(site: SiteView, message: MessageView) -> str:
    """Return an error page for an unknown site."""
    return _templates().get_template("error.html").render(site=site, message=message)
