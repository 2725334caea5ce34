"""Words of a question that claim nothing: articles, pronouns, auxiliary verbs and question words, by language.

The language of a question is that of the list with most of its words; English wins a tie. A question without any of
these words loses none.
"""

from __future__ import annotations

from itertools import pairwise

from ragfile.ingest.analysis import ENGLISH_1
from ragfile.text import words

# Words without a claim, beside the stop words of an index.
_EMPTY_ENGLISH = (
    "about after all also any because been before both can could did do does each from had "
    "has have he her here his how i its just may me might more most must my only or other our "
    "out over she should so some than them through too up us very we were what when where "
    "which while who why would you your don doesn didn isn aren wasn t s re ve ll d m "
)
ENGLISH = frozenset(ENGLISH_1.split()) | frozenset(_EMPTY_ENGLISH.split())
_ASKING = "many much there whom whose shall am being having doing let please tell give show"
# Words after "how" that ask for an amount.
AMOUNTS = frozenset(
    [
        "big",
        "deep",
        "far",
        "fast",
        "heavy",
        "high",
        "large",
        "late",
        "long",
        "often",
        "old",
        "quickly",
        "soon",
        "tall",
        "wide",
    ]
)
# Words that mark a question, in the languages of the lists below.
_QUESTION_WORDS = frozenset(
    [
        "how",
        "what",
        "which",
        "who",
        "whom",
        "whose",
        "when",
        "where",
        "why",
        "is",
        "are",
        "does",
        "do",
        "did",
        "can",
        "could",
        "should",
        "has",
        "have",
        "was",
        "were",
        "wie",
        "wann",
        "wo",
        "wer",
        "was",
        "warum",
        "welche",
        "welcher",
        "welches",
        "welchen",
        "wohin",
        "darf",
        "comment",
        "quand",
        "quel",
        "quelle",
        "quels",
        "quelles",
        "qui",
        "pourquoi",
        "où",
        "combien",
        "cómo",
        "cuándo",
        "dónde",
        "qué",
        "quién",
        "cuál",
        "cuánto",
        "come",
        "quando",
        "dove",
        "chi",
        "perché",
        "quale",
        "quanto",
        "como",
        "onde",
        "quem",
        "qual",
        "hoe",
        "wanneer",
        "waar",
        "waarom",
        "welke",
    ]
)
_LISTS = (
    ENGLISH | frozenset(_ASKING.split()),
    # German
    "ab aber als am an auch auf aus bei beim bin bis bist da damit darf dann das dass dem den der des die dies diese "
    "dieser dieses doch du durch ein eine einem einen einer eines er es für gibt hat haben hatte ich ihr im in ist ja "
    "kann kein keine können lange man mein mich mir mit muss müssen nach nicht noch nur ob oder ohne sein sich sie sind "
    "so soll sollte über um und uns unter viel viele vom von vor wann war warum was welche welchem welchen welcher "
    "welches wem wen wenn wer werden wessen wie wieso wir wird wo wofür woher wohin womit wozu zu zum zur",
    # French
    "à ai as au aux avec avez avoir c ce cela ces cet cette combien comment d dans de des du elle en es est et être "
    "fait faut il ils j je l la le les leur lui ma mais me mes moi mon n ne nos notre nous on ont ou où par pas peut "
    "peux plus pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se ses si son sont sous sur t ta "
    "te tes toi ton tu un une vos votre vous y",
    # Spanish
    "a al algo como cómo con cual cuál cuáles cuando cuándo cuanto cuánta cuántas cuánto cuántos de del desde donde "
    "dónde el él ella en entre era es esta está estas este esto estos fue ha hace hay la las le les lo los me mi mis "
    "muy más ni no nos o para pero por porque puede puedo que qué quien quién se sea ser si sin sobre son su sus "
    "también te tiene tu tus un una unos y ya yo",
    # Italian
    "a ai al alla alle anche che chi ci come con cosa cui da dal dalla de dei del della delle di dove e è ed era gli ha "
    "hanno ho i il in io l la le lo loro ma mi mio nel nella non o per perché più può quale quali quando quanta quante "
    "quanti quanto qual se si sono su sua suo tra tu un una uno",
    # Portuguese
    "a ao aos as com como da das de do dos e é ela ele em entre era essa esse esta está este eu foi há isso já lhe mais "
    "mas me meu minha muito na não nas no nos o onde os ou para pela pelo pode por porque posso qual quais quando "
    "quanta quantas quanto quantos que quem se sem ser seu sua são também te tem um uma você",
    # Dutch
    "aan al als bij dan dat de deze die dit door een en er haar had heb hebben heeft hem het hij hoe hoeveel hun ik in "
    "is je kan kunnen maar me met mij mijn moet na naar niet nog nu of om ons ook op over te tot u uit van veel voor "
    "waar waarom wanneer was wat we welk welke werd wie wij wordt worden ze zich zijn zou",
)  # fmt: skip
# Pairs of neighbouring characters that claim nothing, in Chinese and in Korean.
_PAIRS = (
    "什么 么是 是什 怎么 么样 怎样 如何 为什 哪些 哪个 哪里 哪种 多少 可以 是否 能否 请问 有什 "
    "하기 하는 하려 려면 니까 습니 니다 에서 으로 하고 위한 위해 무엇 엇입 입니 어떻 떻게 어디 언제 누가 나요 까요 인가 가요"
)
PAIRS = frozenset(_PAIRS.split())
BY_LANGUAGE = tuple(
    frozenset(listed.split()) if isinstance(listed, str) else listed for listed in _LISTS
)


def function_words(question: str) -> frozenset[str]:
    """Return the words that claim nothing in the language of a question."""
    asked = words(question)
    listed = max(BY_LANGUAGE, key=lambda listed: len(listed.intersection(asked)))
    return (
        listed | PAIRS | {word for how, word in pairwise(asked) if how == "how" and word in AMOUNTS}
    )


def claims_nothing(word: str, without: frozenset[str]) -> bool:
    """Return whether a word of a question is one of those, or of hiragana alone: a particle or an ending."""
    return word.lower() in without or all("\u3041" <= letter <= "\u309f" for letter in word)


def is_question(text: str) -> bool:
    """Return whether a text asks in a sentence, rather than naming what it seeks."""
    return text.rstrip().endswith(("?", "\uff1f")) or not _QUESTION_WORDS.isdisjoint(words(text))
