"""The installed app's launcher as a program, and its progress window: reports, problems, cancellation, a kill."""

import json
import os
import signal
import subprocess
import textwrap
import time

import pytest

from installation import progress_window
from installation.places import environment_folder
from installation.progress_window import View, ZenityView, make_view, words_of
from installation.stamp import is_ready
from tests.unit.packaging.fakes import posix_only, program
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


PROBLEM = {"happened": "The disk is full.", "meaning": "Not all was written.", "remedy": "Make room."}


class SeenView(View):
    """Records what is shown; closes itself after some reports, and gives a set answer to questions."""

    def __init__(self, closes_after: int | None = None, answers: tuple = ()) -> None:
        self.shown: list[str] = []
        self.asked: list[str] = []
        self.closed = 0
        self._closes_after, self._answers = closes_after, list(answers)

    def show(self, report):
        self.shown.append(report.get("step") or report.get("say"))

    def is_open(self):
        return self._closes_after is None or len(self.shown) < self._closes_after

    def close(self):
        self.closed += 1

    def ask_to_retry(self, problem):
        self.asked.append(words_of(problem))
        return self._answers.pop(0)


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Starts with a launcher that runs the given lines of Python, and with a view."""
    folder = tmp_path / "packaging"
    (folder / "installation").mkdir(parents=True)
    monkeypatch.setattr(progress_window, "HERE", folder / "installation")
    monkeypatch.setattr(progress_window, "SECONDS_UNTIL_THE_APP_SHOWS", 0)
    monkeypatch.setattr(progress_window.system_parts, "sentence", lambda: "")

    def start(lines: str, view: View) -> int:
        head = "import json, os, sys\ndef report(**what): print(json.dumps(what), flush=True)\n"
        (folder / "launcher.py").write_text(head + textwrap.dedent(lines))
        monkeypatch.setattr(progress_window, "make_view", lambda: view)
        return progress_window.start(["--some", "argument"])

    return start


def test_a_start_without_a_set_up_shows_nothing(started):
    view = SeenView()
    assert started("assert sys.argv[1:] == ['--report', 'start', '--some', 'argument']\nreport(ready=True)", view) == 0
    assert view.shown == []


def test_the_steps_of_a_set_up_are_shown_until_the_app_starts(started):
    view = SeenView()
    lines = "report(step='Looking'); report(say='Wait'); print('no json', flush=True); report(ready=True)"
    assert started(lines, view) == 0
    assert view.shown == ["Looking", "Wait", "Starting KAME Desktop"]
    assert view.closed == 1


def test_closing_the_window_ends_the_set_up_by_closing_its_input(started, tmp_path):
    view = SeenView(closes_after=1)
    ended = tmp_path / "ended"
    lines = f"report(step='Fetching'); sys.stdin.read(); open({str(ended)!r}, 'w').write('politely')"
    assert started(lines, view) == progress_window.CANCELLED
    assert ended.read_text() == "politely"
    assert view.asked == []


def test_a_problem_is_shown_and_can_be_retried(started, tmp_path):
    view = SeenView(answers=(True, False))
    lines = f"report(step='Fetching'); report(problem={PROBLEM!r}); sys.exit(2)"
    assert started(lines, view) == progress_window.USER_CAN_FIX
    assert view.asked == ["The disk is full.\n\nNot all was written.\n\nMake room."] * 2


def test_missing_libraries_are_named_where_the_app_could_not_start(started, monkeypatch):
    view = SeenView(answers=(False,))
    monkeypatch.setattr(progress_window.system_parts, "sentence", lambda: "Please type: sudo apt-get install libegl1")
    started(f"report(ready=True); report(problem={PROBLEM!r}); sys.exit(2)", view)
    assert "sudo apt-get install libegl1" in view.asked[0] and "Make room" not in view.asked[0]


def test_zenity_gets_texts_and_percentages_below_100(tmp_path, monkeypatch):
    got = tmp_path / "got"
    program(tmp_path / "bin" / "zenity", f'exec cat > "{got}"')
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.delenv("DISPLAY", raising=False)
    view = make_view()
    assert isinstance(view, ZenityView)
    view.show({"step": "Fetching", "fraction": 1.0, "bytes": 2_000_000, "of": 2_000_000})
    view._child.stdin.close()
    view._child.wait()
    assert not view.is_open()
    assert got.read_text() == "# Fetching \\n2 of 2 MB\n99\n"


def test_without_any_means_the_problem_is_printed(monkeypatch, capsys):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.setattr(progress_window.shutil, "which", lambda name: None)
    assert make_view().ask_to_retry(PROBLEM) is False
    assert "Make room." in capsys.readouterr().out
