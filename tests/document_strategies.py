"""Documents of every node type, in the shape reading gives them (the names of columns, rows and cells included)."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from octavo.core.document.nodes import Block, Document, Fragment, Inline, Leaf, Mark, Text
from octavo.core.document.schema import COLORS

letters = st.text("abz ÄñあB1*_`~[]()<>|\\#.!:&;$-+='\"/{}%^@,?\n\u00a0", min_size=1, max_size=12)
words = st.text("abcxyzÄあ129 ", min_size=1, max_size=10).map(lambda s: s.strip() or "w")
names = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
ids = st.one_of(names, st.sampled_from(["aä", "あ-1", "Naïve_Id"]))
urls = st.one_of(
    st.sampled_from(["a.md", "../b c.md", "https://x.example/a?b=1&c=(2)", "#anchor", "/x_y_z.md", "a*b.md"]),
    names.map(lambda n: f"{n}.md"),
)
refs = urls.map(lambda url: {"kind": "url", "url": url})
simple_marks = st.sampled_from(
    ["bold", "italic", "code", "strikethrough", "keyboard", "superscript", "subscript"]
)
color = st.builds(
    lambda text, background: Mark("color", {"text": text, "background": background}),
    st.sampled_from(COLORS),
    st.sampled_from(COLORS),
)
marks = st.lists(st.one_of(simple_marks.map(Mark), color), max_size=2, unique_by=lambda mark: mark.type)


def merged(nodes: list[Any]) -> list[Any]:
    """Merge adjacent text nodes, and adjacent leaves with the same marks."""
    out: list[Any] = []
    for node in nodes:
        if isinstance(node, Text) and out and isinstance(out[-1], Text):
            last = out[-1].leaves[-1]
            if key(last.marks) == key(node.leaves[0].marks):
                last.text += node.leaves[0].text
            else:
                out[-1].leaves.append(node.leaves[0])
        else:
            out.append(node)
    return out


def key(found: list[Mark]) -> list[tuple[str, str]]:
    return sorted((mark.type, str(mark.data)) for mark in found)


texts = st.builds(lambda text, found: Text([Leaf(text, found)]), letters, marks)
plain_texts = st.builds(lambda text: Text([Leaf(text)]), words)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def both(**required: st.SearchStrategy[Any]) -> Any:
    return lambda **fields: st.fixed_dictionaries(required, optional=fields)


lengths = st.one_of(
    st.integers(1, 2000), st.builds(lambda n: {"unit": "%", "value": n}, st.sampled_from([25, 33.33, 50]))
)
leaf_inlines = st.one_of(
    st.sampled_from(["2705", "1f680", "1f1e9-1f1ea", "fffd"]).map(
        lambda code: Inline("emoji", {"code": code})
    ),
    both(icon=names)(color=st.sampled_from(COLORS)).map(lambda data: Inline("icon", data)),
    st.sampled_from(["space.vars.x", 'a ? "b" : `c`', "x < 1 && y_z"]).map(
        lambda said: Inline("expression", {"expression": said})
    ),
    st.sampled_from(["x^2", r"\frac{a_1}{b}", "a*b*c", "<"]).map(
        lambda f: Inline("inline-math", {"formula": f})
    ),
    both(ref=refs)(
        refDark=refs, alt=words, caption=words, size=st.sampled_from(["line", "original"]), width=lengths
    ).map(lambda data: Inline("inline-image", data)),
    both(ref=refs)(label=words).map(lambda data: Inline("mention", data)),
    both(label=words, kind=st.sampled_from(["primary", "secondary"]))(ref=refs, icon=names).map(
        lambda data: Inline("button", data)
    ),
    both(label=words, kind=st.just("primary"), action=st.sampled_from(["ask", "search"]))(query=words).map(
        lambda data: Inline("button", data)
    ),
)
links = st.builds(
    lambda data, nodes: Inline("link", data, merged(nodes)),
    both(ref=refs)(title=words),
    st.lists(texts, min_size=1, max_size=2),
)
inlines = st.lists(st.one_of(texts, texts, leaf_inlines, links), min_size=1, max_size=5).map(merged)


def images_alone(nodes: list[Any]) -> bool:
    """Tell whether Markdown would parse the nodes as an images block."""
    return all(
        not any(leaf.text.strip() for leaf in node.leaves)
        if isinstance(node, Text)
        else node.type == "inline-image" and "size" not in node.data
        for node in nodes
    )


def bare_math(nodes: list[Any]) -> bool:
    return len(nodes) == 1 and isinstance(nodes[0], Inline) and nodes[0].type == "inline-math"


flowing = inlines.filter(lambda nodes: not images_alone(nodes) and not bare_math(nodes))
paragraphs = st.builds(
    lambda nodes, data: Block("paragraph", data, nodes),
    flowing,
    st.one_of(st.just({}), st.just({}), optional(align=st.sampled_from(["start", "center", "end"]))),
)
headings = st.builds(
    lambda n, nodes, data: Block(f"heading-{n}", data, nodes),
    st.integers(1, 3),
    flowing,
    optional(id=ids, align=st.just("center")),
)
dividers = st.just(None).map(lambda _: Block("divider"))
code_text = st.text("abc (){}<>&`*\\\t\"'|é", max_size=12)


def code_line(text: str) -> Block:
    return Block("code-line", {}, [Text([Leaf(text)])] if text else [])


codes = st.builds(
    lambda lines, data: Block("code", data, [code_line(text) for text in lines]),
    st.lists(code_text, min_size=1, max_size=4),
    optional(
        syntax=st.sampled_from(["js", "mermaid", "c++"]),
        title=words,
        overflow=st.sampled_from(["wrap", "scroll"]),
        lineNumbers=st.booleans(),
        fullWidth=st.booleans(),
        expandable=st.booleans(),
        collapsedLineCount=st.integers(1, 40),
    ),
)
maths = st.sampled_from(["x^2", "a\nb", r"\sum_{i}"]).map(lambda formula: Block("math", {"formula": formula}))


def image(data: dict[str, Any], caption: list[Any]) -> Block:
    fragments = [Fragment("caption", [Block("paragraph", {}, caption)], "caption")] if caption else []
    return Block("image", data, [], fragments)


captions = st.one_of(st.just([]), flowing)
image_blocks = st.builds(
    image, both(ref=refs)(refDark=refs, width=lengths, height=lengths, alt=words), captions
)
images = st.builds(
    lambda nodes, data: Block("images", data, nodes),
    st.lists(image_blocks, min_size=1, max_size=3),
    optional(
        align=st.sampled_from(["left", "center", "right"]), fullWidth=st.booleans(), withFrame=st.booleans()
    ),
)


def captioned(kind: str, data: dict[str, Any], caption: list[Any]) -> Block:
    fragments = [Fragment("caption", [Block("paragraph", {}, caption)], "caption")] if caption else []
    return Block(kind, data, [], fragments)


voids = st.one_of(
    st.builds(captioned, st.just("file"), both(ref=refs)(), captions),
    st.builds(captioned, st.just("embed"), both(url=urls)(fullWidth=st.booleans()), captions),
    refs.map(lambda ref: Block("drawing", {"ref": ref})),
    both(ref=refs)(label=words).map(lambda data: Block("content-ref", data)),
    refs.map(lambda ref: Block("reusable-content", {"ref": ref})),
    both(ref=refs, path=st.just("/pets/{id}"), method=st.just("get"))(
        expanded=st.booleans(), fullWidth=st.booleans()
    ).map(lambda data: Block("swagger", data | {"body": "[x](x)"})),
    names.map(
        lambda spec: Block(
            "openapi-operation",
            {"ref": {"kind": "openapi", "spec": spec}, "path": "/a", "method": "post", "body": "[x](x)"},
        )
    ),
    st.builds(
        lambda spec, schemas, grouped: Block(
            "openapi-schemas",
            {"ref": {"kind": "openapi", "spec": spec}, "schemas": schemas, "body": "b", **grouped},
        ),
        names,
        st.lists(names, min_size=1, max_size=2),
        optional(grouped=st.booleans()),
    ),
    names.map(
        lambda name: Block(
            "openapi-webhook",
            {"ref": {"kind": "openapi", "spec": "s"}, "name": name, "method": "post", "body": "b"},
        )
    ),
    st.builds(
        lambda a, b, said: Block("integration", {"integration": a, "block": b, "props": {"x": said}}),
        names,
        names,
        words,
    ),
)


@st.composite
def tables(draw: st.DrawFn) -> Block:
    """Generate a table with columns of any kinds, with the ids that parsing gives."""
    kinds = ["text", "number", "checkbox", "files", "select", "content-ref", "image", "rating", "users"]
    chosen = draw(st.lists(st.sampled_from(["text", "text", *kinds]), min_size=1, max_size=3))
    definition: dict[str, Any] = {}
    for number, kind in enumerate(chosen, 1):
        column: dict[str, Any] = {
            "id": f"c{number}",
            "title": draw(st.one_of(st.just(""), words)),
            "type": kind,
        }
        if kind == "text":
            column["textAlignment"] = draw(st.sampled_from(["left", "center", "right"]))
        elif kind == "select":
            column["multiple"] = draw(st.booleans())
            column["options"] = [{"value": "o1", "label": "One", "color": "blue"}]
        elif kind == "rating":
            column["max"] = 5
        elif kind == "users":
            column["multiple"] = draw(st.booleans())
        definition[column["id"]] = column
    hidden = draw(st.booleans()) and len(chosen) > 1
    shown = list(definition)[: -1 if hidden else None]
    view: dict[str, Any]
    if draw(st.booleans()):
        view = {"type": "cards", "cardSize": draw(st.sampled_from(["medium", "large"])), "columns": shown}
        if chosen[-1] == "content-ref":
            view["targetDefinition"] = f"c{len(chosen)}"
    else:
        view = {"type": "grid", "columns": shown, "hideHeader": draw(st.booleans())}
        if draw(st.booleans()):
            view["columnWidths"] = {"c1": draw(st.integers(20, 800))}
    block = Block("table", {"view": view, "records": {}, "definition": definition}, [], [])
    for row in range(1, draw(st.integers(1, 3)) + 1):
        values: dict[str, Any] = {}
        for number, kind in enumerate(chosen, 1):
            name = f"c{number}"
            if kind == "text":
                cell = draw(st.one_of(st.just([]), flowing))
                block.fragments.append(Fragment(f"r{row}{name}", [Block("paragraph", {}, cell)], "cell"))
                values[name] = f"r{row}{name}"
            elif kind in ("number", "rating"):
                values[name] = draw(st.sampled_from([0, 3, 2.5]))
            elif kind == "checkbox":
                values[name] = draw(st.booleans())
            elif kind in ("files", "users"):
                values[name] = draw(st.lists(urls, max_size=2))
            elif kind == "select":
                values[name] = draw(st.sampled_from([[], ["o1"]]))
            else:
                values[name] = draw(refs)
        block.data["records"][f"r{row}"] = {"orderIndex": f"{row:06d}", "values": values}
    return block


def listing(kind: str, items: list[list[Block]], checks: list[bool]) -> Block:
    block = Block(kind, {}, [Block("list-item", {}, list(item)) for item in items])
    if kind == "list-tasks":
        for item, checked in zip(block.nodes, checks, strict=False):
            item.data["checked"] = checked
    return block


def item_of(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[list[Block]]:
    first = st.builds(lambda nodes: Block("paragraph", {}, nodes), flowing)
    return st.builds(lambda head, rest: [head, *rest], first, st.lists(inner, max_size=1))


def containers(inner: st.SearchStrategy[Block]) -> st.SearchStrategy[Block]:
    some = st.lists(inner, min_size=1, max_size=3)

    def parts(kind: str, child: str, data: Any, own: Any) -> st.SearchStrategy[Block]:
        part = st.builds(lambda nodes, fields: Block(child, fields, list(nodes)), some, data)
        return st.builds(
            lambda nodes, fields: Block(kind, fields, nodes), st.lists(part, min_size=1, max_size=2), own
        )

    def wrap(kind: str, data: Any) -> st.SearchStrategy[Block]:
        return st.builds(lambda nodes, fields: Block(kind, fields, list(nodes)), some, data)

    return st.one_of(
        wrap("hint", both(style=st.sampled_from(["info", "warning", "danger", "success"]))(icon=names)),
        wrap("blockquote", st.just({})),
        wrap("if", st.just({"expression": 'visitor.claims.plan === "x"'})),
        wrap("prompt", optional(description=words, icon=names)),
        parts("tabs", "tabs-item", optional(title=words, icon=names), optional(fullWidth=st.booleans())),
        parts("stepper", "stepper-step", optional(icon=names), st.just({})),
        parts("columns", "column", optional(width=lengths), st.just({})),
        parts("updates", "update", both(date=st.just("2026-01-02"))(tags=st.just(["a", "b"])), st.just({})),
        st.builds(
            lambda title, body, data: Block(
                "expandable",
                data,
                [],
                [
                    Fragment("expandable-title", [Block("paragraph", {}, title)], "expandable-title"),
                    Fragment("expandable-body", list(body), "expandable-body"),
                ],
            ),
            flowing,
            some,
            st.sampled_from([{}, {"open": True}]),
        ),
        st.builds(
            listing,
            st.sampled_from(["list-ordered", "list-unordered", "list-tasks"]),
            st.lists(item_of(inner), min_size=1, max_size=3),
            st.lists(st.booleans(), min_size=3, max_size=3),
        ),
    )


annotated = st.builds(
    lambda nodes, body, label: Block(
        "paragraph",
        {},
        [
            Text([Leaf("x ")]),
            Inline("annotation", {}, nodes, [Fragment(label, body, "annotation-body")]),
            Text([Leaf(".")]),
        ],
    ),
    st.lists(plain_texts, max_size=1),
    st.lists(st.one_of(paragraphs, codes), min_size=1, max_size=2),
    st.sampled_from(["1", "note"]),
)
leaves = st.one_of(paragraphs, headings, dividers, codes, maths, images, voids, tables())
blocks = st.recursive(leaves, containers, max_leaves=6)


documents = st.lists(st.one_of(blocks, blocks, annotated), min_size=1, max_size=4).map(Document)
