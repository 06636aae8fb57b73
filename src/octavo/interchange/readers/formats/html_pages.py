"""Convert HTML pages to Markdown, with links rewritten to their new targets."""

from __future__ import annotations

from typing import Any

from octavo.core.document.json import DocumentError

from ..layout import Place
from .html import convert, parse_html


def html_page(text: str | None, place: Place, title: str, prepare: Any = None, content: Any = None) -> str:
    """Return an HTML page as Markdown, with links rewritten to their new targets."""
    tree = parse_html(text) if text is not None else None
    if tree is not None and prepare is not None:
        prepare(tree)
    if tree is not None and content is not None:
        tree = content(tree)
    return html_of_tree(tree, place, title)


def html_of_tree(tree: object, place: Place, title: str) -> str:
    """Return a parsed tree as Markdown; empty if there is no tree."""
    try:
        if tree is None:
            raise DocumentError("the file is empty")
        made = convert(
            tree,
            link=lambda href: place.link(href, 0),
            image=lambda source: (
                place.keep(source) if source.startswith("data:") else place.link(source, 0, shown=True)
            ),
            fallback_title=title,
        )
    except DocumentError as error:
        place.problem(0, "not_converted", str(error)[:200])
        return f"# {title}\n"
    return made.text
