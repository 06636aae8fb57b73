"""Tests that an import sets the language of a space if its texts are clear and no one has set it."""

from __future__ import annotations

import re
from typing import Any

import pytest

from octavo.operations.admin.import_export import import_space
from transfer.bringing_in import Imports
from visiting import Visitor

pytestmark = pytest.mark.sqlite_first

TEXTS = {
    "ar": (
        "هذا الدليل يشرح كيفية تثبيت النظام وتشغيله خطوة بخطوة، وكيفية إضافة المستخدمين والصفحات. اقرأ "
        "كل شيء بعناية."
    ),
    "de": (
        "Dieses Handbuch erklärt, wie das System Schritt für Schritt eingerichtet und betrieben wird. "
        "Bitte alles lesen."
    ),
    "he": "המדריך הזה מסביר כיצד להתקין את המערכת ולהפעיל אותה צעד אחר צעד, וכיצד להוסיף משתמשים ודפים חדשים.",
    None: "`octavo serve` OAuth SAML",
}


def pages(language: str | None) -> dict[str, str]:
    text = TEXTS[language]
    code = "```sh\nmake the whole thing run in this very shell, please, and be quick about it\n```\n"
    return {
        "README.md": (
            f"---\nicon: house\n---\n# {text.split()[0]}\n\n{text}\n\n{code}\n"
            f"{'This one is in English.' if language else ''}\n"
        ),
        "more.md": f"# {text.split()[-1]}\n\n{text}\n\n* {text}\n\n| a |\n|---|\n| {text} |\n",
    }


@pytest.mark.parametrize("language", TEXTS)
def test_the_command_sets_the_language(world: Any, tmp_path: Any, language: str | None) -> None:
    for name, text in pages(language).items():
        (tmp_path / name).write_text(text)
    organization = world.home["organizationId"]
    brought = import_space(
        world.context, str(tmp_path), organization_id=organization, title="T", publish=True
    )
    assert world.get("admin", f"/spaces/{brought.outcome.space}").get("language") == language
    answer = Visitor(world.context).get(
        str(brought.site_url).partition("://")[2].partition("/")[2].join(("/", ""))
    )
    html = answer.text
    if language in ("ar", "he"):
        assert 'dir="rtl"' in html.partition("<body")[0]
        assert '<p dir="ltr">This one is in English.' in html
        assert f"<p>{TEXTS[language]}" in html
    else:
        assert 'dir="ltr"' in html.partition("<body")[0]
        assert "<p dir=" not in html


def test_a_run_sets_the_language_unless_a_person_did(world: Any) -> None:
    imports = Imports(world)
    imports.files(*pages("ar").items())
    assert world.get("admin", f"/spaces/{imports.space}")["language"] == "ar"
    world.call("admin", "PATCH", f"/spaces/{imports.space}", json={"language": "fr"})
    imports.files(*pages("de").items())
    assert world.get("admin", f"/spaces/{imports.space}")["language"] == "fr"


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("OAuth هو بروتوكول للمصادقة يسمح للتطبيقات بالوصول إلى البيانات.", ""),
        ("هذا: the rest of this paragraph is in English, from here to its end.", ' dir="ltr"'),
        ("**GitHub** و`git` أدوات يستخدمها المطورون كل يوم.", ""),
        ("2024: 100 %", ""),
    ],
)
def test_most_letters_of_a_paragraph_determine_its_direction(
    world: Any, tmp_path: Any, text: str, direction: str
) -> None:
    (tmp_path / "README.md").write_text(f"# عنوان\n\n{TEXTS['ar']}\n\n{text}\n")
    organization = world.home["organizationId"]
    brought = import_space(
        world.context, str(tmp_path), organization_id=organization, title="T", publish=True
    )
    html = Visitor(world.context).get("/" + str(brought.site_url).partition("://")[2].partition("/")[2]).text
    shown = html[html.index(f"<p>{TEXTS['ar']}") + 3 :]
    assert re.search("<p[^>]*>", shown)[0] == f"<p{direction}>"  # type: ignore[index]
