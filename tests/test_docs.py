"""Check the settings, commands, operations, and examples in the manual against the program."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl

import msgspec
import pytest

from octavo.assistants.findings.scanning import scan_now
from octavo.assistants.findings.styleguides import list_packages
from octavo.cli.main import create_command_parser
from octavo.core.icons import icon
from octavo.core.page_fields import FRONT_KEYS
from octavo.kit.http.operation import TABLE, Operation
from octavo.kit.work import jobs
from octavo.operations.admin.import_export import import_space
from octavo.operations.admin.site_checks import CheckLimits, check_site
from octavo.operations.installation import load_packages
from octavo.organization.portal.drawing import FILES as PORTAL_FILES
from octavo.settings import PREFIX, Settings
from octavo.sites.site.store import find_site_of_space
from world import World

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])
FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
SPAN = re.compile(r"`([^`\n]+)`")
load_packages()


def _where(page: Path, text: str, at: int) -> str:
    return f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, at) + 1}"


def _texts() -> Iterator[tuple[Path, str]]:
    for page in PAGES:
        yield page, page.read_text()


def test_images_of_the_manual_are_small() -> None:
    large = [path.name for path in ROOT.glob("docs/.gitbook/assets/*") if path.stat().st_size > 120_000]
    assert not large


def test_every_icon_of_the_manual_exists() -> None:
    named = {
        (page.name, name) for page, text in _texts() for name in re.findall(r"^icon: (\S+)$", text, re.M)
    }
    assert named and not {(page, name) for page, name in named if icon(name) is None}


def test_the_manual_lists_the_front_matter_of_pages() -> None:
    rows = re.findall(r"^\| (`[^|]+`) \| .+ \|$", (ROOT / "docs/content/format.md").read_text(), re.M)
    missing = FRONT_KEYS - {key for row in rows for key in SPAN.findall(row)}
    assert not missing, "add these keys to the table in docs/content/format.md"


# --- settings -----------------------------------------------------------------------------------------

ROW = re.compile(r"^\| (`OCTAVO_.*?) \| (.*?) \| (.*) \|$", re.M)


def test_every_setting_is_in_the_manual_with_its_default() -> None:
    defaults = dict[str, str]()
    for names, default, _ in ROW.findall((ROOT / "docs/running/settings.md").read_text()):
        # A bar within a cell of a table is escaped.
        defaults.update(dict.fromkeys(SPAN.findall(names), default.replace("\\|", "|")))
    wrong = []
    for field in msgspec.structs.fields(Settings):
        said = defaults.pop(f"{PREFIX}{field.name.upper()}", None)
        if said is None:
            wrong.append(f"{field.name} is not there")
        elif field.default not in ("", False) and said.lower() != f"`{field.default}`".lower():
            wrong.append(f"{field.name}: {said}, but it is {field.default}")
    assert not wrong
    assert not defaults, "no such settings"


def test_the_manual_names_no_other_settings() -> None:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.__struct_fields__}
    wrong = [
        f"{_where(page, text, found.start())}: {found[0]}"
        for page, text in _texts()
        for found in re.finditer(rf"\b{PREFIX}[A-Z_]+\b", text)
        if found[0] not in known and not found[0].startswith(f"{PREFIX}TEST_")
    ]
    assert not wrong, "\n".join(wrong)


# --- commands -----------------------------------------------------------------------------------------


parser_of_all = cache(create_command_parser)


def _commands(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def _wrong_in(line: str) -> str | None:
    """Return the parts of a command line that the parser rejects. Placeholders for values are accepted."""
    words = shlex.split(re.sub(r"[\[\]]", " ", line.partition(" #")[0].partition(" | ")[0]))
    parser = parser_of_all()
    words = words[1:]
    while words and (commands := _commands(parser)):
        if words[0].startswith("-"):
            break
        if words[0] not in commands:
            return f"there is no command {words[0]}"
        parser = commands[words.pop(0)]
    options = {option for action in parser._actions for option in action.option_strings}
    unknown = [word for word in words if word.startswith("--") and word.partition("=")[0] not in options]
    return f"no such options: {unknown}" if unknown else None


def test_commands_of_the_manual_are_valid() -> None:
    wrong, seen = [], 0
    for page, text in _texts():
        lines = [
            (found.start(), found[1]) for found in SPAN.finditer(FENCED.sub(lambda m: " " * len(m[0]), text))
        ]
        for block in FENCED.finditer(text):
            lines += [(block.start(), line.strip()) for line in block[2].replace("\\\n", " ").splitlines()]
        for at, line in lines:
            if re.match(r"(?:\.venv/bin/)?octavo [a-z-]", line):
                seen += 1
                if (error := _wrong_in(line)) is not None:
                    wrong.append(f"{_where(page, text, at)}: {line}: {error}")
    assert seen > 20
    assert not wrong, "\n".join(wrong)


def test_every_command_is_in_the_manual() -> None:
    text = (ROOT / "docs/running/command-line.md").read_text()
    missing = [name for name in _commands(create_command_parser()) if f"octavo {name}" not in text]
    assert not missing


# --- labels -------------------------------------------------------------------------------------------

ACTION = re.compile(r"(?<!\*)\b(?:[Ss]elect|[Oo]pen|[Cc]hoose|[Cc]lick)\b([^.;:]*)")
BOLD = re.compile(r"\*\*(.+?)\*\*")
OTHER_TOOLS = {"Export space", "Portable ZIP", "XML"}
"""Labels in other tools, from which content is exported."""


def _label_texts() -> tuple[set[str], list[re.Pattern[str]]]:
    """Return the labels of the app and of the sign-in pages, and patterns for labels with placeholders. A label in the
    manual can leave out what follows the first words, such as `Add to` for `Add to #{number}`."""
    catalog = msgspec.json.decode(
        (ROOT / "web/shared/words/en.json").read_bytes(), type=dict[str, str | dict[str, str]]
    )
    texts = {
        text for entry in catalog.values() for text in ([entry] if isinstance(entry, str) else entry.values())
    }
    for page in (ROOT / "src/octavo/organization/portal/templates").glob("*.html"):
        texts.update(re.findall(r"<button[^>]*>([^<]+)</button>", page.read_text()))
    composed = [text for text in texts if re.match(r"\w{3}.*\{", text)]
    texts.update(found[0] for text in composed if (found := re.match(r"[\w ]*\w(?=\W*\{)", text)))
    patterns = [re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(text))) for text in composed]
    return texts, patterns


def test_every_label_to_select_is_in_the_app() -> None:
    texts, patterns = _label_texts()
    seen, wrong = 0, []
    for page, text in _texts():
        prose = FENCED.sub(lambda block: " " * len(block[0]), text)
        for action in ACTION.finditer(prose):
            # A label can be a path, such as `Settings → Webhooks`, or a sign, such as `+`.
            for part in (part for label in BOLD.findall(action[1]) for part in label.split(" → ")):
                seen += 1
                known = part in texts or part in OTHER_TOOLS or not re.search(r"\w", part)
                if not known and not any(pattern.fullmatch(part) for pattern in patterns):
                    wrong.append(f"{_where(page, prose, action.start())}: {part}")
    assert seen > 200
    assert not wrong, "\n".join(wrong)


# --- operations ---------------------------------------------------------------------------------------

CALL = re.compile(r"\b(GET|POST|PUT|PATCH|DELETE) (?:(?:\.\.\.|…)(?=/)|/v1(?=/))?(/[^\s?]*)(?:\?(\S+))?$")


def _finds(path: str, is_end: bool, method: str) -> list[Operation]:
    """Return the operations that a path can mean; ``is_end``: its start was omitted; ``/...`` at its end: its
    end was."""

    def pattern(operation: Operation) -> str:
        parts = operation.path.split("/")
        template = "/".join(["", *parts[1 - len(path.split("/")) :]]) if is_end else operation.path
        return "".join(
            ".+" if part == "{pagePath}" else "[^/]+" if part.startswith("{") else re.escape(part)
            for part in re.split(r"(\{\w+\})", template)
        )

    found = [operation for operation in TABLE.values() if operation.method == method]
    if path.endswith("/..."):
        return [operation for operation in found if operation.path.startswith(path.removesuffix("..."))]
    return [op for op in found if re.fullmatch(pattern(op), path)]


def _parameters(operation: Operation) -> set[str]:
    query = operation.query
    return {field.encode_name for field in msgspec.structs.fields(query)} if query is not None else set()


def test_operations_of_the_manual_exist_with_their_parameters() -> None:
    others = {file.path for file in PORTAL_FILES} | {
        "/healthz",
        "/readyz",
        "/metrics",
        "/openapi.json",
        "/v1/openapi.json",
        "/docs",
    }
    wrong, seen = [], 0
    for page, text in _texts():
        for span in SPAN.finditer(FENCED.sub(lambda m: " " * len(m[0]), text)):
            if (found := CALL.match(span[1])) is None or found[2] in others:
                continue
            seen += 1
            operations = _finds(found[2], "..." in span[1] or "…" in span[1], found[1])
            asked = {name for name, _ in parse_qsl(found[3] or "", keep_blank_values=True)}
            if not any(asked <= _parameters(operation) for operation in operations):
                wrong.append(f"{_where(page, text, span.start())}: {span[1]}")
    assert seen > 40
    assert not wrong, "\n".join(wrong)


# --- examples -----------------------------------------------------------------------------------------


def test_json_in_the_manual_is_valid() -> None:
    wrong = []
    for page, text in _texts():
        for block in FENCED.finditer(text):
            if block[1] == "json":
                try:
                    msgspec.json.decode(block[2])
                except msgspec.DecodeError as error:
                    wrong.append(f"{_where(page, text, block.start())}: {error}")
    assert not wrong, "\n".join(wrong)


def test_the_manual_passes_the_checks_of_imports_links_and_sites(sqlite_world: World) -> None:
    made = import_space(
        sqlite_world.context,
        str(ROOT / "docs"),
        organization_id=sqlite_world.home["organizationId"],
        publish=True,
    )
    links = sqlite_world.get("admin", f"/spaces/{made.outcome.space}/links?status=broken&limit=100")
    # What pages depend on, such as specifications, is only an example in the manual.
    broken = [item for item in links["items"] if item["relation"] == "reference"]
    assert broken == []
    assert made.outcome.problems == []
    with sqlite_world.context.db.read() as tx:
        site = find_site_of_space(tx, made.outcome.space)
    assert site is not None
    report = check_site(sqlite_world.context, site, CheckLimits())
    found = [(page.page, problem) for page in report.found for problem in page.problems]
    # Other tests define specifications with the same names differently.
    assert [one for one in found if one[1].rule != "removed-operation"] == []
    assert report.pages > 80


@pytest.mark.parametrize(
    "package", [None, *(pytest.param(name, marks=pytest.mark.slow) for name in list_packages())]
)
def test_the_manual_has_no_findings_and_a_score_of_100(sqlite_world: World, package: str | None) -> None:
    """With each of the built-in style guides. The specification that the manual uses as an example is deleted,
    because the world defines it differently."""
    org = sqlite_world.home["organizationId"]
    assert sqlite_world.call("admin", "DELETE", f"/orgs/{org}/openapi/pets").status_code == 205
    made = import_space(sqlite_world.context, str(ROOT / "docs"), organization_id=org, publish=True)
    with sqlite_world.context.db.read() as tx:
        site = find_site_of_space(tx, made.outcome.space)
    assert site is not None
    if package is not None:
        sqlite_world.post("admin", f"/orgs/{org}/sites/{site}/styleguide", {"template": package})
    assert scan_now(sqlite_world.context, site) == []
    health = sqlite_world.get("admin", f"/orgs/{org}/sites/{site}/health")
    assert (health["score"], health["open"]) == (100, 0)
    assert {area["score"] for area in health["areas"]} == {100}


def test_the_manual_lists_the_time_limits_of_long_jobs() -> None:
    text = (ROOT / "docs/running/command-line.md").read_text()
    units = {"minutes": 60, "hour": 3600, "hours": 3600}
    rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (\d+) (minutes|hours?) \|$", text, re.M)
    said = {kind: int(number) * units[unit] for kinds, number, unit in rows for kind in SPAN.findall(kinds)}
    assert said == {name: kind.seconds for name, kind in jobs.kinds.items() if kind.seconds > 900}


def test_the_manual_adds_up_the_shares_of_caches() -> None:
    text = (ROOT / "docs/running/memory.md").read_text()
    shares = map(int, re.findall(r"^\| [^|]+ \| (\d+) \|$", text, re.M))
    assert f"a sum of {sum(shares)}," in text
