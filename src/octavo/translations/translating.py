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
from ..kit import deadlines
from ..kit.context import Context
from ..models import Message, Model
from . import store
from .store import TranslationRow

_CHARACTERS = 6000
_TEXTS = 40
"""Of one request: what a model gets right more surely than a whole page."""
_TERMS = 60
_REFUSED = "the translation has other tags or placeholders than the text"

Accepts = Callable[[str], bool]

_LANGUAGES = {
    "en": "English", "fr": "French", "de": "German", "es": "Spanish", "it": "Italian", "pt": "Portuguese",
    "pt-br": "Brazilian Portuguese", "ru": "Russian", "ja": "Japanese", "zh": "Chinese", "yue": "Cantonese",
    "ko": "Korean", "ar": "Arabic", "hi": "Hindi", "nl": "Dutch", "pl": "Polish", "tr": "Turkish", "sv": "Swedish",
    "no": "Norwegian", "da": "Danish", "fi": "Finnish", "el": "Greek", "cs": "Czech", "hu": "Hungarian",
    "ro": "Romanian", "th": "Thai", "vi": "Vietnamese", "id": "Indonesian", "ms": "Malay", "he": "Hebrew",
    "uk": "Ukrainian", "sk": "Slovak", "bg": "Bulgarian", "hr": "Croatian", "lt": "Lithuanian", "lv": "Latvian",
    "et": "Estonian", "sl": "Slovenian",
}  # fmt: skip


class Wanted(Struct, frozen=True):
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

    def translate(self, wanted: Sequence[Wanted]) -> tuple[dict[str, str], dict[str, str]]:
        """The translations by text, and why other texts have none. What a model says is remembered at once, so that
        a run that is cut off begins where it was."""
        row = self.translation
        with self.context.db.read() as tx:
            known = store.recall(
                tx, row.organization_id, row.source_language, row.language, [each.text for each in wanted]
            )
        found, rest = dict[str, str](), dict[str, Wanted]()
        for each in wanted:
            offered = known.get(each.text) or self._by_glossary(each.text)
            if offered is not None and each.accepts(offered):
                found[each.text] = offered
            else:
                rest[each.text] = each
        reasons: dict[str, str] = {}
        if self.model is not None:
            for batch in _batches(rest.values()):
                deadlines.check()
                made = self._ask_twice(batch, reasons)
                found |= made
                if made:
                    with self.context.db.write() as tx:
                        store.remember(
                            tx, row.organization_id, row.source_language, row.language, made, "machine"
                        )
        return found, {
            text: reasons.get(text, self.failed or "no language model is set")
            for text in rest
            if text not in found
        }

    def _by_glossary(self, text: str) -> str | None:
        """A text that is a word of the glossary as it stands."""
        return self.glossary.get(text.strip())

    def _ask_twice(self, batch: Sequence[Wanted], reasons: dict[str, str]) -> dict[str, str]:
        found = self._ask(batch)
        for each in batch:
            if each.text not in found and self.failed is None:
                found |= self._ask([each])
                if each.text not in found and self.failed is None:
                    reasons[each.text] = _REFUSED
        return found

    def _ask(self, batch: Sequence[Wanted]) -> dict[str, str]:
        """Those translations of a batch that fit."""
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
        return {
            each.text: translated
            for name, each in names.items()
            if isinstance(translated := answer.get(name), str)
            and translated.strip()
            and not _is_left(each.text, translated)
            and each.accepts(translated)
        }

    def _messages(self, names: Mapping[str, Wanted]) -> list[Message]:
        row = self.translation
        texts = {name: each.text for name, each in names.items()}
        joined = "\n".join(texts.values()).lower()
        terms = [(word, other) for word, other in self.glossary.items() if word.lower() in joined][:_TERMS]
        told = [
            f"Translate texts of documentation from {_LANGUAGES[row.source_language]} into {_LANGUAGES[row.language]}.",
            "You get a JSON object of texts and answer with a JSON object that has the same keys, and nothing else.",
            "Tags like <1>…</1> and <2/> stand for markup: each stays exactly once, around what it was around, <2/>"
            " where it belongs in the sentence. &lt; &gt; &amp; and placeholders such as {name} stay as they are.",
        ]
        if terms:
            told.append("Use these words: " + "; ".join(f"{word} = {other}" for word, other in terms))
        instructions = to_text(from_json(msgspec.json.decode(row.instructions)))
        if instructions:
            told.append(f"The organization asks for this translation:\n{instructions}")
        return [
            Message("system", "\n".join(told)),
            Message("user", f"<data>\n{msgspec.json.encode(texts).decode()}\n</data>"),
        ]


def _batches(wanted: Iterable[Wanted]) -> Iterable[list[Wanted]]:
    batch: list[Wanted] = []
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
    return translated.strip() == text.strip() and len(content_words(text)) > 5
