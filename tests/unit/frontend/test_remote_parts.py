"""The parts of the front-end on another machine, and why its server can't be reached."""

import asyncio
import json
import ssl

import numpy as np
import pytest
import trustme
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosedError, InvalidProxy, InvalidStatus
from websockets.frames import Close
from websockets.http11 import Response

from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.frame import FRAME_SAMPLES
from app.frontend.base import END_FRAMES, LINGER_FRAMES, FrontEndError
from app.frontend.remote.address import explain, read_address
from app.frontend.remote.connection import FIRST_REVISION, MOST_UNSTEADY, STEADY_SECONDS, Losses, connect_to, renumbered
from app.frontend.remote.frontend import MOST_FRAMES_THINKING, RemoteFrontEnd, ServerAnswer
from app.frontend.remote.playout import MOST_DEPTH, MOST_ITEMS, MOST_WAITING, STEADY_FRAMES, Playout, PlayoutFull
from app.frontend.remote.protocol import Welcome, event_json, read_text_message, welcome_json, words_of
from app.untrusted.limits import ProxyRefused
from tests.support.served import scripted_server
from tests.support.tables import cases


def tone(level: float = 0.1) -> np.ndarray:
    return np.full(FRAME_SAMPLES, level, np.float32)


@cases(
    "text, url",
    ("ws://192.168.1.20:8998", "ws://192.168.1.20:8998/api/chat"),
    ("den", "ws://den:8998/api/chat"),
    (" den:9000 ", "ws://den:9000/api/chat"),
    ("http://den/", "ws://den:80/api/chat"),
    ("https://talk.example.org/kame", "wss://talk.example.org:443/kame/api/chat"),
    ("wss://den/api/chat/", "wss://den:8998/api/chat"),
    ("ws://[::1]:8998", "ws://[::1]:8998/api/chat"),
)
def test_addresses_as_users_write_them(text: str, url: str) -> None:
    assert read_address(text).url() == url
    assert read_address(text).url("a b", 7).endswith("/api/chat?session=a%20b&after=7")


@pytest.mark.parametrize(
    "text",
    ["", "ftp://den", "ws://", "ws://den:port", "two words", "ws://den\x1b[2J", "ws://a..b", f"ws://{'a' * 64}.org"],
)
def test_what_is_no_address_is_told_in_a_sentence(text: str) -> None:
    with pytest.raises(FrontEndError, match=r"ws://192\.168\.1\.20:8998"):
        read_address(text)


def test_a_key_crosses_the_internet_only_encrypted() -> None:
    with pytest.raises(FrontEndError, match="unencrypted"):
        RemoteFrontEnd("ws://talk.example.org:8998", "a-key-of-mine")
    for address in ("wss://talk.example.org", "ws://192.168.1.20", "ws://127.0.0.1", "ws://den", "ws://den.local"):
        assert RemoteFrontEnd(address, "a-key-of-mine").address.may_have_key


def test_a_proxy_stands_between_only_where_it_can_see_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://proxy.example:3128")
    for address in ("ws://192.168.1.20", "ws://den", "ws://talk.example.org", "wss://127.0.0.1"):
        assert connect_to(read_address(address), "", "", 0).proxy is None
    assert connect_to(read_address("wss://talk.example.org"), "a-key", "", 0).proxy == "http://proxy.example:3128"


def test_text_messages_there_and_back() -> None:
    welcome = Welcome("token", "cascade", "Embedded", "smollm2", True)
    assert read_text_message(welcome_json(welcome)) == welcome
    delta = e.OracleDelta(1.5, 3, "It is")
    assert read_text_message(event_json(delta)) == delta
    sentence = "http://den:8080/v1 does not answer. Look there."
    for failed in (
        e.Failure(1.0, "backend", sentence, provider="compatible", base_url="http://den:8080/v1"),
        e.Failure(1.0, "backend", sentence),
        e.Failure(1.0, "session", sentence, about="backend"),
    ):
        assert "den" not in event_json(failed) and "has failed" in event_json(failed)
    heard = e.Failure(1.0, "stt", "Nothing can be recognised.")
    assert read_text_message(event_json(heard)) == heard
    assert read_text_message(to_json(e.SessionEnded(1.0, 3))) is None


@cases(
    "text",
    "",
    "[]",
    '{"welcome": 1}',
    '{"welcome": {"token": 1}}',
    '{"type": "OracleDelta"}',
    '{"type": "OracleDelta", "at": -1, "revision": 1, "text": "x"}',
    json.dumps({"welcome": "x" * 300_000}),
)
def test_other_text_messages_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_text_message(text)


def test_words_keep_the_space_before_them_and_nothing_harmful() -> None:
    told = (b" Hello", b"o,", b" \x1b[2J there\n", b"\xff")
    assert [*map(words_of, told)] == [" Hello", "o,", " there", "\ufffd"]
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


