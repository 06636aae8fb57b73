"""The error envelope: a stable reason and the path of the field, derived in one place."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from octavo.errors import BadRequest, Damaged, NotFound, OctavoError, TemporarilyUnavailable
from octavo.kit.http.dispatcher import invalid
from octavo.kit.http.edge import json_error
from octavo.operations.installation import load_packages

load_packages()
CONVENTIONS = Path(__file__).parents[2] / "docs" / "api" / "conventions.md"


def answered(error: OctavoError) -> dict[str, object]:
    found: dict[str, object] = msgspec.json.decode(json_error(error).body)["error"]
    return found


def classes(above: type[OctavoError] = OctavoError) -> list[type[OctavoError]]:
    return [above, *(found for one in above.__subclasses__() for found in classes(one))]


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("title: this field is required", "title"),
        (
            "changes[0].set[2].document.document.nodes[3].data.style: no",
            "changes[0].set[2].document.document.nodes[3].data.style",
        ),
        ("variables[...].value: expected `str`", "variables[...].value"),
        ("variables.release-date: expected text", "variables.release-date"),
        ("There is no page here.", None),
        ("The language model: it failed", None),
        ("answered https://example.com", None),
        ("", None),
    ],
)
def test_the_field_is_the_start_of_the_message(message, field):
    assert answered(BadRequest(message)) == {
        "code": 400,
        "message": message,
        "reason": "invalid",
        **({"field": field} if field else {}),
    }


def test_the_path_of_a_part_precedes_its_field():
    assert NotFound("page: there is none").inside("changes[1]").message == "changes[1].page: there is none"
    assert NotFound("There is none").inside("changes[1]").message == "changes[1]: There is none"


def test_an_error_with_another_message_keeps_its_class_reason_and_headers():
    for error in (Damaged(), TemporarilyUnavailable("The database is gone.")):
        changed = error.inside("changes[0]")
        assert type(changed) is type(error)
        assert (changed.reason, changed.headers) == (error.reason, error.headers)
        assert str(changed) == changed.message == f"changes[0]: {error.message}"


def test_validation_distinguishes_missing_from_invalid_fields():
    class Wanted(msgspec.Struct):
        title: str

    for given, reason, field in (
        ({}, "required", "title"),
        ({"title": 7}, "invalid", "title"),
        (7, "invalid", "body"),
    ):
        with pytest.raises(msgspec.ValidationError) as failed:
            msgspec.convert(given, Wanted)
        told = answered(invalid(failed.value, "body", Wanted))
        assert (told["reason"], told["field"]) == (reason, field)


def test_every_status_has_its_own_reason_of_one_word():
    for found in classes():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", found.reason), found
        if "status" in vars(found):
            assert "reason" in vars(found), f"{found}: a status without a reason"


def test_every_specific_reason_is_documented():
    more = {found.reason for found in classes() if "reason" in vars(found) and "status" not in vars(found)}
    text = CONVENTIONS.read_text()
    assert {reason for reason in more if f"| `{reason}` |" not in text} == set()
