"""What hears and what speaks is changed in mid-conversation: no word is lost, none comes twice, and nothing is left
behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, Frame
from app.frontend.base import SetVoice
from app.models.catalogue import DEFAULTS
from app.session.control import SpeechChoice, Style
from app.session.parts import SessionConfig
from app.session.session import Session
from app.session.speech_controller import SpeechController
from app.stt.base import TranscriberError, TranscriptUpdate
from app.stt.swappable import RECENT_SECONDS, SwappableTranscriber
from app.tts.base import Clip, VoiceError
from tests.support.scripted import ScriptedTranscriber, ScriptedTurn, ScriptedVoice
from tests.support.talks import Talk, simulate

QUESTIONS = [ScriptedTurn(1.0, 4.0, "What is the capital of France today?"), ScriptedTurn(12.0, 14.0, "And of Spain?")]
LOADING = 0.5
LONG = "The first clause is here, the second clause comes then, the third one follows, and the last one ends it."


class Recogniser(ScriptedTranscriber):
    """Writes all words in capitals, if it is a loud one; counts how often it was entered and left."""

    def __init__(self, name: str) -> None:
        loud = [replace(turn, words=turn.words.upper()) for turn in QUESTIONS]
        super().__init__(loud if name == "loud" else QUESTIONS)
        self.name, self.entered, self.left = name, 0, 0

    def __enter__(self) -> Recogniser:
        self.entered += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self.left += 1


class Spoken(ScriptedVoice):
    """Notes what was asked of it, and at which rate."""

    def __init__(self, name: str = "first") -> None:
        super().__init__()
        self.name, self.entered, self.left = name, 0, 0
        self.rates: list[float] = []

    def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
        assert self.entered > self.left, "it was left before"
        self.rates.append(self.rate)
        return super().synthesize(text)

    def __enter__(self) -> Spoken:
        self.entered += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self.left += 1


class Makers:
    """Makes recognisers and voices by their names, in a while; there is none called "missing"."""

    def __init__(self) -> None:
        self.first, self.voice = Recogniser("first"), Spoken()
        self.made: list[Recogniser | Spoken] = [self.first, self.voice]

    async def recogniser(self, choice: SpeechChoice) -> Recogniser:
        await asyncio.sleep(LOADING)
        if choice.recogniser == "missing":
            raise TranscriberError("It is not on this machine. Get it.")
        self.made.append(made := Recogniser(choice.recogniser))
        return made

    async def spoken(self, choice: SpeechChoice) -> Spoken:
        await asyncio.sleep(LOADING)
        if choice.voice == "missing":
            raise VoiceError("It is not on this machine. Get it.")
        if choice.voice == "broken":
            raise OSError("no memory")
        self.made.append(made := Spoken(choice.voice))
        return made

    def talk(self, *changes: tuple[float, SpeechChoice | Style], seconds: float = 20.0, **more: object) -> Talk:
        """Changes to each choice at its time, or calls `during`. All that was made was entered and left once."""
        talk = simulate(
            QUESTIONS,
            more.pop("reply", about),
            seconds=seconds,
            transcriber=self.first,
            voice=self.voice,
            make_transcriber=self.recogniser,
            make_voice=self.spoken,
            during=more.pop("during", None) or changing(*changes),
            **more,
        )
        assert all(part.entered == part.left == 1 for part in self.made), "each was entered and left"
        assert not talk.tasks_left
        return talk

    def called(self, name: str) -> list[Recogniser | Spoken]:
        return [part for part in self.made if part.name == name]


def changing(*changes: tuple[float, SpeechChoice | Style]) -> Callable[[Session], None]:
    def during(session: Session) -> None:
        loop = asyncio.get_running_loop()
        for at, choice in changes:
            part = "style" if isinstance(choice, Style) else "speech"
            loop.call_later(at, partial(session.change, **{part: choice}))

    return during


class Interpreters(Makers):
    """German is heard; voices are called by the language that they are made for."""

    def __init__(self, missing: str = "") -> None:
        super().__init__()
        self.first.language = "de"
        self.missing, self.asked = missing, 0

    async def spoken(self, choice: SpeechChoice) -> Spoken:
        self.asked += 1
        if choice.language == self.missing:
            await asyncio.sleep(LOADING)
            raise VoiceError(f"No voice for the language “{choice.language}” is on this machine.")
        return await super().spoken(replace(choice, voice=choice.voice or choice.language))


def about(request: object) -> ScriptedAnswer:
    return answer(LONG)


def finals(talk: Talk) -> list[str]:
    return [event.text for event in talk.of(e.TranscriptFinal)]


# -- the recogniser


def test_a_recogniser_that_is_changed_in_mid_utterance_loses_no_word() -> None:
    makers = Makers()
    talk = makers.talk((2.0, SpeechChoice(recogniser="loud")))
    assert finals(talk) == ["What is the capital of France today?", "AND OF SPAIN?"]
    [changed] = talk.of(e.SpeechChanged)
    ended = next(event for event in talk.of(e.UserEnded) if event.turn == 1)
    assert changed.stt == "loud" and ended.at < changed.at < 12.0, "the turn that was being heard was heard to its end"
    assert not talk.of(e.Failure)
    assert len(makers.called("loud")) == 1


def test_one_that_is_ready_while_nobody_speaks_takes_over_at_once() -> None:
    talk = Makers().talk((9.0, SpeechChoice(recogniser="loud")))
    [changed] = talk.of(e.SpeechChanged)
    assert 9.5 <= changed.at <= 9.7
    assert finals(talk) == ["What is the capital of France today?", "AND OF SPAIN?"]


def test_a_user_who_continues_with_a_turn_is_heard_by_the_one_that_heard_its_beginning() -> None:
    heard: list[tuple[str, str]] = []

    class Noting(ScriptedTranscriber):
        def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
            heard.append((self.name, f"begin {turn}"))

        def resume(self, turn: int) -> None:
            heard.append((self.name, f"resume {turn}"))

        def push(self, frame: Frame, voiced: bool) -> None:
            heard.append((self.name, f"frame {frame.index}"))

    old, new = Noting([]), Noting([])
    old.name, new.name = "old", "new"
    transcriber, retired = SwappableTranscriber(old), []
    transcriber.on_retired = retired.append

    def push(first: int, last: int) -> None:
        for index in range(first, last):
            transcriber.push(Frame(index, np.zeros(FRAME_SAMPLES, np.float32)), False)

    push(0, 5)
    transcriber.begin(1, 0.4)
    push(5, 10)
    transcriber.take(new)
    transcriber.end(1, 0.8)
    push(10, 20)
    transcriber.resume(1)
    push(20, 60)
    assert {name for name, _ in heard} == {"old"}
    transcriber.end(1, 4.8)
    push(60, 70)
    heard.clear()
    transcriber.begin(2, 5.5)
    assert heard == [*(("new", f"frame {index}") for index in range(60, 70)), ("new", "begin 2")]
    push(70, 71)
    assert retired == [old] and transcriber.name == "new"
    transcriber.end(2, 5.7)
    push(71, 71 + round(RECENT_SECONDS / FRAME_SECONDS))
    assert transcriber.current is new


def test_last_words_that_come_late_are_delivered_before_it_is_left() -> None:
    class Late(ScriptedTranscriber):
        late = True

        @property
        def busy(self) -> bool:
            return self.late

    old, new = Late([]), ScriptedTranscriber([])
    transcriber, retired, heard = SwappableTranscriber(old), [], []
    transcriber.on_retired, transcriber.on_update = retired.append, heard.append
    transcriber.take(new)
    transcriber.begin(1, 1.0)
    transcriber.push(Frame(20, np.zeros(FRAME_SAMPLES, np.float32)), False)
    assert not retired and transcriber.busy and transcriber.current is new
    old.on_update(TranscriptUpdate(1, "the last words", "", 1.0, final=True))
    old.late = False
    transcriber.push(Frame(21, np.zeros(FRAME_SAMPLES, np.float32)), False)
    assert retired == [old] and [update.stable for update in heard] == ["the last words"]


# -- the voice


def test_a_voice_that_is_changed_in_mid_answer_finishes_the_clause() -> None:
    makers = Makers()
    talk = makers.talk((5.0, SpeechChoice(voice="second")), seconds=11.0)
    assert talk.said(1) == LONG, "every word once"
    [changed] = talk.of(e.SpeechChanged)
    [second] = makers.called("second")
    assert changed.voice == "second"
    before = [event.text for event in talk.of(e.AssistantSaid) if event.at <= changed.at]
    after = " ".join(second.spoken)
    assert before and LONG.endswith(after), "the new one says the rest, from a clause's beginning"
    begun = LONG[: -len(after)].split()
    assert len(begun) >= len(before) and begun[-1].endswith(","), "the clause that was being said is said to its end"
    assert talk.speaker.sounding(changed.at, changed.at + 0.2)


def test_rate_and_volume_hold_from_the_next_clause_on_in_the_same_voice() -> None:
    makers = Makers()
    talk = makers.talk((5.0, SpeechChoice(rate=1.5, volume=0.5)), seconds=11.0)
    assert talk.said(1) == LONG
    assert makers.made == [makers.first, makers.voice], "nothing was loaded for that"
    assert makers.voice.rates[0] == 1.0 and makers.voice.rates[-1] == 1.5 and makers.voice.volume == 0.5
    [changed] = talk.of(e.SpeechChanged)
    assert (changed.voice, changed.rate, changed.volume) == ("first", 1.5, 0.5) and changed.at < 5.2


def test_openings_are_of_the_new_voice() -> None:
    makers = Makers()
    makers.talk((0.1, SpeechChoice(voice="second", rate=1.2)), seconds=6.0, openings=True)
    [second] = makers.called("second")
    opening = makers.voice.spoken[0]
    assert opening in second.spoken, "what was made ahead is made again"
    assert set(second.rates) == {1.2}


def test_the_voice_goes_over_to_the_language_that_is_heard() -> None:
    makers = Interpreters()
    talk = makers.talk(speech=SpeechChoice("auto"))
    [changed] = talk.of(e.SpeechChanged)
    assert changed.voice == "de" and changed.at < 12.0, "in the answer to the first words"
    assert makers.asked == 1, "a language that goes on is not asked for again"
    assert talk.said(1) == talk.said(2) == LONG
    assert not talk.of(e.Failure)


def test_a_language_without_a_voice_is_reported_once_and_spoken_by_the_first_voice() -> None:
    makers = Interpreters(missing="de")
    talk = makers.talk(speech=SpeechChoice("auto"))
    [failure] = talk.of(e.Failure)
    assert "continues with first" in failure.sentence and "language “de”" in failure.sentence
    assert makers.asked == 1 and talk.said(1) == talk.said(2) == LONG


def test_a_voice_that_the_user_chose_stays_whatever_is_heard() -> None:
    for choice in (SpeechChoice("auto", voice="mine"), SpeechChoice("en")):
        makers = Interpreters()
        talk = makers.talk(speech=choice, first_voice=choice.voice)
        assert makers.asked == 0 and not talk.of(e.SpeechChanged, e.Failure)


def test_a_front_end_with_a_voice_of_its_own_keeps_it() -> None:
    makers = Makers()
    parts = SimpleNamespace(frontend=SimpleNamespace(voice=None, name="kame"), make_voice=makers.spoken)
    live, posted, told = speech(parts, makers)
    live.change(SpeechChoice(voice="second", rate=2.0))
    assert not posted and not told and live.choice.voice == "second", "it is for the one that may take its place"


def test_a_voice_that_is_changed_again_and_again_says_every_word_once() -> None:
    makers = Makers()
    choices = [SpeechChoice(voice=f"voice {n}", rate=1 + n / 100) for n in range(30)]
    talk = makers.talk(*((3.0 + 0.77 * n, choice) for n, choice in enumerate(choices)), seconds=27.0)
    assert talk.said(1) == talk.said(2) == LONG
    assert len(makers.made) == 32 and len(talk.of(e.SpeechChanged)) >= 30


# -- what fails


def test_what_is_missing_is_reported_and_the_old_one_continues() -> None:
    makers = Makers()
    talk = makers.talk((2.0, SpeechChoice(recogniser="missing")), (3.0, SpeechChoice(voice="missing")))
    transcriber, voice = talk.of(e.Failure)
    assert (transcriber.source, voice.source) == ("stt", "tts") and not transcriber.fatal and not voice.fatal
    assert transcriber.sentence == (
        "The speech recognition could not be changed, and the conversation continues with first. The reason: It is not "
        "on this machine. Get it."
    )
    assert "voice could not be changed" in voice.sentence and "continues with first" in voice.sentence
    assert finals(talk) == [turn.words for turn in QUESTIONS] and talk.said(1) == talk.said(2) == LONG
    assert not talk.of(e.SpeechChanged)


def test_after_a_failure_another_one_can_be_chosen() -> None:
    makers = Makers()
    talk = makers.talk((2.0, SpeechChoice(voice="broken")), (3.0, SpeechChoice(voice="second")))
    [failure] = talk.of(e.Failure)
    assert "OSError: no memory" in failure.sentence
    assert [changed.voice for changed in talk.of(e.SpeechChanged)] == ["second"]


def test_a_conversation_that_can_change_nothing_reports_that() -> None:
    talk = simulate(QUESTIONS, about, seconds=6.0, during=changing((1.0, SpeechChoice("en", "loud", "second"))))
    assert [failure.source for failure in talk.of(e.Failure)] == ["stt", "tts"]


# -- several, and the end


def test_of_several_changes_the_last_one_holds() -> None:
    makers = Makers()
    talk = makers.talk((8.0, SpeechChoice("en", "other", "other")), (8.2, SpeechChoice("en", "loud", "second")))
    last = talk.of(e.SpeechChanged)[-1]
    assert (last.stt, last.voice) == ("loud", "second")
    assert "other" not in {name for changed in talk.of(e.SpeechChanged) for name in (changed.stt, changed.voice)}
    assert finals(talk)[-1] == "AND OF SPAIN?"
    makers = Makers()
    talk = makers.talk((8.0, SpeechChoice("en", "loud", "second")), (8.2, SpeechChoice()))
    assert not talk.of(e.SpeechChanged, e.Failure)
    assert finals(talk)[-1] == "And of Spain?"
    makers = Makers()
    talk = makers.talk((1.2, SpeechChoice(recogniser="other")), (2.2, SpeechChoice(recogniser="loud")))
    assert [changed.stt for changed in talk.of(e.SpeechChanged)] == ["loud"]
    assert finals(talk) == ["What is the capital of France today?", "AND OF SPAIN?"]


def test_the_end_of_the_conversation_in_mid_change_leaves_nothing_behind() -> None:
    both = SpeechChoice("en", "loud", "second")
    for at in (1.7, 1.999, 2.001, 2.1, 2.5):  # while they load, as they are ready, and before the turn is over
        makers = Makers()

        def during(session: Session, at: float = at) -> None:
            loop = asyncio.get_running_loop()
            loop.call_later(2.0 - LOADING, partial(session.change, speech=both))
            loop.call_later(at, lambda: setattr(during, "task", loop.create_task(session.stop())))

        talk = makers.talk(during=during)
        assert all(part.entered == part.left == 1 for part in makers.made), at
        assert isinstance(talk.events[-1], e.SessionEnded)


def speech(
    parts: SimpleNamespace, makers: Makers, **more: bool
) -> tuple[SpeechController, list[object], list[e.Event]]:
    posted: list[object] = []
    told: list[e.Event] = []
    live = SpeechController(
        parts,
        SwappableTranscriber(makers.first),
        SessionConfig(pace="simulated" if more.get("simulated", True) else "real"),
        post=posted.append,
        emit=told.append,
        now=lambda: 1.0,
    )
    return live, posted, told


async def test_in_real_time_what_is_loading_at_the_end_is_left_when_it_has_loaded() -> None:
    makers, begun, may, left = Makers(), threading.Event(), threading.Event(), threading.Event()

    class Slow(ScriptedVoice):
        def __enter__(self) -> Slow:
            begun.set()
            assert may.wait(5)
            return self

        def __exit__(self, *exc: object) -> None:
            left.set()

    async def make(choice: SpeechChoice) -> Slow:
        return Slow()

    parts = SimpleNamespace(frontend=SimpleNamespace(voice=makers.voice, name="cascade"), make_voice=make)
    live, posted, _ = speech(parts, makers, simulated=False)
    live.change(SpeechChoice(voice="slow"))
    assert await asyncio.to_thread(begun.wait, 5)
    await live.close()
    assert not left.is_set() and not posted
    may.set()
    assert await asyncio.to_thread(left.wait, 5)
    live.change(SpeechChoice(voice="another"))
    assert not posted, "nothing begins behind the end"


async def test_in_real_time_the_old_voice_is_left_on_a_thread_once_the_new_one_speaks() -> None:
    makers, threads = Makers(), []

    class Left(Spoken):
        def __exit__(self, *exc: object) -> None:
            threads.append(threading.current_thread())

    old, new, unused = Left(), Left("second"), Left("third")
    waiting = [new, unused]

    async def make(choice: SpeechChoice) -> Left:
        return waiting.pop(0)

    parts = SimpleNamespace(frontend=SimpleNamespace(voice=old, name="cascade"), make_voice=make)
    live, posted, told = speech(parts, makers, simulated=False)
    for name in ("second", "third"):
        live.change(SpeechChoice(voice=name))
        while not posted or posted[-1].voice.name != name:
            await asyncio.sleep(0.01)
    assert posted == [SetVoice(new), SetVoice(unused)] and not told and not threads
    live.taken([new])
    assert [event.voice for event in told] == ["second"]
    await live.close()
    assert len(threads) == 2 and threading.main_thread() not in threads, "the old one, and the one that was not taken"


# -- a conversation's own voice


def test_a_conversation_has_a_voice_of_its_own_and_gives_it_up_again() -> None:
    makers = Makers()
    talk = makers.talk((2.0, Style(voice="pirate")), (9.0, SpeechChoice(voice="usual")), (11.0, Style()))
    assert [event.voice for event in talk.of(e.SpeechChanged)] == ["pirate", "usual"]
    assert not makers.called("first")[1].spoken, "the first turn's answer was the pirate's"
    assert makers.called("pirate")[0].spoken and makers.called("usual")[0].spoken
    assert [event.voice for event in talk.of(e.ConversationConfigured)][-2:] == ["pirate", ""]
    assert talk.said(1) == talk.said(2) == LONG
    makers = Makers()
    talk = makers.talk(style=Style(voice="pirate"), first_voice="pirate")
    assert makers.made == [makers.first, makers.voice] and not talk.of(e.SpeechChanged, e.Failure)
    makers, own = Interpreters(), Style(voice="pirate")
    talk = makers.talk((11.0, Style()), speech=SpeechChoice("auto"), style=own, first_voice="pirate")
    assert [event.voice for event in talk.of(e.SpeechChanged)] == ["de"] and makers.asked == 1


def test_a_conversations_voice_that_is_gone_is_reported_and_the_usual_one_speaks() -> None:
    makers = Makers()
    talk = makers.talk(style=Style(voice="missing"))
    [failure] = talk.of(e.Failure)
    assert failure.source == "tts" and "continues with first" in failure.sentence
    assert talk.said(1) == talk.said(2) == LONG and not talk.of(e.SpeechChanged)


def test_a_failure_is_reported_once_whatever_else_is_changed() -> None:
    makers = Interpreters(missing="de")
    volumes = [(6.0 + n, SpeechChoice("auto", volume=1 + n / 10)) for n in range(4)]
    styles = [(6.5 + n, Style(voice="missing", persona=f"Cook {n}.")) for n in range(4)]
    talk = makers.talk(*volumes, *styles, speech=SpeechChoice("auto"))
    assert len(talk.of(e.Failure)) == 2, "one for the language, one for the conversation's voice"
    assert talk.said(1) == talk.said(2) == LONG


def test_a_usual_voice_that_was_changed_meanwhile_speaks_where_the_own_one_fails() -> None:
    talk = Makers().talk((2.0, Style(voice="missing")), (2.2, SpeechChoice(voice="second")))
    assert len(talk.of(e.Failure)) == 1 and [event.voice for event in talk.of(e.SpeechChanged)] == ["second"]


class Broken(ScriptedTranscriber):
    """A recogniser whose passes fail."""

    on_broken: Callable[[], None]

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        self.on_failure("Speech recognition failed.")
        self.on_broken()

    def end(self, turn: int, speech_end: float) -> None:
        self.on_update(TranscriptUpdate(turn, "", "", speech_end, settled=True, final=True))


@pytest.mark.parametrize(("broken", "answered"), [(1, [2, 3]), (2, [3])])
def test_a_broken_recogniser_is_loaded_again_and_then_replaced_by_the_default(broken: int, answered: list[int]) -> None:
    script = [ScriptedTurn(1.0 + 10 * n, 3.0 + 10 * n, f"What is number {n} please?") for n in range(3)]
    wanted: list[str] = []

    async def make(choice: SpeechChoice) -> ScriptedTranscriber:
        wanted.append(choice.recogniser)
        return (Broken if len(wanted) < broken else ScriptedTranscriber)(script)

    talk = simulate(
        script, lambda request: answer("Here it is."), transcriber=Broken(script), make_transcriber=make, seconds=32.0
    )
    assert [n for n in (1, 2, 3) if talk.said(n)] == answered
    assert wanted == ["", DEFAULTS["stt"], ""][: 2 * broken - 1], "the wanted one is tried again"
    assert len(talk.of(e.Failure)) == broken
    assert [notice.sentence for notice in talk.of(e.Notice)] == [
        "Speech recognition with scripted doesn't work, so the built-in one hears you until it does.",
        "Speech recognition with scripted works again.",
    ][: 2 * broken - 2]


def test_a_recogniser_that_stays_broken_is_tried_again_ever_later_and_not_told_again() -> None:
    script = [ScriptedTurn(1.0 + 10 * n, 3.0 + 10 * n, f"What is number {n} please?") for n in range(3)]
    tried: list[float] = []

    async def make(choice: SpeechChoice) -> ScriptedTranscriber:
        if choice.recogniser == DEFAULTS["stt"]:
            return ScriptedTranscriber(script)
        tried.append(asyncio.get_running_loop().time())
        raise TranscriberError("The card is gone.")

    def reply(request: object) -> ScriptedAnswer:
        return answer("Here it is.")

    speech = SpeechChoice(recogniser="big")
    talk = simulate(script, reply, transcriber=Broken(script), make_transcriber=make, seconds=32.0, speech=speech)
    assert [n for n in (1, 2, 3) if talk.said(n)] == [2, 3]
    waits = [later - before for before, later in pairwise(tried[1:])]
    assert len(waits) >= 2 and all(later > 1.5 * before for before, later in pairwise(waits))
    assert len(talk.of(e.Failure)) == 2 and len(talk.of(e.Notice)) == 1


def test_a_voice_that_is_replaced_by_another_one_says_so_in_a_notice() -> None:
    class Replaced(Spoken):
        def synthesize(self, text: str, *, growing: bool = False) -> Future[Clip]:
            clip = super().synthesize(text).result()
            future: Future[Clip] = Future()
            future.set_result(replace(clip, notice="Another voice speaks." if len(self.rates) == 1 else ""))
            self.name = "another"
            return future

    makers = Makers()
    makers.voice = Replaced()
    makers.made[1] = makers.voice
    talk = makers.talk()
    assert [(notice.source, notice.sentence) for notice in talk.of(e.Notice)] == [("tts", "Another voice speaks.")]
    assert [changed.voice for changed in talk.of(e.SpeechChanged)] == ["another"] and not talk.of(e.Failure)
