"""Convert Markdown pages from other tools to Octavo Markdown, including all known components and tags."""

from __future__ import annotations

from msgspec import Struct

from ..layout import Dialect, Place
from .blocks import Writer
from .components import component_block, component_inline
from .directives import directive_block, role_text
from .inline import Vocabulary
from .lines import MAX_LINES, SECTION, split_front, without_comments
from .readme_blocks import magic_block, side_by_side, sign_of
from .shortcodes import liquid_block, liquid_inline, shortcode_block, shortcode_inline, shortcodes_in_code

_VOCABULARY = Vocabulary(
    component=component_block,
    component_inline=component_inline,
    directive=directive_block,
    role=role_text,
    shortcode=shortcode_block,
    shortcode_inline=shortcode_inline,
    shortcodes_in_code=shortcodes_in_code,
    liquid=liquid_block,
    liquid_inline=liquid_inline,
    magic=magic_block,
    magic_sign=sign_of,
    magic_fences=side_by_side,
)


class Translated(Struct, frozen=True):
    """Page in Octavo Markdown, without its front matter. ``lines``: for each line, its line number in the source."""

    text: str
    lines: list[int]


def translate(text: str, place: Place, dialect: Dialect) -> Translated:
    """Convert the body of a Markdown file to Octavo Markdown."""
    body, first = split_front(text)
    body = body.replace("\r\n", "\n").replace("\r", "\n")
    lines = [(line, first + at) for at, line in enumerate(body.split("\n"))]
    if dialect.indented:
        # Marks the start of parts of a page that others include.
        lines = [(line, number) for line, number in lines if not SECTION.search(line)]
    if dialect.vault:
        lines = without_comments(lines)
    if len(lines) > MAX_LINES:
        place.problem(
            0, "too_many_lines", f"the page has more than {MAX_LINES:,} lines; the rest was skipped"
        )
        lines = lines[:MAX_LINES]
    made = Writer(place, dialect, _VOCABULARY).page(lines)
    return Translated("\n".join(line for line, _ in made), [number for _, number in made])
