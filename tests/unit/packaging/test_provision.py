"""Tests set-up, upgrade and repair of an installed app with a fake uv."""

import json
import os
import shutil
from pathlib import Path

import pytest

from installation.problems import Problem
from installation.stamp import is_ready
from tests.unit.packaging.fakes import posix_only, program
from tests.unit.packaging.installation import Installation

pytestmark = posix_only


@pytest.fixture
def installed(tmp_path):
    return Installation(tmp_path)


def test_a_set_up_makes_the_environment_and_leaves_no_cache(installed):
    installed.ensure()
    assert is_ready(installed.places)
    assert (installed.places.site_packages / "one.py").exists()
    assert str(installed.places.root) in (installed.places.site_packages / "kame_desktop.pth").read_text()
    assert installed.beside() == {"environment", "environment.lock", "environment.log"}
    assert any("0 MB to download" in line and "1 MB on the disk" in line for line in installed.said)
    venv, sync = installed.calls()
    assert "--relocatable" in venv and str(installed.places.base_python) in venv
    assert "--require-hashes --only-binary :all:" in sync and "--no-index" not in sync


def test_a_second_start_calls_no_tool(installed):
    installed.ensure()
    before = installed.calls()
    installed.ensure()
    assert installed.calls() == before


def test_an_offline_installation_uses_its_own_wheels_and_no_index(installed):
    installed.places.wheels.mkdir()
    installed.ensure()
    assert f"--offline --no-index --find-links {installed.places.wheels}" in installed.calls()[-1]


def test_a_failed_download_is_reported_and_the_next_try_continues(installed):
    (installed.notes / "fail").write_text("error: Failed to fetch: dns error")
    with pytest.raises(Problem) as caught:
        installed.ensure()
    assert caught.value.meaning == "The download did not go through."
    assert "try again" in caught.value.remedy and "same command" not in str(caught.value)
    assert "dns error" in caught.value.details
    assert not installed.places.venv.exists() and installed.places.cache.exists()
    (installed.notes / "fail").unlink()
    installed.ensure()
    assert is_ready(installed.places) and not installed.places.cache.exists()


def test_a_failed_upgrade_leaves_the_old_environment_in_place(installed):
    installed.ensure()
    installed.set_locks("one==2.0", "model==1.0")
    (installed.notes / "fail").write_text("No space left on device")
    with pytest.raises(Problem, match="The disk is full"):
        installed.ensure()
    assert (installed.places.site_packages / "one-1.0.dist-info").exists()


def test_an_upgrade_reuses_installed_packages(installed):
    installed.ensure()
    kept = installed.places.site_packages / "model.py"
    inode = kept.stat().st_ino
    installed.set_locks("one==2.0", "model==1.0")
    installed.ensure()
    assert (installed.places.site_packages / "one-2.0.dist-info").exists()
    assert (installed.places.site_packages / "model.py").stat().st_ino == inode, "linked, not fetched again"
    assert [call.split()[0] for call in installed.calls()] == ["venv", "pip", "pip"]


def test_an_upgrade_writes_nothing_into_the_environment_in_use(installed, tmp_path):
    installed.ensure()
    path = installed.places.site_packages / "kame_desktop.pth"
    os.link(path, tmp_path / "in use")
    installed.set_locks("one==2.0", "model==1.0")
    installed.ensure()
    assert not path.samefile(tmp_path / "in use")


def test_an_interrupted_copy_is_ignored(installed, monkeypatch):
    copytree = shutil.copytree

    def cut_off(*words, **options):
        copytree(*words, **options)
        raise KeyboardInterrupt

    installed.ensure()
    installed.set_locks("one==2.0", "model==1.0")
    with monkeypatch.context() as stop:
        stop.setattr("installation.replacement.shutil.copytree", cut_off)
        with pytest.raises(KeyboardInterrupt):
            installed.ensure()
    assert installed.places.new.venv.exists()
    os.replace(installed.places.venv, installed.places.old)
    installed.ensure()
    assert (installed.places.site_packages / "one-2.0.dist-info").exists()


@pytest.mark.slow
def test_another_python_of_the_installation_means_a_new_environment(installed, monkeypatch):
    installed.ensure()
    monkeypatch.setattr("installation.stamp.sys.version", "3.13.99")
    assert not is_ready(installed.places)
    installed.ensure()
    assert [call.split()[0] for call in installed.calls()] == ["venv", "pip", "venv", "pip"]


