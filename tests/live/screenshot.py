"""Makes the README's picture: `python -m tests.live.screenshot resources/screenshots/window.png`.

Starts the real window on a virtual screen, asks it a question through a virtual microphone, and takes the
picture in mid-answer. Prints what was heard and said, and what an independent ear reads back.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from app.conversation import events as e
from app.conversation.transcript import Transcript
from tests.live.test_window import events_in, wait_until, window
from tests.support import sounds
from tests.support.ear import transcribe
from tests.support.screen import virtual_screen
from tests.support.virtual_audio import virtual_audio


def main(arguments: list[str]) -> int:
    """`arguments`: the picture's file, and the question's name if it is to be another."""
    picture = Path(arguments[0])
    name = arguments[1] if len(arguments) > 1 else "101_1"
    picture.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="shot-") as folder:
        home = Path(folder)
        data = home / "data"
        with (
            virtual_audio() as audio,
            virtual_screen("1180x760") as screen,
            window(audio, screen.display, home, duplex=True),
            audio.record_loudspeaker(home / "heard.wav") as heard,
        ):
            wait_until(lambda: bool(events_in(data)), 40, "the session starts")
            screen.maximise()
            time.sleep(1)
            audio.play_into_microphone(sounds.question(name)).wait(60)
            wait_until(lambda: len(_of(data, e.AssistantSaid)) >= 6, 60, "the answer is under way")
            screen.shot(picture)
            wait_until(lambda: bool(_of(data, e.AssistantEnded)) and _answered(data), 60, "the answer ends")
            time.sleep(0.5)
        transcript = Transcript()
        for event in events_in(data):
            transcript.apply(event)
        for turn in transcript.turns:
            print(f"{turn.speaker}: {turn.text}")
        print(f"read back: {transcribe(heard.path)}")
    return 0


def _of(data: Path, kind: type) -> list[e.Event]:
    return [event for event in events_in(data) if isinstance(event, kind)]


def _answered(data: Path) -> bool:
    return not _of(data, e.AssistantEnded)[-1].interrupted


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
