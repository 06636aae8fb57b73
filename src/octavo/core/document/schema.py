"""Fields of each node type: the single table used for parsing, JSON, references, and rendering.

``data`` is a dict of the fields listed here. Fields marked * are required; all others are optional. Kinds of values:
text, bool, number, int, ref (a ContentRef dict; when read from Markdown, always
``{"kind": "url", "url": "<as written>"}``, except ``openapi``), length (number of pixels or
``{"unit": "%", "value": 50}``), texts (list of text), object (any JSON object), a|b (one of).
Every type has ``attributes``: the attributes of a tag or element that don't have their own fields, as
``{"name": "value"}``. In JSON, ``attributes`` and every field marked m are in ``meta`` instead of ``data``.

================== ===================================================== ==========================================
type               data                                                  children
================== ===================================================== ==========================================
paragraph          align                                                 inlines
heading-1/-2/-3    id (a fixed anchor), align, level                     inlines
list-ordered       start                                                 list-item
list-unordered                                                           list-item
list-tasks                                                               list-item
list-item          checked                                               blocks
divider                                                                  void
blockquote                                                               blocks
hint               style*, icon                                          blocks (a leading heading is its title)
code               syntax, title, overflow, lineNumbers, fullWidth,      code-line
                   expandable, collapsedLineCount, info
code-line          highlighted                                           inlines (text, annotation, expression)
math               formula*                                              void
images             align, fullWidth, withFrame                           image
image              ref*, refDark, alt, width, height                     void; fragment caption [one paragraph]
file               ref*                                                  void; fragment caption if it has one
drawing            ref, alt, width, height                               void
embed              url*, fullWidth                                       void; fragment caption if it has one
content-ref        ref*, label                                           void
reusable-content   ref*                                                  void
expandable         open (m)                                              void; fragments expandable-title
                                                                         [one paragraph], expandable-body [blocks]
tabs               fullWidth                                             tabs-item
tabs-item          title, icon, slug                                     blocks
stepper                                                                  stepper-step
stepper-step       icon                                                  blocks
columns            fullWidth                                             column
column             width, verticalAlignment                              blocks
table              view*, records*, definition*, fullWidth, search       void; one fragment per text cell, named by
                                                                         the cell's value
if                 expression*                                           blocks
swagger            ref*, path*, method*, expanded, fullWidth, body       void
openapi-operation  ref*, path*, method*, headless, body                  void
openapi-schemas    ref*, schemas*, grouped, body                         void
openapi-webhook    ref*, name*, method*, headless, body                  void
integration        integration*, block*, props*, action, url, fullWidth  void
updates (own)      format                                                update
update (own)       date, tags                                            blocks
prompt (own)       description, icon, openInAIProviders, defaultExpanded blocks (its text is a code block)
api-method (own)   tag*, method, host, path, summary                     blocks (mostly api-part)
api-part (own)     tag*, name, in, type, required, status, description   blocks
unknown (own)      source*, end, kind                                    blocks
------------------ ----------------------------------------------------- ------------------------------------------
link               ref*, title                                           text, inline-image and other inlines
emoji              code* (code points: "2705", "1f1e9-1f1ea")            void
icon               icon*, color                                          void
expression         expression*                                           void
inline-math        formula*                                              void
inline-image       ref*, refDark, alt, caption, size, width, height      void
annotation                                                               text (may be none); one fragment of type
                                                                         annotation-body, named by its label
mention            ref*, label                                           void
button             label*, kind*, size, icon, ref, action, query, slug   void; neither ref nor action: disabled
unknown (own)      source*, kind                                         void
================== ===================================================== ==========================================

Types marked (own) aren't in the public description. A heading's ``level`` is set only if the Markdown level isn't the
default of the type (``##``, ``###``, ``####`` = 2, 3, 4). A hard line break is a line feed in a text leaf.

The block ``unknown`` keeps content that no node type represents: ``source`` is the Markdown before its children (an
unknown tag, a whole piece of HTML, a nested link definition, text nested too deeply), ``end`` is the Markdown after
them (the end tag), and ``kind`` is the kind of content (tag, html, comment, definition, text). A renderer shows the
children, and the part of ``source`` that ``parts.inert_text`` returns. Tags that only contain blocks are never shown.
The inline ``unknown`` is an unsupported HTML tag or a comment; a renderer shows nothing for it. An element that HTML
doesn't define (``<host>``) is parsed as plain text.

Tables: ``view`` is ``{"type": "grid", "columns": [id], "columnWidths": {id: px}, "hideHeader": bool}`` or
``{"type": "cards", "cardSize": "medium|large", "columns": [id], "targetDefinition", "coverDefinition",
"coverDefinitionDark": id, "hideColumnTitle": bool}``; columns of ``definition`` that aren't listed in ``columns``
are hidden. ``definition`` is ``{id: {"id", "title", "type": text|number|checkbox|files|users|rating|select|
content-ref|image, ...}}`` (text: textAlignment; select: multiple, options [{value, label, color}]; users:
multiple; rating: max). ``records`` is ``{id: {"orderIndex", "values": {column id: value}}}``, with the rows in the
order of their orderIndex. A value is the name of a fragment (text), a number, a bool, [value] (select), [text]
(files, users: as written), a ref (content-ref, image), or ``{"ref", "objectFit", "alt"}`` (image).
"""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from ..tags import TagColor

