"""Everything that people read is plain English: interface, errors, docstrings, API description, manual, decisions,
benches, and packaging."""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import tomllib
from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest

from octavo.delivery.reader.views import FrameLabels
from octavo.sites.openapi.words import ENGLISH
from octavo.sites.printing.order import PrintWords

ROOT = Path(__file__).parents[1]

ODD = (
    r"\b(who|what|which|where|when|how)ever\b",
    r"\b(any|some|every|no)body\b",
    r"\bof (yours|mine|ours|theirs|its own|your own)\b",
    r"\bany more\b",
    r"\b(take|takes|taken|took|put|give|gives|given|gave) (it |them |all |this |that )?(back|off|out|away|up)\b",
    r"\b(mend|dissolve|settled?|begins?|began|begun|hands? in|handed in|brings? in|brought in|comes? in|came in)\b",
    r"\b(waits?|stands?) (for|here|there)\b",
    r"\bmay (do|see|read|write|not)\b",
    r"\bthat (is|are|was|were) (not )?(here|there)\b",
    r"\b(cannot|do not|does not|did not|is not|was not|could not)\b",
    r"\b(programs?|rights|hoster|proved?|second factor|picture|mails?|e-mail)\b",
    r"\b(colour\w*|neighbour\w*|organis\w*|behaviour|centre|cancelled|labelled)\b",
    r"\b(is|are|was|were) (told|gone|sent on|looked at|taken|given|said)\b",
    r"\w+, \w+ and \w+",
)
"""Turns of phrase, and spellings that are not American; a placeholder counts as nothing."""

USUAL = {"Before you begin": "the usual heading of what a guide requires"}
"""Texts that have one of them all the same, with the reason."""


def _app() -> dict[str, str]:
    texts = json.loads((ROOT / "web/shared/words/en.json").read_text())
    return {
        f"{key}.{form}": text
        for key, forms in texts.items()
        for form, text in (forms.items() if isinstance(forms, dict) else [("", forms)])
    }


def _labels(words: msgspec.Struct) -> dict[str, str]:
    return {name: value for name, value in msgspec.structs.asdict(words).items() if isinstance(value, str)}


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(_app(), id="the app"),
        pytest.param(_labels(FrameLabels()), id="published sites"),
        pytest.param(_labels(ENGLISH), id="API references"),
        pytest.param(_labels(PrintWords()), id="PDFs"),
    ],
)
def test_texts_are_plain_english(texts: dict[str, str]) -> None:
    odd = re.compile("|".join(f"(?:{pattern})" for pattern in ODD), re.IGNORECASE)
    found = {
        key: text
        for key, text in texts.items()
        if text not in USUAL and odd.search(re.sub(r"\{\w+\}", "", text))
    }
    assert found == {}


def test_exceptions_are_needed() -> None:
    assert set(USUAL) <= set(_app().values())


DECODED = (
    r"\b(whoever|whomever)\b",
    r"\b(any|some|every|no)body\b",
    r"\bof (yours|theirs|your own)\b",
    r"\bany more\b",
    r"\b(takes?|taken|took|puts?|gives?|given|gave) (it |them |all |this |that )?back\b",
    r"\b(hoster|second factor|e-mail)\b",
    r"\b(colour\w*|neighbour\w*|organis\w*|behaviour|centre|cancelled|labelled)\b",
    r"\b(is|are|was|were) (told|sent on|looked at)\b",
)
"""The patterns that also fit long texts, in which the words of the others have their usual meanings."""

_SOURCES = ROOT / "src/octavo"
CHECKED = sorted(
    {str(path.parent.relative_to(_SOURCES)) for path in _SOURCES.rglob("*.py") if path.name != "__init__.py"}
)
"""The packages whose error messages and docstrings are checked: all of them."""


def _find_decoded(texts: dict[str, str]) -> dict[str, str]:
    odd = re.compile("|".join(f"(?:{pattern})" for pattern in DECODED), re.IGNORECASE)
    return {key: text for key, text in texts.items() if odd.search(text)}


