"""Merge rule that requires new text to follow the style guide."""

from __future__ import annotations

import pytest

from world import World

from .test_scans import ScanScene

RULES = [
    {
        "path": "Very.yml",
        "text": "extends: existence\nmessage: Leave out ‘%s’.\nlevel: error\ntokens: [very]\n",
    },
    {
        "path": "Short.yml",
        "text": "extends: occurrence\nmessage: Too long (%s).\nscope: sentence\nlevel: warning\nmax: 6\n"
        "token: '\\w+'\n",
    },
    {
        "path": "Color.yml",
        "text": "extends: consistency\nmessage: ‘%s’ and ‘%s’.\nlevel: error\neither:\n  color: colour\n",
    },
]
ADMINISTRATORS = {"kind": "administrators"}
OLD = "A very old page.\n\nOne two three four five six seven.\n\nA color.\n"


class MergeScene(ScanScene):
    """A space with the merge rule, and a page with text that breaks the style guide."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        world.post("admin", f"{self.site}/styleguide")
        world.post("admin", f"{self.site}/styleguide/import", {"files": RULES})
        self.write(OLD)
        self.space = self.place.path("/spaces/{spaceId}")

    def require(self, **level: str) -> None:
        rules = {"type": "rules", "rules": [{"rule": "require_style_guide", **level}]}
        assert self.world.call("admin", "PATCH", self.space, json={"mergeRules": rules}).status_code == 200

    def draft(self, *changes: dict[str, object]) -> str:
        change = self.world.post("admin", f"{self.space}/change-requests", {})["id"]
        path = f"{self.space}/change-requests/{change}"
        self.world.post("admin", f"{path}/content", {"changes": list(changes)})
        return path

    def edit(self, text: str) -> str:
        return self.draft(
            {
                "operation": "update_page",
                "page": self.place["pageId"],
                "document": {"markdown": text},
            }
        )

    def violations(self, path: str, who: str = "admin") -> list[tuple[str, str]]:
        (check,) = (
            one
            for one in self.world.get(who, f"{path}/merge")["checks"]
            if one["check"] == "require_style_guide"
        )
        assert check["passes"] == ("reason" not in check)
        return [(one["rule"], one["message"]) for one in check.get("violations", [])]


@pytest.fixture
def scene(world: World) -> MergeScene:
    return MergeScene(world)


def test_only_new_violations_prevent_a_merge(scene: MergeScene) -> None:
    scene.require(level="warning")
    same = scene.edit(
        OLD.replace("A very old", "This is a very old").replace("one two", "zero one") + "\nFine.\n"
    )
    assert scene.violations(same) == []
    worse = scene.edit(OLD + "\nIt is very new.\n\nOne two three four five six seven eight.\n\nA colour.\n")
    assert scene.violations(worse) == [
        ("Very", "Leave out ‘very’."),
        ("Short", "Too long (8)."),
        ("Color", "‘colour’ and ‘color’."),
    ]
    answer = scene.world.call("admin", "POST", f"{worse}/merge")
    assert answer.status_code == 412
    assert "breaks “Very” (Leave out ‘very’.)" in answer.text
    assert scene.world.call("admin", "POST", f"{same}/merge").status_code == 200


def test_moved_text_is_not_new(scene: MergeScene) -> None:
    scene.require()
    moved = scene.draft(
        {"operation": "insert_page", "title": "Other", "document": {"markdown": "A very old page.\n"}},
        {"operation": "update_page", "page": scene.place["pageId"], "document": {"markdown": "Moved.\n"}},
    )
    assert scene.violations(moved) == []


def test_rules_below_the_level_do_not_count(scene: MergeScene) -> None:
    scene.require()
    path = scene.edit(OLD + "\nOne two three four five six seven eight.\n")
    assert scene.violations(path) == []
    scene.require(level="suggestion")
    assert scene.violations(path) == [("Short", "Too long (8).")]


def test_without_a_style_guide_the_rule_is_met(scene: MergeScene) -> None:
    scene.require()
    path = scene.edit(OLD + "\nIt is very new.\n")
    scene.world.call("admin", "PATCH", scene.site, json={"styleguide": None})
    assert scene.violations(path) == []


def test_only_this_rule_has_a_level(scene: MergeScene) -> None:
    rules = {"type": "rules", "rules": [{"rule": "require_at_least_one_review", "level": "error"}]}
    answer = scene.world.call("admin", "PATCH", scene.space, json={"mergeRules": rules})
    assert answer.status_code == 400 and "level: can only be used with" in answer.text


def test_reasons_reveal_no_restricted_page(scene: MergeScene) -> None:
    scene.require()
    scene.change({"operation": "update_page", "page": scene.place["pageId"], "visibleTo": [ADMINISTRATORS]})
    path = scene.edit(OLD + "\nIt is very new.\n")
    assert scene.violations(path) == [("Very", "Leave out ‘very’.")]
    assert scene.violations(path, "editor") == []
    answer = scene.world.call("editor", "GET", f"{path}/merge")
    assert "not all conditions of this rule are met" in answer.text and "Very" not in answer.text
