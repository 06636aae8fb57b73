"""Translate segments by using the translation memory, the glossary, or a model. Segments that can't be translated
stay in the source language.

A model gets segments with tags and must return translations with the same tags. If the translation of a segment is
invalid, the segment is sent again on its own. If that also fails, the text stays in the source language and is
reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec import Struct

from octavo.assistants.models.calling import Model, as_data
from octavo.assistants.models.provider import ModelMessage
from octavo.core.document.json import from_json
from octavo.core.document.text import to_text
from octavo.core.json_types import JsonObject
from octavo.core.sentences import content_words
from octavo.errors import OctavoError
from octavo.kit.context import Context
from octavo.kit.work.jobs import renew

from . import store
from .languages import LANGUAGES, seems_other
from .segments import strip_tags
from .store import TranslationRow

_CHARACTERS = 6000
_TEXTS = 40
"""Maximum number of segments in a request. The number is small because models make fewer mistakes with fewer
segments."""
_TERMS = 60
_MISSING = "the model's answer doesn't contain a translation of this text"
_REFUSED = "the translation and the source text have different tags or placeholders"
_FOREIGN = "the translation is in the wrong language"
_ADDRESS = {
    "formal": "Address the reader formally, where the language makes a difference.",
    "informal": "Address the reader informally, as a friend, where the language makes a difference.",
}

Accepts = Callable[[str], bool]


class TextToTranslate(Struct, frozen=True):
    """Text to translate. ``accepts``: a function that checks whether a translation can replace the text."""

    text: str
    accepts: Accepts


class Translator(Struct):
    """Translator for one run. ``failed``: the reason the model failed. After a failure, the model is no longer
    called."""

    context: Context
    translation: TranslationRow
    glossary: Mapping[str, str]
    model: Model | None
    failed: str | None = None

    def translate(
        self, wanted: Sequence[TextToTranslate], *, remember: bool
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the translations by segment, and the reasons segments couldn't be translated, also by segment.
        ``remember``: whether to store a model's translations. They are stored immediately, so that an interrupted
        run can continue where it stopped."""
        row = self.translation
        with self.context.db.read() as tx:
            known = store.find_memory(
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
                made = self._ask_with_retry(batch, reasons)
                found |= made
                if made and remember:
                    manners = {text: self._manner(text) for text in made}
                    with self.context.db.write() as tx:
                        store.store_memory(tx, row, made, "machine", manners)
        for text, each in rest.items():
            # If there is nothing better, use a translation in the wrong style. It beats leaving the text
            # untranslated.
            if text not in found and text in known and each.accepts(known[text].target):
                found[text] = known[text].target
        return found, {
            text: reasons.get(text, self.failed or "no language model is configured")
            for text in rest
            if text not in found
        }

    @property
    def manner(self) -> str:
        """Return a hash of the general style instructions for models; an empty string if there are none."""
        formality, words = self.translation.formality, dict(self.glossary)
        return store.fingerprint(f"{formality}\n{words}") if words or formality != "default" else ""

    def _manner(self, text: str) -> str:
        """Return a hash of the style instructions that apply to the model for this text; an empty string if there
        are none."""
        formality = self.translation.formality
        terms = self._terms(text)
        return store.fingerprint(f"{formality}\n{terms}") if terms or formality != "default" else ""

    def _terms(self, text: str) -> list[tuple[str, str]]:
        """Return the glossary entries whose words occur in a segment."""
        folded = text.lower()
        return [(word, other) for word, other in self.glossary.items() if word.lower() in folded]

    def _ask_with_retry(self, batch: Sequence[TextToTranslate], reasons: dict[str, str]) -> dict[str, str]:
        found = self._ask(batch, reasons)
        for each in batch:
            if each.text not in found and self.failed is None:
                found |= self._ask([each], reasons)
                if each.text in found or self.failed is not None:
                    reasons.pop(each.text, None)
        return found

    def _ask(self, batch: Sequence[TextToTranslate], reasons: dict[str, str]) -> dict[str, str]:
        """Return the valid translations of a batch. Reasons for rejected translations are added to ``reasons``."""
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
            written = self.model.complete("translate", self._messages(names), schema=schema)
        except OctavoError as error:
            self.failed = error.message
            return {}
        answer = _read(written)
        found = {}
        for name, each in names.items():
            translated = answer.get(name)
            if not isinstance(translated, str) or not translated.strip():
                reasons[each.text] = _MISSING
            elif _is_unchanged(each.text, translated) or seems_other(
                strip_tags(translated), self.translation.language
            ):
                reasons[each.text] = _FOREIGN
            elif not each.accepts(translated):
                reasons[each.text] = _REFUSED
            else:
                found[each.text] = translated
        return found

    def _messages(self, names: Mapping[str, TextToTranslate]) -> list[ModelMessage]:
        row = self.translation
        texts = {name: each.text for name, each in names.items()}
        terms = self._terms("\n".join(texts.values()))[:_TERMS]
        instructed = [
            f"Translate texts of documentation from {LANGUAGES[row.source_language]} into {LANGUAGES[row.language]}.",
            "You get a JSON object of texts and answer with a JSON object that has the same keys, and nothing else.",
            "Tags like <1>…</1> and <2/> stand for markup: each stays exactly once, around what it was around, <2/>"
            " where it belongs in the sentence. &lt; &gt; &amp; and placeholders such as {name} stay as they are.",
        ]
        if row.formality in _ADDRESS:
            instructed.append(_ADDRESS[row.formality])
        if terms:
            instructed.append("Use these words: " + "; ".join(f"{word} = {other}" for word, other in terms))
        instructions = to_text(from_json(msgspec.json.decode(row.instructions)))
        if instructions:
            instructed.append(f"The organization asks for this translation:\n{instructions}")
        return [
            ModelMessage("system", "\n".join(instructed)),
            ModelMessage("user", as_data(msgspec.json.encode(texts).decode())),
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


def _read(written: str) -> JsonObject:
    """Return the JSON object in a model's answer; empty if there is none."""
    begin, end = written.find("{"), written.rfind("}")
    try:
        found = msgspec.json.decode(written[begin : end + 1])
    except (msgspec.DecodeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _is_unchanged(text: str, translated: str) -> bool:
    """Return whether a model returned longer text unchanged instead of translating it."""
    return translated.strip() == text.strip() and len(content_words(strip_tags(text))) > 5
