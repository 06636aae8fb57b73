"""The served description compared with the newest public one: every difference is listed with its reason."""

from __future__ import annotations

import pytest

from octavo.operations.installation import load_packages
from octavo.operations.meanings import describe_operations
from tools import PublicApi
from world import URL

from .differences import Comparison, listed_differences

load_packages()

LISTED = {difference: one.reason for one in listed_differences() for difference in one.of}


@pytest.fixture(scope="module")
def found(newest_api: PublicApi) -> set[str]:
    return set(Comparison(describe_operations(f"{URL}/v1", "0"), newest_api.description).differences())


def test_every_difference_from_the_newest_description_is_listed(found: set[str]) -> None:
    assert sorted(found - set(LISTED)) == []


def test_every_listed_difference_exists(found: set[str]) -> None:
    assert sorted(set(LISTED) - found) == []


def test_every_reason_is_a_sentence() -> None:
    assert all(one.reason.endswith(".") and (one.of or one.answers) for one in listed_differences())


def test_missing_parts_are_detected() -> None:
    """In answers, bodies, parameters, statuses, and enumerations, also below references and alternatives."""

    def described(answer: dict, body: dict, parameters: list, *codes: str) -> dict:
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Team"}}}
        return {
            "paths": {
                "/teams/{teamId}": {
                    "patch": {
                        "operationId": "updateTeam",
                        "parameters": parameters,
                        "requestBody": {"content": {"application/json": {"schema": body}}},
                        "responses": {code: {"description": "", "content": content} for code in codes},
                    }
                }
            },
            "components": {"schemas": {"Team": answer}},
        }

    old = described(
        {
            "type": "object",
            "properties": {"kind": {"type": "string", "enum": ["a"]}, "id": {"type": "string"}},
        },
        {"type": "object", "properties": {"title": {"type": "string"}}},
        [],
        "200",
    )
    new = described(
        {
            "allOf": [
                {"type": "object", "properties": {"kind": {"type": "string", "enum": ["a", "b"]}}},
                {
                    "type": "object",
                    "properties": {"parent": {"$ref": "#/components/schemas/Team"}, "id": {"type": "string"}},
                    "required": ["parent"],
                },
            ]
        },
        {"type": "object", "properties": {"title": {"type": "string"}, "color": {"type": "string"}}},
        [{"name": "prefer", "in": "header", "schema": {"type": "string"}}],
        "200",
        "204",
    )
    assert set(Comparison(old, new).differences()) == {
        "answer Team.kind = b",
        "answer Team.parent (required)",
        "body updateTeam.color",
        "header updateTeam.prefer",
        "status updateTeam 204",
    }
    assert not list(Comparison(new, old).differences())
