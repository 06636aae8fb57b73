"""Rules of style guides as files of Vale: their keys, their import, and their export."""

from __future__ import annotations

import base64
import io
import zipfile

import httpx
import pytest

from octavo.assistants.findings.styleguides import list_packages
from octavo.core.checks.pages import check_page
from octavo.core.checks.style import StyleRule, StyleRuleError
from octavo.core.checks.style_files import file_stem, read_style_file, write_style_file
from octavo.core.document.reader import read
from world import World

from .test_scans import SITE, ScanScene

VERY = "extends: existence\nmessage: Leave out ‘%s’.\ntokens:\n  - very\n"


def quotes(rule: str, text: str) -> list[str]:
    faults = check_page(read(text), [StyleRule("Rule", rule)]).faults
    return [fault.message for fault in faults if fault.kind == "style"]


@pytest.mark.parametrize(
    ("rule", "text", "messages"),
    [
        # As in Vale, `raw` is one pattern in front of the tokens, or after them with `append`.
        ("extends: existence\nmessage: '%s'\nraw: ['a', 'b']", "ab a b", ["ab"]),
        (
            "extends: existence\nmessage: '%s'\nraw: ['[,;] ']\ntokens: [too]",
            "It, too. Too, too.",
            [", too"] * 2,
        ),
        ("extends: existence\nmessage: '%s'\nappend: true\nraw: [',']\ntokens: [so]", "so, so", ["so,"]),
        ("extends: existence\nmessage: '%s'\nlimit: 1\ntokens: [very]", "very very", ["very"]),
        ("extends: existence\nmessage: '%s'\ntokens: [very]", "# Very\n\n## A very old server", ["very"]),
        ("extends: existence\nmessage: '%s'\nscope: paragraph\ntokens: [very]", "## A very old server", []),
        ("extends: repetition\nmessage: '%s'\nalpha: true\ntokens: ['[^\\s]+']", "1 1 is is", ["is"]),
        ("extends: repetition\nmessage: '%s'\nmax: 1", "so so and so so so", ["so"]),
        (
            "extends: conditional\nmessage: Define '%s'.\nfirst: '\\b([A-Z]{3,5})\\b'\n"
            "second: '(?:[A-Z][a-z]+ )+\\(([A-Z]{3,5})\\)'\nexceptions: [API]",
            "The API uses TLS, and TLS only.\n\nThe World Health Organization (WHO). The WHO.",
            ["Define 'TLS'."],
        ),
    ],
)
def test_keys_work_as_in_vale(rule: str, text: str, messages: list[str]) -> None:
    assert quotes(rule, text) == messages


def test_an_action_fixes_a_word_to_avoid() -> None:
    rule = "extends: existence\nmessage: '%s'\ntokens: [very]\naction:\n  name: "
    for action, new in [("remove", ""), ("replace\n  params: [quite]", "quite"), ("edit", None)]:
        (fault,) = check_page(read("A very old page."), [StyleRule("Rule", rule + action)]).faults
        assert (fault.fix.new if fault.fix else None) == new


def test_headings_are_not_fixed_because_links_contain_their_text() -> None:
    rule = StyleRule("Rule", "extends: substitution\nmessage: '%s'\nswap:\n  utilize: use")
    faults = check_page(read("## How to utilize it\n\nTo utilize it"), [rule]).faults
    assert [fault.fix is not None for fault in faults] == [False, True]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("extends: conditional\nmessage: x\nfirst: a", "`first` and `second` are required"),
        ("extends: conditional\nmessage: x\nfirst: a\nsecond: b", "second: must contain a capture group"),
        (
            "extends: existence\nmessage: x\ntokens: [a]\nscope: heading.h1",
            "scope: .*heading.h1.* isn't an allowed value",
        ),
        (
            "extends: script\nmessage: x",
            "extends: 'script' isn't an allowed value. Use one of capitalization, ",
        ),
        ("extends: existence\nmessage: x\ntokens: ['(?<!a)b']", "isn't supported"),
    ],
)
def test_unsupported_rules_report_the_key(source: str, reason: str) -> None:
    with pytest.raises(StyleRuleError, match=reason):
        read_style_file("Rule", source)


def test_keys_without_effect_are_reported() -> None:
    text = (
        "extends: substitution\nmessage: x\nvocab: false\naction: {name: edit}\n"
        "exceptions: ['a.*']\nswap:\n  colour: color\n  colour: colors\n"
    )
    assert [note.partition(":")[0] for note in read_style_file("Colors", text).notes] == [
        "vocab",
        "action",
        "exceptions",
        "colour",
    ]