def test_what_nobody_plays_is_bounded_and_delay_is_made_up_for_in_silence_alone() -> None:
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
    playout = Playout()
    for _ in range(3 * MOST_WAITING):
        playout.push_sound(tone())
    assert len(playout) == MOST_WAITING


@pytest.mark.parametrize("sounds", [0, 10])
def test_words_and_events_that_nobody_plays_are_bounded(sounds: int) -> None:
    for push in (
        lambda playout: playout.push_words(" word"),
        lambda playout: playout.push_event(e.OracleDelta(1.0, 1, "word")),
        lambda playout: playout.push_event(e.OracleDelta(1.0, 1, "w" * 200_000)),
    ):
        playout = Playout()
        for _ in range(sounds):
            playout.push_sound(tone())
        pushed = 0
        with pytest.raises(PlayoutFull):
            while pushed <= 2 * MOST_ITEMS:
                push(playout)
                pushed += 1
        assert pushed > 10
        playout.clear()
        assert sum(len(frame.words) + len(frame.events) for frame in [playout.take()]) == pushed
        push(playout)  # what has been taken makes room


def test_words_and_events_outlast_the_connection_that_they_came_by() -> None:
    playout = Playout()
    playout.push_words(" late")
    playout.push_sound(tone())
    playout.push_words(" one")
    playout.push_event(e.AssistantEnded(0.0, 1, False))
    playout.clear()
    taken = playout.take()
    assert taken.words == [" late", " one"] and taken.events == [e.AssistantEnded(0.0, 1, False)]
    assert not taken.samples.any() and not len(playout)


def test_when_an_answer_begins_and_ends() -> None:
    answer = ServerAnswer()
    assert answer.idle
    answer.turn = 2
    said, marks = answer.follow([(" It", 7, None), ("'s", 7, None)], tone())
    assert [(one.text, one.glued, one.turn, one.revision) for one in said] == [("It", False, 2, 7), ("'s", True, 2, 7)]
    assert [(mark.what, mark.turn, mark.revision) for mark in marks] == [("started", 2, 7)]
    assert not answer.idle
    ends = [answer.follow([], tone(0.0))[1] for _ in range(END_FRAMES)]
    assert [mark.what for marks in ends for mark in marks] == ["ended"] and ends[-1]
    answer.follow([(" So", 8, None)], tone())
    assert [mark.what for mark in answer.follow([None], tone())[1]] == ["ended"]
    answer = ServerAnswer()
    answer.turn = 1
    said, marks = answer.follow([(" Yes.", 1, None), None], tone())
    assert [one.text for one in said] == ["Yes."] and [mark.what for mark in marks] == ["started", "ended"]
    assert answer.answering is None
    answer.follow([(" One", 1, None)], tone())
    _, marks = answer.follow([None, (" Two", 2, None)], tone())
    assert [(mark.what, mark.revision) for mark in marks] == [("ended", 1), ("started", 2)]
    assert answer.answering == (1, 2)
    answer = ServerAnswer()
    answer.turn = 1
    answer.follow([(" Yes", 1, None)], tone())
    ends = [answer.follow([], tone())[1] for _ in range(3 * END_FRAMES)]
    assert not any(ends[:-1]) and [mark.what for mark in ends[-1]] == ["ended"]
    for _ in range(LINGER_FRAMES):
        answer.follow([], tone())
    assert answer.idle
    answer = ServerAnswer()
    answer.turn = 1
    answer.follow([(" One", 1, None)], tone())
    answer.turn = 2
    _, marks = answer.follow([(" Two", 2, None)], tone())
    assert [(mark.what, mark.turn) for mark in marks] == [("ended", 1), ("started", 2)]
    assert [mark.what for mark in answer.stop()] == ["interrupted"] and not answer.stop()


def test_an_answer_is_expected_while_the_newest_revision_is_thought_about() -> None:
    def asked(revision: int, *, secondary: bool = False) -> e.OracleRequested:
        return e.OracleRequested(0.0, revision, 1, "Script", "script", "Why?", True, secondary)

    def frames_until_idle(answer: ServerAnswer) -> int:
        frames = 0
        while not answer.idle:
            answer.follow([], tone(0.0))
            frames += 1
        return frames

    answer = ServerAnswer()
    answer.follow_oracle(asked(1))
    answer.follow_oracle(asked(2))
    answer.follow_oracle(e.OracleEnded(0.0, 1, "superseded", 0))
    for _ in range(2 * LINGER_FRAMES):
        answer.follow([], tone(0.0))
    assert not answer.idle
    answer.follow_oracle(asked(3, secondary=True))  # its answer isn't spoken
    answer.follow_oracle(e.OracleEnded(0.0, 2, "complete", 4))
    assert frames_until_idle(answer) == LINGER_FRAMES
    answer.follow_oracle(asked(4))
    answer.follow([], tone(0.0))
    assert frames_until_idle(answer) == MOST_FRAMES_THINKING - 2 + LINGER_FRAMES, "a server that never ends it"


