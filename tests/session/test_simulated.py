"""Whole conversations in simulated time, at the level where a listener would notice."""

import asyncio
from pathlib import Path

import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend, answer
from app.conversation import events as e
from app.conversation.languages import language
from app.history.recordings import Replay
from app.session.recorder import ASSISTANT_FILE, EVENTS_FILE, USER_FILE
from app.session.session import Session
from tests.support.scripted import ScriptedTranscriber, ScriptedTurn, ScriptedVoice
from tests.support.tables import cases
from tests.support.talks import simulate

QUESTION = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]
TALK = [
    *QUESTION,
    ScriptedTurn(9.0, 10.5, "And what about Spain?"),
    ScriptedTurn(13.0, 13.4, "mhm", hum=True),
    ScriptedTurn(18.0, 19.6, "Stop, tell me about Rome instead."),
]


def _about(request: ChatRequest) -> ScriptedAnswer:
    return answer(f"You asked about this. {request.messages[-1].content.rstrip('?.')} is a fine thing to ask me.")


def test_the_same_conversation_twice_leaves_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        simulate(TALK, _about, seconds=60, record=tmp_path / name)
    for file in (EVENTS_FILE, USER_FILE, ASSISTANT_FILE):
        first, second = ((tmp_path / name / file).read_bytes() for name in ("one", "two"))
        assert first == second and len(first) > 1000
    kinds = Replay(tmp_path / "one").counts()
    assert kinds["AssistantStarted"] == 3 and kinds["TranscriptFinal"] == 3


def test_a_question_is_answered_at_once_while_thinking() -> None:
    talk = simulate(QUESTION, _about)
    [started] = talk.of(e.AssistantStarted)
    assert started.at - 3.0 <= 0.37, "one frame behind the answer's first clause, which is said at 3.23 s"
    assert talk.said(1).startswith("You asked about this.")
    assert talk.transcript.turns[-1].text == talk.said(1)
    assert not talk.tasks_left and talk.backend.open_streams == 0


def test_in_the_mode_after_it_waits_for_the_turn_the_words_and_a_complete_request() -> None:
    talk = simulate(QUESTION, _about, answer_mode="after")
    assert [r.final for r in talk.of(e.OracleRequested)] == [True]
    [started], [final] = talk.of(e.AssistantStarted), talk.of(e.TranscriptFinal)
    assert started.at > final.at
    assert simulate(QUESTION, _about).of(e.AssistantStarted)[0].at <= started.at


def guessing(request: ChatRequest) -> ScriptedAnswer:
    """Quick with something false while the question is not whole, and slow with the answer to it."""
    if request.messages[-1].content.endswith("?"):
        return answer("The capital of France is Paris. It lies on the river Seine.", first=1.5)
    return answer("New York City is the capital of the United States. Many people live there.", first=0.05)


def test_what_was_thought_of_the_beginning_of_a_question_is_never_said() -> None:
    talk = simulate(QUESTION, guessing)
    assert [d.text for d in talk.of(e.OracleDelta) if "York" in d.text], "nobody guessed"
    assert talk.said(1) == "The capital of France is Paris. It lies on the river Seine."
    assert not talk.of(e.AssistantCorrected)


def test_words_that_restate_the_question_are_said_before_the_answer_is_known() -> None:
    def restating(request: ChatRequest) -> ScriptedAnswer:
        whole = request.messages[-1].content.endswith("?")
        return answer(f"The capital of France is {'Paris' if whole else 'New York'}. So it is.", first=0.5)

    script = [ScriptedTurn(1.0, 4.0, "What do you think is the capital of France?")]
    before = simulate(script, lambda r: answer("It is Paris. So it is.", first=0.5))
    talk = simulate(script, restating)
    assert talk.said(1) == "The capital of France is Paris. So it is."
    assert not [event for event in talk.of(e.AssistantCorrected) if event.how == "corrected"]
    assert "restated" in [event.rule for event in talk.of(e.SpeechDecided)]
    starts = [one.of(e.AssistantStarted)[0].at for one in (talk, before)]
    assert starts[0] < starts[1] - 0.2


