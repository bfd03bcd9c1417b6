"""Ask an installed app's window a question aloud, and read back what its loudspeaker answers."""

from __future__ import annotations

import json
import shutil
import sys
import time
from pathlib import Path

from app.conversation import events as e
from app.conversation.words import fold
from app.research.benches.recordings import word_distance
from app.settings.kept_state import WindowState
from tests.linux.guest import UID, Guest
from tests.support import sounds
from tests.support.read_back import transcribe
from tests.support.screen import Screen
from tests.support.virtual_audio import VirtualAudio
from tests.support.window_talk import QUESTION, events_in, wait_until

SOUND = "103_2"
START_SECONDS, ANSWER_SECONDS, CLOSE_SECONDS = 60.0, 180.0, 30.0
WRONG_WORDS = 0.2


def talked_aloud(linux: Guest, command: str, screen: Screen, audio: VirtualAudio, pictures: Path) -> None:
    """Hold the space bar, ask, and let it go; end the trial if question or answer are not heard as they were said."""
    began = time.monotonic()
    _keep_recordings(linux)
    recordings = linux.home / ".local" / "share" / "kame-desktop" / "recordings"
    child = linux.start(f"DISPLAY={screen.display} exec {command}")
    wait_until(lambda: bool(events_in(recordings)), START_SECONDS, "the conversation is ready")
    screen.focus()
    print(f"ready to talk: {time.monotonic() - began:.1f} s", flush=True)
    with audio.record_loudspeaker(pictures / "heard.wav") as heard:
        screen.key_down("space")
        audio.play_into_microphone(sounds.question(SOUND)).wait(30)
        screen.key_up("space")
        wait_until(lambda: _answered(recordings), ANSWER_SECONDS, "the answer ends")
        time.sleep(0.5)  # the recorder's pipe holds some 50 ms
    screen.shot(pictures / "answered.png")
    _compare(events_in(recordings), heard.path)
    screen.close_window()
    child.wait(CLOSE_SECONDS)
    wait_until(lambda: not list(linux.processes(b"-m\0app\0")), CLOSE_SECONDS, "the app ends after its window")


def _answered(recordings: Path) -> bool:
    return any(isinstance(event, e.AssistantEnded) for event in events_in(recordings))


def _keep_recordings(linux: Guest) -> None:
    """Let the conversation begin behind the first run, and write down what is said."""
    file = linux.home / ".config" / "kame-desktop" / "settings.json"
    written = json.loads(file.read_text("utf-8")) if file.exists() else {}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"version": 1, **written, "keep_recordings": True}), "utf-8")
    state = WindowState(first_run_done=True, path=file.with_name("window.json"))
    state.save()
    for path in (file.parent.parent, file.parent, file, state.path):
        shutil.chown(path, UID, UID)


def _compare(talk: list[e.Event], spoken: Path) -> None:
    final = [event.text for event in talk if isinstance(event, e.TranscriptFinal) and event.text][-1]
    said = " ".join(event.text for event in talk if isinstance(event, e.AssistantSaid))
    heard = transcribe(spoken)
    print(f"asked aloud: {QUESTION}\nunderstood:  {final}\nsaid:        {said}\nheard again: {heard}")
    for what, one, other in (("question", QUESTION, final), ("answer", said, heard)):
        wrong, words = word_distance(fold(one), fold(other)), len(fold(one))
        print(f"{what}: {wrong} of {words} words differ", flush=True)
        if words < 3 or wrong > max(1, WRONG_WORDS * words):
            sys.exit(f"The {what} was not heard as it was said.")
    failures = [event for event in talk if isinstance(event, e.Failure)]
    if failures:
        sys.exit(f"The conversation had trouble: {failures}")
