"""`bench first-word`: what it measures, on made sound and events; how it resumes, and when it refuses."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.research.benches.first_word import run, stage
from app.research.benches.first_word.asking import (
    Measured,
    Span,
    Talk,
    find,
    measure,
    measured_talk,
    sound_spans,
    words_said,
)
from app.research.benches.recordings import Recording
from app.session.control import UserError

QUESTION = Recording("1", "What is the capital of Norway?", np.zeros(SAMPLE_RATE * 2, np.float32), 1.5)
ASKED_AT = 10.0
END = 11.5
ROUND_S = 0.011


def sound(spans: Sequence[Span], seconds: float = 16.0) -> np.ndarray:
    out = np.zeros(round(seconds * SAMPLE_RATE), np.float32)
    for begin, end in spans:
        time = np.arange(round(begin * SAMPLE_RATE), round(end * SAMPLE_RATE))
        out[time] = 0.2 * np.sin(time * 2 * np.pi * 150 / SAMPLE_RATE)
    return out


def said(*words: tuple[str, float], opening: int = 0) -> list[e.Event]:
    """Words of revision 3 and when each was over; the first `opening` ones are an opening's."""
    return [e.AssistantSaid(at, 1, text, 3 if number >= opening else 0) for number, (text, at) in enumerate(words)]


def measured(spans: Sequence[Span], events: Sequence[e.Event], question: Recording = QUESTION) -> Measured:
    found = sound_spans(sound(spans))
    return measure(question, ASKED_AT, found, events, words_said(events, 0.0), who="people", way="hands-free")


def test_the_first_word_begins_with_the_first_sound_where_no_opening_comes() -> None:
    found = measured(
        [(12.0, 13.2), (13.4, 13.9)],
        said(("The", 12.2), ("capital", 12.7), ("of", 12.8), ("Norway", 13.2), ("is", 13.5), ("Oslo.", 13.9)),
    )
    assert found.first_sound == pytest.approx(0.5, abs=ROUND_S) and found.first_word == found.first_sound
    assert found.first_word_end == pytest.approx(0.7, abs=ROUND_S)
    assert found.first_new_word == pytest.approx(2.0, abs=ROUND_S)  # where “is” ends: both are one sound
    assert not found.opening and not found.over_user and not found.too_early
    assert found.said == "The capital of Norway is Oslo."


def test_after_an_opening_the_answer_begins_where_it_sounds() -> None:
    found = measured(
        [(12.0, 12.3), (12.5, 13.0), (13.15, 14.0)],
        said(("Hmm,", 12.32), ("let", 12.6), ("me", 12.8), ("see.", 13.04), ("Oslo", 13.6), ("is", 14.0), opening=4),
    )
    assert found.opening and found.said == "Oslo is"
    assert found.first_sound == pytest.approx(0.5, abs=ROUND_S)
    assert found.first_word == pytest.approx(13.15 - END, abs=ROUND_S) and found.first_new_word == found.first_word


def test_a_voice_over_the_users_pause_is_counted_and_one_over_the_end_is_too_early() -> None:
    found = measured([(10.8, 10.95), (12.1, 12.9)], said(("The", 10.94), ("Oslo", 12.9)))
    assert found.over_user == pytest.approx(0.15, abs=ROUND_S) and not found.too_early
    assert found.first_sound == pytest.approx(0.6, abs=ROUND_S)
    assert found.said == "Oslo"  # what was said in the pause answers nothing
    found = measured([(11.2, 12.4)], said(("Oslo", 11.9), ("it", 12.2), ("is", 12.4)))
    assert found.too_early and found.over_user == pytest.approx(0.3, abs=ROUND_S)
    assert found.first_sound is None and found.first_word is None and found.first_new_word is None


def test_a_question_is_found_in_the_recording_to_the_sample() -> None:
    chance = np.random.default_rng(3)
    question = np.convolve(chance.standard_normal(SAMPLE_RATE), np.ones(8) / 8, "same").astype(np.float32)
    recording = np.zeros(3 * SAMPLE_RATE, np.float32)
    recording[12_345 : 12_345 + len(question)] = 0.3 * question
    place, alike = find(question, recording)
    assert place == 12_345 and alike > 0.999
    recording[20_000:26_000] = 0  # a gap in the playback
    assert find(question, recording)[1] < 0.95


class FakeRecording:
    """Two channels that are there already."""

    def __init__(self, loudspeaker: np.ndarray, microphone: np.ndarray) -> None:
        self._channels = loudspeaker, microphone

    def loudspeaker(self, begin: int = 0) -> np.ndarray:
        return self._channels[0][begin:]

    def microphone(self, begin: int = 0) -> np.ndarray:
        return self._channels[1][begin:]


def two_questions() -> tuple[list[Recording], np.ndarray, np.ndarray, np.ndarray]:
    """Noise as questions, asked at 1 s and 6 s; the loudspeaker, the microphone, and what the app heard 0.12 s late."""
    chance = np.random.default_rng(5)
    microphone = np.zeros(12 * SAMPLE_RATE, np.float32)
    questions = []
    for number, at in enumerate((1.0, 6.0)):
        noise = np.convolve(chance.standard_normal(2 * SAMPLE_RATE), np.ones(8) / 8, "same").astype(np.float32) / 4
        noise[round(1.5 * SAMPLE_RATE) :] = 0
        questions.append(Recording(str(number), "What is the capital of Norway?", noise, 1.5))
        microphone[round(at * SAMPLE_RATE) :][: len(noise)] = noise
    heard = np.concatenate([np.zeros(round(0.12 * SAMPLE_RATE), np.float32), microphone])
    return questions, sound([(3.0, 3.5), (8.1, 8.6)], 12.0), microphone, heard


