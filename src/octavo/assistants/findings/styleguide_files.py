"""Import and export style guide rules as Vale files."""

from __future__ import annotations

import base64
import io
import os
import re
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from msgspec import Struct
from msgspec.structs import replace

from octavo.content.changes.applying import EditedContent
from octavo.content.changes.commands import ContentChange, DocumentInput, InsertPage, UpdatePage
from octavo.content.changes.editing import edit
from octavo.content.changes.saving import edit_live, resolver_maker
from octavo.content.references.viewing import load_view, source_document
from octavo.content.revisions.restrictions import main_seen_by
from octavo.content.revisions.states import State
from octavo.core.checks.style import StyleRuleError
from octavo.core.checks.style_files import StyleFile, file_stem, read_style_file, write_style_file
from octavo.core.document.json import to_json
from octavo.core.document.nodes import Block, Document, Leaf, Text
from octavo.core.document.reader import read
from octavo.core.pages import Page
from octavo.core.sources import SourceError
from octavo.errors import BadRequest
from octavo.kit.context import Context
from octavo.kit.db.database import Transaction
from octavo.kit.scheduling import deadlines
from octavo.organization.access.auditing import audit
from octavo.organization.access.authorization import SiteAccess, SpaceAccess, space_access
from octavo.organization.access.roles import Can

from .styleguides import MOST_RULES, find_rule_block, require_styleguide, rule_on
from .types import MOST_FILES, ImportedStyleRule, StyleRuleFile

_MOST_BYTES = 10 * 1024 * 1024
"""Maximum total size of the files in an import, in bytes."""
_NOT_YAML = "the file isn't a YAML file"
_DAY_ONE = (1980, 1, 1, 0, 0, 0)
"""Date of exported files. It is fixed, so that identical rules result in identical archives."""


class _Rule(Struct, frozen=True):
    """Rule to import. ``index``: its position in the list of results."""

    index: int
    stem: str
    read: StyleFile


def unpack(archive: str) -> tuple[list[StyleRuleFile], list[ImportedStyleRule]]:
    """Return the YAML files in a base64-encoded .zip archive, and a result for each skipped file. Raises BadRequest if
    the archive can't be read or is too large."""
    # Loaded only when needed, because it is slow to load.
    from octavo.interchange.readers.opening import open_archive

    try:
        data = base64.b64decode(archive, validate=True)
    except ValueError:
        raise BadRequest("archive: must be valid Base64") from None
    with ExitStack() as stack:
        packed = stack.enter_context(tempfile.NamedTemporaryFile(suffix=".zip"))
        packed.write(data)
        packed.flush()
        try:
            source = open_archive(packed.name, stack, whole=True)
            paths = source.paths()
            if len(paths) > MOST_FILES or sum(source.size(path) for path in paths) > _MOST_BYTES:
                raise SourceError(
                    f"the archive must contain at most {MOST_FILES:,} files and {_MOST_BYTES // 1024**2} MB"
                )
            files = [
                StyleRuleFile(path, source.read(path).decode("utf-8", "replace"))
                for path in paths
                if _is_yaml(path)
            ]
        except SourceError as error:
            raise BadRequest(f"archive: {str(error).replace(packed.name, 'the file')}") from None
    skipped = [ImportedStyleRule(path, "skipped", _NOT_YAML) for path in paths if not _is_yaml(path)]
    problems = [ImportedStyleRule(one.path, "skipped", one.message) for one in source.problems]
    return files, [*skipped, *problems]


def _is_yaml(path: str) -> bool:
    stem, ending = os.path.splitext(os.path.basename(path))
    return ending.lower() in (".yml", ".yaml") and not stem.startswith(".")


def import_rules(
    context: Context, site: SiteAccess, files: Sequence[StyleRuleFile]
) -> list[ImportedStyleRule]:
    """Add rules to a site's style guide, and replace rules with the same file name. Return the result for each file, in
    order. A file that isn't a rule, or contains a rule that can't be checked, has no effect."""
    with context.db.read() as tx:
        guide = space_access(tx, site.actor, Can.EDIT, require_styleguide(tx, site).id)
    results, rules = _read_files(files)
    meaning = resolver_maker(context, site.actor)
    done: list[ImportedStyleRule] = []

    def make(tx: Transaction, state: State, started: State | None) -> EditedContent:
        changes, done[:] = _list_changes(tx, state, results, rules)
        return edit(meaning(tx, state), tx, state, changes)

    edit_live(
        context,
        guide,
        make,
        also=lambda tx, made: audit(
            tx,
            site.actor,
            "site.style-guide-imported",
            site.organization_id,
            ("site", site.site_id),
            after={"styleguide": guide.space_id, "rules": len(rules)},
        ),
    )
    return done


