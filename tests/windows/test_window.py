"""The window on Windows, started by pythonw.exe like the shortcut: a spoken question, commands, and its end."""

from __future__ import annotations

import subprocess
from pathlib import Path

import soundfile

from app.conversation import events as e
from tests.support.patience import in_real_time
from tests.support.screen import Screen
from tests.support.servers import Script, peer
from tests.support.virtual_audio import VirtualAudio
from tests.support.window_talk import ANSWER, check_talk, wait_until, wait_until_silent
from tests.windows.installation import Installation
from tests.windows.running_window import RunningWindow, picture, running_window, server_settings

LONG_ANSWER = " ".join([ANSWER] * 6)
EVENT_SECONDS = 20.0


@in_real_time
def test_a_question_asked_aloud_is_answered_aloud(
    windows: Installation, screen: Screen, audio: VirtualAudio, tmp_path: Path
) -> None:
    """Over WASAPI; another recogniser transcribes what the loudspeaker played."""
    words = tuple(f" {word}" for word in ANSWER.split())
    with peer(Script(words)) as url, running_window(windows, **server_settings(url)) as window:
        picture(screen, "window")
        with audio.record_loudspeaker(tmp_path / "heard.wav") as heard:
            window.ask(audio)
            wait_until(lambda: window.count(e.AssistantEnded) > 0, 60, "the answer ends")
            wait_until_silent(heard)
        picture(screen, "answered")
        check_talk(window.events, heard.path)
        assert " ".join(x.text for x in window.events if isinstance(x, e.AssistantSaid)) == ANSWER
        assert not [x for x in window.events if isinstance(x, e.Failure)]
        _second_start_raises_the_first(windows, window)
        _hotkey_opens_a_turn(windows, screen, window)
        window.tell("mute")
        wait_until(lambda: window.count(e.MicrophoneMuted) == 1, EVENT_SECONDS, "the microphone is muted")
        window.close(screen)
        assert isinstance(window.events[-1], e.SessionEnded)
        assert "Traceback" not in window.log, window.log


def _second_start_raises_the_first(windows: Installation, window: RunningWindow) -> None:
    """A second start ends with 0, and the first goes on."""
    second = windows.wine.run(windows.windowed_python, "-P", "-m", "app", seconds=60, cwd=windows.wine.home)
    assert second.code == 0 and window.child.poll() is None, second.printed


def _hotkey_opens_a_turn(windows: Installation, screen: Screen, window: RunningWindow) -> None:
    """Ctrl+Alt+Space starts a turn while another program has the focus."""
    before = window.count(e.UserStarted)
    with windows.wine.started("notepad.exe"):
        subprocess.run(
            ["xdotool", "search", "--sync", "--onlyvisible", "--name", "Notepad", "windowfocus", "--sync"],
            env={"DISPLAY": screen.display},
            check=True,
            timeout=30,
        )
        screen.key_down("ctrl+alt+space")
        try:
            wait_until(lambda: window.count(e.UserStarted) > before, EVENT_SECONDS, "the hotkey opens a turn")
        finally:
            screen.key_up("ctrl+alt+space")


@in_real_time
def test_a_device_vanishes_and_the_app_is_closed_in_mid_answer(
    windows: Installation, screen: Screen, audio: VirtualAudio
) -> None:
    """The session goes on without the headset, and events and recordings are complete until the end."""
    words = tuple(f" {word}" for word in LONG_ANSWER.split())
    audio.add_microphone("headset", description="Headset")
    with peer(Script(words)) as url, running_window(windows, microphone="Headset", **server_settings(url)) as window:
        audio.remove("headset")
        wait_until(lambda: window.count(e.DeviceChanged) > 0, EVENT_SECONDS, "the lost microphone is told")
        window.ask(audio)
        wait_until(lambda: window.count(e.AssistantSaid) > 3, 60, "the answer is being spoken")
        window.close(screen)
        assert isinstance(window.events[-1], e.SessionEnded)
        assert "Traceback" not in window.log, window.log
        recorded = sorted((window.folder / "recordings").rglob("*.wav"))
        assert len(recorded) == 2 and all(soundfile.info(path).frames > 24_000 for path in recorded)
