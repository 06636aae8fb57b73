"""A computer of computed content that the tests register: it is about a space as pages and as a document."""

from __future__ import annotations

import msgspec

from octavo.content.revisions.computing import Computed, ComputeInput, Computer, register_computer
from octavo.content.revisions.item_versions import Item
from octavo.core.document.nodes import Document
from octavo.core.document.reader import read
from octavo.core.pages import Page
from octavo.errors import BadRequest

TYPE = "integration:tests:mirror"
calls: list[str] = []


def source(space: str | None = None, **props: object) -> dict[str, object]:
    depends = {"space": {"ref": {"kind": "space", "space": space}}} if space else {}
    return {"type": TYPE, "props": props, "dependencies": depends}


def _document(tx, asked: ComputeInput) -> Document:
    calls.append("document")
    if "text" not in asked.source.props:
        raise BadRequest("source.props.text: expected")
    seen = asked.values.get("space")
    return read(f"{asked.source.props['text']}\n\nRevision {seen['revision'] if seen else 'unknown'}.\n")


def _revision(tx, asked: ComputeInput) -> Computed:
    calls.append("revision")
    props = asked.source.props
    if "fails" in props:
        raise BadRequest("source.type: the tests' computer failed")
    top = Page(id=asked.id("top"), kind="group", title="Mirror", slug="after")
    seen = asked.values.get("space")
    document = Page(
        id=asked.id("page"),
        parent=top.id,
        title="Seen",
        slug="seen",
        description=f"Of {seen['revision']}" if seen else None,
        # The page of a document names its source, with its own dependencies.
        computed={**msgspec.to_builtins(asked.source), "props": props.get("page", {"text": "Seen."})},
    )
    lost = [Page(id=asked.id("lost"), parent="nowhere", slug="lost")] if "lost" in props else []
    many = range(int(props.get("pages", 0)))
    file = Item(id=asked.id("file"), kind="file", name="seen.txt", content="0" * 64, size=1)
    return Computed(
        [top, document, *lost, *(Page(id=asked.id(str(n)), title=str(n), slug=str(n)) for n in many)], [file]
    )


register_computer("integration:tests:", Computer(document=_document, revision=_revision))
