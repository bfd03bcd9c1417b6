"""What the app writes can be read by its user alone, whichever command comes first in a new home. For the window, see
`test_no_network.py` and `test_window.py`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import sounds
from tests.support.private import readable_by_others
from tests.support.servers import Script, peer
from tests.support.tables import cases

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows gives a user's folders to that user alone")
ROOT = Path(__file__).parent.parent.parent


@cases(
    "command",
    "doctor --json",
    "models list",
    "keys list",
    "devices",
    "replay no-such-folder",
    pytest.param("ask SERVER Hello?", id="ask"),
    pytest.param("talk SERVER --input QUESTION --output HOME/answers/a.wav --record HOME/talks/one", id="talk"),
)
def test_a_command_in_a_new_home(command: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "answers").mkdir(mode=0o700)
    question = sounds.write(tmp_path / "q.wav", sounds.question("103_2"))
    with peer(Script()) as url:
        server = f"--backend openai --base-url {url}/v1 --model any"
        words = command.replace("SERVER", server).replace("QUESTION", str(question)).replace("HOME", str(home))
        done = run(home, "-m", "app", *words.split())
    assert "Traceback" not in done.stderr and (done.returncode == 0 or "no-such" in command), done.stderr
    assert "talk" not in command.split() or (home / "talks" / "one" / "events.jsonl").is_file()
    assert not readable_by_others(home)


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs Python for a user whose files are readable by all unless a program says otherwise."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    environment |= {"HOME": str(home), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=ROOT, env=environment, umask=0o022, capture_output=True, text=True, timeout=240)
