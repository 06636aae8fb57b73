"""Index maintenance: every revision of main indexes the pages it changed.

Text is split into sections and words before the transaction of the revision starts, and is kept in a spool on disk.
This way, neither the duration of the write lock nor memory use grows with the amount of text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence, Set
from hashlib import blake2b
from tempfile import SpooledTemporaryFile

import msgspec

from octavo.content.revisions.bodies import get_body, list_oversized, read_source
from octavo.content.revisions.deriving import MainUpdate, enqueue_rebuild
from octavo.content.revisions.drawing import contains_rendered_blocks
from octavo.content.revisions.page_versions import list_pages
from octavo.content.revisions.staging import BATCH
from octavo.content.revisions.states import main_state
from octavo.content.revisions.store import Changes
from octavo.content.revisions.versions import current_versions
from octavo.core.document.anchors import Conditions
from octavo.core.document.containing import contained
from octavo.core.document.evaluating import close_conditions
from octavo.core.document.nodes import Document
from octavo.core.document.text import Section, sections
from octavo.core.import_plan import leading_title
from octavo.core.pages import Page
from octavo.kit.db.database import Database, Transaction
from octavo.kit.work import jobs

from . import store
from .store import IndexedPage, SectionText

_IN_MEMORY = 4 * 1024 * 1024
INDEXED = ("document", "group")
_MAX_BODY = 50_000
"""Maximum number of characters to index per section. Longer sections are usually data tables."""
_LONG = 8_000
"""Size in bytes above which a page is indexed by a job instead of by the revision that changes it, because editors save
every few seconds."""
_MAX_SECTIONS = 2_000
"""Maximum number of sections per page. If there are more, adjacent sections are merged."""
_MAX_TITLE = 500
"""Maximum number of characters to index per title, because titles are repeated in every section."""
_MAX_CONDITIONS = 2_000
"""Maximum total number of characters in a section's conditions. Sections with longer conditions are never
found."""
_MAX_NAMES = 50
"""Maximum number of identifiers per section."""
_NEVER = ("false",)


class PreparedIndex:
    """Pending changes to the index for the transaction of a revision. ``long``: the pages whose text will
    be indexed by a job. ``later``: whether a job has to index derived pages. ``rows``: the approximate
    number of rows written and removed."""

    def __init__(self) -> None:
        self.gone: list[str] = []
        self.long: list[str] = []
        self.later = False
        self.rows = 0
        self._words: set[str] = set()
        self._spool = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - closed with the object

    def add(self, page: IndexedPage) -> None:
        self.rows += 1 + len(page.sections) + len(set(page.words) - self._words)
        self._words.update(page.words)
        raw = msgspec.msgpack.encode(page)
        self._spool.write(len(raw).to_bytes(4, "big") + raw)

    def pages(self) -> Iterator[IndexedPage]:
        self._spool.seek(0)
        while head := self._spool.read(4):
            yield msgspec.msgpack.decode(self._spool.read(int.from_bytes(head, "big")), type=IndexedPage)


def prepare(tx: Transaction, update: MainUpdate) -> PreparedIndex:
    """Read and split the text of changed pages. A full update also indexes long pages that are already indexed, instead
    of leaving them to a job."""
    state, changes, _, from_scratch, whole = update
    prepared = PreparedIndex()
    if not (from_scratch or whole):
        prepared.long = _list_long(tx, state.space_id, changes)
    long = set(prepared.long)
    for page_id, page in changes.pages.items():
        if page_id in long:
            prepared.rows += 1
            continue
        jobs.renew()
        prepared.gone.append(page_id)
        prepared.later = prepared.later or (page is not None and page.kind == "computed")
        if page is not None and page.kind in INDEXED:
            document = read_source(tx, page.body)
            draws = contains_rendered_blocks(document)
            prepared.later = prepared.later or draws
            prepared.add(page_text(tx, state.space_id, page, document, draws=draws))
    if not from_scratch:
        prepared.rows += store.count_sections(tx, state.space_id, prepared.gone)
    return prepared


def _list_long(tx: Transaction, space_id: str, changes: Changes) -> list[str]:
    """Return the long pages that are already indexed."""
    bodies = {
        page_id: page.body
        for page_id, page in changes.pages.items()
        if page is not None and page.kind in INDEXED and page.body is not None
    }
    long = {digest for digest, _ in list_oversized(tx, set(bodies.values()), _LONG)}
    return sorted(
        store.list_indexed(tx, space_id, [page_id for page_id, body in bodies.items() if body in long])
    )


def count(prepared: PreparedIndex) -> int:
    return prepared.rows


def batches(prepared: PreparedIndex, most: int) -> Iterator[list[IndexedPage]]:
    """Yield the pages in batches that write about ``most`` rows each."""
    batch: list[IndexedPage] = []
    words: set[str] = set()
    rows = 0
    for page in prepared.pages():
        batch.append(page)
        words.update(page.words)
        rows += 1 + len(page.sections)
        if rows + len(words) >= most:
            yield batch
            batch, words, rows = [], set(), 0
    if batch:
        yield batch


def write(tx: Transaction, space_id: str, batch: list[IndexedPage], version: int) -> None:
    """Index pages under a version that isn't current yet."""
    gained = store.add_pages(tx, space_id, batch, dict.fromkeys((page.page_id for page in batch), version))
    store.count_words(tx, space_id, gained, Counter())


