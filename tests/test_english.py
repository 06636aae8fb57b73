"""Interface texts are plain English: none has a turn of phrase that a native speaker would have to decode."""

from __future__ import annotations

import json
import re
from pathlib import Path

import msgspec
import pytest

from octavo.delivery.reader.views import Labels
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
        pytest.param(_labels(Labels()), id="published sites"),
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
