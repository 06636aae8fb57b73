"""A computer of computed content that the tests register: it tells of a space as pages and as a document."""

from __future__ import annotations

from octavo.content import Asked, Computed, Computer, compute_with
from octavo.core.document import Document, read
from octavo.core.pages import Page
from octavo.errors import BadRequest

TYPE = "integration:tests:mirror"
calls: list[str] = []


def source(space: str | None = None, **props: object) -> dict[str, object]:
    depends = {"space": {"ref": {"kind": "space", "space": space}}} if space else {}
    return {"type": TYPE, "props": props, "dependencies": depends}


def _document(tx, asked: Asked) -> Document:
    calls.append("document")
    if "text" not in asked.source.props:
        raise BadRequest("source.props.text: expected")
    seen = asked.values.get("space")
    return read(f"{asked.source.props['text']}\n\nRevision {seen['revision'] if seen else 'unknown'}.\n")


def _revision(tx, asked: Asked) -> Computed:
    calls.append("revision")
    top = Page(id=asked.id("top"), kind="group", title="Mirror", slug="mirror", rank="1")
    document = Page(
        id=asked.id("page"),
        parent=top.id,
        title="Seen",
        slug="seen",
        rank="1",
        computed=source(text="Seen."),
    )
    many = range(int(asked.source.props.get("pages", 0)))
    return Computed([top, document, *(Page(id=asked.id(str(n)), title=str(n), slug=str(n)) for n in many)])


compute_with("integration:tests:", Computer(document=_document, revision=_revision))
