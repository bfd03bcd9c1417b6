"""Makes the README's picture of a real talk: `python -m tests.live.screenshot [PICTURE] [QUESTION]`. Starts the real
window on a virtual screen, asks it a question through a virtual microphone, and takes the picture in mid-answer. Prints
what was heard and said, and what an independent recogniser reads back. All other pictures are made by `python -m
tests.gui.pictures.screenshots`."""

import sys
import tempfile
import time
from pathlib import Path

from PySide6.QtGui import QImage

from app.conversation import events as e
from app.conversation.record.transcript import Transcript
from tests.gui.pictures.screenshots import FOLDER, write
from tests.live.test_window import window
from tests.support import sounds
from tests.support.read_back import transcribe
from tests.support.screen import virtual_screen
from tests.support.virtual_audio import virtual_audio
from tests.support.window_talk import events_in, wait_until


def main(arguments: list[str]) -> int:
    """`arguments`: the picture's file, and the question's name, if they are to be others."""
    picture = Path(arguments[0]) if arguments else FOLDER / "window.png"
    name = arguments[1] if len(arguments) > 1 else "101_1"
    picture.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="shot-") as folder:
        home = Path(folder)
        data = home / "data"
        with (
            virtual_audio() as audio,
            virtual_screen("1280x860") as screen,
            window(audio, screen.display, home, duplex=True, theme="light"),
            audio.record_loudspeaker(home / "heard.wav") as heard,
        ):
            wait_until(lambda: bool(events_in(data)), 40, "the session starts")
            screen.maximise()
            time.sleep(1)
            audio.play_into_microphone(sounds.question(name)).wait(60)
            wait_until(lambda: len(_of(data, e.AssistantSaid)) >= 6, 60, "the answer is under way")
            screen.shot(home / "shot.png")
            write(QImage(str(home / "shot.png")), picture)
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
