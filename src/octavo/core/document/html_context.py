"""Input and output of rendering a document as HTML."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import unquote

from markupsafe import Markup
from msgspec import Struct

from ..highlighting import Token, highlight
from .nodes import Block, Data
from .parts import line_text


class HtmlTarget(Struct, frozen=True, kw_only=True):
    """Target of a reference. ``href``: the URL; None if there is no target, because the reference is broken or this
    reader can't see the target. The reference is then shown as text. ``user``: whether it is a person instead of a page
    or file."""

    href: str | None = None
    title: str | None = None
    description: str | None = None
    icon: str | None = None
    emoji: str | None = None
    external: bool = False
    user: bool = False


ALL_FIELDS = "fields=all"
"""URL query for the version of a page that lists all fields of its API content. Without this query, the page has only
the first fields and a link to the full version."""
COLUMN = 736
"""Width, in pixels, of a text column on a page."""


class ImageSource(Struct, frozen=True):
    """One size of an image. ``width``: its width in pixels."""

    url: str
    width: int


class Asset(Struct, frozen=True, kw_only=True):
    """File to show or download. ``width`` and ``height``: its dimensions in pixels, if known. ``size``: its size in
    bytes, if known. ``sources``: the available sizes of an image, including the image itself if it is the widest; empty
    if there is only one size."""

    url: str
    name: str = ""
    width: int | None = None
    height: int | None = None
    size: int | None = None
    sources: tuple[ImageSource, ...] = ()

    @property
    def srcset(self) -> str | None:
        """Return the value of the ``srcset`` attribute. The URLs contain neither spaces nor commas."""
        return ", ".join(f"{source.url} {source.width}w" for source in self.sources) or None


class BlockLabels(Struct, frozen=True, kw_only=True):
    """Labels that Octavo adds to a page, in the page's language."""

    copy: str = "Copy"
    copied: str = "Copied"
    show_more: str = "Show more"
    show_less: str = "Show less"
    download: str = "Download"
    link_to: str = "Link to this section"
    play: str = "Load content from {provider}"
    prompt: str = "Prompt"
    open_in: str = "Open in {provider}"
    info: str = "Note"
    success: str = "Success"
    warning: str = "Warning"
    danger: str = "Danger"
    larger: str = "View larger"
    table: str = "Table"
    search_table: str = "Search this table"
    no_rows: str = "No rows found"
    tabs: str = "Tabs"
    done: str = "Done"
    try_it: str = "Try it"
    open: str = "To do"
    close: str = "Close"
    api_path: str = "Path"
    api_query: str = "Query"
    api_header: str = "Headers"
    api_cookie: str = "Cookies"
    api_body: str = "Body"
    api_authentication: str = "Authentication"
    api_responses: str = "Responses"
    api_required: str = "required"
    api_read_only: str = "read only"
    api_write_only: str = "write only"
    api_deprecated: str = "deprecated"
    api_inside: str = "Details of {name}"
    api_one_of: str = "One of:"
    api_any_of: str = "Any of:"
    api_values: str = "Possible values:"
    api_default: str = "Default"
    api_const: str = "Always"
    api_minimum: str = "At least"
    api_maximum: str = "At most"
    api_exclusive_minimum: str = "Greater than"
    api_exclusive_maximum: str = "Less than"
    api_multiple_of: str = "Multiple of"
    api_min_length: str = "Minimum length"
    api_max_length: str = "Maximum length"
    api_min_items: str = "Minimum items"
    api_max_items: str = "Maximum items"
    api_pattern: str = "Pattern"
    api_example: str = "Example"
    api_other_key: str = "any other key"
    api_going: str = "This operation is deprecated."
    api_gone: str = "It will be removed on {name}."
    api_no_authentication: str = "none"
    api_stability: str = "Stability: {name}. It may change."
    api_same: str = "The same as {name} above."
    api_fields: str = "{name} fields"
    api_optional_fields: str = "{name} optional fields"
    api_and_more: str = "{name} more"
    api_left_out: str = "See the specification for its contents."
    api_left_fields: str = "See the specification for its {name} fields."
    api_beyond: str = "{name} more in the specification."
    api_cut: str = "{name} more characters in the specification."
    api_always: str = "always"
    api_more: str = "More"
    api_callbacks: str = "Callbacks"
    api_next: str = "Next steps"
    api_shapes: str = "{name} shapes"
    api_told_apart: str = "distinguished by"
    api_nothing_more: str = "No further details."


