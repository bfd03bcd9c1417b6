"""Tests the self-extracting installer: its check, the installation per user, upgrade and removal."""

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from building.selfextract import build_run
from building.source import File, Source
from tests.support.tables import cases
from tests.unit.packaging.builds import UV
from tests.unit.packaging.fakes import ROOT, program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the installer is for Linux")
ID = "org.kame_desktop.KameDesktop"
KEPT = ("packaging/**/*", "app/platform/*.py", "resources/icons/kame*", "resources/licences.md", "LICENSE")
"""The project's files that make an installer. All of them would make one that takes seconds to unpack, each time."""


@pytest.fixture(scope="module")
def installer(tmp_path_factory) -> Path:
    paths = sorted(path for pattern in KEPT for path in ROOT.glob(pattern) if path.is_file() and path.suffix != ".pyc")
    files = tuple(File(path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in paths)
    source = Source("0123456789", "0.1.0", 1_800_000_000, files)
    name, data = build_run(source, [File("tools/uv", UV, True)])
    path = tmp_path_factory.mktemp("downloads") / name
    path.write_bytes(data)
    return path


class User:
    """A user with an empty home, whose name has a space and an umlaut."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        self.home = home
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "KAME_DESKTOP_AS_ROOT": "1", "LC_ALL": "C.UTF-8"}
        self.data = home / ".local" / "share"
        self.program = self.data / "kame-desktop" / "program"
        self.command = home / ".local" / "bin" / "kame-desktop"
        self.entry = self.data / "applications" / f"{ID}.desktop"

    def run(self, *command: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(word) for word in command],
            cwd=self.home,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def files(self) -> list[str]:
        """The files in the home, without those that Python and shell tools write for themselves."""
        every = (path.relative_to(self.home) for path in self.home.rglob("*") if path.is_file())
        return sorted(str(path) for path in every if path.suffix not in (".pyc", ".cache"))


@pytest.fixture
def user(tmp_path) -> User:
    return User(tmp_path / "Käthe & Kim")


def test_it_installs_program_command_menu_entry_and_icons(installer, user):
    done = user.run("sh", installer)
    assert done.returncode == 0, done.stderr
    assert f"is installed in {user.program}" in done.stdout
    assert os.access(user.command, os.X_OK) and f"code='{user.program}'\n" in user.command.read_text()
    assert f'Exec="{user.command}"' in user.entry.read_text() and "@" not in user.entry.read_text()
    assert (user.data / "icons" / "hicolor" / "48x48" / "apps" / "kame-desktop.png").is_file()
    assert (user.program / "installed.json").is_file() and (user.program / "tools" / "uv").read_bytes() == UV
    assert not (user.home / ".config").exists()


def test_the_command_reaches_the_launcher_of_the_installed_program(installer, user):
    user.run("sh", installer)
    done = user.run(user.command, "remove-environment")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("damage", ["changed", "cut off"])
def test_a_damaged_file_installs_nothing(installer, user, tmp_path, damage):
    whole = bytearray(installer.read_bytes())
    whole[-1000] ^= 1
    bad = tmp_path / "bad.run"
    bad.write_bytes(whole if damage == "changed" else whole[:-5000])
    for options in (["--check"], []):
        done = user.run("sh", bad, *options)
        assert done.returncode == 2
        assert "damaged or was not downloaded whole" in done.stderr
    assert user.files() == []


def test_a_check_installs_nothing(installer, user):
    done = user.run("sh", installer, "--check")
    assert done.returncode == 0 and "is whole" in done.stdout
    assert user.files() == []


def test_an_upgrade_takes_the_place_of_the_old_program_and_keeps_data(installer, user):
    user.run("sh", installer)
    (user.program / "app" / "gone_in_the_new_version.py").touch()
    kept = user.data / "kame-desktop" / "history.sqlite3"
    kept.write_text("talks")
    assert user.run("sh", installer).returncode == 0
    assert not (user.program / "app" / "gone_in_the_new_version.py").exists()
    assert kept.read_text() == "talks"
    assert sorted(path.name for path in user.program.parent.iterdir()) == ["history.sqlite3", "program"]


def test_a_folder_with_other_things_in_it_is_left_alone(installer, user):
    (user.home / "music").mkdir()
    (user.home / "music" / "song").touch()
    done = user.run("sh", installer, "--target", user.home / "music")
    assert done.returncode == 2 and "is not empty" in done.stderr
    assert user.files() == ["music/song"]


@pytest.mark.slow
def test_an_upgrade_finds_its_folder_however_it_is_written(installer, user):
    target = user.home / "kame"
    (user.home / "link").symlink_to(target)
    user.run("sh", installer, "--target", target)
    for written in (f"{target}/", "link"):
        done = user.run("sh", installer, "--target", written)
        assert done.returncode == 0, done.stderr
        assert (target / "installed.json").is_file() and (user.home / "link").is_symlink()


@pytest.mark.parametrize(
    "target",
    (
        ".local/share/kame-desktop .local/share/kame-desktop/history .config/kame-desktop .local "
        ".local/share/kame-desktop/environment/sub . .. .local/bin"
    ).split(),
)
def test_the_program_does_not_go_where_the_users_data_belong(installer, user, target):
    (user.data / "kame-desktop").mkdir(parents=True)
    done = user.run("sh", installer, "--target", target)
    assert done.returncode == 2 and "can't be put into" in done.stderr
    assert user.files() == []


@pytest.mark.slow
def test_what_lies_beside_the_program_is_not_touched(installer, user):
    kept = [user.home / f"kame{ending}" / "thesis" for ending in (".old", ".new")]
    for file in kept:
        file.parent.mkdir()
        file.touch()
    for _ in range(2):
        assert user.run("sh", installer, "--target", "kame").returncode == 0
    assert all(file.exists() for file in kept)
    user.run("sh", installer, "--uninstall")
    assert {path.name for path in user.home.glob("[!.]*")} == {"kame.new", "kame.old"}
    assert not list(user.home.glob(".kame*"))


def test_an_upgrade_that_fails_leaves_the_program_as_it_was(installer, user, tmp_path):
    user.run("sh", installer, "--target", "kame")
    before, path = user.files(), user.env["PATH"]
    for tool, script in (("tar", "exit 1"), ("mv", 'case $1 in */new) exit 1;; esac; exec /bin/mv "$@"')):
        program(tmp_path / tool / tool, script)
        user.env["PATH"] = f"{tmp_path / tool}{os.pathsep}{path}"
        done = user.run("sh", installer)
        assert done.returncode == 2 and "could not be" in done.stderr
        assert user.files() == before


@pytest.mark.slow
def test_a_move_elsewhere_removes_the_program_from_its_first_folder(installer, user):
    user.run("sh", installer)
    inside = user.run("sh", installer, "--target", user.program / "sub")
    assert inside.returncode == 2 and (user.program / "installed.json").is_file()
    assert user.run("sh", installer, "--target", "kame").returncode == 0
    assert (user.home / "kame" / "installed.json").is_file() and not user.program.exists()


@contextlib.contextmanager
def running(file: Path):
    """A process that has mapped one of the app's files, as the app does with dozens."""
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(shutil.which("sleep"), file)
    with subprocess.Popen([file, "60"]) as child:
        yield
        child.kill()


@pytest.mark.slow
def test_nothing_changes_while_the_app_or_a_set_up_runs(installer, user):
    user.run("sh", installer)
    before = user.files()
    for place in ("environment/bin", "environment.new/lib", "program/tools"):
        part = user.data / "kame-desktop" / place / "part"
        with running(part):
            for options in (["--target", "elsewhere"], ["--uninstall", "--purge"]):
                done = user.run("sh", installer, *options)
                assert done.returncode == 2 and "KAME Desktop is running" in done.stderr
        part.unlink()
    assert user.files() == before
    assert user.run("sh", installer, "--uninstall").returncode == 0 and user.files() == []


@pytest.mark.parametrize("kind", ["file", "link"])
def test_the_same_command_from_elsewhere_is_left_alone(installer, user, kind):
    user.command.parent.mkdir(parents=True)
    if kind == "file":
        user.command.write_text("#!/bin/sh\n# made by another installer\n")
    else:
        user.command.symlink_to(user.home / "gone" / "kame-desktop")
    done = user.run("sh", installer)
    assert done.returncode == 2 and "does not come from this installer" in done.stderr
    assert user.files() == ([".local/bin/kame-desktop"] if kind == "file" else [])
    assert os.path.lexists(user.command)


@pytest.mark.slow
def test_removing_leaves_a_command_that_has_taken_the_place_of_its_own(installer, user):
    user.run("sh", installer)
    (user.data / "kame-desktop" / "environment").mkdir()
    user.command.write_text("#!/bin/sh\n# made by another installer\n")
    done = user.run("sh", user.program / "uninstall.sh")
    assert done.returncode == 0, done.stderr
    assert user.files() == [".local/bin/kame-desktop"]
    assert not (user.data / "kame-desktop").exists()


def test_it_starts_at_login_only_where_asked_for(installer, user):
    user.run("sh", installer, "--autostart")
    assert (user.home / ".config" / "autostart" / f"{ID}.desktop").read_text() == user.entry.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--purge"]])
def test_removing_leaves_conversations_unless_told_otherwise(installer, user, options):
    user.run("sh", installer, "--autostart")
    data = [user.data / "kame-desktop" / "history.sqlite3", user.home / ".config" / "kame-desktop" / "settings.json"]
    for file in data:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    (user.data / "kame-desktop" / "environment").mkdir()
    done = user.run("sh", installer, "--uninstall", *options)
    assert done.returncode == 0, done.stderr
    left = [] if options else sorted(str(file.relative_to(user.home)) for file in data)
    assert user.files() == left
    assert not (user.data / "kame-desktop" / "environment").exists()


def on_terminal(user: User, answer: str, *command: object) -> str:
    """Runs a command on its own terminal and answers its question; returns what it shows."""
    import pty  # not on Windows

    master, slave = pty.openpty()
    child = subprocess.Popen(
        [str(word) for word in command],
        cwd=user.home,
        env=user.env,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    os.write(master, f"{answer}\n".encode())
    shown = b""
    with contextlib.suppress(OSError):  # the terminal ends with the child
        while block := os.read(master, 4096):
            shown += block
    os.close(master)
    assert child.wait() == 0, shown
    return shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize(("answer", "stays"), [("", True), ("no", True), ("yes", False)])
def test_on_a_terminal_it_asks_whether_conversations_go_too(installer, user, answer, stays):
    user.run("sh", installer)
    history = user.data / "kame-desktop" / "history.sqlite3"
    history.touch()
    assert "Remove them too?" in on_terminal(user, answer, "sh", user.program / "uninstall.sh")
    assert history.exists() == stays and not user.program.exists() and not user.command.exists()


def test_on_a_terminal_it_offers_to_start(installer, user):
    assert "start it now?" in on_terminal(user, "n", "sh", installer)
    assert user.command.exists()


@cases("option, why", ("--uninstall", "No KAME Desktop was found"), ("--nonsense", "--target FOLDER"))
def test_what_can_not_be_done_is_told_and_installs_nothing(installer, user, option, why):
    done = user.run("sh", installer, option)
    assert done.returncode == 2 and why in done.stderr
    assert user.files() == []