def _source_texts(path: Path) -> dict[str, str]:
    """Return the docstrings of a module and the literals of its raise statements, by line."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    found = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, documented) and (text := ast.get_docstring(node, clean=False)):
            found[f"{path.name}:{node.body[0].lineno}"] = text
        elif isinstance(node, ast.Raise) and node.exc:
            for part in ast.walk(node.exc):
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found[f"{path.name}:{part.lineno}:{part.col_offset}"] = part.value
    return found


@pytest.mark.parametrize("package", CHECKED)
def test_errors_and_docstrings_are_plain_english(package: str) -> None:
    paths = list((_SOURCES / package).glob("*.py"))
    # Only modules that have one of the words at all are parsed: that takes most of the time.
    texts = {
        f"{place} in {path.parent.name}": text
        for path in paths
        if _find_decoded({"": path.read_text()})
        for place, text in _source_texts(path).items()
    }
    assert _find_decoded(texts) == {}


def _documentation(path: Path, *, attributes: bool) -> dict[str, str]:
    """Return the docstrings and comments of a module, by line. ``attributes``: whether to include the docstrings of
    attributes."""
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    source = path.read_text()
    tree = ast.parse(source)
    found = {
        f"{path.name}:{node.body[0].lineno}": text
        for node in ast.walk(tree)
        if isinstance(node, documented) and (text := ast.get_docstring(node, clean=False))
    }
    if attributes:
        found |= {
            f"{path.name}:{node.lineno}": str(node.value.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            found[f"{path.name}:{token.start[0]}"] = token.string
    return found


UNUSUAL = (
    *DECODED,
    r"\b(who|whom|what|which|where)ever\b",
    r"\b(seldom|besides|meanwhile|shall|ought|thereof)\b",
    r"\b(after|out|in|back)wards\b",
    r"\btakes? long\b(?! enough)",
    r"\b(is|are|was|were) (gone|said)\b",
    r"\bthat (is|are|was|were) (not )?(here|there)\b",
    r"\bstands for\b|\bhears? of\b|\bfor good\b|\bleads? nowhere\b",
)
"""Words for which the source has a more common one. Quoted words of the data don't count."""

_UNUSUAL = re.compile("|".join(f"(?:{pattern})" for pattern in UNUSUAL), re.IGNORECASE)


def _unusual(text: str) -> bool:
    return _UNUSUAL.search(re.sub(r"`+[^`]*`+|\"[^\"]*\"", "", " ".join(text.split()))) is not None


def test_docstrings_and_comments_use_common_words() -> None:
    # Files without any of the words are not parsed, because that takes most of the time.
    paths = [path for path in _SOURCES.rglob("*.py") if _UNUSUAL.search(" ".join(path.read_text().split()))]
    found = [
        f"{path.parent.relative_to(_SOURCES)}/{place}: {text}"
        for path in paths
        for place, text in _documentation(path, attributes=True).items()
        if _unusual(text)
    ]
    assert found == []


def test_comments_of_migrations_use_common_words() -> None:
    paths = list(_SOURCES.rglob("*.sql"))
    assert len(paths) > 50
    found = [
        f"{path.name}: {comment}"
        for path in paths
        for comment in re.findall(r"--[^\n]*(?:\n\s*--[^\n]*)*", path.read_text())
        if _unusual(comment.replace("--", " "))
    ]
    assert found == []


_NO_VERB = re.compile(r"(The|A|An|What|Whether|Who|Where|When|Any)\b|(Do|Does) the same\b")
"""How a docstring of a function begins that does not say what the function does."""


