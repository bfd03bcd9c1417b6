"""The real window on a virtual screen, with a virtual microphone and loudspeaker: asked aloud, answered aloud."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.conversation import events as e
from app.settings.kept_state import WindowState
from tests.support import sounds
from tests.support.patience import in_real_time
from tests.support.private import readable_by_others
from tests.support.screen import virtual_screen
from tests.support.servers import Script, peer
from tests.support.tables import cases
from tests.support.virtual_audio import VirtualAudio, virtual_audio
from tests.support.window_talk import ANSWER, check_talk, events_in, wait_until

pytestmark = pytest.mark.alone
ROOT = Path(__file__).resolve().parents[2]


@contextmanager
def window(
    audio: VirtualAudio, display: str, home: Path, *command: str, **settings: object
) -> Iterator[subprocess.Popen]:
    """The app's window behind its first run, with its settings, data and logs in `home`."""
    config = home / "config" / "kame-desktop"
    config.mkdir(parents=True)
    (config / "settings.json").write_text(json.dumps({"version": 1, "keep_recordings": True, **settings}))
    WindowState(first_run_done=True, path=config / "window.json").save()
    env = {
        **os.environ,
        **audio.env,
        "DISPLAY": display,
        "QT_QPA_PLATFORM": "xcb",
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_DATA_HOME": str(home / "data"),
        "XDG_STATE_HOME": str(home / "state"),
    }
    with open(home / "log.txt", "wb") as log:
        child = subprocess.Popen([sys.executable, "-m", "app", *command], cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            yield child
        finally:
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(5)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()


def _reach_from_outside(child: subprocess.Popen, env: dict[str, str]) -> None:
    """Other processes reach the window: a key of the desktop mutes, and a second start only brings it forward."""
    for command in (["ptt", "mute"], []):
        other = subprocess.run(
            [sys.executable, "-m", "app", *command], cwd=ROOT, env={**env, "QT_QPA_PLATFORM": "xcb"}, timeout=20
        )
        assert other.returncode == 0 and child.poll() is None


@cases("duplex", pytest.param(True, id="full duplex"), pytest.param(False, id="push to talk", marks=pytest.mark.slow))
@in_real_time
def test_a_question_asked_aloud_is_answered_aloud(duplex: bool, tmp_path: Path) -> None:
    """With a real server as its back-end, whose words are fixed: what is read back depends on the app alone. Without
    openings, which a slow machine would say before the answer."""
    tmp_path = Path(tempfile.mkdtemp(dir=tmp_path))
    words = tuple(f" {word}" for word in ANSWER.split())
    with (
        peer(Script(words)) as url,
        virtual_audio() as audio,
        virtual_screen() as screen,
        window(
            audio,
            screen.display,
            tmp_path,
            duplex=duplex,
            provider="compatible",
            compatible_url=f"{url}/v1",
            compatible_model="any",
            openings=False,
        ) as child,
    ):
        recordings = tmp_path / "data"
        wait_until(lambda: bool(events_in(recordings)) or child.poll() is not None, 90, "the session starts")
        assert child.poll() is None, (tmp_path / "log.txt").read_text()
        screen.focus()
        with audio.record_loudspeaker(tmp_path / "heard.wav") as heard:
            if not duplex:
                screen.key_down("space")
                time.sleep(0.3)
            asked = audio.play_into_microphone(sounds.question("103_2"))
            asked.wait(20)
            if not duplex:
                screen.key_up("space")
            wait_until(
                lambda: any(isinstance(x, e.AssistantEnded) and not x.interrupted for x in events_in(recordings)),
                60,
                "the answer ends",
            )
            time.sleep(0.5)
            if duplex:
                _reach_from_outside(child, {**os.environ, **audio.env, "DISPLAY": screen.display})
                wait_until(
                    lambda: [x.muted for x in events_in(recordings) if isinstance(x, e.MicrophoneMuted)] == [True],
                    5,
                    "the microphone is muted",
                )
        check_talk(events_in(recordings), heard.path)
        said = " ".join(x.text for x in events_in(recordings) if isinstance(x, e.AssistantSaid))
        assert said == ANSWER
        begin = time.monotonic()
        screen.close_window()
        wait_until(lambda: child.poll() is not None, 5, "the window closes")
        assert child.returncode == 0 and time.monotonic() - begin < 5
    assert not [x for x in events_in(recordings) if isinstance(x, e.Failure)]
    assert isinstance(events_in(recordings)[-1], e.SessionEnded)
    log = (tmp_path / "log.txt").read_text()
    assert "Traceback" not in log and "Task was destroyed" not in log, log
    assert not readable_by_others(tmp_path / "data")
