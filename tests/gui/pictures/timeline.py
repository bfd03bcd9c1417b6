"""Events of conversations for the timeline: one with a swap of back-ends, and dense ones of any length."""

import math
import random

from app.conversation import events as e
from app.conversation.frame import end_of_frame

QWEN = ("embedded", "qwen2.5-0.5b")
GPT = ("OpenAI", "gpt-4.1")


def sound(until: float, user: list[tuple[float, float]], assistant: list[tuple[float, float]]) -> list[e.Event]:
    """The levels of each frame up to `until`; `user` and `assistant` are intervals of speech."""
    chance = random.Random(7)

    def level(at: float, stretches: list[tuple[float, float]]) -> float:
        if any(start <= at <= end for start, end in stretches):
            return -14.0 + 9.0 * math.sin(at * 11.0) * math.sin(at * 3.1) - chance.random() * 6
        return -57.0 + chance.random() * 3

    frames = range(int(until / 0.08))
    return [
        e.LevelMeasured(end_of_frame(n), level(end_of_frame(n), user), level(end_of_frame(n), assistant), 20.0)
        for n in frames
    ]


def spoken(at: float, turn: int, revision: int, text: str, seconds_a_word: float = 0.34) -> list[e.Event]:
    """The events of words spoken one after the other."""
    words = text.split()
    return [
        e.AssistantSaid(round(at + (n + 1) * seconds_a_word, 3), turn, word, revision) for n, word in enumerate(words)
    ]


def fed(at: float, revision: int, frames: int, words: int = 1) -> list[e.Event]:
    """The events of oracle words fed to the front-end, frame by frame."""
    return [e.OracleFed(round(at + n * 0.08, 3), revision, words, 12.0 + n) for n in range(frames)]


