"""Collect a space's findings from the checks of its pages and from its references. This module doesn't write to the
database."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from os.path import commonprefix
from pathlib import PurePosixPath
from typing import Literal

import msgspec

from octavo.content.references.broken import list_broken, list_links, list_targets
from octavo.content.references.row import Row
from octavo.content.references.viewing import SpaceView, source_document
from octavo.content.revisions.restrictions import hidden_on_sites
from octavo.core.checks.faults import QUOTE, CheckedPage
from octavo.core.checks.statements import Contradiction, find_contradictions
from octavo.core.document.anchors import place_ids
from octavo.core.document.references import TYPES_OF_FILES
from octavo.core.freshness import freshness_of, read_interval
from octavo.core.pages import Page
from octavo.core.sentences import shorten
from octavo.kit.clock import DAY, now
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.sites.openapi import pages as api_pages
from octavo.sites.openapi.store import (
    SpecRow,
    VersionRow,
    find_spec,
    find_spec_by_url,
    find_version,
    list_versions_before,
)

from . import outbound_store
from .kinds import KINDS, FindingKind, Severity
from .linked_code import LinkedFile, end_of, last_seen
from .outbound import explain
from .types import MAX_EVIDENCE, Evidence, Fixing, Found

_HISTORY = re.compile(
    r"change-?\s?log|release|history|what.?s.new|migrat|upgrad|news|roadmap|blog|archive|version", re.I
)
_FEWEST_ALIKE = 4
"""Minimum number of letters that two anchors must have in common at their start and end."""
_MOST_OPERATIONS = 50
_FEWEST_HEADINGS = 3
"""Minimum number of headings that parallel pages must have in common."""
_VERY_LATE = 90
"""Number of days after the due date when a review becomes more urgent."""
_SETTLED = 30 * DAY
"""Milliseconds to wait for people to update a page after an API operation on it has changed."""
_MOST_NAMING = 3
"""Maximum number of pages that show an identifier. If more pages show the identifier, a changelog entry that contains
it isn't considered to be about these pages."""
_MOST_VERSIONS = 200
_MOST_CHANGES = 3
"""Maximum number of changes to an API operation to describe."""


def gather_findings(
    tx: Transaction,
    organization_id: str,
    view: SpaceView,
    checks: Mapping[str, CheckedPage],
    code: Sequence[LinkedFile],
) -> list[Found]:
    """Return the findings of a space. ``checks``: the check results of its pages, by page ID. ``code``: the files
    in its repository that the pages link to."""
    gathering = _Gathering(tx, organization_id, view, checks)
    return [*gathering.run(), *gathering.changed_code(code)]


def key_of(kind: FindingKind, *parts: str) -> str:
    """Return the key of a finding, which identifies the same problem across scans."""
    digest = hashlib.sha256("\0".join((kind, *parts)).encode()).hexdigest()[:40]
    return f"{kind}:{digest}"


def is_spelled_alike(one: str, other: str) -> bool:
    """Return whether two anchors probably name the same section: they differ in one inserted letter, in two swapped
    letters, or in the numbers of their sections. Anchors that differ in a word usually name different sections.

    >>> is_spelled_alike("instal", "install"), is_spelled_alike("63-4-2-deduplication", "6443-deduplication")
    (True, True)
    >>> is_spelled_alike("get-options", "set-options"), is_spelled_alike("step-2", "step-3")
    (False, False)
    """
    parts = [re.split(r"[-_]+", anchor.lower()) for anchor in (one, other)]
    words, others = ("".join(part for part in each if not part.isdigit()) for each in parts)
    one, other = map("".join, parts)
    if words and words == others:
        return one == other or not (one[-1:].isdigit() or other[-1:].isdigit())
    start = len(commonprefix([one, other]))
    one, other = one[start:], other[start:]
    end = len(commonprefix([one[::-1], other[::-1]]))
    rests = sorted([one[: len(one) - end], other[: len(other) - end]], key=len)
    if start + end < _FEWEST_ALIKE or any(map(str.isdigit, "".join(rests))):
        return False
    swapped = len(rests[0]) == 2 and rests[0] == rests[1][::-1]
    return swapped or (rests[0] == "" and len(rests[1]) == 1)


