"""Languages: the stemmer, the stop words and the rule for accents of each.

The words are spelled out in a file that uses them, so these lists can change.
"""

from __future__ import annotations

from typing import Literal, NamedTuple


class Language(NamedTuple):
    """How the words of a language become terms."""

    stemmer: str
    stop_words: str  # separated by spaces; "" for the list that ragfile names english-1
    accents: Literal["keep", "strip"]


# Text of scripts without a stemmer has English names and commands in it.
_ENGLISH = Language("english", "", "strip")
# Other stemmers read accented endings, and remove accents themselves where the language allows it.
LANGUAGES: dict[str, Language] = {
    "da": Language(
        "danish",
        "af alle andet at blev da de den der deres det dig din dog du efter eller en end er et for fra ham han "
        "har havde hun hvad i ikke ind jeg kan man med men mig min ned noget nu når og også om op os over på "
        "sig sin skal som sådan til ud under var ved vi vil være",
        "keep",
    ),
    "de": Language(
        "german",
        "aber als am an auch auf aus bei bin bis bist da damit das dass dem den der des die dies diese diesem "
        "diesen dieser dieses durch ein eine einem einen einer eines er es für hat ich ihr im in ist kann man "
        "mit nach nicht noch nur ob oder sich sie sind so um und uns unter vom von vor war was wenn wer wie "
        "wir wird wo zu zum zur über",
        "keep",
    ),
    "en": _ENGLISH,
    "es": Language(
        "spanish",
        "a al como con cuando de del desde donde e el ella ellos en entre era es esta este esto hay la las le "
        "les lo los me mi muy más ni no nos o para pero por que qué se ser si sin sobre son su sus también te "
        "un una uno y ya",
        "keep",
    ),
    "fi": Language(
        "finnish",
        "ei eivät että he hän ja joka jos kanssa kuin kun me minä mitä mutta myös niin nämä olla oli on ovat "
        "se sekä sen siitä sinä tai te tämä vaan voi",
        "keep",
    ),
    "fr": Language(
        "french",
        "a au aux avec c ce ces cet cette comme d dans de des du elle elles en est et il ils j je l la le les "
        "leur lui là m mais me même n ne nous on ou où par pas pour qu que qui s sa se ses si son sont sur t "
        "te tu un une vous y à été être",
        "keep",
    ),
    "it": Language(
        "italian",
        "a ad ai al alla alle allo anche che chi ci come con d da dal dalla dei del della delle dello di dove "
        "e ed gli ha ho i il in io l la le lei lo loro lui ma mi ne nei nel nella no noi non o per più quale "
        "quando se si sono su sul sulla tra un una uno vi è",
        "keep",
    ),
    "nl": Language(
        "dutch",
        "aan als bij dan dat de der des deze die dit door een en er heeft het hij hoe hun ik in is je kan maar "
        "me met mij naar niet nog of om onder ook op over te tot uit u van veel voor was wat we wel werd wie "
        "wij worden zal ze zich zij zijn zo",
        "keep",
    ),
    "no": Language(
        "norwegian",
        "alle at av bare ble da de den der deres det du eller en enn er et for fra ha han har hun hva i ikke "
        "inn jeg kan man med men mot nå når og også om opp over på seg sin skal som til under ut var ved vi "
        "vil å",
        "keep",
    ),
    "pt": Language(
        "portuguese",
        "a ao aos as com como da das de do dos e ela ele em entre era essa esse esta este eu foi há isso isto "
        "já lhe mais mas me mesmo na nas no nos não o os ou para pela pelas pelo pelos por qual quando que "
        "quem se sem ser seu seus sua suas são só também tem um uma à é",
        "keep",
    ),
    "ru": Language(
        "russian",
        "а без более бы был была были было быть в вам вас весь во вот все вы где да для до его ее если есть "
        "еще же за и из или им их к как ко когда кто ли мы на над не нет ни но о об он она они оно от по под "
        "при с со так также то того тоже только у уже что чтобы это этот я",
        "keep",
    ),
    "sv": Language(
        "swedish",
        "alla att av bara blev bli de dem den denna deras det detta dig din du där efter ej eller en er ett "
        "för från ha han har hon hur i icke in inte jag kan man med men mig min mot ni nu när och om oss på "
        "sig sin ska som så till under upp ut utan vad var vi vid vilken är över",
        "keep",
    ),
    "ja": _ENGLISH,
    "ko": _ENGLISH,
    "th": _ENGLISH,
    "zh": _ENGLISH,
}
