"""Which API changes break callers: the table of the manual, one case for each cell."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from octavo.cli.main import main
from octavo.sites.openapi.comparing import compare
from octavo.sites.openapi.compiling import compile_description
from octavo.sites.openapi.description import ApiDescription
from world import World

from .specs import SPEC, processed

PETS = Path(__file__).parents[1] / "pets.yaml"
Edit = Callable[[Any], Any]


def _old() -> Any:
    return json.loads(compile_description(PETS.read_bytes()).document)


def _changes(edit: Edit, back: bool = False) -> list[tuple[bool, str, str]]:
    old = _old()
    new = copy.deepcopy(old)
    edit(new)
    pair = (new, old) if back else (old, new)
    return [(c.breaking, c.operation, c.message) for c in compare(*map(ApiDescription, pair))]


def _get(spec: Any) -> Any:
    return spec["paths"]["/pets"]["get"]


def _answer(spec: Any) -> Any:
    spec["components"]["schemas"]["Answer"] = {
        "type": "object",
        "required": ["id"],
        "properties": {"id": {"type": "integer"}, "kind": {"enum": ["a"]}},
    }
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Answer"}}}
    spec["paths"]["/stores"]["get"]["responses"]["200"]["content"] = content
    return spec["components"]["schemas"]["Answer"]


CASES: list[tuple[str, Edit, bool, bool | None]] = [
    ("operation gone", lambda s: s["paths"].pop("/stores"), True, False),
    ("operation deprecated", lambda s: _get(s).update(deprecated=True), False, None),
    ("other authentication", lambda s: _get(s).update(security=[{"key": []}]), True, True),
    ("a further way", lambda s: _get(s).update(security=[{"token": []}, {"key": []}]), False, True),
    ("none asked for", lambda s: _get(s).update(security=[]), False, True),
    ("parameter gone", lambda s: _get(s)["parameters"].pop(1), True, False),
    ("parameter optional", lambda s: _get(s)["parameters"][0].pop("required"), False, True),
    ("required parameter gone", lambda s: _get(s)["parameters"].pop(0), True, True),
    ("limit stricter", lambda s: _get(s)["parameters"][0]["schema"].update(maximum=50), True, False),
    ("type wider", lambda s: _get(s)["parameters"][0]["schema"].update(type="number"), False, True),
    ("pattern", lambda s: _get(s)["parameters"][0]["schema"].update(pattern="^1"), True, False),
    ("value of a request gone", lambda s: s["components"]["schemas"]["Status"]["enum"].pop(), True, True),
    ("body optional", lambda s: s["paths"]["/pets"]["post"]["requestBody"].pop("required"), False, True),
    ("response gone", lambda s: _get(s)["responses"].pop("200"), True, False),
    ("error response gone", lambda s: _get(s)["responses"].pop("default"), False, False),
    (
        "media type gone",
        lambda s: s["paths"]["/pets"]["post"]["requestBody"]["content"].pop("application/json"),
        True,
        False,
    ),
    (
        "property of an answer gone",
        lambda s: s["components"]["schemas"]["Problem"]["properties"].pop("message"),
        True,
        False,
    ),
]


@pytest.mark.parametrize(("name", "edit", "breaks", "back"), CASES, ids=[case[0] for case in CASES])
def test_breaking_changes_are_recognized(name: str, edit: Edit, breaks: bool, back: bool | None) -> None:
    found = _changes(edit)
    assert found, "nothing was noticed"
    assert any(breaking for breaking, _, _ in found) is breaks, found
    if back is not None:
        found = _changes(edit, back=True)
        assert any(breaking for breaking, _, _ in found) is back, found


def test_new_optional_properties_are_compatible() -> None:
    old = _old()
    _answer(old)
    new = copy.deepcopy(old)
    answer = new["components"]["schemas"]["Answer"]
    answer["required"] = []
    answer["properties"]["kind"]["enum"].append("b")
    answer["properties"]["id"]["type"] = ["integer", "null"]
    answer["properties"]["more"] = {"type": "string"}
    found = {(c.place, c.message): c.breaking for c in compare(ApiDescription(old), ApiDescription(new))}
    assert found == {
        ("response 200, id", "The property is now optional."): True,
        ("response 200, id", "The type changed from integer to integer or null."): True,
        ("response 200, kind", "The value b was added."): True,
        ("response 200, more", "The property was added."): False,
    }


def test_identical_specifications_have_no_changes() -> None:
    assert compare(ApiDescription(_old()), ApiDescription(_old())) == []


def test_a_recursive_schema_is_compared() -> None:
    found = _changes(lambda s: s["components"]["schemas"]["Pet"]["properties"].pop("id"))
    assert 0 < len(found) < 20


def test_versions_are_compared(world: World) -> None:
    first = world.home["versionId"]
    path = world.home.path(SPEC) + "/versions"
    assert world.get("reader", f"{path}/{first}/changes") == {
        "version": first,
        "breaking": False,
        "changes": [],
    }
    text = PETS.read_text().replace("    delete:", "    put:")
    second = processed(world, "pets", {"text": text})["lastVersion"]
    found = world.get("reader", f"{path}/{second}/changes")
    assert (found["since"], found["breaking"]) == (first, True)
    assert [change["kind"] for change in found["changes"]] == ["removed", "added"]
    back = world.get("reader", f"{path}/{first}/changes?since={second}")
    assert back["changes"][0]["operation"] == "PUT /pets/{petId}"
    assert world.call("reader", "GET", f"{path}/{second}/changes?since=nothing").status_code == 404
    foreign = world.away["versionId"]
    assert world.call("reader", "GET", f"{path}/{second}/changes?since={foreign}").status_code == 404


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["openapi", "diff", *arguments])
    return int(ended.value.code or 0)


def test_the_exit_code_of_the_command_reports_its_findings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new, wrong = tmp_path / "new.yaml", tmp_path / "wrong.yaml"
    spec = yaml.safe_load(PETS.read_text())
    spec["paths"].pop("/stores")
    new.write_text(yaml.safe_dump(spec))
    wrong.write_text("openapi: 3.1.0\n")
    assert _run(str(PETS), str(PETS)) == 0
    assert _run(str(new), str(PETS)) == 0
    capsys.readouterr()
    assert _run(str(PETS), str(new), "--json") == 1
    assert msgspec.json.decode(capsys.readouterr().out)[0]["operation"] == "GET /stores"
    assert _run(str(PETS), str(wrong)) == 2
    assert "wrong.yaml:1: #:" in capsys.readouterr().err
    assert _run(str(PETS), str(tmp_path / "nothing")) == 2