Kind = Literal["text", "bool", "number", "int", "ref", "length", "texts", "object"]

ALIGN = ("start", "center", "end")
COLORS = get_args(TagColor)
BUTTON_SIZES = ("small", "medium", "large")
UNKNOWN_KINDS = ("tag", "html", "comment", "definition", "text")


class DataField(Struct, frozen=True):
    """Field of ``data``. ``choices``: the allowed values, if limited. ``meta``: whether JSON has the field in
    ``meta``."""

    kind: Kind
    required: bool = False
    choices: tuple[str, ...] = ()
    meta: bool = False


class NodeType(Struct, frozen=True):
    """Node type. ``children``: "blocks", "inlines", the only allowed child type, or None for a void node.
    ``fragments``: whether it can have fragments. ``public``: whether the API description includes it."""

    type: str
    data: dict[str, DataField]
    children: str | None = None
    fragments: bool = False
    public: bool = True

    @property
    def void(self) -> bool:
        """Return the value of the API's ``isVoid``: whether all content of the node is in fragments."""
        return self.children is None


_KINDS: dict[str, DataField] = {
    "t": DataField("text"),
    "b": DataField("bool"),
    "n": DataField("number"),
    "i": DataField("int"),
    "ref": DataField("ref"),
    "len": DataField("length"),
    "ts": DataField("texts"),
    "o": DataField("object"),
    "align": DataField("text", choices=ALIGN),
    "style": DataField("text", choices=("info", "warning", "danger", "success")),
    "overflow": DataField("text", choices=("scroll", "wrap")),
    "side": DataField("text", choices=("center", "left", "right")),
    "vertical": DataField("text", choices=("top", "middle", "bottom")),
    "color": DataField("text", choices=tuple(COLORS)),
    "size": DataField("text", choices=("original", "line")),
    "button": DataField("text", choices=("primary", "secondary")),
    "button-size": DataField("text", choices=BUTTON_SIZES),
    "what": DataField("text", choices=UNKNOWN_KINDS),
}


def _type(
    name: str, data: str = "", children: str | None = None, fragments: bool = False, public: bool = True
) -> NodeType:
    fields = {"attributes": DataField("object", meta=True)}
    for part in data.split():
        field, _, code = part.partition(":")
        kind = _KINDS[code.rstrip("*m")]
        fields[field] = DataField(
            kind.kind, code.endswith("*"), kind.choices, code.endswith("m") and code != "m"
        )
    return NodeType(name, fields, children, fragments, public)


