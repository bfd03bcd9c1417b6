"""Tests the installation of what a graphics card needs, with a script in place of the launcher."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from app.platform.installation import CHECKOUT, WHEEL, Installed, card_command
from app.platform.nvidia import Card, Driver
from app.services.graphics_service import STOPPED, GraphicsOffer, GraphicsService
from app.session.control import UserError

OFFERED = {
    "state": "offered",
    "sentence": "A card is here.",
    "build": "cu128",
    "download": 4,
    "room": 8,
    "free": 99,
    "estimated": True,
}
TELL = "import json, sys\ndef tell(**what): print(json.dumps(what), flush=True)\n"


def made(folder: Path, code: str, kind: str = "run") -> GraphicsService:
    (folder / "packaging").mkdir(exist_ok=True)
    (folder / "packaging" / "launcher.py").write_text(TELL + code, "utf-8")
    return GraphicsService(folder, kind)


def telling(folder: Path, status: dict[str, Any], kind: str = "run") -> GraphicsOffer | None:
    code = f"assert sys.argv[1:] == ['--report', 'card', 'status']\ntell(card=json.loads({json.dumps(status)!r}))"
    return made(folder, code, kind).offer()


def install(setup: GraphicsService, cancelled: threading.Event | None = None) -> list[tuple[str, float]]:
    told: list[tuple[str, float]] = []
    setup.install(lambda words, share: told.append((words, share)), cancelled or threading.Event())
    return told


def test_what_the_launcher_tells_is_offered(tmp_path: Path) -> None:
    offer = telling(tmp_path, OFFERED)
    assert (offer.state, offer.download, offer.room, offer.free, offer.estimated) == ("offered", 4, 8, 99, True)
    assert offer.sentence == "A card is here."
    by_hand = telling(tmp_path, OFFERED, CHECKOUT)
    assert by_hand is not None and by_hand.state == "by hand" and "bootstrap.py setup" in by_hand.command
    waiting = telling(tmp_path, {**OFFERED, "state": "waiting"})
    assert waiting is not None and waiting.state == "waiting"
    for state in ("none", "unfit", "installed"):
        assert telling(tmp_path, {**OFFERED, "state": state}) is None
    assert made(tmp_path, "sys.exit(1)").offer() is None
    assert GraphicsService(tmp_path / "nowhere", "deb").offer() is None


def test_a_wheel_has_no_launcher_and_says_what_to_type(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.platform import nvidia

    card = Card("NVIDIA L4", 22 << 30, 21 << 30)
    monkeypatch.setattr(nvidia, "look", lambda: Driver("580", (13, 0), (card,)))
    offer = GraphicsService(tmp_path, WHEEL).offer()
    assert offer is not None and offer.state == "by hand" and "NVIDIA L4 with 22 GB is here" in offer.sentence
    monkeypatch.setattr(nvidia, "look", lambda: None)
    assert GraphicsService(tmp_path, WHEEL).offer() is None


def test_on_windows_a_wheels_command_asks_for_a_torch_with_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.platform.installation.installed", lambda: Installed(WHEEL, "1"))
    monkeypatch.setattr(sys, "platform", "linux")
    assert "--torch-backend" not in card_command()
    monkeypatch.setattr(sys, "platform", "win32")
    assert card_command() == 'uv tool install --force --torch-backend auto "kame-desktop[embedded,gpu] @ FILE.whl"'


def test_progress_is_passed_on_and_problems_are_sentences(tmp_path: Path) -> None:
    code = """
assert sys.argv[1:] == ["--report", "card", "install"]
tell(step="Looking at the card", fraction=None, bytes=0, of=0)
print("no report", flush=True)
tell(step="Fetching", fraction=0.25, bytes=10**9, of=4 * 10**9)
tell(say="It is there."); tell(ready=True)
"""
    assert install(made(tmp_path, code)) == [("Looking at the card …", -1.0), ("Fetching: 1.0 of 4.0 GB", 0.25)]
    problem = {"happened": "It broke.", "meaning": "So it is.", "remedy": "Mend it.", "details": "x"}
    code = f"tell(problem={problem})\nsys.exit(2)"
    with pytest.raises(UserError, match=r"^It broke\. So it is\. Mend it\.$"):
        install(made(tmp_path, code))
    with pytest.raises(UserError, match="unexpectedly"):
        install(made(tmp_path, "sys.exit(1)"))


def test_it_is_stopped_by_closing_its_input(tmp_path: Path) -> None:
    cancelled = threading.Event()
    code = "tell(step='Fetching', fraction=None, bytes=0, of=0)\nsys.stdin.buffer.read()\nsys.exit(130)"
    with pytest.raises(UserError) as error:
        made(tmp_path, code).install(lambda words, share: cancelled.set(), cancelled)
    assert str(error.value) == STOPPED


def test_the_app_restarts_once_it_has_ended(tmp_path: Path) -> None:
    made(
        tmp_path,
        f"""
assert sys.argv[1:] == ["restart"]
sys.stdin.buffer.read()
open({str(tmp_path / "begun.part")!r}, "w").write("begun")
import os; os.replace({str(tmp_path / "begun.part")!r}, {str(tmp_path / "begun")!r})
""",
    )
    code = f"""
import sys, pathlib
from app.services.graphics_service import GraphicsService
setup = GraphicsService(pathlib.Path({str(tmp_path)!r}), "run")
setup.restart()
print(setup._restarter.pid, pathlib.Path({str(tmp_path / "begun")!r}).exists())
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], stdout=subprocess.PIPE, text=True, timeout=60, check=True
    )
    assert done.stdout.split()[1] == "False"
    # It has no output of its own: only its file tells that it has gone on.
    waited = threading.Event()
    for _ in range(600):
        if (tmp_path / "begun").exists():
            break
        waited.wait(0.05)
    assert (tmp_path / "begun").exists()


@pytest.mark.parametrize("kept", [False, True], ids=["may leave its job", "may not"])
def test_on_windows_the_restart_leaves_its_terminal(
    kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flags = {
        "CREATE_NO_WINDOW": 0x08000000,
        "CREATE_NEW_PROCESS_GROUP": 0x200,
        "BELOW_NORMAL_PRIORITY_CLASS": 0x4000,
        "NORMAL_PRIORITY_CLASS": 0x20,
        "CREATE_BREAKAWAY_FROM_JOB": 0x01000000,
    }
    for name, value in flags.items():
        monkeypatch.setattr(subprocess, name, value, raising=False)
    started: list[int] = []

    def start(command: list[str], **options: Any) -> None:
        started.append(options["creationflags"])
        if kept and options["creationflags"] & flags["CREATE_BREAKAWAY_FROM_JOB"]:
            raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(subprocess, "Popen", start)
    monkeypatch.setattr(sys, "platform", "win32")
    GraphicsService(tmp_path, "windows").restart()
    plain = 0x08000000 | 0x200 | 0x20
    assert started == [plain | 0x01000000, plain][: 2 if kept else 1]
