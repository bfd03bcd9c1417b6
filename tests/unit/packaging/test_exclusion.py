"""Tests that one set-up at a time works on a folder."""

import errno
import os

import pytest

from installation.exclusion import lock_file, only_one
from installation.steps import Steps
from tests.support.raising import raising
from tests.unit.packaging.fakes import posix_only

pytestmark = posix_only


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_disk_without_locks_stops_no_set_up(tmp_path, monkeypatch, number):
    monkeypatch.setattr("fcntl.flock", raising(OSError(number, os.strerror(number))))
    said = []
    with only_one(tmp_path / "lock", Steps(tmp_path / "log", said.append)):
        pass
    assert said == []


def test_a_lock_on_a_removed_file_is_ignored(tmp_path):
    lock = tmp_path / "lock"
    with only_one(lock, Steps(tmp_path / "log")):
        assert lock_file(lock) is None
        lock.unlink()
        other = lock_file(lock)
    assert other is not None and lock.exists()
    os.close(other)