def talk(base: float = 0.0) -> list[e.Event]:
    """28 seconds: a question with three revisions, a swap of back-ends in mid-answer, an interruption, a late frame."""
    first = "The highest mountain in Europe is Mont Blanc, which stands on the border of France and Italy"
    second = "no, counting the Caucasus it is Mount Elbrus, with five thousand six hundred and forty-two metres"
    events: list[e.Event] = [
        e.SessionStarted(0.0, "kame", "whisper base.en", *QWEN, "thinking"),
        e.UserStarted(2.1, 1),
        e.TranscriptPartial(2.9, 1, "What", "is the", 2.8),
        e.TranscriptPartial(3.4, 1, "What is the", "highest mount", 3.3),
        e.OracleRequested(3.42, 1, 1, *QWEN, "What is the highest mount", False),
        e.TranscriptPartial(3.9, 1, "What is the highest mountain in", "you", 3.8),
        e.OracleDelta(3.95, 1, "The highest mountain is Mount Everest"),
        e.TranscriptPartial(4.4, 1, "What is the highest mountain in Europe,", "and", 4.3),
        e.OracleRequested(4.42, 2, 1, *QWEN, "What is the highest mountain in Europe", False),
        e.OracleDelta(4.9, 2, first),
        e.OracleSuperseded(4.9, 1, 2),
        e.OracleEnded(4.9, 1, "superseded", 6),
        *fed(5.0, 2, 10),
        e.UserPaused(5.3, 1, 4.9),
        e.UserResumed(5.6, 1),
        e.TranscriptPartial(5.9, 1, "What is the highest mountain in Europe, and how", "high", 5.8),
        e.TranscriptFinal(6.6, 1, "What is the highest mountain in Europe, and how high is it?", 6.5),
        e.UserEnded(6.6, 1, 6.3, "words"),
        e.OracleRequested(6.62, 3, 1, *QWEN, "What is the highest mountain in Europe and how high is it", True),
        e.AssistantStarted(6.9, 1, 2),
        *spoken(6.9, 1, 2, first),
        e.OracleEnded(7.6, 2, "complete", 17),
        e.OracleDelta(8.1, 3, "It is Mont Blanc with four thousand eight hundred metres"),
        e.OracleSuperseded(8.1, 2, 3),
        *fed(8.16, 3, 14),
        e.BackendChanged(9.6, *GPT, "chosen"),
        e.OracleEnded(9.6, 3, "complete", 10),
        e.OracleRequested(9.7, 4, 1, *GPT, "What is the highest mountain in Europe and how high is it", True),
        e.OracleDelta(10.3, 4, second),
        e.OracleSuperseded(10.3, 3, 4),
        *fed(10.4, 4, 34),
        e.OracleEnded(12.9, 4, "complete", 17),
        e.AssistantCorrected(12.9, 1, 4, "corrected"),
        *spoken(12.8, 1, 4, second),
        e.Underrun(14.2, 1),
        e.UserStarted(17.9, 2),
        e.AssistantHeld(18.1, 1),
        e.TranscriptPartial(18.5, 2, "", "Wait, and", 18.4),
        e.AssistantEnded(18.6, 1, True),
        e.OracleRequested(18.6, 5, 2, *GPT, "Wait, and", False),
        e.TranscriptPartial(19.1, 2, "Wait, and who", "climbed", 19.0),
        e.OracleEnded(19.3, 5, "superseded", 0),
        e.OracleRequested(19.3, 6, 2, *GPT, "Wait, and who climbed", False),
        e.TranscriptFinal(20.0, 2, "Wait, and who climbed it first?", 19.9),
        e.UserEnded(20.0, 2, 19.8, "words"),
        e.OracleDelta(20.1, 6, "It was climbed by Kilar"),
        e.OracleRequested(20.05, 7, 2, *GPT, "Wait and who climbed it first", True),
        e.OracleDelta(20.7, 7, "The lower summit was reached in 1829 by Kilar Khashirov, a guide from the Caucasus"),
        e.OracleSuperseded(20.7, 6, 7),
        e.OracleEnded(20.7, 6, "superseded", 5),
        *fed(20.8, 7, 28),
        e.AssistantStarted(21.0, 2, 7),
        *spoken(21.0, 2, 7, "The lower summit was reached in 1829 by Kilar Khashirov, a guide from the Caucasus"),
        e.OracleEnded(23.1, 7, "complete", 14),
        e.FramesDropped(24.7, 2),
        e.UserBackchannel(25.3, 3, "Mhm."),
        e.AssistantEnded(26.6, 2, False),
    ]
    levels = sound(28.0, [(2.1, 4.9), (5.6, 6.4), (17.9, 19.8), (25.0, 25.3)], [(6.9, 18.1), (21.0, 26.5)])
    late = {round(15.04 / 0.08): 131.0, round(15.12 / 0.08): 96.0, round(23.84 / 0.08): 210.0}
    levels = [
        e.LevelMeasured(level.at, level.user_dbfs, level.assistant_dbfs, late.get(round(level.at / 0.08), 20.0))
        for level in levels
    ]
    return moved(sorted([*events, *levels], key=lambda event: event.at), base)


def moved(events: list[e.Event], base: float, turns: int = 0, revisions: int = 0) -> list[e.Event]:
    """The same events, later by `base` seconds, with higher numbers of turns and revisions."""
    if not (base or turns or revisions):
        return events
    out = []
    for event in events:
        fields = {name: getattr(event, name) for name in event.__dataclass_fields__}
        for name in ("at", "speech_end", "heard_until"):
            if name in fields:
                fields[name] += base
        if fields.get("turn"):
            fields["turn"] += turns
        for name in ("revision", "by"):
            if fields.get(name):
                fields[name] += revisions
        out.append(type(event)(**fields))
    return out


def long_talk(minutes: float) -> list[e.Event]:
    """The conversation of `talk` repeated without pauses, for this many minutes."""
    out: list[e.Event] = []
    for place in range(math.ceil(minutes * 60 / 28)):
        part = moved(talk(), place * 28.0, place * 10, place * 10)
        out += [event for event in part if place == 0 or not isinstance(event, e.SessionStarted)]
    return [event for event in out if event.at <= minutes * 60]