def test_a_talk_is_measured_by_where_its_questions_are_in_both_recordings() -> None:
    questions, loudspeaker, microphone, heard = two_questions()
    events = [
        e.TranscriptFinal(2.7, 1, "What is the capital of Norway?", 2.6),
        e.AssistantSaid(3.62, 1, "Oslo", 1),
        e.OracleCounted(3.7, 1, "embedded", "small", 9, 9, 0, True, None, 300.0, 45.0, 0.0),
        e.TranscriptFinal(7.7, 2, "What is the capital of Norway?", 7.6),
        e.AssistantSaid(8.72, 2, "Oslo", 2),
    ]
    places = [0, 5 * SAMPLE_RATE]
    first, second = measured_talk(
        "people", "hands-free", questions, places, FakeRecording(loudspeaker, microphone), heard, events
    )
    assert (first.first, second.first) == (True, False) and first.heard == questions[0].text
    assert first.first_word == pytest.approx(0.5, abs=ROUND_S) and second.first_word == pytest.approx(0.6, abs=ROUND_S)
    assert first.first_word_end == pytest.approx(1.0, abs=ROUND_S)
    assert (first.model_first, first.model_rate, second.model_first) == (0.3, 45.0, None)


def test_a_question_that_was_not_played_as_it_is_ends_the_talk() -> None:
    questions, loudspeaker, microphone, heard = two_questions()
    microphone[round(6.5 * SAMPLE_RATE) : 7 * SAMPLE_RATE] = 0
    with pytest.raises(UserError, match="question 1 as it is"):
        measured_talk(
            "people", "hands-free", questions, [0, 5 * SAMPLE_RATE], FakeRecording(loudspeaker, microphone), heard, []
        )


def one(who: str, way: str, name: str, *, first: bool = False, sound: float | None = 0.5) -> Measured:
    words = (None, None, None) if sound is None else (sound + 0.5, sound + 0.7, sound + 1.0)
    return Measured(who, way, name, "q", "q", "a", first, sound is not None, 0.0, False, sound, *words)


class FakeAsker:
    """Answers every question as late as its number says, and fails at talk number `fail_at`."""

    def __init__(self, fail_at: int = 0) -> None:
        self.talks: list[tuple[str, str, list[str]]] = []
        self._fail_at = fail_at

    def __call__(self, who, way, warm_up, questions, progress) -> Talk:
        self.talks.append((who, way, [question.name for question in questions]))
        if len(self.talks) == self._fail_at:
            raise UserError("The window ended.")
        first = one(who, way, warm_up.name, first=True, sound=9.0)
        return Talk([first, *(one(who, way, q.name, sound=int(q.name) / 50) for q in questions)], 0.02, ["It failed."])


def test_a_run_that_stops_continues_where_it_was(tmp_path: Path) -> None:
    asker = FakeAsker(fail_at=3)
    with pytest.raises(UserError, match="window ended"):
        run.run_first_word(who="synthetic", out=tmp_path, busy=True, ask=asker)
    again = FakeAsker()
    part = run.run_first_word(who="synthetic", out=tmp_path, busy=True, talks=1, ask=again)
    assert [talk[1] for talk in again.talks] == ["talk button"] and len(part.talks) == 3
    whole = run.run_first_word(who="synthetic", out=tmp_path, busy=True, ask=again)
    assert [names for _, _, names in again.talks] == [
        [f"{number:03}" for number in range(1, 11)],
        [f"{number:03}" for number in range(11, 21)],
    ]
    document = json.loads((tmp_path / "results.json").read_text("utf-8"))
    groups = {(group["kind"], group["way"]): group for group in document["groups"]}
    assert len(document["answers"]) == 44 and document["talks"][0]["others"] == 0.02
    for way in ("hands-free", "talk button"):
        group = groups["synthetic", way]
        assert group["count"] == 20 and group["openings"] == 20 and group["unanswered"] == 0
        assert (group["first_sound_p50"], group["first_sound_worst"]) == (0.21, 0.4)
        assert groups["first after the start", way]["first_sound_p50"] == 9.0
    table = whole.table()
    line = next(line for line in table.splitlines() if line.startswith("| synthetic | hands-free"))
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells[2:4] == ["20", "0"] and cells[8:] == ["20", "0", "0", "0", "0"]
    middle, third, late, worst = map(float, cells[4].split(", "))
    assert (middle, worst) == (0.21, 0.40) and middle < third < late < worst
    assert "load before a talk" in table and table.count("It failed.") == 1


def test_a_busy_machine_is_refused_after_a_wait() -> None:
    waits: list[float] = []
    loads = iter([2.0, 1.1, 0.6])
    assert stage.wait_until_idle(read_load=lambda: next(loads), sleep=waits.append) == 0.6
    assert len(waits) == 2
    with pytest.raises(UserError, match=r"busy \(load 1\.5\).*--busy"):
        stage.wait_until_idle(patience=20, read_load=lambda: 1.5, sleep=waits.append)
