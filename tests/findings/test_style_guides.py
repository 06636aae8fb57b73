"""Style guides: rules in the format of Vale, spaces of rules, and checks of spaces against them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from octavo.assistants.findings.styleguides import list_packages
from octavo.core.checks.fixes import replace_text
from octavo.core.checks.pages import check_page
from octavo.core.checks.style import StyleRule, StyleRuleError
from octavo.core.document.reader import read
from octavo.core.document.writing import write
from world import World

from .test_scans import SITE, ScanScene

RULES = {
    "existence": (
        "extends: existence\nmessage: Avoid ‘%s’.\ntokens: [very]",
        "It is very old.",
        "It is old.",
    ),
    "substitution": (
        "extends: substitution\nmessage: Use ‘%s’, not ‘%s’.\nignorecase: true\nswap:\n  utilize: use",
        "Utilize it.",
        "Use it.",
    ),
    "occurrence": (
        "extends: occurrence\nmessage: Too long (%s).\nscope: sentence\nmax: 4\ntoken: '[a-zA-Z]+'",
        "Short one. This is a long sentence.",
        "This is short.",
    ),
    "repetition": ("extends: repetition\nmessage: ‘%s’ is there twice.", "The the end.", "The end."),
    "consistency": (
        "extends: consistency\nmessage: ‘%s’ and ‘%s’.\neither:\n  color: colour",
        "A color. A colour.",
        "A color. A color.",
    ),
    "capitalization": (
        "extends: capitalization\nmessage: Use sentence case.\nscope: heading\nmatch: $sentence",
        "## How To Install The Server",
        "## How to install the Octavo server",
    ),
}


def faults(rule: str, text: str) -> list[Any]:
    return [
        fault for fault in check_page(read(text), [StyleRule("Rule", rule)]).faults if fault.kind == "style"
    ]


@pytest.mark.parametrize("kind", RULES)
def test_each_type_of_rule_finds_violations(kind: str) -> None:
    rule, wrong, right = RULES[kind]
    assert len(faults(rule, wrong)) == 1
    assert faults(rule, right) == []
    # Code is never prose.
    assert faults(rule, f"`{wrong}`\n\n```\n{wrong}\n```\n") == []


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("existence", "Avoid the word “very”."),
        ("existence", 'A page that says "very" is found.'),
        ("substitution", "‘Utilize’ is a long word."),
        ("repetition", "Test sign-in starts a sign-in in another tab."),
        ("repetition", "Sign in in-app."),
        ("repetition", "**type** *type:* String"),
        ("repetition", "Call StatusOf(Type type) first."),
    ],
)
def test_quoted_and_intended_words_break_no_rule(kind: str, text: str) -> None:
    assert faults(RULES[kind][0], text) == []


@pytest.mark.parametrize(
    ("text", "fixed"),
    [
        ("You can simply start.", "You can start."),
        ("Simply start.", "Start."),
        ("Wait. Obviously, you can.", "Wait. You can."),
        ("It is, obviously, fine.", "It is fine."),
        ("It works, obviously.", "It works."),
        ("It works obviously!", "It works!"),
        ("Obviously, {db} must match.", "{db} must match."),
    ],
)
def test_removed_words_leave_a_complete_sentence(text: str, fixed: str) -> None:
    rule = 'extends: substitution\nmessage: Leave it out.\nignorecase: true\nswap:\n  simply: ""\n  obviously: ""'
    [fault] = faults(rule, text)
    document = read(text)
    assert replace_text(document, fault.fix)
    assert write(document).strip() == fixed


@pytest.mark.parametrize(
    "rule",
    [
        "extends: existence\nmessage: Leave it out.\naction:\n  name: remove\ntokens: [Simply]",
        'extends: substitution\nmessage: Leave it out.\nswap:\n  Simply: ""',
    ],
)
def test_a_word_to_remove_can_be_an_item_of_a_list(rule: str) -> None:
    assert faults(rule, "Avoid these words:\n\n* Simply\n* Just\n") == []
    assert len(faults(rule, "* Simply start\n")) == 1


def test_words_next_to_one_quotation_mark_break_rules() -> None:
    assert len(faults(RULES["existence"][0], 'The "very old" page.')) == 1


def test_names_of_several_words_are_exceptions_in_headings() -> None:
    rule = RULES["capitalization"][0] + "\nexceptions: [Active Directory]"
    assert faults(rule, "## LDAP and Active Directory") == []
    assert len(faults(rule, "## Active Directory And Other Directories")) == 1


def test_names_on_the_page_are_exceptions_in_headings() -> None:
    rule = RULES["capitalization"][0]
    text = "## Run with Elsa Studio\n\nWe wrote Elsa Studio. The server runs it."
    assert faults(rule, text) == []
    assert len(faults(rule, text.replace("wrote Elsa Studio", "wrote elsa studio"))) == 1
    assert len(faults(rule, "## Run the Server Again\n\nThe Server runs. A server is a machine.")) == 1


@pytest.mark.parametrize(
    "heading",
    ["PhantasmaPhoenix.Unity.Core.Logging", "Organizations/Governance/Leaderboards", "std::Vector::At"],
)
def test_names_from_code_are_exceptions_in_headings(heading: str) -> None:
    rule = RULES["capitalization"][0]
    assert faults(rule, f"## {heading}") == []
    assert len(faults(rule, f"## {heading} Of Another Class")) == 1


def test_a_replacement_that_would_repeat_a_word_is_left_to_people() -> None:
    rule = "extends: substitution\nmessage: Use ‘%s’, not ‘%s’.\nswap:\n  in order to: to"
    [fault] = faults(rule, "Adapt it to the type you convert to in order to compress it.")
    assert fault.fix is None
    [fault] = faults(rule, "Convert it in order to compress it.")
    assert fault.fix is not None


def test_messages_show_code_in_headings() -> None:
    rule = RULES["capitalization"][0].replace("Use sentence case.", "Change %s.")
    [fault] = faults(rule, "## Schedule Delayed Work with `delay`")
    assert fault.message == "Change Schedule Delayed Work with delay."


def test_a_fix_changes_only_the_words_in_question() -> None:
    text = (
        "# Title\n\nYou can **utilize** the `utilize` command, or utilize [a link](x.md).\n\n* One\n* Two\n"
    )
    document = read(text)
    found = [fault.fix for fault in check_page(document, [StyleRule("R", RULES["substitution"][0])]).faults]
    assert all(replace_text(document, fix) for fix in found if fix)
    expected = text.replace("**utilize**", "**use**").replace("or utilize", "or use")
    assert write(document) == expected


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("extends: existence\nmessage: x\ntokens: ['(?=a)b']", "n't supported"),
        ("extends: existence\nmessage: x\ntokens: ['a*']\nnonword: true", "must not match an empty string"),
        ("extends: existence\nmessage: x", "tokens: is required"),
        ("extends: substitution\nmessage: x", "swap: is required"),
        ("extends: spelling\nmessage: x", "extends"),
        ("extends: [", "the YAML isn't valid"),
        ("- a", "a rule must be a mapping"),
        ("extends: existence\nmessage: &a x\ntokens: [*a]", "aliases"),
        ("extends: occurrence\nmessage: x\ntoken: a\nmax: -1", "max"),
        ("extends: capitalization\nmessage: x\nmatch: $camel", "match"),
        ("extends: existence\nmessage: x\ntokens: ['" + "a{1000}" * 200 + "']", "n't supported"),
    ],
)
def test_invalid_rules_report_the_reason(source: str, reason: str) -> None:
    with pytest.raises(StyleRuleError, match=reason):
        StyleRule("Rule", source)


def test_a_pattern_never_takes_forever() -> None:
    rule = StyleRule("Rule", "extends: existence\nmessage: x\nnonword: true\ntokens: ['(a+)+$']")
    start = time.process_time()
    check_page(read("a" * 50_000 + "b"), [rule])
    # An engine that backtracks would need longer than the universe exists.
    assert time.process_time() - start < 60


def test_a_heading_about_future_features_is_not_a_placeholder() -> None:
    kinds = [
        [fault.kind for fault in check_page(read(text)).faults] for text in ("Coming soon", "## Coming soon")
    ]
    assert kinds == [["placeholder"], []]


def test_all_rules_of_the_packages_can_be_read() -> None:
    packages = list_packages()
    assert set(packages) == {"google", "microsoft", "plain-english"}
    for package in packages.values():
        for rule in package.rules:
            assert StyleRule(rule.title, rule.rule).given.message


@pytest.fixture
def scene(world: World) -> ScanScene:
    return ScanScene(world)


def test_a_style_guide_is_created_and_its_rules_find_and_fix(scene: ScanScene) -> None:
    world, place = scene.world, scene.place
    path = place.path(f"{SITE}/styleguide")
    assert world.call("admin", "POST", path, json={"template": "none"}).status_code == 404
    space = world.post("admin", path, {"template": "plain-english"})
    assert space["type"] == "styleguide" and space["title"] == "Plain English"
    assert world.post("admin", path)["id"] == space["id"]
    assert world.get("admin", scene.site)["styleguide"] == {"kind": "space", "space": space["id"]}
    scene.write("You can simply utilize it in order to to start.\n")
    scene.scan()
    found = {each["title"]: each for each in scene.list(query="kind=style&status=open")}
    assert {"Don't call a step easy", "Use the short word", "Don't repeat a word"} <= set(found)
    assert found["Don't repeat a word"]["severity"] == "medium" and found["Use the short word"]["autoFixable"]
    run = world.post("admin", f"{path}/runs", {"spaces": [place["spaceId"]]})
    (change,) = run["changeRequests"]
    page = f"/spaces/{place['spaceId']}/change-requests/{change['id']}/content/page/{place['pageId']}"
    assert "You can use it in order to start." in world.get("admin", f"{page}?format=markdown")["markdown"]
    origin = change["styleguide"]
    assert (origin["site"], origin["run"], origin["changedPages"]) == (place["siteId"], run["run"]["id"], 1)
    changes = place.path("/orgs/{organizationId}/change-requests?status=draft")
    by_run = world.get("admin", f"{changes}&styleguideRun={run['run']['id']}")["items"]
    assert [one["id"] for one in by_run] == [change["id"]]
    assert world.get("admin", f"{changes}&styleguideRun=other")["items"] == []
    again = world.post("admin", f"{path}/runs", {"spaces": [place["spaceId"]]})
    kept = again["changeRequests"][0]["styleguide"]
    assert kept["run"] == origin["run"] and kept["checkedAt"] > origin["checkedAt"]
    assert [one["id"] for one in again["changeRequests"]] == [change["id"]]
    assert len(world.get("admin", f"{path}/runs")["items"]) == 2
    listed = world.get("admin", place.path("/orgs/{organizationId}/styleguides"))["styleguides"]
    assert [(one["space"]["id"], [s["id"] for s in one["sites"]]) for one in listed] == [
        (space["id"], [place["siteId"]])
    ]
    world.call("admin", "PATCH", scene.site, json={"styleguide": None})
    scene.scan()
    assert scene.list(query="kind=style&status=open") == []
    assert world.call("admin", "POST", f"{path}/runs", json={"spaces": [place["spaceId"]]}).status_code == 404


def test_only_style_guides_of_the_organization_are_accepted(scene: ScanScene) -> None:
    for space in (scene.place["spaceId"], scene.world.away["spaceId"], "none"):
        body = {"styleguide": {"kind": "space", "space": space}}
        assert scene.world.call("admin", "PATCH", scene.site, json=body).status_code == 400
    guide = scene.world.post("admin", scene.place.path(f"{SITE}/styleguide"))["id"]
    path = scene.place.path(f"{SITE}/styleguide/runs")
    for space in (scene.world.away["spaceId"], "none"):
        assert scene.world.call("admin", "POST", path, json={"spaces": [space]}).status_code == 404
    assert scene.world.call("admin", "POST", path, json={"spaces": [guide]}).status_code == 404