_BLOCKS = [
    _type("paragraph", "align:align", "inlines"),
    *(_type(f"heading-{n}", "id:t align:align level:i", "inlines") for n in (1, 2, 3)),
    _type("list-ordered", "start:n", "list-item"),
    _type("list-unordered", "", "list-item"),
    _type("list-tasks", "", "list-item"),
    _type("list-item", "checked:b", "blocks"),
    _type("divider"),
    _type("blockquote", "", "blocks"),
    _type("hint", "style:style* icon:t", "blocks"),
    _type(
        "code",
        "syntax:t title:t overflow:overflow lineNumbers:b fullWidth:b expandable:b collapsedLineCount:i info:t",
        "code-line",
    ),
    _type("code-line", "highlighted:b", "inlines"),
    _type("math", "formula:t*"),
    _type("images", "align:side fullWidth:b withFrame:b", "image"),
    _type("image", "ref:ref* refDark:ref alt:t width:len height:len", fragments=True),
    _type("file", "ref:ref*", fragments=True),
    _type("drawing", "ref:ref alt:t width:len height:len"),
    _type("embed", "url:t* fullWidth:b", fragments=True),
    _type("content-ref", "ref:ref* label:t"),
    _type("reusable-content", "ref:ref*"),
    _type("expandable", "open:bm", fragments=True),
    _type("tabs", "fullWidth:b", "tabs-item"),
    _type("tabs-item", "title:t icon:t slug:t", "blocks"),
    _type("stepper", "", "stepper-step"),
    _type("stepper-step", "icon:t", "blocks"),
    _type("columns", "fullWidth:b", "column"),
    _type("column", "width:len verticalAlignment:vertical", "blocks"),
    _type("table", "view:o* records:o* definition:o* fullWidth:b search:b", fragments=True),
    _type("if", "expression:t*", "blocks"),
    _type("swagger", "ref:ref* path:t* method:t* expanded:b fullWidth:b body:t"),
    _type("openapi-operation", "ref:ref* path:t* method:t* headless:b body:t"),
    _type("openapi-schemas", "ref:ref* schemas:ts* grouped:b body:t"),
    _type("openapi-webhook", "ref:ref* name:t* method:t* headless:b body:t"),
    _type("integration", "integration:t* block:t* props:o* action:o url:t fullWidth:b"),
    _type("updates", "format:t", "update", public=False),
    _type("update", "date:t tags:ts", "blocks", public=False),
    _type("prompt", "description:t icon:t openInAIProviders:t defaultExpanded:t", "blocks", public=False),
    _type("api-method", "tag:t* method:t host:t path:t summary:t", "blocks", public=False),
    _type("api-part", "tag:t* name:t in:t type:t required:b status:t description:t", "blocks", public=False),
    _type("unknown", "source:t* end:t kind:what", "blocks", public=False),
]
_INLINES = [
    _type("link", "ref:ref* title:t", "inlines"),
    _type("emoji", "code:t*"),
    _type("icon", "icon:t* color:color"),
    _type("expression", "expression:t*"),
    _type("inline-math", "formula:t*"),
    _type("inline-image", "ref:ref* refDark:ref alt:t caption:t size:size width:len height:len"),
    _type("annotation", "", "inlines", fragments=True),
    _type("mention", "ref:ref* label:t"),
    _type("button", "label:t* kind:button* size:button-size icon:t ref:ref action:t query:t slug:t"),
    _type("unknown", "source:t* kind:what", public=False),
]

BLOCKS: dict[str, NodeType] = {entry.type: entry for entry in _BLOCKS}
INLINES: dict[str, NodeType] = {entry.type: entry for entry in _INLINES}
MARKS = ("bold", "italic", "code", "keyboard", "strikethrough", "color", "superscript", "subscript")
NESTED_ONLY = frozenset(
    ["list-item", "code-line", "image", "tabs-item", "stepper-step", "column", "update"]
)  # allowed only where a parent names them
COLUMN_TYPES = ("text", "number", "checkbox", "files", "users", "rating", "select", "content-ref", "image")
REF_FIELDS: dict[str, tuple[str, ...]] = {
    "url": ("url",),
    "file": ("file",),
    "page": ("page",),
    "anchor": ("anchor",),
    "user": ("user",),
    "collection": ("collection",),
    "space": ("space",),
    "reusable-content": ("reusableContent",),
    "openapi": ("spec",),
    "tag": ("tag",),
}
REF_OPTIONAL = {"page": ("space",), "anchor": ("space", "page"), "reusable-content": ("space",)}
