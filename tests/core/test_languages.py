"""Detection of the language of a text: certain, or none."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from octavo.assistants.translations.languages import seems_other
from octavo.core.languages import differ, find_language

SENTENCES = {
    "en": "Turn the sprocket by hand, clockwise, until you can hear that it clicks.",
    "de": "Drehen Sie das Zahnrad von Hand im Uhrzeigersinn, bis es hörbar einrastet.",
    "fr": "Tournez le pignon à la main dans le sens des aiguilles d’une montre jusqu’au déclic.",
    "es": "Gire la rueda dentada con la mano en el sentido de las agujas del reloj hasta oír un clic.",
    "cs": "Otáčejte ozubeným kolem rukou po směru hodinových ručiček, dokud neuslyšíte cvaknutí.",
    "ru": "Поворачивайте шестерню рукой по часовой стрелке, пока не услышите щелчок.",
    "ja": "カチッと音がするまで、スプロケットを手で時計回りに回してください。説明書をよく読んでください。",
}


@pytest.mark.parametrize("language", SENTENCES)
def test_the_language_of_sentences_is_detected(language: str) -> None:
    assert find_language(SENTENCES[language]) == language


@pytest.mark.parametrize(
    "text", ["", "make serve", "OAuth SAML SSO", "How do I start it?", "123 !?" * 100, "\0" * 99]
)
def test_short_text_has_no_language(text: str) -> None:
    assert find_language(text) is None and not differ(text, SENTENCES["fr"])


@given(st.text(max_size=300))
def test_any_text_is_accepted(text: str) -> None:
    assert not differ(text, text)


def test_translation_into_an_unknown_language_is_accepted() -> None:
    assert seems_other(SENTENCES["en"], "cs") and not seems_other(SENTENCES["cs"], "cs")


def test_the_library_is_loaded_on_first_use() -> None:
    code = "import sys, octavo.operations.installation as it; it.load_packages(); sys.exit('gcld3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