class _Gathering:
    def __init__(
        self, tx: Transaction, organization_id: str, view: SpaceView, checks: Mapping[str, CheckedPage]
    ) -> None:
        self._tx = tx
        self._organization_id = organization_id
        self._view = view
        self._space_id = view.state.space_id
        self._checks = {id: checked for id, checked in checks.items() if view.every.any_page(id) is not None}
        self._anchors: dict[str, list[str]] = {}
        self._by_name: dict[str, list[Page]] = {}
        for page in view.every.all_pages():
            if page.kind == "document":
                for name in {page.slug, PurePosixPath(page.file_path or "").stem.lower()}:
                    self._by_name.setdefault(name, []).append(page)

    def run(self) -> Iterator[Found]:
        for gather in (
            self._broken,
            self._faults,
            self._external,
            self._variables,
            self._unlinked,
            self._due_for_review,
            self._contradictions,
            self._operations,
            self._announced,
        ):
            deadlines.check()
            yield from gather()

    def _found(
        self,
        kind: FindingKind,
        subject: Sequence[str],
        evidence: Sequence[Evidence],
        *,
        title: str = "",
        severity: Severity | None = None,
        fixing: Fixing | None = None,
        url: str | None = None,
        days: int = 1,
        sources: Iterable[str] = (),
    ) -> Found:
        known = KINDS[kind]
        # Findings about pages that the view lacks stay with these pages, so people who can't see them don't see
        # the findings.
        pages = dict.fromkeys(
            each.page for each in evidence if each.page and each.page not in self._view.items
        )
        return Found(
            key_of(kind, self._space_id, *subject),
            kind,
            self._space_id,
            shorten(title or known.title, 256),
            severity or known.severity,
            tuple(evidence[:MAX_EVIDENCE]),
            tuple(pages),
            fixing,
            url,
            days=days,
            sources=frozenset([*sources, *([fixing.page] if fixing is not None else [])]) - pages.keys(),
        )

    # --- references ---------------------------------------------------------------------------------------

    def _broken(self) -> Iterator[Found]:
        groups: dict[tuple[FindingKind, str], list[Row]] = {}
        for row in list_broken(self._tx, self._space_id):
            if not self._is_shown(row):
                continue
            groups.setdefault((self._kind_of(row), row.target_key), []).append(row)
        for (kind, target), rows in groups.items():
            written = _written_url(rows[0])
            shown = shorten(written or "an empty link", QUOTE)
            evidence = [
                Evidence(row.owner_id, shorten(_written_url(row), QUOTE), self._place_of(row)) for row in rows
            ]
            fixing = self._fixing(kind, rows[0], written)
            title = KINDS[kind].title
            if kind == "broken-link" and rows[0].type == "reusable-content":
                title = "Included content is missing"
            # A link to a missing section reveals that the page exists.
            sources = {row.target for row in rows if kind == "broken-anchor" and row.target}
            yield self._found(
                kind, [target], evidence, title=f"{title}: {shown}", fixing=fixing, sources=sources
            )

    def _place_of(self, row: Row) -> str:
        item = self._view.items.get(row.owner_id)
        return f"This is in the reusable content “{item.name}”." if item is not None else ""

    def _is_shown(self, row: Row) -> bool:
        """Return whether a reference can be reported: its page must be in the view, and its target must not be on a
        hidden page."""
        if row.owner_kind == "page" and self._view.every.any_page(row.owner_id) is None:
            return False
        return row.kind != "page" or row.target not in self._view.state.hidden

    def _kind_of(self, row: Row) -> FindingKind:
        if row.type in TYPES_OF_FILES or row.kind == "file":
            return "missing-image"
        target = self._view.every.any_page(row.target) if row.kind == "page" and row.target else None
        return "broken-anchor" if target is not None and row.anchor else "broken-link"

    def _fixing(self, kind: FindingKind, row: Row, written: str) -> Fixing | None:
        """Return a fix for a broken link, which replaces the target with the page or anchor that was most likely
        intended; None if there is no good guess."""
        if not written or row.type not in ("link", "button"):
            return None
        if kind == "broken-anchor" and row.target and row.anchor:
            near = [each for each in self._anchors_of(row.target) if is_spelled_alike(row.anchor, each)]
            return Fixing(url=written, page=row.target, anchor=near[0]) if len(near) == 1 else None
        if kind == "broken-link":
            path = written.partition("#")[0].partition("?")[0].rstrip("/")
            name = path.rpartition("/")[2].removesuffix(".md").removesuffix(".html").lower()
            named = self._by_name.get(name, []) if name not in ("", "readme", "index") else []
            if len(named) == 1 and "://" not in written:
                return Fixing(url=written, page=named[0].id)
        return None

    def _anchors_of(self, page_id: str) -> list[str]:
        if page_id not in self._anchors:
            page = self._view.every.any_page(page_id)
            document = source_document(self._tx, self._space_id, page) if page is not None else None
            self._anchors[page_id] = list(place_ids(document).values()) if document is not None else []
        return self._anchors[page_id]

    def _unlinked(self) -> Iterator[Found]:
        """Yield a finding for each page that readers can't find: it is hidden from the navigation, and no page
        links to it."""
        hidden = hidden_on_sites(self._tx, self._organization_id)
        tree, linked = self._view.every, list_targets(self._tx, self._space_id, hidden)
        for page in tree.documents():
            if page.computed or page.id in linked or not tree.is_hidden(page) or page is tree.home:
                continue
            message = "The page is hidden from navigation, and no other page links to it."
            yield self._found("unlinked-page", [page.id], [Evidence(page.id, page.title, message)])

    def _due_for_review(self) -> Iterator[Found]:
        """Yield a finding for each page whose review is overdue."""
        tree, today = self._view.every, datetime.now(UTC).date()
        for page in tree.documents():
            freshness = freshness_of(page, tree.ancestors(page))
            if page.computed or freshness.due is None or freshness.due > today:
                continue
            late = (today - freshness.due).days
            verified = (
                f"It was last verified on {freshness.verified}."
                if freshness.verified
                else "It has never been verified."
            )
            owner = f" The owner is {freshness.owner}." if freshness.owner else ""
            message = f"The review has been due since {freshness.due}. {verified}{owner}"
            yield self._found(
                "review-due",
                [page.id],
                [Evidence(page.id, page.title, message)],
                severity="high" if late > _VERY_LATE else None,
                days=late + read_interval(freshness.every).days if freshness.every else late,
            )

    def _external(self) -> Iterator[Found]:
        """Yield a finding for each external link that background checks found to be broken."""
        failed = {row.url: row for row in outbound_store.list_failed(self._tx, self._space_id)}
        if not failed:
            return
        users: dict[str, list[str]] = {}
        for page_id, checked in self._checks.items():
            for url in checked.urls:
                if url in failed:
                    users.setdefault(url, []).append(page_id)
        for url, page_ids in users.items():
            shown, reason = shorten(url, QUOTE), explain(failed[url])
            yield self._found(
                "external-link",
                [url],
                [Evidence(page_id, shown, reason) for page_id in page_ids],
                title=f"{KINDS['external-link'].title}: {shown}",
                url=url,
            )

    # --- checks of single pages
    # -----------------------------------------------------------------------------

    def _faults(self) -> Iterator[Found]:
        for page_id, checked in self._checks.items():
            groups: dict[tuple[FindingKind, str], list[Evidence]] = {}
            severities: dict[tuple[FindingKind, str], Severity | Literal[""]] = {}
            for fault in checked.faults:
                key = (fault.kind, fault.subject)
                groups.setdefault(key, []).append(Evidence(page_id, fault.quote, fault.message, fault.fix))
                severities[key] = fault.severity
            for (kind, subject), evidence in groups.items():
                title = subject if kind == "style" else ""
                yield self._found(
                    kind,
                    [page_id, subject],
                    evidence,
                    title=title,
                    severity=severities[kind, subject] or None,
                )

    def _variables(self) -> Iterator[Found]:
        missing: dict[str, list[Evidence]] = {}
        for page_id, checked in self._checks.items():
            page = self._view.every.any_page(page_id)
            for name in checked.variables:
                scope, _, variable = name.partition(".")
                known = (
                    self._view.variables if scope == "space" else page.variables if page is not None else {}
                )
                if variable not in known:
                    # A page variable has a different value on each page.
                    subject = name if scope == "space" else f"{name} {page_id}"
                    quote = f"{scope}.vars.{variable}"
                    missing.setdefault(subject, []).append(
                        Evidence(page_id, quote, "Readers see nothing in its place.")
                    )
        for subject, evidence in missing.items():
            yield self._found(
                "undefined-variable",
                [subject],
                evidence,
                title=f"Undefined variable: {evidence[0].quote}",
            )

    def _contradictions(self) -> Iterator[Found]:
        pages = {
            page_id: checked.statements
            for page_id, checked in self._checks.items()
            if checked.statements and not self._is_history(page_id)
        }
        for found in find_contradictions(pages):
            if self._are_parallel(found):
                continue
            values = list(dict.fromkeys(place.statement.value for place in found.places))
            evidence = [Evidence(place.page, place.statement.text) for place in found.places]
            # Evidence is truncated, so list one page for each value first.
            evidence.sort(key=lambda each: each.quote != found.places[-1].statement.text)
            yield self._found(
                "contradiction",
                [found.pattern],
                [evidence[-1], *evidence[:-1]],
                title=f"Pages contradict each other: {values[0]} or {values[1]}",
            )

    def _are_parallel(self, found: Contradiction) -> bool:
        """Return whether the pages have mostly the same headings because they describe different things in the same
        way."""
        first, other = found.places[0], found.places[-1]
        one, two = (set(self._outline_of(place.page)) for place in (first, other))
        common = len(one & two)
        return common >= _FEWEST_HEADINGS and common * 2 >= min(len(one), len(two))

    def _outline_of(self, page_id: str) -> list[str]:
        """Return the anchors of a page's headings, with the page's own slug removed from them."""
        page = self._view.every.any_page(page_id)
        name = page.slug if page is not None else ""
        return [anchor.replace(name, "") if name else anchor for anchor in self._anchors_of(page_id)]

    def _is_history(self, page_id: str) -> bool:
        """Return whether a page or one of its parents is a version history, such as a changelog."""
        tree = self._view.every
        page = tree.any_page(page_id)
        line = [*tree.ancestors(page), page] if page is not None else []
        return any(_HISTORY.search(f"{each.title} {each.slug}") for each in line)

    # --- APIs ---------------------------------------------------------------------------------------------

    def _operations(self) -> Iterator[Found]:
        shown: dict[str, dict[str, list[str]]] = {}
        for page_id, checked in self._checks.items():
            for name, method, path in checked.operations:
                shown.setdefault(name, {}).setdefault(f"{method} {path}", []).append(page_id)
        for name, operations in shown.items():
            spec = (
                find_spec_by_url(self._tx, self._organization_id, name)
                if "://" in name
                else find_spec(self._tx, self._organization_id, name)
            )
            version = find_version(self._tx, spec.id, spec.version_id) if spec and spec.version_id else None
            if spec is None or version is None:
                continue
            described = api_pages.load(self._tx, version).operations
            for key, page_ids in operations.items():
                if key not in described:
                    label = _label_of(key)
                    message = f"`{label}` isn't in the latest version of {spec.slug}."
                    yield self._found(
                        "removed-operation",
                        [spec.slug, key],
                        [Evidence(page_id, label, message) for page_id in page_ids],
                        title=f"Operation was removed from the API: {label}",
                    )
            yield from self._changed(spec, version, operations)
            if not self._shows_all(spec.slug):
                missing = [
                    key
                    for key, operation in described.items()
                    if key not in operations and not operation.data.get("deprecated")
                ]
                if missing:
                    evidence = [Evidence("", _label_of(key)) for key in missing[:_MOST_OPERATIONS]]
                    title = f"Operations in {spec.slug} aren't documented: {len(missing)}"
                    yield self._found("undocumented-operations", [spec.slug], evidence, title=title)

    def _changed(
        self, spec: SpecRow, version: VersionRow, operations: Mapping[str, Sequence[str]]
    ) -> Iterator[Found]:
        """Yield a finding for each page that shows API operations that changed after the page was last edited or
        verified."""
        shown: dict[str, list[str]] = {}
        for key, page_ids in operations.items():
            for page_id in page_ids:
                shown.setdefault(page_id, []).append(_label_of(key))
        versions = [version, *list_versions_before(self._tx, version, _MOST_VERSIONS)]
        settled = next((each for each in versions if now() - each.created_at >= _SETTLED), None)
        for page_id, labels in shown.items():
            page = self._view.every.any_page(page_id)
            if page is None or page.computed or settled is None:
                continue
            seen = last_seen(page)
            if settled.created_at <= seen:
                continue
            known = next((each for each in versions if each.created_at <= seen), None)
            messages: dict[str, list[str]] = {}
            for change in api_pages.compare_versions(self._tx, settled, known):
                if change.place or change.kind == "changed":
                    said = f"{change.place}: {change.message}" if change.place else change.message
                    messages.setdefault(change.operation, []).append(said[:1].upper() + said[1:])
            evidence = [
                Evidence(page_id, label, " ".join(messages[label][:_MOST_CHANGES]))
                for label in dict.fromkeys(labels)
                if label in messages
            ]
            if evidence:
                title = f"Operation changed since the page was last updated: {evidence[0].quote}"
                yield self._found("changed-operation", [page_id, spec.slug], evidence, title=title)

    # --- code and changelogs ------------------------------------------------------------------------------

    def changed_code(self, code: Sequence[LinkedFile]) -> Iterator[Found]:
        """Yield a finding for each page that links to files in the repository that changed after the page was last
        edited or verified."""
        changed: dict[str, list[Evidence]] = {}
        for file in code:
            if file.changed_at is None or now() - file.changed_at < _SETTLED:
                continue
            day = datetime.fromtimestamp(file.changed_at / 1000, UTC).date()
            done = "changed" if file.version else "was removed"
            for page_id in file.pages:
                page = self._view.every.any_page(page_id)
                if page is not None and not page.computed and last_seen(page) < file.changed_at:
                    message = f"The file {done} on {day}, and the page hasn't been edited or verified since."
                    changed.setdefault(page_id, []).append(
                        Evidence(page_id, shorten(file.path, QUOTE), message)
                    )
        for page_id, evidence in changed.items():
            title = f"{KINDS['changed-code'].title}: {evidence[0].quote}"
            yield self._found("changed-code", [page_id], evidence, title=title)

    def _announced(self) -> Iterator[Found]:
        """Yield a finding for each page that is mentioned in a changelog entry that is newer than the page's last
        edit or verification."""
        by_name: dict[str, list[str]] = {}
        for page_id, checked in self._checks.items():
            if not self._is_history(page_id):
                for name in checked.names:
                    by_name.setdefault(name, []).append(page_id)
        found: dict[str, list[Evidence]] = {}
        logs: dict[str, set[str]] = {}
        for log_id, checked in self._checks.items():
            if not checked.notices or not self._is_history(log_id):
                continue
            log = self._view.every.any_page(log_id)
            # People who can see the other page must not read the words of a page that they can't see.
            if log is None or log_id in self._view.state.hidden:
                continue
            rows = list_links(self._tx, self._space_id, log_id)
            linked = {_written_url(row): row.target for row in rows if row.target}
            for each in checked.notices:
                at = end_of(each.day)
                if not at or now() - at < _SETTLED:
                    continue
                # A name on many pages doesn't tell which of them describes it.
                named = [pages for name in each.names if len(pages := by_name.get(name, [])) <= _MOST_NAMING]
                pages = [linked[link] for link in each.links if link in linked]
                for page_id in dict.fromkeys([*pages, *(id for ids in named for id in ids)]):
                    page = self._view.every.any_page(page_id)
                    if page is None or page.computed or self._is_history(page_id) or last_seen(page) >= at:
                        continue
                    message = f"{log.title} announced this on {each.day}."
                    found.setdefault(page_id, []).append(Evidence(page_id, each.text, message))
                    logs.setdefault(page_id, set()).add(log_id)
        for page_id, evidence in found.items():
            yield self._found("changelog", [page_id], evidence, sources=logs[page_id])

    def _shows_all(self, slug: str) -> bool:
        """Return whether the space has pages that are generated from the whole specification."""
        return any(page.computed and _names(page.computed, slug) for page in self._view.every.all_pages())


def _names(value: object, slug: str) -> bool:
    if isinstance(value, dict):
        return any(_names(inner, slug) for inner in value.values())
    if isinstance(value, list):
        return any(_names(inner, slug) for inner in value)
    return bool(value == slug)


def _label_of(key: str) -> str:
    method, _, path = key.partition(" ")
    return f"{method.upper()} {path}"


def _written_url(row: Row) -> str:
    """Return the text of a reference as it was written."""
    ref = msgspec.json.decode(row.written)
    if not isinstance(ref, dict):
        return ""
    return str(ref.get("url") or ref.get("page") or ref.get("file") or ref.get("reusableContent") or "")
