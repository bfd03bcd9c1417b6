"""The parts of the front-end on another machine: addresses, messages, what waits to be played, and answers."""

from __future__ import annotations

import json

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.frame import FRAME_SAMPLES
from app.frontend.base import FrontEndError
from app.frontend.remote.address import read_address
from app.frontend.remote.answer import END_FRAMES, ServerAnswer
from app.frontend.remote.frontend import RemoteFrontEnd
from app.frontend.remote.playout import MOST_DEPTH, MOST_WAITING, STEADY_FRAMES, Playout
from app.frontend.remote.protocol import Welcome, event_json, read_text_message, welcome_json, words_of


def tone(level: float = 0.1) -> np.ndarray:
    return np.full(FRAME_SAMPLES, level, np.float32)


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("ws://192.168.1.20:8998", "ws://192.168.1.20:8998/api/chat"),
        ("den", "ws://den:8998/api/chat"),
        (" den:9000 ", "ws://den:9000/api/chat"),
        ("http://den/", "ws://den:80/api/chat"),
        ("https://talk.example.org/kame", "wss://talk.example.org:443/kame/api/chat"),
        ("wss://den/api/chat/", "wss://den:8998/api/chat"),
        ("ws://[::1]:8998", "ws://[::1]:8998/api/chat"),
    ],
)
def test_addresses_as_users_write_them(text: str, url: str) -> None:
    assert read_address(text).url() == url
    assert read_address(text).url("a b").endswith("/api/chat?session=a%20b")


@pytest.mark.parametrize("text", ["", "ftp://den", "ws://", "ws://den:port", "two words", "ws://den\x1b[2J"])
def test_what_is_no_address_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(FrontEndError, match=r"ws://192\.168\.1\.20:8998"):
        read_address(text)


def test_a_key_crosses_the_internet_only_encrypted() -> None:
    with pytest.raises(FrontEndError, match="in the clear"):
        RemoteFrontEnd("ws://talk.example.org:8998", "a-key-of-mine")
    for address in ("wss://talk.example.org", "ws://192.168.1.20", "ws://127.0.0.1", "ws://den", "ws://den.local"):
        assert RemoteFrontEnd(address, "a-key-of-mine").address.may_have_key


def test_text_messages_there_and_back() -> None:
    welcome = Welcome("token", "cascade", "Embedded", "smollm2", True)
    assert read_text_message(welcome_json(welcome)) == welcome
    delta = e.OracleDelta(1.5, 3, "It is")
    assert read_text_message(event_json(delta)) == delta
    failed = e.Failure(1.0, "backend", "It failed.", provider="compatible", base_url="http://den:8080/v1")
    assert "den" not in event_json(failed)
    assert read_text_message(to_json(e.SessionEnded(1.0, 3))) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"welcome": 1}',
        '{"welcome": {"token": 1}}',
        '{"type": "OracleDelta"}',
        '{"type": "OracleDelta", "at": -1, "revision": 1, "text": "x"}',
        json.dumps({"welcome": "x" * 300_000}),
    ],
)
def test_other_text_messages_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_text_message(text)


def test_words_keep_the_space_before_them_and_nothing_harmful() -> None:
    assert [words_of(b" Hello"), words_of(b"o,"), words_of(b" \x1b[2J there\n"), words_of(b"\xff")] == [
        " Hello",
        "o,",
        " there",
        "\ufffd",
    ]
    assert len(words_of(b"a" * 9999)) <= 400


def test_sound_is_played_in_order_with_its_words() -> None:
    playout = Playout()
    playout.push_words(" early")
    playout.push_sound(np.concatenate([tone(0.1), tone(0.2)[:500]]))
    playout.push_words(" first")
    playout.push_sound(tone(0.2)[500:])
    playout.push_event(e.AssistantEnded(0.0, 1, False))
    first, second, third = playout.take(), playout.take(), playout.take()
    assert first.samples[0] == np.float32(0.1) and first.words == [" early", " first"]
    assert second.samples[0] == np.float32(0.2) and second.events == [e.AssistantEnded(0.0, 1, False)]
    assert not third.samples.any() and playout.gaps == 1


def test_after_each_gap_more_is_waited_for_and_after_long_steadiness_less() -> None:
    playout = Playout()
    for depth in range(2, MOST_DEPTH + 3):
        while playout.take().samples.any():
            pass
        for _ in range(playout.depth):
            assert not playout.take().samples.any()
            playout.push_sound(tone())
        assert playout.take().samples.any()
        while playout.take().samples.any():
            pass
        assert playout.depth == min(depth, MOST_DEPTH)
    for _ in range(MOST_DEPTH):
        playout.push_sound(tone())
    for _ in range(STEADY_FRAMES * MOST_DEPTH):
        playout.push_sound(tone())
        playout.take()
    assert playout.depth == 1


def test_delay_is_made_up_for_in_silence_alone_and_no_word_is_lost() -> None:
    playout = Playout()
    for number in range(5):
        playout.push_sound(tone(0.0))
        playout.push_words(f" {number}")
    for _ in range(3):
        playout.push_sound(tone())
    taken = [playout.take() for _ in range(8)]
    assert sum(frame.samples.any() for frame in taken) == 3
    assert [word for frame in taken for word in frame.words] == [" 0", " 1", " 2", " 3", " 4"]
    assert sum(not frame.samples.any() for frame in taken[:4]) <= 3


def test_what_nobody_plays_is_bounded() -> None:
    playout = Playout()
    for _ in range(3 * MOST_WAITING):
        playout.push_sound(tone())
    assert len(playout) == MOST_WAITING


def test_an_answer_begins_with_its_first_word_and_ends_in_silence() -> None:
    answer = ServerAnswer()
    assert answer.idle
    answer.turn = 2
    said, marks = answer.follow([(" It", 7), ("'s", 7)], tone(), over=False)
    assert [(one.text, one.glued, one.turn, one.revision) for one in said] == [("It", False, 2, 7), ("'s", True, 2, 7)]
    assert [(mark.what, mark.turn, mark.revision) for mark in marks] == [("started", 2, 7)]
    assert not answer.idle
    ends = [answer.follow([], tone(0.0), over=False)[1] for _ in range(END_FRAMES)]
    assert [mark.what for marks in ends for mark in marks] == ["ended"] and ends[-1]
    answer.follow([(" So", 8)], tone(), over=False)
    assert [mark.what for mark in answer.follow([], tone(), over=True)[1]] == ["ended"]


def test_a_new_turn_ends_the_answer_to_the_last() -> None:
    answer = ServerAnswer()
    answer.turn = 1
    answer.follow([(" One", 1)], tone(), over=False)
    answer.turn = 2
    _, marks = answer.follow([(" Two", 2)], tone(), over=False)
    assert [(mark.what, mark.turn) for mark in marks] == [("ended", 1), ("started", 2)]
    assert [mark.what for mark in answer.stop()] == ["interrupted"] and not answer.stop()
