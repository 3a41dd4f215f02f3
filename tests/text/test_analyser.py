"""What is stored and what is asked become the same tokens, in every script."""

from __future__ import annotations

import threading
import time

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lamina.text.analyser import STOP_WORDS, QueryToken, analyse, query_tokens

HUMAN_TEXT = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.text(alphabet="aBc'_’ʼs19 .-é手がㅎ한ไи́\u200b\u200d😀", max_size=16),
        st.sampled_from(
            ["Ann's", "don't", "getUserName", "東京タワー", "학교에서", "ภาษาไทย", "café", "2023-05-08", "😀"]
        ),
    ),
    max_size=6,
).map(" ".join)


def tokens_seen_by_fts5(tokens: list[str]) -> list[str]:
    db = apsw.Connection(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5(tokens, content='', tokenize='ascii')")
    db.execute("CREATE VIRTUAL TABLE v USING fts5vocab('t', 'instance')")
    db.execute("INSERT INTO t(rowid, tokens) VALUES (1, ?)", (" ".join(tokens),))
    result = [str(row[0]) for row in db.execute("SELECT term FROM v ORDER BY offset")]
    db.close()
    return result


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" .,;!? \n", []),
        ("The cats were running.", ["the", "cat", "were", "run"]),
        ("Don't, didn’t, DON'T", ["dont", "didnt", "dont"]),
        ("Ann's, Ann’s and ANN'S", ["ann", "ann", "and", "ann"]),
        ("O'Neill o'neill 'quoted' James'", ["o", "neill", "oneil", "oneil", "quot", "jame"]),
        ("café Café cafe\u0301 CAFÉ", ["cafe"] * 4),
        ("Zoë Łódź Øre straße Straße", ["zoe", "lodz", "ore", "strass", "strass"]),
        ("İstanbul ISTANBUL", ["istanbul", "istanbul"]),
        ("2023-05-08", ["2023", "05", "08"]),
        ("v3.5.12 costs 3.5", ["v3", "5", "12", "cost", "3", "5"]),
        ("٢٠٢٣ ２０２３", ["2023", "2023"]),
        ("ｆｕｌｌ　ｗｉｄｔｈ", ["full", "width"]),
        ("Привет, МИР", ["привет", "мир"]),
        ("Αθήνα ΑΘΗΝΑ σοφός ΣΟΦΟΣ", ["αθηνα", "αθηνα", "σοφοσ", "σοφοσ"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("می\u200cخواهم", ["میخواهم"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("п'ять пʼять п’ять", ["пять"] * 3),
        ("猫", ["猫"]),
        ("東京タワー", ["東", "京", "東京", "京タ", "タワ", "ワー"]),
        ("東京、大阪", ["東", "京", "東京", "大", "阪", "大阪"]),
        ("학교에서", ["학교에서", "학교", "교에", "에서"]),
        ("학교", ["학교"]),
        ("ไทย", ["ไท", "ทย"]),
        ("ລາວ ខ្មែរ", ["ລາ", "າວ", "ខ្", "្ម", "មែ", "ែរ"]),
        ("iPhone15手机2台", ["i", "phone15", "iphone15", "手", "机", "手机", "2", "台"]),
        ("snake_case __init__ _", ["snake", "case", "snakecas", "init"]),
        ("getUserName", ["get", "user", "name", "getusernam"]),
        ("HTTPServer YouTube", ["http", "server", "httpserver", "you", "tube", "youtub"]),
        ("USA PDFs TVs", ["usa", "pdfs", "tvs"]),
        ("😀 👍🏽 ❤️", ["😀", "👍", "❤"]),
        ("\U00031350", ["\U00031350"]),
        ("\ud800 a", ["a"]),
        ("½ x² №5", ["1", "2", "x2", "no5"]),
    ],
)
def test_a_text_has_these_tokens(text: str, tokens: list[str]) -> None:
    assert analyse(text) == tokens


def test_a_long_word_is_truncated_and_still_matches_itself() -> None:
    assert analyse("x" * 5000) == ["x" * 64]
    assert analyse("я" * 5000) == ["я" * 64]
    assert [len(token) for token in analyse("a" * 50 + "_" + "b" * 50)] == [50, 50, 64]


@given(HUMAN_TEXT)
def test_tokens_are_short_and_of_characters_no_engine_splits(text: str) -> None:
    for token in analyse(text):
        assert 1 <= len(token) <= 64
        assert all(ord(char) > 127 or char in "abcdefghijklmnopqrstuvwxyz0123456789" for char in token)


@given(HUMAN_TEXT)
@example("Ann's getUserName 東京タワー 학교에서 ไทย 😀 Привет\x00 2023-05-08")
def test_full_text_search_sees_exactly_these_tokens(text: str) -> None:
    tokens = analyse(text)
    assert tokens_seen_by_fts5(tokens) == tokens


@given(st.one_of(HUMAN_TEXT, st.characters(categories=["L", "N"])))
@example("'s")
@example("ʼ")
@example("a's's")
@example("—'s")
def test_a_text_with_a_letter_or_digit_always_has_a_token(text: str) -> None:
    if any(char.isalnum() for char in text):
        assert analyse(text)


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_ascii_text_gives_the_same_tokens_beside_other_scripts(text: str) -> None:
    assert analyse(f"{text} 猫") == [*analyse(text), "猫"]


@given(HUMAN_TEXT, HUMAN_TEXT)
def test_a_text_has_the_tokens_of_its_lines(one: str, other: str) -> None:
    assert analyse(f"{one}\n{other}") == analyse(one) + analyse(other)


def test_many_threads_get_the_same_stems() -> None:
    words = " ".join(f"running{'s' * (number % 7)} word{number} nationalities" for number in range(500))
    expected = analyse(words)
    wrong: list[int] = []

    def work(name: int) -> None:
        for turn in range(20):
            if analyse(f"{words} thread{name}x{turn}")[:-1] != expected:
                wrong.append(name)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("piece", ["a\u0301\u0316", "\u0301\u0316", "'", "'s", "_", "aB", "猫", "ʼ", "😀\u200d", "é "])
def test_hostile_text_is_analysed_in_linear_time(piece: str) -> None:
    started = time.thread_time()
    analyse(piece * 100_000)
    assert time.thread_time() - started < 10


def test_a_question_keeps_the_words_of_a_possible_answer() -> None:
    assert query_tokens("What did Ann's sister tell me about the café in Lisbon?") == [
        QueryToken("ann", "Ann's"),
        QueryToken("sister", "sister"),
        QueryToken("tell", "tell"),
        QueryToken("cafe", "café"),
        QueryToken("lisbon", "Lisbon"),
    ]


def test_stop_words_are_compared_before_stemming() -> None:
    assert [term.token for term in query_tokens("Does he do yoga doings?")] == ["yoga", "do"]


def test_a_question_word_with_an_apostrophe_is_a_stop_word() -> None:
    assert [term.word for term in query_tokens("What's Bob's dog? Who’s that? I'm sure I don't.")] == [
        "Bob's",
        "dog",
        "sure",
    ]


def test_a_question_has_each_token_once_in_order() -> None:
    assert [term.token for term in query_tokens("cats dogs Cat dog")] == ["cat", "dog"]


def test_a_question_of_stop_words_only_keeps_them_all() -> None:
    assert [term.token for term in query_tokens("Who are you?")] == ["who", "are", "you"]


def test_a_part_of_an_identifier_records_the_identifier() -> None:
    assert query_tokens("getUserName") == [
        QueryToken("get", "getUserName"),
        QueryToken("user", "getUserName"),
        QueryToken("name", "getUserName"),
        QueryToken("getusernam", "getUserName"),
    ]


def test_bigrams_record_their_characters() -> None:
    assert query_tokens("東京タワー") == [
        QueryToken(pair, pair) for pair in ("東", "京", "東京", "京タ", "タワ", "ワー")
    ]


def test_months_and_countries_that_look_like_stop_words_are_kept() -> None:
    assert not STOP_WORDS & {"may", "us", "ill", "id"}


def test_the_stop_list_equals_the_specified_one() -> None:
    recipe = (
        "what which who when where why how did does do is are was were has have had can could would will should "
        "i my me we our you your he she his her from about"
    )
    assert set(recipe.split()) <= STOP_WORDS


@given(HUMAN_TEXT)
def test_a_question_has_the_tokens_of_the_analyser(text: str) -> None:
    stored = analyse(text)
    tokens = [term.token for term in query_tokens(text)]
    assert set(tokens) <= set(stored)
    assert len(set(tokens)) == len(tokens)
    assert bool(tokens) == bool(stored)
    assert all(term.word for term in query_tokens(text))


@given(HUMAN_TEXT)
def test_a_question_without_stop_words_loses_no_token(text: str) -> None:
    words = {stem for stop in STOP_WORDS for stem in analyse(stop)}
    tokens = [term.token for term in query_tokens(text)]
    if tokens and tokens[0] not in words:
        assert [token for token in tokens if token not in words] == list(
            dict.fromkeys(token for token in analyse(text) if token not in words)
        )
