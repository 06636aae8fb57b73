"""Every operation that takes texts by language refuses languages that sites can't have."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import fields

from octavo.kit.http.operation import TABLE, Operation
from octavo.operations.installation import load_packages
from world import World

from .samples import sample_of, send

load_packages()

pytestmark = pytest.mark.sqlite_first


def _fields(operation: Operation) -> list[str]:
    """Return the fields of a body with texts by language."""
    if not hasattr(operation.body, "__struct_fields__"):
        return []
    return [one.encode_name for one in fields(operation.body) if one.encode_name.startswith("localized")]


CASES = [(operation, name) for operation in TABLE.values() for name in _fields(operation)]


def test_structure_and_customization_have_texts_by_language() -> None:
    found = {operation.id for operation, _ in CASES}
    assert {
        "addExternalLinkToSite",
        "overrideSiteSpaceCustomizationById",
        "updateSiteCustomizationById",
        "updateSiteExternalLinkById",
        "updateSiteSectionById",
        "updateSiteSectionGroupById",
        "updateSiteSpaceById",
    } <= found


@pytest.mark.parametrize(("operation", "name"), CASES, ids=lambda value: getattr(value, "id", value))
def test_texts_in_unknown_languages_are_refused(world: World, operation: Operation, name: str) -> None:
    sample = sample_of(operation)
    if sample.before is not None:
        sample.before(world, world.home)
    body = sample.body_for(world.home) or {}

    def status(texts: Any) -> int:
        return send(world, "admin", operation, world.home, json={**body, name: texts}).status_code

    for texts in (
        {"klingon": "Words"},
        {"": "Words"},
        {"DE": "Words"},
        {"de": " "},
        {"de": "x" * 300},
        {"de": 1},
    ):
        assert status(texts) in (400, 422), texts
    assert status({"de": "Wörter", "zh-tw": "字"}) < 300