def test_a_wait_is_filled_with_an_opening_that_is_heard_and_never_sent_to_the_backend() -> None:
    script = [*QUESTION, ScriptedTurn(12.0, 14.0, "What is the capital of Spain?")]
    talk = simulate(script, guessing, seconds=30, openings=True)
    answered = "The capital of France is Paris. It lies on the river Seine."
    assert [event.turn for event in talk.of(e.AssistantOpened)] == [1], "never in two turns in a row"
    said = [talk.said(turn) for turn in (1, 2)]
    assert said[0].removesuffix(answered).strip() in language("en").openings and said[1] == answered
    first = talk.of(e.AssistantStarted)[0].at
    assert 4.2 <= first <= 4.36 and talk.speaker.sounding(4.3, 4.5), "after 1.3 s, and no more"
    assert "opened before" in [event.rule for event in talk.of(e.SpeechDecided) if event.turn == 2]
    assert talk.transcript.turns[1].text == said[0]
    told = [m.content for m in talk.backend.requests[-1].messages if m.role == "assistant"]
    assert told == [answered]


@cases("first_word, words_a_second, opens", (1.2, 6.0, 3.9), (0.3, 40.0, 4.3), (3.0, 6.0, 4.3))
def test_an_answer_is_opened_by_its_backends_measured_speed(
    first_word: float, words_a_second: float, opens: float
) -> None:
    backend = ScriptedBackend(lambda r: answer("It is Paris, of course.", first=2.0, every=0.5))
    backend.traits = backend.traits.at_speed(first_word, words_a_second)
    talk = simulate(QUESTION, lambda r: answer(""), backend=backend, openings=True)
    assert len(talk.of(e.AssistantOpened)) == 1 and talk.said(1).endswith("It is Paris, of course.")
    assert abs(talk.of(e.AssistantStarted)[0].at - opens) <= 0.1, "the question ends at 3.0 s"


def test_openings_are_left_out_in_time_and_where_they_are_switched_off() -> None:
    talk = simulate([*QUESTION, ScriptedTurn(9.0, 9.4, "", finished=0.1)], _about, openings=True)
    assert not talk.of(e.AssistantOpened) and talk.said(1).startswith("You asked about this.")
    talk = simulate(QUESTION, guessing, openings=True, during=lambda session: session.change(openings=False))
    assert not talk.of(e.AssistantOpened) and talk.said(1).startswith("The capital of France")


def test_after_the_button_is_released_only_the_last_words_answer_is_said() -> None:
    """The button ends the turn in mid-word: a back-end that answers each beginning alike is not believed."""

    def reply(request: ChatRequest) -> ScriptedAnswer:
        whole = request.messages[-1].content.endswith("Spain?")
        return answer("It is Madrid." if whole else "It is Paris.", first=0.3 if whole else 0.05)

    def press(session: Session) -> None:
        async def hold() -> None:
            await asyncio.sleep(0.9)
            session.press()
            await asyncio.sleep(3.12)
            session.release()

        press.task = asyncio.get_running_loop().create_task(hold())  # type: ignore[attr-defined]

    words = "What is the capital of France? And also of Spain?"
    talk = simulate([ScriptedTurn(1.0, 4.0, words)], reply, duplex=False, during=press)
    assert [end.reason for end in talk.of(e.UserEnded)] == ["button"]
    assert len(talk.of(e.OracleDelta)) > 4 and talk.said(1) == "It is Madrid."