@pytest.fixture
def distribution(installed, tmp_path, monkeypatch):
    """A system whose Python has several names, an installation without its own; and a function that upgrades it."""
    shutil.rmtree(installed.places.base_python.parents[1])
    folder = tmp_path / "usr" / "bin"
    alias = folder / "python3"
    monkeypatch.setattr("installation.provision.candidates", lambda env, running: [str(alias)])

    def upgrade(version):
        for path in folder.glob("python*"):
            path.unlink()
        answer = f'case "$*" in *kame-python*) echo "kame-python {version}.2 64 1 1 {alias}";; *) echo {version};; esac'
        program(folder / f"python{version}", answer)
        alias.symlink_to(f"python{version}")

    upgrade("3.11")
    return upgrade


@pytest.mark.slow
@pytest.mark.parametrize("repair", [False, True])
@pytest.mark.parametrize("made", ["now", "by an earlier version"])
def test_after_an_upgrade_of_the_systems_python_the_environment_is_made_again(installed, distribution, made, repair):
    installed.ensure()
    places = installed.places
    assert places.python.resolve().name == "python3.11" and is_ready(places)
    if made != "now":
        places.python.unlink()
        places.python.symlink_to(Path(installed.calls()[0].split()[-2]).with_name("python3"))
        stamp = json.loads(places.stamp.read_text())
        del stamp["linked"]
        places.stamp.write_text(json.dumps(stamp))
        assert is_ready(places)
    distribution("3.13")
    assert not is_ready(places)
    installed.ensure(repair)
    assert is_ready(places) and "python3.13" in str(places.site_packages)
    assert (places.site_packages / "one.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize("state", ["old only", "old and finished new", "old and unfinished new"])
def test_an_interrupted_replacement_is_repaired(installed, state):
    installed.ensure()
    places = installed.places
    if state == "old and finished new":
        shutil.copytree(places.venv, places.new.venv, symlinks=True)
        (places.new.venv / "is-new").touch()
    elif state == "old and unfinished new":
        places.new.venv.mkdir()
    os.replace(places.venv, places.old)
    before = installed.calls()
    installed.ensure()
    assert is_ready(places) and installed.calls() == before
    assert (places.venv / "is-new").exists() == (state == "old and finished new")


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["deleted", "changed", "list deleted", "package deleted"])
def test_repair_finds_and_repairs_damage(installed, damage):
    installed.ensure()
    site = installed.places.site_packages
    if damage == "deleted":
        (site / "one.py").unlink()
    elif damage == "changed":
        (site / "one.py").write_text("version = '1.1'\n")
    elif damage == "list deleted":
        (site / "one-1.0.dist-info" / "RECORD").unlink()
    else:
        shutil.rmtree(site / "one-1.0.dist-info")
        (site / "one.py").unlink()
    installed.ensure(repair=True)
    assert (installed.places.site_packages / "one.py").read_text() == "version = '1.0'\n"
    assert is_ready(installed.places)


def test_repair_of_a_whole_installation_changes_nothing(installed):
    installed.ensure()
    before = installed.calls()
    installed.ensure(repair=True)
    assert installed.calls() == before
    assert "All files are as they should be.\n" in installed.said


def test_damage_of_the_program_itself_needs_the_installer(installed):
    installed.ensure()
    (installed.places.root / "files.json").write_text('{"app/main.py": "00", "installed.json": "00"}')
    with pytest.raises(Problem, match=r"app/main\.py, installed\.json\."):
        installed.ensure(repair=True)


def test_too_little_room_is_reported_before_any_download(installed, monkeypatch):

    class Usage:
        free = 50 * 10**6

    monkeypatch.setattr("installation.provision.shutil.disk_usage", lambda path: Usage)
    with pytest.raises(Problem, match="50 MB are free") as caught:
        installed.ensure()
    assert "101 MB" in caught.value.meaning
    assert [call.split()[0] for call in installed.calls()] == ["venv"]


def test_a_missing_lock_means_an_incomplete_installation(installed):
    (installed.places.locks / "app.txt").unlink()
    with pytest.raises(Problem, match="incomplete"):
        installed.ensure()
