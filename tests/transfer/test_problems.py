"""Tests that every import problem has a text in the app and a row in the manual."""

from __future__ import annotations

import ast
import re
from functools import cache

from ..tools import ROOT

SOURCES = (
    *sorted((ROOT / "src/octavo/interchange/readers").rglob("*.py")),
    *sorted((ROOT / "src/octavo/interchange/transfer").rglob("*.py")),
    *(
        ROOT / f"src/octavo/core/{name}.py"
        for name in ("import_plan", "problems", "sources", "space_config", "summary")
    ),
)


@cache
def find_codes():
    """Return the codes in these files: arguments of a parameter called `code`, and values assigned to a name
    `code`."""
    trees = [ast.parse(path.read_text()) for path in SOURCES]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    places = {"Problem": {2}}
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            names = [one.arg for one in node.args.args if one.arg != "self"]
            if "code" in names:
                places.setdefault(node.name, set()).add(names.index("code"))
    given = []
    for node in nodes:
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            given += [node.args[at] for at in places.get(name, ()) if at < len(node.args)]
        elif isinstance(node, ast.Constant) and re.fullmatch(r"\w+_left_out", str(node.value)):
            given.append(node)
    said = {str(one.value) for one in given if isinstance(one, ast.Constant)}
    return {code for code in said if re.fullmatch(r"[a-z]+(?:_[a-z0-9]+)*", code)}


def test_all_problem_codes_are_found():
    assert {
        "broken_link",
        "unclear_markup",
        "comments_left_out",
        "missing_include",
        "unread_line",
    } <= find_codes()


def test_the_app_has_a_text_for_each_code():
    words = (ROOT / "web/studio/screens/import/kinds.ts").read_text()
    assert sorted(find_codes() - set(re.findall(r"^  (\w+): [{A-Z]", words, re.MULTILINE))) == []


def test_the_manual_explains_each_code():
    manual = "\n".join(path.read_text() for path in sorted((ROOT / "docs/content").rglob("*.md")))
    said = {
        code
        for row in re.findall(r"^\| (`[^|]*) \|", manual, re.MULTILINE)
        for code in re.findall(r"`(\w+)`", row)
    }
    assert sorted(find_codes() - said) == []