def test_what_was_meant_is_what_is_sent_to_the_backend_of_an_answer_that_was_cut_short() -> None:
    text = "Paris is the capital. It lies on the river Seine, which is long and deep. Ask me more about it now."
    script = [*QUESTION, ScriptedTurn(6.0, 7.5, "Stop, what about Rome then?")]
    talk = simulate(script, lambda r: answer(text))
    heard = talk.transcript.turns[1]
    assert heard.interrupted and heard.text in text and not heard.text.endswith(".")
    told = [m.content for m in talk.backend.requests[-1].messages if m.role == "assistant"]
    assert told == ["Paris is the capital. It lies on the river Seine, which is long and deep."]


def test_a_slow_backend_still_gets_its_say() -> None:
    """1.2 s to the first token and the user talks for 8 s: KAME's own server never hears a word of it."""
    long = [ScriptedTurn(1.0, 9.0, " ".join(f"word{n}" for n in range(24)) + ", what is that?")]
    talk = simulate(long, lambda r: answer("I will tell you. It is a lot.", first=1.2))
    heard_early = [d for d in talk.of(e.OracleDelta) if d.at < 9.0]
    assert heard_early, "no word of the slow back-end came before the question was over"
    assert talk.said(1) == "I will tell you. It is a lot."


def test_every_request_is_in_the_language_that_was_detected() -> None:
    """Also those that are sent because an answer's first words have arrived."""
    script = [ScriptedTurn(1.0, 6.0, " ".join(f"wort{n}" for n in range(30)))]
    german = ScriptedTranscriber(script, language="de")
    talk = simulate(script, lambda r: answer("Er ist hoch.", first=0.9), transcriber=german)
    assert {request.language for request in talk.of(e.OracleRequested)} == {"de"}


def test_the_old_oracle_keeps_feeding_until_the_new_one_has_words() -> None:
    def reply(request: ChatRequest) -> ScriptedAnswer:
        return answer("one two three four five six seven eight nine ten", first=0.3, every=0.1)

    talk = simulate([ScriptedTurn(1.0, 5.0, "a b c d e f g h i j k l m n o p")], reply, interval=0.4)
    for superseded in talk.of(e.OracleSuperseded):
        last_old = max((d.at for d in talk.of(e.OracleDelta) if d.revision == superseded.revision), default=0)
        first_new = min(d.at for d in talk.of(e.OracleDelta) if d.revision == superseded.by)
        assert last_old <= first_new == superseded.at
    order = [d.revision for d in talk.of(e.OracleDelta)]
    assert order == sorted(order) and len(set(order)) > 3


def test_barge_in_is_silent_within_200_ms_and_only_what_was_heard_is_kept() -> None:
    talk = simulate(
        [*QUESTION, ScriptedTurn(6.0, 8.0, "Stop, what about Rome then?")],
        lambda r: answer(
            "This is a very long answer that would go on and on for a good many seconds, and then for some more."
        ),
    )
    assert talk.speaker.sounding(5.8, 6.0)
    assert not talk.speaker.sounding(6.2, 8.0)
    first = next(t for t in talk.transcript.turns if t.speaker == "assistant" and t.number == 1)
    assert first.interrupted
    assert 3 < len(first.text.split()) < 14
    # Each word stands in the transcript only once it was played, whole.
    for event in talk.of(e.AssistantSaid):
        assert talk.speaker.sounding(event.at - 0.2, event.at)


def test_mhm_and_okay_let_the_answer_continue() -> None:
    script = [*QUESTION, ScriptedTurn(5.0, 5.4, "mhm", hum=True)]
    quiet, hummed = (simulate(s, _about) for s in (QUESTION, script))
    assert [x for x in quiet.events if isinstance(x, e.AssistantSaid)] == hummed.of(e.AssistantSaid)
    assert len(hummed.of(e.UserStarted)) == 1
    script = [*QUESTION, ScriptedTurn(5.0, 5.4, "Okay.")]
    plain, talk = (simulate(s, _about) for s in (QUESTION, script))
    assert talk.of(e.AssistantHeld) and talk.of(e.AssistantResumed) and talk.of(e.UserBackchannel)
    assert talk.said(1) == plain.said(1)
    assert not any(x.interrupted for x in talk.of(e.AssistantEnded))
    assert len(talk.of(e.TranscriptFinal)) == 1


