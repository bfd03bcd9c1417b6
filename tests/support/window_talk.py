"""Helpers for tests of the running window: a question, the session's events on disk, and the answer's check."""

import time
from collections.abc import Callable
from pathlib import Path

from app.conversation import events as e
from app.conversation.event_json import read_event
from app.conversation.words import fold
from app.research.benches.recordings import word_distance
from tests.support.read_back import transcribe
from tests.support.virtual_audio import RATE, Recording

ANSWER = "That is easy to see. Because the weather was warm, the children walked to school."
QUESTION = "Can you explain why the above question is interesting?"


def events_in(folder: Path) -> list[e.Event]:
    """The events that the newest session has written so far."""
    files = sorted(folder.rglob("events.jsonl"))
    out = []
    for line in files[-1].read_text("utf-8").splitlines()[1:] if files else []:
        try:
            out.append(read_event(line))
        except ValueError:
            break  # an incomplete line
    return out


def wait_until(holds: Callable[[], bool], seconds: float, what: str) -> None:
    """Waits until `holds`; fails with `what` after `seconds`."""
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up, f"still not so after {seconds} s: {what}"
        time.sleep(0.1)


def wait_until_silent(heard: Recording) -> None:
    """Waits until the loudspeaker has been silent for half a second."""
    wait_until(lambda: not heard.samples[-RATE // 2 :].any(), 20, "the loudspeaker is silent")


def check_talk(talk: list[e.Event], spoken: Path) -> None:
    """Checks that the question was transcribed, and that what the loudspeaker played is the answer in the events."""
    finals = [x.text for x in talk if isinstance(x, e.TranscriptFinal) and x.text]
    assert finals, "nothing was understood"
    final = finals[-1]
    reference = fold(QUESTION)
    assert word_distance(reference, fold(final)) <= 0.15 * len(reference), final
    said = fold(" ".join(x.text for x in talk if isinstance(x, e.AssistantSaid)))
    read_back = fold(transcribe(spoken))
    assert len(said) >= 3 and word_distance(said, read_back) <= max(1, 0.10 * len(said)), (said, read_back)
