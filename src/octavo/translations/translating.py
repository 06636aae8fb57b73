"""From texts to their translations: out of the memory, the glossary, or a model; what none of them has stays.

A model is sent texts with tags and has to give them back with the same tags; a text that it gets wrong is sent once
more by itself, and then left in the source language and reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from ..core.document import from_json, to_text
from ..core.wording import content_words
from ..errors import OctavoError
from ..kit.context import Context
from ..kit.jobs import renew
from ..models import Message, Model, as_data
from . import store
from .languages import LANGUAGES, seems_other
from .segments import unprotected
from .store import TranslationRow

_CHARACTERS = 6000
_TEXTS = 40
"""Of one request: what a model gets right more surely than a whole page."""
_TERMS = 60
_MISSING = "the model answered without a translation of it"
_REFUSED = "the translation has other tags or placeholders than the text"
_FOREIGN = "the translation is in another language"
_ADDRESS = {
    "formal": "Address the reader formally, where the language makes a difference.",
    "informal": "Address the reader informally, as a friend, where the language makes a difference.",
}

Accepts = Callable[[str], bool]


class TextToTranslate(Struct, frozen=True):
    """A text to translate; ``accepts`` says whether a translation fits where the text is."""

    text: str
    accepts: Accepts


class Translator(Struct):
    """Translations for one run. ``failed``: why the model is asked no more."""

    context: Context
    translation: TranslationRow
    glossary: Mapping[str, str]
    model: Model | None
    failed: str | None = None

    def translate(self, wanted: Sequence[TextToTranslate]) -> tuple[dict[str, str], dict[str, str]]:
        """The translations by text, and why other texts have none. What a model says is remembered at once, so that
        a run that is cut off begins where it was."""
        row = self.translation
        with self.context.db.read() as tx:
            known = store.recall(
                tx, row.organization_id, row.source_language, row.language, [each.text for each in wanted]
            )
        found, rest = dict[str, str](), dict[str, TextToTranslate]()
        for each in wanted:
            remembered = known.get(each.text)
            is_good = remembered is not None and (
                remembered.origin == "person" or remembered.manner == self._manner(each.text)
            )
            offered = remembered.target if remembered and is_good else self.glossary.get(each.text.strip())
            if offered is not None and each.accepts(offered):
                found[each.text] = offered
            else:
                rest[each.text] = each
        reasons: dict[str, str] = {}
        if self.model is not None:
            for batch in _batches(rest.values()):
                renew()
                made = self._ask_twice(batch, reasons)
                found |= made
                if made:
                    manners = {text: self._manner(text) for text in made}
                    with self.context.db.write() as tx:
                        store.remember(tx, row, made, "machine", manners)
        for text, each in rest.items():
            # In another manner is better than in another language.
            if text not in found and text in known and each.accepts(known[text].target):
                found[text] = known[text].target
        return found, {
            text: reasons.get(text, self.failed or "no language model is set")
            for text in rest
            if text not in found
        }

    @property
    def manner(self) -> str:
        """What models are told of the manner of all texts, as a hash; '' for nothing."""
        formality, words = self.translation.formality, dict(self.glossary)
        return store.fingerprint(f"{formality}\n{words}") if words or formality != "default" else ""

    def _manner(self, text: str) -> str:
        """What the model is told of the manner of this text; '' for nothing."""
        formality = self.translation.formality
        terms = self._terms(text)
        return store.fingerprint(f"{formality}\n{terms}") if terms or formality != "default" else ""

    def _terms(self, text: str) -> list[tuple[str, str]]:
        """The words of the glossary in a text."""
        folded = text.lower()
        return [(word, other) for word, other in self.glossary.items() if word.lower() in folded]

    def _ask_twice(self, batch: Sequence[TextToTranslate], reasons: dict[str, str]) -> dict[str, str]:
        found = self._ask(batch, reasons)
        for each in batch:
            if each.text not in found and self.failed is None:
                found |= self._ask([each], reasons)
                if each.text in found or self.failed is not None:
                    reasons.pop(each.text, None)
        return found

    def _ask(self, batch: Sequence[TextToTranslate], reasons: dict[str, str]) -> dict[str, str]:
        """Those translations of a batch that fit; ``reasons`` gets why others do not."""
        if self.model is None or self.failed is not None:
            return {}
        names = {str(number): each for number, each in enumerate(batch, 1)}
        schema = {
            "type": "object",
            "properties": {name: {"type": "string"} for name in names},
            "required": list(names),
            "additionalProperties": False,
        }
        try:
            said = self.model.complete("translate", self._messages(names), schema=schema)
        except OctavoError as error:
            self.failed = error.message
            return {}
        answer = _read(said)
        found = {}
        for name, each in names.items():
            translated = answer.get(name)
            if not isinstance(translated, str) or not translated.strip():
                reasons[each.text] = _MISSING
            elif _is_left(each.text, translated) or seems_other(
                unprotected(translated), self.translation.language
            ):
                reasons[each.text] = _FOREIGN
            elif not each.accepts(translated):
                reasons[each.text] = _REFUSED
            else:
                found[each.text] = translated
        return found

    def _messages(self, names: Mapping[str, TextToTranslate]) -> list[Message]:
        row = self.translation
        texts = {name: each.text for name, each in names.items()}
        terms = self._terms("\n".join(texts.values()))[:_TERMS]
        told = [
            f"Translate texts of documentation from {LANGUAGES[row.source_language]} into {LANGUAGES[row.language]}.",
            "You get a JSON object of texts and answer with a JSON object that has the same keys, and nothing else.",
            "Tags like <1>…</1> and <2/> stand for markup: each stays exactly once, around what it was around, <2/>"
            " where it belongs in the sentence. &lt; &gt; &amp; and placeholders such as {name} stay as they are.",
        ]
        if row.formality in _ADDRESS:
            told.append(_ADDRESS[row.formality])
        if terms:
            told.append("Use these words: " + "; ".join(f"{word} = {other}" for word, other in terms))
        instructions = to_text(from_json(msgspec.json.decode(row.instructions)))
        if instructions:
            told.append(f"The organization asks for this translation:\n{instructions}")
        return [
            Message("system", "\n".join(told)),
            Message("user", as_data(msgspec.json.encode(texts).decode())),
        ]


def _batches(wanted: Iterable[TextToTranslate]) -> Iterable[list[TextToTranslate]]:
    batch: list[TextToTranslate] = []
    size = 0
    for each in wanted:
        if batch and (len(batch) == _TEXTS or size + len(each.text) > _CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(each)
        size += len(each.text)
    if batch:
        yield batch


def _read(said: str) -> dict[str, Any]:
    """The JSON object in an answer; nothing where there is none."""
    begin, end = said.find("{"), said.rfind("}")
    try:
        found = msgspec.json.decode(said[begin : end + 1])
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_left(text: str, translated: str) -> bool:
    """Whether a text of some length came back as it was, which is no translation."""
    return translated.strip() == text.strip() and len(content_words(unprotected(text))) > 5
