"""Conversations in the real window whose model's process is killed, stopped or runs out of memory at random moments.

Run by hand: `python -m tests.live.kame_faults [conversations] [seed]`. Each takes 20 s, or 40 s with a fault, which two
thirds of them have. After a fault, the same is asked again once KAME is back. KAME is a small model on the processor.
Prints a line of JSON for each: what happened and when, how many words were wrong, what the user was shown, and which
voices it had. At the end: how long the window was blocked.
"""

from __future__ import annotations

import dataclasses
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from app.conversation import events as e
from app.conversation.words import fold
from app.research.benches.recordings import word_distance
from app.settings.kept_state import WindowState
from tests.support import sounds
from tests.support.screen import Screen, virtual_screen
from tests.support.servers import Script, peer
from tests.support.virtual_audio import VirtualAudio, virtual_audio
from tests.support.window_talk import ANSWER, QUESTION, events_in, wait_until

ROOT = Path(__file__).resolve().parents[2]
A_WINDOW = 5
"""How many conversations are had in one window."""
FAULTS = ("killed", "stopped", "out of memory")


def in_window(blocked: Path) -> int:
    """Runs the window with a small KAME on the processor, and writes how long its event loop was blocked."""
    from PySide6.QtCore import QTimer

    from app import main
    from app.frontend.kame import engine_process

    make = main.make_frontend
    main.make_frontend = lambda name, options: make(name, dataclasses.replace(options, device="cpu"))
    defaults = engine_process.EngineProcess.__init__.__kwdefaults__
    assert defaults is not None
    defaults["module"] = "tests.support.telling_worker"
    longest, last = [0.0] * 100, time.monotonic()
    timers: list[QTimer] = []

    def tick() -> None:
        nonlocal last
        now = time.monotonic()
        if now - last > min(longest):
            longest[longest.index(min(longest))] = now - last
        last = now

    def write() -> None:  # on a thread: a disk would block the window itself
        while True:
            time.sleep(1.0)
            blocked.write_text(json.dumps(sorted(longest, reverse=True)[:10]))

    def begin() -> None:
        nonlocal last
        last = time.monotonic()
        timer = QTimer()
        timer.timeout.connect(tick)
        timer.start(5)
        timers.append(timer)
        threading.Thread(target=write, daemon=True).start()

    start = main.device_session

    async def start_watched(*args: Any) -> Any:
        if not timers:
            begin()
        return await start(*args)

    main.device_session = start_watched
    return main.open_window()


@contextmanager
def window(
    audio: VirtualAudio, screen: Screen, home: Path, weights: Path, url: str
) -> Iterator[subprocess.Popen[bytes]]:
    config = home / "config" / "kame-desktop"
    config.mkdir(parents=True)
    settings = {"provider": "compatible", "compatible_url": f"{url}/v1", "compatible_model": "any", "duplex": True}
    settings |= {"version": 1, "keep_recordings": True, "openings": False, "recogniser": ""}
    settings |= {"frontend": "kame", "weights_folder": str(weights)}
    (config / "settings.json").write_text(json.dumps({key: value for key, value in settings.items() if value != ""}))
    WindowState(first_run_done=True, path=config / "window.json").save()
    places = {f"XDG_{name.upper()}_HOME": str(home / name) for name in ("config", "data", "state")}
    env = {**os.environ, **audio.env, "DISPLAY": screen.display, "QT_QPA_PLATFORM": "xcb", **places}
    command = [sys.executable, "-m", "tests.live.kame_faults", "--window", str(home / "blocked.json")]
    with open(home / "log.txt", "wb") as log:
        child = subprocess.Popen(command, cwd=ROOT, env=env, stdout=log, stderr=log)
        try:
            yield child
        finally:
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def engine_of(window: subprocess.Popen[bytes]) -> int:
    """Returns the process of the model, or 0."""
    listed = subprocess.run(
        ["pgrep", "-f", "-P", str(window.pid), "telling_worker"], capture_output=True, text=True
    ).stdout.split()
    return int(listed[-1]) if listed else 0


def break_(pid: int, how: str) -> None:
    match how:
        case "killed":
            os.kill(pid, signal.SIGKILL)
        case "stopped":
            os.kill(pid, signal.SIGSTOP)
        case "out of memory":
            resource.prlimit(pid, resource.RLIMIT_AS, (1 << 20, 1 << 20))


