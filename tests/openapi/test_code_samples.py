"""Code samples: content of a description is inside them as text, and browsers write the same as the server."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from octavo.delivery.reader.drawing import find_asset
from octavo.sites.openapi.code_samples import (
    Basic,
    Env,
    SampleCall,
    SampleField,
    SentBody,
    body_text,
    example_call,
    list_templates,
    samples,
    templates,
    write_sample,
)
from octavo.sites.openapi.description import ApiDescription
from octavo.sites.openapi.examples import media_example

AWKWARD = "q\" ' ` $x ${y} #{z} \\(s) \\ </script> ü 字 @- %"
CALLS = [
    SampleCall("GET", "https://api.example.com", "/plain"),
    SampleCall(
        "POST",
        "https://api.example.com",
        "/repos/{owner}/{repo}",
        {"owner": "octo cat/é", "repo": ""},
        (("state", ("open & *",)), ("key", (Env("API_KEY"),))),
        (("Authorization", ("Bearer ", Env("API_TOKEN"))), ("Content-Type", ("application/json",))),
        SentBody(
            "json",
            "application/json",
            json.dumps({"title": AWKWARD, "x-y": [{"b": None, "c": 1.5, "e": {}}], "f": [True]}, indent=1),
        ),
    ),
    SampleCall(
        "POST",
        "https://api.example.com",
        "/up",
        headers=(("Authorization", ("Basic ", Basic("API_USER", "API_PASSWORD"))), ("X", (AWKWARD,))),
        body=SentBody(
            "multipart",
            "multipart/form-data",
            fields=(SampleField("a", AWKWARD), SampleField("f", path="file")),
        ),
        streams=True,
    ),
    SampleCall(
        "PUT",
        "https://api.example.com",
        "/form",
        body=SentBody(
            "form",
            "application/x-www-form-urlencoded",
            fields=(SampleField("a", "1 ü&"), SampleField("b", "")),
        ),
    ),
    SampleCall("PUT", "https://api.example.com", "/file", body=SentBody("file", "image/png", path="a.png")),
    SampleCall(
        "POST",
        "https://api.example.com",
        "/text",
        body=SentBody("text", "text/plain", f"a\n{AWKWARD}\n'@\nJSON"),
    ),
    SampleCall(
        "POST",
        "https://api.example.com",
        "/odd",
        body=SentBody("json", "application/json", '{"cut": \n"JSON'),
    ),
    SampleCall("GET", "https://api.example.com", "/a/{b}{c}", {"c": "x/y"}, encoded={"b": ".u,v;w=%2F"}),
]


def test_browsers_generate_the_same_samples(tmp_path: Path) -> None:
    script = find_asset("samples.js")
    assert script is not None
    program = tmp_path / "samples.js"
    ask = (
        f"const calls = {msgspec.json.encode(CALLS).decode()}; const {{ templates, write }} = globalThis.octavoSamples;"
        "console.log(JSON.stringify(calls.map((call) => templates.map((t) => write(t, call)))));"
    )
    program.write_text(f"{script.content.decode()}\n{ask}")
    deno = Path(sys.executable).parent / "deno"
    done = subprocess.run([deno, "run", "--no-prompt", program], capture_output=True, text=True, check=True)
    theirs = json.loads(done.stdout)
    for call, row in zip(CALLS, theirs, strict=True):
        for template, made in zip(templates(), row, strict=True):
            assert made == write_sample(template, call), (template.library, call.path)


def test_samples_exist_for_many_libraries() -> None:
    assert len(templates()) >= 17 and len({each.language for each in templates()}) >= 12
    for call in CALLS:
        found = samples(call)
        assert len(found) >= 12
        assert all(each.source and "[[" not in each.source.replace("[[[", "") for each in found)
    # Libraries that can't send files with fields aren't offered for that.
    assert "HttpClient" not in {each.library for each in list_templates(CALLS[2]) if each.language == "Java"}


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40))
def test_python_samples_contain_the_given_values(text: str) -> None:
    """Python code can be parsed again: its literals equal the values to send."""
    import ast

    call = SampleCall(
        "POST", "https://a", "/b", body=SentBody("json", "application/json", json.dumps({"k": [text]}))
    )
    source = write_sample(next(t for t in templates() if t.library == "requests"), call)
    literals = {node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)}
    assert text in literals


@pytest.mark.parametrize("text", [AWKWARD, "a\nb", "it's"])
def test_shell_samples_send_the_given_values(text: str) -> None:
    call = SampleCall(
        "POST", "https://a", "/b", headers=(("X", (text,)),), body=SentBody("text", "text/plain", text)
    )
    source = write_sample(templates()[0], call)
    said = subprocess.run(
        ["/bin/sh", "-c", 'curl() { printf "%s\\0" "$@"; }\n' + source],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split("\0")
    assert f"X: {text}" in said and text in said


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
@example([2**70, "\ud800"])
@settings(max_examples=50)
def test_a_body_is_formatted_as_json(value: object) -> None:
    indent = 2 if isinstance(value, (dict, list)) else None
    if not isinstance(value, str):
        assert body_text("application/json", value) == json.dumps(value, indent=indent, ensure_ascii=False)


def test_an_example_of_a_schema_is_generated_once_for_all_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    schemas = {f"S{n}": {"properties": {"number": {"const": n}}} for n in range(70)}
    description = ApiDescription({"components": {"schemas": schemas}})
    made: list[str] = []
    follow = description.follow
    monkeypatch.setattr(description, "follow", lambda value: made.append("") or follow(value))

    def example_of(number: int) -> object:
        media = {"schema": {"$ref": f"#/components/schemas/S{number}"}}
        return media_example(description, media, "response")

    assert [example_of(n) for n in range(70)] == [{"number": n} for n in range(70)]
    made.clear()
    assert example_of(69) == {"number": 69} and not made
    # The oldest were dropped from the cache.
    assert example_of(0) == {"number": 0} and made


def test_secrets_are_shown_as_variable_names() -> None:
    schemes = {
        "bearer": {"type": "http", "scheme": "bearer"},
        "basic": {"type": "http", "scheme": "basic"},
        "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
        "cookie": {"type": "apiKey", "in": "cookie", "name": "session"},
        "own": {"type": "http", "scheme": "bearer", "x-gitbook-token-placeholder": "YOURS"},
    }
    operation = {
        "parameters": [
            {"name": "lang", "in": "cookie", "required": True, "schema": {"type": "string", "example": "de"}}
        ],
        "responses": {"200": {"description": "It", "content": {"text/event-stream": {}}}},
    }
    said = {}
    for name in schemes:
        data = {
            "info": {"title": "Pet Shop"},
            "servers": [{"url": "https://a"}],
            "security": [{name: []}],
            "components": {"securitySchemes": schemes},
            "paths": {"/p": {"get": operation}},
        }
        description = ApiDescription(data)
        call = example_call(description, description.operations["get /p"])
        assert call.streams
        said[name] = write_sample(templates()[0], call)
    assert "Bearer $PET_TOKEN" in said["bearer"] and "$PET_USER:$PET_PASSWORD" in said["basic"]
    assert "X-Key: $PET_KEY" in said["key"] and "Bearer YOURS" in said["own"]
    assert "Cookie: lang=de; session=$PET_KEY" in said["cookie"] and "Cookie: lang=de'" in said["basic"]
    assert all("curl -N " in each for each in said.values())
