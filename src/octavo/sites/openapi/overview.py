"""List of a specification's tags, for the API's overview page. This module does no I/O."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from octavo.core.document.nodes import Block, Inline, Leaf, Text

from .blocks import draw_fold, draw_heading, draw_subheading
from .description import UNTAGGED, ApiDescription, ApiTag, Data
from .models import count_cell, draw_rows, summarize_markdown
from .words import ENGLISH, ReferenceWords

_OPEN = 80
"""Maximum number of tags to show without expanding, which limits the height of the page."""
_MOST = 1_000
"""Maximum number of tags to list. Additional tags are only counted."""
_ABOUT = 140
"""Maximum number of characters in a tag's description."""


def draw_tags(
    description: ApiDescription, place_of: Callable[[ApiTag], Data], words: ReferenceWords = ENGLISH
) -> list[Block]:
    """Return each tag with its description and number of operations. ``place_of``: a function that returns a
    reference to a tag's page."""
    tags = description.tags()
    if not tags:
        return []

    def table(some: Sequence[ApiTag]) -> Block:
        rows = []
        for tag in some:
            title = words.other if tag.name == UNTAGGED else tag.title
            link = Inline("link", {"ref": place_of(tag)}, [Text([Leaf(title)])])
            about = [Text([Leaf(abouts[tag.name])])] if abouts[tag.name] else []
            cells: list[list[Text | Inline]] = [[link], [*about], count_cell(description.count(tag.name))]
            rows.append(cells if is_told else [cells[0], cells[2]])
        return draw_rows(columns, {"operations"}, rows)

    listed = tags[:_MOST]
    abouts = {tag.name: summarize_markdown(tag.page_description or tag.description, _ABOUT) for tag in listed}
    is_told = any(abouts.values())
    about_column = {"about": words.what_it_is} if is_told else {}
    columns = {"openapi-tag": words.name, **about_column, "operations": words.operations}

    def tables(some: Sequence[ApiTag]) -> Iterator[Block]:
        for group, inside in groupby(some, key=lambda tag: tag.group):
            if is_grouped:
                yield draw_subheading(group or words.other)
            yield table([*inside])

    is_grouped = any(tag.group for tag in listed)
    blocks = [draw_heading(words.operations), *tables(listed[:_OPEN])]
    if len(tags) > _OPEN:
        inside = [*tables(listed[_OPEN:])]
        if len(tags) > _MOST:
            words_left = words.and_more.replace("{name}", str(len(tags) - _MOST))
            inside.append(Block("paragraph", {}, [Text([Leaf(words_left)])]))
        blocks.append(draw_fold(words.and_more.replace("{name}", str(len(tags) - _OPEN)), inside))
    return blocks