def test_a_rule_is_the_same_after_export_and_import() -> None:
    for package in list_packages().values():
        for rule in package.rules:
            text = write_style_file(rule.title, rule.why, rule.rule)
            file = read_style_file(file_stem(rule.title), text)
            assert (file.title, file.why, file.source) == (rule.title, rule.why, rule.rule.strip())
            assert file.notes == []


def test_a_description_by_hand_is_kept() -> None:
    text = '# Rule\ndescription: "a \\x41"\n' + VERY
    file = read_style_file("Rule", text)
    assert file.why == "a A" and file.source.startswith("description:")


@pytest.fixture
def scene(world: World) -> ScanScene:
    scene = ScanScene(world)
    world.post("admin", scene.place.path(f"{SITE}/styleguide"))
    return scene


def give(scene: ScanScene, **body: object) -> httpx.Response:
    return scene.world.call("admin", "POST", scene.place.path(f"{SITE}/styleguide/import"), json=body)


def pack(**files: str) -> str:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return base64.b64encode(packed.getvalue()).decode()


def test_rules_are_imported_updated_and_exported(scene: ScanScene) -> None:
    files = {
        "styles/Google/Very.yml": VERY,
        "styles/Other/Very.yml": VERY.replace("very", "quite"),
        "styles/Google/OxfordComma.yml": "extends: existence\nmessage: x\nnonword: true\ntokens: [a, '(?=a)b']\n",
        "styles/Google/Meta.yml": "feed: none\n",
        "styles/Google/meta.json": "{}",
        ".vale.ini": "StylesPath = styles",
    }
    answer = give(scene, archive=pack(**files))
    assert answer.status_code == 200, answer.text
    found = {file["path"]: file for file in answer.json()["files"]}
    assert {path: file["status"] for path, file in found.items()} == {
        "styles/Google/Very.yml": "created",
        "styles/Other/Very.yml": "created",
        "styles/Google/OxfordComma.yml": "refused",
        "styles/Google/Meta.yml": "refused",
        "styles/Google/meta.json": "skipped",
        ".vale.ini": "skipped",
    }
    assert "the pattern (?=a)b isn't supported" in found["styles/Google/OxfordComma.yml"]["reason"]
    scene.write("A very old page, quite old.\n")
    scene.scan()
    assert {each["title"] for each in scene.list(query="kind=style")} == {"Very", "Very other"}

    one = [{"path": "Very.yml", "text": VERY + "level: error\n"}]
    assert give(scene, files=one).json()["files"][0]["status"] == "updated"
    assert give(scene, files=one).json()["files"][0]["status"] == "unchanged"

    exported = scene.world.call("admin", "GET", scene.place.path(f"{SITE}/styleguide/export"))
    assert exported.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(io.BytesIO(exported.content)) as archive:
        assert archive.namelist() == [
            ".vale.ini",
            "styles/StyleGuide/Very.yml",
            "styles/StyleGuide/VeryOther.yml",
        ]
        assert archive.read("styles/StyleGuide/Very.yml").decode() == f"# Very\n{VERY}level: error\n"
    again = give(scene, archive=base64.b64encode(exported.content).decode()).json()["files"]
    assert [file["status"] for file in again] == ["unchanged", "unchanged", "skipped"]


@pytest.mark.parametrize(
    ("archive", "reason"),
    [
        ("!", "archive: must be valid Base64"),
        (base64.b64encode(b"no archive").decode(), "archive: the file isn't a readable ZIP archive"),
        (
            pack(**{f"{n}.yml": "a" for n in range(501)}),
            "archive: the archive must contain at most 500 files",
        ),
    ],
)
def test_unusable_archives_are_refused(scene: ScanScene, archive: str, reason: str) -> None:
    answer = give(scene, archive=archive)
    assert answer.status_code == 400 and reason in answer.text


def test_a_style_guide_has_a_limit(scene: ScanScene) -> None:
    files = [{"path": f"R{n}.yml", "text": VERY} for n in range(300)]
    assert give(scene, files=files).status_code == 200
    more = give(scene, files=[{"path": f"S{n}.yml", "text": VERY} for n in range(300)]).json()["files"]
    assert sum(file["status"] == "created" for file in more) < 210
    assert "at most 500 pages" in more[-1]["reason"]


@pytest.mark.parametrize("body", [{}, {"files": [{"path": "A.yml", "text": VERY}], "archive": "QQ=="}])
def test_an_import_has_either_files_or_an_archive(scene: ScanScene, body: dict[str, object]) -> None:
    assert "provide exactly one of" in give(scene, **body).text
