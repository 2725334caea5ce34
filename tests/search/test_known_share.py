"""The share of a question that the model knows weighs its vector, in every kind of file by the same rule."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import fusing, languages
from oracles.known_share import share
from oracles.model_reader import ModelReader

import ragfile
from ragfile import _core, dataset
from ragfile.embedding.protocol import DEFAULT_MODEL, StaticEmbedder

MODEL = StaticEmbedder()
READER = ModelReader(DEFAULT_MODEL.read_bytes())
TEXTS = {
    "en": "The installer asks for a password and writes the partition table of the disk.",
    "fr": "Le programme d'installation demande un mot de passe et écrit la table des partitions.",
    "ja": "インストーラはパスワードを尋ね、ディスクのパーティションテーブルを書き込みます。",
    "ko": "설치 프로그램은 암호를 묻고 디스크의 파티션 테이블을 기록합니다.",
    "zh": "安装程序 apt 会要求输入密码并写入磁盘分区表。",
}
QUESTIONS = [
    "write the partition table",
    "table partitions",
    "パスワード",
    "apt 分区表",
    "암호",
    "?!",
]
FOREIGN = ["comment est la table des partitions", "das ist die Installation", "table de partition"]
ENGLISH = [
    "write the partition table",
    "partition table",
    "installation",
    "the table de partition",
    "",
]
OFF = ("calibrated", {"known": 0})
LETTERS = st.sampled_from(
    [*"aé ß字가あя。.\u0301—-", "installation", "コマンド", "𠀀", "ﬁ", "\u00ad", "한국"]
)


def records(copies=4):
    return [
        {"id": f"{language}/{i}", "text": f"{text} {i}"}
        for language, text in TEXTS.items()
        for i in range(copies)
    ]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("known") / "kb.ragfile"
    ragfile.build(records(), path)
    return path


@given(st.lists(LETTERS, max_size=30).map("".join))
@settings(deadline=None)
def test_the_share_is_that_of_the_rule(text):
    assert MODEL.known(text) == share(READER, text)


def test_a_share_counts_english_in_full_and_other_scripts_not_at_all():
    assert MODEL.known("how do I mount a volume?") == 1
    assert MODEL.known("コマンド 파일 文字") == 0
    assert 0 < MODEL.known("sécurité du système") < 1
    assert MODEL.known("") == MODEL.known("?!。") == 1


def test_a_word_of_more_than_a_hundred_characters_is_not_known():
    assert MODEL.known("a" * 101) == 0
    assert 0 < MODEL.known("a" * 100) < 1


def test_files_with_the_embedded_model_record_how_much_the_share_counts(path, tmp_path):
    with ragfile.open(path) as rf:
        assert rf.rows.config["fusion"]["known"] == 1
    ragfile.build(records(), tmp_path / "own.ragfile", embedder="none")
    with ragfile.open(tmp_path / "own.ragfile") as rf:
        assert "known" not in rf.rows.config["fusion"]


@given(
    st.lists(
        st.sampled_from(
            [word for of in languages.COMMON[:9] for word in sorted(of)[::7]] + ["disk", "磁盘"]
        ),
        max_size=9,
    ).map(" ".join)
)
def test_a_question_is_foreign_by_the_scores_of_its_common_words(text):
    scores = languages.scores(languages.parts(text), range(len(languages.LANGUAGES)))
    best = max(scores[1:])
    assert _core.is_foreign(text) == (best > 0 and best >= 2 * scores[0])


def counted_share(text, foreign=0.2):
    """The share that counts of a question."""
    return min(share(READER, text), foreign if text in FOREIGN else 1)


def test_questions_in_other_languages_count_a_fifth_at_most(path):
    assert [_core.is_foreign(text) for text in (*FOREIGN, *ENGLISH)] == [True] * 3 + [False] * 5
    with ragfile.open(path) as rf:
        assert rf.rows.config["fusion"]["foreign"] == 0.2
        for text in FOREIGN:
            assert share(READER, text) > 0.2
            first = rf.search(text, 1)[0].id
            assert rf.explain(text, first).scale["known"] == 0.2
            old = ("calibrated", {"foreign": 1})
            assert rf.explain(text, first, fusion=old).scale["known"] == share(READER, text)


def test_a_file_without_the_record_counts_the_whole_share(path, tmp_path):
    fusion = {"method": "calibrated", "w": 6, "evidence": 0, "known": 1}
    with ragfile.create(tmp_path / "old", embedder="default", config={"fusion": fusion}) as w:
        w.add_documents(records())
    with ragfile.open(tmp_path / "old") as old, ragfile.open(path) as new:
        for text in FOREIGN:
            whole = ("calibrated", {"foreign": 1, "evidence": 0, "named": 0})
            found = [(h.id, h.score) for h in new.search(text, 8, fusion=whole)]
            assert [(h.id, h.score) for h in old.search(text, 8)] == found
            assert [h.score for h in new.search(text, 8)] != [score for _, score in found]


@pytest.mark.parametrize("counted", [0, 0.3, 1])
@pytest.mark.parametrize("text", [*QUESTIONS, *FOREIGN])
def test_a_search_is_the_slow_ranking_under_the_weight_of_the_rule(path, text, counted):
    divisor = 1 - counted * (1 - counted_share(text))
    weight = 6 / divisor if divisor else math.inf
    vector = MODEL.embed([text], "query")[0]
    with ragfile.open(path) as rf:
        for k, pool in ((3, 50), (12, 5), (20, 0)):
            chosen = ("calibrated", {"known": counted, "evidence": 0})
            hits = rf.search(text, k, pool=pool, fusion=chosen, cache=False)
            slow = fusing.fused(rf, text, vector, k, pool, "calibrated", weight, share=0)
            assert [(rf.row(h.id), h.score, *h.scores.values()) for h in hits] == slow


def test_a_batch_weighs_each_question_by_itself(path):
    with ragfile.open(path) as rf:
        together = rf.search_batch([*QUESTIONS, *FOREIGN], 5)
        for text, found in zip([*QUESTIONS, *FOREIGN], together, strict=True):
            assert [(h.id, h.score) for h in found] == [(h.id, h.score) for h in rf.search(text, 5)]


def test_a_question_of_an_unknown_script_is_ranked_by_its_words(path):
    with ragfile.open(path) as rf:
        words = rf.search("パスワード", 4, mode="bm25")
        assert [h.id for h in rf.search("パスワード", 4)] == [h.id for h in words]


def test_groups_repeats_and_explanations_use_the_same_weight(path):
    with ragfile.open(path) as rf:
        for text in QUESTIONS:
            plain = {h.id: h.score for h in rf.search(text, 20)}
            for hit in rf.search(text, 3, group=1):
                assert hit.score == plain[hit.id]
            for hit in rf.search(text, 3, drop_repeats=True):
                assert hit.score == plain[hit.id]
            explained = rf.explain(text, next(iter(plain)))
            assert explained.score == plain[explained.id]
            assert explained.scale["known"] == counted_share(text)
            weight = _core.calibrated_weight(6, 1, counted_share(text))
            assert explained.scale.get("weight", math.inf) == weight
            assert all(map(math.isfinite, explained.scale.values()))


def test_a_vector_of_the_caller_changes_nothing(path):
    with ragfile.open(path) as rf:
        for text in QUESTIONS:
            given_ = rf.search(text, 5, vector=MODEL.embed([text], "query")[0], cache=False)
            assert [(h.id, h.score) for h in given_] == [
                (h.id, h.score) for h in rf.search(text, 5)
            ]


def test_histories_datasets_and_layers_answer_like_one_file(path, tmp_path):
    half = len(records()) // 2
    ragfile.build(records()[:half], tmp_path / "grown.ragfile")
    with ragfile.edit(tmp_path / "grown.ragfile") as edit:
        edit.upsert(records()[half:])
    dataset.convert(path, tmp_path / "set", shards=3)
    ragfile.build(records()[:half], tmp_path / "below.ragfile")
    ragfile.build(records()[half:], tmp_path / "above.ragfile")
    layers = [tmp_path / "below.ragfile", tmp_path / "above.ragfile"]
    with (
        ragfile.open(path) as rf,
        ragfile.open(tmp_path / "grown.ragfile") as grown,
        ragfile.open(tmp_path / "set") as many,
        ragfile.open(layers) as layered,
    ):
        for text in (*QUESTIONS, *FOREIGN):
            one = [(h.id, h.score) for h in rf.search(text, 8)]
            for other in (grown, many, layered):
                assert [(h.id, h.score) for h in other.search(text, 8)] == one


def test_a_file_of_before_answers_as_it_did(path, tmp_path):
    with ragfile.open(path) as rf:
        old = rf.search("apt 分区表", 8, fusion=OFF)
        vector = MODEL.embed(["apt 分区表"], "query")[0]
        slow = fusing.fused(rf, "apt 分区表", vector, 8, 50, "calibrated", 6.0)
        assert [(rf.row(h.id), h.score) for h in old] == [(row, score) for row, score, *_ in slow]


@pytest.mark.parametrize("name", ["known", "foreign"])
@pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
def test_a_share_outside_its_bounds_is_refused(path, name, bad):
    with (
        ragfile.open(path) as rf,
        pytest.raises(ValueError, match=f"{name} must be between 0 and 1"),
    ):
        rf.search("apt", fusion=("calibrated", {name: bad}))


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.lists(st.floats(0, 9, width=32), min_size=1, max_size=9),
    st.data(),
)
def test_a_row_below_the_least_score_is_not_among_the_best(counted, known, bm25, data):
    bm25 = np.sort(np.array(bm25, np.float32))[::-1].copy()
    near = np.array(
        data.draw(st.lists(st.floats(-1, 1, width=32), min_size=len(bm25), max_size=len(bm25))),
        np.float32,
    )
    k = data.draw(st.integers(1, len(bm25)))
    by = _core.Calibration(0.1, 0.2, _core.calibrated_weight(6, counted, known))
    least = by.least(bm25, near, k, float(bm25[-1]))
    if least == -math.inf:
        return
    below = np.nextafter(np.float32(min(least, 1.0)), np.float32(-np.inf))
    best = float(bm25.max())
    own = np.sort(by.scores(bm25, near, best))[::-1]
    assert by.scores(bm25[-1:], np.array([below]), best)[0] < own[k - 1]
