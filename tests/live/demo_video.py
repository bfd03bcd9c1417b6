"""Makes a video of the demo: `python -m tests.live.demo_video [VIDEO]`.

Starts the demo in the real window on a virtual screen, with its sound. A visitor watches this machine's run, asks two
questions by voice, and looks at the figures. Prints at which second of the video each scene begins. Needs ffmpeg.
"""

import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.live.test_window import window
from tests.support import sounds
from tests.support.screen import Screen, virtual_screen
from tests.support.virtual_audio import VirtualAudio, virtual_audio
from tests.support.window_talk import wait_until

SIZE, RATE = "1280x800", 15
QUESTIONS = "101_1", "103_2"
RECORDED_SECONDS = 240.0
"""How long this machine may take to record its own run."""


class Scenes:
    """The steps of the demo and the visitor's acts, and when each of them began."""

    def __init__(self, home: Path) -> None:
        self._home, self._began = home, time.monotonic()
        self.found: list[tuple[float, str]] = []

    def note(self, name: str) -> None:
        """A scene begins now."""
        self.found.append((time.monotonic() - self._began, name))
        print(f"{self.found[-1][0]:6.1f} s  {name}", flush=True)

    def step(self) -> str:
        """Returns the demo's step, according to the app's log."""
        text = "".join(path.read_text("utf-8", "replace") for path in self._home.rglob("*.log"))
        steps = re.findall(r"demo step: (\w+)", text)
        return steps[-1] if steps else ""

    def recorded(self) -> bool:
        """Returns whether this machine's own run is complete."""
        return any("demo recorded" in path.read_text("utf-8", "replace") for path in self._home.rglob("*.log"))


def main(arguments: list[str]) -> int:
    """`arguments`: the video's file, if it is to be another one than demo.mp4."""
    video = Path(arguments[0] if arguments else "demo.mp4")
    with tempfile.TemporaryDirectory(prefix="demo-") as folder:
        home = Path(folder)
        with (
            virtual_audio() as audio,
            virtual_screen(SIZE) as screen,
            audio.record_loudspeaker(home / "heard.wav"),
            window(audio, screen.display, home, "demo", theme="dark"),
        ):
            grab = ["-f", "x11grab", "-draw_mouse", "0", "-framerate", str(RATE), "-video_size", SIZE]
            film = subprocess.Popen(_ffmpeg(*grab, "-i", screen.display, str(home / "silent.mp4")))
            try:
                _visit(screen, audio, Scenes(home))
            finally:
                film.send_signal(signal.SIGINT)
                film.wait(60)
        subprocess.run(
            _ffmpeg("-i", str(home / "silent.mp4"), "-i", str(home / "heard.wav"), "-c:v", "copy", str(video)),
            check=True,
            timeout=120,
        )
    print(f"{video} is written.")
    return 0


def _visit(screen: Screen, audio: VirtualAudio, scenes: Scenes) -> None:
    wait_until(lambda: scenes.step() == "start", 60, "the demo appears")
    scenes.note("start: the recorded run, in silence, while this machine records its own")
    wait_until(scenes.recorded, RECORDED_SECONDS, "this machine's run is recorded")
    screen.key("Return")
    _await(scenes, lambda: scenes.step() == "watch")
    scenes.note("watch: this machine's run, aloud")
    _await(scenes, lambda: scenes.step() == "ask", 180)
    scenes.note("ask: the visitor's own questions")
    time.sleep(6)
    for name in QUESTIONS:
        scenes.note("the visitor asks")
        screen.key_down("space")
        audio.play_into_microphone(sounds.question(name)).wait(60)
        screen.key_up("space")
        time.sleep(24)  # the cascade gets the recording afterwards
    screen.key("Return")
    _await(scenes, lambda: scenes.step() == "figures")
    scenes.note("figures")
    time.sleep(5)
    scenes.note("end")


def _await(scenes: Scenes, holds: Callable[[], bool], seconds: float = 20) -> None:
    wait_until(holds, seconds, f"the step after {scenes.found[-1][1]}")


def _ffmpeg(*arguments: str) -> list[str]:
    return ["ffmpeg", "-y", "-loglevel", "error", *arguments]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