def test_a_turn_taken_too_early_is_given_back_completely() -> None:
    script = [ScriptedTurn(1.0, 3.0, "What is superposition?"), ScriptedTurn(3.5, 5.5, "And what is entanglement?")]
    talk = simulate(script, _about)
    assert talk.of(e.UserResumed) and len(talk.of(e.UserStarted)) == 1
    user = [t for t in talk.transcript.turns if t.speaker == "user"]
    assert [t.text for t in user] == ["What is superposition? And what is entanglement?"]
    assert talk.backend.requests[-1].messages[-1].content == user[0].text
    assert not talk.speaker.sounding(3.72, 5.5)


def test_a_backend_that_breaks_off_is_reported_and_what_came_is_spoken() -> None:
    talk = simulate(
        QUESTION, lambda r: answer("Paris is the capital. It lies on", error="The model broke off. Ask again.")
    )
    assert talk.said(1) == "Paris is the capital. It lies on"
    assert [f.sentence for f in talk.of(e.Failure)] == ["The model broke off. Ask again."]
    assert talk.of(e.AssistantEnded)


def test_a_backend_that_is_not_there_is_reported_once_and_the_words_are_kept() -> None:
    spoken = [turn for turn in TALK if not turn.hum]
    talk = simulate(spoken, lambda r: answer("", error="No server answers. Start it."), seconds=30)
    told = [f.sentence for f in talk.of(e.Failure)]
    assert told and set(told) == {"No server answers. Start it."} and len(told) == len(spoken)  # once a turn
    assert [t.text for t in talk.transcript.turns if t.speaker == "user"] == [t.words for t in spoken]
    assert not talk.of(e.AssistantStarted)


def test_a_sentence_that_cannot_be_spoken_is_left_out_and_reported() -> None:
    talk = simulate(
        QUESTION,
        lambda r: answer("It is Paris. Unspeakable things follow here. It lies on the Seine."),
        voice=ScriptedVoice(fail_on="Unspeakable"),
    )
    assert talk.said(1) == "It is Paris. It lies on the Seine."
    assert [f.source for f in talk.of(e.Failure)] == ["tts"]


def test_noise_without_words_is_answered_by_nothing() -> None:
    talk = simulate([ScriptedTurn(1.0, 1.6, "", finished=0.1)], _about)
    assert not talk.of(e.OracleRequested, e.AssistantStarted, e.Failure)
    assert talk.of(e.SessionEnded)


def test_answer_mode_changes_in_mid_conversation() -> None:
    talk = simulate(TALK[:2], _about, seconds=20, during=lambda s: s.change(answer_mode="after"))
    assert [r.final for r in talk.of(e.OracleRequested)] == [True, True]
    assert [m.answer_mode for m in talk.of(e.AnswerModeChanged)] == ["after"]


@pytest.mark.parametrize(("concurrent", "most"), [(True, 2), (False, 1)])
def test_at_most_the_speaking_stream_continues_beside_the_newest(concurrent: bool, most: int) -> None:
    talk = simulate(
        [ScriptedTurn(1.0, 6.0, " ".join("abcdefghijklmnopqrst"))],
        lambda r: answer("one two three four five six seven eight nine ten", first=0.5, every=0.3),
        concurrent=concurrent,
        seconds=25,
    )
    assert len(talk.of(e.OracleRequested)) > 3
    assert talk.backend.most_open_streams == most and talk.backend.open_streams == 0


def test_a_talkative_backend_is_stopped_at_a_sentences_end() -> None:
    text = "One two three. Four five six. Seven eight nine. Ten eleven twelve."
    talk = simulate(QUESTION, lambda r: answer(text), enough_words=5)
    assert talk.said(1) == "One two three. Four five six."
    assert not talk.of(e.Failure) and talk.backend.open_streams == 0