def _docstrings(paths: Iterable[Path]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the docstrings of functions, properties aside, and the others of classes and properties, by line."""
    functions, others = dict[str, str](), dict[str, str]()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                if text := ast.get_docstring(node):
                    described = isinstance(node, ast.ClassDef) or "property" in ast.unparse(
                        node.decorator_list
                    )
                    (others if described else functions)[f"{path.name}:{node.lineno}"] = text
    return functions, others


_PUZZLE = re.compile(
    # A docstring that starts with a parameter instead of a sentence.
    r"\A\s*``\w"
    # A question instead of the returned value.
    r"|\b(?:Return|Returns|Yield) (?:what|how|who|where|why)\b"
    # A parameter that is described by a fragment.
    r"|``[\w.]+``: (?:of|that of|those of|up to|since|until|only|also|it|they|is|has)\b"
)
"""Patterns in docstrings that native readers must read twice."""


@pytest.mark.parametrize("package", CHECKED)
def test_docstrings_are_imperative_and_describe_return_values_and_parameters(package: str) -> None:
    functions, others = _docstrings((_SOURCES / package).glob("*.py"))
    assert {place: text for place, text in functions.items() if _NO_VERB.match(text)} == {}
    texts = functions | others
    assert {place: text for place, text in texts.items() if _PUZZLE.search(" ".join(text.split()))} == {}


_THIRD_PERSON = re.compile(r"[A-Z][a-z]+(?<!s)s (a|an|the|all|each|every|one|this|what)\b")
"""How a docstring starts that says what a function does instead of telling it to."""


def test_docstrings_of_scripts_are_imperative() -> None:
    scripts = [*ROOT.glob("bench/*.py"), *ROOT.glob("packaging/*.py"), *ROOT.glob("web/*.py")]
    docstrings, _ = _docstrings(scripts)
    assert len(docstrings) > 100
    wrong = {
        place: text for place, text in docstrings.items() if _NO_VERB.match(text) or _THIRD_PERSON.match(text)
    }
    assert wrong == {}


_RIDDLE = re.compile(
    r"def (test_(?:who_\w+"
    r"|\w*(?:whoever|somebody|nobody|everybody|anybody|_any_more|colour|neighbour|licence|misspelt|cancelled)\w*"
    r"|\w*_(?:told|tells|anew|meanwhile|sealed|settled?|settles|begun|begins?|brings|brought|besides?|may|leads?)(?:_\w+)?"
    r"|\w*_(?:(?:is|are)_(?:none|said)|goes?_on|(?:take|taken|give|given|bring|come|comes)_(?:back|in|up))(?:_\w+)?))\("
)
"""Patterns of names that need a second look."""


def test_names_of_tests_state_the_assertion() -> None:
    paths = (ROOT / "tests").rglob("test_*.py")
    assert [name for path in paths for name in _RIDDLE.findall(path.read_text())] == []


def test_docstrings_of_tests_are_plain_english() -> None:
    """Helpers say what they do, and no text has the old phrases. Tests can state why."""
    paths = [path for path in (ROOT / "tests").rglob("*.py") if path.name != "test_english.py"]
    texts = {
        f"{place} in {path.parent.name}": text
        for path in paths
        if _find_decoded({"": path.read_text()})
        for place, text in _documentation(path, attributes=False).items()
    }
    assert _find_decoded(texts) == {}
    helpers, _ = _docstrings(path for path in paths if not path.name.startswith("test_"))
    assert len(helpers) > 300
    wrong = {
        place: text for place, text in helpers.items() if _NO_VERB.match(text) or _THIRD_PERSON.match(text)
    }
    assert wrong == {}


def test_descriptions_of_the_api_are_plain_english() -> None:
    meanings = tomllib.loads((ROOT / "src/octavo/operations/meanings.toml").read_text())
    texts = {"introduction": meanings["introduction"]}
    texts |= {f"areas.{name}": area["about"] for name, area in meanings["areas"].items()}
    for section in ("properties", "parameters", "schemas"):
        texts |= {f"{section}.{name}": text for name, text in meanings[section].items()}
    assert len(texts) > 1500
    assert _find_decoded(texts) == {}


PROSE = (
    *DECODED,
    r"\b(who|whom|what|which|where)ever\b",
    r"\bof ours\b",
    r"\b(takes?|taken|took|puts?|gives?|given|gave) (it |them |all |this |that )?(off|out|away)\b",
    r"\b(mends?|dissolves?|begins?|began|begun)\b",
    r"\b(hand|hands|handed|bring|brings|brought|come|comes|came) in\b",
    r"\bstands? (here|there|beside)\b",
    r"\bmay (do|see|read|write|not)\b",
    r"\bthat (is|are|was|were) (not )?(here|there)\b",
    r"\b(rights|proved|sealed)\b",
    r"\b(licence\w*|synchronis\w*|analys(e|ed|es|ing))\b",
    r"\b(is|are|was|were) (gone|said)\b",
    r"\b(shall|ought|besides|thereof)\b|\bfor good\b|\bhears? of\b",
    r"\b(links?|URLs?|references?|redirects?|paths?) (that )?(leads?|led)\b|\bleads? nowhere\b",
    r"\b(cannot|(do|does|did|is|are|was|were|has|have|could|will) not)\b",
    r"(?-i:(?:^|(?<=[.!?] ))(What|Who) [^.?!:|]*\.(?= |$))",
)
"""The patterns for pages: the manual, the decisions, and what lies beside them."""

CODE = re.compile(
    r"(?ms)^( *)(`{3,})[^\n]*\n.*?^ *\2`* *$"
    r"|<(pre|code|style)\b.*?</\3>|<[^>]*>|\]\([^)]*\)|`+[^`]*`+"
    r"|\{%.*?%\}|\{\{.*?\}\}|https?://\S+|\$\$.*?\$\$"
)
"""Parts of a Markdown file that are no prose: code, markup, and the targets of links."""

FILES = sorted(
    [
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("decisions/*.md"),
        *(ROOT / name for name in ("README.md", "CHANGELOG.md", "SECURITY.md")),
    ]
)


def _prose(path: Path) -> str:
    return CODE.sub(lambda found: "\n" * found[0].count("\n"), path.read_text())


_ODD_PROSE = re.compile("|".join(f"(?:{pattern})" for pattern in PROSE), re.IGNORECASE | re.MULTILINE)


def _find_odd(path: Path, text: str, first: int = 1) -> list[str]:
    """Return the places of odd phrases in a text of a file that starts at line ``first``."""
    return [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for number, line in enumerate(text.splitlines(), first)
        for match in _ODD_PROSE.finditer(line)
    ]


def test_pages_are_plain_english() -> None:
    assert [place for path in FILES for place in _find_odd(path, _prose(path))] == []


TOOLS = sorted(
    path
    for pattern in ("packaging/**/*", "bench/*.py", "web/*.py")
    for path in ROOT.glob(pattern)
    if path.is_file() and path.suffix != ".pyc"
)
"""The files for building, packaging, and measuring."""


def test_scripts_for_building_and_measuring_are_plain_english() -> None:
    """Comments, docstrings, and other texts are checked."""
    found = []
    for path in TOOLS:
        if path.suffix == ".py":
            with path.open("rb") as file:
                for token in tokenize.tokenize(file.readline):
                    if token.type in (tokenize.COMMENT, tokenize.STRING):
                        found += _find_odd(path, token.string, token.start[0])
    assert len(TOOLS) > 50
    assert found == []


def test_files_for_packaging_are_plain_english() -> None:
    paths = [path for path in TOOLS if path.suffix != ".py"]
    paths += [ROOT / name for name in ("Makefile", ".ci/run", "pyproject.toml")]
    assert [place for path in paths for place in _find_odd(path, path.read_text())] == []


@pytest.mark.parametrize(
    "text",
    [
        "Whoever comes to an old address is sent on.",
        "The token is taken back.",
        "What waits here is shown.",
        "Roles are not inherited.",
        "People may not see it any more.",
    ],
)
def test_prose_in_the_old_idiom_is_found(text: str) -> None:
    assert _ODD_PROSE.search(text)


_FENCED = re.compile(r"(?ms)^( *)(`{3,})[^\n]*\n.*?^ *\2`* *$")
_CELLS = re.compile(r"^\|[^\n]*\|$", re.MULTILINE)


def test_cells_of_tables_start_with_a_capital() -> None:
    """Names of caches in a table are given as metrics have them."""
    found = [
        f"{path.relative_to(ROOT)}: {cell.strip()[:60]}"
        for path in ROOT.glob("docs/**/*.md")
        if path.name not in ("memory.md", "architecture.md")
        for row in _CELLS.findall(_FENCED.sub("", path.read_text()))
        for cell in re.sub(r"`+[^`]*`+", "Code", row).split("|")
        if re.match(r"\[?[a-z]", cell.strip()) and not re.match(r"nginx|cURL", cell.strip())
    ]
    assert found == []


def test_changelog_is_short() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text().splitlines()
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 160 or len(line.split()) > 26] == []


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()).replace(" ", "-")


def test_index_lists_every_decision() -> None:
    listed = re.findall(r"^- \[(.+)\]\((.+)\)$", (ROOT / "decisions/README.md").read_text(), re.MULTILINE)
    titles = [
        (title, f"{path.name}#{_anchor(title)}")
        for path in ROOT.glob("decisions/*.md")
        if path.name != "README.md"
        for title in re.findall(r"^## (.+)$", path.read_text(), re.MULTILINE)
    ]
    assert len(titles) > 500
    assert sorted(listed) == sorted(titles)
    assert len({title for title, _ in titles}) == len(titles)


_COMMENT = re.compile(r"^\s*(?:/\*\*?|\*|//|<!--) (.*)$")


def test_comments_of_the_app_are_plain_english() -> None:
    paths = [path for path in (ROOT / "web").rglob("*") if path.suffix in (".ts", ".svelte", ".css", ".js")]
    comments = {
        f"{path.relative_to(ROOT)}:{number}": found[1]
        for path in paths
        if not {"node_modules", "generated"} & set(path.parts)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (found := _COMMENT.match(line))
    }
    assert len(comments) > 1500
    assert _find_decoded(comments) == {}