def _read_files(files: Sequence[StyleRuleFile]) -> tuple[list[ImportedStyleRule], list[_Rule]]:
    results: list[ImportedStyleRule] = []
    rules: dict[str, _Rule] = {}
    for index, file in enumerate(files):
        deadlines.check()
        folder, name = os.path.split(file.path)
        stem = os.path.splitext(name)[0]
        result = ImportedStyleRule(file.path, "refused")
        results.append(result)
        if not _is_yaml(file.path):
            result.status, result.reason = "skipped", _NOT_YAML
            continue
        if stem in rules and (package := os.path.basename(folder)):
            # Different packages often have a rule with the same name.
            stem = f"{stem}{package}"
        try:
            read_file = read_style_file(stem, file.text)
        except StyleRuleError as error:
            result.reason = str(error)
            continue
        if stem in rules:
            result.reason = "the import contains another rule with this name"
            continue
        result.title, result.notes = read_file.title, read_file.notes
        rules[stem] = _Rule(index, stem, read_file)
    return results, list(rules.values())


def _list_changes(
    tx: Transaction, state: State, results: Sequence[ImportedStyleRule], rules: Sequence[_Rule]
) -> tuple[list[ContentChange], list[ImportedStyleRule]]:
    done = [replace(result) for result in results]
    pages = list(load_view(tx, state).every.documents())
    known = {file_stem(page.title): page for page in reversed(pages)}
    changes: list[ContentChange] = []
    created = len(pages)
    for rule in rules:
        result, page = done[rule.index], known.get(rule.stem)
        if page is None and created >= MOST_RULES:
            result.reason = f"a style guide can have at most {MOST_RULES} pages"
        elif page is None:
            created += 1
            result.status = "created"
            document = DocumentInput(document=to_json(Document(_blocks(rule.read))))
            changes.append(InsertPage(title=rule.read.title, document=document))
        elif (change := _replace_rule(tx, state, page, rule.read)) is not None:
            result.status = "updated"
            changes.append(change)
        else:
            result.status = "unchanged"
    return changes, done


def _blocks(file: StyleFile) -> list[Block]:
    why = " ".join(file.why.split())
    about = [Block("paragraph", nodes=[Text([Leaf(why)])])] if why else []
    return [*about, _code(file.source)]


def _code(source: str) -> Block:
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", source)), default=0))
    block = read(f"{fence}yaml\n{source}\n{fence}\n").nodes[0]
    block.source = None
    return block


def _replace_rule(tx: Transaction, state: State, page: Page, file: StyleFile) -> UpdatePage | None:
    document = source_document(tx, state.space_id, page)
    if rule_on(document)[1] == file.source:
        return None
    old, new = find_rule_block(document), _code(file.source)
    document.nodes = [new if node is old else node for node in document.nodes]
    if old is None:
        document.nodes.append(new)
    return UpdatePage(page=page.id, document=DocumentInput(document=to_json(document)))


def export_rules(tx: Transaction, guide: SpaceAccess, title: str) -> bytes:
    """Return a .zip archive with the style guide rules that the caller can see, and a Vale configuration that uses
    these rules."""
    package = file_stem(title)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        config = f"StylesPath = styles\nMinAlertLevel = suggestion\n\n[*.md]\nBasedOnStyles = {package}\n"
        archive.writestr(zipfile.ZipInfo(".vale.ini", _DAY_ONE), config)
        for stem, text in _list_files(tx, main_seen_by(tx, guide)):
            archive.writestr(zipfile.ZipInfo(f"styles/{package}/{stem}.yml", _DAY_ONE), text)
    return packed.getvalue()


def _list_files(tx: Transaction, state: State) -> Iterator[tuple[str, str]]:
    used: set[str] = set()
    for page in load_view(tx, state).tree.documents():
        deadlines.check()
        if page.computed:
            continue
        why, source = rule_on(source_document(tx, state.space_id, page))
        if source is None:
            continue
        stem, number = file_stem(page.title), 1
        while (name := stem if number == 1 else f"{stem}{number}").lower() in used:
            number += 1
        used.add(name.lower())
        yield name, write_style_file(page.title, why, source)
