"""Answers without a model in several languages: the right block, and a refusal of what the file does not have."""

import pytest

import ragfile
from ragfile.answer.citations import Source, judged

PAGES = {
    "fr": [
        "Les sauvegardes sont faites chaque nuit. Elles sont gardées pendant quarante jours dans le coffre.",
        "Pour installer un paquet, utilisez la commande apt. Il est aussi possible de le retirer.",
        "Les clés du serveur sont changées tous les trois mois par le responsable de la sécurité.",
    ],
    "de": [
        "Die Sicherungen werden jede Nacht erstellt. Sie werden vierzig Tage lang im Tresor aufbewahrt.",
        "Um ein Paket zu installieren, benutzen Sie den Befehl apt. Es kann auch wieder entfernt werden.",
        "Die Schlüssel des Servers werden alle drei Monate von der Leitung der Sicherheit getauscht.",
    ],
    "es": [
        "Las copias de seguridad se hacen cada noche. Se guardan durante cuarenta días en la caja fuerte.",
        "Para instalar un paquete, utilice la orden apt. También es posible quitar el paquete con ella.",
        "Las claves del servidor se cambian cada tres meses por el responsable de la seguridad.",
    ],
    "ru": [
        "Резервные копии создаются каждую ночь. Они хранятся сорок дней в сейфе, и это всё.",
        "Чтобы установить пакет, используйте команду apt. Его можно также удалить этой командой.",
        "Ключи сервера меняются каждые три месяца, и за это отвечает служба безопасности.",
    ],
    "zh": [
        "备份每天晚上进行，在保险柜中保存四十天。",
        "要安装软件包，请使用 apt 命令。也可以用它删除软件包。",
        "服务器的密钥每三个月由安全负责人更换一次。",
    ],
    "ja": [
        "バックアップは毎晩作成され、金庫に四十日間保存されます。",
        "パッケージをインストールするには apt コマンドを使います。削除もできます。",
        "サーバーの鍵は三か月ごとに安全管理者が交換します。",
    ],
}
ANSWERED = {  # question, a part of the right block
    "fr": [
        ("Combien de temps la sauvegarde est-elle gardée ?", "quarante jours"),
        ("Où est le coffre ?", "coffre"),
        ("Comment est-ce que j'installe des paquets ?", "apt"),
        ("Qui est-ce qui change la clé du serveur ?", "responsable"),
    ],
    "de": [
        ("Wie lange wird eine Sicherung aufbewahrt?", "vierzig Tage"),
        ("Wie werden Pakete installiert?", "apt"),
        ("Wer tauscht den Schlüssel vom Server?", "Leitung"),
    ],
    "es": [
        ("¿Cuánto tiempo se guarda la copia de seguridad?", "cuarenta días"),
        ("¿Cómo puedo instalar paquetes?", "apt"),
        ("¿Quién cambia la clave del servidor?", "responsable"),
    ],
    "ru": [
        ("Сколько дней хранится резервная копия?", "сорок дней"),
        ("Как установить пакеты?", "apt"),
        ("Как часто меняется ключ сервера?", "три месяца"),
    ],
    "zh": [("备份保存多少天？", "四十天"), ("如何安装软件包？", "apt"), ("谁更换服务器的密钥？", "安全负责人")],
    "ja": [
        ("バックアップは何日間保存されますか？", "四十日間"),
        ("パッケージをインストールするにはどうすればよいですか？", "apt"),
        ("サーバーの鍵は誰が交換しますか？", "安全管理者"),
    ],
}  # fmt: skip
REFUSED = {
    "fr": ["Est-ce qu'il est possible de cuire un gâteau ?", "Quelle est la recette des crêpes ?", "Où est-il né ?"],
    "de": ["Wie wird ein Kuchen gebacken?", "Wann ist der Dichter geboren?", "Was ist das für ein Wetter?"],
    "es": ["¿Cómo se hace una tarta de manzana?", "¿Dónde está el estadio?", "¿Qué es la fotosíntesis?"],
    "ru": ["Как испечь яблочный пирог?", "Где находится стадион?", "Кто это написал?"],
    "zh": ["如何烤苹果蛋糕？", "体育场在哪里？", "什么是光合作用？"],
    "ja": ["りんごケーキの焼き方を教えてください", "駅はどこですか？", "光合成とは何ですか？"],
}  # fmt: skip


@pytest.fixture(scope="module", params=["one file", "a file each"])
def files(request, tmp_path_factory):
    """The pages of all languages together, or each language alone."""
    folder = tmp_path_factory.mktemp("answers")
    pages = {
        code: [{"id": f"{code}{i}", "text": text} for i, text in enumerate(texts)]
        for code, texts in PAGES.items()
    }
    every = [page for of_one in pages.values() for page in of_one]
    opened = {}
    for code, of_one in pages.items():
        path = folder / f"{code}.ragfile"
        ragfile.build(every if request.param == "one file" else of_one, path)
        opened[code] = ragfile.open(path)
    yield opened
    for rf in opened.values():
        rf.close()


@pytest.mark.parametrize("code", PAGES)
def test_what_a_file_has_is_quoted(files, code):
    for question, fact in ANSWERED[code]:
        answer = files[code].ask(question)
        assert answer.supported, question
        assert fact in answer.text.split("[1]")[0], (question, answer.text)


@pytest.mark.parametrize("code", PAGES)
def test_what_it_does_not_have_is_refused(files, code):
    for question in REFUSED[code]:
        answer = files[code].ask(question)
        assert not answer.supported, (question, answer.text)


def test_auxiliary_verbs_and_pronouns_are_no_missing_words(files):
    hits = files["fr"].search("Est-il possible que les crêpes soient gardées dans le coffre ?")
    assert "crêpes" in hits[0].missing
    assert {"Est", "il", "que", "les", "dans"}.isdisjoint(hits[0].missing)
    hits = files["de"].search("Wer hat die Schlüssel des Servers getauscht?")
    assert hits[0].missing == []


def test_a_word_that_a_passage_has_in_one_language_is_not_missing(files):
    hits = files["de"].search("Sicherung im Tresor", mode="bm25")
    assert hits[0].doc_id == "de0"
    assert hits[0].missing == []
    assert hits.support.share == 1


def test_a_sentence_is_compared_by_the_stems_and_stop_words_of_its_language():
    source = Source(
        1,
        "a#0",
        "a",
        0,
        "a",
        "a",
        "Die Sicherungen werden nachts erstellt und im Tresor aufbewahrt.",
        1.0,
    )
    for claim, is_supported in (
        ("Eine Sicherung wird es im Tresor geben, die nachts erstellt ist.", True),
        ("Ein Kuchen wird im Ofen gebacken und dann gegessen.", False),
    ):
        assert (judged(claim, [], [source]) == []) is is_supported, claim
