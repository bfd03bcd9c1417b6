"""What tests of the running window share: a spoken question, the talk's events on disk, and the check of an answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from app.conversation import events as e
from app.conversation.event_json import from_json
from app.conversation.words import fold
from app.evaluation.word_errors import word_distance
from tests.support.ear import transcribe
from tests.support.virtual_audio import RATE, Recording

ANSWER = "That is easy to see. Because the weather was warm, the children walked to school."
QUESTION = "Can you explain why the above question is interesting?"


def events_in(folder: Path) -> list[e.Event]:
    """What the newest talk has written down so far."""
    files = sorted(folder.rglob("events.jsonl"))
    out = []
    for line in files[-1].read_text("utf-8").splitlines() if files else []:
        try:
            out.append(from_json(line))
        except ValueError:
            break  # the line that is being written
    return out


def wait_until(holds: Callable[[], bool], seconds: float, what: str) -> None:
    """Polls; fails with `what` after `seconds`."""
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up, f"waited {seconds} s in vain: {what}"
        time.sleep(0.1)


def wait_until_silent(heard: Recording) -> None:
    """Polls until the loudspeaker has played nothing for half a second."""
    wait_until(lambda: not heard.samples[-RATE // 2 :].any(), 20, "the loudspeaker is silent")


def check_talk(talk: list[e.Event], spoken: Path) -> None:
    """The question stands in the transcript, and what was heard is what the transcript says was spoken."""
    finals = [x.text for x in talk if isinstance(x, e.TranscriptFinal) and x.text]
    assert finals, "nothing was understood"
    final = finals[-1]
    reference = fold(QUESTION)
    assert word_distance(reference, fold(final)) <= 0.15 * len(reference), final
    said = fold(" ".join(x.text for x in talk if isinstance(x, e.AssistantSaid)))
    read_back = fold(transcribe(spoken))
    assert len(said) >= 3 and word_distance(said, read_back) <= max(1, 0.10 * len(said)), (said, read_back)
