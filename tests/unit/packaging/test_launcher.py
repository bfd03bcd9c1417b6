"""Tests the installed app's launcher as a program: reports, cancellation, and the state after a kill."""

import json
import os
import signal
import subprocess
import time

import pytest

from installation.places import environment_folder
from installation.stamp import is_ready
from tests.unit.packaging.fakes import posix_only
from tests.unit.packaging.installation import Installation

pytestmark = posix_only


@pytest.fixture
def installed(tmp_path):
    return Installation(tmp_path)


def run(installed: Installation, *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        installed.launcher(*words),
        env=installed.environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.PIPE if "--report" not in words else None,
    )


def begin(installed: Installation) -> tuple[subprocess.Popen, int]:
    """Starts a set-up that hangs in uv; returns it, and uv's process id."""
    (installed.notes / "wait").touch()
    command = installed.launcher("--report", "setup")
    running = subprocess.Popen(command, env=installed.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    waiting = installed.notes / "waiting"
    deadline = time.monotonic() + 60
    while not waiting.exists():
        assert running.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    (installed.notes / "wait").unlink()
    return running, int(waiting.read_text())


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def lines_of(running: subprocess.Popen) -> list[dict]:
    return [json.loads(line) for line in running.stdout.read().decode("utf-8").splitlines()]


def test_a_set_up_reports_steps_bytes_and_that_it_is_ready(installed):
    command = installed.launcher("--report", "setup")
    with subprocess.Popen(command, env=installed.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        lines = lines_of(running)
        assert running.wait(timeout=30) == 0
    steps = [line for line in lines if "step" in line]
    assert {line["step"] for line in steps} >= {
        "Making the environment",
        "Fetching and unpacking the app's packages and models",
        "Putting it in place",
    }
    last = [line for line in steps if line["of"]][-1]
    assert (last["bytes"], last["of"], last["fraction"]) == (500_000, 1_000_009, 500_000 / 1_000_009)
    assert all(line["fraction"] is None for line in steps if not line["of"])
    assert lines[-1] == {"ready": True}


def test_a_problem_is_reported_in_parts(installed):
    (installed.notes / "fail").write_text("error: invalid peer certificate: UnknownIssuer")
    command = installed.launcher("--report", "setup")
    with subprocess.Popen(command, env=installed.environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        *_, last = lines_of(running)
        assert running.wait(timeout=30) == 2
    assert last["problem"]["meaning"] == "The package registry's certificate is none that this system trusts."
    assert set(last["problem"]) == {"happened", "meaning", "remedy", "details"}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["closed input", "SIGTERM"])
def test_a_cancel_ends_uv_and_leaves_nothing_half_made(installed, how):
    running, uv = begin(installed)
    with running:
        if how == "closed input":
            running.stdin.close()
        else:
            running.send_signal(signal.SIGTERM)
        assert not any("problem" in line for line in lines_of(running))
        assert running.wait(timeout=30) == 130
    assert not is_alive(uv)
    assert installed.beside() == {"environment.new", "environment.cache", "environment.lock", "environment.log"}
    assert run(installed, "setup").returncode == 0
    assert is_ready(installed.places)
    assert installed.beside() == {"environment", "environment.lock", "environment.log"}


@pytest.mark.slow
def test_after_a_kill_the_next_set_up_waits_for_uv_and_goes_on(installed):
    running, uv = begin(installed)
    with running:
        running.kill()
    later = subprocess.Popen(
        installed.launcher("setup"), env=installed.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    with later:
        assert later.stdout.readline() == "Another set-up of this folder is going on; waiting for it to end.\n"
        os.kill(uv, signal.SIGKILL)
        assert "Putting it in place" in later.stdout.read()
    assert later.returncode == 0
    assert is_ready(installed.places)


def test_the_app_gets_its_arguments_the_users_folder_and_no_telemetry(installed, tmp_path):
    installed.ensure()
    installed.use_python('echo "$*|$PWD|$ORT_DISABLE_TELEMETRY"; exit 7')
    done = subprocess.run(
        installed.launcher("talk", "two words"),
        env=installed.environ,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert (done.stdout, done.returncode) == (f"-P -m app talk two words|{tmp_path}|1\n", 7), done.stderr


def test_a_pressed_key_waits_for_no_set_up(installed):
    installed.ensure()
    installed.use_python('echo "$*"')
    installed.set_locks("one==2.0", "model==1.0")
    before = installed.calls()
    assert run(installed, "ptt", "press").stdout == "-P -m app ptt press\n"
    assert installed.calls() == before


def test_an_app_that_ends_at_once_is_a_problem_for_the_window(installed, tmp_path):
    installed.ensure()
    installed.use_python("pwd > $FAKE_UV/started\nexit 3")
    environ = {**installed.environ, "HOME": str(tmp_path)}
    command = installed.launcher("--report", "start")
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        ready, problem = lines_of(running)
        assert running.wait(timeout=30) == 2
    assert ready == {"ready": True}
    assert "exit code 3" in problem["problem"]["happened"]
    assert (installed.notes / "started").read_text() == f"{tmp_path}\n"


def test_a_failed_start_is_explained_with_the_apps_own_words(installed):
    installed.ensure()
    installed.use_python("echo 'Qt: a warning' >&2\necho 'KAME is running already, but does not answer.' >&2\nexit 2")
    done = run(installed, "--report", "start")
    problem = json.loads(done.stdout.splitlines()[-1])["problem"]
    assert done.returncode == 2 and problem["happened"] == "KAME is running already, but does not answer."
    assert "Qt: a warning" in problem["details"]


def test_removing_the_environment_leaves_nothing_of_it(installed):
    installed.ensure()
    (installed.places.venv.parent / "history.sqlite3").touch()
    assert run(installed, "remove-environment").returncode == 0
    assert installed.beside() == {"history.sqlite3"}


@pytest.mark.slow
def test_removing_the_environment_waits_for_a_set_up(installed):
    running, uv = begin(installed)
    command = installed.launcher("remove-environment")
    removal = subprocess.Popen(
        command, env=installed.environ, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    )
    with running, removal:
        assert removal.stdout.readline() == "Another set-up of this folder is going on; waiting for it to end.\n"
        assert installed.places.new.venv.exists()
        running.kill()
        os.kill(uv, signal.SIGKILL)
        assert removal.wait(timeout=30) == 0
        running.stdout.read()
    assert installed.beside() == set()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["setup", "remove-environment"])
@pytest.mark.parametrize("beside", [False, True], ids=["inside", "beside"])
def test_a_folder_with_files_of_the_users_is_left_alone(installed, tmp_path, command, beside):
    chosen = tmp_path / "mine"
    kept = (tmp_path / "mine.old" if beside else chosen) / "letter.txt"
    kept.parent.mkdir()
    kept.write_text("Dear Kim")
    installed.environ["KAME_DESKTOP_ENVIRONMENT"] = str(chosen)
    done = run(installed, command)
    assert done.returncode == 2 and f"but {kept.parent} was not made by KAME Desktop" in done.stderr
    assert kept.read_text() == "Dear Kim" and installed.calls() == []


@pytest.mark.slow
@pytest.mark.parametrize("text", ["/", "environment", "~/environment", "/tmp/.."])
def test_a_path_that_cannot_be_an_environment_is_explained(installed, text):
    installed.environ["KAME_DESKTOP_ENVIRONMENT"] = text
    done = run(installed, "--report", "setup")
    problem = json.loads(done.stdout)["problem"]
    assert done.returncode == 2 and f"says “{text}”" in problem["happened"] and done.stderr == ""


def test_a_folder_that_is_no_installation_is_refused(installed):
    (installed.places.root / "installed.json").unlink()
    done = run(installed, "setup")
    assert done.returncode == 2
    assert "is not an installation of KAME Desktop" in done.stderr


def test_the_environments_folder_is_among_the_users_data(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    usual = tmp_path / ".local" / "share" / "kame-desktop" / "environment"
    assert environment_folder(tmp_path, {}) == usual
    assert environment_folder(tmp_path, {"XDG_DATA_HOME": "relative"}) == usual
    assert environment_folder(tmp_path, {"XDG_DATA_HOME": "/data"}).as_posix() == "/data/kame-desktop/environment"
    monkeypatch.setattr("installation.places.WINDOWS", True)
    assert environment_folder(tmp_path, {}) == tmp_path / "environment"