def converse(
    audio: VirtualAudio,
    screen: Screen,
    child: subprocess.Popen[bytes],
    recordings: Path,
    seen: int,
    draw: random.Random,
    how: str,
) -> dict[str, Any]:
    """Has one conversation, in which the model's process fails if `how` says so."""
    wait_until(lambda: len(folders(recordings)) > seen or child.poll() is not None, 60, "the session starts")
    assert child.poll() is None
    events: Callable[[], list[e.Event]] = lambda: events_in(recordings)  # noqa: E731
    wait_until(lambda: any(isinstance(x, e.SessionStarted) for x in events()), 30, "it has started")
    if not seen:
        screen.focus()
    started = next(x for x in events() if isinstance(x, e.SessionStarted))
    time.sleep(1.0)
    asked = audio.play_into_microphone(sounds.question("103_2"))
    at = draw.uniform(0.2, 6.0)
    if how:
        time.sleep(at)
        break_(engine_of(child), how)
    asked.wait(20)
    answered = lambda: [x for x in events() if isinstance(x, e.AssistantSaid)]  # noqa: E731
    final = lambda: [x.text for x in events() if isinstance(x, e.TranscriptFinal) and x.text]  # noqa: E731
    wait_until(lambda: bool(final() and answered()), 60, "the question is understood, and answered")
    if how:
        wait_until(lambda: any(isinstance(x, e.FrontEndChanged) for x in events()), 30, "the other voice continues")
        wait_until(lambda: any(isinstance(x, e.AssistantEnded) for x in events()), 60, "its answer ends")
        changed = lambda: [x.frontend for x in events() if isinstance(x, e.FrontEndChanged)]  # noqa: E731
        wait_until(lambda: changed()[-1] == "kame", 60, "KAME comes back")
        time.sleep(1.0)
        before = len(answered())
        audio.play_into_microphone(sounds.question("103_2")).wait(20)
        wait_until(lambda: len(final()) > 1 and len(answered()) > before, 60, "the second question is answered")
        time.sleep(3.0)
    else:
        time.sleep(3.0)
    heard = [fold(words) for words in final()]
    return {
        "fault": how or "-",
        "at": round(at, 1) if how else "",
        "voice": started.frontend,
        "wrong words": [word_distance(fold(QUESTION), words) for words in heard],
        "failures": [x.sentence for x in events() if isinstance(x, e.Failure)],
        "then": [x.frontend for x in events() if isinstance(x, e.FrontEndChanged)],
        "said": " ".join(x.text for x in answered())[:60],
    }


def folders(recordings: Path) -> list[Path]:
    return sorted(recordings.rglob("events.jsonl"))


def run(conversations: int, seed: int) -> None:
    from tests.support.tiny_kame import SMALL_LM, SMALL_MIMI, make_checkpoint

    draw = random.Random(seed)
    faults = [FAULTS[index % 3] if index < 2 * conversations // 3 else "" for index in range(conversations)]
    draw.shuffle(faults)
    base = Path(tempfile.mkdtemp(prefix="kame-faults-"))
    weights = make_checkpoint(base / "kame", lm=SMALL_LM, mimi=SMALL_MIMI)
    config = json.loads((weights / "config.json").read_text())
    (weights / "config.json").write_text(json.dumps({**config, "lm_gen_config": {"use_sampling": False}}))
    blocked: list[float] = []
    with peer(Script(tuple(f" {word}" for word in ANSWER.split()))) as url, virtual_audio() as audio:
        for first in range(0, conversations, A_WINDOW):
            home = base / f"window-{first}"
            with virtual_screen() as screen, window(audio, screen, home, weights, url) as child:
                recordings = home / "data"
                for number, how in enumerate(faults[first : first + A_WINDOW]):
                    if number:
                        screen.key("ctrl+n")
                    result = converse(audio, screen, child, recordings, number, draw, how)
                    print(json.dumps({"n": first + number, **result}, ensure_ascii=False), flush=True)
                blocked += json.loads((home / "blocked.json").read_text())
                log = (home / "log.txt").read_text()
                if "Traceback" in log:
                    print(log[-3000:])
    print("the window was blocked for at most (ms):", [round(x * 1000) for x in sorted(blocked, reverse=True)[:10]])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--window"]:
        raise SystemExit(in_window(Path(sys.argv[2])))
    given = [int(value) for value in sys.argv[1:3]]
    run(*given, *(30, 1)[len(given) :])
