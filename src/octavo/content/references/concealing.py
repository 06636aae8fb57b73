"""Hide link targets that the reader can't see, in read-only text.

If some pages of a space are hidden from the reader, every link into that space that has no visible target is replaced
with its text. It makes no difference whether the target is hidden or never existed.
"""

from __future__ import annotations

from functools import cached_property

from msgspec.structs import replace

from octavo.content.revisions.page_versions import list_restricted_spaces
from octavo.content.revisions.states import State
from octavo.core.document.containing import contained
from octavo.core.document.keys import assign_keys
from octavo.core.document.nodes import Document
from octavo.core.document.reader import read
from octavo.core.document.references import TYPES_OF_FILES, references
from octavo.core.document.writing import write
from octavo.core.json_types import JsonObject
from octavo.core.links import app_hosts, mentioned
from octavo.core.pages import Page
from octavo.kit.db.database import Transaction
from octavo.kit.http.operation import Recipient
from octavo.organization.spaces.store import get_space

from .lookup import Owner
from .resolving import MemberViewer, Resolver, meta_link_ref, page_owner, state_resolver
from .showing import encode_ref, without_references


class Concealment:
    """Filter that hides link targets in the text of a state if the state's reader can't see them. An instance is used
    for one request."""

    def __init__(self, to: Recipient, tx: Transaction, state: State) -> None:
        self._to, self._tx, self._state = to, tx, state

    @cached_property
    def _resolver(self) -> Resolver:
        viewer = MemberViewer(self._tx, self._to.actor, self._state.space_id)
        return state_resolver(self._tx, self._state, app_hosts(self._to.settings.url), viewer)

    @cached_property
    def is_needed(self) -> bool:
        """Return whether links can lead to pages that are hidden from the reader."""
        if self._state.hidden:
            return True
        organization_id = get_space(self._tx, self._state.space_id).organization_id
        return bool(list_restricted_spaces(self._tx, organization_id))

    def hides(self, owner: Owner, ref: JsonObject, type: str = "link") -> bool:
        """Return whether a reference in ``owner`` must not be shown. ``type``: the type of its node."""
        if not self.is_needed or type in TYPES_OF_FILES:
            return False
        if type == "mention" and mentioned(str(ref.get("url"))):
            # People and teams in comments aren't links that pages can resolve.
            return False
        found = self._resolver.resolve(owner, ref, type)
        if found.status != "broken" or found.kind not in ("page", "url"):
            return False
        files = self._resolver.files(found.space or self._state.space_id)
        # An anchor can be missing on a page that the reader sees.
        is_seen = files is not None and found.target and files.find_page_by_id(found.target) is not None
        return files is not None and files.hides and not is_seen

    def document(self, document: Document, owner: Owner) -> Document:
        """In a document, replace the links that must not be shown. The document is changed in place."""
        if not self.is_needed:
            return document
        gone = {(r.type, encode_ref(r.ref)) for r in references(document) if self.hides(owner, r.ref, r.type)}
        return without_references(document, gone)

    def markdown(self, text: str, owner: Owner) -> str:
        """Return Markdown text without the links that must not be shown. Blocks without such links keep their
        source."""
        if not self.is_needed:
            return text

        def shown(document: Document) -> str:
            was = {block.key or "": block for block in assign_keys(read(text)).nodes}
            return write(self.document(assign_keys(document), owner), was)

        return contained("markdown", lambda: read(text), shown)

    def page(self, page: Page) -> Page:
        """Return a page without targets and meta links that must not be shown. A hidden target becomes an empty URL."""
        owner = page_owner(page)
        if page.target is not None and self.hides(owner, page.target):
            page = replace(page, target={"kind": "url", "url": ""})
        if page.meta_links:
            found = {
                name: [one for one in given if not self._hides_meta_link(owner, one)]
                if isinstance(given, list)
                else given
                for name, given in page.meta_links.items()
                if not self._hides_meta_link(owner, given)
            }
            page = replace(page, meta_links=found)
        return page

    def _hides_meta_link(self, owner: Owner, given: object) -> bool:
        ref = meta_link_ref(given)
        return ref is not None and self.hides(owner, ref)