def _link(ref: Data) -> HtmlTarget | None:
    url = ref.get("url") if ref.get("kind") == "url" else None
    if not isinstance(url, str):
        return None
    return HtmlTarget(href=url, external=url.startswith(("http:", "https:", "//")))


def _file(ref: Data) -> Asset | None:
    url = ref.get("url") if ref.get("kind") == "url" else None
    return (
        Asset(url=url, name=unquote(url.rsplit("/", 1)[-1].split("?")[0])) if isinstance(url, str) else None
    )


class CodeBlock(Struct, frozen=True):
    """Integration block that renders listings in a language. ``prop``: the name of the block's property that contains
    the text of the listing."""

    integration: str
    block: str
    prop: str

    def data(self, listing: Block) -> Data:
        """Return the data for the block that renders a listing."""
        lines = [line_text(line) for line in listing.nodes if isinstance(line, Block)]
        return {"integration": self.integration, "block": self.block, "props": {self.prop: "\n".join(lines)}}


class HtmlContext(Struct, frozen=True, kw_only=True):
    """Functions and options for rendering a page. The functions are pure, and use only data that has already been
    fetched.

    ``link(ref)`` and ``file(ref)``: resolve a ContentRef. ``icon(name)``: returns an inline SVG from Octavo's
    icon sets. ``openapi(type, data)``: returns the HTML of an API block. ``try_it(data)``: returns the URL
    for trying out an operation. ``authentication(spec)``: returns the URL of an API's authentication page,
    or None. ``integration(data)``: returns the URL of the content that an integration shows in its block.
    ``code_block(syntax)``: returns the block that renders listings in that language. ``highlight(code,
    syntax)``: returns the colored tokens of a listing. ``search(query)`` and ``ask(query)``: return the
    URLs of the pages that buttons open, or None. ``new_tab``: whether to open other hosts in a new tab.
    ``anchors``: whether each heading has a link to itself. ``direction``: the direction of the page,
    ``ltr`` or ``rtl``; text in the other direction is marked. ``column``: the width in pixels of the text
    on a wide screen.
    """

    link: Callable[[Data], HtmlTarget | None] = _link
    file: Callable[[Data], Asset | None] = _file
    icon: Callable[[str], Markup | None] = lambda name: None
    openapi: Callable[[str, Data], Markup | None] = lambda type, data: None
    try_it: Callable[[Data], str | None] = lambda data: None
    authentication: Callable[[str], str | None] = lambda spec: None
    integration: Callable[[Data], str | None] = lambda data: None
    code_block: Callable[[str], CodeBlock | None] = lambda syntax: None
    highlight: Callable[[str, str], list[Token] | None] = highlight
    search: Callable[[str], str | None] = lambda query: None
    ask: Callable[[str], str | None] = lambda query: None
    labels: BlockLabels = BlockLabels()
    new_tab: bool = False
    anchors: bool = True
    direction: str | None = None
    column: int = COLUMN


class OutlineHeading(Struct, frozen=True):
    """Line of the "On this page" outline. ``level``: the heading level, 2 to 6. ``id``: the heading's anchor."""

    id: str
    title: str
    level: int


class Html(Struct, frozen=True):
    """Rendered document. ``updates``: whether it has dated entries, in which case the page offers a feed. ``diagrams``:
    whether some listings are diagrams, which a script can draw. ``operations``: whether it shows operations of an API.
    ``together``: whether some operations are shown as expandable lines. ``changes``: whether it lists changes to
    operations. ``listing``: whether it lists models or tags of an API as rows. ``heads``: whether some operations are
    shown in full. ``filtered``: whether a table has a search field, which needs a script."""

    body: Markup
    outline: tuple[OutlineHeading, ...]
    updates: bool = False
    diagrams: bool = False
    operations: bool = False
    together: bool = False
    changes: bool = False
    listing: bool = False
    heads: bool = False
    filtered: bool = False
