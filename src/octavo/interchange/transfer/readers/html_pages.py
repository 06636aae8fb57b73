"""Pages of HTML as Markdown, with their links led to where they lead now."""

from __future__ import annotations

from typing import Any

from octavo.core.document.json import DocumentError

from .layout import Place


def html_page(text: str | None, place: Place, title: str, prepare: Any = None, content: Any = None) -> str:
    """A page of HTML as Markdown, its links led to where they lead now."""
    from ..html import parse_html

    tree = parse_html(text) if text is not None else None
    if tree is not None and prepare is not None:
        prepare(tree)
    if tree is not None and content is not None:
        tree = content(tree)
    return html_of_tree(tree, place, title)


def html_of_tree(tree: Any, place: Place, title: str) -> str:
    """The same of a tree that was parsed already, or of none."""
    from ..html import convert

    try:
        if tree is None:
            raise DocumentError("there is nothing in it")
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
