"""Tests bootstrap.py's command line: exit codes, messages, signals and the app's arguments."""

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import bootstrap
from installation import checks, stamp, steps, system_parts
from installation.steps import Steps, Stopped
from tests.support.child import run_python
from tests.support.raising import raising
from tests.support.tables import cases
from tests.unit.packaging.fakes import ROOT, fake_python, posix_only, program, stamp_of


def copy_script(root: Path) -> Path:
    copy = root / "packaging" / "bootstrap.py"
    shutil.copy(ROOT / "packaging" / "bootstrap.py", copy)
    shutil.copytree(ROOT / "packaging" / "installation", copy.parent / "installation")
    (root / "app" / "platform").mkdir(parents=True, exist_ok=True)
    shutil.copy(ROOT / "app" / "platform" / "nvidia.py", root / "app" / "platform")
    return copy


def run_bootstrap(root: Path, *words: str, path: str, home: Path) -> subprocess.CompletedProcess:
    """Runs the real script, copied to `root`, on a machine that has only `path`."""
    copy = copy_script(root)
    # To the script, the running Python looks too old.
    finding = root / "packaging" / "installation" / "environment.py"
    finding.write_text(finding.read_text().replace("((3, 12), (3, 13), (3, 11))", "((3, 99),)"))
    command = [sys.executable, "-I", str(copy), *words]
    environ = {"PATH": path, "HOME": str(home)}
    return subprocess.run(command, env=environ, capture_output=True, text=True)


