"""Function words, such as "how" and "the". They don't describe the subject of a query, so they are given no weight.

Function words of languages other than English count only if a query has two of the same language, because a single
function word could also be a word in another language ("man page", "die").
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_ENGLISH = frozenset(
    """a about am an and any are as at be been being but by can could did do does doing for from had has have how i
    if in into is it its me my of on or our please shall should so some than that the their them then there these they
    this those to was we were what when where which while who whom whose why will with would you your""".split()
)
_OTHERS = tuple(
    frozenset(words.split())
    for words in (
        """als am an auf aus bei bin das dass dem den der des die ein eine einem einen einer eines es fur
           gibt habe haben
        ich ihr im in ist kann kannst konnen macht man mein meine mich mir mit muss nach oder sich sie sind soll und
        uns unter von vom wann war warum was welche welcher welches wenn wer werden wie wieso wir wird wo wozu zu zum
        zur""",
        """a au aux avec c ce ces cet cette comment d dans de des du elle en est et etre faire fait faut il
           ils j je l la
        le les leur ma mes mon ne nous on ou par pas peut peux pour pourquoi puis qu quand que quel quelle quelles
        quels qui quoi sa sans se ses son sont sur ta un une vos votre vous y""",
        """a al como con cual cuales cuando cuanto de del donde e el ella en entre es esta este esto estos
           hacer hago hay
        la las lo los me mi mis o para pero por porque puede puedo que quien se ser si sin sobre son su sus tengo
        tiene tu un una unas uno unos y yo""",
        """a ao aos as com como da das de do dos e ela ele em entre essa esse esta este eu faco fazer ha isso isto mas
        me meu minha na nas no nos o onde os ou para pela pelo por porque posso pode qual quais quando que quem se
        sem ser sobre sua seu tem tenho um uma voce""",
    )
)

_CHINESE = (
    "请问|請問|如何|怎么样|怎麼樣|怎么|怎麼|怎样|怎樣|为什么|為什麼|为何|為何|什么是|什麼是|是什么|是什麼|什么|什麼"
    "|哪里|哪裡|哪裏|哪些|哪个|哪個|是否|能否|可否|可以|我们|我們|吗|嗎|呢|(?<!目)的(?!确|確|士)"
)
_JAPANESE = (
    "どうやって|どのように|どうすれば|どうしたら|なぜ|どこで|どこに|どこ|いつ|とは何ですか|とは何|とは|でしょうか|ですか"
    "|ますか|してください|ください|する方法|したい|するには|するのか|には|では|です|ます"
    r"|(?<=[\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff])[のをはがにへでと](?=[\u30a0-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|$)"
)
_ASKING = re.compile(f"{_CHINESE}|{_JAPANESE}")


def function_words(words: Iterable[str]) -> frozenset[str]:
    """Return the function words among these folded words, in the language that they suggest."""
    asked = frozenset(words)
    found = asked & _ENGLISH
    most = max((asked & other for other in _OTHERS), key=len)
    return found | most if len(most) > 1 and len(most) >= len(found) else found


def split_question(run: str) -> list[str]:
    """Split a run of Chinese or Japanese text at the words that only turn it into a question."""
    return [part for part in _ASKING.split(run) if part] or [run]
