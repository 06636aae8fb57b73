"""Split natural-language text into sentences and find its significant words.

Words are folded (lowercase, no accents), very common words are dropped, and the rest are reduced to their stems. CJK
text, which has no spaces, is split into pairs of adjacent characters.
"""

from __future__ import annotations

import re
import threading
import unicodedata
from functools import lru_cache

from Stemmer import Stemmer

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)*")
_IS_CJK = re.compile(rf"[{_CJK}]")
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？])|\n+")
_LONGEST_WORD = 64
_own = threading.local()

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any anybody anyone are as at be because been before being below between
    both but by can cannot cant could couldnt did didnt do does doesnt doing done dont down each either else ever every
    few for from get gets getting give go goes going gone got had has hasnt have havent having he hello help her here
    hers hey hi him his how however i id if ill im in into is isnt it its ive just kind know let lets like lot made
    make many may maybe me might mine more most much must my need never no not now of off ok okay on one only or other
    our ours out over own please possible put really same say see seem she should show since so some somebody someone
    something still such sure take tell than thank thanks that thats the their theirs them then there these they thing
    things this those through to too tried try trying under until up us use used using very via wanna want wants was
    way we well were what whats when where whether which while who whom whose why will with within without wont would
    wouldnt yes yet you your yours
    aber als am an auch auf aus bei bin bis da das dass dem den der des die dies diese doch du ein eine einem einen
    einer es fur habe haben hat ich ihr im in ist ja kann kein keine man mein mich mir mit muss nach nicht noch nur
    oder ob sich sie sind so und uns unter vom von vor war was wenn wer wie wir wird wo zu zum zur
    au aux avec ce ces comment dans de des du elle en est et il ils je la le les leur lui ma mais me mes moi mon ne
    nos nous on ou par pas pour pourquoi quand que quel quelle qui sa sans se ses son sont sur ta te tu un une vos
    votre vous
    al como con cual cuando de del desde donde e el ella en es esta este hay la las lo los me mi mis no nos o para pero
    por que quien se si sin sobre su sus te un una uno y yo
    che chi ci come da dal degli dei del della di dove gli ho i il io la le lo ma mi nel non o per piu qual quando se
    si sono su tra un una uno
    com do dos e em eu isso mais mas na nas no nos o os ou para pelo por quando que se sem um uma
    """.split()
)
"""Frequent words in the most widely used languages, without apostrophes and accents."""


_PREFIXES = re.compile(
    "^(?:"
    "[وف]?(?:ال|بال|كال|لل)(?=\\w{3})|و(?=\\w{5})"  # Arabic: and, so; the, in the, like the, for the
    "|[ושכבלמ]?ה(?=\\w{3})|[ובלכש](?=\\w{4})"  # Hebrew: and, that, like, in, to, from; the
    ")"
)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the stem of a folded word in basic Latin letters, or an Arabic or Hebrew word without its
    article and attached prepositions. Other words are unchanged.

    >>> stem("القالب"), stem("והתבנית")
    ('قالب', 'תבנית')
    """
    if not (word.isascii() and word.isalpha()):
        return _PREFIXES.sub("", word, count=1) if "\u0590" <= word[:1] <= "\u06ff" else word
    # A stemmer stores the word that it processes, so each thread has its own.
    try:
        stemmer = _own.stemmer
    except AttributeError:
        stemmer = _own.stemmer = Stemmer("english", 0)
    return str(stemmer.stemWord(word))


@lru_cache(maxsize=20_000)
def fold(word: str) -> str:
    """Return a word in lowercase, without apostrophes, and without the accents of Latin, Greek, and Cyrillic
    letters."""
    plain = unicodedata.normalize("NFKD", word.lower().replace("'", "").replace("’", ""))
    return unicodedata.normalize("NFC", re.sub("[\u0300-\u036f]", "", plain))


def sentences(text: str) -> list[str]:
    """Return the sentences and lines of a string, without surrounding spaces."""
    return [part.strip() for part in _SENTENCE.split(text) if part.strip()]


def stems(text: str) -> list[str]:
    """Return the significant words of a text as stems, in order.

    >>> stems("How do I export my invoices?")
    ['export', 'invoic']
    """
    return [found for found, _ in _stemmed(text)]


def content_words(text: str) -> list[str]:
    """Return the significant words of a text in their original form.

    >>> content_words("How do I export my invoices?")
    ['export', 'invoices']
    """
    return [word for _, word in _stemmed(text)]


def _stemmed(text: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for match in _TOKEN.finditer(text):
        token = match[0]
        if _IS_CJK.match(token):
            pairs = [token[i : i + 2] for i in range(len(token) - 1)] or [token]
            found += [(pair, pair) for pair in pairs]
            continue
        word = fold(token)[:_LONGEST_WORD]
        # Short numbers are codes that people ask about; long ones and single digits are mere quantities.
        if word in STOP_WORDS or len(word) < 2 or (word.isdigit() and not 3 <= len(word) <= 5):
            continue
        found.append((stem(word), token[:_LONGEST_WORD]))
    return found


def shorten(text: str, length: int) -> str:
    """Shorten a one-line text to at most this many characters. It is truncated between words if possible.

    >>> shorten("one two three", 9)
    'one two…'
    """
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    cut = line[: length - 1]
    space = cut.rfind(" ")
    # Drop a word that continues after the cut; keep one that ends there.
    if space > length // 2 and not line[length - 1].isspace():
        cut = cut[:space]
    return f"{cut.rstrip(' ,;:.-')}…"