def remove(tx: Transaction, space_id: str, replaced: Sequence[tuple[str, int]], most: int) -> int:
    """Remove page versions from the index, up to a total of about ``most`` sections, and return the number
    of versions removed."""
    done, rows = 0, 0
    while done < len(replaced) and (not done or rows < most):
        rows += 1 + store.count_sections(tx, space_id, [replaced[done][0]])
        done += 1
    store.count_words(tx, space_id, Counter(), store.remove_pages(tx, space_id, replaced[:done]))
    return done


def page_text(
    tx: Transaction, space_id: str, page: Page, document: Document, *, draws: bool = False
) -> IndexedPage:
    """Return a page with this text in the form that is written to the index. ``draws``: whether the page has blocks
    rendered from other data."""
    return store.prepare_page(tx, space_id, page.id, titles_of(tx, page), cut_page(page, document), draws)


def text_hash(titles: str, cut: Sequence[SectionText]) -> str:
    """Return a hash of a page's text in its indexed form."""
    return blake2b(msgspec.msgpack.encode((titles, cut)), digest_size=16).hexdigest()


def titles_of(tx: Transaction, page: Page) -> str:
    """Return the titles of a page, one per line: its title in navigation and, if different, its own title and
    the heading at the start of its file."""
    heading = leading_title(get_body(tx, page.body)) if page.body else None
    titles = (page.link_title, page.title, heading)
    return "\n".join(dict.fromkeys(title[:_MAX_TITLE] for title in titles if title))


def cut_page(page: Page, document: Document) -> list[SectionText]:
    """Split a page's text, preceded by the page's description, into sections."""
    found = [
        SectionText(
            part.id, part.title, part.text[:_MAX_BODY], _bounded(part.conditions), part.names[:_MAX_NAMES]
        )
        for part in _merge_sections(
            contained("search", lambda: document, lambda each: sections(close_conditions(each)))
        )
    ]
    about = page.description or ""
    lead = next((n for n, part in enumerate(found) if part.anchor is None and not part.conditions), None)
    if lead is None:
        return [SectionText(None, "", about), *found]
    found[lead] = SectionText(None, "", f"{about}\n{found[lead].body}".strip(), names=found[lead].names)
    return found


def _merge_sections(parts: list[Section]) -> list[Section]:
    """Return at most ``_MAX_SECTIONS`` sections by merging adjacent sections. A merged section is found only if the
    conditions of all its parts are met."""
    together = -(-len(parts) // _MAX_SECTIONS)
    if together < 2:
        return parts
    found = []
    for start in range(0, len(parts), together):
        some = parts[start : start + together]
        lines = [some[0].text, *(line for part in some[1:] for line in (part.title, part.text))]
        conditions = tuple(dict.fromkeys(one for part in some for one in part.conditions))
        names = tuple(dict.fromkeys(name for part in some for name in part.names))
        found.append(Section(some[0].id, some[0].title, "\n".join(filter(None, lines)), conditions, names))
    return found


def _bounded(conditions: Conditions) -> Conditions:
    return conditions if sum(map(len, conditions)) <= _MAX_CONDITIONS else _NEVER


def is_still_true(
    tx: Transaction, space_id: str, changes: Changes, moved: Set[str], prepared: PreparedIndex
) -> bool:
    """Return True, because a page's index entry doesn't depend on other pages."""
    return True


def check(tx: Transaction, space_id: str, hosts: tuple[str, ...]) -> str | None:
    """Compare the numbers of indexed pages, sections, and words with the numbers in main. Return a message about the
    first difference."""
    wanted = sum(page.kind in INDEXED for page in list_pages(tx, main_state(tx, space_id)))
    wanted += len(store.list_computed(tx, space_id))
    there = store.measure(tx, space_id)
    if there.pages != wanted or there.pages_with_sections != wanted:
        indexed = min(there.pages, there.pages_with_sections)
        return f"search: {indexed} of {wanted} pages are indexed"
    if there.sections != there.found:
        return f"search: {there.found} of {there.sections} sections are indexed"
    if there.wrong_words:
        return f"search: {there.wrong_words} words have wrong page counts"
    return None


def clear(tx: Transaction, space_id: str, page_ids: Sequence[str]) -> None:
    """Remove pages from the index. Their words are counted again together with the words of the replacement pages, even
    if the words are the same, because after a transfer they belong to another organization."""
    versions = current_versions(tx, space_id, page_ids)
    store.count_words(tx, space_id, Counter(), store.remove_pages(tx, space_id, versions.items()))


def recount(db: Database, space_id: str) -> None:
    """Correct the stored numbers of pages that contain each word."""
    with db.read() as tx:
        wrong = sorted(store.find_wrong_counts(tx, space_id).items())
    for start in range(0, len(wrong), BATCH):
        with db.write() as tx:
            # Concurrent indexing does not affect the difference.
            store.count_words(tx, space_id, Counter(dict(wrong[start : start + BATCH])), Counter())
            jobs.advance(tx)


def follow_transfer(tx: Transaction, space_id: str, organization_id: str) -> None:
    """Index a space again for its new organization. Until that is done, its pages are found only by
    searches in the space itself or in a few spaces."""
    enqueue_rebuild(tx, space_id)
