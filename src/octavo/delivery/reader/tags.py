"""Tags on sites: the tags of a page, and the pages with a tag."""

from __future__ import annotations

from urllib.parse import quote

from octavo.core.document.parts import emoji
from octavo.core.icons import icon
from octavo.core.pages import Page
from octavo.core.tags import by_slug, color_of, has_tag, tag_or_slug
from octavo.delivery.visits.authorization import SpaceVisit

from .views import TagView

TAGS_PATH = "~tags"
FEED_ENDING = ".xml"


def view_tags(visit: SpaceVisit, page: Page) -> tuple[TagView, ...]:
    """Return a page's tags in the order of its front matter."""
    return tuple(view_tag(visit, slug) for slug in by_slug(page.tags))


def view_tag(visit: SpaceVisit, slug: str) -> TagView:
    tag = tag_or_slug(visit.view.tags, slug)
    return TagView(
        title=tag.label,
        href=f"{visit.base}{TAGS_PATH}/{quote(slug, safe='')}",
        color=color_of(tag).removeprefix("$"),
        emoji=emoji(tag.emoji) if tag.emoji else None,
        icon=icon(tag.icon) if tag.icon and not tag.emoji else None,
    )


def used_tags(visit: SpaceVisit) -> frozenset[str]:
    """Return the slugs of the tags for which this visitor can see a list of tagged pages."""
    tree = visit.view.tree
    pages = (page for page in tree.documents() if page.tags and not tree.is_hidden(page))
    return frozenset(slug for page in pages for slug in by_slug(page.tags))


def tagged_pages(visit: SpaceVisit, slug: str) -> list[Page]:
    """Return the pages that have a tag and that this visitor can see in the navigation, in reading order."""
    tree = visit.view.tree
    return [page for page in tree.documents() if has_tag(page, slug) and not tree.is_hidden(page)]
