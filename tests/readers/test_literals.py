"""Values in code files, read without running them."""

from __future__ import annotations

from typing import Any

import pytest

from octavo.interchange.readers.markdown.literals import (
    UNKNOWN,
    Module,
    read_constant,
    read_export,
    read_literal,
    read_statements,
)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("{a: 1, 'b-c': [1, 2.5, -3], ...d, e() { return [1] }}", {"a": 1, "b-c": [1, 2.5, -3], "e": [1]}),
        ("{/* c */ a: 1, // d\n 2: true, [k]: 4}", {"a": 1, "2": True}),
        ("{async a() { return 2 }, get b() { return 3 }}", {"a": 2, "b": 3}),
        ("`a${1}b` + 'c\\u{1F600}\\x41\\n' + 1", "a1bc😀A\n1"),
        ("`a${b}`", UNKNOWN),
        ("() => ({ a: undefined })", {"a": None}),
        ("{ a: 'x' } satisfies Config", {"a": "x"}),
        ("['x' as const, y!]", ["x", UNKNOWN]),
        ("[50 * 1024, a ? 1 : 2, /x/, [1].map((one) => one)]", [UNKNOWN] * 4),
        ("new Map([['a', 1]])", [["a", 1]]),
        ("withPlugin({ a: 1 })({ b: 2 })", {"a": 1, "b": 2}),
        ("themes.github({ a: 1 })", {"a": 1}),
        ("1_000 ", 1000),
        ("0x1F", 31),
        ("-Infinity", UNKNOWN),
        ("a, b", UNKNOWN),
        ("1; 2", UNKNOWN),
        ("", UNKNOWN),
        ("<b>x</b>", UNKNOWN),
    ],
)
def test_literals_are_read(written: str, value: Any) -> None:
    assert repr(read_literal(written)) == repr(value)


@pytest.mark.parametrize(
    "text",
    [
        "const a = { b: 1 };\nexport default a;",
        "module.exports = { b: 1 };",
        "export default defineConfig(async () => {\n  const c = 2;\n  return { b: 1 };\n});",
        "export default function config(): Config { return { b: 1 }; }",
        "import type { Config } from 'x';\nconst a: Config<'x'> = { b: 1 };\nexport default a satisfies Config;",
        "let a: number;\nexport default { b: c(1) };\nfunction c(d: number) { if (d) return 2; return 1; }",
    ],
)
def test_exports_are_read(text: str) -> None:
    assert read_export(text) == {"b": 1}


def test_values_of_other_files_are_read() -> None:
    files = {
        "./one": "export const a = 1, b = [2];\nexport * from './two';",
        "./two": "export default { c: 3 };\nexport function d() { return 'd' }",
        "./three": "module.exports = { e: 5 };",
    }

    def take(path: str) -> Module | None:
        return Module(files[path], take) if path in files else None

    text = """
    import two, { d as other } from './two'
    import * as all from './one'
    const { e, x: f } = require('./three')
    export { b } from './one'
    export const g = require('./three').e
    export const list = [two.c, other, all.a, e, f, g, b]
    """
    assert read_constant(Module(text, take), "list") == [3, "d", 1, 5, UNKNOWN, 5, [2]]
    assert read_constant(Module("import { d } from './one'\nconst x = d", take), "x") == "d"


@pytest.mark.parametrize(
    "text", ["{ a: 1)", "[1)", "{ a: b(c)) }", "{ a: 'x }", "`${", "{" * 5000, "[" * 5000, "a => " * 5000]
)
def test_parsing_of_invalid_code_ends(text: str) -> None:
    """A closing bracket of another kind was waited for forever."""
    read_export(f"export default {text}")
    assert read_literal(text) is UNKNOWN


def test_statements_of_a_page_are_read() -> None:
    found = read_statements(
        "import One, { two as three } from './a.mdx'\nimport * as all from 'b'\nexport const c = [1], d = e()"
    )
    assert found is not None
    assert found.imports == {"One": ("./a.mdx", ""), "three": ("./a.mdx", "two"), "all": ("b", "*")}
    assert found.constants == {"c": [1], "d": UNKNOWN}
    for text in ("import this text", "export the data", "export const a = {", "const a = 1", "# A"):
        assert read_statements(text) is None
