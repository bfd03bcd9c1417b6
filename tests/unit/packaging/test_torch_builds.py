"""Tests which build of torch a driver gets, on Linux and on Windows, and how it is installed there."""

import shutil
from pathlib import Path

import pytest

from app.platform.nvidia import Card, Driver
from installation import card, locks, provision
from installation.card import WINDOWS_BUILDS, choose_build, cost_of, locked_build, torch_for_windows, torch_pin
from installation.card_commands import fits
from installation.locks import for_card
from installation.places import InstalledPlaces
from installation.provision import Fetching
from installation.steps import Steps
from tests.support.tables import cases
from tests.unit.packaging.fakes import LOCKS, ROOT

ADA, BLACKWELL = Card("Ada", 12 << 30, 11 << 30, (8, 9)), Card("Blackwell", 16 << 30, 15 << 30, (12, 0))


@pytest.fixture
def windows(monkeypatch):
    for module in (card, provision, locks):
        monkeypatch.setattr(module, "WINDOWS", True)


@cases(
    "driver, backend",
    (Driver("580", (13, 0), (ADA,)), "cu128"),
    (Driver("571", (12, 8), (BLACKWELL,)), "cu128"),
    (Driver("552", (12, 4), (ADA,)), "cu126"),
    (Driver("552", (12, 4), (ADA, BLACKWELL)), "cu128"),
    (Driver("552", (), (ADA,)), "cu128"),
)
def test_on_windows_it_follows_driver_and_card(windows, driver, backend):
    assert choose_build(LOCKS, driver).backend == backend


def test_a_build_that_the_new_card_does_not_run_is_not_taken_for_installed(windows):
    driver = Driver("580", (12, 4), (BLACKWELL,))
    build = choose_build(LOCKS, driver)
    assert fits(for_card("cu128"), driver, build) and not fits(for_card("cu126"), driver, build)


def places_of(tmp_path: Path) -> InstalledPlaces:
    places = InstalledPlaces(ROOT, tmp_path / "environment")
    (places.new.venv / "Lib" / "site-packages").mkdir(parents=True)
    return places


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_sizes_of_what_is_locked_are_known(monkeypatch, version, tmp_path):
    for module in (card, provision, locks):
        monkeypatch.setattr(module, "WINDOWS", False)
    cost = cost_of(places_of(tmp_path), version, locked_build(LOCKS), None)
    assert not cost.estimated and 2 * 10**9 < cost.download < 5 * 10**9
    assert 1.5 * cost.download < cost.unpacked < 4 * cost.download


def test_on_windows_the_size_of_torch_is_an_estimate(windows, tmp_path):
    places = places_of(tmp_path)
    build = choose_build(LOCKS, Driver("580", (13, 0), (ADA,)))
    cost = cost_of(places, "3.12", build, None)
    assert cost.estimated and cost.download > build.download
    there = places.new.site_packages
    (there / f"{torch_pin(LOCKS).replace('==', '-')}+cu128.dist-info").mkdir()
    assert cost_of(places, "3.12", build, there).download == cost.download - build.download


def test_on_windows_torch_comes_from_its_own_index_and_only_once(windows, tmp_path):
    places, calls = places_of(tmp_path), []
    there = places.new.site_packages
    (there / "something_old-1.0.dist-info").mkdir()
    steps = Steps(tmp_path / "log", say=lambda text: None)
    fetch = Fetching(places, steps, lambda *words: calls.append([*map(str, words)]))
    fetch.install(for_card("cu126"), "3.12")
    assert [call[1] for call in calls] == ["uninstall", "install", "install"]
    assert calls[0][-1] == "something-old"
    assert "--require-hashes" in calls[1] and calls[1].count("-r") == 2
    rest = Path(calls[1][calls[1].index("-r") + 1]).read_text()
    assert "\ntorch==" not in rest and "\nmoshi==" in rest
    assert calls[2][-1] == torch_pin(LOCKS) and calls[2][calls[2].index("--torch-backend") + 1] == "cu126"

    (there / f"{torch_pin(LOCKS).replace('==', '-')}+cu126.dist-info").mkdir()
    del calls[:]
    fetch.install(for_card("cu126"), "3.12")
    assert [call[1] for call in calls] == ["uninstall", "install"], "an upgrade keeps what is there"


@pytest.mark.parametrize("backend", [build.backend for build in WINDOWS_BUILDS])
def test_a_hash_of_the_lock_is_enforced_and_a_missing_one_is_told(windows, tmp_path, backend):
    lock = f"torch-{backend}.txt"
    assert f"{torch_pin(LOCKS)}+{backend}\n" in (LOCKS / lock).read_text(), "the version of the other locks"
    places, said, calls = places_of(tmp_path), [], []
    fetch = Fetching(places, Steps(tmp_path / "log", say=said.append), lambda *words: calls.append([*map(str, words)]))
    fetch.install(for_card(backend), "3.12")
    assert any("only against the one that torch's own server names" in line for line in said)
    assert "--require-hashes" not in calls[-1]

    proven = tmp_path / "proven"
    shutil.copytree(places.locks, proven)
    (proven / lock).write_text(f"{torch_pin(LOCKS)}+{backend} --hash=sha256:{'0' * 64}\n")
    words = [*map(str, torch_for_windows(proven, Path("python"), backend))]
    assert "--require-hashes" in words and words[-2:] == ["-r", str(proven / lock)]