@posix_only
def test_no_python_is_a_sentence_and_exit_code_2(project, tmp_path):
    old = fake_python(tmp_path / "bin" / "python3", "3.8.10").parent
    # This Python has pip: let it fail without a network.
    (project.locks / "uv.txt").write_text("uv==0 --hash=sha256:00\n--no-index\n")
    for leftover in project.venv.rglob("python*"):
        leftover.unlink()
    done = run_bootstrap(project.root, "setup", path=str(old), home=tmp_path)
    assert done.returncode == 2
    assert "No Python that fits was found" in done.stderr
    assert "3.8.10" in done.stderr
    assert "3.11, 3.12 or 3.13" in done.stderr
    assert "run the same command again" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_command_shows_how_to_call_it():
    script = str(ROOT / "packaging" / "bootstrap.py")
    done = subprocess.run([sys.executable, script, "start"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "run [arguments]" in done.stderr
    assert subprocess.run([sys.executable, script, "--help"], capture_output=True).returncode == 0


def test_ctrl_c_prints_a_sentence(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(bootstrap, "prepare", raising(KeyboardInterrupt()))
    monkeypatch.setattr(steps.signal, "signal", lambda *_: None)
    assert bootstrap.main(["setup"], tmp_path) == 130
    assert "Run the same command again" in capsys.readouterr().err


@pytest.mark.slow
@posix_only
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_ends_the_tool_and_the_next_set_up_starts_again(project, tmp_path, number, code):
    begun = tmp_path / "begun"
    program(project.uv, f"echo $$ > {begun}.new; mv {begun}.new {begun}; exec sleep 60")
    script = copy_script(project.root)
    running = subprocess.Popen([sys.executable, script, "setup"], start_new_session=True, stderr=subprocess.PIPE)
    while not begun.exists():
        assert running.poll() is None
    # Ctrl-C reaches all programs of a terminal, SIGTERM only the one that it is sent to.
    os.killpg(running.pid, number) if number == signal.SIGINT else running.send_signal(number)
    assert running.wait(timeout=30) == code
    running.stderr.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)
    assert project.unfinished.exists()
    assert stamp.read_stamp(project) == {}


@posix_only
@pytest.mark.parametrize(("number", "reason"), [(signal.SIGTERM, Stopped), (signal.SIGINT, KeyboardInterrupt)])
def test_a_stop_while_a_child_is_being_started_ends_the_child_too(monkeypatch, tmp_path, number, reason):
    started = []

    def slow_start(command, **options):
        child = popen(command, **options)
        started.append(child)
        os.kill(os.getpid(), number)  # the child runs, but start_child has not returned it yet
        if number == signal.SIGINT:
            child.send_signal(number)  # Ctrl-C reaches it too
        return child

    popen = subprocess.Popen
    monkeypatch.setattr(steps.subprocess, "Popen", slow_start)
    before = signal.signal(number, steps.stop_on_signal)
    try:
        with pytest.raises(reason):
            Steps(tmp_path / "log").run(["sleep", "60"], os.environ)
    finally:
        signal.signal(number, before)
    assert started[0].returncode == -number


ECHO = """case "$*" in
    *importlinter*) echo rules;; *format*) echo layout;; *ruff*) echo style; exit 3;; *mypy*) echo types;;
    *PySide6*) exit 1;; *) echo "$*"; exit 5;;
esac"""
"""A Python that says what it is to run. The style is bad, and a test fails."""


def run_checks(project, capfd, *arguments, missing=(), everything=False, env=os.environ) -> tuple[int, list[str], str]:
    """Returns the exit code, the checks that ran, and what was said after them."""
    options = {"everything": everything, "missing": missing, "times": checks.Times()}
    code = checks.run_tests(project, env, list(arguments), **options)
    ran, _, said = capfd.readouterr().out.partition("== How long it took")
    return code, [line for line in ran.splitlines() if not line.startswith("==")], said


@posix_only
def test_all_checks_run_and_the_first_failure_counts(project, capfd):
    program(project.python, ECHO)
    code, ran, said = run_checks(project, capfd, "-k", "turn")
    assert (code, ran) == (3, ["rules", "style", "layout", "types", "-m pytest --short -k turn"])
    for name in ("The imports' rules", "The types", "The tests", "All together"):
        assert f"\n{name} " in said
    assert "Left to “test --all”" in said
    side_by_side, alone = run_checks(project, capfd)[1][4:]
    assert side_by_side.startswith("-m pytest --short -m not alone -n ")
    assert alone == "-m pytest --short -m alone tests/live"


@posix_only
@pytest.mark.parametrize(("ci", "code"), [("true", 1), ("", 0)])
def test_what_was_left_out_is_named_and_fails_in_continuous_integration_alone(project, capfd, monkeypatch, ci, code):
    program(project.python, "")
    monkeypatch.setattr(checks, "find_manager", lambda: "apt-get")
    missing = [part for part in system_parts.TEST_PARTS if part.name in ("Xvfb", "pactl")]
    env = {**os.environ, "CI": ci}
    found, _, said = run_checks(project, capfd, missing=missing, env=env)
    assert found == code
    assert "the tests that need Xvfb, pactl, which this machine lacks" in said
    assert "sudo apt-get install xvfb pulseaudio-utils" in said


@posix_only
@cases(
    "words, locks, ran",
    (["-k", "x"], ["dev.txt", "models.txt", "models-dev.txt"], "pytest --short -k x"),
    (["--all", "-k", "x"], ["dev.txt", "gpu.txt", "models.txt", "models-dev.txt"], "pytest -k x"),
)
def test_the_command_test_installs_what_its_tests_need(machine, monkeypatch, capfd, words, locks, ran):
    monkeypatch.setattr(steps.signal, "signal", lambda *_: None)
    program(machine.python, f'case "$*" in *version_info*) echo 3.12;; *) {ECHO}; esac')
    machine.set_uv(prints="Prepared 3 packages in 1m 02.5s")
    assert bootstrap.main(["test", *words], machine.root) == 3
    printed = capfd.readouterr().out
    assert machine.installs()[1:] == locks
    assert f"-m {ran}\n" in printed
    assert re.search(rf"(?m)^Set-up: downloads +{62.5 * (len(locks) + 1) // 60:.0f}:", printed)


@posix_only
def test_the_app_gets_its_arguments_its_folder_and_a_clean_environment(project, tmp_path):
    program(project.python, 'case "$*" in *version_info*) echo 3.12;; *) echo "$*|$PWD|$PYTHONPATH"; exit 7;; esac')
    stamp.write_stamp(project, {**stamp_of(project), "missing": []})
    script = copy_script(project.root)
    done = run_python(script, "run", "--help", "two words", cwd=tmp_path, env={**os.environ, "PYTHONPATH": "/else"})
    assert done.stdout == f"-P -m app --help two words|{tmp_path}|\n"
    assert done.returncode == 7


@cases(
    "number, happened, todo",
    (errno.ENOSPC, "The disk is full", "Make room (the app takes"),
    (errno.EROFS, "This user may not write everywhere in", "copy the project to a folder of your own"),
    (errno.EIO, "The set-up stopped", "run the same command again"),
)
def test_what_the_system_refuses_is_a_sentence(monkeypatch, capsys, tmp_path, number, happened, todo):
    monkeypatch.setattr(bootstrap, "prepare", raising(OSError(number, os.strerror(number))))
    monkeypatch.setattr(steps.signal, "signal", lambda *_: None)
    assert bootstrap.main(["setup"], tmp_path) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert sentence.startswith(happened) and todo in sentence
