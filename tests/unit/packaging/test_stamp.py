"""Tests when an environment is ready, and when it is set up again."""

import os

import pytest

from installation import card, stamp
from installation.places import Places
from tests.unit.packaging.fakes import posix_only, program, ready, stamp_of


@posix_only
def test_unchanged_locks_need_no_set_up(project):
    assert not ready(project)
    stamp.write_stamp(project, stamp_of(project))
    assert ready(project)


@posix_only
def test_an_interrupted_install_is_redone(project):
    stamp.write_stamp(project, stamp_of(project))
    stamp.begin_install(project)
    assert not ready(project)
    stamp.write_stamp(project, stamp_of(project))
    assert ready(project)


@posix_only
@pytest.mark.parametrize("name", ["uv.txt", "app.txt", "models.txt"])
def test_a_changed_lock_is_redone(project, name):
    stamp.write_stamp(project, stamp_of(project))
    (project.locks / name).write_text("other==2.0\n")
    assert not ready(project)


@posix_only
def test_the_tests_locks_do_not_concern_the_app(project):
    stamp.write_stamp(project, stamp_of(project))
    (project.locks / "dev.txt").write_text("other==2.0\n")
    assert ready(project)
    assert not ready(project, "test")


@posix_only
@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"schema": 0}', '{"schema": 1, "venv": "other"}'])
def test_an_invalid_stamp_counts_as_none(project, text):
    project.stamp.write_text(text)
    assert stamp.read_stamp(project) == {}
    assert not ready(project)


@posix_only
def test_a_moved_environment_is_made_again(project, tmp_path):
    stamp.write_stamp(project, stamp_of(project))
    project.root.rename(tmp_path / "moved")
    assert not ready(Places(tmp_path / "moved"))


@posix_only
@pytest.mark.parametrize("script", ["exit 127", "echo 3.13"], ids=["base gone", "base replaced"])
def test_an_environment_whose_python_changed_is_made_again(project, script):
    stamp.write_stamp(project, stamp_of(project))
    program(project.python, script)
    assert not ready(project)


@posix_only
def test_a_broken_python_link_is_made_again(project, tmp_path):
    stamp.write_stamp(project, stamp_of(project))
    project.python.unlink()
    project.python.symlink_to(tmp_path / "removed")
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


@posix_only
@pytest.mark.parametrize("state", ["failed", "no room"])
def test_a_failed_graphics_part_is_tried_again_by_setup_only(project, state):
    stamp.write_stamp(project, stamp_of(project, gpu=state))
    assert ready(project, "run")
    assert not ready(project, "setup")