def test_a_connection_is_tried_again_until_its_time_is_over() -> None:
    losses = Losses(20.0)
    pauses, now = [], 100.0
    while (pause := losses.lost(now, None)) is not None:
        pauses.append(pause)
        now += pause
    assert pauses[:5] == [0.1, 0.25, 0.5, 1.0, 2.0] and 118 < now < 122
    steady = Losses(20.0)
    for number in range(100):  # one that comes back is never given up
        now = number * 60.0
        assert steady.lost(now, now - STEADY_SECONDS) == 0.1 and steady.left == 20.0
    assert steady.lost(now + 5, None) is not None and steady.left == 15.0


def test_connections_that_never_last_are_given_up() -> None:
    losses = Losses(20.0)
    assert [losses.lost(number * 0.01, number * 0.01) is None for number in range(MOST_UNSTEADY + 1)] == [
        *([False] * MOST_UNSTEADY),
        True,
    ]


def test_revisions_of_each_conversation_have_numbers_of_their_own() -> None:
    assert renumbered(e.OracleDelta(1.0, 3, "x"), 1).revision == FIRST_REVISION + 3  # type: ignore[union-attr]
    assert renumbered(e.OracleSuperseded(1.0, 2, 3), 2) == e.OracleSuperseded(
        1.0, 2 * FIRST_REVISION + 2, 2 * FIRST_REVISION + 3
    )
    words = e.AssistantSaid(1.0, 1, "Hm", 0)
    assert renumbered(words, 2) is words
    for wrong in (e.OracleDelta(1.0, 0, "x"), e.OraclePromoted(1.0, -1), e.OracleSuperseded(1.0, 1, FIRST_REVISION)):
        with pytest.raises(ValueError, match="no revision"):
            renumbered(wrong, 1)


ADDRESS = read_address("wss://talk.example.org")


def status(number: int) -> InvalidStatus:
    return InvalidStatus(Response(number, "", Headers()))


def closed(code: int) -> ConnectionClosedError:
    return ConnectionClosedError(Close(code, ""), None)


@cases(
    "error, words",
    (status(401), "wants another key"),
    (status(403), "refuses connections by this name"),
    (status(404), "does not speak Moshi's protocol (it answered 404)"),
    (status(503), "busy with another conversation"),
    (status(429), "too many connections"),
    (closed(1013), "busy with another conversation"),
    (closed(1011), "can't hold a conversation now"),
    (closed(1008), "does not answer"),
    (ProxyRefused("socks5://127.0.0.1:1080"), "socks5://127.0.0.1:1080, a proxy of a kind"),
    (InvalidProxy("ftp://x", "no proxy"), "proxy"),
    (ssl.SSLCertVerificationError(1, "self-signed"), "can't be trusted"),
    (ssl.SSLError(1, "WRONG_VERSION_NUMBER"), "ws:// instead of wss://"),
    (ValueError("it is no Ogg-Opus"), "can't be understood (it is no Ogg-Opus)"),
    (ConnectionRefusedError(111, "refused"), "does not answer"),
    (TimeoutError(), "does not answer"),
    (None, "does not answer"),
)
def test_each_failure_has_its_own_sentence(error: Exception | None, words: str) -> None:
    sentence = explain(error, ADDRESS, was_ready=False)
    assert words in sentence and sentence.endswith(".") and "talk.example.org:8998" in sentence


def test_a_connection_that_had_worked_is_lost() -> None:
    assert "any more" in explain(ConnectionResetError(104, "reset"), ADDRESS, was_ready=True)
    assert "any more" in explain(None, ADDRESS, was_ready=True)


async def test_a_server_without_tls_is_told_from_one_that_cant_be_trusted() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as plain:
        port = plain.sockets[0].getsockname()[1]
        with pytest.raises(FrontEndError, match="ws:// instead of wss://"):
            await asyncio.to_thread(RemoteFrontEnd(f"wss://127.0.0.1:{port}").__enter__)
    async with scripted_server() as own:
        with pytest.raises(FrontEndError, match="ws:// instead of wss://"):
            await asyncio.to_thread(RemoteFrontEnd(f"wss://127.0.0.1:{own.port}").__enter__)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)
    async with await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context) as unknown:
        port = unknown.sockets[0].getsockname()[1]
        with pytest.raises(FrontEndError, match="this machine does not know its certificate"):
            await asyncio.to_thread(RemoteFrontEnd(f"wss://127.0.0.1:{port}").__enter__)
        with pytest.raises(FrontEndError, match="wss:// instead of ws://"):
            await asyncio.to_thread(RemoteFrontEnd(f"ws://127.0.0.1:{port}").__enter__)
